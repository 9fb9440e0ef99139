"""The bank account of a business, its sites, and its mailbox as others write to it."""

from collections.abc import Callable

from akinai.core.ledger import Outcome
from akinai.worlds.vending.model.setup import Supplier
from akinai.worlds.vending.model.state import Letter, Mail, Site, State, date_text

LANDLORD = "landlord@street.com"


def book(state: State, cause: str, cents: int) -> State:
    """Move money into the bank account, or out of it when negative, under a cause."""
    if not cents:
        return state
    accounts = {**state.accounts, cause: state.accounts.get(cause, 0) + cents}
    return state.moved(cash_cents=state.cash_cents + cents, accounts=accounts)


def post(state: State, sender: str, subject: str, body: str) -> State:
    """Put a letter into the owner's mailbox."""
    mail = state.mail
    letter = Letter(mail.letters + 1, state.minute, sender, state.contact.email, subject, body)
    inbox = mail.inbox.put(letter)
    return state.moved(mail=Mail(inbox, mail.opened, mail.sent, mail.waiting, letter.number, mail.quotes))


def rival_at(state: State, name: str) -> str | None:
    """The other owner of that name or e-mail address; None for anybody else."""
    plain = name.strip().lower()
    return next((rival for rival in state.rivals if plain in (rival, state.setup.contact(rival).email)), None)


def for_rival(state: State, rival: str, change: Callable[[State], State]) -> State:
    """The street after a change to another owner's business, with the same one in front."""
    return change(state.turned_to(rival)).turned_to(state.owner)


def post_to(state: State, owner: str, sender: str, subject: str, body: str) -> State:
    """Put a letter into the mailbox of an owner who does not act now, of which it is told with its next outcome.

    An owner who has left the street gets no mail.
    """

    def deliver(own: State) -> State:
        if not own.has_owner:
            return own
        return post(own, sender, subject, body).moved(notices=(*own.notices, f"New letter from {sender}: {subject}"))

    return for_rival(state, owner, deliver)


def post_from(state: State, supplier: Supplier, subject: str, *paragraphs: str) -> State:
    """Put a supplier's letter into the owner's mailbox."""
    return post(state, supplier.address, subject, letter_text(supplier, *paragraphs))


def letter_text(supplier: Supplier, *paragraphs: str) -> str:
    """The text of a supplier's letter."""
    return "\n\n".join(("Dear customer,", *paragraphs, f"Best regards,\n{supplier.name}"))


def site_name(state: State, place_index: int) -> str:
    """The name of a place of the street, by its index from 0."""
    return state.setup.street.sites.names[place_index]


def site_at(state: State, number: int) -> Site | Outcome:
    """An owner's site by its number, or the refusal `no_site`."""
    if not 0 < number <= len(state.sites) or state.sites[number - 1].lost:
        return Outcome.refused("no_site", f"you have no site {number}")
    return state.sites[number - 1]


def with_site(state: State, index: int, site: Site) -> State:
    """The state after the record of a site changed."""
    return state.moved(sites=(*state.sites[:index], site, *state.sites[index + 1 :]))


def rent_cents(state: State, place_index: int) -> int:
    """The rent of a place in cents: half of it moves with the footfall as counted."""
    return state.setup.street.rent.cents * (1000 + state.economy.town.survey[place_index]) // 2000


def day_text(state: State, day: int) -> str:
    """The date of a day, counted from 1: "Sat 18 Apr 2026"."""
    return date_text(state.setup, day)


def supplier_today(state: State, supplier: Supplier) -> Supplier:
    """A supplier with the prices that it asks of the owner today, as agreed or as listed."""
    talk = state.talks.get(supplier.id)
    if talk is None or state.day > talk.last_day or talk.ask_permille == supplier.price_permille:
        return supplier
    return with_prices(supplier, talk.ask_permille)


def with_prices(supplier: Supplier, permille: int) -> Supplier:
    """The supplier with its prices at another level, per mille of the trade price."""
    return supplier.model_copy(update={"price_permille": permille})


def in_business(state: State, supplier: Supplier) -> bool:
    """Whether a supplier can be dealt with today."""
    trader = state.economy.town.traders[supplier.id]
    return trader.opens <= state.day < trader.closes
