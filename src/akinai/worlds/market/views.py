"""What an actor sees, and what it may do."""

from akinai.core.actions import Action
from akinai.core.agents import View
from akinai.core.ledger import Outcome
from akinai.worlds.market import actions as a
from akinai.worlds.market import turns
from akinai.worlds.market.state import Member, State
from akinai.worlds.market.times import iso

Verbs = tuple[type[Action], ...]

ENTERING: Verbs = (a.Register,)
TRADING: Verbs = (a.SendMessage, a.FetchMessages, a.Search, a.Wait, a.Leave)
PROFILE = "Your profile:\n"
"""What stands before the JSON of an actor's own profile in its view."""

_BRIEFINGS = {
    "customer": (
        "You are a customer in a market of agents. You want every item in your menu_features, from one business that "
        "has every amenity in your amenity_features; the price beside an item is what it is worth to you. Search for "
        "businesses, write to them, wait for their order proposals, compare, and pay the one you choose: a payment "
        "names the proposal's id and is final. Having what you want is worth twice the sum of your prices to you, "
        "less what you pay. Leave when nobody has it."
    ),
    "business": (
        "You run a business in a market of agents. Customers write to you. Answer each with an order_proposal of "
        "items from your menu_features, under an id that you have not used before; when its payment comes, confirm it "
        "by a text. Money received is what you are measured by. Wait when there is nothing to do."
    ),
    "": "You are an agent in a market: search for businesses, write messages, propose, pay.",
}


def verbs_of(state: State, actor: str) -> Verbs:
    """What an actor may do when it is its turn."""
    member = state.members.get(actor)
    if member is None or not member.registered:
        return ENTERING
    return (*ENTERING, *TRADING) if state.setup.open else TRADING


def closed(state: State, actor: str) -> str | None:
    """Why an actor may do nothing now."""
    if why := turns.ending(state):
        return why
    member = state.members.get(actor)
    if member is None:
        return None if state.setup.open else "you have no part in this market"
    if not state.virtual:
        return turns.why_not(state, member)
    return None if turns.actors(state) == [actor] else member.done or "it is not your turn"


def refusal(state: State, actor: str, verb: type[Action]) -> Outcome | None:
    """Refused as `closed` when an actor may do nothing, `not_yours` when the verb is not among what it may do."""
    if why := closed(state, actor):
        return Outcome.refused("closed", f"You cannot act now: {why}")
    verbs = verbs_of(state, actor)
    if verb in verbs:
        return None
    names = ", ".join(one.tool_name() for one in verbs)
    return Outcome.refused("not_yours", f"{verb.tool_name()} is not among your tools now: {names}")


def view(state: State, actor: str) -> View:
    """The briefing, the actor's own profile, the time, and whether there is mail."""
    why = closed(state, actor)
    verbs = () if why else verbs_of(state, actor)
    member = state.members.get(actor)
    if member is None:
        return View(_BRIEFINGS[""], verbs, why)
    now = turns.now(state)
    parts = [_BRIEFINGS[member.role], f"{PROFILE}{member.own}"]
    parts += [f"Now: {iso(now)}"] if now is not None else []
    news = _news(member)
    return View("\n\n".join([*parts, *([news] if news else [])]), verbs, why, news)


def _news(member: Member) -> str:
    if not member.registered:
        return "You are not registered yet."
    return "There is new mail." if member.has_news else ""
