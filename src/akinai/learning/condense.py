"""A run's record condensed to a budget of tokens, for a Reflector. The most informative parts are kept first:

    findings, gravest first > refusals by reason > the days, as finely as they fit > the first decision of each kind >
    other decisions, spread over the run > remarks

Pure, and the same for every world: the figures of a day are `Judging.day_facts` and `Judging.facts`, mistakes are
`Judging.detect`, and a decision is an entry with parameters.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast

from akinai.core.actions import Unreadable
from akinai.core.agents import split_said
from akinai.core.canonical import Json, canonical
from akinai.core.findings import SEVERITIES, Finding
from akinai.core.ledger import midnights
from akinai.core.models import estimate_tokens
from akinai.core.money import format_cents
from akinai.core.scores import SUBJECTS
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World

BUCKET_DAYS = (1, 7, 30, 91)
"""Allowed bucket sizes in days, besides the whole run."""
CENTS = "_cents"
OUTCOME_AT_MOST, VALUE_AT_MOST = 160, 320
"""Characters of an outcome or a remark, and of one parameter."""
DAYS_SHARE = 0.4
"""The share of the budget left after findings and refusals that the days may take."""

RUN, FINDINGS, REFUSALS, DAYS, DECISIONS, REMARKS = range(6)
HEADINGS = ("The run", "Findings", "Refusals", "Days", "Decisions", "Remarks of the agent")

_NUMBERED = re.compile(r"[\d_-]+$")


@dataclass(frozen=True, slots=True)
class _Line:
    """A piece of the text that is included whole or left out."""

    part: int
    """The index of its heading."""
    order: float
    """Sorts the lines of a part."""
    text: str


@dataclass(slots=True)
class _Selection:
    """The lines that are included, and their cost."""

    budget: int
    lines: list[_Line] = field(default_factory=list[_Line])
    cost: int = 0

    def fits(self, lines: Sequence[_Line], room: int) -> bool:
        return sum(self._cost(line) for line in lines) + estimate_tokens(HEADINGS[lines[0].part]) <= room

    def add(self, lines: Iterable[_Line]) -> None:
        """Add each line that still fits, with the heading of its part where it is the first there."""
        parts = {line.part for line in self.lines}
        for line in lines:
            heading = 0 if line.part in parts else estimate_tokens(f"\n{HEADINGS[line.part]}\n") + 1
            cost = self._cost(line) + heading
            if self.cost + cost <= self.budget:
                self.lines.append(line)
                self.cost += cost
                parts.add(line.part)

    def _cost(self, line: _Line) -> int:
        return estimate_tokens(f"{line.text}\n") + 1


def condense_run(world: World[Any], steps: Steps[Any], *, budget_tokens: int) -> str:
    """The record of a run in at most `budget_tokens` tokens. A number after `#` is that of an entry.

    ValueError for a negative budget.
    """
    if budget_tokens < 0:
        raise ValueError(f"a budget of {budget_tokens} tokens; give 0 or more")
    selection = _Selection(budget_tokens)
    selection.add([_Line(RUN, 0, _summary(world, steps))])
    findings = world.facets.judging.detect(steps)
    gravest = sorted(findings, key=lambda finding: (-SEVERITIES.index(finding.severity), finding.entries))
    selection.add(_Line(FINDINGS, rank, _finding_text(finding)) for rank, finding in enumerate(gravest))
    selection.add(_refusals(steps))
    _add_days(selection, [*days_in(world, steps)])
    decisions = [_decision(world, steps.opening, repeated) for repeated in _repeated_decisions(steps)]
    first = dict(reversed(decisions))
    selection.add(sorted(first.values(), key=lambda line: line.order))
    selection.add(_spread([line for kind, line in decisions if first[kind] is not line]))
    said = ((step.entry, *split_said(step.entry.said)) for step in steps)
    spoken = [(entry, text.strip() or thoughts.strip()) for entry, text, thoughts in said]
    remarks = [_Line(REMARKS, entry.seq, f"#{entry.seq} {entry.actor}: {_cut(text)}") for entry, text in spoken if text]
    selection.add(_spread(remarks))
    ordered = sorted(selection.lines, key=lambda line: (line.part, line.order))
    parts = [(part, [line.text for line in group]) for part, group in groupby(ordered, key=lambda line: line.part)]
    return "\n\n".join("\n".join([HEADINGS[part], *texts]) for part, texts in parts)


def _summary(world: World[Any], steps: Steps[Any]) -> str:
    counts = Counter(step.entry.name for step in steps)
    used = ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
    ending = world.ending(steps.final) or "cut off before its end"
    return f"{world.name}, seed {steps.genesis.seed}: {len(steps)} entries, ended as {ending}. Actions: {used or '-'}."


def _finding_text(finding: Finding) -> str:
    entries = " ".join(f"#{entry}" for entry in finding.entries[:8])
    sides = f"Assumed: {_cut(finding.assumed)} True: {_cut(finding.true)}"
    return f"{entries} {finding.actor}: {finding.type} ({finding.severity}). {sides}"


def _refusals(steps: Steps[Any]) -> Iterator[_Line]:
    """A line for each reason, the most frequent first."""
    by_code: dict[str, list[Step[Any]]] = {}
    for step in steps:
        if not step.outcome.ok:
            by_code.setdefault(str(step.outcome.code), []).append(step)
    frequent = sorted(by_code.values(), key=lambda refused: (-len(refused), refused[0].entry.seq))
    for rank, refused in enumerate(frequent):
        first = refused[0]
        times = f"{len(refused)} times, first " if len(refused) > 1 else ""
        text = f"{first.outcome.code}: {times}#{first.entry.seq} {_action(first)}: {_cut(first.outcome.text)}"
        yield _Line(REFUSALS, rank, text)


def _add_days(selection: _Selection, days: Sequence[Day]) -> None:
    """Add the finest rows that fit their share; where none do, add the coarsest as far as they fit."""
    if not days:
        return
    room, lines = int(DAYS_SHARE * (selection.budget - selection.cost)), list[_Line]()
    for rows in periods(days):
        lines = [_Line(DAYS, index, text) for index, text in enumerate(rows)]
        if selection.fits(lines, room):
            break
    selection.add(lines)


def _repeated_decisions(steps: Steps[Any]) -> list[list[Step[Any]]]:
    """Decisions that succeeded, each with its exact repetitions, in the order of the first."""
    repeated: dict[tuple[str, str], list[Step[Any]]] = {}
    for step in steps:
        entry = step.entry
        if step.outcome.ok and any(value is not None for value in entry.parameters.values()):
            repeated.setdefault((entry.actor, f"{entry.name}{canonical(entry.parameters)}"), []).append(step)
    return list(repeated.values())


def _decision(world: World[Any], opening: Any, repeated: Sequence[Step[Any]]) -> tuple[str, _Line]:
    """The kind of a decision, and its line. Actors that differ by a number are of one kind."""
    first, entry = repeated[0], repeated[0].entry
    day = day_of(world, opening, first.before)
    times = f" (the same {len(repeated)} times, last #{repeated[-1].entry.seq})" if len(repeated) > 1 else ""
    when = f" day {day}" if day else ""
    text = f"#{entry.seq}{when} {entry.actor}: {_action(first)} -> {_cut(first.outcome.text)}{times}"
    return f"{_NUMBERED.sub('', entry.actor)} {entry.name}", _Line(DECISIONS, entry.seq, text)


def _action(step: Step[Any]) -> str:
    """The action of an entry in one line, long parameters cut."""
    parameters = step.entry.parameters
    if isinstance(step.turn.action, Unreadable):
        parameters = {"text": step.turn.action.text}
    texts = (
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in parameters.items()
        if value is not None and value != {}
    )
    return f"{step.entry.name}({', '.join(f'{name}={_cut(text, VALUE_AT_MOST)}' for name, text in texts)})"


def _cut(text: str, limit: int = OUTCOME_AT_MOST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _spread(lines: Sequence[_Line]) -> list[_Line]:
    """The lines reordered, so that any first few are spread evenly: the first, the middle, the quarters, and so on."""

    def coarseness(index: int) -> int:
        return (index & -index).bit_length() if index else len(lines)

    return [lines[index] for index in sorted(range(len(lines)), key=lambda index: (-coarseness(index), index))]


@dataclass(frozen=True, slots=True)
class Day:
    """A day that ended."""

    number: int
    """From 1."""
    closed_by: int
    """The number of the entry that ended it."""
    figures: Mapping[str, Json]
    """The `Judging.day_facts` of the day."""
    facts: Mapping[str, Json]
    """The `Judging.facts` after the day."""


def day_of(world: World[Any], opening: Any, state: Any) -> int:
    """The day of a state, from 1; 0 in a world without days."""
    start, now = world.now(opening), world.now(state)
    return 0 if start is None or now is None else midnights(start, now) + 1


def days_in(world: World[Any], steps: Steps[Any]) -> Iterator[Day]:
    """The days of a record that ended; none in a world without figures of days."""
    opening, judging = steps.opening, world.facets.judging
    for step in steps:
        day = day_of(world, opening, step.after) - 1
        if day >= day_of(world, opening, step.before) > 0 and (figures := judging.day_facts(step.after)):
            yield Day(day, step.entry.seq, figures, judging.facts(step.after))


def periods(days: Sequence[Day]) -> Iterator[Sequence[str]]:
    """Rows that cover all days: first one row a day, then one a week, and so on to one row for the run."""
    for size in (*(size for size in BUCKET_DAYS if size < len(days)), len(days)):
        yield [row(days[start : start + size]) for start in range(0, len(days), size)]


def row(days: Sequence[Day]) -> str:
    """Consecutive days in one row: the facts after the last day, and the daily means of their figures."""
    first, last = days[0], days[-1]
    when = f"day {last.number}" if len(days) == 1 else f"days {first.number}-{last.number}"
    facts = _listed((name, value) for name, value in last.facts.items() if _number(value) is not None)
    return f"{when} (#{last.closed_by}): {facts}; a day: {_listed(means(days).items()) or '-'}"


def means(days: Sequence[Day]) -> dict[str, float]:
    """The daily means of the numbers among the figures."""
    names = dict.fromkeys(name for day in days for name, value in day.figures.items() if _number(value) is not None)
    return {name: sum(_number(day.figures.get(name)) or 0.0 for day in days) / len(days) for name in names}


def table_means(days: Sequence[Day]) -> dict[str, dict[str, float]]:
    """For each key of the days' tables ("coke_can"), the mean in each table over the days with a row for the key."""
    samples: dict[str, dict[str, list[float]]] = {}
    for day in days:
        for table, rows in day.figures.items():
            if isinstance(rows, Mapping):
                for key, value in cast("Mapping[str, Json]", rows).items():
                    if (number := _number(value)) is not None:
                        samples.setdefault(str(key), {}).setdefault(table, []).append(number)
    return {
        key: {table: sum(numbers) / len(numbers) for table, numbers in tables.items()}
        for key, tables in sorted(samples.items())
    }


def describe_hidden_facts(world: World[Any], steps: Steps[Any], *, budget_tokens: int) -> str:
    """The facts of a run that its world knows and its agents do not, in at most `budget_tokens` tokens: the facts at
    the end, the daily means by product, and the rows of its account. "-" where there are none."""
    lines: list[str] = []
    total = 0
    for line in _hidden_fact_lines(world, steps):
        cost = estimate_tokens(f"{line}\n") + 1
        if total + cost <= budget_tokens:
            lines.append(line)
            total += cost
    return "\n".join(lines) or "-"


def _hidden_fact_lines(world: World[Any], steps: Steps[Any]) -> Iterator[str]:
    days, judging = [*days_in(world, steps)], world.facets.judging
    yield f"At the end: {_listed(judging.facts(steps.final).items())}"
    if days:
        yield f"A day, on average: {_listed(means(days).items())}"
    for key, tables in table_means(days).items():
        yield f"{key}, a day: {_listed(tables.items())}"
    account = judging.account(steps)
    for score in account.figures:
        yield f"{_name(score.name)}: {_value(f'{score.name}_{score.unit}', score.value)}"
    for table in account.tables_about(SUBJECTS):
        for values in table.rows:
            cells = zip(table.columns.items(), values, strict=True)
            yield f"{table.name}: " + ", ".join(
                f"{name} {_value(f'{name}_{unit}', value)}" for (name, unit), value in cells
            )


def _listed(values: Iterable[tuple[str, Json]]) -> str:
    return ", ".join(f"{_name(name)} {_value(name, value)}" for name, value in values)


def _name(name: str) -> str:
    return name.removesuffix(CENTS)


def _value(name: str, value: Json) -> str:
    number = _number(value)
    if number is None:
        return str(value)
    return format_cents(round(number)) if name.endswith(CENTS) else f"{number:.2f}".rstrip("0").rstrip(".")


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
