"""The report of a week: what the owner learns on a Monday morning, as text of a few thousand characters and as data."""

from collections.abc import Mapping, Sequence

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model.state import DAY_MINUTES, Letter, State, clock, date_text
from akinai.worlds.vending.rules.books import day_text, site_name
from akinai.worlds.vending.rules.customers import pitch_text
from akinai.worlds.vending.rules.deliveries import free_units
from akinai.worlds.vending.rules.sites import get_machine_inventory
from akinai.worlds.vending.rules.stock import units_in
from akinai.worlds.vending.sprint.employee import cash_text, week_of
from akinai.worlds.vending.sprint.records import WEEKDAYS

REPORT_CHARS = 5_000
LETTER_CHARS = 140
NEWS_CHARS = 900
SOON_DAYS = 10
"""Days within which goods in storage that spoil are named with their last day."""


def report(state: State, all_news: Outcome) -> tuple[str, dict[str, Json]]:
    """The report of the week that ended, as text and data; the first holds the contract in full."""
    week, s = week_of(state), state
    news, news_data = _news(state, all_news)
    head = f"{_head(state)} Bank {format_cents(s.cash_cents)}"
    head += f" ({cash_text(s.cash_cents - week.cash_cents)} since last Monday)." if week.books else "."
    parts = [head]
    if s.owed_cents:
        parts.append(f"Fees owed: {format_cents(s.owed_cents)}.")
    if week.books:
        parts.append("Weather: " + ", ".join(f"{_day(book.day)} {book.weather}" for book in week.books))
    parts += [*_sales(state), _prices(state), _storage(state), *_goods(state)]
    tail = [f"NEWS\n{news[:NEWS_CHARS]}"] if news else []
    if s.notes.notepad:
        tail.append(f"YOUR NOTES\n{s.notes.notepad}")
    room = REPORT_CHARS - len("\n".join([*parts, *tail])) - 1
    whole = s.day == 1
    rivals = {state.setup.contact(owner).email: owner for owner in state.other_businesses}
    parts += _letters(week.letters, rivals, room, whole=whole)
    return "\n".join([*parts, *tail])[:REPORT_CHARS], _data(state, news_data)


def _head(state: State) -> str:
    setup = state.setup
    if state.ending:
        return f"The business is over: day {state.closed_days - setup.days_before}."
    of = f" of {(setup.days + 6) // 7}" if setup.days else ""
    return f"Week {(state.owner_day + 6) // 7}{of}. {clock(setup, state.minute)}."


def _day(day: int) -> str:
    return WEEKDAYS[(day - 1) % 7]


def _sales(state: State) -> list[str]:
    """Site by site: units sold, days on which a product was sold out, and what is left."""
    week = week_of(state)
    lines = ["SALES by site (product: units sold, evenings on which it was sold out, units left in the machine)"]
    for row in [_Site(state, index) for index in range(len(state.sites))]:
        out = {id: " ".join(map(_day, days)) if len(days) < 7 else "all week" for id, days in row.out.items()}
        goods = [
            f"{id} {row.sold.get(id, 0)}{f' (out {out[id]})' if id in out else ''} {row.units.get(id, 0)}"
            for id in dict.fromkeys([*row.units, *row.sold])
        ]
        lines.append(f"{row.number} {row.title}, box {format_cents(row.box_cents)}: {'; '.join(goods) or 'empty'}")
    if week.books:
        lines.append(f"Takings {format_cents(sum(book.income_cents for book in week.books))}.")
    return lines


class _Site:
    """A site's week."""

    def __init__(self, state: State, index: int) -> None:
        week, site = week_of(state), state.sites[index]
        self.number, self.box_cents = index + 1, site.box_cents
        seal = " LOST" if site.lost else " SEALED" if site.sealed else ""
        self.title = f"{site_name(state, site.place_index)}{seal}"
        self.units = units_in(state.slots_of(index))
        self.sold: dict[str, int] = {}
        self.out: dict[str, list[int]] = {}
        for book, sold_out in zip(week.books, week.sold_out, strict=True):
            for id, units in (book.sold_at or {}).get(site.place_index, {}).items():
                self.sold[id] = self.sold.get(id, 0) + units
            for id in sold_out.get(self.number, ()):
                self.out.setdefault(id, []).append(book.day)


def _prices(state: State) -> str:
    week = week_of(state)
    shown = {id for ids in week.plan.sites.values() for id in ids} | {slot.product for slot in state.slots if slot}
    tags = [f"{id} {cents / 100:.2f}" for id, cents in sorted(state.prices.items()) if id in shown]
    return f"Prices: {', '.join(tags) or 'none'}."


def _storage(state: State) -> str:
    goods = list[str]()
    for id, lots in sorted(state.storage.items()):
        last = min(lot.last_day for lot in lots)
        date = date_text(state.setup, last).rpartition(" ")[0]
        soon = f" (first spoils after {date})" if last < state.day + SOON_DAYS else ""
        goods.append(f"{sum(lot.units for lot in lots)} {id}{soon}")
    total = sum(state.stored.values())
    return f"STORAGE {total} of {total + free_units(state)} units: {', '.join(goods) or 'empty'}."


def _goods(state: State) -> list[str]:
    week, lines, thrown = week_of(state), list[str](), dict[str, int]()
    for book in week.books:
        for id, units in book.spoiled.items():
            thrown[id] = thrown.get(id, 0) + units
    if thrown:
        lines.append("Thrown away: " + ", ".join(f"{units} {id}" for id, units in thrown.items()) + ".")
    if week.counted:
        lines.append("GOODS that came and were counted")
        for day, order, supplier, missing, extra in week.counted:
            short = ", ".join(f"{units} {id}" for id, units in missing.items())
            over = ", ".join(f"{units} {id}" for id, units in extra.items())
            result = f"MISSING {short}" if short else f"all there, and {over} too many" if over else "all there"
            lines.append(f"- {_day(day)}: order {order} from {supplier}: {result}")
    if week.not_placed:
        lines += ["ORDERS NOT PLACED", *(f"- {text}"[:LETTER_CHARS] for text in week.not_placed)]
    return lines


def _letters(letters: Sequence[Letter], rivals: Mapping[str, str], room: int, *, whole: bool) -> list[str]:
    """The letters, a line each or in full, as far as there is room; the last line says how many there are more.

    `rivals` are other owners by address: who is to answer one must know who wrote.
    """
    if not letters:
        return []
    heading = "LETTERS" if whole else "LETTERS (number, day, subject, first line)"
    lines, room = [heading], room - len(heading) - 60
    for index, letter in enumerate(letters):
        writer = f"from {rivals[letter.sender]}, " if letter.sender in rivals else ""
        line = f"- {letter.number} {writer}{letter.subject}: {letter.body}" if whole else _letter_line(letter, writer)
        if (room := room - len(line) - 1) < 0:
            return [*lines, f"- and {len(letters) - index} more, from number {letter.number}"]
        lines.append(line)
    return lines


def _letter_line(letter: Letter, writer: str) -> str:
    first = letter.body.removeprefix("Dear customer,").strip().partition("\n")[0]
    return f"- {letter.number} {_day(letter.at // DAY_MINUTES + 1)} {writer}{letter.subject}: {first}"[:LETTER_CHARS]


def _news(state: State, all_news: Outcome) -> tuple[str, dict[str, Json]]:
    """The news that is new since the last Monday; on the first, the pitches as well."""
    town, last = state.economy.town, max(state.day - 7, 0)
    events = [event for event in town.events if last < event.news_day <= state.day]
    dates = {f"- {day_text(state, event.first)} to {day_text(state, event.last)}:" for event in events}
    opened = {
        f"({id}, "
        for id, trader in town.traders.items()
        if last < trader.news_day <= state.day or (last < trader.opens <= state.day and trader.opens > 1)
    }
    lines = [
        line
        for line in all_news.text.splitlines()
        if line.startswith(tuple(dates)) or (line.startswith("- ") and any(name in line for name in opened))
    ]
    if state.day == 1:
        lines.append(pitch_text(state))
    before = state.setup.days_before
    new: list[Json] = [
        row | {"first": event.first - before, "last": event.last - before}
        for event in events
        for row in all_news.fields["events"]
        if row["first"] == event.first
    ]
    return "\n".join(lines), {"text": "\n".join(lines), "events": new}


def _data(state: State, news: dict[str, Json]) -> dict[str, Json]:
    """The report for programs."""
    week, before = week_of(state), state.setup.days_before
    places = {site.place_index: str(index + 1) for index, site in enumerate(state.sites)}
    days: list[Json] = [
        {
            "day": book.day - before,
            "weather": book.weather,
            "income_cents": book.income_cents,
            "sold": {places[place]: dict(units) for place, units in (book.sold_at or {}).items() if place in places},
            "out": {str(number): [*ids] for number, ids in sold_out.items()},
            "spoiled": dict(book.spoiled),
        }
        for book, sold_out in zip(week.books, week.sold_out, strict=True)
    ]
    counted: list[Json] = [
        {
            "day": day - before,
            "order": order,
            "supplier": supplier,
            "missing": dict(missing),
            **({"extra": dict(extra)} if extra else {}),
        }
        for day, order, supplier, missing, extra in week.counted
    ]
    letters: list[Json] = [
        {
            "number": letter.number,
            "day": letter.at // DAY_MINUTES + 1 - before,
            "subject": letter.subject,
            "body": letter.body,
        }
        for letter in week.letters
    ]
    return {
        "day": state.owner_day,
        "cash_cents": state.cash_cents,
        "sites": get_machine_inventory(state)[1].fields["sites"],
        "prices_cents": dict(state.prices),
        "storage": {**state.stored},
        "days": days,
        "counted": counted,
        "not_placed": [*week.not_placed],
        "letters": letters,
        "news": news,
    }
