"""A selection of a transcript: by day, entry, actor, deal, or words."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.findings import Deal
from akinai.core.presentation.transcript import Block, Letter, Passage, Place
from akinai.runtime.why.explanation import Explanation
from akinai.views.model import DayView, FindingView, RunView, TranscriptItem
from akinai.views.run import RunViews
from akinai.views.verdict import Verdict, verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a transcript is asked for; all of it by default."""

    day: int | None = None
    entry: int | None = None
    actor: str | None = None
    """An actor with its sub-agents: "owner" also means "owner/email-1"."""
    deal: str | None = None
    calls: bool = False
    """Whether model calls belong to it."""
    grep: str | None = None
    """Words in an entry, in any case."""

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self == Choice(calls=self.calls)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a run did, as far as it was asked for."""

    run: RunView
    items: tuple[TranscriptItem, ...]
    verdict: Verdict
    place: Place | None = None
    """The place after the entry, where a single entry was asked for."""
    deal: Deal | None = None
    """The deal that was asked for."""
    crowd_verdict: str = ""
    """What came of a market, in a sentence or two."""
    choice: Choice = field(default_factory=Choice)
    after: int = 0
    """The entry behind which it begins, where a run is followed."""
    views: RunViews | None = field(default=None, repr=False, compare=False)
    """All views of the run."""

    @property
    def findings(self) -> tuple[FindingView, ...]:
        """The findings whose last entry is among the items."""
        numbers = {number for item in self.items for number in item.findings}
        return tuple(finding for finding in self.run.findings if finding.number in numbers)

    @property
    def explanation(self) -> Explanation | None:
        """Which decisions made and cost most, where that was found out and the whole run is shown."""
        return self.views.explanation if self.views is not None and self.choice.whole else None

    def by_day(self) -> Iterator[tuple[DayView, tuple[TranscriptItem, ...]]]:
        """Days with their items; where nothing is left out also days without any."""
        found: dict[int, list[TranscriptItem]] = {}
        for item in self.items:
            found.setdefault(item.day, []).append(item)
        for day in self.run.days:
            empty = day.first > self.after if day.first else not self.after
            if day.number in found or (self.choice.whole and empty) or self.choice.day == day.number:
                yield day, tuple(found.get(day.number, ()))

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai show --json` prints."""
        document: dict[str, Json] = {
            "run": self.run.to_json(),
            "verdict": self.verdict.to_json(),
            "items": [_item_json(item, self.choice) for item in self.items],
        }
        if self.crowd_verdict:
            document["crowd"] = self.crowd_verdict
        if self.explanation is not None:
            document["why"] = self.explanation.to_json()
        if self.place is not None:
            document["place"] = asdict(self.place)
        if self.deal is not None:
            document["deal"] = self.deal.to_json()
        return document


def _item_json(item: TranscriptItem, choice: Choice) -> Mapping[str, Json]:
    document = item.to_json()
    if not choice.calls:
        document.pop("calls")
    return document


def select(views: RunViews, choice: Choice, *, after: int = 0) -> Transcript:
    """The part of a run's transcript that is asked for, behind the entry `after`.

    UsageError for a day or an entry that the run does not have, UnknownName for an actor or a deal.
    """
    run = views.run
    deal = _deal(views, choice.deal) if choice.deal is not None else None
    if choice.actor is not None:
        _expect_actor(views, choice.actor)
    items = tuple(item for item in _in_time(views, choice, after) if _asked_for(item, choice))
    place = views.place(choice.entry) if choice.entry else None
    return Transcript(run, items, verdict(run), place, deal, views.crowd.verdict, choice, after, views)


def _in_time(views: RunViews, choice: Choice, after: int) -> Iterator[TranscriptItem]:
    run = views.run
    if choice.entry is not None:
        if not 1 <= choice.entry <= run.entries:
            raise UsageError(
                f"run {run.id!r} has no entry {choice.entry}; it has {_span(run.entries, 'entry', 'entries')}"
            )
        item = views.item(choice.entry)
        if choice.day not in (None, item.day):
            raise UsageError(f"entry {choice.entry} is of {run.unit} {item.day}, not of {run.unit} {choice.day}")
        yield item
    elif choice.day is not None:
        if not 1 <= choice.day <= len(run.days):
            there = _span(len(run.days), run.unit, f"{run.unit}s")
            raise UsageError(f"run {run.id!r} has no {run.unit} {choice.day}; it has {there}")
        yield from views.day(choice.day)
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


def _of_actor(actor: str, asked: str) -> bool:
    return actor == asked or actor.startswith(f"{asked}/")


def _asked_for(item: TranscriptItem, choice: Choice) -> bool:
    if choice.actor is not None and not _of_actor(item.actor, choice.actor):
        return False
    if choice.deal is not None and choice.deal not in item.deals:
        return False
    return choice.grep is None or holds(item, choice.grep, calls=choice.calls)


def holds(item: TranscriptItem, words: str, *, calls: bool = False) -> bool:
    """Whether an item holds words, in any case: in what was done, said, written and answered, and in model calls."""
    wanted = words.casefold()
    return any(wanted in text.casefold() for text in _texts(item, calls=calls))


def _texts(item: TranscriptItem, *, calls: bool) -> Iterator[str]:
    yield from (item.shown.summary, item.said, item.text, item.verb, item.code or "")
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
