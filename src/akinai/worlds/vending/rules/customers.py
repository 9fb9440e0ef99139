"""Customers who complain, rents that fall due, pitches on offer, and the news."""

from akinai.core.canonical import Json
from akinai.core.chance import Chance
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import Complaint, Result, Site, State
from akinai.worlds.vending.rules.books import LANDLORD, book, day_text, post, rent_cents, site_at, site_name, with_site
from akinai.worlds.vending.rules.orders import know_suppliers

_FIRST = ("Ann", "Ben", "Chloe", "Dev", "Emi", "Frank", "Grace", "Hugo", "Iris", "Jun", "Kim", "Leo", "Maya", "Noor")
_LAST = ("Lee", "Novak", "Ortiz", "Park", "Quinn", "Rossi", "Sato", "Tran", "Ueda", "Vega", "Wong", "Young")


def complain(state: State, place_index: int, product: str, cents: int, chance: Chance) -> State:
    """Post a customer's letter that asks for the price of a product back."""
    number = state.complaint_count + 1
    first, last = _FIRST[chance("first").below(len(_FIRST))], _LAST[chance("last").below(len(_LAST))]
    name = state.setup.catalog.by_id[product].name
    text = (
        f"My {name} from the machine at {site_name(state, place_index)} got stuck. "
        f"{format_cents(cents)} back, please.\n"
        f"(Complaint {number}; answer within {state.setup.street.customers.answer_days} days.)\n{first} {last}"
    )
    complaint = Complaint(number, state.day, place_index, cents)
    state = state.moved(complaints=(*state.complaints, complaint), complaint_count=number)
    return post(state, f"{first}.{last}@mail.com".lower(), f"Complaint {number}", text)


def change_goodwill(state: State, place_index: int, ppm: int) -> State:
    """Change the goodwill at a place by `ppm` millionths; it stays between its least and 1."""
    for index, site in enumerate(state.sites):
        if site.place_index == place_index:
            least = state.setup.street.customers.least_ppm
            return with_site(state, index, site._replace(goodwill=min(max(site.goodwill + ppm, least), 1_000_000)))
    return state


def answer_customer(state: State, action: a.AnswerCustomer) -> Result:
    """Pay, refuse, or promise to pay. Refused as `no_complaint`, `no_cash`."""
    complaint = _find_complaint(state, action.complaint, promised=False)
    if isinstance(complaint, Outcome):
        return state, complaint
    terms = state.setup.street.customers
    match action.answer:
        case "pay":
            return _refund(state, complaint)
        case "refuse":
            state = _without_complaint(state, complaint)
            state = _leave_unpaid(state, complaint.place_index, terms.refused_ppm)
            return state, Outcome("The customer is disappointed.")
        case "promise":
            promise = complaint._replace(day=state.day, promised=True)
            complaints = tuple(promise if other is complaint else other for other in state.complaints)
            state = state.moved(complaints=complaints)
            by = day_text(state, state.day + terms.refund_days)
            return state, Outcome(f"The customer expects {format_cents(complaint.cents)} by {by}.")


def _leave_unpaid(state: State, place_index: int, ppm: int) -> State:
    """Lower goodwill after a refused or unanswered complaint: the more of them lately, the more it costs."""
    terms = state.setup.street.customers
    recent = tuple(day for day in state.unpaid if day > state.day - terms.often_days)
    state = change_goodwill(state, place_index, -ppm - terms.often_ppm * len(recent))
    return state.moved(unpaid=(*recent, state.day)) if terms.often_ppm else state


def _find_complaint(state: State, number: int, *, promised: bool) -> Complaint | Outcome:
    for complaint in state.complaints:
        if complaint.number == number and complaint.promised == promised:
            return complaint
    noun = "refund promised for complaint" if promised else "open complaint"
    return Outcome.refused("no_complaint", f"there is no {noun} {number}")


def _without_complaint(state: State, complaint: Complaint) -> State:
    return state.moved(complaints=tuple(other for other in state.complaints if other is not complaint))


def _refund(state: State, complaint: Complaint) -> Result:
    if complaint.cents > state.cash_cents:
        return state, Outcome.refused("no_cash", "your bank balance does not cover it")
    state = book(_without_complaint(state, complaint), "refunds", -complaint.cents)
    state = change_goodwill(state, complaint.place_index, state.setup.street.customers.paid_ppm)
    text = f"Paid {format_cents(complaint.cents)} back for complaint {complaint.number}."
    return state, Outcome(text, data={"paid_cents": complaint.cents})


def pay(state: State, action: a.Pay) -> Result:
    """Pay a rent, or a refund that was promised. Refused as `no_complaint`, `no_site`, `paid` already, `no_cash`."""
    if action.bill == "refund":
        complaint = _find_complaint(state, action.number, promised=True)
        return (state, complaint) if isinstance(complaint, Outcome) else _refund(state, complaint)
    site = site_at(state, action.number)
    if isinstance(site, Outcome):
        return state, site
    terms = state.setup.street.rent
    if site.due_day - state.day >= terms.every_days:
        text = f"the rent of {site_name(state, site.place_index)} is paid"
        text += state.setup.hint(f"; the next is due on {day_text(state, site.due_day)}")
        return state, Outcome.refused("paid", text)
    cents = rent_due_cents(state, site)
    if cents > state.cash_cents:
        text = "your bank balance does not cover the rent" + state.setup.hint(f" of {format_cents(cents)}")
        return state, Outcome.refused("no_cash", text)
    opens = state.day + terms.unsealed_days if site.sealed else 0
    site = site._replace(due_day=site.due_day + terms.every_days, opens_day=opens)
    state = with_site(book(state, "rents", -cents), action.number - 1, site)
    text = f"Paid {format_cents(cents)} rent for {site_name(state, site.place_index)}; the next is due on " + day_text(
        state, site.due_day
    )
    seal = f" The seal comes off on {day_text(state, opens)}." if opens else ""
    return state, Outcome(f"{text}.{seal}", data={"paid_cents": cents, "due_day": site.due_day})


def rent_due_cents(state: State, site: Site) -> int:
    """The rent to be paid for a site now, in cents: a late rent costs more."""
    cents = rent_cents(state, site.place_index)
    return cents + cents * state.setup.street.rent.late_permille // 1000 if state.day > site.due_day else cents


def close_promises(state: State, day: int) -> State:
    """At the end of a day, punish complaints left without an answer and promises that were not kept."""
    terms = state.setup.street.customers
    for complaint in state.complaints:
        waited = day - complaint.day
        if complaint.promised and waited >= terms.refund_days:
            state = change_goodwill(
                _without_complaint(state, complaint), complaint.place_index, -terms.broken_promise_ppm
            )
        elif not complaint.promised and waited >= terms.answer_days:
            state = _leave_unpaid(_without_complaint(state, complaint), complaint.place_index, terms.ignored_ppm)
    return state


def morning_letters(state: State) -> State:
    """Post the letters of a morning: rents overdue, suppliers out of business, pitches on offer."""
    street, town = state.setup.street, state.economy.town
    for index, site in enumerate(state.sites):
        name = site_name(state, site.place_index)
        if not site.sealed and street.rent.sealed_days > 1 and state.day == site.due_day + 2:
            cents = format_cents(rent_due_cents(state, site))
            text = (
                f"The rent of {name} was due on {day_text(state, site.due_day)}. It is {cents} now; on "
                f"{day_text(state, site.due_day + street.rent.sealed_days + 1)} the machine is sealed."
            )
            state = post(state, LANDLORD, f"Site {index + 1} rent is overdue", text)
        elif site.sealed and state.day == site.due_day + street.rent.sealed_days + 1 and not site.opens_day:
            cents = format_cents(rent_due_cents(state, site))
            text = f"The rent of {name} was due on {day_text(state, site.due_day)}. The machine is sealed. {cents}."
            state = post(state, LANDLORD, f"Site {index + 1} is sealed", text)
        elif site.lost and state.day == site.due_day + street.rent.lost_days + 1:
            state = post(state, LANDLORD, f"Site {index + 1} is lost", f"{name} is no longer yours.")
    for id, trader in town.traders.items():
        if trader.closes == state.day:
            supplier = state.setup.catalog.supplier_by_id[id]
            text = f"{supplier.name} is out of business. What was prepaid is lost."
            state = post(state, supplier.address, f"{supplier.name} closes", text)
    for pitch in street.sites.pitches:
        if pitch.day == state.day:
            state = post(state, LANDLORD, "Another pitch", pitch_text(state))
    return state


def pitch_text(state: State) -> str:
    """The pitches that can be taken, by name, and what the next costs."""
    street, town = state.setup.street, state.economy.town
    taken = {site.place_index for site in state.sites}
    free = [index for index in range(len(street.sites.names)) if index not in taken]
    if not free or len(taken) > len(street.sites.pitches):
        return "No further pitch is on offer."
    pitch = street.sites.pitches[len(taken) - 1]
    lines = [
        f"- {site_name(state, index)}: rent {format_cents(rent_cents(state, index))}, "
        f"footfall counted {town.survey[index] / 1000:.2f} of an average place"
        for index in free
    ]
    head = f"From {day_text(state, pitch.day)}, another site with a machine, {format_cents(pitch.cents)}:"
    return "\n".join((head, *lines))


def take_pitch(state: State, action: a.TakePitch) -> Result:
    """Take another site. Refused as `no_place`, `not_yet`, `no_cash`."""
    street = state.setup.street
    taken = {site.place_index for site in state.sites}
    names = {name.lower(): place_index for place_index, name in enumerate(street.sites.names)}
    place_index = names.get(action.place.strip().lower())
    if place_index is None or place_index in taken or len(taken) > len(street.sites.pitches):
        text = f"{action.place!r:.60} is not on offer" + state.setup.hint(f". {pitch_text(state)}")
        return state, Outcome.refused("no_place", text)
    pitch = street.sites.pitches[len(taken) - 1]
    if state.day < pitch.day:
        text = "no further pitch is on offer yet" + state.setup.hint(f"; from {day_text(state, pitch.day)} one is")
        return state, Outcome.refused("not_yet", text)
    if pitch.cents > state.cash_cents:
        text = "your bank balance does not cover it" + state.setup.hint(f": it costs {format_cents(pitch.cents)}")
        return state, Outcome.refused("no_cash", text)
    state = open_site(book(state, "machines", -pitch.cents), place_index)
    number, due = len(state.sites), state.sites[-1].due_day
    data: dict[str, Json] = {"site": number, "due_day": due, "rent_cents": rent_cents(state, place_index)}
    return state, Outcome(f"Site {number} is {action.place}. {contract_text(state, number)}", data=data)


def open_site(state: State, place_index: int) -> State:
    """The state with another site, its machine empty."""
    due = state.day + state.setup.street.rent.every_days - 1
    site = Site(place_index, 0, 1_000_000, due)
    return state.moved(sites=(*state.sites, site), slots=(*state.slots, *(None,) * state.setup.slots))


def contract_text(state: State, number: int) -> str:
    """The contract of a site: its rent, when it is due, and what happens when it is late."""
    terms, site = state.setup.street.rent, state.sites[number - 1]
    rent = rent_cents(state, site.place_index)
    twice = format_cents(rent + rent * terms.late_permille // 1000)
    late = f"the machine is sealed, the rent is {twice}"
    if terms.sealed_days > 1:
        late = f"the rent is {twice}; {terms.sealed_days} days later the machine is sealed"
    return (
        f"Rent for {site_name(state, site.place_index)}: {format_cents(rent)} every {terms.every_days} days, first due "
        f"on {day_text(state, site.due_day)}. Nobody takes it from your account: pay it. A day later {late}, "
        f"and it opens {terms.unsealed_days} mornings after you paid; after "
        f"{terms.lost_days} days the site and what is in it are lost."
    )


def read_news(state: State) -> Result:
    """Show the announced events, rumours about suppliers, and pitches on offer."""
    street, town, day = state.setup.street, state.economy.town, state.day
    lines: list[str] = []
    events: list[Json] = []
    for event in town.events:
        if event.news_day <= day <= event.last:
            effect = street.events.kinds[event.kind]
            span = f"{day_text(state, event.first)} to {day_text(state, event.last)}"
            lines.append(f"- {span}: {event.kind}. {effect.says}")
            times = {id: effect.permille_of(id) / 1000 for id in ("", *effect.categories)}
            pays = effect.worth_permille / 1000
            events.append({"kind": event.kind, "first": event.first, "last": event.last, "times": times, "pays": pays})
    for id, trader in town.traders.items():
        supplier = state.setup.catalog.supplier_by_id[id]
        named = f"{supplier.name} ({supplier.id}, {supplier.address})"
        if trader.news_day <= day < trader.closes:
            lines.append(f"- Drivers of {named} wait for their wages.")
        elif trader.opens <= day < trader.opens + 14 and trader.opens > 1:
            lines.append(f"- {named} has opened for business.")
        else:
            continue
        state = know_suppliers(state, [id])
    lines.append(pitch_text(state))
    return state, Outcome("\n".join(lines), data={"events": events})
