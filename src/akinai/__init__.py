"""Akinai: a lab in which language-model agents do business, are scored by what really happened, and learn from it.

`akinai.run("vending", agent="reference", seeds=range(5))` plays. Every command of `akinai --help` is a function here,
with the same name, options and defaults.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akinai.adapters.a2a.serving import a2a
    from akinai.adapters.mcp.serving import mcp
    from akinai.api import (
        AsyncSession,
        Session,
        Stopped,
        analyze,
        aopen,
        compare,
        compare_logs,
        deal,
        delete,
        diff,
        estimate,
        export,
        follow,
        fork,
        merge,
        open,
        plan,
        playbook,
        replay,
        restore,
        resume,
        run,
        runs,
        seal,
        show,
        verify,
        why,
    )
    from akinai.api.agent_options import write_prompt
    from akinai.api.arena import arena, estimate_arena
    from akinai.api.demo import demo
    from akinai.api.doctor import doctor
    from akinai.api.training.batch import Batch, batch
    from akinai.core import Action, Agent, Entry, Genesis, Ledger, Move, Outcome, Score, Turn, View, World
    from akinai.core.errors import AkinaiError, RunFailedWarning
    from akinai.report.figures.against import against_figure
    from akinai.report.page.leaderboard import check_leaderboard, leaderboard
    from akinai.report.terms import explain
    from akinai.runtime.learn.learner import estimate_learning, learn, write_prompts
    from akinai.runtime.runs.records import Run, Runs
    from akinai.server.folder.serving import game
    from akinai.server.serving import serve
    from akinai.server.sessions.client import SessionClient
    from akinai.studio.person import play

COMMANDS = {
    "a2a": "adapters.a2a.serving",
    "analyze": "analysis.analyse", "arena": "api.arena", "compare": "analysis.analyse", "delete": "api.records",
    "demo": "api.demo", "diff": "api.records",
    "doctor": "api.doctor",
    "explain": "report.terms", "export": "api.records",
    "fork": "api.play", "game": "server.folder.serving",
    "leaderboard": "report.page.leaderboard", "learn": "runtime.learn.learner",
    "mcp": "adapters.mcp.serving", "merge": "api.records",
    "plan": "analysis.plan", "play": "studio.person",
    "replay": "api.records", "report": "report.page.files", "restore": "api.records",
    "resume": "api.play", "run": "api.play", "runs": "api.records", "serve": "server.serving",
    "show": "api.show", "studio": "studio.serving", "verify": "api.records", "why": "api.why",
    "worlds": "runtime.describe",
}  # fmt: skip
"""The module of each command's function. The packages `report`, `studio` and `worlds` are called."""

COMMAND_GROUPS = {"playbook": "api.playbook", "seal": "api.seal"}
"""The module that holds the functions of a group of commands, such as `akinai.playbook.show`. A world that generates
files is a group as well."""

_HOME = {
    "against_figure": "report.figures.against",
    "Action": "core.actions", "Agent": "core.agents", "AkinaiError": "core.errors", "AsyncSession": "api.session",
    "Batch": "api.training.batch",
    "Entry": "core.ledger",
    "check_leaderboard": "report.page.leaderboard",
    "Genesis": "core.ledger", "Ledger": "core.ledger", "Move": "core.agents", "Outcome": "core.ledger",
    "Run": "runtime.runs.records", "RunFailedWarning": "core.errors", "Runs": "runtime.runs.records",
    "Score": "core.scores", "Session": "api.opening", "SessionClient": "server.sessions.client",
    "Stopped": "api.play", "Turn": "core.ledger",
    "View": "core.agents", "World": "core.worlds", "aopen": "api.opening",
    "batch": "api.training.batch", "compare_logs": "analysis.log_comparison", "deal": "api.records",
    "estimate": "api.play", "estimate_arena": "api.arena", "estimate_learning": "runtime.learn.learner",
    "follow": "api.show",
    "open": "api.opening", "write_prompt": "api.agent_options", "write_prompts": "runtime.learn.learner",
}  # fmt: skip
"""The module of each other public name. All are imported when they are first used."""

__all__ = [
    "Action", "Agent", "AkinaiError", "AsyncSession", "Batch", "Entry", "Genesis", "Ledger", "Move", "Outcome", "Run",
    "RunFailedWarning", "Runs", "Score", "Session", "SessionClient", "Stopped", "Turn", "View", "World", "a2a",
    "against_figure", "analyze", "aopen", "arena", "batch", "check_leaderboard", "compare", "compare_logs", "deal",
    "delete", "demo",
    "diff", "doctor", "estimate", "estimate_arena", "estimate_learning",
    "explain", "export", "follow", "fork", "game",
    "leaderboard", "learn", "mcp", "merge", "open", "plan", "play", "playbook", "replay",
    "report",  # pyright: ignore[reportUnsupportedDunderAll] - a package, which is not imported here
    "restore", "resume", "run", "runs", "seal", "serve", "show",
    "studio",  # pyright: ignore[reportUnsupportedDunderAll] - a package, which is not imported here
    "verify", "why",
    "worlds",  # pyright: ignore[reportUnsupportedDunderAll] - a package, which is not imported here
    "write_prompt", "write_prompts",
]  # fmt: skip


def command(name: str) -> Any:
    """The function of a command."""
    return getattr(import_module(f"akinai.{COMMANDS[name]}"), name)


def _world_functions(name: str) -> object:
    """The functions of a world's own commands; None for any other name."""
    generate = import_module("akinai.runtime.export.generate")
    return generate.world_functions(name) if name in generate.generating_worlds() else None


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("akinai")
    if name in ("report", "studio", "worlds"):
        return import_module(f"akinai.{name}")
    if name in COMMANDS:
        value = command(name)
    elif name in COMMAND_GROUPS:
        value = import_module(f"akinai.{COMMAND_GROUPS[name]}")
    elif name in _HOME:
        value = getattr(import_module(f"akinai.{_HOME[name]}"), name)
    elif not name.startswith("_") and (functions := _world_functions(name)):
        value = functions
    else:
        raise AttributeError(f"module 'akinai' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
