"""Solvers without a model."""

from collections.abc import Mapping

from akinai.core.agents import AgentFactory, Plan, Routine, player
from akinai.worlds.qa.actions import Answer
from akinai.worlds.qa.voting import best, overlap


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


def _read(text: str) -> tuple[str, list[str]]:
    """The question and the choices of a view."""
    _, question, *choices = text.split("\n")
    return question, [line.partition(". ")[2] for line in choices]


PLAYERS: Mapping[str, AgentFactory] = {"overlap": overlapping, "first": first}
"""The first is the world's default."""
