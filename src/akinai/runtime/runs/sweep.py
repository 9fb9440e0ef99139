"""Sweeps: one command plays the same seeds under each value of a setting, or each combination of several settings."""

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.stores import SWEEP, RunHeader
from akinai.core.stores import sweep_name as sweep_of
from akinai.core.untrusted.spelling import short_repr
from akinai.runtime.config.settings import Settings, named_value

MOST_POINTS = 1_000
LONGEST_VALUE = 40
"""Most characters of a value in a name."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One point of a sweep: its settings, and the values that distinguish it."""

    settings: Mapping[str, Any]
    """The command's settings with the swept values."""
    swept: Mapping[str, Any]
    """Dotted names and values; empty where nothing is swept."""
    label: str = ""

    def group(self, name: str) -> str:
        """The group name of the runs at this point."""
        return f"{name}-{self.label}" if self.label else name

    def card(self, name: str) -> dict[str, Json]:
        """The sweep's entry in a run card."""
        return {SWEEP: {"name": name, "values": dict(self.swept)}} if self.swept else {}


def sweep_points(sweep: Settings, settings: Settings, model: type[BaseModel]) -> list[SweepPoint]:
    """The points of a sweep, the last setting changing fastest; one point without a label if nothing is swept.

    `sweep` is {"search.limit": [3, 10]}, or as text ["search.limit=3,10"]. UsageError for no value, one twice, or a
    setting that is swept twice or set as well.
    """
    fixed, axes = _settings(settings or {}, model), _axes(sweep or {}, model)
    for name in axes:
        other = next((setting for setting in fixed if _overlap(setting, name)), None)
        if other:
            raise UsageError(f"{name!r} is swept and {other!r} is set; leave one of them out")
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MOST_POINTS:
        raise UsageError(f"the sweep has {count:,} places, and one command plays {MOST_POINTS:,}; sweep fewer values")
    points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    labels = _labels(points)
    return [SweepPoint({**fixed, **values}, values, label) for values, label in zip(points, labels, strict=True)]


def names_of(run: RunHeader) -> tuple[str, ...]:
    """The names that stand for a run: its id, its group, its sweep."""
    return tuple(filter(None, (run.run_id, run.group, sweep_of(run.card))))


def swept_values(card: Mapping[str, Json]) -> Mapping[str, Json]:
    """The swept values of a run."""
    sweep = card.get(SWEEP)
    values = sweep.get("values") if isinstance(sweep, Mapping) else None
    return values if isinstance(values, Mapping) else {}


def _settings(settings: Mapping[str, Any] | Sequence[str], model: type[BaseModel]) -> dict[str, Any]:
    """Settings by dotted name. If a name occurs twice, the later value counts, in the later position."""
    by_name: dict[str, Any] = {}
    for name, value in (
        settings.items() if isinstance(settings, Mapping) else (named_value(text, model) for text in settings)
    ):
        by_name.pop(name, None)
        by_name[name] = value
    return by_name


def _axes(sweep: Mapping[str, Any] | Sequence[str], model: type[BaseModel]) -> dict[str, list[Any]]:
    axes: dict[str, list[Any]] = {}
    swept: Iterable[tuple[str, Any]] = (
        sweep.items() if isinstance(sweep, Mapping) else (_axis(text, model) for text in sweep)
    )
    for name, values in swept:
        if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not values:
            raise UsageError(f"a sweep of {name!r} wants a list of values, not {short_repr(cast('object', values))}")
        for other in axes:
            if _overlap(other, name):
                raise UsageError(f"{name!r} and {other!r} are swept at once; name all values in one sweep")
        items = list(cast("Sequence[Any]", values))
        keys = [json.dumps(value, sort_keys=True, default=repr) for value in items]
        for i, value in enumerate(items):
            if keys[i] in keys[:i]:
                raise UsageError(f"the sweep of {name!r} holds {short_repr(value)} twice; give each value once")
        axes[name] = items
    return axes


def _axis(text: str, model: type[BaseModel]) -> tuple[str, list[Any]]:
    """ "search.limit=3,10,30" as its name and values; a comma within brackets or quotes does not separate."""
    name, equals, values = text.partition("=")
    pieces = re.findall(r'(?:"(?:\\.|[^"\\])*"|\[[^\]]*\]|\{[^}]*\}|[^,])+|(?<=,)(?=,|$)|^(?=,)', values)
    if not equals or not name.strip() or not values.strip() or not all(piece.strip() for piece in pieces):
        raise UsageError(f"--sweep wants name=value,value,..., not {text!r:.100}")
    return name.strip(), [named_value(f"{name}={piece}", model)[1] for piece in pieces]


def _overlap(name: str, other: str) -> bool:
    """Whether one dotted name equals or contains the other."""
    return f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.")


def _labels(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Labels for names: the last step of each setting, and its value."""
    names = list(points[0])
    steps = [name.rpartition(".")[2] for name in names]
    short = steps if len(set(steps)) == len(steps) else names
    labels: list[str] = []
    for values in points:
        parts = [f"{word}-{_word(value)}" for word, value in zip(short, values.values(), strict=True)]
        label, number = "-".join(parts), 2
        while label in labels:
            label, number = f"{'-'.join(parts)}.{number}", number + 1
        labels.append(label)
    return labels


def _word(value: Any) -> str:
    """A value in characters that a run's name may hold."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr)
    return re.sub(r"[^\w.]+", "-", text).strip("-")[:LONGEST_VALUE] or "none"
