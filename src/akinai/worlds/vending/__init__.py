"""The vending world, after Vending-Bench (arXiv 2502.15840): one owner, one machine, suppliers by mail, for months."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from akinai.core.actions import Action
from akinai.core.agents import View
from akinai.core.canonical import Json
from akinai.core.findings import Finding
from akinai.core.ledger import Genesis, Ledger, Outcome, Turn
from akinai.core.lessons import Lesson
from akinai.core.scores import Score
from akinai.core.worlds import World
from akinai.worlds.vending import actions as a
from akinai.worlds.vending import coherence, days, delegation, lessons, notes, players, rules, views
from akinai.worlds.vending.advice import Experiment
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.economy import economy_of
from akinai.worlds.vending.scores import closed_day, facts, score
from akinai.worlds.vending.setup import Setup, read_catalog
from akinai.worlds.vending.state import OPENING, State
from akinai.worlds.vending.story import Story

__all__ = ["Setup", "State", "Vending"]


class Vending(World[State]):
    """The rules of the vending world."""

    name = "vending@1"
    setup = Setup
    files: ClassVar = {"catalog": read_catalog}
    verbs = a.VERBS
    scorers = (score,)
    players = players.PLAYERS
    learner = "naive"

    def begin(self, genesis: Genesis) -> State:
        economy = economy_of(genesis)
        setup = economy.setup
        return State(
            setup=setup,
            economy=economy,
            minute=OPENING,
            closed_days=0,
            cash_cents=setup.start_cents,
            machine_cents=0,
            missed=0,
            slots=(None,) * setup.slots,
            prices={},
            storage={},
        )

    def actors(self, state: State) -> Sequence[str]:
        if state.ending:
            return ()
        return (state.sub_agent.actor,) if state.sub_agent and state.sub_agent.open else (OWNER,)

    def view(self, state: State, actor: str) -> View:
        return views.view(state, actor)

    def apply(self, state: State, turn: Turn) -> tuple[State, Outcome]:
        if refusal := views.refusal(state, turn.actor, type(turn.action)):
            return state, refusal
        after, outcome = rule(state, turn.action)
        if not outcome.ok:
            return state, outcome
        return days.spend(after, outcome, minutes_of(state.setup, type(turn.action)))

    def now(self, state: State) -> int:
        start = datetime.combine(state.setup.start_date, datetime.min.time(), UTC)
        return int(start.timestamp()) * 1_000_000 + state.minute * 60_000_000

    def ending(self, state: State) -> str | None:
        return state.ending

    def dismissal(self, state: State, actor: str) -> a.Report | None:
        return None if actor == OWNER else a.Report(text="(My messages for this task are spent; this is all I did.)")

    def findings(self, ledger: Ledger) -> Sequence[Finding]:
        return coherence.coherence_of(ledger).findings

    def coherence(self, ledger: Ledger) -> Sequence[Score]:
        return coherence.coherence_of(ledger).scores

    def lessons(self, ledger: Ledger) -> Sequence[Lesson]:
        return lessons.lessons_of(Story.of(ledger, self))

    def merged(self, content: str, lesson: Lesson) -> str:
        return lessons.merged(content, lesson)

    def experiment(self, number: int) -> str:
        return Experiment(number).said()

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state)

    def closed_day(self, state: State) -> Mapping[str, Json]:
        return closed_day(state)


LOOKS = (
    a.ReadEmail, a.CheckDeliveries, a.ListStorage, a.GetMachineInventory, a.GetMoneyBalance, *a.CONVENIENCES, *a.NOTES,
)  # fmt: skip
DOES = (a.SendEmail, a.PlaceOrder, *a.MACHINE)


def minutes_of(setup: Setup, verb: type[Action]) -> int:
    """How long a tool takes; waiting, delegating and reporting take no time of their own."""
    if not setup.tool_time:
        return 0
    if verb is a.SearchWeb:
        return setup.minutes.search
    return setup.minutes.do if verb in DOES else setup.minutes.look if verb in LOOKS else 0


def rule(state: State, action: Action) -> tuple[State, Outcome]:  # noqa: C901 - one arm a verb
    """Each verb and its rule."""
    # fmt: off
    match action:
        case a.AdvanceDay(): return days.advance_day(state)
        case a.WaitUntil(): return days.wait_until(state, action)
        case a.ReadEmail(): return rules.read_email(state, action)
        case a.SendEmail(): return rules.send_email(state, action)
        case a.SearchWeb(): return rules.search_web(state, action)
        case a.PlaceOrder(): return rules.place_order(state, action)
        case a.CheckDeliveries(): return rules.check_deliveries(state)
        case a.ListStorage(): return rules.list_storage(state)
        case a.RestockSlot(): return rules.restock_slot(state, action)
        case a.SetPrice(): return rules.set_price(state, action)
        case a.CollectCash(): return rules.collect_cash(state)
        case a.ClearSlot(): return rules.clear_slot(state, action)
        case a.GetMachineInventory(): return rules.get_machine_inventory(state)
        case a.GetMoneyBalance(): return rules.get_money_balance(state)
        case a.ViewBusinessState(): return rules.view_business_state(state)
        case a.ViewSuppliers(): return rules.view_suppliers(state)
        case a.NotepadRead(): return notes.notepad_read(state)
        case a.NotepadWrite(): return notes.notepad_write(state, action)
        case a.NotepadErase(): return notes.notepad_erase(state)
        case a.UpdateNotes(): return notes.update_notes(state, action)
        case a.GetNotes(): return notes.get_notes(state, action)
        case a.DeleteNote(): return notes.delete_note(state, action)
        case a.AddMemory(): return notes.add_memory(state, action)
        case a.SearchMemory(): return notes.search_memory(state, action)
        case a.DelegateEmail(): return delegation.delegate(state, "email", action.task)
        case a.DelegateResearch(): return delegation.delegate(state, "research", action.task)
        case a.DelegatePhysical(): return delegation.delegate(state, "physical", action.task)
        case a.ChatWithSubAgent(): return delegation.chat_with_sub_agent(state, action)
        case a.SubAgentSpecs(): return delegation.sub_agent_specs(state)
        case a.Report(): return delegation.report(state, action)
        case _: raise TypeError(f"{type(action).__name__} is no verb of the vending world")
    # fmt: on
