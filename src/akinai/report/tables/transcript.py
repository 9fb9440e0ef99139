"""A transcript as terminal text: a run as a story by days, or an entry in full with the place after it.

Whatever agents, suppliers or customers wrote is printed as text.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from akinai.core.agents import owner_of
from akinai.core.findings import SEVERITIES
from akinai.core.ledger import Ledger
from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Comparison, Figure, Place, Shelf, Street
from akinai.core.presentation.words import label
from akinai.core.untrusted.spelling import plain, printable, shorten
from akinai.report.language import fill, translate, translate_record, translate_sentence, translate_text
from akinai.report.tables.columns import translate_record_line, translate_result
from akinai.report.tables.deals import by_side
from akinai.report.tables.findings import MARKS, STYLES
from akinai.report.tables.items import LEAST, item_parts, sheet_table
from akinai.report.tables.runs import status_text, unread_line
from akinai.report.why.tables import why_lines
from akinai.views.model import DayView, FindingView, RunView
from akinai.views.selection import Transcript

MOST_FINDINGS = 8
"""Findings that the head of a story names, the worst first."""
LONGEST_FINDING = 200
LONGEST_ANSWER = 76
"""Characters of an outcome in a diary."""
MOST_LISTED = 40
"""Rows of a listing of a place."""
UNPRINTED_FIGURES = ("minute",)
"""Figures that are not printed here."""


def transcript_parts(transcript: Transcript, *, command: str) -> Iterator[RenderableType]:
    """Yield the parts of the page, from the top. `command` shows this run again, such as "akinai show RUN"."""
    selection = transcript.selection
    if not transcript.after:
        yield _head(transcript, command)
    if selection.calls and not transcript.run.calls:
        yield Text(translate("No model was asked in this run: it has no calls to show."))
    if not transcript.items and not selection.whole:
        yield Text(translate("no entry of this run fits" if transcript.run.entries else "no entries yet"))
    yield from day_parts(transcript)
    if transcript.place is not None and transcript.items:
        yield Text("")
        yield Rule(
            Text(fill("after entry {entry}", entry=selection.entry or transcript.items[-1].seq), "dim"),
            align="left",
            style="dim",
            characters="-",
        )
        yield from place_parts(transcript.place, {item.id: item.name for item in transcript.run.items})
        yield from _dealings(transcript)


def day_parts(transcript: Transcript) -> Iterator[RenderableType]:
    """Yield the items, with a line above each day that begins here."""
    run, single = transcript.run, transcript.selection.entry is not None
    crowded = len({item.actor.partition("/")[0] for item in transcript.items}) > 1 or bool(run.names)
    findings = {finding.number: finding for finding in run.findings}
    calls, uncut = (
        transcript.selection.calls,
        [printable(line) for text in transcript.added for line in text.split("\n")],
    )
    for day, items in transcript.by_day():
        if not transcript.after or day.first > transcript.after or not day.first:
            yield Text("")
            yield from _day_lines(transcript, day)
        for item in items:
            yield from item_parts(item, full=single, calls=calls, with_actor=crowded, uncut=uncut)
            for number in item.findings:
                if number in findings:
                    line = _finding_line(findings[number], with_actor=bool(transcript.seats))
                    yield Padding(line, (0, 0, 0, 4), expand=False)


def ending_line(run: RunView) -> RenderableType:
    """The last line of a story that was followed to its end."""
    line = fill("{run} is {how}", run=run.id, how=status_text(run.status, run.ending))
    why = f"; {run.error}" if run.error else ""
    return Text(plain(f"{line}{why}"), "bold red" if run.status == "failed" else "bold")


def _head(transcript: Transcript, command: str) -> RenderableType:
    run = transcript.run
    by = f"{run.agent} ({run.model})" if run.model and run.model != run.agent else run.agent
    by = f"{run.label}: {by}" if run.label else by
    how = status_text(run.status, run.ending)
    seed = translate_sentence(run.seed)
    facts = fill("{world}, played by {agent}, {seed}, {how}", world=run.world, agent=by, seed=seed, how=how)
    name = " ".join(filter(None, (run.id, transcript.selection.owner)))
    lines: list[RenderableType] = [Text.assemble((plain(name), "bold"), "  ", plain(facts))]
    if transcript.selection.entry is None:
        verdict = " ".join(filter(None, (transcript.verdict.text, transcript.crowd_verdict)))
        lines.append(Text(translate_result(verdict)))
    if transcript.selection.entry is None:
        lines += unread_line(run.unread)
    if transcript.selection.whole and transcript.selection.owner is None and transcript.seats:
        lines += [Text(""), _owners_table(transcript)]
    if transcript.selection.whole and run.findings:
        lines += [Text(""), *_findings(run.findings, command, with_actor=bool(transcript.seats))]
    if transcript.explanation is not None:
        lines += [Text(""), *why_lines(transcript.explanation)]
    if transcript.deal is not None:
        deal = transcript.deal
        lines.append(
            Text(plain(f"{fill('deal {id}', id=deal.id)}: {format_cents(deal.amount_cents)}, {by_side(deal)}"))
        )
    return Group(*lines)


def _owners_table(transcript: Transcript) -> Table:
    """A row for each of several owners: who played it, and what it came to."""
    first = transcript.run.headline
    heads = {"owner": "", "player": "", label(first): "cents", "units sold": "units", "findings": "findings"}
    rows = [
        (seat, run.player, run.scores.get(first), run.scores.get("units_sold"), len(run.findings))
        for seat, run in transcript.seats.items()
    ]
    return sheet_table(heads, rows)


def _dealings(transcript: Transcript) -> Iterator[RenderableType]:
    """Yield what owners sent one another on a selected day, or by a selected entry."""
    if not transcript.dealings:
        return
    heads = {"entry": "entry", "sender": "", "recipient": "", "type": "", "text": ""}
    rows = [
        (dealing.entry, dealing.sender, dealing.to, translate(dealing.kind), shorten(dealing.text, LONGEST_ANSWER))
        for dealing in transcript.dealings
    ]
    yield Text("")
    yield Text(translate("Between owners"), "bold")
    yield Padding(sheet_table(heads, rows), (0, 0, 0, 2), expand=False)


def _findings(findings: Sequence[FindingView], command: str, *, with_actor: bool) -> Iterator[RenderableType]:
    worst = sorted(findings, key=lambda finding: (-SEVERITIES.index(finding.severity), finding.entries[-1]))
    for finding in worst[:MOST_FINDINGS]:
        yield _finding_line(finding, with_actor=with_actor)
        yield Text(f"    {plain(command)} --entry {finding.entries[-1]}", "dim")
    if len(worst) > MOST_FINDINGS:
        more = fill("and {count} more findings, each beside its entry", count=len(worst) - MOST_FINDINGS)
        yield Text(f"  {more}", "dim")


def _finding_line(finding: FindingView, *, with_actor: bool = False) -> Text:
    family = f" ({translate('conduct')})" if finding.is_conduct else ""
    head = f"{MARKS[finding.severity]} {translate(finding.severity)}{family}"
    words = fill(
        "{title} (day {day}): {assumed}; in truth {true}",
        title=translate_text(finding.title), day=finding.day, assumed=translate_record(finding.assumed),
        true=translate_record(finding.true),
    )  # fmt: skip
    actor = f"{owner_of(finding.actor)}  " if with_actor else ""
    return Text.assemble((head, STYLES[finding.severity]), f"  {actor}", plain(shorten(words, LONGEST_FINDING)))


def _day_lines(transcript: Transcript, day: DayView) -> Iterator[RenderableType]:
    """Yield the line above a day; of several owners what each has at its end is a line of its own."""
    run, selection = transcript.run, transcript.selection
    several = bool(transcript.seats) and selection.owner is None
    name = translate_record(day.title)
    unit = fill("Week {week}", week=day.position) if run.unit == "week" else fill("Day {day}", day=day.number)
    title = name if run.unit == "part" else f"{unit}  {name}"
    open_ = "" if day.closed or run.unit == "part" else translate("still open")
    words = [title, translate_record(day.note), open_, *_amounts({"": run} if not several else {}, run, day)]
    if day.refused:
        words.append(fill("{count} refused", count=day.refused))
    yield Rule(Text(plain("  ".join(filter(None, words))), "bold"), align="left", style="dim", characters="-")
    yield from (Text(line, "dim") for line in _amounts(transcript.seats if several else {}, run, day))


def _amounts(runs: Mapping[str, RunView], run: RunView, day: DayView) -> Iterator[str]:
    """Yield the headline at the end of a day in words, by the names of the runs, where it is known."""
    cents = run.units.get(run.headline) == "cents"
    values = {name: own.days[day.position - 1].facts.get(run.headline_fact) for name, own in runs.items()}
    amounts = [
        f"{name} {format_cents(round(value)) if cents else f'{value:g}'}".lstrip()
        for name, value in values.items()
        if value is not None and day.closed
    ]
    if amounts:
        yield f"{translate(label(run.headline))} {', '.join(amounts)}"


def place_parts(snapshot: Place, names: Mapping[str, str]) -> Iterator[RenderableType]:
    """Yield the parts of a place; `names` are those of products."""
    figures = translate(", ").join(
        _figure(figure) for figure in snapshot.figures if figure.name not in UNPRINTED_FIGURES
    )
    if figures:
        yield Text(plain(figures))
    for shelf in snapshot.shelves:
        yield Text("")
        if shelf.name:
            yield Text(plain(f"{shelf.name}{f' ({translate_record(shelf.state)})' if shelf.state else ''}"), "bold")
        yield _machine(shelf, names)
    for listing in snapshot.listings:
        yield Text("")
        if not listing.rows:
            yield Text(plain(fill("{place}: nothing", place=translate_record(listing.title))), "dim")
            continue
        compared = isinstance(listing, Comparison)
        least = (
            fill(" ({mark} the lowest)", mark=LEAST)
            if compared and [*listing.columns.values()].count("cents") > 1
            else ""
        )
        yield Text(f"{translate_record_line(listing.title)}{least}", "bold")
        rows = list(listing.rows.values())[:MOST_LISTED]
        table = sheet_table(listing.columns, rows, compared=compared)
        yield Padding(table, (0, 0, 0, 2), expand=False)
        if len(listing.rows) > MOST_LISTED:
            yield Text(f"  {fill('and {count} more', count=len(listing.rows) - MOST_LISTED)}", "dim")
    for owner, part in snapshot.parts.items() if isinstance(snapshot, Street) else ():
        yield Text("")
        yield Text(owner, "bold")
        yield from place_parts(part, names)


def _figure(figure: Figure) -> str:
    amount = format_cents(round(figure.value)) if figure.unit == "cents" else f"{figure.value:,}"
    return f"{translate(figure.label)} {amount}"


def _machine(shelf: Shelf, names: Mapping[str, str]) -> Table:
    """The slots of a machine in their rows: product, units of capacity, price."""
    table = Table(box=None, show_header=False, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0))
    cells: list[Text] = []
    for (key, slot), capacity in zip(shelf.slots.items(), shelf.capacities, strict=True):
        cell = Text(f"{key.rpartition(':')[2]} ", "dim")
        if slot is None:
            cell.append(translate("empty"), "dim")
        else:
            cell.append(plain(names.get(slot.item, slot.item)))
            cell.append(f" {slot.units}/{capacity}", "red" if not slot.units else "")
            price = translate("no price") if slot.price_cents is None else format_cents(slot.price_cents)
            cell.append(f" {price}", "dim")
        cells.append(cell)
    for start in range(0, len(cells), shelf.columns):
        table.add_row(*cells[start : start + shelf.columns])
    return table


def diary(ledger: Ledger) -> Iterator[Text]:
    """Yield a ledger as a diary, a line for each action; the last line of a day says what its end brought."""
    for entry in ledger.entries:
        if entry.name == "AdvanceDay":
            yield Text(shorten(entry.outcome.text, 1000), "green")
            continue
        answer = shorten(entry.outcome.text.partition("\n")[0], LONGEST_ANSWER)
        yield Text(f"  {entry.name:20} {answer}", "" if entry.outcome.ok else "red")
