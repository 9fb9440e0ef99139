"""Commands that say what runs amount to: analyze, compare, plan, report."""

from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from akinai.cli.options import (
    Csv,
    Json,
    RunNames,
    Store,
    argument,
    fill_in_place,
    flag_of,
    option,
    store_address,
    whole_number,
    with_flags,
)
from akinai.cli.output import (
    FAILED,
    command_line,
    print_error,
    print_json,
    print_line,
    print_next_steps,
    print_other_rules,
    print_page,
    print_sentence,
    progress_bar,
)
from akinai.core.errors import UsageError
from akinai.core.options import options_of
from akinai.core.presentation.words import counted
from akinai.runtime.options import AnalyzeOptions, CompareOptions, ReportOptions

if TYPE_CHECKING:
    from akinai.analysis.analyse import Analysis
    from akinai.analysis.comparison import Comparison
    from akinai.analysis.log_comparison import LogComparison
    from akinai.report.page.files import WrittenReport
    from akinai.runtime.config.addresses import StoreRef

MAX_REASONS = 5
"""Unreadable runs whose reason is printed."""

DealId = Annotated[
    str | None,
    option("--deal", metavar="ID", help="Instead, follow one deal of one run from its first message to its last."),
]
Gain = Annotated[str | None, flag_of(options_of(CompareOptions)["gain"])]
"""Text, since an amount may be written as $1,000."""
Cluster = Annotated[
    str | None,
    option(
        "--cluster",
        metavar="FIELD",
        help="For files of scores: the field of the samples' metadata by which they are clustered.",
        default="the one of the logs' standard errors",
    ),
]

FileFormat = Annotated[
    str | None,
    option(
        "--format",
        metavar="NAME",
        help="Of files: inspect, tau2, lm-eval, verifiers or table.",
        default="found by their content",
    ),
]
Columns = Annotated[
    str | None,
    option(
        "--columns",
        metavar="PART=NAME,...",
        help="Of tables: the columns for sample, epoch, score and task.",
        default="found by their usual names",
    ),
]


@with_flags(AnalyzeOptions, jobs=None)
def analyze(
    names: RunNames,
    deal: DealId = None,
    as_json: Json = False,
    as_csv: Csv = False,
    **options: Unpack[AnalyzeOptions],
) -> None:
    """Print scores, endings, findings and cost of runs; runs that were played alike form a group."""
    from akinai import api

    store = fill_in_place(options)
    if deal is not None:
        if as_csv:
            raise UsageError("--deal prints no table; leave --csv out")
        return _follow_deal(names, deal, options["store"], as_json=as_json)
    fuzzy = options["fuzzy_match_distance"]
    if fuzzy < 0:
        raise UsageError(f"--fuzzy-match-distance wants a number of edits from 0, not {fuzzy}")
    options |= {"by_day": options["by_day"] and as_json, "evidence": as_json}
    with progress_bar(quiet=as_json or as_csv) as progress:
        analysis = api.analyze(*names, **{**options, "progress": progress})
    if as_json:
        print_json(analysis.to_json())
    elif as_csv:
        print_line(analysis.table.csv)
    else:
        from akinai.report.tables.analyses import analysis_page

        print_page(lambda width: analysis_page(analysis, width))
        if len(names) == 2:
            step = "is the second better, seed by seed, and how sure is that"
            print_next_steps({command_line(store, "compare", *names): step})
    if fuzzy and not any(run.figures for run in analysis.runs):
        print_error("--fuzzy-match-distance changes nothing: no run here is of a world that goes by names")
    return _report_unreadable(analysis, MAX_REASONS)


def _follow_deal(names: list[str], id: str, store: "StoreRef", *, as_json: bool) -> None:
    from akinai import api

    if len(names) != 1:
        raise UsageError(f"--deal {id!r:.100} follows a deal of one run; name that run, and no other")
    deal = api.deal(names[0], id, store=store)
    if as_json:
        return print_json(deal.to_json())
    from akinai.report.tables.deals import deal_page

    return print_page(lambda _: deal_page(deal))


def _report_unreadable(analysis: "Analysis", limit: int | None = None) -> None:
    """Print a sentence for each run that cannot be read, at most `limit`, and one for all runs of other rules; exit
    with FAILED if there is one that cannot be read, or none but of other rules."""
    damaged = [run for run in analysis.troubled if not run.other_rules]
    print_other_rules(analysis.runs)
    for run in damaged[:limit]:
        print_error(f"run {run.id} cannot be scored: {run.trouble}; 'akinai verify {run.id}' checks its record")
    if limit and len(damaged) > limit:
        print_error(f"and {len(damaged) - limit:,} more; --json tells why of each")
    if damaged or all(run.other_rules for run in analysis.runs):
        raise typer.Exit(FAILED)


@with_flags(CompareOptions, jobs=None)
def compare(
    a: Annotated[str, argument("A", "A run, a group, or a file of scores (Inspect AI, tau2, lm-eval, ...).")],
    b: Annotated[str, argument("B", "The run, group or file to compare with A.")],
    amount: Gain = None,
    cluster: Cluster = None,
    file_format: FileFormat = None,
    columns: Columns = None,
    as_json: Json = False,
    as_csv: Csv = False,
    **options: Unpack[CompareOptions],
) -> None:
    """Compare B with A, paired by seed or sample: the difference of every score and how sure it is."""
    from akinai import api
    from akinai.analysis.score_files import FORMATS, is_log

    options["gain"] = gain = _amount(amount)
    if is_log(a) and is_log(b):
        if file_format is not None and file_format not in FORMATS:
            raise UsageError(f"--format is one of {', '.join(FORMATS)}, not {file_format!r:.100}")
        logs = api.compare_logs(a, b, gain=gain, cluster=cluster, file_format=file_format, columns=columns)
        return _print_comparison(logs, as_json=as_json, as_csv=as_csv)
    for flag, value in (("--cluster", cluster), ("--format", file_format), ("--columns", columns)):
        if value is not None:
            raise UsageError(f"{flag} {value!r:.100} is about files of scores; runs are paired by seed")
    if is_log(a) or is_log(b):
        raise UsageError(f"{a!r} and {b!r} are not both logs; write a run as one with 'akinai export --format inspect'")
    fill_in_place(options)
    with progress_bar(quiet=as_json or as_csv) as progress:
        comparison = api.compare(a, b, **{**options, "progress": progress})
    return _print_comparison(comparison, as_json=as_json, as_csv=as_csv)


def _print_comparison(comparison: "Comparison | LogComparison", *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        return print_json(comparison.to_json())
    if as_csv:
        return print_line(comparison.table.csv)
    from akinai.report.tables.comparisons import comparison_page

    return print_page(lambda width: comparison_page(comparison, width))


def plan(
    gain: Annotated[
        str, option("--gain", metavar="X", help="The gain to show, in the unit of the score (dollars for money).")
    ],
    from_: Annotated[str, option("--from", metavar="A", help="The pilot: a run or group of at least two seeds.")],
    against: Annotated[
        str | None,
        option("--against", metavar="B", help="A pilot of the other side: common seeds show how much pairing saves."),
    ] = None,
    score: Annotated[
        str | None, option("--score", metavar="NAME", help="The score.", default="the world's first")
    ] = None,
    at_once: Annotated[
        int,
        option("--at-once", metavar="N", help="Runs that wait for models at once.", default="64", parser=whole_number),
    ] = 64,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Say how many seeds a study needs to show a gain, from a pilot, and what they cost in tokens and hours."""
    from akinai import api

    amount = _amount(gain)
    assert amount is not None
    study = api.plan(
        gain=amount, from_=from_, against=against, score=score, at_once=at_once, store=store_address(store)
    )
    if as_json:
        return print_json(study.to_json())
    from akinai.report.language import translate_text

    return print_line("\n".join(map(translate_text, str(study).splitlines())))


def _amount(gain: str | None) -> float | None:
    """The number in an amount such as "$1,000". UsageError for text that is no amount above 0."""
    if gain is None:
        return None
    try:
        amount = float(gain.replace("$", "").replace(",", ""))
    except ValueError:
        amount = 0.0
    if not 0 < amount < 1e12:
        raise UsageError(f"--gain wants an amount above 0, such as 50 or 12.5, not {gain!r}")
    return amount


@with_flags(ReportOptions, jobs=None)
def report(names: RunNames, as_json: Json = False, **options: Unpack[ReportOptions]) -> None:
    """Write a report on runs and groups: a page with figures and tables, the same as Markdown, all numbers as JSON."""
    try:
        from akinai.report.page.files import report as write_report
    except ImportError as error:
        raise UsageError(f'a report needs Jinja2 ({error}); pip install "akinai[report]" brings it') from error
    store = fill_in_place(options)
    written = write_report(*names, **options)
    if as_json:
        print_json(_report_json(written))
    else:
        _print_written(written, names, store)
    _report_unreadable(written.analysis)


def _report_json(written: "WrittenReport") -> dict[str, object]:
    analysis = written.analysis
    return {
        "folder": str(written.folder),
        "files": list(written.files),
        "runs": [run.id for run in analysis.runs],
        "groups": {group.name: list(group.runs) for group in analysis.groups},
        "card": analysis.runs.card(),
    }


def _print_written(written: "WrittenReport", names: list[str], store: str | None) -> None:
    figures = sum(name.endswith(".svg") for name in written.files)
    runs = sum(name.startswith("runs/run-") for name in written.files)
    parts = ["report.md", "results.json", counted(figures, "figure")]
    parts += [counted(runs, "transcript")] if runs else []
    print_sentence(f"wrote {written.page}")
    print_sentence(f"      with {', '.join(parts[:-1])} and {parts[-1]} beside it")
    print_sentence(f"open  {written.page.resolve().as_uri()}")
    print_next_steps({command_line(store, "verify", *names): "check the chain of each record behind it"})
