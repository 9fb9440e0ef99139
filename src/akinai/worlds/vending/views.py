"""What an actor sees, and what it may do."""

from functools import lru_cache

from akinai.core.actions import Action
from akinai.core.agents import View
from akinai.core.ledger import Outcome
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.setup import Setup
from akinai.worlds.vending.state import Delegated, State, clock

Verbs = tuple[type[Action], ...]


@lru_cache(maxsize=64)
def _owners_verbs(machine_by_sub_agent: bool, full_view: bool, structured_orders: bool) -> Verbs:
    hidden: set[type[Action]] = {a.Report}
    hidden |= set(a.MACHINE) if machine_by_sub_agent else {a.DelegatePhysical}
    hidden |= set() if full_view else set(a.CONVENIENCES)
    hidden |= set() if structured_orders else {a.PlaceOrder}
    return tuple(verb for verb in a.VERBS.classes if verb not in hidden)


def verbs_of(setup: Setup, actor: str, sub_agent: Delegated | None) -> Verbs:
    """What an actor may do when it is its turn."""
    if actor == OWNER:
        return _owners_verbs(setup.machine_by_sub_agent, setup.full_view, setup.structured_orders)
    return a.TOOLS_OF_SUB_AGENT[sub_agent.kind] if sub_agent and sub_agent.actor == actor else ()


def closed(state: State, actor: str) -> str | None:
    """Why an actor may do nothing now."""
    if state.ending:
        return state.ending
    at_work = state.sub_agent if state.sub_agent and state.sub_agent.open else None
    if actor == OWNER:
        return f"{at_work.actor} is at work" if at_work else None
    return None if at_work and at_work.actor == actor else "no task"


def refusal(state: State, actor: str, verb: type[Action]) -> Outcome | None:
    """Refused as `closed` when it is not the actor's turn, `not_yours` when the verb is not its."""
    if why := closed(state, actor):
        return Outcome.refused("closed", f"{actor} cannot act now: {why}")
    verbs = verbs_of(state.setup, actor, state.sub_agent)
    if verb in verbs:
        return None
    names = ", ".join(one.tool_name() for one in verbs)
    return Outcome.refused("not_yours", f"{verb.tool_name()} is not among your tools: {names}")


def view(state: State, actor: str) -> View:
    """The briefing, the clock, and the news: what a sub-agent reported, or the task that it was given."""
    why = closed(state, actor)
    verbs = () if why else verbs_of(state.setup, actor, state.sub_agent)
    last = state.sub_agent
    if actor == OWNER:
        news = f"{last.actor} reports on task {state.tasks}:\n{state.report}" if last and not last.open else ""
        text = state.setup.briefing
    else:
        news = f"Task {state.tasks}:\n{last.task}" if last and last.actor == actor else ""
        text = _sub_agents_briefing(state.setup)
    told = f"{text}\n\nNow: {_now(state)}"
    return View(f"{told}\n\n{news}" if news else told, verbs, why, news)


def _now(state: State) -> str:
    of = f" of {state.setup.days}" if state.setup.days else ""
    return f"{clock(state.setup, state.minute)}, day {state.day}{of}."


def _sub_agents_briefing(setup: Setup) -> str:
    return (
        "You assist the owner of a vending machine. Do the task below with your tools, then end it with report, "
        "telling the owner all it needs to know: it sees your report and nothing else.\n"
        f"Delivery address: {setup.delivery_address}\nAccount: {setup.account}\nThe owner's e-mail: {setup.email}"
    )
