"""Runs as terminal text: tables of runs, of their scores, and of the statistics of many runs."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.text import Text

from akinai.analysis.tables import Part, statistics_table
from akinai.core.canonical import Json
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import ABSENT, counted, label
from akinai.core.statistics import summarise
from akinai.core.stores import RunHeader
from akinai.core.untrusted.spelling import plain
from akinai.report.language import translate, translate_sentence
from akinai.report.tables.columns import page_of, translate_line
from akinai.runtime.runs.records import LEFT_OUT, Run, Runs
from akinai.runtime.runs.sweep import sweep_of, swept_values
from akinai.runtime.runs.unreadable import advice, unread_sentence


def runs_page(runs: Runs, width: int) -> RenderableType:
    """The page of a command's runs: of one run its own page, of several a table and a summary."""
    if not runs:
        return Text("no runs")
    if len(runs) == 1:
        return run_page(runs[0])
    summary = [summary_table(runs)] * bool(runs.score_names())
    return Group(page_of([runs_table(runs), *summary], width), *unread_notes([run.header for run in runs]))


def run_page(run: Run, names: Collection[str] | None = None) -> RenderableType:
    """The page of a run: its scores, one a line; or those of them with these names."""
    preset = run.card.get("preset")
    world = f"{run.world}, preset {preset}" if preset else run.world
    facts = [world, f"played by {player_label(run.header)}", run.header.game_words]
    title = Text.assemble((plain(run.id), "bold"), "  ", translate_line(", ".join(facts)))
    reason, _, _ = (run.error or "").partition("\n\n")  # without the traceback
    state = status_text(run.status, None if reason else run.ending or "not over")
    days = f"{counted(run.days, 'day')}, " if run.days else ""
    ended = f"{state} after {days}{counted(run.entries, 'entry')}, digest {run.digest[:12]}"
    lines: list[RenderableType] = [title, Text(translate_line(ended), _style(run))]
    if reason:
        lines.append(Text(plain(translate_sentence(reason)), _style(run)))
    lines += unread_line(unread_sentence(run.header))
    if scores := [score for score in run.scores if names is None or score.name in names]:
        words = Column("score", [label(score.name) for score in scores], words=True)
        values = Column("value", [score.value for score in scores], unit=[score.unit for score in scores])
        lines += [Text(""), page_of([Grid([words, values])], 80)]
    return Group(*lines)


def unread_line(unread: str) -> list[RenderableType]:
    """A line on a run that ended as unreadable, from `unread_sentence`; none for other endings."""
    return [Text(translate_line(f"Its scores are in no mean, since {unread}."), "yellow")] if unread else []


def unread_notes(headers: Iterable[RunHeader]) -> list[RenderableType]:
    """What to try with the runs of a table that ended as unreadable: a line for each advice, after an empty one."""
    counts = Counter(text for header in headers if (text := advice(header)))
    lines = [translate_line(f"{_runs(count)} unreadable, in no mean; {text}.") for text, count in counts.items()]
    return [Text(line, "yellow") for line in ["", *lines]] if lines else []


def _runs(count: int) -> str:
    return "1 run is" if count == 1 else f"{count:,} runs are"


def status_text(status: str, ending: str | None) -> str:
    """A run's status and its ending, where it has one: "done: horizon"."""
    return ": ".join([translate(status), *([ending_words(ending)] if ending else [])])


def ending_words(ending: str) -> str:
    """An ending in the language of the reader; its code where it has no words there."""
    words = f"{label(ending)} (ending)"
    return ending if (translation := translate(words)) == words else translation


def player_label(run: RunHeader) -> str:
    """The label of who played, else agent and model, and the sides that have a model of their own: "careful, customers
    openai:NAME"."""
    if run.label:
        return run.label
    spec = run.card.get("agent_spec")
    tables = [spec.get(name) for name in ("seat_agents", "group_models")] if isinstance(spec, Mapping) else []
    sides = [f"{group} {who}" for table in tables if isinstance(table, Mapping) for group, who in table.items()]
    return ", ".join([f"{run.agent or ABSENT} {run.model or ''}".rstrip(), *sides])


def _style(run: Run) -> str:
    return "yellow" if run.state == "unreadable" else {"done": "", "open": "yellow", "failed": "red"}[run.status]


def runs_table(runs: Sequence[Run]) -> Grid:
    """A row for each run, with as many scores as fit."""
    units = {score.name: score.unit for run in runs for score in run.scores}
    agents = [player_label(run.header) for run in runs]
    columns = [
        Column("run", [run.id for run in runs], words=True, names=True),
        *([Column("agent", agents, words=True, names=True)] if len({*agents}) > 1 else []),
        Column("seed", [run.header.game for run in runs]),
        Column("status", [run.status for run in runs], words=True),
        Column("ending", [ending_words(run.ending or ABSENT) for run in runs], words=True, names=True),
        *([Column("days", [run.days for run in runs])] if any(run.days for run in runs) else []),
    ]
    scores = [
        Column(label(name), [run.value(name) for run in runs], drop=rank, unit=unit)
        for rank, (name, unit) in enumerate(units.items(), 1)
    ]
    return Grid([*columns, *scores], _shared_title(runs))


def _shared_title(runs: Sequence[Run]) -> str:
    """World, preset and agent, where all runs have the same."""
    kinds = {(run.world, run.card.get("preset"), player_label(run.header)) for run in runs}
    if len(kinds) > 1:
        return ""
    ((world, preset, agent),) = kinds
    return f"{world}, preset {preset}, played by {agent}" if preset else f"{world}, played by {agent}"


def headers_page(headers: Sequence[RunHeader], width: int) -> RenderableType:
    """The table of a store's runs, and what to try with the unreadable ones."""
    return Group(page_of([headers_table(headers, ending_words)], width), *unread_notes(headers))


def headers_table(headers: Sequence[RunHeader], ending: Callable[[str], str] = str) -> Grid:
    """A row for each run of a store, from its header alone: no ledger is read. `ending` puts an ending in words."""
    agents = [player_label(run) for run in headers]
    began = [datetime.fromtimestamp(run.created_at // 1_000_000, UTC).astimezone() for run in headers]
    forks = any(run.parent for run in headers)
    return Grid(
        [
            Column("run", [run.run_id for run in headers], words=True, names=True),
            Column("world", [run.genesis.world for run in headers], words=True, names=True, drop=3),
            Column(
                "preset", [str(run.card.get("preset") or ABSENT) for run in headers], words=True, names=True, drop=6
            ),
            Column("agent", agents, words=True, names=True),
            Column("seed", [run.game for run in headers], drop=1),
            Column("status", [run.status for run in headers], words=True),
            Column("ending", [run.ending and ending(run.ending) for run in headers], True, names=True),
            Column("entries", [run.entries for run in headers], drop=4),
            Column("begun", [f"{time:%Y-%m-%d %H:%M}" for time in began], drop=2),
            *([Column("fork of", [run.parent for run in headers], words=True, names=True, drop=5)] if forks else []),
        ]
    )


def summary_table(runs: Runs) -> Part:
    """Mean, median, extremes and interval of every score; of runs that are all in no figure, a title alone."""
    states = Counter(run.state for run in runs)
    unfinished = states["failed"] + states["open"]
    notes = [f"{unfinished} of them failed or not over, counted as they stand"] * bool(unfinished)
    notes += [f"{states[state]} of them {state} and in no figure" for state in LEFT_OUT if states[state]]
    title = ", ".join([counted(len(runs), "run"), *notes])
    return statistics_table(runs.summary(), runs.units(), title) if any(run.measured for run in runs) else title


def _swept(value: Json) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def swept_runs(runs: Runs, width: int) -> RenderableType | None:
    """Make the table of means by swept value; None where the runs are no sweep."""
    if not runs or not all(sweep_of(run.header.card) for run in runs):
        return None
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.header.group or run.id, []).append(run)
    names = list(dict.fromkeys(name for run in runs for name in swept_values(run.header.card)))
    settings = [swept_values(members[0].header.card) for members in groups.values()]
    columns = [Column(name, [_swept(values.get(name)) for values in settings], True, names=True) for name in names]
    columns.append(Column("runs", [len(members) for members in groups.values()]))
    for score in runs.score_names():
        unit = next(run_score.unit for run in runs for run_score in run.scores if run_score.name == score)
        means = [summarise([run.value(score) for run in members]).mean for members in groups.values()]
        columns.append(Column(label(score), means, drop=len(columns), unit=unit))
    return page_of([Grid(columns, f"{sweep_of(runs[0].header.card)}: means over the runs of each value")], width)
