"""Akinai: a lab in which language-model agents do business, are scored by what really happened, and learn from it.

`akinai.run("vending", agent="reference", seeds=range(5))` plays; `akinai --help` tells the same for the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akinai.core import Action, Agent, Entry, Genesis, Ledger, Move, Outcome, Score, Turn, View, World
    from akinai.core.agents import Session
    from akinai.core.errors import AkinaiError
    from akinai.runtime.api import Stopped, compare, diff, fork, replay, resume, run, runs, verify
    from akinai.runtime.learn import learn
    from akinai.runtime.runs import Run, Runs

_HOME = {
    "Action": "core.actions", "Agent": "core.agents", "AkinaiError": "core.errors", "Entry": "core.ledger",
    "Genesis": "core.ledger", "Ledger": "core.ledger", "Move": "core.agents", "Outcome": "core.ledger",
    "Run": "runtime.runs", "Runs": "runtime.runs", "Score": "core.scores", "Session": "core.agents",
    "Stopped": "runtime.api", "Turn": "core.ledger", "View": "core.agents", "World": "core.worlds",
    "compare": "runtime.api", "diff": "runtime.api", "fork": "runtime.api", "learn": "runtime.learn",
    "replay": "runtime.api", "resume": "runtime.api", "run": "runtime.api", "runs": "runtime.api",
    "verify": "runtime.api",
}  # fmt: skip
"""Where each public name lives: it is imported when it is first asked for."""

__all__ = [
    "Action", "Agent", "AkinaiError", "Entry", "Genesis", "Ledger", "Move", "Outcome", "Run", "Runs", "Score",
    "Session", "Stopped", "Turn", "View", "World",
    "compare", "diff", "fork", "learn", "replay", "resume", "run", "runs", "verify",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("akinai")
    if name not in _HOME:
        raise AttributeError(f"module 'akinai' has no attribute {name!r}")
    value = getattr(import_module(f"akinai.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
