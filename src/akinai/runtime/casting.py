"""Who plays: an agent by the name that the command line gives it."""

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from akinai.agents.scripted import Scripted, script_lines
from akinai.core.agents import AgentFactory
from akinai.core.errors import UnknownName, UsageError
from akinai.core.worlds import World

GROUP = "akinai.agents"
"""Entry points: name -> a function of (world, rest of the spec) that returns an AgentFactory."""


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
    others = other_agents()
    if kind in others:
        try:
            return others[kind].load()(world, rest)
        except ImportError as error:
            raise UsageError(f"the agent {kind!r} cannot be loaded ({error}); install what it needs") from error
    known = [*world.players, "script:FILE", *others]
    raise UnknownName("agent", spec, known, f"'akinai worlds {world.name.partition('@')[0]}' lists them")


def other_agents() -> dict[str, EntryPoint]:
    """The agents that other packages add, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _script(world: World[Any], name: str) -> AgentFactory:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the script {name!r} cannot be read: {error}") from error
    script = Scripted(script_lines(text, name), world.verbs)
    return lambda _: script  # one for all actors: the lines are in the order of the ledger, sub-agents' among them
