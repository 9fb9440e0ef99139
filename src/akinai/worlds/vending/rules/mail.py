"""Mail: the owner's letters and the answers to them, the notices of deliveries, and how the mailbox is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.worlds.vending.letters.names import LINE_ENDS
from akinai.worlds.vending.model.actions import ReadEmail, ReviewLetter, WriteReply
from akinai.worlds.vending.model.state import DAY_MINUTES, Letter, Mail, Outgoing, Result, State, Unwritten, clock
from akinai.worlds.vending.model.verb import Sending
from akinai.worlds.vending.rules.books import LANDLORD, in_business, post, post_to, rival_at
from akinai.worlds.vending.rules.landlord import answer_tenant
from akinai.worlds.vending.rules.orders import know_suppliers
from akinai.worlds.vending.rules.suppliers import letters
from akinai.worlds.vending.rules.suppliers.answers import answer_letter

TERMS_BELOW = "--- our records ---"
"""Between the words of a model and the terms."""
OVERSEER_ADDRESS = "overseer@street.com"
PAGE = 20
"""Letters shown at a time."""


def send_email(state: State, action: Sending) -> Result:
    """Send a letter, to another owner also by name. Whether anybody receives mail at an address shows the next morning.

    Refused as `no_address` when `to` holds no address, or several.
    """
    to = action.to.strip().lower()
    if to.startswith("<") or to.endswith(">"):
        to = to.rpartition("<")[2].strip("<> ")
    if (rival := rival_at(state, to)) is not None:
        to = state.setup.contact(rival).email
    if to.count("@") != 1 or any(mark in to for mark in " ,;\t\n") or to.startswith("@") or to.endswith("@"):
        return state, Outcome.refused(
            "no_address", f"{action.to!r:.120} is not one e-mail address like name@example.com"
        )
    text = f"Handed in for {to}. It goes when the overseer has passed it." if state.overseen else f"Sent to {to}."
    return send(state, to, action.subject, action.body), Outcome(text, data={"to": to})


def send(state: State, to: str, subject: str, body: str) -> State:
    """Send a letter. Where there is an overseer it waits to be read."""
    mail = state.mail
    letter = Letter(
        mail.letters + 1, state.minute, state.contact.email, _one_line(to), _one_line(subject), _plain_line_ends(body)
    )
    state = state.moved(mail=replace(mail, letters=letter.number))
    if state.overseen:
        return state.moved(outgoing=(*state.outgoing, Outgoing(state.owner, letter)))
    return _put_on_its_way(state, letter)


def _put_on_its_way(state: State, letter: Letter) -> State:
    """Let a letter go, to be answered the next morning. A supplier that receives one is known from then on.

    Another owner of the street has it at once.
    """
    mail = replace(state.mail, sent=state.mail.sent.put(letter))
    if (rival := rival_at(state, letter.to)) is not None:
        return post_to(state.moved(mail=mail), rival, letter.sender, letter.subject, letter.body)
    mail = replace(mail, waiting=(*mail.waiting, letter))
    supplier = state.setup.catalog.supplier_by_address.get(letter.to.lower())
    return know_suppliers(state, [supplier.id] if supplier else []).moved(mail=mail)


def morning_post(state: State) -> State:
    """Answer every letter of an earlier day, in the order of sending; then drop the quotes that have expired.

    A supplier reads its letter and answers. Where the letter orders goods that can be paid for, the supplier charges
    for them and sends them. A letter to the owner's own address arrives there; any other letter comes back from the
    mailer-daemon.
    """
    if not state.mail.waiting and not len(state.mail.quotes):
        return state
    today = (state.day - 1) * DAY_MINUTES
    due = [letter for letter in state.mail.waiting if letter.at < today]
    state = state.moved(mail=replace(state.mail, waiting=state.mail.waiting[len(due) :]))
    for letter in due:
        state = _answer(state, letter)
    quotes = state.mail.quotes
    for number in [offer.number for offer in quotes.values() if offer.last_day < state.day]:
        quotes = quotes.delete(number)
    return state.moved(mail=replace(state.mail, quotes=quotes))


def _answer(state: State, letter: Letter) -> State:
    setup, to = state.setup, letter.to.lower()
    if to == state.contact.email.lower():
        return post(state, letter.sender, letter.subject, letter.body)
    if state.setup.street.rent.cents and to == LANDLORD:
        return answer_tenant(state, letter)
    supplier = setup.catalog.supplier_by_address.get(to)
    if supplier is None or not in_business(state, supplier):
        daemon = f"mailer-daemon@{setup.email.rpartition('@')[2]}"
        draft = letters.undelivered(clock(setup, letter.at), letter.to, letter.subject)
        return post(state, daemon, draft.subject, draft.body)
    state, draft = answer_letter(state, supplier, letter)
    if setup.suppliers is not None and setup.suppliers.model:
        return state.moved(unwritten=(*state.unwritten, Unwritten(supplier.id, letter, draft.subject, draft.body)))
    return post(state, supplier.address, draft.subject, draft.body)


def write_reply(state: State, action: WriteReply) -> Result:
    """A supplier's answer in the words of a model, above the terms that the rules fixed."""
    first, *later = state.unwritten
    supplier = state.setup.catalog.supplier_by_id[first.supplier]
    words = _plain_line_ends(action.text).strip()
    body = f"{words}\n\n{TERMS_BELOW}\n{first.terms}" if words else first.terms
    return post(state.moved(unwritten=tuple(later)), supplier.address, first.subject, body), Outcome("Sent.")


def review_letter(state: State, action: ReviewLetter) -> Result:
    """Send the oldest letter that waits for the overseer, or give it back to its author with the note."""
    first, *later = state.outgoing
    own, letter = state.moved(outgoing=tuple(later)).turned_to(first.owner), first.letter
    data: dict[str, Json] = {"owner": first.owner, "letter": letter.number, "verdict": action.verdict}
    if action.verdict == "pass":
        return _put_on_its_way(own, letter).turned_to(state.owner), Outcome(f"Sent to {letter.to}.", data=data)
    verdict = "vetoed" if action.verdict == "veto" else "to be rewritten"
    body = f"{action.note or 'The overseer gives no reason.'}\n\nYour letter to {letter.to}:\n\n{letter.body}"
    own = post_to(
        own, first.owner, OVERSEER_ADDRESS, f"Not sent, {verdict}: {letter.subject}"[: letters.SUBJECT_LIMIT], body
    )
    return own.turned_to(state.owner), Outcome(f"Back to {first.owner}.", data=data)


def leave_unread(state: State) -> Result:
    """Let all letters go unread, those that wait too: the player of the overseer cannot go on."""
    owner, count = state.owner, len(state.outgoing)
    for own, letter in state.outgoing:
        state = _put_on_its_way(state.turned_to(own), letter)
    text = f"From now on letters go unread; {_count(count, 'letter')} went."
    return state.turned_to(owner).moved(outgoing=(), unattended=True), Outcome(text)


def read_email(state: State, action: ReadEmail) -> Result:
    """Show up to 20 letters: the oldest unread ones, or the latest of a folder, newest first.

    Unread letters that are shown count as read from then on. While more than 20 letters are unread, these are shown
    even when the whole inbox is asked for.
    """
    mail = state.mail
    if action.folder == "sent":
        page = mail.sent[: -PAGE - 1 : -1]
        return state, _render_letters(state, page, f"The latest {len(page)} of {len(mail.sent)} letters you sent.")
    unread = mail.unread_count
    mail, opened = open_unread(mail)
    state = state.moved(mail=mail)
    if action.only_unread or unread > PAGE:
        left = f"; {mail.unread_count} more are unread" if mail.unread_count else ""
        return state, _render_letters(state, opened, f"{_count(len(opened), 'new letter')}{left}.")
    page = mail.inbox[max(mail.opened - PAGE, 0) : mail.opened][::-1]
    return state, _render_letters(state, page, f"The latest {len(page)} of {_count(mail.opened, 'letter')}.")


def open_unread(mail: Mail) -> tuple[Mail, Sequence[Letter]]:
    """The mailbox after its oldest unread letters were read, and these letters."""
    opened = mail.unread[:PAGE]
    return (replace(mail, opened=mail.opened + len(opened)) if opened else mail), opened


def _count(number: int, noun: str) -> str:
    return f"{number or 'No'} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class ParsedLetter:
    """A letter as read_email shows it."""

    number: int
    date: str
    sender: str
    to: str
    subject: str
    body: str


def parse_letters(text: str) -> tuple[ParsedLetter, ...]:
    """Parse the letters in an outcome of read_email, exactly as they were, whatever their bodies hold."""
    letters: list[ParsedLetter] = []
    for match in _LETTER.finditer(text):
        body = _INDENTED.sub(r"\1", match["body"][:-1])
        letters.append(
            ParsedLetter(int(match["number"]), match["date"], match["sender"], match["to"], match["subject"], body)
        )
    return tuple(letters)


_LETTER = re.compile(
    r"^--- letter (?P<number>[0-9]+) ---\nDate: (?P<date>.*)\nFrom: (?P<sender>.*)\nTo: (?P<to>.*)\n"
    r"Subject: (?P<subject>.*)\n\n(?P<body>(?:.*\n)*?)(?=--- )",
    re.MULTILINE,
)
_DASHES = re.compile(r"^( *--- )", re.MULTILINE)
_INDENTED = re.compile(r"^ ( *--- )", re.MULTILINE)
_LAST_LINE = "--- end of mail ---"


def _render_letters(state: State, page: Sequence[Letter], head: str) -> Outcome:
    """Letters as text and as data. A body line that looks like a delimiter is indented by one more space."""
    texts: list[str] = []
    data: list[Json] = []
    for letter in page:
        date = clock(state.setup, letter.at)
        texts.append(
            f"--- letter {letter.number} ---\nDate: {date}\nFrom: {letter.sender}\nTo: {letter.to}\n"
            f"Subject: {letter.subject}\n\n" + _DASHES.sub(r" \1", letter.body)
        )
        header: dict[str, Json] = {"number": letter.number, "date": date, "from": letter.sender, "to": letter.to}
        data.append(header | {"subject": letter.subject, "body": letter.body})
    text = "\n".join((head, "", *texts, _LAST_LINE)) if texts else head
    return Outcome(text, data={"letters": data})


def _one_line(text: str) -> str:
    """The text of a header on one line."""
    return " ".join(text.split())


def _plain_line_ends(text: str) -> str:
    """The text of a body with newlines as its only line ends."""
    return LINE_ENDS.sub("\n", text)
