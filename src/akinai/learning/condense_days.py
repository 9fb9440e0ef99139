"""What the days of a run came to, day by day or over longer stretches; and what a world knows of a whole run. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.ledger import Ledger
from akinai.core.money import format_cents
from akinai.core.worlds import World, walk, walked
from akinai.learning.injection import TokenCounter, estimate_tokens

DAY_US = 86_400_000_000
STRETCHES = (1, 7, 30, 91)
"""Days that one row may stand for, beside all of them."""
CENTS = "_cents"


@dataclass(frozen=True, slots=True)
class Day:
    """A day that ended."""

    number: int
    """From 1."""
    closed_by: int
    """The entry in whose course it ended."""
    came_to: Mapping[str, Json]
    """As `World.closed_day` tells it."""
    facts: Mapping[str, Json]
    """As `World.facts` tells them behind it."""


def day_of(world: World[Any], begin: Any, state: Any) -> int:
    """The day of a state, from 1; 0 in a world without days."""
    start, now = world.now(begin), world.now(state)
    return 0 if start is None or now is None else now // DAY_US - start // DAY_US + 1


def days_in(world: World[Any], ledger: Ledger) -> Iterator[Day]:
    """The days of a record that ended, each with what it came to; none in a world that tells nothing of its days.
    Raises as `walk` does."""
    begin = world.begin(ledger.genesis)
    for step in walk(world, ledger.genesis, ledger.entries):
        day = day_of(world, begin, step.after) - 1
        if day >= day_of(world, begin, step.before) > 0 and (came_to := world.closed_day(step.after)):
            yield Day(day, step.entry.seq, came_to, world.facts(step.after))


def periods(days: Sequence[Day]) -> Iterator[Sequence[str]]:
    """Rows about all days, at first a day a row, then a week, and so on to one row for the run."""
    for stretch in (*(one for one in STRETCHES if one < len(days)), len(days)):
        yield [row(days[start : start + stretch]) for start in range(0, len(days), stretch)]


def row(days: Sequence[Day]) -> str:
    """What some days came to: the facts behind the last of them, and the mean a day of everything else."""
    first, last = days[0], days[-1]
    when = f"day {last.number}" if len(days) == 1 else f"days {first.number}-{last.number}"
    facts = ", ".join(
        f"{_name(name)} {_value(name, one)}" for name, one in last.facts.items() if _number(one) is not None
    )
    mean = ", ".join(f"{_name(name)} {_value(name, value)}" for name, value in means(days).items())
    return f"{when} (#{last.closed_by}): {facts}; a day: {mean or '-'}"


def means(days: Sequence[Day]) -> dict[str, float]:
    """The mean a day of the numbers that a day came to."""
    names = dict.fromkeys(name for day in days for name, value in day.came_to.items() if _number(value) is not None)
    return {name: sum(_number(day.came_to.get(name)) or 0.0 for day in days) / len(days) for name in names}


def table_means(days: Sequence[Day]) -> dict[str, dict[str, float]]:
    """By what the tables of days are about ("coke_can"): the mean of each table over the days that have a row on it."""
    found: dict[str, dict[str, list[float]]] = {}
    for day in days:
        for table, rows in day.came_to.items():
            if isinstance(rows, Mapping):
                for key, value in cast("Mapping[str, Json]", rows).items():
                    if (number := _number(value)) is not None:
                        found.setdefault(str(key), {}).setdefault(table, []).append(number)
    return {
        key: {table: sum(some) / len(some) for table, some in tables.items()} for key, tables in sorted(found.items())
    }


def known(
    world: World[Any], ledger: Ledger, *, budget_tokens: int, count_tokens: TokenCounter = estimate_tokens
) -> str:
    """What a world knows of a run and its agents did not, in at most `budget_tokens` tokens: how it ended in numbers,
    what its days came to on average by product, and the rows of its account. "-" where it knows nothing."""
    lines: list[str] = []
    spent = 0
    for line in _known(world, ledger):
        cost = count_tokens(f"{line}\n") + 1
        if spent + cost <= budget_tokens:
            lines.append(line)
            spent += cost
    return "\n".join(lines) or "-"


def _known(world: World[Any], ledger: Ledger) -> Iterator[str]:
    ledger = walked(world, ledger)
    days = [*days_in(world, ledger)]
    state = world.begin(ledger.genesis)
    for step in walk(world, ledger.genesis, ledger.entries):
        state = step.after
    yield "At the end: " + ", ".join(f"{_name(name)} {_value(name, one)}" for name, one in world.facts(state).items())
    if days:
        yield "A day, on average: " + ", ".join(
            f"{_name(name)} {_value(name, one)}" for name, one in means(days).items()
        )
    for key, tables in table_means(days).items():
        yield f"{key}, a day: " + ", ".join(f"{_name(name)} {_value(name, one)}" for name, one in tables.items())
    account = world.account(ledger)
    for score in account.figures:
        yield f"{_name(score.name)}: {_value(f'{score.name}_{score.unit}', score.value)}"
    for table in account.tables:
        for one in table.rows:
            told = zip(table.columns.items(), one, strict=True)
            yield f"{table.name}: " + ", ".join(f"{name} {_value(f'{name}_{unit}', it)}" for (name, unit), it in told)


def _name(name: str) -> str:
    return name.removesuffix(CENTS)


def _value(name: str, value: Json) -> str:
    number = _number(value)
    if number is None:
        return str(value)
    return format_cents(round(number)) if name.endswith(CENTS) else f"{number:.2f}".rstrip("0").rstrip(".")


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
