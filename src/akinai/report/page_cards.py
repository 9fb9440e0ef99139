"""What a reader needs to trust a report: every run, what it took, the cards, and how figures are made."""

import json
from collections.abc import Iterator, Sequence
from typing import cast

from akinai.core.canonical import Json
from akinai.report.page_contents import Block, Grid, Prose, Section
from akinai.report.page_figures import headline
from akinai.report.tables import ABSENT, label
from akinai.report.tables import figure as number
from akinai.runtime.analysis import Analysis, Group, RunRecord

MOST_RUNS = 200
MOST_VALUES = 6
"""In which runs differ and that are told one by one."""
LATER = ("digests", "calls")
"""Of a run card: what is told elsewhere."""


def runs_told(analysis: Analysis) -> Iterator[Block]:
    """Every run, then what broke."""
    group_of = {run: group.name for group in analysis.groups for run in group.runs}
    score = headline(analysis.groups)
    rows = [_run(run, group_of.get(run.id, ABSENT), score) for run in analysis.runs[:MOST_RUNS]]
    left_out = len(analysis.runs) - len(rows)
    more = f"{left_out} more runs are in results.json. " if left_out else ""
    note = f"{more}A digest stands for the whole record; 'akinai verify RUN' checks it. All 64 digits: results.json."
    heads = (
        "run",
        "group",
        "seed",
        "status",
        "ending",
        "days",
        "entries",
        "digest",
        *([label(score[0])] if score else []),
    )
    yield Grid(heads, tuple(rows), note=note, words=frozenset({0, 1, 3, 4, 7}))
    if broke := tuple((run.id, run.error) for run in analysis.runs[:MOST_RUNS] if run.error):
        yield Grid(("run", "what broke"), broke, words=frozenset({0, 1}))


def _run(run: RunRecord, group: str, score: tuple[str, str] | None) -> tuple[str, ...]:
    ending = label(run.ending) if run.ending else ABSENT
    figures = (number(run.days or None, "days"), number(run.entries, ""), run.digest[:12])
    value = (number(run.value(score[0]), score[1]),) if score else ()
    return (run.id, group, str(run.seed), run.state, ending, *figures, *value)


def efforts(groups: Sequence[Group]) -> Iterator[Block]:
    """Tokens, minutes and dollars of the models that were asked."""
    rows = [(group.name, *_effort(group)) for group in groups if group.effort]
    if not rows:
        yield Prose("No model was asked: these players go by rules.")
        return
    heads = ("group", "runs", "calls", "input tokens", "of them cached", "output tokens", "minutes", "dollars")
    note = "Means of a run that asked a model; dollars by the prices in akinai.toml, where all of them are known."
    yield Grid(heads, tuple(rows), note=note)


def _effort(group: Group) -> tuple[str, ...]:
    one = group.effort
    if one is None:
        return ()
    counts = (one.calls, one.input_tokens, one.cached_tokens, one.output_tokens, one.minutes)
    dollars = ABSENT if one.dollars is None else f"${one.dollars:,.4g}"
    return (str(one.runs), *(number(round(count, 1), "") for count in counts), dollars)


def cards(analysis: Analysis) -> Iterator[Block]:
    """What all runs agree on and differ in, then what sets each group apart."""
    common = {name: value for name, value in analysis.card.items() if name not in LATER}
    models = sorted({model for run in analysis.runs if run.effort for model in run.effort.models})
    if models:
        common["model ids as returned"] = cast("Json", models)
    rows = tuple((label(name), _told(value)) for name, value in common.items())
    yield Grid(("field", "value"), rows, "All runs", words=frozenset({0, 1}))
    if len(analysis.groups) > 1:
        yield _cards_by_group(analysis.groups)


def _cards_by_group(groups: Sequence[Group]) -> Grid:
    heads = list(dict.fromkeys(name for group in groups for name in group.card))
    rows = [
        (group.name, group.world, *(_told(group.card.get(name)) for name in heads), _settings(group))
        for group in groups
    ]
    told = ("group", "world", *map(label, heads), "settings that set it apart")
    return Grid(told, tuple(rows), "By group", words=frozenset(range(len(told))))


def _settings(group: Group) -> str:
    return ", ".join(f"{name} = {_told(value)}" for name, value in group.settings.items()) or ABSENT


def _told(value: Json) -> str:
    match value:
        case None:
            return "none"
        case str():
            return value
        case list() if len(value) > MOST_VALUES:
            return f"{_told(value[0])} ... {_told(value[-1])} ({len(value)} values)"
        case list():
            return "; ".join(map(_told, value))
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True)


def reading() -> Section:
    """How the figures are made."""
    return Section(
        "How to read this",
        (
            Prose(
                "A group is the runs that were played alike: one world, settings, agent, model and playbook. n is the "
                "number of runs that a figure stands on. Runs that failed or are not over count with what their record "
                "holds; runs whose record cannot be read have no value and are counted beside the figures."
            ),
            Prose(
                "Intervals in tables hold the mean with 95 % confidence: the BCa bootstrap from five runs on, "
                "Student's t below. Bands in figures are Student's t, day by day. All of it can be made again from the "
                "records: 'akinai export RUN' writes them, 'akinai verify RUN' checks that nobody edited them, and "
                "results.json beside this page holds the numbers."
            ),
        ),
    )
