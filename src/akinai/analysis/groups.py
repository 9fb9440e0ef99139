"""Groups of runs that were played alike: which run belongs to which group, its name, and its statistics."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import cast

from akinai.analysis.records import (
    MONTH_DAYS,
    FindingsSummary,
    GainSummary,
    Group,
    RowSummary,
    Scale,
    ScoreSummary,
    TableSummary,
    UsageSummary,
)
from akinai.core.canonical import Json, canonical, short_digest
from akinai.core.facets import SAME
from akinai.core.ledger import Genesis
from akinai.core.scores import WORDS, Score, Table, bounds
from akinai.core.statistics import Summary, clustered, share_between, summarise, welch_mde
from akinai.core.stores import CLIENT, LABEL, NAMED, OFFERED, PROGRAM, PROMPT, RunHeader
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.play.repeats import UNREADABLE
from akinai.runtime.runs.records import LEFT_OUT, Run, State
from akinai.runtime.runs.unreadable import advice

ALIKE = ("model", "sampling", "playbook", "agent_spec", CLIENT, LABEL)
"""Fields of the run card that distinguish two runs of one agent."""
DIGESTS = (PROMPT, PROGRAM, OFFERED)
"""Further ones, which cards of releases before 0.3 lack: there unknown is like unknown within a release."""
CARD = ("preset", "model", "sampling", "playbook", LABEL, *DIGESTS)
"""Fields of the run cards that a group's card has."""
MOST_SETTINGS = 3
"""Settings that a group's name holds."""
NAMED_PARTS = (2, 3)
"""Among the parts of a group's name: the name that a person gave it and, of a label, who it is. They are told only
where nothing else tells two groups apart."""
STATES: tuple[State, ...] = ("done", "failed", "open", *LEFT_OUT)


@dataclass(frozen=True, slots=True)
class GroupName:
    """The name of a group, and the settings in which it differs from another group of its world."""

    name: str
    settings: Mapping[str, Json]


def group_runs(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs by group key. A run with a damaged header joins the group of its command's other runs, if that is one."""
    settings: dict[tuple[str, int], str] = {}  # runs of one command share their setup, and hashing it takes long
    keys: dict[int, str] = {}
    for run in runs:
        genesis = run.header.genesis
        if run.world:
            shared = (run.world, id(genesis.setup))
            if shared not in settings:
                settings[shared] = settings_key(genesis)
            keys[id(run)] = _group_key(run.header, settings[shared])
    of_command: dict[str | None, set[str]] = {}
    for run in runs:
        if run.world:
            of_command.setdefault(run.group, set()).add(keys[id(run)])
    groups: dict[str, list[Run]] = {}
    for run in runs:
        alike = of_command.get(run.group, set()) if run.group and not run.world else set[str]()
        key = next(iter(alike)) if len(alike) == 1 else keys.get(id(run), "")
        groups.setdefault(key, []).append(run)
    return {key: alike for shared, members in groups.items() for key, alike in _by_served_model(shared, members)}


def _by_served_model(key: str, runs: Sequence[Run]) -> Iterator[tuple[str, list[Run]]]:
    """A group as one, or in parts where servers answered with different models. Runs without a reply join the first."""
    served = list(dict.fromkeys(models for run in runs if (models := _served_models(run.header))))
    if len(served) < 2:
        yield key, list(runs)
        return
    for models in served:
        yield short_digest([key, models]), [run for run in runs if (_served_models(run.header) or served[0]) == models]


def _served_models(header: RunHeader) -> str:
    """The models that answered in a run, as their servers call them; empty where none did."""
    calls = header.card.get("calls")
    models = calls.get("models") if isinstance(calls, Mapping) else None
    return ", ".join(sorted(map(str, models))) if isinstance(models, list | tuple) else ""


def _group_key(header: RunHeader, settings: str) -> str:
    """Equal for runs that were played alike: same world, settings, agent, model, prompt, program and playbook, and the
    same label, or else the same name where a person named the group.

    A fork is like the forks that the same command made. `settings` is the `settings_key` of its genesis.
    """
    card: dict[str, Json] = {name: header.card.get(name) for name in ALIKE}
    card |= {name: header.card.get(name, f"unknown to {header.card.get('akinai')}") for name in DIGESTS}
    card["named"] = _named_group(header)
    forked = (header.group or header.run_id) if header.parent else None
    agents = [*header.agents.values()]
    return short_digest({**card, "settings": settings, "agents": agents, "fork": forked})


def _named_group(header: RunHeader) -> str | None:
    """The name that a person gave the group of a run without a label; None where nobody named it."""
    return header.group if header.card.get(NAMED) and not header.label and not header.parent else None


def settings_key(genesis: Genesis) -> str:
    """Equal for runs of one world under the same settings."""
    return short_digest({"world": genesis.world, "setup": genesis.setup})


def settings_keys(headers: Iterable[RunHeader]) -> list[str]:
    """The `settings_key` of each header; a setup that several share is hashed once."""
    in_order = list(headers)
    by_setup = {(header.genesis.world, id(header.genesis.setup)): header.genesis for header in in_order}
    keys = {shared: settings_key(genesis) for shared, genesis in by_setup.items()}
    return [keys[header.genesis.world, id(header.genesis.setup)] for header in in_order]


def first_header(runs: Sequence[Run]) -> RunHeader:
    """The header of the first run whose header is sound."""
    return next((run for run in runs if run.world), runs[0]).header


def name_groups(headers: Mapping[str, RunHeader]) -> dict[str, GroupName]:
    """Names by group key, from one header of each: agent, model, and whatever else distinguishes the groups."""
    settings = _differing_settings(headers)
    labels = Counter(header.label for header in headers.values())
    shown = {
        key: _untold(header, settings[key]) if header.label and labels[header.label] == 1 else settings[key]
        for key, header in headers.items()
    }
    parts = {key: _name_parts(header, shown[key]) for key, header in headers.items()}
    indices = range(len(next(iter(parts.values()), ())))
    distinguishing = [
        i for i in indices if i < 2 or (i not in NAMED_PARTS and len({words[i] for words in parts.values()}) > 1)
    ]
    plain = {key: _joined(words, distinguishing) for key, words in parts.items()}
    told: dict[str, set[str]] = {}
    for key, words in parts.items():
        told.setdefault(plain[key], set()).add(_joined(words, NAMED_PARTS))
    taken = Counter[str]()
    names: dict[str, GroupName] = {}
    for key, words in parts.items():
        name = plain[key] if len(told[plain[key]]) == 1 else _joined(words, sorted([*distinguishing, *NAMED_PARTS]))
        taken[name] += 1
        names[key] = GroupName(name if taken[name] == 1 else f"{name} ({taken[name]})", settings[key])
    return names


def _joined(words: Sequence[str], indices: Sequence[int]) -> str:
    return " ".join(filter(None, (words[i] for i in indices))) or "unknown"


def _name_parts(header: RunHeader, settings: Mapping[str, Json]) -> tuple[str, ...]:
    """Who played, which every name holds, then the parts that it holds only where they distinguish the groups."""
    if header.damage:
        return ("damaged", *[""] * 13)
    card = header.card
    pairs = [f"{name}={_short(value)}" for name, value in settings.items()]
    more = f"and {len(pairs) - MOST_SETTINGS} more" if len(pairs) > MOST_SETTINGS else ""
    return (
        header.label or header.agent,
        "" if header.label else header.model or "",
        _named_group(header) or "",
        f"by {header.agent} {header.model or ''}".rstrip() if header.label else "",
        f"in {header.genesis.world}",
        f"fork {header.group or header.run_id}" if header.parent else "",
        f"with playbook {_short(card.get('playbook'))}" if card.get("playbook") else "",
        f"preset {card.get('preset')}" if card.get("preset") else "",
        " ".join(filter(None, [*pairs[:MOST_SETTINGS], more])),
        f"sampled {_short(card.get('sampling'))}" if card.get("sampling") else "",
        *(f"{name} {_short(card.get(name))}" if card.get(name) else "" for name in DIGESTS),
        f"served as {_short(models)}" if (models := _served_models(header)) else "",
    )


def _untold(header: RunHeader, settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """The settings other than those that say who plays, which the label of a run tells."""
    told = {*spec_of(header).seated.values(), SAME, None}  # a seat with a model has no agent of its own
    return {
        name: value
        for name, value in settings.items()
        if name.rpartition(".")[2] not in ("agent", "model") or value not in told
    }


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= 24 else f"{text[:21]}..."


def _differing_settings(headers: Mapping[str, RunHeader]) -> dict[str, dict[str, Json]]:
    """By group key, the settings in which a group differs from another of the same world."""
    flat = {key: flat_settings(header.genesis.setup) for key, header in headers.items()}
    differing: dict[str, dict[str, Json]] = {}
    for key, header in headers.items():
        rivals = [flat[rival] for rival, other in headers.items() if other.genesis.world == header.genesis.world]
        differing[key] = {
            name: value for name, value in flat[key].items() if any(rival.get(name) != value for rival in rivals)
        }
    return differing


def flat_settings(setup: Mapping[str, Json], start: str = "") -> dict[str, Json]:
    """Settings by dotted names; a list is one setting."""
    flat: dict[str, Json] = {}
    for name, value in setup.items():
        if isinstance(value, Mapping):
            flat |= flat_settings(cast("Mapping[str, Json]", value), f"{start}{name}.")
        else:
            flat[f"{start}{name}"] = value
    return flat


def summarise_group(name: GroupName, runs: Sequence[Run], scale: Scale, *, headline: bool = False) -> Group:
    """The statistics of runs that were played alike; with `headline` of the first score and of coherence alone."""
    figures = [] if headline else score_names(run.figures for run in runs)
    coherence = score_names(run.coherence for run in runs)
    measured = [run for run in runs if run.measured]
    days, first = sum(run.days for run in measured), next((run for run in runs if run.world), runs[0])
    states = Counter(run.state for run in runs)
    return Group(
        name=name.name,
        world=first.world,
        agent=first.agent,
        card={field: first.card.get(field) for field in CARD} | {"model": first.model},
        settings=name.settings,
        runs=tuple(run.id for run in runs),
        seeds=len({run.seed for run in runs if run.world}),
        states={state: states[state] for state in STATES if states[state]},
        copies=len(measured) - len({(run.digest, run.seed) for run in measured}),
        endings=dict(Counter(run.ending or f"({run.state})" for run in runs).most_common()),
        days=days,
        scores=_summaries(score_names(run.scores[: 1 if headline else None] for run in runs), runs, scale),
        findings=_findings([run.finding_types for run in measured], days),
        conduct=_conduct(measured, days),
        conduct_runs=sum(bool(run.conduct) for run in measured),
        coherence=_summaries(coherence[: 1 if headline else None], runs, Scale()),
        usage=_usage(runs),
        scale=scale,
        figures=_summaries(figures, runs, Scale()),
        tables=_tables(measured),
        advice=next((advice(run.header) for run in runs if run.state == UNREADABLE), ""),
    )


def score_names(lists: Iterable[Sequence[Score]]) -> list[str]:
    """The names of all scores in some lists of them, each once, in order of first occurrence."""
    return list(dict.fromkeys(score.name for scores in lists for score in scores))


def _summaries(names: Sequence[str], runs: Sequence[Run], scale: Scale) -> dict[str, ScoreSummary]:
    return {name: _summary_of(name, runs, scale) for name in names}


def _summary_of(name: str, runs: Sequence[Run], scale: Scale) -> ScoreSummary:
    """The statistics of a score; a run that is measured and lacks it is left out."""
    all_scores = (score for run in runs for score in (*run.scores, *run.coherence, *run.figures))
    example = next(score for score in all_scores if score.name == name)
    having = [run for run in runs if not run.measured or run.value(name) is not None]
    values, seeds = [run.value(name) for run in having], [run.seed for run in having]
    summary = summarise(values, bounds=bounds(example.unit), clusters=seeds)
    independent = summarise(clustered(seed_values(having, name)).values())
    done = [value for run in runs if run.state == "done" and (value := run.value(name)) is not None]
    share = None
    if name in scale.own and name in scale.idle and name in scale.reference:
        share = share_between(scale.own[name], scale.idle[name], scale.reference[name])
    mde = welch_mde(independent, independent)
    mean_of_done = fmean(done) if done else None
    return ScoreSummary(name, example.unit, example.better, summary, mean_of_done, mde, share)


def seed_values(runs: Iterable[Run], name: str) -> dict[int, list[float]]:
    """The values of each seed's runs: none for a seed of which no run has one."""
    by_seed: dict[int, list[float]] = {}
    for run in runs:
        if run.world:
            value = run.value(name)
            by_seed.setdefault(run.seed, []).extend([] if value is None else [value])
    return by_seed


def _findings(measured: Sequence[Mapping[str, int]], days: int) -> dict[str, FindingsSummary]:
    """The findings of runs that are counted by type."""
    counts, runs = Counter[str](), Counter[str]()
    for types in measured:
        counts.update(types)
        runs.update(types.keys())
    return {
        name: FindingsSummary(name, count, runs[name], count * MONTH_DAYS / days if days else None)
        for name, count in counts.most_common()
    }


def _conduct(measured: Sequence[Run], days: int) -> dict[str, FindingsSummary]:
    """The findings of conduct of runs by type, with what those gained of which that was asked."""
    rows = [row for run in measured for row in run.conduct_gains or ()]
    by_type = {type_: [row for row in rows if row.type == type_] for type_ in dict.fromkeys(row.type for row in rows)}
    gains = {
        type_: GainSummary(len(alike), sum(row.gained for row in alike), alike[0].unit)
        for type_, alike in by_type.items()
    }
    summaries = _findings([run.conduct for run in measured], days)
    return {type_: replace(summary, gain=gains.get(type_)) for type_, summary in summaries.items()}


def _usage(runs: Sequence[Run]) -> UsageSummary | None:
    usages = [run.usage for run in runs if run.usage]
    if not usages:
        return None
    n = len(usages)
    dollars = [usage.dollars for usage in usages if usage.dollars is not None]
    return UsageSummary(
        runs=n,
        calls=sum(usage.calls for usage in usages) / n,
        input_tokens=sum(usage.tokens.input for usage in usages) / n,
        output_tokens=sum(usage.tokens.output for usage in usages) / n,
        cached_tokens=sum(usage.tokens.cached for usage in usages) / n,
        minutes=sum(usage.minutes for usage in usages) / n,
        dollars=sum(dollars) / n if len(dollars) == n else None,
    )


def _tables(measured: Sequence[Run]) -> dict[str, TableSummary]:
    """Tables whose rows mean the same in every run: rows of agents only where all runs have the same agents."""
    alike = len({run.roster for run in measured}) == 1
    by_name: dict[str, list[Table]] = {}
    for run in measured:
        for table in run.tables:
            if alike or WORDS not in list(table.columns.values())[: table.keys]:
                by_name.setdefault(table.name, []).append(table)
    return {name: summary for name, tables in by_name.items() if (summary := summarise_tables(tables))}


def summarise_tables(tables: Sequence[Table]) -> TableSummary | None:
    """Tables of one name, one of each run, as one; None for lists, whose rows have no keys."""
    first = tables[0]
    if not first.keys:
        return None
    numeric = [index for index, unit in enumerate(first.columns.values()) if index >= first.keys and unit != WORDS]
    by_run = [{tuple(row[: first.keys]): row for row in table.rows} for table in tables]
    missing = [None if unit in ("place", "index") else 0 for unit in first.columns.values()]
    names, units, cached = (
        list(first.columns),
        list(first.columns.values()),
        lru_cache(maxsize=100_000)(_column_summary),
    )
    rows: list[RowSummary] = []
    for key in sorted({key for rows in by_run for key in rows}, key=_order):
        values = {
            names[index]: cached(tuple(_number(run.get(key, missing)[index]) for run in by_run), units[index])
            for index in numeric
        }
        rows.append(RowSummary(key, values))
    return TableSummary(first.name, first.columns, len(tables), tuple(rows))


def _column_summary(values: tuple[float | None, ...], unit: str) -> Summary:
    return summarise(values, bounds=bounds(unit))


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) else None


def _order(key: tuple[Json, ...]) -> list[tuple[bool, float, str]]:
    """Numbers by size, texts by letters."""
    return [(False, part, "") if isinstance(part, int | float) else (True, 0, str(part)) for part in key]
