"""The page of a learning: its figures as rows of a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from akinai.core.presentation.tables import Column
from akinai.core.presentation.words import figure
from akinai.report.language import fill, translate, translate_sentence
from akinai.report.language.lines import columns
from akinai.report.tables.columns import fit_table, translate_result
from akinai.runtime.play.estimate import SECONDS_PER_CALL

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_SOURCES = 3
"""Sources of the first bullets that the page names."""


def learned_page(learned: Mapping[str, Any], width: int, sentences: str) -> "RenderableType":
    """The result of a learning, from its document, under what it amounts to in `sentences`."""
    from rich.console import Group
    from rich.text import Text

    rows = [*(_run_rows(learned) if learned["world"] else _task_rows(learned)), *_usage_rows(learned)]
    top = [row for row in rows if row[0].startswith(HEADLINES)]
    also = [row for row in rows if row not in top]
    tables = [_figures_table(part, width, title) for part, title in ((top, ""), (also, "Also measured")) if part]
    card = learned["card"]
    beginning = _beginning(card["began_with"], "it holds" if learned["judge_only"] else "learning began with")
    playbook = Text(translate_sentence(f"playbook {card['playbook']}; {beginning}"))
    parts: list[RenderableType] = [Text(translate_result(sentences), "bold"), Text("")]
    parts += [Text(translate_sentence(_title(learned))), playbook]
    parts += [part for table in tables for part in (Text(""), table)]
    if rows := learned["opponents"]:
        parts += [Text(""), opponents_table(rows, learned["unit"], width)]
    if rows := learned["against"]:
        parts += [Text(""), against_table(rows, learned["unit"], width)]
        parts += map(Text, map(translate_sentence, against_lines(rows, learned["unit"])))
        if seen := _seen(learned):
            counted = f"{seen:,} of these {rows[0]['n']:,} tasks were learned from; the gains count them."
            parts.append(Text(translate_sentence(counted)))
    return Group(*parts)


HEADLINES = (
    "accuracy without a",
    "accuracy with the",
    "mean mark with",
    "gain in points",
    "gain of",
    "without a",
    "with the",
    "gain, run",
)
"""Beginnings of the rows that stand first."""


def _figures_table(rows: Sequence["Row"], width: int, title: str) -> "RenderableType":
    names, values, ends = ([row[at] for row in rows] for at in range(3))
    columns = [
        Column("figure", [*map(translate_sentence, names)], words=True),
        Column("value", values),
        Column("95 %", ends, drop=1),
    ]
    return fit_table(columns, width, title)


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


Row = tuple[str, str, str]


def _task_rows(learned: Mapping[str, Any]) -> Iterator[Row]:
    """The figures of tasks with known answers; those that do not apply are left out."""
    yield from _judged_rows(learned)
    if paired := learned["paired"]:
        yield "tasks won, lost", f"{paired['wins']:,}, {paired['losses']:,}", ""
    if learned["test"]:
        yield from _judged_rows(learned["test"], " on test")
    for tried in learned["selected"]:
        when = f"epoch {tried['epoch']}, {tried['tasks']:,} tasks" if tried["epoch"] else "before learning"
        yield f"score on held-out tasks, {when}{' (kept)' if tried['best'] else ''}", f"{tried['score']:.3f}", ""
    for epoch in learned["improvement_rate"]:
        rate = f" ({epoch['rate']:+.1%})" if epoch["rate"] is not None else ""
        yield f"accuracy in training, epoch {epoch['epoch']}", f"{epoch['accuracy']:.1%}{rate}", ""
    tokens = learned["tokens"]
    yield "bullets in the playbook", f"{learned['playbook_size']:,}", ""
    yield (
        "tokens given to a task",
        fill("{count} of {all}", count=f"{tokens['injected']:,.0f}", all=f"{tokens['injected_all']:,.0f}"),
        "",
    )
    if learned["failed"]:
        yield "tasks without a readable answer", f"{learned['failed']:,}", ""


def _share_rows(judged: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Row]:
    """A row for each of these shares that is of any tasks, by its name in words."""
    for name, words in names.items():
        if (share := judged[name]) and share["n"]:
            low, high = share["ci95"]
            ends = fill("{low} to {high}", low=f"{low:.1%}", high=f"{high:.1%}")
            yield f"{words} (n = {share['n']:,})", f"{share['value']:.1%}", ends


def _mark_rows(judged: Mapping[str, Any], where: str = "") -> Iterator[Row]:
    """The mean marks of a check that also gives a part of the full mark."""
    if _of_marks(judged):
        for name, words in {"without": "without a playbook", "with": "with the playbook"}.items():
            if judged[name] is not None:
                yield f"mean mark{where} {words}", f"{judged[name]:.1%}", ""


def _of_marks(judged: Mapping[str, Any]) -> str:
    """The words for what a gain is of, where answers may be right in part; empty where accuracy says it all."""
    shares = {"with": judged["accuracy"], "without": judged["baseline_accuracy"]}
    partly = any(share and share["n"] and abs(judged[name] - share["value"]) > 1e-9 for name, share in shares.items())
    return " of the mean mark" if partly else ""


def _judged_rows(judged: Mapping[str, Any], where: str = "") -> Iterator[Row]:
    """The figures of judged tasks; `where` is " on test" for those that judge beside the validation tasks."""
    names = {
        "baseline_accuracy": f"accuracy{where} without a playbook",
        "accuracy": f"accuracy{where} with the playbook",
        "clean_accuracy": f"accuracy on {'test ' * bool(where)}tasks that nothing was learned from",
    }
    yield from _share_rows(judged, names)
    yield from _mark_rows(judged, where)
    if seen := _seen(judged):
        yield f"{'test' if where else 'judged'} tasks that were learned from", f"{seen:,}", ""
    if near := judged["near_copies"]:
        yield f"near copies of learned tasks among {'the test tasks' if where else 'them'}", f"{near:,}", ""
    if paired := judged["paired"]:
        words = f"gain{_of_marks(judged)}{where} in points{'' if where else ', task by task'}"
        yield words, f"{100 * paired['gain']:+.1f}", _interval(paired["ci95"])
        yield from _control_rows(judged["control"], where)


def _control_rows(control: Mapping[str, Any] | None, where: str = "") -> Iterator[Row]:
    """The gain over bullets that have exchanged what they teach: what the learning may claim."""
    if control and (paired := control["paired"]):
        yield f"gain{where} over permuted bullets", f"{100 * paired['gain']:+.1f}", _interval(paired["ci95"])


def _run_rows(learned: Mapping[str, Any]) -> Iterator[Row]:
    """The figures of a world's runs; those that do not apply are left out."""
    unit = learned["unit"]
    if learned["without"] is not None:
        yield f"without a playbook (n = {learned['runs']})", score_text(learned["without"], unit), ""
    if learned["with"] is not None:
        yield "with the playbook", score_text(learned["with"], unit), ""
    if paired := learned["paired"]:
        yield "gain, run by run", score_text(paired["gain"], unit, sign=True), _score_interval(paired["ci95"], unit)
        if (control := learned["control"]) and (over := control["paired"]):
            gained = score_text(over["gain"], unit, sign=True)
            yield "gain over invented numbers", gained, _score_interval(over["ci95"], unit)
        yield "runs won, lost", f"{paired['wins']}, {paired['losses']}", ""
    if learned["failed"]:
        yield "runs that broke or were unreadable, counted as 0", f"{learned['failed']:,}", ""
    yield "bullets in the playbook", f"{learned['playbook_size']:,}", ""


def _seen(judged: Mapping[str, Any]) -> int:
    """Judged tasks that were learned from, as far as that is known."""
    clean = judged["clean_accuracy"]
    return judged["accuracy"]["n"] - clean["n"] if clean else 0


def _training_rows(learned: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the counts of each epoch; those of 0 are left out, but for the operations learned."""
    for epoch in learned["training"]:
        when = f"epoch {epoch['epoch']}{'' if epoch['finished'] else ', unfinished'}"
        yield f"operations learned, {when}", f"{epoch['learned']:,}", ""
        counts: dict[str, int | Mapping[str, int]] = {
            "operations asked for again": epoch["asked_again"],
            "operations turned down by the gate": epoch["gated"],
            "refused": epoch["refused"],
            "tasks without an answer": epoch["failed"],
            "reflections and curations given up": epoch["given_up"],
            "unreadable replies": epoch["unreadable"],
        }
        for words, count in counts.items():
            yield from _count_rows(words, count, when)


def _count_rows(words: str, count: int | Mapping[str, int], when: str) -> Iterator[Row]:
    """A row for a count, or for each reason; none for a count of 0."""
    reasons = {"": count} if isinstance(count, int) else {f" ({name})": n for name, n in sorted(count.items())}
    yield from ((f"{words}{reason}, {when}", f"{n:,}", "") for reason, n in reasons.items() if n)


def _usage_rows(learned: Mapping[str, Any]) -> Iterator[Row]:
    yield from _training_rows(learned)
    if (spent := learned["spent"])["calls"]:
        yield "replies of models", f"{spent['calls']:,}", ""
        yield from _count_rows("unreadable replies", spent["unreadable"], "judging included")
        yield "tokens sent, answered", f"{spent['input']:,}, {spent['output']:,}", ""
    yield "seconds", f"{learned['seconds']:,.1f}", ""


def score_text(value: float, unit: str | None, *, sign: bool = False) -> str:
    """A mean score of runs, or a difference of two: money in dollars as all tables have it."""
    return figure(round(100 * value), "cents", sign=sign) if unit == "dollars" else f"{value:{'+' * sign},.2f}"


def _score_interval(ends: Sequence[float] | None, unit: str | None) -> str:
    """The ends of an interval of a difference; empty for none."""
    return _between([score_text(end, unit, sign=True) for end in ends or ()])


def _interval(ends: Sequence[float] | None) -> str:
    """The ends of an interval of shares, in points."""
    return _between([f"{100 * end:+.1f}" for end in ends or ()])


def _between(ends: Sequence[str]) -> str:
    return fill("{low} to {high}", low=ends[0], high=ends[-1]) if ends else ""


def opponents_table(rows: Sequence[Mapping[str, Any]], unit: str | None, width: int) -> "RenderableType":
    """A row for each opponent in the learning of a role: the gain against it, and the changes of other figures."""
    names = [*rows[0]["beside"]]
    columns = [
        Column("against", [row["opponents"] or "as set" for row in rows], words=True),
        Column("without", [score_text(row["without"], unit) for row in rows], drop=1),
        Column("gain", [score_text(row["paired"]["gain"], unit, sign=True) for row in rows]),
        Column("95 %", [_score_interval(row["paired"]["ci95"], unit) for row in rows]),
        Column("over invented", [_over_text(row["over_control"], unit) for row in rows], drop=3),
        Column("won, lost", [f"{row['paired']['wins']}, {row['paired']['losses']}" for row in rows], drop=2),
    ]
    for name in names:
        changes = [(row["beside"][name]["paired"], row["beside"][name]["unit"]) for row in rows]
        gains = [score_text(change["gain"], of, sign=True) for change, of in changes]
        columns.append(Column(name.replace("_", " "), gains))
        columns.append(Column("95 %", [_score_interval(change["ci95"], of) for change, of in changes], drop=3))
    return fit_table(columns, width)


def _over_text(paired: Mapping[str, Any] | None, unit: str | None) -> str:
    return score_text(paired["gain"], unit, sign=True) if paired else ""


CONTENDERS = {
    "none": "no playbook",
    "playbook": "the playbook",
    "placebo": "placebo: permuted bullets",
    "invented": "control: invented numbers",
    "icl": "raw examples, equal tokens",
    "gepa": "GEPA",
    "cheatsheet": "dynamic cheatsheet",
    "reasoning-bank": "reasoning bank",
}


def against_table(rows: Sequence[Mapping[str, Any]], unit: str | None, width: int) -> "RenderableType":
    """A row a contender, from the document of a learning; the unit is that of the scores of runs."""
    return fit_table(
        [
            Column("learned by", [translate(contender_name(row)) for row in rows], words=True),
            Column("score", [_score(row, unit) for row in rows]),
            Column("gain", [_gain_points(row, "gain", unit) for row in rows]),
            Column("95 %", [_gain_interval(row, "gain", unit) for row in rows], drop=4),
            Column("over control", [_gain_points(row, "over_control", unit) for row in rows], drop=3),
            Column("playbook minus it", [_gain_points(row, "playbook_minus", unit) for row in rows]),
            Column("95 %", [_gain_interval(row, "playbook_minus", unit) for row in rows]),
            Column("saw right answers", [_saw_text(row) for row in rows], drop=2),
            Column("tokens to learn", [f"{row['learning_tokens']:,}" for row in rows], drop=5),
            Column("tokens a task", [f"{row['tokens_a_task']:,.0f}" for row in rows], drop=6),
            Column("in context", [f"{row['injected']:,.0f}" for row in rows], drop=1),
        ],
        width,
    )


def _saw_text(row: Mapping[str, Any]) -> str:
    saw = row["saw_right_answers"]
    return "" if saw is None else translate("yes" if saw else "no")


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
        interval, points = _gain_interval(row, "playbook_minus", unit), "" if _is_run(row) else " points"
        within = f" ({interval})" if interval else ""
        match row["verdict"]:
            case "behind":
                gain = f"{_amount(row, -minus['gain'], unit)}{points}{within}"
                yield f"The playbook loses to {name} by {gain}."
            case "ahead":
                yield f"The playbook is {_amount(row, minus['gain'], unit)}{points} ahead of {name}{within}."
            case _:
                gain = f"{_gain_points(row, 'playbook_minus', unit)}{points}{within}"
                yield f"No difference from {name} is shown: {gain}."
    yield from _parity_lines(rows)


ON_RUNS = {"placebo": "placebo: lessons of another world", "icl": "raw excerpts of runs, equal tokens"}
"""Contenders that are something else where the tasks are runs of a world."""


def contender_name(row: Mapping[str, Any]) -> str:
    """The contender of a row, in words."""
    name = str(row["name"])
    return {**CONTENDERS, **(ON_RUNS if _is_run(row) else {})}.get(name, name)


def _is_run(row: Mapping[str, Any]) -> bool:
    """Whether the scores of a row are those of runs, and not shares of tasks."""
    return row["accuracy"] is None


def _score(row: Mapping[str, Any], unit: str | None) -> str:
    return score_text(row["score"], unit) if _is_run(row) else f"{row['score']:.1%}"


def _amount(row: Mapping[str, Any], gain: float, unit: str | None, *, sign: bool = False) -> str:
    return score_text(gain, unit, sign=sign) if _is_run(row) else f"{100 * gain:{'+' * sign}.1f}"


def _gain_points(row: Mapping[str, Any], name: str, unit: str | None) -> str:
    return "" if row[name] is None else _amount(row, row[name]["gain"], unit, sign=True)


def _gain_interval(row: Mapping[str, Any], name: str, unit: str | None) -> str:
    paired: Mapping[str, Any] | None = row[name]
    ends: Sequence[float] = paired["ci95"] or () if paired else ()
    return _between([_amount(row, end, unit, sign=True) for end in ends])
