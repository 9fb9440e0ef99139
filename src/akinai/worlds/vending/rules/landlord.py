"""The landlord's answers to letters: when rent is due, a deferral, pitches on offer."""

import re

from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model.state import Letter, State
from akinai.worlds.vending.rules.books import LANDLORD, book, day_text, post, site_at, site_name, with_site
from akinai.worlds.vending.rules.customers import pitch_text, rent_due_cents

_DEFER = re.compile(r"^\W*DEFER\s+(\d{1,3})\W*$", re.M)
"""The line that orders a deferral, as the landlord's own letters word it."""
_WANTS_TIME = re.compile(
    r"\b(defer|deferral|extension|extend|postpone|grace|more time|pay (?:it )?later|week(?:'s)? later)|延期|猶予", re.I
)
_PITCH = re.compile(
    r"\b(pitch(?:es)?|location|spot|(?:another|new|second|further|more) (?:place|site|machine)s?)\b|場所", re.I
)
_ASKS_DUE = re.compile(r"\b(?:when|what day|how much|how long)\b[^.?!\n]*\b(?:rents?|due|pay|owe)\b|いつ|いくら", re.I)
_RENT = re.compile(r"\b(rents?|due|pay|lease|contract)\b|家賃|期限", re.I)


def answer_tenant(state: State, letter: Letter) -> State:
    """Answer a letter to the landlord. Only a line "DEFER n" for site n defers a rent and charges for it."""
    text = f"{letter.subject}\n{letter.body}"
    if order := _DEFER.search(text):
        state, answer = _defer(state, int(order[1]))
        return _reply(state, letter, answer)
    answers: list[str] = []
    wants_time = _WANTS_TIME.search(text)
    if (_ASKS_DUE if wants_time else _RENT).search(text):
        answers.append(_dues_text(state))
    if wants_time:
        answers.append(_deferral_terms(state))
    if _PITCH.search(text):
        answers.append(pitch_text(state))
    return _reply(state, letter, "\n\n".join(answers) or "We can tell you when rent is due, defer it, or name pitches.")


def _reply(state: State, letter: Letter, text: str) -> State:
    return post(state, LANDLORD, f"Re: {letter.subject or 'your letter'}"[:500], text)


def _dues_text(state: State) -> str:
    lines = [
        f"- {site_name(state, site.place_index)}: {format_cents(rent_due_cents(state, site))}, due on "
        f"{day_text(state, site.due_day)}"
        for site in state.sites
        if not site.lost
    ]
    return "\n".join(("Your rents:", *lines)) if lines else "You rent nothing from us."


def _deferral_terms(state: State) -> str:
    terms = state.setup.street.rent
    if state.deferred:
        return "We have deferred a rent for you once, and do not do so again."
    return (
        f"Once, we defer a rent that is not overdue by {terms.defer_days} days, for {format_cents(terms.defer_cents)}. "
        "To order it, write a line with DEFER and the number of the site, such as DEFER 1."
    )


def _defer(state: State, number: int) -> tuple[State, str]:
    terms, site = state.setup.street.rent, site_at(state, number)
    if isinstance(site, Outcome):
        return state, f"You have no site {number}."
    if state.deferred:
        return state, _deferral_terms(state)
    if state.day > site.due_day:
        return state, "That rent is overdue: it is not deferred."
    if site.due_day + terms.defer_days - state.day >= terms.every_days:
        return state, f"That rent is not due soon: ask in the last {terms.every_days - terms.defer_days} days before."
    if terms.defer_cents > state.cash_cents:
        return state, f"Your account does not cover the {format_cents(terms.defer_cents)}."
    state = book(state, "rents", -terms.defer_cents).moved(deferred=True)
    state = with_site(state, number - 1, site._replace(due_day=site.due_day + terms.defer_days))
    day = day_text(state, site.due_day + terms.defer_days)
    charged = format_cents(terms.defer_cents)
    return state, f"The rent of {site_name(state, site.place_index)} is due on {day}; {charged} was charged."
