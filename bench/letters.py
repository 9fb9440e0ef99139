"""Learns the weights by which letters are judged, from the letters and clauses of `tests/worlds/vending/letters`.

python bench/letters.py                writes `weights.py` anew
python bench/letters.py held_out       learns without that set and says how many of its intents the reader gets right
"""

import argparse
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads than cores make this thirty times slower

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from akinai.worlds.vending.letters import judging, reader
from akinai.worlds.vending.letters.acts import classified
from akinai.worlds.vending.letters.delivery import find_delivery
from akinai.worlds.vending.letters.judging import KINDS, NOTHING, kind_of, wordless
from akinai.worlds.vending.letters.meaning.features import before, features, surroundings
from akinai.worlds.vending.letters.meaning.weights import SCALE
from akinai.worlds.vending.letters.reference import resolved
from akinai.worlds.vending.letters.text import clauses, marked, prepare, unquoted

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "worlds" / "vending"))

from letters_for_tests import HERE, SETUP, Example, corpus, judged, read, share_right  # noqa: E402

WEIGHTS = Path(judging.__file__).with_name("meaning") / "weights.py"
LEAST = 0.06
"""Weights nearer to zero are left out."""
MEANINGS_TRUSTED, WORDS_TRUSTED, PAIRS_TRUSTED = 1.3, 1.0, 0.6
PLACE = {kind: at for at, kind in enumerate(KINDS)}
TOPICS = {"prices": "ask_price", "quote": "ask_price", "terms": "ask_terms", "order": "ask_order"}


@dataclass
class Sample:
    """A clause of a letter or of the list of clauses."""

    letter: object
    features: list[str]
    allowed: frozenset[str]
    """The kinds that its letter has by hand, and none."""
    known: str | None
    """Its kind, where it is known: by hand, or by the rules in a letter that these read right."""
    firm: bool = False
    """Whether its kind is known by hand; that the rules see nothing in a clause is where learning begins, no more."""


def samples(example: Example, allowed: frozenset[str], by_rules: bool) -> list[Sample]:
    """The clauses of a letter that hold words."""
    names = SETUP.catalog.good_names
    delivery = find_delivery(f"{example.subject}\n{unquoted(example.body)}", SETUP.delivery_address, SETUP.account)
    subject, _, text = delivery.text.partition("\n")
    letter = [
        classified(clause, names) for clause in resolved(list(clauses(prepare(text, names), names)), subject, names)
    ]
    lows = [said.clause.low for said in letter]
    subject = marked(prepare(subject, names).lower(), names)
    shared = surroundings(subject, lows, any(said.goods for said in letter))
    found: list[Sample] = []
    for at, said in enumerate(letter):
        if not wordless(said):
            known = kind_of(said) if by_rules else None
            own = {*features(said.clause, said.goods), *shared, *before(lows, at)}
            found.append(Sample(example, sorted(own), allowed, known))
    return found


def kinds_by_hand(example: Example) -> frozenset[str]:
    kinds = {NOTHING}
    for label in example.labels:
        kind, *parts = label.split()
        kinds.add(TOPICS.get(parts[0] if parts else "", "ask_other") if kind == "ask" else kind)
    return frozenset(kinds - {"other"})


def all_samples(without: str) -> list[Sample]:
    """The samples of every set but one, and of the list of clauses."""
    forget()
    judge, reader.judge = reader.judge, lambda letter, subject: None
    found: list[Sample] = []
    for example in corpus():
        if example.file not in ("held_out", without):
            right, total = judged(example)
            found += samples(example, kinds_by_hand(example), right == total)
    kind = NOTHING
    for line in (HERE / "clauses.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:]
        elif line:
            parts = samples(Example("clauses", "", line, (), False), frozenset({NOTHING, kind}), by_rules=False)
            for part in parts:
                part.known, part.firm = (kind, True) if len(parts) == 1 else (None, False)
            found += parts
    reader.judge = judge
    forget()
    return found


def forget() -> None:
    """Have every letter read anew."""
    read.cache_clear()
    reader._read.cache_clear()  # pyright: ignore[reportPrivateUsage]


def trust(feature: str) -> float:
    """How far a feature may be relied on: meanings and turns of speech, single words, words side by side."""
    if re.search(r"[=%]|[A-Z]{3}", feature):
        return MEANINGS_TRUSTED
    return WORDS_TRUSTED if " " not in feature else PAIRS_TRUSTED


def matrix(data: Sequence[Sample], places: Mapping[str, int]) -> csr_matrix:
    rows = [[places[feature] for feature in sample.features if feature in places] for sample in data]
    ends = np.cumsum([0, *map(len, rows)])
    values = np.array([trust(feature) for feature in places])
    columns = np.concatenate(rows)
    return csr_matrix((values[columns], columns, ends), shape=(len(data), len(places)))


def fitted(x: csr_matrix, kinds: Sequence[int]) -> np.ndarray:
    """Softmax regression with a penalty on the squares of the weights."""
    size, width = x.shape[1], len(KINDS)
    y = np.eye(width)[list(kinds)]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(size, width)
        scores = x @ weights
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        gradient = x.T @ (np.exp(logs) - y) + weights
        return -(logs * y).sum() + (flat @ flat) / 2, gradient.ravel()

    return minimize(loss, np.zeros(size * width), jac=True, method="L-BFGS-B", options={"maxiter": 60}).x.reshape(
        size, width
    )


def assigned(data: Sequence[Sample], scores: np.ndarray) -> list[int]:
    """The best kind of each clause that its letter allows; every kind of a letter goes to a clause."""
    kinds = [0] * len(data)
    letters: dict[int, list[int]] = defaultdict(list)
    for at, sample in enumerate(data):
        letters[id(sample.letter)].append(at)
    for places in letters.values():
        allowed = sorted(PLACE[kind] for kind in data[places[0]].allowed)
        for at in places:
            kinds[at] = max(allowed, key=lambda kind: scores[at, kind])
        for kind in allowed[1:]:
            if all(kinds[at] != kind for at in places):
                kinds[max(places, key=lambda at: scores[at, kind] - scores[at].max())] = kind
    return [
        PLACE[sample.known] if sample.known and (sample.firm or sample.known != NOTHING) else kind
        for sample, kind in zip(data, kinds, strict=True)
    ]


def learned(data: Sequence[Sample]) -> list[str]:
    """Rows of features with their weights."""
    counts = Counter(feature for sample in data for feature in sample.features)
    places = {feature: at for at, feature in enumerate(sorted(f for f, count in counts.items() if count > 1))}
    known = [sample for sample in data if sample.known]
    weights = fitted(matrix(known, places), [PLACE[sample.known or NOTHING] for sample in known])
    x = matrix(data, places)
    for _ in range(2):
        weights = fitted(x, assigned(data, x @ weights))
    weights -= weights.mean(axis=1, keepdims=True)
    weights *= np.array([[trust(feature)] for feature in places])
    rows: list[str] = []
    for feature, at in places.items():
        pairs = [(kind, round(w * SCALE)) for kind, w in enumerate(weights[at]) if abs(w) >= LEAST]
        if pairs:
            rows.append(feature + "/" + ",".join(f"{chr(97 + kind)}{weight}" for kind, weight in pairs))
    return rows


def write(rows: Sequence[str]) -> None:
    text = WEIGHTS.read_text(encoding="utf-8")
    lines = [""]
    for row in rows:
        lines += [""] if len(lines[-1]) + len(row) > 460 else []
        lines[-1] += row + "|"
    body = '\nWEIGHTS = """\n' + "\n".join(lines) + '\n"""\n'
    WEIGHTS.write_text(re.sub(r'\nWEIGHTS = """\n.*', lambda _: body, text, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without", nargs="?", default="", help="a set to leave out and to judge")
    without: str = parser.parse_args().without
    rows = learned(all_samples(without))
    print(f"{len(rows)} features")
    if not without:
        write(rows)
        return
    judging.WEIGHTS = "|".join(rows)
    judging._weights.cache_clear()  # pyright: ignore[reportPrivateUsage]
    forget()
    examples = [example for example in corpus() if example.file == without]
    wrong = [
        example for example in examples if not example.orders and {i.kind for i in read(example)} & {"order", "confirm"}
    ]
    share = share_right({example: judged(example) for example in examples})
    print(f"{without}: {share:.1%} of intents right, {len(wrong)} letters charged wrongly")


if __name__ == "__main__":
    main()
