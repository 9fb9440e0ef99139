"""What the market says of itself beyond its rules."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from akinai.core.agents import AgentFactory
from akinai.core.canonical import Json
from akinai.core.facets import Exporter, Facets, Files, Judging, Observation, Reader, Sides, Teaching
from akinai.core.findings import Deal, Finding
from akinai.core.ledger import Outcome, Turn
from akinai.core.lessons import Lesson
from akinai.core.scores import Account
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.account import account
from akinai.worlds.market.analysis.deals import deals
from akinai.worlds.market.analysis.findings import find_bad_deals
from akinai.worlds.market.analysis.scores import facts, welfare_cents
from akinai.worlds.market.lessons import lessons
from akinai.worlds.market.lessons.advice import Experiment
from akinai.worlds.market.magentic import export_magentic
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State
from akinai.worlds.market.players.players import PLAYERS
from akinai.worlds.market.populations.files import read_ids, read_population
from akinai.worlds.market.populations.generator import GENERATOR
from akinai.worlds.market.presentation import MarketPresentation
from akinai.worlds.market.rules import mail, turns, views
from akinai.worlds.market.rules import verbs as rules


class MarketObservation(Observation[State]):
    """Fetched messages and search results are rendered from the state; the ledger keeps short outcomes."""

    def observe(self, state: State, turn: Turn, outcome: Outcome) -> Outcome:
        match turn.action:
            case a.FetchMessages() if outcome.ok:
                return mail.render_fetch(state, turn, turn.action, outcome)
            case a.Search() if outcome.ok:
                return rules.render_search(state, turn.actor, turn.action, outcome)
            case _:
                return outcome

    def observe_late(self, state: State, actor: str, outcome: Outcome) -> Outcome:
        return views.render_wait(state, actor, outcome)


class MarketSides(Sides[State]):
    """Customers and businesses."""

    who = "customers and businesses"
    groups = ("customers", "businesses")
    model_settings: ClassVar[Mapping[str, Json]] = {"clock": "wall"}

    def group(self, state: State, actor: str) -> str:
        member = state.members.get(actor)
        return "" if member is None else "businesses" if member.role == "business" else "customers"

    def participants(self, state: State) -> Sequence[str]:
        return state.roll

    def expected_actions(self, state: State, actor: str) -> int:
        return turns.expected_actions(state, state.members[actor])

    def own_player(self, state: State, actor: str) -> AgentFactory | None:
        group = {"businesses": state.setup.businesses, "customers": state.setup.customers}.get(self.group(state, actor))
        if group is None or group.model or group.agent == "same":
            return None
        return PLAYERS.get(group.agent, PLAYERS["careful"])

    def wake_times(self, state: State) -> Mapping[str, int]:
        return turns.wake_times(state)


class MarketJudging(Judging[State]):
    """Bad deals, the account of a market, and the truth about it."""

    def detect(self, steps: Steps[State]) -> Sequence[Finding]:
        return find_bad_deals(steps)

    def account(self, steps: Steps[State], fuzzy: int = 0) -> Account:
        return account(steps, fuzzy)

    def deals(self, steps: Steps[State]) -> Sequence[Deal]:
        return steps.derive(deals)

    def standing(self, state: State) -> float:
        return welfare_cents(state)

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state)


class MarketTeaching(Teaching[State]):
    """Lessons for customers; the player `first` follows them."""

    learner = "first"

    def lessons(self, steps: Steps[State]) -> Sequence[Lesson]:
        return lessons.market_lessons(steps)

    def merge(self, content: str, lesson: Lesson) -> str:
        return lessons.merge_lesson(content, lesson)

    def experiment(self, number: int) -> str:
        return Experiment(number).sentence()


class MarketFiles(Files[State]):
    """Populations in the public format, and runs as the public system's database."""

    readers: ClassVar[Mapping[str, Reader]] = {"data": read_population, "treated": read_ids}
    inline = frozenset({"treated"})
    exporters: ClassVar[Mapping[str, Exporter]] = {"magentic": export_magentic}
    generator = GENERATOR


FACETS = Facets(
    observation=MarketObservation(),
    sides=MarketSides(),
    judging=MarketJudging(),
    teaching=MarketTeaching(),
    presentation=MarketPresentation(),
    files=MarketFiles(),
)
