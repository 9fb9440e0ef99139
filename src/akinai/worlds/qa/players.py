"""Solvers without a model."""

from collections.abc import Mapping, Sequence

from akinai.core.agents import AgentFactory, Plan, Routine, player
from akinai.retrieval import Tokenizer, tokenize
from akinai.worlds.qa.model import Answer


@player
def overlapping(me: Routine) -> Plan:
    """Picks the choice that shares the most words with the question, the first of several."""
    while True:
        question, choices = _read(me.view.text)
        yield Answer(choice=best(overlap(question, choices)) + 1)


@player
def first(_: Routine) -> Plan:
    """Picks the first choice, whatever is asked."""
    while True:
        yield Answer(choice=1)


def overlap(question: str, choices: Sequence[str], tokenizer: Tokenizer = tokenize) -> list[int]:
    """The number of different words that each choice shares with the question."""
    words = frozenset(tokenizer(question))
    return [len(words.intersection(tokenizer(choice))) for choice in choices]


def best(scores: Sequence[float]) -> int:
    """The index of the highest score, the first of several."""
    return max(range(len(scores)), key=lambda index: (scores[index], -index))


def _read(text: str) -> tuple[str, list[str]]:
    """Parse the question and the choices of a view."""
    _, question, *choices = text.split("\n")
    return question, [line.partition(". ")[2] for line in choices]


PLAYERS: Mapping[str, AgentFactory] = {"overlap": overlapping, "first": first}
"""The first is the world's default."""
