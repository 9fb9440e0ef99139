"""The core: seven nouns and the arithmetic under them. Pure: standard library and pydantic, no files, no clocks.

It has all that a world needs: `from akinai.core import Action, Verbs, World`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akinai.core.actions import Action, ParameterAlias, Unreadable, Verbs
    from akinai.core.agents import Agent, AgentFactory, Move, Plan, Role, Routine, View, player
    from akinai.core.canonical import Json
    from akinai.core.chance import Chance
    from akinai.core.facets import Facets, Files, Judging, Observation, Presentation, Seating, Sides, Teaching
    from akinai.core.findings import Finding
    from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
    from akinai.core.lessons import Lesson
    from akinai.core.presentation.charts import (
        Chart,
        ColumnChart,
        DayChart,
        ItemChart,
        MeanChart,
        PlaceChart,
        StackChart,
    )
    from akinai.core.scores import Score, Scorer
    from akinai.core.steps import Step, Steps
    from akinai.core.worlds import World, fold, replay, walk

__all__ = [
    "Action", "Agent", "AgentFactory", "Chance", "Chart", "ColumnChart", "DayChart", "Entry", "Facets", "Files",
    "Finding", "Genesis", "ItemChart", "Json", "Judging", "Ledger", "Lesson", "MeanChart", "Move", "Observation",
    "Outcome", "ParameterAlias", "PlaceChart", "Plan", "Presentation", "Role", "Routine", "Score", "Scorer", "Seating",
    "Sides", "StackChart", "Step", "Steps", "Teaching", "Turn", "Unreadable", "Verbs", "View", "World", "fold",
    "player", "replay", "walk",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load the public names at the first use of one, so that importing `akinai.core.errors` does not load pydantic."""
    if name in __all__:
        from akinai.core import (
            actions,
            agents,
            canonical,
            chance,
            facets,
            findings,
            ledger,
            lessons,
            scores,
            steps,
            worlds,
        )
        from akinai.core.presentation import charts

        modules = (actions, agents, canonical, chance, charts, facets, findings, ledger, lessons, scores, steps, worlds)
        for module in modules:
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
