"""market@1: customers and businesses find each other, bargain by message, and pay (after arXiv 2510.25779)."""

from collections.abc import Mapping, Sequence

from akinai.core.accounts import Account
from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, View
from akinai.core.canonical import Json
from akinai.core.findings import Finding
from akinai.core.ledger import Genesis, Ledger, Outcome, Turn
from akinai.core.lessons import Lesson
from akinai.core.worlds import World, fold
from akinai.worlds.market import actions as a
from akinai.worlds.market import lessons, mail, members, rules, turns, views
from akinai.worlds.market.advice import Experiment
from akinai.worlds.market.analysis import account
from akinai.worlds.market.data import read_population
from akinai.worlds.market.findings import findings_of
from akinai.worlds.market.members import registered
from akinai.worlds.market.players import PLAYERS
from akinai.worlds.market.scores import facts, score
from akinai.worlds.market.setup import Setup
from akinai.worlds.market.state import State

__all__ = ["Market", "Setup", "State", "registered"]


class Market(World[State]):
    """A market of messages. Docs: docs/market.md."""

    name = "market@1"
    setup = Setup
    files = {"data": read_population}
    verbs = a.VERBS
    scorers = (score,)
    players = PLAYERS
    learner = "first"
    groups = ("customers", "businesses")
    with_models = {"clock": "wall"}

    def begin(self, genesis: Genesis) -> State:
        return turns.opened(members.begin(genesis))

    def actors(self, state: State) -> Sequence[str]:
        return turns.actors(state)

    def view(self, state: State, actor: str) -> View:
        return views.view(state, actor)

    def apply(self, state: State, turn: Turn) -> tuple[State, Outcome]:
        if refused := views.refusal(state, turn.actor, type(turn.action)):
            return state, refused
        after, outcome = rule(state, turn, turn.action)
        return (turns.taken(state, after, turn), outcome) if outcome.ok else (state, outcome)

    def told(self, state: State, turn: Turn, outcome: Outcome) -> Outcome:
        match turn.action:
            case a.FetchMessages() if outcome.ok:
                return mail.told(state, turn, turn.action, outcome)
            case a.Search() if outcome.ok:
                return rules.told(state, turn.actor, turn.action, outcome)
            case _:
                return outcome

    def heard(self, state: State, actor: str, told: Outcome) -> Outcome:
        return views.heard(state, actor, told)

    def group(self, state: State, actor: str) -> str:
        member = state.members.get(actor)
        return "" if member is None else "businesses" if member.role == "business" else "customers"

    def everybody(self, state: State) -> Sequence[str]:
        return state.roll

    def expected_messages(self, state: State, actor: str) -> int:
        return turns.expected_messages(state, state.members[actor])

    def own_player(self, state: State, actor: str) -> AgentFactory | None:
        group = {"businesses": state.setup.businesses, "customers": state.setup.customers}.get(self.group(state, actor))
        if group is None or group.model or group.agent == "same":
            return None
        return PLAYERS.get(group.agent, PLAYERS["careful"])

    def now(self, state: State) -> int | None:
        return turns.now(state)

    def alarms(self, state: State) -> Mapping[str, int]:
        return turns.alarms(state)

    def ending(self, state: State) -> str | None:
        return turns.ending(state)

    def findings(self, ledger: Ledger) -> Sequence[Finding]:
        return findings_of(fold(self, ledger), ledger)

    def lessons(self, ledger: Ledger) -> Sequence[Lesson]:
        return lessons.lessons_of(fold(self, ledger), ledger)

    def merged(self, content: str, lesson: Lesson) -> str:
        return lessons.merged(content, lesson)

    def experiment(self, number: int) -> str:
        return Experiment(number).said()

    def account(self, ledger: Ledger, fuzzy: int = 0) -> Account:
        return account(fold(self, ledger), ledger, fuzzy)

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state)


def rule(state: State, turn: Turn, action: Action) -> tuple[State, Outcome]:
    """Each verb and its rule."""
    # fmt: off
    match action:
        case a.Register(): return members.register(state, turn.actor, action)
        case a.SendMessage(): return rules.send_message(state, turn, action)
        case a.FetchMessages(): return mail.fetch(state, turn, action)
        case a.Search(): return rules.search(state, turn.actor, action)
        case a.Wait(): return state, views.waiting(state, turn.actor)
        case a.Leave(): return state, Outcome("You left the market.")
        case _: raise TypeError(f"{type(action).__name__} is no verb of the market")
    # fmt: on
