"""The figures of a learning as tables of numbers, from its document: scores, contenders, and what else was measured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import label

IN_PERCENT = "Accuracy in percent, gains in points"


class _Scores(NamedTuple):
    """A row of scores with the playbook and without."""

    name: str
    unit: str | None
    n: int
    paired: Mapping[str, Any] | None
    over: Mapping[str, Any] | None
    """What the playbook has over its control."""
    without: Mapping[str, Any] | None
    judged: Mapping[str, Any] | None


def scores_table(document: Mapping[str, Any]) -> Grid:
    """A row for each split, or for the runs of each opponent; amounts are paired task by task, or run by run."""
    rows = [*(_run_scores(document) if document["world"] else _task_scores(document))]
    if document["test"]:
        rows += _task_scores(document["test"])
    units = [row.unit for row in rows]
    return Grid(
        [
            Column("judged", [row.name for row in rows], words=True),
            Column("n", [row.n for row in rows], drop=1),
            _amounts("without a playbook", units, [row.without for row in rows], "value"),
            _amounts("with it", units, [row.judged for row in rows], "value"),
            _amounts("gain", units, [row.paired for row in rows]),
            _amounts("over its control", units, [row.over for row in rows], drop=3),
            Column("wins", [row.paired["wins"] if row.paired else None for row in rows], drop=2),
            Column("losses", [row.paired["losses"] if row.paired else None for row in rows], drop=2),
        ],
        "" if document["world"] else IN_PERCENT,
    )


def _amounts(
    head: str,
    units: Sequence[str | None],
    records: Iterable[Mapping[str, Any] | None],
    name: str = "gain",
    drop: int = 0,
) -> Column:
    """The number of this name in each record, with its interval; money is in dollars there."""
    values: list[float | None] = []
    ends: list[tuple[float, float] | None] = []
    for unit, record in zip(units, records, strict=True):
        part = 100 if unit == "dollars" else 1
        value, interval = (record[name], record.get("ci95")) if record else (None, None)
        values.append(None if value is None else part * value)
        ends.append((part * interval[0], part * interval[1]) if interval else None)
    cents = ["cents" if unit == "dollars" else unit or "" for unit in units]
    return Column(head, values, drop=drop, unit=cents, ends=ends if any(ends) else (), sign=name == "gain")


def _task_scores(judged: Mapping[str, Any]) -> Iterator[_Scores]:
    """Accuracy, the mean mark where answers may be right in part, and accuracy on tasks that no bullet has seen."""
    split, right, clean = judged["split"], judged["accuracy"], judged["clean_accuracy"]
    if not right or not right["n"]:
        return
    n, shares = right["n"], (judged["baseline_accuracy"], right)
    without, marked = (
        judged[name] if judged[name] is None else {"value": judged[name]} for name in ("without", "with")
    )
    paired, over = judged["paired"], judged["control"] and judged["control"]["paired"]
    marks = zip((without, marked), shares, strict=True)
    if any(mark and share and abs(mark["value"] - share["value"]) > 1e-9 for mark, share in marks):
        yield _Scores(f"accuracy on {split}", "points", n, None, None, *shares)
        yield _Scores(f"mean mark on {split}", "points", n, paired, over, without, marked)
    else:
        yield _Scores(f"accuracy on {split}", "points", n, paired, over, *shares)
    if clean and clean["n"]:
        seen_by_none = f"accuracy on {split} tasks that nothing was learned from"
        yield _Scores(seen_by_none, "points", clean["n"], None, None, None, clean)


def _run_scores(document: Mapping[str, Any]) -> Iterator[_Scores]:
    """The score over all runs, and against each opponent with the figures that say what the gain does to others."""

    def scores(name: str, unit: str | None, n: int, of: Mapping[str, Any], over: Mapping[str, Any] | None) -> _Scores:
        without, judged = ({"value": of[side]} if of[side] is not None else None for side in ("without", "with"))
        return _Scores(name, unit, n, of["paired"], over, without, judged)

    unit, control = document["unit"], document["control"]
    sides: Sequence[Mapping[str, Any]] = document["opponents"] or ()
    yield scores("score", unit, document["runs"], document, control and control["paired"])
    for side in sides:
        against = f" against {side['opponents']}" if len(sides) > 1 else ""
        if against:
            yield scores(f"score{against}", unit, side["runs"], side, side["over_control"])
        beside: Mapping[str, Mapping[str, Any]] = side["beside"]
        for name, figures in beside.items():
            yield scores(f"{label(name)}{against}", figures["unit"], side["runs"], figures, None)


def measured_table(document: Mapping[str, Any]) -> Grid:
    """What a learning measured beside the scores; what does not apply is left out."""
    names, values, units = zip(*_measured(document), strict=True)
    return Grid([Column("figure", names, words=True), Column("value", values, unit=units)], "Also measured")


def _measured(document: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    of_tasks = not document["world"]
    for judged, which, among in ((document, "judged", "them"), (document["test"], "test", "the test tasks")):
        if judged and (seen := seen_tasks(judged)):
            yield f"{which} tasks that were learned from", seen, ""
        if judged and (near := judged["near_copies"]):
            yield f"near copies of learned tasks among {among}", near, ""
    for tried in document["selected"]:
        when = f"epoch {tried['epoch']}, {tried['tasks']:,} tasks" if tried["epoch"] else "before learning"
        yield f"score on held-out tasks, {when}{' (kept)' if tried['best'] else ''}", tried["score"], ""
    for epoch in document["improvement_rate"]:
        yield f"accuracy in training, epoch {epoch['epoch']}", epoch["accuracy"], "percent"
        if epoch["rate"] is not None:
            yield f"improvement of that, epoch {epoch['epoch']}", epoch["rate"], "percent"
    if failed := document["failed"]:
        without = "tasks without a readable answer" if of_tasks else "runs that broke or were unreadable, counted as 0"
        yield without, failed, ""
    yield "bullets in the playbook", document["playbook_size"], ""
    if of_tasks:
        yield "tokens given to a task", document["tokens"]["injected"], ""
        yield "tokens of all bullets there", document["tokens"]["injected_all"], ""
    for epoch in document["training"]:
        when = f"epoch {epoch['epoch']}{'' if epoch['finished'] else ', unfinished'}"
        yield f"operations learned, {when}", epoch["learned"], ""
        yield from _counts("operations asked for again", epoch["asked_again"], when)
        yield from _counts("operations turned down by the gate", epoch["gated"], when)
        yield from _counts("refused", epoch["refused"], when)
        yield from _counts("tasks without an answer", epoch["failed"], when)
        yield from _counts("reflections and curations given up", epoch["given_up"], when)
        yield from _counts("unreadable replies", epoch["unreadable"], when)
    if (spent := document["spent"])["calls"]:
        yield "replies of models", spent["calls"], ""
        yield from _counts("unreadable replies", spent["unreadable"], "judging included")
        yield "tokens sent", spent["input"], ""
        yield "tokens answered", spent["output"], ""
    yield "seconds", round(document["seconds"], 1), ""


def _counts(words: str, count: int | Mapping[str, int], when: str) -> Iterator[tuple[str, float, str]]:
    """A row for a count, or for each reason; none for a count of 0."""
    reasons = {"": count} if isinstance(count, int) else {f" ({name})": n for name, n in sorted(count.items())}
    yield from ((f"{words}{reason}, {when}", n, "") for reason, n in reasons.items() if n)


def seen_tasks(judged: Mapping[str, Any]) -> int:
    """Judged tasks that were learned from, as far as that is known."""
    clean = judged["clean_accuracy"]
    return judged["accuracy"]["n"] - clean["n"] if clean else 0


def contest_table(rows: Sequence[Mapping[str, Any]], unit: str | None) -> Grid:
    """A row a contender; the unit is that of the scores of runs."""
    units = [unit if is_run(row) else "points" for row in rows]
    saw = [{None: "", True: "yes", False: "no"}[row["saw_right_answers"]] for row in rows]
    return Grid(
        [
            Column("learned by", [contender_name(row) for row in rows], words=True),
            _amounts("score", units, rows, "score"),
            _amounts("gain", units, [row["gain"] for row in rows], drop=3),
            _amounts("over control", units, [row["over_control"] for row in rows], drop=4),
            _amounts("playbook minus it", units, [row["playbook_minus"] for row in rows]),
            Column("saw right answers", saw, words=True, drop=2),
            Column("tokens to learn", [row["learning_tokens"] for row in rows], drop=5),
            Column("tokens a task", [row["tokens_a_task"] for row in rows], drop=6),
            Column("in context", [row["injected"] for row in rows], drop=1),
        ],
        "" if is_run(rows[0]) else IN_PERCENT,
    )


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
ON_RUNS = {"placebo": "placebo: lessons of another world", "icl": "raw excerpts of runs, equal tokens"}
"""Contenders that are something else where the tasks are runs of a world."""


def contender_name(row: Mapping[str, Any]) -> str:
    """The contender of a row, in words."""
    name = str(row["name"])
    return {**CONTENDERS, **(ON_RUNS if is_run(row) else {})}.get(name, name)


def is_run(row: Mapping[str, Any]) -> bool:
    """Whether the scores of a row are those of runs, and not shares of tasks."""
    return row["accuracy"] is None
