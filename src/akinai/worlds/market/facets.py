"""The facets of the market: its description beyond its rules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from akinai.core.actions import Action
from akinai.core.agents import AgentFactory
from akinai.core.canonical import Json
from akinai.core.facets import Exporter, Facets, Files, Judging, Observation, Reader, Seating, Sides, Teaching
from akinai.core.findings import Deal, Finding
from akinai.core.ledger import Outcome, Turn
from akinai.core.lessons import Lesson
from akinai.core.scores import Account
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.account import account
from akinai.worlds.market.analysis.conduct import find_conduct
from akinai.worlds.market.analysis.deals import deals
from akinai.worlds.market.analysis.findings import find_bad_deals
from akinai.worlds.market.analysis.scores import facts, is_seated, part_cents, welfare_cents
from akinai.worlds.market.explaining import MarketExplaining
from akinai.worlds.market.lessons.buying.advice import KINDS as BUYING
from akinai.worlds.market.lessons.buying.advice import Experiment
from akinai.worlds.market.lessons.buying.extraction import buying_lessons
from akinai.worlds.market.lessons.selling.advice import KINDS as SELLING
from akinai.worlds.market.lessons.selling.advice import SellingExperiment
from akinai.worlds.market.lessons.selling.extraction import selling_lessons
from akinai.worlds.market.magentic import export_magentic
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State
from akinai.worlds.market.players.customers import PLAYERS
from akinai.worlds.market.populations.files import read_ids, read_population, read_sentences
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


class MarketSeating(Seating[State]):
    """Customers and businesses, and who plays them."""

    def group(self, state: State, actor: str) -> str:
        member = state.members.get(actor)
        return "" if member is None else "businesses" if member.role == "business" else "customers"

    def participants(self, state: State) -> Sequence[str]:
        return state.roll

    def verbs(self, state: State, actor: str) -> Sequence[type[Action]]:
        return views.verbs_of(state, actor)

    def own_player(self, state: State, actor: str) -> AgentFactory | None:
        setup = state.setup
        group = {"businesses": setup.businesses, "customers": setup.customers}.get(self.group(state, actor))
        seated = group is not setup.businesses or is_seated(state, actor)
        if group is None or (seated and (group.model or group.agent == "same")):
            return None
        player, bullets = PLAYERS.get(group.agent, PLAYERS["careful"]), setup.playbook
        return (lambda role: player(replace(role, bullets=bullets))) if bullets else player

    def wake_times(self, state: State) -> Mapping[str, int]:
        return turns.wake_times(state)


class MarketSides(Sides[State]):
    """Customers and businesses."""

    who = "customers and businesses"
    groups = ("customers", "businesses")
    model_settings: ClassVar[Mapping[str, Json]] = {"clock": "wall"}

    def expected_actions(self, state: State, actor: str) -> int:
        return turns.expected_actions(state, state.members[actor])


class MarketJudging(Judging[State]):
    """Bad deals, misconduct, the account of a market, and the truth about it."""

    def detect(self, steps: Steps[State]) -> Sequence[Finding]:
        return [*find_bad_deals(steps), *find_conduct(steps)]

    def account(self, steps: Steps[State], fuzzy: int = 0) -> Account:
        return account(steps, fuzzy)

    def deals(self, steps: Steps[State]) -> Sequence[Deal]:
        return steps.derive(deals)

    def standing(self, state: State) -> float:
        return welfare_cents(state)

    def part(self, state: State, actor: str) -> float:
        return part_cents(state, state.members[actor])

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state)


class SellingTeaching(Teaching[State]):
    """Lessons for businesses, which every player follows that plays a business."""

    learner = "first"
    role = "business"
    kinds = SELLING
    settings: ClassVar[Mapping[str, Json]] = {
        "businesses.agent": "same",
        "customers.agent": "first",
        "agent_share": 0.25,
    }
    score = "agent_profit"
    beside = ("rival_profit", "welfare", "total_surplus")
    opponents = ("first", *(name for name in PLAYERS if name != "first"))

    def opposed_by(self, player: str, bullets: Sequence[str]) -> Mapping[str, Json]:
        return {"customers.agent": player, "playbook": [*bullets]}

    def lessons(self, steps: Steps[State]) -> Sequence[Lesson]:
        return selling_lessons(steps)

    def experiment(self, number: int) -> str:
        return SellingExperiment(number).bullet()


class MarketTeaching(Teaching[State]):
    """Lessons for customers; the player `first` follows them. They are judged by the welfare, which is theirs."""

    learner = "first"
    role = "customer"
    kinds = BUYING
    other_roles = (SellingTeaching(),)
    beside = ("business_profit", "total_surplus")
    opponents = ("rules",)

    def opposed_by(self, player: str, bullets: Sequence[str]) -> Mapping[str, Json]:
        return {"businesses.agent": player, "playbook": [*bullets]}

    def lessons(self, steps: Steps[State]) -> Sequence[Lesson]:
        return buying_lessons(steps)

    def experiment(self, number: int) -> str:
        return Experiment(number).bullet()


class MarketFiles(Files[State]):
    """Populations in the public format, and runs as the public system's database."""

    readers: ClassVar[Mapping[str, Reader]] = {"data": read_population, "treated": read_ids, "playbook": read_sentences}
    kinds: ClassVar[Mapping[str, str]] = {"treated": "businesses", "playbook": "bullets"}
    inline = frozenset({"treated"})
    playbooks = frozenset({"playbook"})
    exporters: ClassVar[Mapping[str, Exporter]] = {"magentic": export_magentic}
    generator = GENERATOR


FACETS = Facets(
    observation=MarketObservation(),
    seating=MarketSeating(),
    sides=MarketSides(),
    judging=MarketJudging(),
    teaching=MarketTeaching(),
    presentation=MarketPresentation(),
    files=MarketFiles(),
    explaining=MarketExplaining(),
)
