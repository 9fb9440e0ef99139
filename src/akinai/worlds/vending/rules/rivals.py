"""Dealings between the owners of a street: looks at one another's machines, payments, and goods for money."""

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import DAY_MINUTES, Bargain, Business, Lot, Result, State, clock
from akinai.worlds.vending.rules.books import book, for_rival, post, post_to, rival_at, site_name
from akinai.worlds.vending.rules.deliveries import free_units
from akinai.worlds.vending.rules.orders import unknown_product
from akinai.worlds.vending.rules.stock import merge_lots, remove_units, taken_lots, units_in

BANK = "bank@street.com"


def look_at_rivals(state: State) -> Result:
    """Show the goods on sale in the machines of the other owners, with their prices."""
    lines, data, count = list[str](), dict[str, Json](), state.setup.slots
    for rival in state.rivals:
        own, machines = state.other_businesses[rival], dict[str, Json]()
        for index, site in enumerate(() if own.ending else own.sites):
            units = units_in(own.slots[index * count : (index + 1) * count])
            prices = {id: own.prices[id] for id, n in units.items() if n and id in own.prices}
            place = site_name(state, site.place_index)
            if site.sealed or site.lost:
                lines.append(f"{rival}, {place}: sealed.")
                continue
            names = state.setup.catalog.by_id
            tags = [f"{names[id].name} ({id}) {format_cents(cents)}" for id, cents in prices.items()]
            lines.append(f"{rival}, {place}: {', '.join(tags) or 'nothing on sale'}.")
            machines[place] = dict(prices)
        if not own.has_owner:
            lines.append(f"{_gone_text(rival, own)}.")
        data[rival] = machines
    return state, Outcome("\n".join(lines), data={"prices_cents": data})


def _find_rival(state: State, name: str) -> str | Outcome:
    """Another owner who runs a business, or the refusals `no_owner` and `closed`."""
    rival = rival_at(state, name)
    if rival is None:
        return Outcome.refused("no_owner", f"{name!r:.80} is no other owner of this street")
    if not (own := state.other_businesses[rival]).has_owner:
        return Outcome.refused("closed", _gone_text(rival, own))
    return rival


def _gone_text(rival: str, own: Business) -> str:
    """Why nobody runs an owner's business."""
    return f"{rival} is out of business" if own.ending else f"{rival} has left, and nobody runs its business"


def _pay(state: State, rival: str, cause: str, cents: int) -> State:
    """Move money to another owner: what leaves one account comes into the other."""
    return for_rival(book(state, cause, -cents), rival, lambda own: book(own, cause, cents))


def send_money(state: State, action: a.SendMoney) -> Result:
    """Pay another owner, at once and for good. Refused as `no_owner`, `closed`, `no_cash`."""
    rival = _find_rival(state, action.to)
    if isinstance(rival, Outcome):
        return state, rival
    if action.cents > state.cash_cents:
        return state, Outcome.refused("no_cash", "your bank balance does not cover it")
    text = f"{state.owner} paid you {format_cents(action.cents)}."
    reason = f" Reason: {action.reason}" if action.reason else ""
    state = post_to(_pay(state, rival, "payments", action.cents), rival, BANK, text, f"{text}{reason}")
    data: dict[str, Json] = {"to": rival, "paid_cents": action.cents, "cash_cents": state.cash_cents}
    return state, Outcome(f"Paid {format_cents(action.cents)} to {rival}.", data=data)


def offer_goods(state: State, action: a.OfferGoods) -> Result:
    """Offer stored goods for money, to be handed over tomorrow; by the week on the day after next Monday, on which the
    other owner can accept.

    Refused as `no_owner`, `closed`, `unknown_product`, `no_stock`.
    """
    rival = _find_rival(state, action.to)
    if isinstance(rival, Outcome):
        return state, rival
    items = dict[str, int]()
    for name, units in action.items.items():
        product = state.setup.catalog.find(name)
        if product is None:
            return state, unknown_product(state, name)
        items[product.id] = items.get(product.id, 0) + units
        if (stored := state.units_in_storage(product.id)) < items[product.id]:
            return state, Outcome.refused("no_stock", f"storage holds {stored} {product.name}, not {items[product.id]}")
    due = (state.day + (7 if state.week else 0)) * DAY_MINUTES + action.hour * 60
    bargain = Bargain(state.bargain_count + 1, state.owner, rival, items, action.cents, due)
    state = state.moved(bargains=(*state.bargains, bargain), bargain_count=bargain.number)
    text = (
        f"{_goods_text(state, bargain)} for {format_cents(bargain.cents)}, to be handed over at the storage of "
        f"{state.owner} on {clock(state.setup, due)}. Until then the offer can be accepted."
    )
    subject = f"Offer {bargain.number}"
    state = post_to(state, rival, state.contact.email, subject, f"{subject}: {text}")
    return state, Outcome(f"{subject} to {rival}: {text}", data={"offer": bargain.number, "due": due})


def _goods_text(state: State, bargain: Bargain) -> str:
    names = state.setup.catalog.by_id
    return ", ".join(f"{units} {names[id].name} ({id})" for id, units in bargain.items.items())


def accept_goods(state: State, action: a.AcceptGoods) -> Result:
    """Accept an offer; money and goods change hands at its hour. Refused as `no_offer`, `accepted` before."""
    bargain = next((own for own in state.bargains if (own.number, own.buyer) == (action.offer, state.owner)), None)
    if bargain is None:
        return state, Outcome.refused("no_offer", f"there is no offer {action.offer} to you")
    if bargain.accepted:
        return state, Outcome.refused("accepted", f"offer {action.offer} was accepted before")
    accepted = bargain._replace(accepted=True)
    state = state.moved(bargains=tuple(accepted if own is bargain else own for own in state.bargains))
    text = f"{state.owner} accepted offer {bargain.number}. Handed over on {clock(state.setup, bargain.due)}."
    state = post_to(state, bargain.seller, state.contact.email, f"Offer {bargain.number} accepted", text)
    return state, Outcome(text, data={"offer": bargain.number, "due": bargain.due})


def next_handover(state: State) -> int | None:
    """The next minute for which goods are to be handed over; None for none."""
    return min([bargain.due for bargain in state.bargains if bargain.due > state.minute], default=None)


def hand_over(state: State) -> State:
    """Hand over the goods that are due, and drop the offers whose hour came without an answer."""
    for bargain in state.bargains:
        if bargain.due <= state.minute:
            state = state.moved(bargains=tuple(other for other in state.bargains if other is not bargain))
            state = _hand_over(state, bargain) if bargain.accepted else state
    return state


def _hand_over(state: State, bargain: Bargain) -> State:
    """Move goods and money, or neither; both owners are told."""
    front, seller = state.owner, state.turned_to(bargain.seller)
    why = _why_not(seller, bargain)
    state = seller if why else _exchange(seller, bargain)
    text = f"{_goods_text(state, bargain)}: " + (
        f"nothing changed hands, since {why}." if why else f"handed over for {format_cents(bargain.cents)}."
    )
    subject = f"Offer {bargain.number} {'failed' if why else 'was handed over'}"
    for owner in (bargain.seller, bargain.buyer):
        own = state.turned_to(owner)
        state = post(own, BANK, subject, text) if own.has_owner else own
    return state.turned_to(front)


def _why_not(seller: State, bargain: Bargain) -> str:
    """Why goods cannot be handed over, with the seller in front; empty where they can."""
    buyer = seller.turned_to(bargain.buyer)
    if seller.ending or buyer.ending:
        return f"{bargain.seller if seller.ending else bargain.buyer} is out of business"
    if seller.away and seller.minute <= seller.busy_until:
        return f"{bargain.seller} was not at the storage"
    if any(seller.units_in_storage(id) < units for id, units in bargain.items.items()):
        return f"{bargain.seller} did not have the goods"
    if buyer.cash_cents < bargain.cents:
        return f"{bargain.buyer} did not have the money"
    return f"{bargain.buyer} had no room" if free_units(buyer) < sum(bargain.items.values()) else ""


def _exchange(seller: State, bargain: Bargain) -> State:
    """Goods and money after they changed hands, the oldest goods first. They cost the buyer what it pays a unit."""
    storage, moved = dict(seller.storage), dict[str, tuple[Lot, ...]]()
    for id, units in bargain.items.items():
        left, _ = remove_units(storage[id], units)
        moved[id] = taken_lots(storage.pop(id), left)
        storage |= {id: left} if left else {}
    unit_cents = bargain.cents // sum(bargain.items.values())

    def take_in(buyer: State) -> State:
        added = {
            id: merge_lots((*buyer.storage.get(id, ()), *(lot._replace(cost_cents=unit_cents) for lot in lots)))
            for id, lots in moved.items()
        }
        return book(buyer.moved(storage={**buyer.storage, **added}), "goods", -bargain.cents)

    return for_rival(book(seller.moved(storage=storage), "goods", bargain.cents), bargain.buyer, take_in)
