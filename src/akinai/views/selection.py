"""A selection of a transcript: by day, entry, actor, deal, or words."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from akinai.core.canonical import Json, as_json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.findings import Deal
from akinai.core.presentation.transcript import Block, Letter, Passage, Place
from akinai.runtime.why.explanation import Explanation
from akinai.views.model import DayView, FindingView, RunView, TranscriptItem
from akinai.views.run import RunViews
from akinai.views.verdict import Verdict, verdict


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a transcript to show; all of it by default."""

    day: int | None = None
    entry: int | None = None
    actor: str | None = None
    """An actor with its sub-agents: "owner" also means "owner/email-1"."""
    deal: str | None = None
    calls: bool = False
    """Whether model calls are shown."""
    grep: str | None = None
    """Words in an entry, in any case."""

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self == Selection(calls=self.calls)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The selected part of what a run did."""

    run: RunView
    items: tuple[TranscriptItem, ...]
    verdict: Verdict
    place: Place | None = None
    """The place after the entry, where a single entry is selected."""
    deal: Deal | None = None
    """The selected deal."""
    crowd_verdict: str = ""
    """The result of a market, in a sentence or two."""
    selection: Selection = field(default_factory=Selection)
    after: int = 0
    """The entry after which it begins, where a run is followed."""
    views: RunViews | None = field(default=None, repr=False, compare=False)
    """All views of the run."""

    @property
    def findings(self) -> tuple[FindingView, ...]:
        """The findings whose last entry is among the items."""
        numbers = {number for item in self.items for number in item.findings}
        return tuple(finding for finding in self.run.findings if finding.number in numbers)

    @property
    def explanation(self) -> Explanation | None:
        """The decisions that made and cost most, where they are known and the whole run is shown."""
        return self.views.explanation if self.views is not None and self.selection.whole else None

    def by_day(self) -> Iterator[tuple[DayView, tuple[TranscriptItem, ...]]]:
        """Yield the days with their items; where the whole run is selected, days without items too."""
        items_by_day: dict[int, list[TranscriptItem]] = {}
        for item in self.items:
            items_by_day.setdefault(item.day, []).append(item)
        for day in self.run.days:
            empty = day.first > self.after if day.first else not self.after
            if day.number in items_by_day or (self.selection.whole and empty) or self.selection.day == day.number:
                yield day, tuple(items_by_day.get(day.number, ()))

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai show --json` prints."""
        document: dict[str, Json] = {
            "run": self.run.to_json(),
            "verdict": self.verdict.to_json(),
            "items": [
                {name: value for name, value in item.to_json().items() if name != "calls" or self.selection.calls}
                for item in self.items
            ],
        }
        parts = {"crowd": self.crowd_verdict, "why": self.explanation, "place": self.place, "deal": self.deal}
        return document | {name: as_json(part) for name, part in parts.items() if part}


def select(views: RunViews, selection: Selection, *, after: int = 0) -> Transcript:
    """Select a part of a run's transcript, of the entries after `after`.

    UsageError for a day or an entry that the run does not have, UnknownName for an actor or a deal.
    """
    run = views.run
    deal = _deal(views, selection.deal) if selection.deal is not None else None
    if selection.actor is not None:
        _expect_actor(views, selection.actor)
    items = tuple(item for item in _in_time(views, selection, after) if _is_selected(item, selection))
    snapshot = views.place(selection.entry) if selection.entry else None
    return Transcript(run, items, verdict(run), snapshot, deal, views.crowd.verdict, selection, after, views)


def _in_time(views: RunViews, selection: Selection, after: int) -> Iterator[TranscriptItem]:
    run = views.run
    if selection.entry is not None:
        if not 1 <= selection.entry <= run.entries:
            raise UsageError(
                f"run {run.id!r} has no entry {selection.entry}; it has {_span(run.entries, 'entry', 'entries')}"
            )
        item = views.item(selection.entry)
        if selection.day not in (None, item.day):
            raise UsageError(f"entry {selection.entry} is of {run.unit} {item.day}, not of {run.unit} {selection.day}")
        yield item
    elif selection.day is not None:
        if not 1 <= selection.day <= len(run.days):
            extent = _span(len(run.days), run.unit, f"{run.unit}s")
            raise UsageError(f"run {run.id!r} has no {run.unit} {selection.day}; it has {extent}")
        yield from views.day(selection.day)
    else:
        yield from (views.item(seq) for seq in range(after + 1, run.entries + 1))


def _span(count: int, single: str, plural: str) -> str:
    return f"{plural} 1 to {count:,}" if count > 1 else f"1 {single}" if count else f"no {plural} yet"


def _deal(views: RunViews, id: str) -> Deal:
    if not views.deals:
        raise UsageError(f"run {views.header.run_id!r} has no deals, so none is {id!r:.100}")
    if id not in views.deals:
        raise UnknownName("deal", id, views.deals, f"'akinai analyze {views.header.run_id} --deals' lists them")
    return views.deals[id]


def _expect_actor(views: RunViews, actor: str) -> None:
    actors = {step.entry.actor for step in views.steps}
    if not any(_of_actor(other, actor) for other in actors):
        raise UnknownName("actor", actor, sorted(actors), f"in run {views.header.run_id!r}")


def _of_actor(actor: str, selected: str) -> bool:
    return actor == selected or actor.startswith(f"{selected}/")


def _is_selected(item: TranscriptItem, selection: Selection) -> bool:
    if selection.actor is not None and not _of_actor(item.actor, selection.actor):
        return False
    if selection.deal is not None and selection.deal not in item.deals:
        return False
    return selection.grep is None or holds(item, selection.grep, calls=selection.calls)


def holds(item: TranscriptItem, words: str, *, calls: bool = False) -> bool:
    """Whether the texts of an item, and of its model calls, hold some words, in any case."""
    needle = words.casefold()
    return any(needle in text.casefold() for text in _texts(item, calls=calls))


def _texts(item: TranscriptItem, *, calls: bool) -> Iterator[str]:
    yield from (item.shown.summary, item.said, item.thoughts, item.text, item.verb, item.code or "")
    for block in item.shown.blocks:
        yield from _block_texts(block)
    for call in item.calls if calls else ():
        yield call.reply
        yield from (text for _, text in call.new)


def _block_texts(block: Block) -> Iterator[str]:
    match block:
        case Letter():
            yield from (block.sender, block.to, block.subject, block.body)
        case Passage():
            yield block.text
        case _:
            yield from (block.title, block.note)
            yield from (str(cell) for row in block.rows for cell in row)
