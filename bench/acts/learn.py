"""Learn the weights by which letters are read, `src/akinai/core/untrusted/acts.bin`, from labelled letters.

    python bench/acts/learn.py           write the weights, with a line for each act
    python bench/acts/learn.py --judge   write nothing; read each hand's letters by what was learned from the others

A file beside this one is one hand's. `#owner` begins a letter to an owner, and each line after it is a sentence,
`threat,pay| We pay, or else.` with the acts that it does; `?pay` says that it may pass for one or not. A threshold is
the one of the highest F where every hand is read by what the others taught. It wants scikit-learn.
docs/design/conduct.md says what an act is.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from akinai.core.untrusted.acts import ACTS, BUCKETS, Audience, buckets, features, render_weights, tokens

HERE = Path(__file__).parent
WEIGHTS = HERE.parents[1] / "src" / "akinai" / "core" / "untrusted" / "acts.bin"
NAMES = tuple(dict.fromkeys(act for acts in ACTS.values() for act in acts))
"""The acts, in the order of their columns."""
SCALE = 3.0
"""The length of each sentence's vector of features."""
COST = 10.0
"""The weight of the summed loss beside half the squared weights."""
HELD = 2.0
"""The weight of a sentence that does the act beside one that does not."""
ITERATIONS = 2000
BETA = {"threat": 0.5, "pressure": 0.5, "instruction": 0.5, "propose": 0.7, "assent": 0.7}
"""What recall counts beside precision for acts that are a finding by themselves, or two of them together; 1 for those
that an account, a price or a menu must contradict first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence with the tokens of its neighbours."""

    hand: str
    audience: Audience
    near: tuple[list[str], list[str], list[str]]
    acts: frozenset[str]


def read_hands(folder: Path) -> Iterator[Line]:
    """The sentences of all hands."""
    for path in sorted(folder.glob("*.txt")):
        for letter in path.read_text(encoding="utf-8").removeprefix("#").split("\n#"):
            audience, *lines = letter.rstrip("\n").split("\n")
            parts = [line.partition("| ") if "| " in line else ("", "", line) for line in lines]
            words = [[], *(tokens(text) for *_, text in parts), []]
            for (acts, *_), *near in zip(parts, words, words[1:], words[2:], strict=False):
                yield Line(path.stem, audience, tuple(near), frozenset(filter(None, acts.split(","))))


def matrix(lines: Sequence[Line]) -> csr_matrix:
    """The features of sentences as rows of equal length."""
    rows = [buckets(features(*line.near)) for line in lines]
    ends = np.cumsum([0, *map(len, rows)])
    values = np.concatenate([np.full(len(row), SCALE / np.sqrt(len(row))) for row in rows])
    return csr_matrix((values, np.concatenate(rows), ends), shape=(len(rows), BUCKETS))


def labels(lines: Sequence[Line]) -> tuple[np.ndarray, np.ndarray]:
    """Which acts each sentence does, and the weight of each label: 0 where the reader of the letter is another or
    the label is left open."""
    does = np.array([[act in line.acts for act in NAMES] for line in lines])
    counts = np.array([[act in ACTS[line.audience] and f"?{act}" not in line.acts for act in NAMES] for line in lines])
    return does, counts * np.where(does, HELD, 1.0)


def fit(rows: csr_matrix, does: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Logistic regression of each act; the last row holds the biases."""
    table = np.zeros((rows.shape[1] + 1, len(NAMES)))
    for column in range(len(NAMES)):
        counts = weight[:, column] > 0
        model = LogisticRegression(C=COST, solver="liblinear", dual=True, max_iter=ITERATIONS, random_state=0)
        model.fit(rows[counts], does[counts, column], sample_weight=weight[counts, column])
        table[:, column] = [*model.coef_[0], *model.intercept_]
    return table


def read_by_others(lines: Sequence[Line], rows: csr_matrix, does: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The log odds of each sentence by what the other hands taught."""
    hands = np.array([line.hand for line in lines])
    odds = np.zeros(does.shape)
    for hand in dict.fromkeys(hands):
        own = hands == hand
        table = fit(rows[~own], does[~own], weight[~own])
        odds[own] = rows[own] @ table[:-1] + table[-1]
    return odds


def best_threshold(odds: np.ndarray, does: np.ndarray, beta: float = 1.0) -> tuple[float, float, float]:
    """The log odds of the highest F, with its precision and recall; `beta` is the weight of recall beside precision."""
    order = np.argsort(-odds)
    hits = np.cumsum(does[order])
    precision, recall = hits / np.arange(1, len(order) + 1), hits / max(1, does.sum())
    at = int(np.argmax(precision * recall / np.maximum(beta**2 * precision + recall, 1e-9)))
    return float(odds[order[at : at + 2]].mean()), float(precision[at]), float(recall[at])


def thresholds(odds: np.ndarray, does: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    """The threshold of each act, printed with what it reads right."""
    chosen: dict[str, float] = {}
    for column, act in enumerate(NAMES):
        counts = weight[:, column] > 0
        chosen[act], precision, recall = best_threshold(odds[counts, column], does[counts, column], BETA.get(act, 1.0))
        number = does[counts, column].sum()
        print(f"{act:12} {number:5} sentences, precision {precision:.2f}, recall {recall:.2f}, at {chosen[act]:+.2f}")
    return chosen


def packed(table: np.ndarray, chosen: dict[str, float]) -> bytes:
    """The weights in 8 bits, with each act's bias and unit as `acts.py` reads them."""
    unit = 127 / np.abs(table[:-1]).max(axis=0)
    scales = {
        act: (round(100 * (table[-1, column] - chosen[act])), round(64 * unit[column] / SCALE))
        for column, act in enumerate(NAMES)
    }
    return render_weights(np.clip(np.round(table[:-1] * unit), -127, 127), scales)


def main(options: Iterable[str]) -> None:
    lines = [*read_hands(HERE)]
    rows, (does, weight) = matrix(lines), labels(lines)
    print(f"{len(lines)} sentences of {len({line.hand for line in lines})} hands")
    chosen = thresholds(read_by_others(lines, rows, does, weight), does, weight)
    if "--judge" not in options:
        WEIGHTS.write_bytes(packed(fit(rows, does, weight), chosen))
        print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
