"""The page of a learning: its tables, and sentences about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from akinai.core.presentation.tables import Grid
from akinai.core.presentation.words import figure
from akinai.report.language import fill, translate, translate_sentence
from akinai.report.language.lines import columns
from akinai.report.tables.columns import page_of, translate_result
from akinai.report.tables.learning import (
    contender_name,
    contest_table,
    is_run,
    measured_table,
    scores_table,
    seen_tasks,
)
from akinai.runtime.play.estimate import SECONDS_PER_CALL

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_SOURCES = 3
"""Sources of the first bullets that the page names."""


def learned_page(learned: Mapping[str, Any], width: int, sentences: str) -> "RenderableType":
    """The result of a learning, from its document, under what it amounts to in `sentences`."""
    from rich.text import Text

    card = learned["card"]
    beginning = _beginning(card["began_with"], "it holds" if learned["judge_only"] else "learning began with")
    head = [_title(learned), f"playbook {card['playbook']}; {beginning}"]
    parts: list[Grid | RenderableType] = [Text(translate_result(sentences), "bold")]
    parts.append(Text("\n".join(map(translate_sentence, head))))
    parts += [_in_language(table) for table in (scores_table(learned), measured_table(learned)) if table.rows]
    if rows := learned["against"]:
        lines = [*against_lines(rows, learned["unit"])]
        if seen := seen_tasks(learned):
            lines.append(f"{seen:,} of these {rows[0]['n']:,} tasks were learned from; the gains count them.")
        table = _in_language(contest_table(rows, learned["unit"]))
        parts += [table, Text("\n".join(map(translate_sentence, lines)))]
    return page_of(parts, width)


def _in_language(table: Grid) -> Grid:
    """The table with its words, and the word between the ends of an interval, in the reader's language."""

    def cell(text: str) -> str:
        return translate_sentence(text).replace(" to ", _to())

    columns = [
        replace(column, values=[*map(cell, column.cells)], ends=(), names=True)
        if column.words or column.ends
        else column
        for column in table.columns
    ]
    return replace(table, columns=columns)


def _to() -> str:
    return fill("{low} to {high}", low="", high="")


def _beginning(began: Mapping[str, Any], has: str) -> str:
    """The playbook that a learning began with, or that is judged, in words."""
    if not began["bullets"]:
        return f"{has} no bullets"
    counts = {(name or "an unknown source"): count for name, count in began["sources"].items()}
    most = sorted(counts, key=lambda name: -counts[name])[:MOST_SOURCES]
    more = f" and {len(counts) - len(most):,} others" if len(counts) > len(most) else ""
    text = f"{has} {began['bullets']:,} bullets from {', '.join(most)}{more}"
    text += f"; the tasks of {began['unrecorded']:,} are not recorded" if began["unrecorded"] else ""
    return f"{text}; {began['migrated']:,} got the record of their sentence" if began["migrated"] else text


def _title(learned: Mapping[str, Any]) -> str:
    roles = learned["card"]["roles"]
    trained = learned["training"]
    by = f"{roles} from {trained[0]['tasks']:,} tasks" if trained and not learned["world"] else roles
    if learned["judge_only"]:
        where = f"on {learned['eval_seeds']}" if learned["world"] else f"on {learned['split']}"
        return f"{learned['tasks']}, {learned['card']['playbook']} judged {where}, nothing learned"
    if learned["with"] is None:
        return f"{learned['tasks']}, learned by {by}, not judged"
    seen = learned["card"]["began_with"]["seen"]
    earlier = f", {seen:,} of which earlier learnings had seen" if seen and learned["online"] else ""
    if not learned["world"]:
        return f"{learned['tasks']}, learned by {by}, judged on {learned['split']}{earlier}"
    where = f"before each was learned from{earlier}" if learned["online"] else f"on {learned['eval_seeds']}"
    source = f"what {'the rules' if roles == 'rules' else roles} learned from seeds {learned['seeds']}"
    agent = f"{learned['agent']} as {learned['role']}" if learned["role"] else learned["agent"]
    return f"{learned['world']}: {agent} with {source}, {where}"


def estimate_text(tasks: str, expected: Mapping[str, Any]) -> str:
    """The expected calls, tokens, hours and dollars of a learning, from the estimate's document."""
    dollars = expected["dollars"]
    sums = expected["tokens"]
    most = "{tasks}, at most, where every attempt fails and every reply is read, at {seconds} seconds a call:"
    rows = {
        translate("calls"): f"{expected['calls']:,}",
        **{
            role: fill("{calls} of {model}", calls=f"{part['calls']:,}", model=part["model"])
            for role, part in expected["roles"].items()
        },
        **{fill("against {name}", name=rival["name"]): f"{rival['calls']:,}" for rival in expected["against"] or ()},
        **estimate_rows(sums["input"], sums["output"], expected["hours"], dollars),
    }
    return f"{fill(most, tasks=tasks, seconds=f'{SECONDS_PER_CALL:g}')}\n{align_rows(rows)}"


def estimate_rows(input_tokens: int, output_tokens: int, hours: float, dollars: float | None) -> dict[str, str]:
    """The tokens, hours and dollars that models are expected to take, by name."""
    no_price = translate("no price known: put one into akinai.toml")
    return {
        translate("tokens"): fill("{taken} in, {given} out", taken=f"{input_tokens:,}", given=f"{output_tokens:,}"),
        translate("hours"): f"{hours:,.{1 if hours >= 1 else 2}f}",
        translate("dollars"): no_price if dollars is None else f"${dollars:,.2f}",
    }


def align_rows(rows: Mapping[str, str]) -> str:
    """Names and values, one a line."""
    widest = max(map(columns, rows))
    return "\n".join(f"  {name}{' ' * (widest - columns(name))}  {value}" for name, value in rows.items())


def score_text(value: float, unit: str | None, *, sign: bool = False) -> str:
    """A mean score of runs, or a difference of two: money in dollars as all tables have it; points of shares."""
    if unit == "dollars":
        return figure(round(100 * value), "cents", sign=sign)
    return figure(value, unit, sign=sign) if unit == "points" else f"{value:{'+' * sign},.2f}"


PARITY = 0.05
"""The share by which a contender's tokens may differ from the playbook's without a word."""


def _parity_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each contender that spent more or fewer tokens than the playbook, or was told less."""
    told = next((row["saw_right_answers"] for row in rows if row["name"] == "playbook"), None)
    for row in rows:
        share, name = row["of_the_playbook"], contender_name(row)
        if share is not None and abs(share - 1) > PARITY:
            use = "to learn" if row["learning_calls"] else "in context"
            yield f"{name} had {share:.0%} of the playbook's tokens {use}."
        if told and row["saw_right_answers"] is False:
            yield f"{name} saw no right answers, and the playbook's learning did."


def against_lines(rows: Sequence[Mapping[str, Any]], unit: str | None = None) -> Iterator[str]:
    """Yield a sentence for each contender, which says whether the playbook is ahead of it or behind."""
    for row in rows:
        name, minus = contender_name(row), row["playbook_minus"]
        if minus is None:
            continue
        if row["name"] == "placebo" and not row["injected"]:
            yield "There is no placebo: there are no two bullets that could exchange what they teach."
            continue
        measure, points = (unit, "") if is_run(row) else ("points", " points")
        low, high = (score_text(end, measure, sign=True) for end in minus["ci95"] or (0, 0))
        within = f" ({low}{_to()}{high})" if minus["ci95"] else ""
        gain, size = (score_text(minus["gain"], measure, sign=True), score_text(abs(minus["gain"]), measure))
        match row["verdict"]:
            case "behind":
                yield f"The playbook loses to {name} by {size}{points}{within}."
            case "ahead":
                yield f"The playbook is {size}{points} ahead of {name}{within}."
            case _:
                yield f"No difference from {name} is shown: {gain}{points}{within}."
    yield from _parity_lines(rows)
