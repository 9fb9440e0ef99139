"""Learns the network that gives every clause its kind."""

import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from letters_for_tests import Example, corpus
from letters_to_learn import NAMES, Filters, Learning, Vectors, kinds_by_hand, largest, parts_of, sentences, words_of
from torch import Tensor, nn
from torch.nn import functional as F

from akinai.worlds.vending.letters.meaning import kinds, network
from akinai.worlds.vending.letters.meaning.kinds import CHARGING, KINDS, NOTHING
from akinai.worlds.vending.letters.text import marked

FILTERS, CONTEXT, HIDDEN = 96, 128, 128
EPOCHS, BATCH, RATE, DROPPED = 18, 32, 2e-3, 0.4
CHARGED = 5.0
"""The weight of a letter's lacking order or confirmation, beside 1 for other kinds that it lacks."""
LETTERS_TRUSTED = 0.5
"""The weight of a marked letter as a whole, beside 1 for each of its marked lines."""
FLAGS = 5
COLUMN = {kind: at for at, kind in enumerate(KINDS)}
TOPICS = {"prices": "ask_price", "quote": "ask_price", "terms": "ask_terms", "order": "ask_order"}


@dataclass
class Sample:
    """A letter, or a single sentence, as the network learns it."""

    rows: Sequence[network.Row]
    kinds: list[int | None]
    """The column of each row's kind; None where no kind was marked."""
    letter_kinds: frozenset[str] | None
    """The kinds of the letter as a whole; None for a single sentence."""
    marked: bool


def kinds_of_letter(example: Example) -> frozenset[str]:
    """The kinds that the labels of a letter have."""
    letter_kinds: set[str] = set()
    for label in example.labels:
        kind, *parts = label.split()
        letter_kinds.add(TOPICS.get(parts[0] if parts else "", "ask_other") if kind == "ask" else kind)
    return frozenset(letter_kinds - {"other"})


def sample(example: Example) -> Sample:
    subject, parts = parts_of(example.subject, example.body)
    rows = kinds.rows_of(marked(subject, NAMES), parts)
    columns: list[int | None] = [None] * len(rows)
    if example.marks:
        title, lines = kinds_by_hand(example)
        columns = [None if kind is None else COLUMN[kind] for kind in (title, *lines)]
    letter_kinds = kinds_of_letter(example)
    if not example.marks and not letter_kinds:
        columns = [COLUMN[NOTHING]] * len(rows)
    return Sample(rows, columns, letter_kinds, bool(example.marks))


def samples(without: Collection[str]) -> list[Sample]:
    """All letters but those of some sets, the shortest twice over, and the single sentences."""
    letters = [sample(example) for example in corpus() if example.file not in without]
    letters += [twice for example in corpus() if example.file == "short" for twice in [sample(example)] * 2]
    for file, example in sentences():
        letters += [replace(sample(example), letter_kinds=None)] * (3 if file == "innocent" else 1)
    return letters


class Batch:
    """Letters side by side."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        rows = [row for letter in samples for row in letter.rows]
        letters, before, after, heads, subjects = [], [], [], [], []
        start = 0
        for at, letter in enumerate(samples):
            size = len(letter.rows)
            letters += [at] * size
            subjects += [start] * size
            before += [start + max(here - 1, 0) for here in range(size)]
            after += [start + min(here + 1, size - 1) for here in range(size)]
            heads += [start + head for head in network.heads(letter.rows)]
            start += size
        tensor = torch.tensor
        self.samples, self.texts = samples, [row.tokens for row in rows]
        self.flags = tensor([row.flags for row in rows], dtype=torch.float32)
        self.letters, self.around = tensor(letters), [tensor(part) for part in (before, after, heads, subjects)]
        self.kinds = tensor([-100 if kind is None else kind for letter in samples for kind in letter.kinds])
        self.read = tensor([bool(row.tokens) for row in rows])
        self.labels = tensor([[float(kind in (letter.letter_kinds or ())) for kind in KINDS] for letter in samples])
        self.trust = tensor(
            [0.0 if letter.letter_kinds is None else LETTERS_TRUSTED if letter.marked else 1.0 for letter in samples]
        )


class KindsNetwork(nn.Module):
    """The network of `meaning/network.py` before its weights are made whole numbers."""

    def __init__(self, words: dict[str, int], vectors: Vectors) -> None:
        super().__init__()
        self.text = Filters(words, vectors, FILTERS, DROPPED)
        size = FILTERS * network.WIDEST + FLAGS
        self.context = nn.ModuleList(nn.Linear(3 * width, CONTEXT) for width in (size, CONTEXT))
        self.hidden = nn.Linear(size * 6 + CONTEXT, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(KINDS))
        self.direct = nn.Linear(size, len(KINDS), bias=False)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, batch: Batch) -> Tensor:
        clauses = torch.cat([self.text(batch.texts), batch.flags], 1)
        letter = largest(clauses, batch.letters, len(batch.samples))[batch.letters]
        before, after, *_ = batch.around
        context = clauses
        for layer in self.context:
            context = F.relu(layer(self.drop(torch.cat([context, context[before], context[after]], 1))))
        around = torch.cat([clauses, *(clauses[rows] for rows in batch.around), letter, context], 1)
        hidden = F.relu(self.hidden(self.drop(around)))
        return self.out(self.drop(hidden)) + self.direct(self.drop(clauses))


def loss_of(scores: Tensor, batch: Batch) -> Tensor:
    """The loss of the kinds of marked rows, and of the kinds that each letter has, or lacks, as a whole."""
    logs = F.log_softmax(scores, 1)
    rows = F.nll_loss(logs, batch.kinds, ignore_index=-100, reduction="sum") if (batch.kinds >= 0).any() else 0.0
    absent = torch.zeros(len(batch.samples), len(KINDS)).index_add(
        0, batch.letters[batch.read], torch.log1p(-logs[batch.read].exp().clamp(1e-6, 1 - 1e-6))
    )
    present = torch.log((1 - absent.exp()).clamp(1e-6))
    care = torch.tensor([CHARGED if kind in CHARGING else 1.0 for kind in KINDS])
    letters = -(batch.labels * present + (1 - batch.labels) * absent * care)[:, 1:].sum(1)
    return (rows + (letters * batch.trust).sum()) / len(batch.samples)


def train(data: list[Sample], vectors: Vectors, seed: int) -> KindsNetwork:
    """Train the network; its weights are averaged over about the last thousand steps."""
    torch.manual_seed(seed)
    random.seed(seed)
    words = words_of((row.tokens for letter in data for row in letter.rows), vectors, least=2)
    net = KindsNetwork(words, vectors)
    learning = Learning(net, EPOCHS * -(-len(data) // BATCH), RATE, decay=0.999)
    for epoch in range(EPOCHS):
        random.shuffle(data)
        total, began = 0.0, time.monotonic()
        for at in range(0, len(data), BATCH):
            batch = Batch(data[at : at + BATCH])
            loss = loss_of(net(batch), batch)
            learning.step(loss)
            total += loss.item() * len(batch.samples)
        took = time.monotonic() - began
        print(f"kinds, epoch {epoch + 1} of {EPOCHS}: loss {total / len(data):.3f}, {took:.0f} s", flush=True)
    return learning.average.module.eval()
