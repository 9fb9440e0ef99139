"""Who plays: an agent by the name that the command line gives it."""

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from akinai.agents.human import Human
from akinai.agents.scripted import Scripted, script_lines
from akinai.agents.stdio import Program, words_of
from akinai.core.agents import AgentFactory
from akinai.core.errors import UnknownName, UsageError
from akinai.core.stores import RunHeader
from akinai.core.worlds import World

GROUP = "akinai.agents"
"""Entry points: name -> a function of (world, rest of the spec) that returns an AgentFactory."""


BESIDE_PLAYERS = ("script:FILE", "stdio:COMMAND", "human", "chat", "structured")
"""Agents of every world; the last two ask a model."""
SERVED = "http"
"""In the place of an agent, in a run of which the actors come over HTTP."""


def default_agent(world: World[Any]) -> str:
    """The world's rule-based player."""
    return next(iter(world.players))


def casting(world: World[Any], spec: str) -> AgentFactory:
    """The factory of an agent: a player of the world, "script:FILE", or what others add.

    Raises UsageError, before anything is written, for a name that is not there or a script that cannot be read.
    """
    if spec in world.players:
        return world.players[spec]
    kind, colon, rest = spec.partition(":")
    if kind == "script" and colon:
        return _script(world, rest)
    if kind == "stdio" and rest.strip():
        words_of(rest)
        return lambda role: Program(rest, role, world.verbs)
    if spec == "human":
        return lambda role: Human(world.verbs, _tell, _ask)
    others = other_agents()
    if kind in others:
        try:
            return others[kind].load()(world, rest)
        except ImportError as error:
            raise UsageError(f"the agent {kind!r} cannot be loaded ({error}); install what it needs") from error
    known = [*world.players, *BESIDE_PLAYERS, *others]
    raise UnknownName("agent", spec, known, f"'akinai worlds {world.name.partition('@')[0]}' lists them")


def expect_played_here(run: RunHeader, instead: str) -> None:
    """UsageError for a run whose actors came over HTTP: nobody here can play on for them."""
    if next(iter(run.agents.values()), "") == SERVED:
        raise UsageError(f"the agents of {run.run_id!r} came over HTTP, and none of them is here; {instead}")


def with_bullets(factory: AgentFactory, bullets: tuple[str, ...]) -> AgentFactory:
    """The factory, told what a playbook says."""
    return (lambda role: factory(replace(role, bullets=bullets))) if bullets else factory


def other_agents() -> dict[str, EntryPoint]:
    """The agents that other packages add, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n\n")
    sys.stderr.flush()


def _ask(prompt: str) -> str:
    """A line from the terminal; the prompt goes where texts go, so that stdout stays free for `--json`."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _script(world: World[Any], name: str) -> AgentFactory:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the script {name!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the script {name!r} is no UTF-8 text: {error}") from error
    script = Scripted(script_lines(text, name), world.verbs)
    return lambda _: script  # one for all actors: the lines are in the order of the ledger, sub-agents' among them
