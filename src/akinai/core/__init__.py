"""The core: seven nouns and the arithmetic under them. Pure: standard library and pydantic, no files, no clocks.

Whoever writes a world finds here all it needs, as `from akinai.core import Action, Verbs, World`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akinai.core.actions import Action, Spoken, Unreadable, Verbs
    from akinai.core.agents import Agent, AgentFactory, Move, Plan, Role, Routine, View, player
    from akinai.core.canonical import Json
    from akinai.core.chance import Chance
    from akinai.core.findings import Finding
    from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
    from akinai.core.scores import Score, Scorer
    from akinai.core.worlds import World, fold, walk

__all__ = [
    "Action", "Agent", "AgentFactory", "Chance", "Entry", "Finding", "Genesis", "Json", "Ledger", "Move", "Outcome",
    "Plan", "Role", "Routine", "Score", "Scorer", "Spoken", "Turn", "Unreadable", "Verbs", "View", "World", "fold",
    "player", "walk",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """The public names, loaded when one is first asked for: who imports `akinai.core.errors` waits for no pydantic."""
    if name in __all__:
        from akinai.core import actions, agents, canonical, chance, findings, ledger, scores, worlds

        for module in (actions, agents, canonical, chance, findings, ledger, scores, worlds):
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
