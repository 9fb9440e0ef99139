"""A run's record condensed to a budget of tokens, for whoever reflects on it: the most telling parts are kept first.

    findings, gravest first > refusals by reason > the days, as finely as they fit > first of each kind of decision >
    other decisions, spread over the run > words beside them

Pure, and the same for every world: what a day came to is `World.closed_day` and `World.facts`, what went wrong
`World.findings`, and a decision an entry with parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from akinai.core.actions import Unreadable
from akinai.core.canonical import canonical
from akinai.core.findings import SEVERITIES, Finding
from akinai.core.ledger import Ledger
from akinai.core.worlds import Step, World, walk, walked
from akinai.learning.condense_days import Day, day_of, days_in, periods
from akinai.learning.injection import TokenCounter, estimate_tokens

OUTCOME_AT_MOST, VALUE_AT_MOST = 160, 320
"""Characters of an outcome or a remark, and of one parameter."""
DAYS_SHARE = 0.4
"""The most of what is left behind findings and refusals that goes to the days."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """What is shown of a run."""

    text: str
    tokens: int
    """Of the text, by the counter; never above the budget."""
    left_out: int
    """Findings, days' rows, decisions and remarks that did not fit."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A piece of the text that is kept whole or left out."""

    part: int
    """Which heading it stands under."""
    place: float
    """Orders the lines of a part."""
    text: str


@dataclass(slots=True)
class _Taken:
    """The lines that are in, and what they cost."""

    budget: int
    count: TokenCounter
    lines: list[_Line] = field(default_factory=list[_Line])
    spent: int = 0
    left_out: int = 0

    def fits(self, lines: Sequence[_Line], room: int) -> bool:
        return sum(self._cost(one) for one in lines) + self.count(HEADINGS[lines[0].part]) <= room

    def take(self, lines: Iterable[_Line]) -> None:
        """Each that still fits, with the heading of its part where it is the first there."""
        headed = {one.part for one in self.lines}
        for one in lines:
            cost = self._cost(one) + (0 if one.part in headed else self.count(f"\n{HEADINGS[one.part]}\n") + 1)
            if self.spent + cost <= self.budget:
                self.lines.append(one)
                self.spent += cost
                headed.add(one.part)
            else:
                self.left_out += 1

    def made(self) -> Condensed:
        """The text; a counter may find more in the whole than in the parts, so the last that came in may go again."""
        text = _laid_out(self.lines)
        while self.lines and self.count(text) > self.budget:
            self.lines.pop()
            self.left_out += 1
            text = _laid_out(self.lines)
        return Condensed(text, self.count(text), self.left_out)

    def _cost(self, line: _Line) -> int:
        return self.count(f"{line.text}\n") + 1


RUN, FINDINGS, REFUSALS, DAYS, DECISIONS, REMARKS = range(6)
HEADINGS = ("The run", "Findings", "Refusals", "Days", "Decisions", "Remarks of the agent")

_NUMBERED = re.compile(r"[\d_-]+$")


def condensed(
    world: World[Any], ledger: Ledger, *, budget_tokens: int, count_tokens: TokenCounter = estimate_tokens
) -> Condensed:
    """The record of a run in at most `budget_tokens` tokens; numbers behind `#` are those of its entries.

    ValueError for a negative budget. Raises as `walk` does.
    """
    if budget_tokens < 0:
        raise ValueError(f"a budget of {budget_tokens} tokens; give 0 or more")
    ledger = walked(world, ledger)
    steps = list(walk(world, ledger.genesis, ledger.entries))
    taken = _Taken(budget_tokens, count_tokens)
    taken.take([_Line(RUN, 0, _summary(world, ledger, steps))])
    gravest = sorted(world.findings(ledger), key=lambda one: (-SEVERITIES.index(one.severity), one.entries))
    taken.take(_Line(FINDINGS, place, _of_finding(one)) for place, one in enumerate(gravest))
    taken.take(_refusals(steps))
    _take_days(taken, [*days_in(world, ledger)])
    decisions = [_decision(world, steps[0].before, same) for same in _alike(steps)]
    first = dict(reversed(decisions))
    taken.take(sorted(first.values(), key=lambda line: line.place))
    rest = [line for kind, line in decisions if first[kind] is not line]
    taken.take(_spread(rest))
    taken.take(_spread([_Line(REMARKS, one.entry.seq, _remark(one)) for one in steps if one.entry.said.strip()]))
    return taken.made()


def _summary(world: World[Any], ledger: Ledger, steps: Sequence[Step[Any]]) -> str:
    last = steps[-1].after if steps else world.begin(ledger.genesis)
    verbs: dict[str, int] = {}
    for one in steps:
        verbs[one.entry.name] = verbs.get(one.entry.name, 0) + 1
    used = ", ".join(f"{name} {n}" for name, n in sorted(verbs.items(), key=lambda pair: (-pair[1], pair[0])))
    ending = world.ending(last) or "cut off before its end"
    return f"{world.name}, seed {ledger.genesis.seed}: {len(steps)} entries, ended as {ending}. Actions: {used or '-'}."


def _of_finding(one: Finding) -> str:
    where = " ".join(f"#{entry}" for entry in one.entries[:8])
    return f"{where} {one.actor}: {one.type} ({one.severity}). Assumed: {_cut(one.assumed)} True: {_cut(one.true)}"


def _refusals(steps: Sequence[Step[Any]]) -> Iterator[_Line]:
    """A line for each reason, the most frequent first."""
    refused = sorted((one for one in steps if not one.outcome.ok), key=lambda one: str(one.outcome.code))
    by_code = [[*same] for _, same in groupby(refused, key=lambda one: str(one.outcome.code))]
    for place, same in enumerate(sorted(by_code, key=lambda some: (-len(some), some[0].entry.seq))):
        one = min(same, key=lambda step: step.entry.seq)
        often = f"{len(same)} times, first " if len(same) > 1 else ""
        told = f"{one.outcome.code}: {often}#{one.entry.seq} {_action(one)}: {_cut(one.outcome.text)}"
        yield _Line(REFUSALS, place, told)


def _take_days(taken: _Taken, days: Sequence[Day]) -> None:
    """The finest rows that fit their share; where none do, the coarsest as far as they fit."""
    if not days:
        return
    room, rows = int(DAYS_SHARE * (taken.budget - taken.spent)), list[_Line]()
    for told in periods(days):
        rows = [_Line(DAYS, place, text) for place, text in enumerate(told)]
        if taken.fits(rows, room):
            break
    taken.take(rows)


def _alike(steps: Sequence[Step[Any]]) -> list[list[Step[Any]]]:
    """Decisions that succeeded, each with those that were quite the same, in the order of their first."""
    same: dict[tuple[str, str], list[Step[Any]]] = {}
    for one in steps:
        if one.outcome.ok and any(value is not None for value in one.entry.parameters.values()):
            same.setdefault((one.entry.actor, f"{one.entry.name}{canonical(one.entry.parameters)}"), []).append(one)
    return list(same.values())


def _decision(world: World[Any], begin: Any, same: Sequence[Step[Any]]) -> tuple[str, _Line]:
    """What kind of decision it is, and its line. Actors that differ by a number are of one kind."""
    one = same[0]
    day = day_of(world, begin, one.before)
    often = f" (the same {len(same)} times, last #{same[-1].entry.seq})" if len(same) > 1 else ""
    when = f" day {day}" if day else ""
    told = f"#{one.entry.seq}{when} {one.entry.actor}: {_action(one)} -> {_cut(one.outcome.text)}{often}"
    return f"{_NUMBERED.sub('', one.entry.actor)} {one.entry.name}", _Line(DECISIONS, one.entry.seq, told)


def _remark(one: Step[Any]) -> str:
    return f"#{one.entry.seq} {one.entry.actor}: {_cut(one.entry.said)}"


def _action(one: Step[Any]) -> str:
    """An entry's action in one line, its parameters cut where they are long."""
    told = one.entry.parameters
    if isinstance(one.turn.action, Unreadable):
        told = {"text": one.turn.action.text}
    given = ((name, value) for name, value in told.items() if value is not None and value != {})
    texts = (
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for name, value in given
    )
    return f"{one.entry.name}({', '.join(f'{name}={_cut(text, VALUE_AT_MOST)}' for name, text in texts)})"


def _cut(text: str, limit: int = OUTCOME_AT_MOST) -> str:
    told = " ".join(text.split())
    return told if len(told) <= limit else f"{told[: limit - 1]}…"


def _spread(lines: Sequence[_Line]) -> list[_Line]:
    """Lines in an order whose every beginning is spread over them: the first, those half way between, and so on."""

    def coarseness(place: int) -> int:
        return (place & -place).bit_length() if place else len(lines)

    return [lines[place] for place in sorted(range(len(lines)), key=lambda place: (-coarseness(place), place))]


def _laid_out(lines: Sequence[_Line]) -> str:
    ordered = sorted(lines, key=lambda one: (one.part, one.place))
    parts = [(part, [one.text for one in some]) for part, some in groupby(ordered, key=lambda one: one.part)]
    return "\n\n".join("\n".join([HEADINGS[part], *texts]) for part, texts in parts)
