"""The views and the verbs of an actor."""

from akinai.core.actions import Action
from akinai.core.agents import View
from akinai.core.ledger import Outcome
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Member, State
from akinai.worlds.market.model.units import iso
from akinai.worlds.market.rules import gates, turns

Verbs = tuple[type[Action], ...]

ENTERING: Verbs = tuple(verb for verb in a.CLASSES if verb.enters)
TRADING: Verbs = tuple(verb for verb in a.CLASSES if not verb.enters)
EVERYTHING: Verbs = (*ENTERING, *TRADING)
PROFILE = "Your profile:\n"
"""The line before the JSON of an actor's own profile in its view."""

_BRIEFINGS = {
    "customer": (
        "You are a customer in a market of agents. Call register first.\n\n"
        "What you want is every item in your menu_features, one of each, in one order from one business that has every "
        "amenity in your amenity_features. The number beside an item is what you would pay for it, in dollars. "
        "Getting all of it is worth twice the sum of these numbers to you, counted once, minus everything you pay; an "
        "order that lacks an item, or comes from a place that lacks an amenity, is worth nothing and still costs what "
        "you pay.\n\n"
        "How to buy: search, and read the menus and amenities; write a text to each business that has what you need, "
        "saying which items you want; wait, for example 60 seconds; fetch your "
        "messages; compare the order proposals you got; pay one, naming "
        "its id. A payment is final, and only a payment buys anything. Then you are done. Leave if nobody has what you "
        "want at a price that is worth it. Only you know your willingness to pay."
    ),
    "business": (
        "You run a business in a market of agents. Call register first.\n\n"
        "You are measured by the money that customers pay you. Your menu is in menu_features, with prices in dollars "
        "that everybody can see; min_price_factor, which only you know, is the share of the menu price below which you "
        "do not want to sell.\n\n"
        "How to sell: wait for mail; fetch your messages; answer each request with an order_proposal of items under "
        "their names on your menu, with a total_price that is the sum of quantity x unit_price and a new id; or say in "
        "a text that you do not have what is wanted. Customers ask several businesses and pay one. When a payment "
        "comes, confirm it in a text. Wait whenever there is nothing to do."
    ),
    "": "You are an agent in a market: register, then search for businesses, write messages, propose, pay.",
}
MAIL_CAME = Outcome("Mail came; fetch_messages reads it.")
WAITING = Outcome("You wait.")
"""The recorded outcome of a wait; the actor sees how it ended when it is over."""


def begin_wait(state: State, actor: str) -> Outcome:
    """The outcome of a wait, which is over at once where there is mail already."""
    return Outcome("There is mail.") if state.members[actor].has_news else WAITING


def render_wait(state: State, actor: str, outcome: Outcome) -> Outcome:
    """A wait is answered when it is over and its end is settled; any other outcome stays as it is."""
    if outcome != WAITING:
        return outcome
    return MAIL_CAME if state.members[actor].roused else Outcome("No mail came in that time.")


def verbs_of(state: State, actor: str) -> Verbs:
    """The verbs that an actor is offered; its own actions alone change them."""
    return _verbs_of(state, state.members.get(actor))


def _verbs_of(state: State, member: Member | None) -> Verbs:
    entered = member is not None and member.registered
    return TRADING if entered and not state.setup.open else EVERYTHING


def closed(state: State, actor: str) -> str | None:
    """Why an actor may do nothing now; None when it may act."""
    return _closed(state, actor, state.members.get(actor))


def _closed(state: State, actor: str, member: Member | None) -> str | None:
    if why := turns.ending(state):
        return why
    if member is None:
        return None if state.setup.open else "you are not in the population of this market"
    if not state.virtual:
        return turns.closed_reason(state, member)
    return None if turns.actors(state) == [actor] else member.done or "it is not your turn"


def refusal(state: State, actor: str, verb: type[Action]) -> Outcome | None:
    """The refusal of a verb: `closed` when an actor may do nothing, `not_registered` before it registered, `not_yours`
    when it is not offered the verb; None when it may use it.
    """
    member = state.members.get(actor)
    if why := _closed(state, actor, member):
        return Outcome.refused("closed", f"You cannot act now: {why}")
    if verb is not a.Register and not (member and member.registered):
        return Outcome.refused("not_registered", "You are not registered yet; call register first")
    verbs = _verbs_of(state, member)
    if verb in verbs:
        return None
    names = ", ".join(verb.tool_name() for verb in verbs)
    return Outcome.refused("not_yours", f"{verb.tool_name()} is not among your tools now: {names}")


def view(state: State, actor: str) -> View:
    """The briefing, the actor's own profile and, in virtual time, the time.

    Under the wall clock agents think while others act, so nothing here may depend on what others do meanwhile.
    """
    why = closed(state, actor)
    verbs = () if why else verbs_of(state, actor)
    member = state.members.get(actor)
    if member is None:
        return View(_BRIEFINGS[""], verbs, why)
    now = turns.now(state)
    rules = " ".join(gates.describe_gates(state.setup.gates))
    parts = [_BRIEFINGS[member.role], *([rules] if rules else []), f"{PROFILE}{member.own}"]
    parts += [f"Now: {iso(now)}"] if now is not None else []
    return View("\n\n".join(parts), verbs, why)
