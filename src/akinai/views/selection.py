"""A selection of a transcript: by day, entry, actor, deal, or words."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from akinai.core.agents import owner_of
from akinai.core.canonical import Json, as_json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.findings import Deal
from akinai.core.presentation.transcript import Block, Dealing, Letter, Passage, Place, Street
from akinai.core.worlds import participants
from akinai.runtime.why.explanation import Explanation
from akinai.views.model import DayView, FindingView, RunView, TranscriptItem
from akinai.views.run import RunViews
from akinai.views.verdict import Verdict, street_verdict, verdict


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a transcript to show; all of it by default."""

    day: int | None = None
    entry: int | None = None
    actor: str | None = None
    """An actor with its sub-agents: "owner" also means "owner/email-1"."""
    owner: str | None = None
    """One of several owners: its entries, and those that brought it something from the others."""
    deal: str | None = None
    calls: bool = False
    """Whether model calls are shown."""
    grep: str | None = None
    """Words in an entry, in any case."""

    @property
    def whole(self) -> bool:
        """Whether nothing is left out of the run, or of an owner's side of it."""
        return self == Selection(calls=self.calls, owner=self.owner)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The selected part of what a run did."""

    run: RunView
    items: tuple[TranscriptItem, ...]
    verdict: Verdict
    place: Place | None = None
    """The place after the entry, where a single entry is selected; the street after a selected day."""
    deal: Deal | None = None
    """The selected deal."""
    crowd_verdict: str = ""
    """The result of a market, in a sentence or two."""
    selection: Selection = field(default_factory=Selection)
    after: int = 0
    """The entry after which it begins, where a run is followed."""
    dealings: tuple[Dealing, ...] = ()
    """What owners sent one another in the selected entries."""
    views: RunViews | None = field(default=None, repr=False, compare=False)
    """All views of the run."""

    @property
    def findings(self) -> tuple[FindingView, ...]:
        """The findings whose last entry is among the items."""
        numbers = {number for item in self.items for number in item.findings}
        return tuple(finding for finding in self.run.findings if finding.number in numbers)

    @property
    def seats(self) -> Mapping[str, RunView]:
        """The run as each of several owners has it."""
        return self.views.seats if self.views is not None else {}

    @property
    def added(self) -> Sequence[str]:
        """The texts that settings add to tasks, which stand in the prompts of calls."""
        if self.views is None:
            return ()
        texts = self.views.world.facets.sides.added_texts(self.views.steps.genesis.setup)
        return [added.text for added in texts]

    @property
    def explanation(self) -> Explanation | None:
        """The decisions that made and cost most, where they are known and the whole run is shown."""
        whole = self.selection.whole and self.selection.owner is None
        return self.views.explanation if self.views is not None and whole else None

    def by_day(self) -> Iterator[tuple[DayView, tuple[TranscriptItem, ...]]]:
        """Yield the days with their items; where the whole run is selected, days without items too."""
        items_by_day: dict[int, list[TranscriptItem]] = {}
        for item in self.items:
            items_by_day.setdefault(item.day, []).append(item)
        for day in self.run.days:
            empty = day.first > self.after if day.first else not self.after
            if day.number in items_by_day or (self.selection.whole and empty) or self._selects(day):
                yield day, tuple(items_by_day.get(day.number, ()))

    def _selects(self, day: DayView) -> bool:
        return self.selection.day is not None and day.number <= self.selection.day <= day.last_day

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
        parts |= {"dealings": self.dealings}
        return document | {name: as_json(part) for name, part in parts.items() if part}


def select(views: RunViews, selection: Selection, *, after: int = 0) -> Transcript:
    """Select a part of a run's transcript, of the entries after `after`.

    UsageError for a day or an entry that the run does not have, UnknownName for an actor, an owner or a deal.
    """
    run = views.run if selection.owner is None else _side(views, selection.owner)
    if not views.seats:
        selection = replace(selection, owner=None)
    deal = _deal(views, selection.deal) if selection.deal is not None else None
    if selection.actor is not None:
        _expect_actor(views, selection.actor)
    dealings = [dealing for dealing in views.dealings if selection.owner is None or dealing.concerns(selection.owner)]
    brought = {dealing.entry for dealing in dealings}
    items = tuple(item for item in _in_time(views, selection, after) if _is_selected(item, selection, brought))
    numbers = {item.seq for item in items}
    snapshot, own = _place(views, selection), tuple(dealing for dealing in dealings if dealing.entry in numbers)
    result = verdict(run) if selection.owner or not views.seats else street_verdict(views.seats)
    return Transcript(run, items, result, snapshot, deal, views.crowd.verdict, selection, after, own, views)


def _side(views: RunViews, owner: str) -> RunView:
    """The run as an owner has it. A single owner has all of it."""
    if views.seats:
        if owner not in views.seats:
            raise UnknownName("owner", owner, views.seats, f"in run {views.header.run_id!r}")
        return views.seats[owner]
    single = participants(views.world, views.steps.opening)[0] if views.world.facets.sides.seats else None
    if owner != single:
        whose = f"has a single one, {single}" if single else "has none; --actor shows one participant"
        raise UsageError(f"no owner {owner!r:.60} to show: run {views.header.run_id!r} {whose}")
    return views.run


def _place(views: RunViews, selection: Selection) -> Place | None:
    """The place after a selected entry, on a street with that of its owner; on a street also after a selected day."""
    last = selection.entry
    if last is None and selection.day is not None and views.seats:
        day = views.day_at(selection.day)
        last = day.last if day else 0
    snapshot = views.place(last) if last else None
    if not isinstance(snapshot, Street):
        return snapshot
    owner = selection.owner or (owner_of(views.steps[last - 1].entry.actor) if selection.entry and last else "")
    return replace(snapshot, parts={seat: part for seat, part in snapshot.parts.items() if seat == owner})


def _in_time(views: RunViews, selection: Selection, after: int) -> Iterator[TranscriptItem]:
    run = views.run
    unit = "part" if run.unit == "part" else "day"
    if selection.entry is not None:
        if not 1 <= selection.entry <= run.entries:
            raise UsageError(
                f"run {run.id!r} has no entry {selection.entry}; it has {_span(run.entries, 'entry', 'entries')}"
            )
        item = views.item(selection.entry)
        if selection.day is not None and views.day_at(selection.day) != views.day_at(item.day):
            raise UsageError(f"entry {selection.entry} is of {unit} {item.day}, not of {unit} {selection.day}")
        yield item
    elif selection.day is not None:
        if not 1 <= selection.day <= run.last_day:
            extent = _span(run.last_day, unit, f"{unit}s")
            raise UsageError(f"run {run.id!r} has no {unit} {selection.day}; it has {extent}")
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


def _is_selected(item: TranscriptItem, selection: Selection, brought: Collection[int]) -> bool:
    if selection.owner is not None and owner_of(item.actor) != selection.owner and item.seq not in brought:
        return False
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
