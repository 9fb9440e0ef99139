"""Learns the network that gives every number its role."""

import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from letters_for_tests import Example, corpus
from letters_to_learn import Filters, Learning, Vectors, rows_by_hand, words_of
from role_labels import Labelled
from torch import Tensor, nn
from torch.nn import functional as F

from akinai.worlds.vending.letters.meaning import network
from akinai.worlds.vending.letters.meaning.numbers import ROLES, find_numbers
from akinai.worlds.vending.letters.meaning.roles import PARTS, can_be, inputs_of

FILTERS, HIDDEN = 48, 96
EPOCHS, BATCH, RATE, DROPPED = 9, 16, 2e-3, 0.4
MISTAKEN = 0.8
"""The share of clauses without a kind that get a neighbour's, in a second reading of every letter."""


@dataclass
class Judged:
    """A number whose role is known, with the network's inputs for it."""

    parts: list[list[str]]
    flags: list[bool]
    possible: list[bool]
    role: int
    boxed: bool | None
    """Whether a bare count is one of cases; None for what is no bare count."""


def judged(example: Example, mistaken: float) -> list[Judged]:
    """The numbers of a marked letter whose roles its intents tell, where some clauses are mistaken for others."""
    rows = rows_by_hand(example, mistaken)
    numbers = find_numbers(rows)
    labelled = Labelled(example, rows, numbers)
    judgements: list[Judged] = []
    for at, role in sorted(labelled.roles.items()):
        possible = can_be(rows[numbers[at].row].kind, numbers[at].mark)
        if possible[role]:
            judgements.append(Judged(*inputs_of(rows, numbers, numbers[at]), possible, role, labelled.boxed.get(at)))
    return judgements


def samples(without: Collection[str]) -> list[list[Judged]]:
    """By letter, the numbers of all marked letters but those of some sets, read twice."""
    random.seed(0)
    marked = [example for example in corpus() if example.marks and example.file not in without]
    letters = [judged(example, mistaken) for example in marked for mistaken in (0.0, MISTAKEN)]
    return [letter for letter in letters if letter]


class RolesNetwork(nn.Module):
    """The network of `meaning/roles.py` before its weights are made whole numbers."""

    def __init__(self, words: dict[str, int], vectors: Vectors, flags: int) -> None:
        super().__init__()
        self.text = Filters(words, vectors, FILTERS, DROPPED)
        self.hidden = nn.Linear(FILTERS * network.WIDEST * PARTS + flags, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(ROLES) + 1)
        self.direct = nn.Linear(flags, len(ROLES) + 1, bias=False)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, batch: Sequence[Judged]) -> Tensor:
        texts = self.text([part for number in batch for part in number.parts]).reshape(len(batch), -1)
        flags = torch.tensor([number.flags for number in batch], dtype=torch.float32)
        hidden = F.relu(self.hidden(self.drop(torch.cat([texts, flags], 1))))
        possible = torch.tensor([[*number.possible, True] for number in batch])
        return (self.out(self.drop(hidden)) + self.direct(flags)).masked_fill(~possible, -1e4)


def loss_of(scores: Tensor, batch: Sequence[Judged]) -> Tensor:
    """The loss of every number's role, and of whether each bare count is one of cases."""
    loss = F.cross_entropy(scores[:, :-1], torch.tensor([number.role for number in batch]), reduction="sum")
    bare = torch.tensor([number.boxed is not None for number in batch])
    if bare.any():
        boxed = torch.tensor([float(bool(number.boxed)) for number in batch])
        loss = loss + F.binary_cross_entropy_with_logits(scores[bare, -1], boxed[bare], reduction="sum")
    return loss / BATCH


def train(data: list[list[Judged]], vectors: Vectors, seed: int) -> RolesNetwork:
    """Train the network; its weights are averaged over about the last two hundred steps."""
    torch.manual_seed(seed)
    random.seed(seed)
    words = words_of((part for letter in data for number in letter for part in number.parts), vectors, least=7)
    net = RolesNetwork(words, vectors, len(data[0][0].flags))
    learning = Learning(net, EPOCHS * -(-len(data) // BATCH), RATE, decay=0.995)
    for epoch in range(EPOCHS):
        random.shuffle(data)
        total, began = 0.0, time.monotonic()
        for at in range(0, len(data), BATCH):
            batch = [number for letter in data[at : at + BATCH] for number in letter]
            loss = loss_of(net(batch), batch)
            learning.step(loss)
            total += loss.item()
        took = time.monotonic() - began
        print(f"roles, epoch {epoch + 1} of {EPOCHS}: loss {total * BATCH / len(data):.3f}, {took:.0f} s", flush=True)
    return learning.average.module.eval()
