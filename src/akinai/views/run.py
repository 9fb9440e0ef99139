"""The view models of one run: one fold of its ledger serves scores, findings, transcript and place."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, cast

from akinai.core.agents import owner_of, split_said
from akinai.core.canonical import Json
from akinai.core.facets import SAME
from akinai.core.findings import Deal, Finding
from akinai.core.ledger import DAY_US, SECOND_US, Entry, midnights
from akinai.core.presentation.transcript import Crowd, Dealing, Place
from akinai.core.scores import Score
from akinai.core.steps import Step, Steps
from akinai.core.stores import RunHeader, TraceRecord
from akinai.core.worlds import World, participants, replay_on
from akinai.runtime.runs.unreadable import unread_sentence
from akinai.runtime.why.book import conduct_gains_in, explanation_in
from akinai.runtime.why.explanation import ConductCredit, Credit, Explanation
from akinai.views.calls import calls_by_entry
from akinai.views.model import CallView, DayView, FindingView, MomentView, RunView, TranscriptItem, Unit
from akinai.views.place_history import PlaceHistory, record_place_history

PART = 100
"""Entries of a part, in a world without a clock of its own."""
DAYS: Mapping[Unit, int] = {"day": 1, "week": 7, "part": 1}
"""The days, or parts, of each unit."""
BY_SEAT = "_by_seat"
"""The end of the names of tables that have a fact of each seat."""
MOST_MOMENTS = 3
"""Moments of either kind: the first rows of an explanation, which are those shown to matter and then the largest."""


class RunViews:
    """The views of a run, each made at its first use and then kept. Every state of the run stays in memory."""

    def __init__(
        self,
        header: RunHeader,
        world: World[Any],
        steps: Steps[Any],
        trace: Sequence[TraceRecord] = (),
        known_findings: Sequence[Finding] | None = None,
    ) -> None:
        """`known_findings` are the findings of these very steps; without them the world's detectors look for them."""
        self.header, self.world, self.steps = header, world, steps
        self._known_findings = known_findings
        self._trace = tuple(trace)
        self._presentation = world.facets.presentation
        self._start = self._first_day()
        self._unit: Unit = "part" if self._start is None else self._presentation.unit(steps.genesis.setup)
        self._items: dict[int, tuple[TranscriptItem, ...]] = {}

    def _first_day(self) -> int | None:
        """The world's time at the beginning; None unless the run goes by days: it has a horizon of them, or midnight
        passed."""
        begin, end = self.world.now(self.steps.opening), self.world.now(self.steps.final)
        if begin is None or end is None:
            return None
        return begin if "days" in self.steps.genesis.setup or midnights(begin, end) else None

    @property
    def digest(self) -> str:
        """Identifies the whole record: views of equal digests and equally many calls are equal."""
        return self.steps[-1].entry.digest if self.steps else self.steps.genesis.digest

    @cached_property
    def explanation(self) -> Explanation | None:
        """The explanation that `akinai why` made of this record; None where it made none."""
        return explanation_in(self._trace, self.digest)

    @cached_property
    def conduct_gains(self) -> tuple[ConductCredit, ...] | None:
        """What the findings of conduct gained their actors, as far as `akinai why` was asked; None where it was not."""
        return conduct_gains_in(self._trace, self.digest)

    @cached_property
    def moments(self) -> tuple[MomentView, ...]:
        """The decisive moments of that explanation, by entry."""
        explanation = self.explanation
        return _find_moments(explanation, self.days, self.day_of) if explanation is not None else ()

    @property
    def trace(self) -> Sequence[TraceRecord]:
        """The trace of the model calls, as far as it was read."""
        return self._trace

    def grown(self, header: RunHeader, entries: Iterable[Entry], trace: Sequence[TraceRecord] = ()) -> "RunViews":
        """The views of the same run after more entries: only these are folded. `trace` is the whole of it."""
        steps = replay_on(self.world, self.steps, entries)
        return RunViews(header, self.world, steps, trace or self._trace)

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """All scores with their evidence, the headline first."""
        return tuple(score for scorer in self.world.scorers for score in scorer(self.steps))

    @cached_property
    def run(self) -> RunView:
        """The summary of the run, which a page shows before any day is opened."""
        header, scores, headline = self.header, self.scores, self.scores[0].name if self.scores else ""
        findings, days = self.findings, self.days
        facts = next((day.facts for day in reversed(days) if day.first), dict[str, float]())
        fact = next((name for name in (f"{headline}_cents", headline) if headline and name in facts), "")
        calls = [call for calls_of_entry in self.calls.values() for call in calls_of_entry]
        return RunView(
            id=header.run_id,
            world=header.genesis.world,
            agent=header.agent,
            model=header.model or "",
            label=header.label or "",
            seed=header.game_words,
            status=header.status,
            ending=header.ending,
            error=header.error,
            digest=self.digest,
            group=header.group,
            parent=header.parent,
            unit=self._unit,
            planned=self._planned,
            entries=len(self.steps),
            headline=headline,
            headline_fact=fact,
            scores={score.name: score.value for score in scores},
            units={score.name: score.unit for score in scores},
            days=days,
            findings=findings,
            items=tuple(self._presentation.items(self.steps.opening)),
            names=self.names,
            moments=self.moments,
            unread=unread_sentence(header),
            calls=len(calls),
            tokens={
                "input": sum(call.input for call in calls if not call.from_cache),
                "output": sum(call.output for call in calls if not call.from_cache),
                "cached": sum(call.cached for call in calls if not call.from_cache),
            },
        )

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of actors for people, by id."""
        return self._presentation.names(self.steps.final)

    @cached_property
    def crowded(self) -> bool:
        """Whether several act in it, so that each entry says who did it."""
        several = bool(self.names) or len(participants(self.world, self.steps.opening)) > 1
        return several or len({owner_of(step.entry.actor) for step in self.steps}) > 1

    @cached_property
    def seats(self) -> Mapping[str, RunView]:
        """The run as each of several owners has it: its own scores, findings, and facts of its days. Empty where one
        plays alone."""
        seats = [seat for seat in participants(self.world, self.steps.opening) if seat in self.world.facets.sides.seats]
        return {seat: self._of_seat(seat) for seat in seats}

    def _of_seat(self, seat: str) -> RunView:
        run = self.run
        findings = tuple(finding for finding in run.findings if owner_of(finding.actor) == seat)
        numbers = {finding.number for finding in findings}
        days = tuple(
            replace(
                day,
                facts={
                    name.removesuffix(BY_SEAT): table[seat]
                    for name, table in day.tables.items()
                    if name.endswith(BY_SEAT) and seat in table
                },
                tables={},
                refused=sum(not step.outcome.ok for step in self._steps_of(day) if owner_of(step.entry.actor) == seat),
                findings=tuple(number for number in day.findings if number in numbers),
            )
            for day in run.days
        )
        agent, model = self._player_of(seat)
        own = f"_{seat}"
        scores, units = (
            {name.removesuffix(own): value for name, value in of_run.items() if name.endswith(own)}
            for of_run in (run.scores, run.units)
        )
        return replace(
            run, agent=agent, model=model, label="", scores=scores, units=units, days=days, findings=findings
        )

    def _steps_of(self, day: DayView) -> Sequence[Step[Any]]:
        return self.steps[day.first - 1 : day.last] if day.first else ()

    def _player_of(self, seat: str) -> tuple[str, str]:
        """The agent and the model of a seat; those of the run where its settings name none."""
        table: Mapping[str, Any] = self.steps.genesis.setup
        for name in self.world.facets.sides.seats[seat].split("."):
            table = table.get(name) or {}
        agent, model = str(table.get("agent") or SAME), str(table.get("model") or "")
        own = agent == SAME and not model
        return (self.run.agent, self.run.model) if own else ("" if agent == SAME else agent, model)

    @cached_property
    def dealings(self) -> tuple[Dealing, ...]:
        """What seats sent one another, in the order of the ledger."""
        return tuple(self._presentation.dealings(self.steps))

    @cached_property
    def findings(self) -> tuple[FindingView, ...]:
        """The mistakes that the record shows, by their last entry."""
        findings = self._known_findings
        if findings is None:
            findings = self.world.facets.judging.detect(self.steps)
        in_order = sorted(findings, key=lambda finding: finding.entries[-1])
        return tuple(self._finding(number, finding) for number, finding in enumerate(in_order, 1))

    def _finding(self, number: int, finding: Finding) -> FindingView:
        title = self._presentation.finding_titles.get(finding.type, "")
        words = finding.type.replace("_", " ")
        return FindingView(
            *(getattr(finding, field.name) for field in fields(Finding)),
            number=number,
            title=title or f"{words[:1].upper()}{words[1:]}",
            day=self.day_of(finding.entries[-1]),
            first_day=self.day_of(finding.entries[0]),
        )

    @cached_property
    def calls(self) -> Mapping[int, tuple[CallView, ...]]:
        """Model calls by the entry that they led to."""
        return calls_by_entry(self.steps.entries, self._trace)

    @cached_property
    def deals(self) -> Mapping[str, Deal]:
        """Every deal by its id, in the order of the ledger."""
        return {deal.id: deal for deal in self.world.facets.judging.deals(self.steps)}

    @cached_property
    def crowd(self) -> Crowd:
        """Participants and conversations, in a world of several sides."""
        return self._presentation.crowd(self.steps)

    @cached_property
    def place_history(self) -> PlaceHistory:
        """The place after every entry, as changes."""
        return record_place_history(self._presentation, self.steps)

    def place(self, seq: int) -> Place:
        """The place after an entry; 0 is the opening."""
        return self._presentation.place(self.state(seq))

    def state(self, seq: int) -> Any:
        """The world's state after an entry."""
        return self.steps[min(seq, len(self.steps)) - 1].after if seq > 0 and self.steps else self.steps.opening

    @cached_property
    def _days_of_entries(self) -> Sequence[int]:
        start = self._start
        if start is None:
            return [index // PART + 1 for index in range(len(self.steps))]
        now, length = cast("Callable[[Any], int]", self.world.now), DAYS[self._unit]
        return [midnights(start, now(step.before)) // length * length + 1 for step in self.steps]

    @property
    def _planned(self) -> int:
        """Days of the horizon; 0 without one."""
        horizon = self.steps.genesis.setup.get("days", 0)
        return horizon if isinstance(horizon, int) and self._start is not None else 0

    def day_of(self, seq: int) -> int:
        """The number of the day, or part, to which an entry belongs; in a run by weeks the first day of its week."""
        return self._days_of_entries[seq - 1]

    @cached_property
    def days(self) -> tuple[DayView, ...]:
        """All days or weeks, the open one included; in a world without a clock, all parts."""
        days = [self._day(position, *span) for position, span in enumerate(self._spans(), 1)]
        by_day: dict[int, list[int]] = {}
        for finding in self.findings:
            by_day.setdefault(finding.day, []).append(finding.number)
        return tuple(replace(day, findings=tuple(by_day.get(day.number, ()))) for day in days)

    def _spans(self) -> Iterator[tuple[Sequence[Step[Any]], bool]]:
        """The entries of each day or week, and whether it ended."""
        numbers = self._days_of_entries
        count, ended = numbers[-1] if numbers else 0, 0
        if self._start is not None:
            now = cast("Callable[[Any], int]", self.world.now)
            ended = midnights(self._start, now(self.steps.final))
        index, length = 0, DAYS[self._unit]
        for number in range(1, max(count, ended) + 1, length):
            first = index
            while index < len(numbers) and numbers[index] == number:
                index += 1
            if self._start is not None:
                over = self._last_day(number) <= ended
            else:
                over = index < len(numbers) or self.header.status == "done"
            yield self.steps[first:index], over

    def _last_day(self, number: int) -> int:
        """The last day of the unit that begins on a day."""
        last = number + DAYS[self._unit] - 1
        return min(last, self._planned) if number <= self._planned else last

    def _day(self, position: int, steps: Sequence[Step[Any]], closed: bool) -> DayView:
        judging = self.world.facets.judging
        state = steps[-1].after if steps else self.steps.opening
        facts: Mapping[str, Json] = dict(judging.facts(state)) if steps else {}
        if steps and closed:
            facts = {**facts, **judging.day_facts(state)}
        numbers = {name: value for name, value in facts.items() if isinstance(value, int | float)}
        tables = {
            name: cast("Mapping[str, float]", value) for name, value in facts.items() if isinstance(value, Mapping)
        }
        number = (position - 1) * DAYS[self._unit] + 1
        return DayView(
            number,
            self._last_day(number),
            position,
            self._day_title(number, steps),
            self._presentation.day_note(state) if closed and steps else "",
            steps[0].entry.seq if steps else 0,
            steps[-1].entry.seq if steps else 0,
            closed,
            numbers,
            tables,
            sum(not step.outcome.ok for step in steps),
        )

    def _day_title(self, number: int, steps: Sequence[Step[Any]]) -> str:
        if self._start is None:
            return f"Entries {steps[0].entry.seq:,} to {steps[-1].entry.seq:,}"
        date = datetime.fromtimestamp((self._start // DAY_US + number - 1) * DAY_US // SECOND_US, UTC)
        return f"{date:%a} {date.day} {date:%b} {date.year}"

    def day_at(self, number: int) -> DayView | None:
        """The day or part of a number, or the week that holds that day; None for one that the run does not have."""
        length = DAYS[self._unit]
        return self.days[(number - 1) // length] if self.days and 0 < number <= self.days[-1].last_day else None

    def day(self, number: int) -> tuple[TranscriptItem, ...]:
        """The transcript of a day or part, or of the week that holds that day; empty for a number that the run does not
        have."""
        day = self.day_at(number)
        if day is None or not day.first:
            return ()
        if day.number not in self._items:
            self._items[day.number] = tuple(self._item(seq) for seq in range(day.first, day.last + 1))
        return self._items[day.number]

    def item(self, seq: int) -> TranscriptItem:
        """The transcript's item of an entry. IndexError for an entry that the run does not have."""
        items = self.day(self.day_of(seq))
        return items[seq - items[0].seq]

    def items(self) -> Iterator[TranscriptItem]:
        """The whole transcript."""
        for day in self.days:
            yield from self.day(day.number)

    @cached_property
    def _findings_at(self) -> Mapping[int, tuple[int, ...]]:
        numbers_by_entry: dict[int, tuple[int, ...]] = {}
        for finding in self.findings:
            numbers_by_entry[finding.entries[-1]] = (*numbers_by_entry.get(finding.entries[-1], ()), finding.number)
        return numbers_by_entry

    @cached_property
    def _deals_at(self) -> Mapping[int, tuple[str, ...]]:
        ids_by_entry: dict[int, tuple[str, ...]] = {}
        for deal in self.deals.values():
            for step in deal.steps:
                ids_by_entry[step.entry] = (*ids_by_entry.get(step.entry, ()), deal.id)
        return ids_by_entry

    @cached_property
    def kinds(self) -> Mapping[str, int]:
        """The number of uses of each verb."""
        return Counter(type(step.turn.action).tool_name() for step in self.steps)

    def _item(self, seq: int) -> TranscriptItem:
        step = self.steps[seq - 1]
        entry, now = step.entry, self.world.now(step.before)
        return TranscriptItem(
            seq,
            self.day_of(seq),
            self._time(entry.at) if now is None or self._start is None else _clock(now),
            entry.at if now is None else now,
            entry.actor,
            self.names.get(entry.actor, ""),
            entry.actor.count("/"),
            type(step.turn.action).tool_name(),
            self._presentation.show(self.steps, seq - 1),
            *split_said(entry.said),
            entry.outcome.text,
            entry.outcome.ok,
            entry.outcome.code,
            self.calls.get(seq, ()),
            self._findings_at.get(seq, ()),
            tuple(moment.number for moment in self.moments if moment.entry == seq),
            self._deals_at.get(seq, ()),
        )

    def _time(self, at: int) -> str:
        return f"+{(at - self.steps[0].entry.at) / SECOND_US:,.1f} s"


def _clock(now: int) -> str:
    minutes = now % DAY_US // SECOND_US // 60
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _find_moments(
    explanation: Explanation, days: Sequence[DayView], day_of: Callable[[int], int]
) -> tuple[MomentView, ...]:
    """The decisive moments by entry. A moment on a day without any entry is at the last entry before it."""
    moments = [_moment(row, explanation, days, day_of) for row in explanation.cost[:MOST_MOMENTS] if row.made < 0]
    moments += [_moment(row, explanation, days, day_of) for row in explanation.made[:MOST_MOMENTS] if row.made > 0]
    in_order = sorted((moment for moment in moments if moment is not None), key=lambda moment: moment.entry)
    return tuple(replace(moment, number=number) for number, moment in enumerate(in_order, 1))


def _moment(
    row: Credit, explanation: Explanation, days: Sequence[DayView], day_of: Callable[[int], int]
) -> MomentView | None:
    entry = row.decisions[0].entry if row.decisions else row.first if not explanation.by_days else _entry(row, days)
    if not entry:
        return None
    first, last = (row.first, row.last) if explanation.by_days else (day_of(row.first), day_of(row.last))
    kind = "made" if row.made > 0 else "cost"
    return MomentView(
        0, kind, entry, day_of(entry), first, last, row.words, row.instead, row.made, explanation.player, row.shown
    )


def _entry(row: Credit, days: Sequence[DayView]) -> int:
    """The first entry of its days, else the last one before them; 0 where nothing was done by then."""
    inside = [day.first for day in days if day.first and day.last_day >= row.first and day.number <= row.last]
    return inside[0] if inside else max((day.last for day in days if day.number <= row.first), default=0)
