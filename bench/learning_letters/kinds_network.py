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
"""How much more it counts that a letter orders and confirms nothing than that it has no other kind."""
LETTERS_TRUSTED = 0.5
"""How much a marked letter as a whole counts beside its marked lines."""
FLAGS = 5
PLACE = {kind: at for at, kind in enumerate(KINDS)}
TOPICS = {"prices": "ask_price", "quote": "ask_price", "terms": "ask_terms", "order": "ask_order"}


@dataclass
class Sample:
    """A letter, or a single sentence, as the network learns it."""

    rows: Sequence[network.Row]
    kinds: list[int | None]
    """By row, where its kind is known."""
    wanted: frozenset[str] | None
    """The kinds of the letter as a whole; None for a single sentence."""
    marked: bool


def kinds_wanted(example: Example) -> frozenset[str]:
    found: set[str] = set()
    for label in example.labels:
        kind, *parts = label.split()
        found.add(TOPICS.get(parts[0] if parts else "", "ask_other") if kind == "ask" else kind)
    return frozenset(found - {"other"})


def sample(example: Example) -> Sample:
    subject, said = parts_of(example.subject, example.body)
    rows = kinds.rows_of(marked(subject, NAMES), said)
    places: list[int | None] = [None] * len(rows)
    if example.marks:
        title, lines = kinds_by_hand(example)
        places = [None if kind is None else PLACE[kind] for kind in (title, *lines)]
    wanted = kinds_wanted(example)
    if not example.marks and not wanted:
        places = [PLACE[NOTHING]] * len(rows)
    return Sample(rows, places, wanted, bool(example.marks))


def samples(without: Collection[str]) -> list[Sample]:
    """All letters but those of some sets, the shortest twice over, and the single sentences."""
    found = [sample(example) for example in corpus() if example.file not in without]
    found += [each for example in corpus() if example.file == "short" for each in [sample(example)] * 2]
    for file, example in sentences():
        found += [replace(sample(example), wanted=None)] * (3 if file == "innocent" else 1)
    return found


class Batch:
    """Letters side by side."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        rows = [row for each in samples for row in each.rows]
        letters, before, after, heads, subjects = [], [], [], [], []
        start = 0
        for at, each in enumerate(samples):
            size = len(each.rows)
            letters += [at] * size
            subjects += [start] * size
            before += [start + max(here - 1, 0) for here in range(size)]
            after += [start + min(here + 1, size - 1) for here in range(size)]
            heads += [start + head for head in network.heads(each.rows)]
            start += size
        tensor = torch.tensor
        self.samples, self.texts = samples, [row.tokens for row in rows]
        self.flags = tensor([row.flags for row in rows], dtype=torch.float32)
        self.letters, self.around = tensor(letters), [tensor(part) for part in (before, after, heads, subjects)]
        self.kinds = tensor([-100 if kind is None else kind for each in samples for kind in each.kinds])
        self.read = tensor([bool(row.tokens) for row in rows])
        self.wanted = tensor([[float(kind in (each.wanted or ())) for kind in KINDS] for each in samples])
        self.trust = tensor(
            [0.0 if each.wanted is None else LETTERS_TRUSTED if each.marked else 1.0 for each in samples]
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
        around = torch.cat([clauses, *(clauses[place] for place in batch.around), letter, context], 1)
        hidden = F.relu(self.hidden(self.drop(around)))
        return self.out(self.drop(hidden)) + self.direct(self.drop(clauses))


def loss_of(scores: Tensor, batch: Batch) -> Tensor:
    """Of marked rows, their kind; of every letter, each kind that it has or has not somewhere."""
    logs = F.log_softmax(scores, 1)
    rows = F.nll_loss(logs, batch.kinds, ignore_index=-100, reduction="sum") if (batch.kinds >= 0).any() else 0.0
    absent = torch.zeros(len(batch.samples), len(KINDS)).index_add(
        0, batch.letters[batch.read], torch.log1p(-logs[batch.read].exp().clamp(1e-6, 1 - 1e-6))
    )
    present = torch.log((1 - absent.exp()).clamp(1e-6))
    care = torch.tensor([CHARGED if kind in CHARGING else 1.0 for kind in KINDS])
    letters = -(batch.wanted * present + (1 - batch.wanted) * absent * care)[:, 1:].sum(1)
    return (rows + (letters * batch.trust).sum()) / len(batch.samples)


def learned(data: list[Sample], vectors: Vectors, seed: int) -> KindsNetwork:
    """The network, its weights averaged over the last thousand steps."""
    torch.manual_seed(seed)
    random.seed(seed)
    words = words_of((row.tokens for each in data for row in each.rows), vectors, least=2)
    net = KindsNetwork(words, vectors)
    learning = Learning(net, EPOCHS * -(-len(data) // BATCH), RATE, kept=0.999)
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
