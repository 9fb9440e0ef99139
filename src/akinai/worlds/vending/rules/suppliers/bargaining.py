"""Bargaining: suppliers' price lists of today, offers for a discount, and what a rival's price does."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents, half_up
from akinai.worlds.vending.letters.intents import Intent
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Supplier
from akinai.worlds.vending.model.state import Result, State, Talk
from akinai.worlds.vending.rules.books import day_text, in_business, supplier_today, with_prices
from akinai.worlds.vending.rules.orders import know_suppliers, unit_cents


@lru_cache(maxsize=512)
def _prices(address: str, permille: int, costs: tuple[tuple[str, int, int], ...]) -> dict[str, int]:
    """A price list: cents by product from wholesale price and own factor; lists repeat for weeks."""
    return {id: max(1, half_up(cost * permille * own, 1_000_000)) for id, cost, own in costs}


def find_supplier(state: State, name: str) -> Supplier | Outcome:
    """A supplier in business that the owner has met, by its id, name or address; or the refusal `unknown_supplier`."""
    supplier = state.setup.catalog.find_supplier(name)
    if supplier is None or supplier.id not in state.known_suppliers or not in_business(state, supplier):
        text = f"you know no supplier {name!r:.60} that is in business"
        text += state.setup.hint(f"; you have met: {', '.join(state.known_suppliers) or 'none'}")
        return Outcome.refused("unknown_supplier", text)
    return supplier


def get_price_lists(state: State, action: a.GetPriceLists) -> Result:
    """Show the prices of suppliers that the owner has met, as text and data. Refused as `unknown_supplier`."""
    if action.suppliers:
        lookups = [find_supplier(state, name) for name in action.suppliers]
        for supplier in lookups:
            if isinstance(supplier, Outcome):
                return state, supplier
        suppliers = [*{supplier.id: supplier for supplier in lookups if isinstance(supplier, Supplier)}.values()]
    else:
        met = [state.setup.catalog.supplier_by_id[id] for id in state.known_suppliers]
        suppliers = [supplier for supplier in met if in_business(state, supplier)]
        if not suppliers:
            why = "you know no supplier in business yet" + state.setup.hint("; search_web finds some")
            return state, Outcome.refused("unknown_supplier", why)
    quoted, texts, data = dict(state.quoted), list[str](), list[Json]()
    for listed in suppliers:
        supplier = supplier_today(state, listed)
        quoted[supplier.id] = (state.day, supplier.price_permille)
        text, price_data = _price_list(state, supplier)
        texts.append(text)
        data.append(price_data)
    state = state.moved(quoted=quoted)
    return state, Outcome("\n\n".join(texts), data={"suppliers": data})


def _price_list(state: State, supplier: Supplier) -> tuple[str, dict[str, Any]]:
    names = state.setup.catalog.by_id
    costs = tuple((id, names[id].wholesale_cents, supplier.own_by_product.get(id, 1000)) for id in supplier.products)
    prices = _prices(supplier.address, supplier.price_permille, costs)
    minimum = format_cents(supplier.minimum_cents)
    text = (
        f"{supplier.name} ({supplier.id}), {supplier.address}: {supplier.lead_days} days, at {supplier.hour:02d}:00; "
        f"minimum order {minimum}, freight {format_cents(supplier.freight_cents)}\n"
        + ", ".join(f"{names[id].name} ({id}) {format_cents(cents)}" for id, cents in prices.items())
    )
    data = {
        "supplier": supplier.id,
        "lead_days": supplier.lead_days,
        "hour": supplier.hour,
        "minimum_cents": supplier.minimum_cents,
        "freight_cents": supplier.freight_cents,
        "prices_cents": prices,
    }
    return text, data


def make_offer(state: State, action: a.MakeOffer) -> Result:
    """Ask a supplier for a discount on its present prices; it answers with its price for the next 30 days.

    Refused as `unknown_supplier`, `unknown_product`, `offered_today`.
    """
    listed = find_supplier(state, action.supplier_id)
    if isinstance(listed, Outcome):
        return state, listed
    rivals: dict[str, int] = {}
    if action.rival_product is not None and action.rival_cents is not None:
        product = state.setup.catalog.find(action.rival_product)
        if product is None:
            return state, Outcome.refused("unknown_product", f"no product {action.rival_product!r:.80} in the catalog")
        rivals[product.id] = action.rival_cents
    about = next((id for id in rivals if id in listed.products), "")
    return bargain(state, listed, lambda ask: ask * (100 - action.discount_percent) // 100, rivals, about)


def bargain_by_letter(state: State, supplier: Supplier, intent: Intent) -> tuple[State, str]:
    """Bargain by letter, and return the answer. The first price that the letter offers counts for all goods.

    A price that is no lower than the supplier's own is no offer.
    """
    listed, by_id = state.setup.catalog.supplier_by_id[supplier.id], state.setup.catalog.by_id
    offers = {id: cents for id, cents in intent.offers.items() if id in listed.products}
    rivals = {id: cents for id, cents in intent.rivals.items() if id in listed.products}
    if priced := offers or (rivals if intent.off_permille is None else {}):
        about, part = next(iter(priced.items()))
        whole = unit_cents(supplier, by_id[about])
        if part >= whole:
            return state, f"We ask no more than that: {by_id[about].name} is {format_cents(whole)}."
    elif intent.off_permille is not None:
        about, part, whole = next(iter(rivals), ""), 1000 - min(intent.off_permille, 1000), 1000
    else:
        return state, "Make us an offer: a price for a product, or the discount that you want."
    state, outcome = bargain(state, listed, lambda ask: ask * part // whole, rivals, about)
    return state, outcome.text


def bargain(
    state: State, listed: Supplier, offer_at: Callable[[int], int], rivals: Mapping[str, int], about: str = ""
) -> Result:
    """A supplier's answer to an offer, made in view of what it asks (both per mille of the trade price).

    It tells the new price of the goods that the offer is about, or of the first that it sells.
    Nothing moves below what it can accept, and an offer under 80 % of that moves nothing. A rival's price that nobody
    quoted is found out half of the time: then the list price holds and it does not talk for 30 days.
    """
    drawn = state.setup.street.drawn
    if drawn is None:
        return state, Outcome.refused("no_talks", f"{listed.name} does not bargain")
    trader, talk = state.economy.town.traders[listed.id], state.talks.get(listed.id)
    if talk is None or state.day > talk.last_day:
        talk = Talk(listed.price_permille, trader.patience, 0, 0)
    if talk.offered_day == state.day:
        return state, Outcome.refused("offered_today", f"{listed.name} answers one offer a day; it answered today")
    rival = _was_rival_quoted(state, listed, talk.ask_permille, rivals, drawn.talk_days)
    last_day, ask = state.day + drawn.talk_days, talk.ask_permille
    if rival is False and state.economy.noise(state.day, "rumour", listed.id, state.day).below(2):
        talk = Talk(listed.price_permille, 0, last_day, state.day)
        text = f"Nobody sells at that price, and we asked. Our list prices hold until {day_text(state, last_day)}."
        return _settle_offer(state, listed, talk, text, about)
    if talk.left <= 0:
        return _settle_offer(state, listed, talk._replace(offered_day=state.day), "That was our last word.", about)
    offer = offer_at(ask)
    if offer * 10 >= trader.accept_permille * 8:
        gives = trader.gives_permille + (drawn.rival_permille if rival else 0)
        ask = max(trader.accept_permille, ask - gives * (ask - max(offer, trader.accept_permille)) // 1000)
        ask = min(ask, talk.ask_permille)
    moved = ask < talk.ask_permille
    talk = Talk(ask, talk.left - 1, last_day, state.day)
    text = "Because it is you, we take a little less." if moved else "That is too little; our prices stand."
    return _settle_offer(state, listed, talk, text + ("" if talk.left else " That is our last word."), about)


def _was_rival_quoted(
    state: State, supplier: Supplier, ask_permille: int, rivals: Mapping[str, int], days: int
) -> bool | None:
    """Whether a named rival's price was quoted in the last days; None where none is named, or it is not lower."""
    asks, by_id = with_prices(supplier, ask_permille), state.setup.catalog.by_id
    lower = {
        id: cents for id, cents in rivals.items() if id in supplier.products and cents < unit_cents(asks, by_id[id])
    }
    if not lower:
        return None
    for other_id, (day, permille) in state.quoted.items():
        other = state.setup.catalog.supplier_by_id[other_id]
        if other_id != supplier.id and state.day - day <= days:
            quoted = with_prices(other, permille)
            lower = {
                id: cents
                for id, cents in lower.items()
                if id not in other.products or unit_cents(quoted, by_id[id]) > cents
            }
    return not lower


def _settle_offer(state: State, supplier: Supplier, talk: Talk, text: str, about: str) -> Result:
    """Record an offer's result; the outcome has the new prices and until when they hold."""
    before = supplier_today(state, supplier).price_permille
    state = know_suppliers(state, [supplier.id]).moved(talks={**state.talks, supplier.id: talk})
    state = state.moved(quoted={**state.quoted, supplier.id: (state.day, talk.ask_permille)})
    _, price_data = _price_list(state, with_prices(supplier, talk.ask_permille))
    sample = about or supplier.products[0]
    name, price = state.setup.catalog.by_id[sample].name, format_cents(price_data["prices_cents"][sample])
    off = (before - talk.ask_permille) * 100 // before
    lower = f"All prices are {off} % lower: " if talk.ask_permille < before else ""
    until = f"{lower}{name} is {price}, until {day_text(state, talk.last_day)}."
    return state, Outcome(f"{supplier.name}: {text} {until}", data={**price_data, "moved": talk.ask_permille < before})
