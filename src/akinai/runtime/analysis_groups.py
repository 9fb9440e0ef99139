"""From runs to groups of like runs: their names, their counts, their statistics."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from akinai.core.accounts import WORDS, Table
from akinai.core.canonical import Json, canonical
from akinai.core.scores import bounds
from akinai.core.statistics import Summary, share_between, summarise
from akinai.core.stores import RunHeader
from akinai.core.unpaired import smallest_visible_apart
from akinai.runtime.analysis import (
    MONTH_DAYS,
    EffortOver,
    FindingsOver,
    Group,
    RunRecord,
    Scale,
    ScoreOver,
    State,
)
from akinai.runtime.analysis_tables import TableOver, over_runs

TOLD = ("preset", "model", "sampling", "playbook")
"""Of the run cards, in a group's own."""
MOST_SETTINGS = 3
"""That stand in a group's name."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What the runs of a group have in common."""

    name: str
    settings: Mapping[str, Json]
    """Those in which it differs from another of its world."""


def kinds_of(headers: Mapping[str, RunHeader]) -> dict[str, Kind]:
    """Names for kinds of runs, from one header of each: the agent, and whatever else tells it from the others."""
    settings = _differing(headers)
    parts = {kind: _parts(header, settings[kind]) for kind, header in headers.items()}
    telling = [
        i for i in range(len(next(iter(parts.values()), ()))) if i < 2 or len({one[i] for one in parts.values()}) > 1
    ]
    named: dict[str, Kind] = {}
    taken: Counter[str] = Counter()
    for kind, one in parts.items():
        name = " ".join(filter(None, (one[i] for i in telling))) or "unknown"
        taken[name] += 1
        named[kind] = Kind(name if taken[name] == 1 else f"{name} ({taken[name]})", settings[kind])
    return named


def _parts(header: RunHeader, settings: Mapping[str, Json]) -> tuple[str, ...]:
    """Agent and model, which every name holds, then what it holds only where it sets apart."""
    if header.damage:
        return ("unreadable", *[""] * 7)
    card = header.card
    given = [f"{name}={_short(value)}" for name, value in list(settings.items())[:MOST_SETTINGS]]
    more = f"and {len(settings) - MOST_SETTINGS} more" if len(settings) > MOST_SETTINGS else ""
    return (
        next(iter(header.agents.values()), ""),
        str(card.get("model") or ""),
        f"in {header.genesis.world}",
        f"fork {header.group or header.run_id}" if header.parent else "",
        f"with playbook {_short(card.get('playbook'))}" if card.get("playbook") else "",
        f"preset {card.get('preset')}" if card.get("preset") else "",
        " ".join(filter(None, [*given, more])),
        f"sampled {_short(card.get('sampling'))}" if card.get("sampling") else "",
    )


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= 24 else f"{text[:21]}..."


def _differing(headers: Mapping[str, RunHeader]) -> dict[str, dict[str, Json]]:
    """By kind, the settings in which it differs from another kind of the same world."""
    flat = {kind: _flat(header.genesis.setup) for kind, header in headers.items()}
    told: dict[str, dict[str, Json]] = {}
    for kind, header in headers.items():
        others = [flat[other] for other, one in headers.items() if one.genesis.world == header.genesis.world]
        told[kind] = {name: value for name, value in flat[kind].items() if any(o.get(name) != value for o in others)}
    return told


def _flat(setup: Mapping[str, Json], start: str = "") -> dict[str, Json]:
    """Settings by dotted names; a list is one setting."""
    flat: dict[str, Json] = {}
    for name, value in setup.items():
        if isinstance(value, Mapping):
            flat |= _flat(cast("Mapping[str, Json]", value), f"{start}{name}.")
        else:
            flat[f"{start}{name}"] = value
    return flat


def group_of(kind: Kind, runs: Sequence[RunRecord], scale: Scale) -> Group:
    """The figures of runs that were played alike."""
    readable = [run for run in runs if not run.trouble]
    days, first = sum(run.days for run in readable), next((run for run in runs if run.world), runs[0])
    states = Counter(run.state for run in runs)
    order: tuple[State, ...] = ("done", "failed", "open", "unreadable")
    return Group(
        name=kind.name,
        world=first.world,
        agent=first.agent,
        card={name: first.card.get(name) for name in TOLD},
        settings=kind.settings,
        runs=tuple(run.id for run in runs),
        seeds=len({run.seed for run in runs if run.world}),
        states={state: states[state] for state in order if states[state]},
        copies=len(readable) - len({(run.digest, run.seed) for run in readable}),
        endings=dict(Counter(run.ending or f"({run.state})" for run in runs).most_common()),
        days=days,
        scores={name: _score_over(name, runs, scale) for name in _names(runs)},
        findings=_findings_over(readable, days),
        coherence={name: _score_over(name, runs, Scale()) for name in _coherence_names(runs)},
        effort=_effort_over(runs),
        scale=scale,
        figures={name: _score_over(name, runs, Scale()) for name in _figure_names(runs)},
        tables=_tables_over(readable),
    )


def summary_of(runs: Sequence[RunRecord]) -> dict[str, Summary]:
    """Every score over the runs of the worlds that have it, whoever played."""
    told: dict[str, Summary] = {}
    for name in _names(runs):
        worlds_with_it = {run.world for run in runs if run.value(name) is not None}
        unit = next(one.unit for run in runs for one in run.scores if one.name == name)
        told[name] = summarise([run.value(name) for run in runs if run.world in worlds_with_it], bounds=bounds(unit))
    return told


def _names(runs: Iterable[RunRecord]) -> list[str]:
    return list(dict.fromkeys(score.name for run in runs for score in run.scores))


def _coherence_names(runs: Iterable[RunRecord]) -> list[str]:
    return list(dict.fromkeys(score.name for run in runs for score in run.coherence))


def _figure_names(runs: Iterable[RunRecord]) -> list[str]:
    return list(dict.fromkeys(score.name for run in runs for score in run.figures))


def _tables_over(readable: Sequence[RunRecord]) -> dict[str, TableOver]:
    """Those whose rows mean the same in every run: rows of agents only where all runs have the same agents."""
    alike = len({run.cast for run in readable}) == 1
    by_name: dict[str, list[Table]] = {}
    for run in readable:
        for one in run.tables:
            if alike or WORDS not in list(one.columns.values())[: one.keys]:
                by_name.setdefault(one.name, []).append(one)
    return {name: over for name, tables in by_name.items() if (over := over_runs(tables))}


def _score_over(name: str, runs: Sequence[RunRecord], scale: Scale) -> ScoreOver:
    """A run that can be read and lacks the figure is left out: it has nothing to say of it."""
    told = (score for run in runs for score in (*run.scores, *run.coherence, *run.figures))
    unit = next(score.unit for score in told if score.name == name)
    values = [run.value(name) for run in runs if run.trouble or run.value(name) is not None]
    summary = summarise(values, bounds=bounds(unit))
    done = summarise(value for run in runs if run.state == "done" and (value := run.value(name)) is not None)
    share = None
    if name in scale.own and name in scale.idle and name in scale.reference:
        share = share_between(scale.own[name], scale.idle[name], scale.reference[name])
    return ScoreOver(name, unit, summary, done.mean, smallest_visible_apart(summary, summary), share)


def _findings_over(runs: Sequence[RunRecord], days: int) -> dict[str, FindingsOver]:
    counts, where = Counter[str](), Counter[str]()
    for run in runs:
        counts.update(run.finding_types)
        where.update(run.finding_types.keys())
    return {
        name: FindingsOver(name, count, where[name], count * MONTH_DAYS / days if days else None)
        for name, count in counts.most_common()
    }


def _effort_over(runs: Sequence[RunRecord]) -> EffortOver | None:
    told = [run.effort for run in runs if run.effort]
    if not told:
        return None
    n = len(told)
    dollars = [one.dollars for one in told if one.dollars is not None]
    return EffortOver(
        runs=n,
        calls=sum(one.calls for one in told) / n,
        input_tokens=sum(one.tokens.input for one in told) / n,
        output_tokens=sum(one.tokens.output for one in told) / n,
        cached_tokens=sum(one.tokens.cached for one in told) / n,
        minutes=sum(one.minutes for one in told) / n,
        dollars=sum(dollars) / n if len(dollars) == n else None,
    )
