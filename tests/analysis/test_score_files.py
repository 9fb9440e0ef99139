"""Files of scores that other programs wrote, made here by their documented shapes: differences worked by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.cli import main
from akinai.core.errors import UsageError
from akinai.core.statistics import PairedComparison

A = {"q1": [0, 1], "q2": [0, 0], "q3": [1, 1], "q4": [0, 0], "q5": [0, 1], "q6": [0, 0]}
B = {"q1": [1, 1], "q2": [1, 0], "q3": [1, 1], "q4": [1, 1], "q5": [1, 1], "q6": [1, 1]}
"""Two epochs each: differences 0.5, 0.5, 0, 1, 0.5, 1, with mean 3.5 / 6; all of one sign but a tie, p 2 x 2 / 64."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_lines(name: str, rows: list[dict[str, Any]]) -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return name


def tau2(name: str, values: dict[str, list[int]], domain: str = "retail", **more: Any) -> str:
    simulations = [
        {"id": f"{id}-{trial}", "task_id": id, "trial": trial, "termination_reason": "user_stop",
         "reward_info": {"reward": float(value)}, "messages": []}
        for id, trials in values.items() for trial, value in enumerate(trials)
    ]  # fmt: skip
    info = {"environment_info": {"domain_name": domain}, "agent_info": {"llm": f"lab/{name}"}, "num_trials": 2}
    simulations += more.get("simulations", [])
    Path(name).write_text(json.dumps({"info": info, "tasks": [], "simulations": simulations}), encoding="utf-8")
    return name


def verifiers(name: str, values: dict[str, list[int]], env: str = "arith") -> str:
    rows = [
        {"example_id": int(id[1:]), "prompt": [], "completion": [], "reward": float(value), "format": 1.0,
         "total_ms": 12.5, "task": "default"}
        for epoch in (0, 1) for id, epochs in values.items() for value in [epochs[epoch]]
    ]  # fmt: skip
    write_lines(f"{name}/results.jsonl", rows)
    Path(name, "metadata.json").write_text(json.dumps({"env_id": env, "model": f"lab/{name}"}), encoding="utf-8")
    return f"{name}/results.jsonl"


def table(name: str, values: dict[str, list[int]]) -> str:
    rows = [(id, epoch, value) for id, epochs in values.items() for epoch, value in enumerate(epochs, 1)]
    if name.endswith(".csv"):
        lines = ["sample,epoch,score", *(f"{id},{epoch},{value}" for id, epoch, value in rows)]
        Path(name).write_text("\n".join(lines), encoding="utf-8")
        return name
    return write_lines(name, [{"sample": id, "epoch": epoch, "score": value} for id, epoch, value in rows])


def expect_by_hand(paired: PairedComparison) -> None:
    assert (paired.pairs, paired.ties) == (6, 1)
    assert paired.difference == pytest.approx(3.5 / 6)
    assert (paired.p, paired.sd_difference) == (4 / 64, pytest.approx((17 / 24 / 5) ** 0.5))


def test_tau2_by_hand() -> None:
    """Trials are epochs; a simulation that the infrastructure broke has no score, whatever reward stands there."""
    broken = {"task_id": "q6", "trial": 2, "termination_reason": "infrastructure_error", "reward_info": {"reward": 0}}
    unjudged = {"task_id": "q7", "trial": 0, "termination_reason": "user_stop", "reward_info": None}
    comparison = akinai.compare_logs(tau2("a.json", A), tau2("b.json", B, simulations=[broken, unjudged]))
    expect_by_hand(comparison["reward"].paired)
    assert (comparison.a.model, comparison.a.task, comparison.b.lost) == (
        "lab/a.json",
        "retail",
        {"failed": 1, "unscored": 1},
    )
    with pytest.raises(UsageError, match="'airline'; compare files of one task"):
        akinai.compare_logs("a.json", tau2("c.json", B, domain="airline"))


def test_lm_eval_by_hand() -> None:
    """Each filter is a score of its own, and the task is in the file's name."""
    sides = [
        write_lines(
            f"{side}/samples_gsm8k_2026-01-01T00-00-00.000000.jsonl",
            [
                {"doc_id": doc, "target": "1", "filter": kind, "metrics": ["exact_match"], "exact_match": value}
                for kind, factor in (("strict-match", 1), ("flexible-extract", 0))
                for doc, value in enumerate(factor * epochs[0] for epochs in values.values())
            ],
        )
        for side, values in (("a", A), ("b", B))
    ]
    comparison = akinai.compare_logs(*sides)
    strict, flexible = (comparison[f"exact_match,{kind}"].paired for kind in ("strict-match", "flexible-extract"))
    # 1, 1, 0, 1, 1, 1
    assert (comparison.a.task, strict.difference, strict.p) == ("gsm8k", pytest.approx(5 / 6), 4 / 64)
    assert (flexible.difference, flexible.p, flexible.ties) == (0, 1, 6)


def test_verifiers_by_hand() -> None:
    """Rollouts of an example are its epochs; times are no scores, and environment and model are beside the file."""
    comparison = akinai.compare_logs(verifiers("a", A), verifiers("b", B))
    expect_by_hand(comparison["reward"].paired)
    assert list(comparison.scores) == ["reward", "format"]
    assert (comparison.a.task, comparison.b.model) == ("arith", "lab/b")


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_tables_by_hand(ending: str) -> None:
    """Columns for sample, epoch and score, in either form."""
    expect_by_hand(akinai.compare_logs(table(f"a{ending}", A), table(f"b{ending}", B))["score"].paired)


def test_columns_may_be_named() -> None:
    """A table whose columns have names of their own; a name that it lacks is refused with those it has."""
    for side, values in (("a", A), ("b", B)):
        write_lines(f"{side}.jsonl", [{"question": id, "grade": epochs[0]} for id, epochs in values.items()])
    named = akinai.compare_logs("a.jsonl", "b.jsonl", columns="sample=question,score=grade")
    assert named["grade"].paired.difference == pytest.approx(5 / 6)
    with pytest.raises(UsageError, match=r"no column for sample \(question, grade\)"):
        akinai.compare_logs("a.jsonl", "b.jsonl")
    with pytest.raises(UsageError, match="no column 'mark'"):
        akinai.compare_logs("a.jsonl", "b.jsonl", columns="sample=question,score=mark")
    with pytest.raises(UsageError, match="--columns wants"):
        akinai.compare_logs("a.jsonl", "b.jsonl", columns="colour=red")


def _spreadsheet(name: str, values: list[float]) -> None:
    cells = [f'"q{i}";"Is it, or not?";{value};'.replace(".", ",", 1) for i, value in enumerate(values)]
    text = "\r\n".join(["ID;Question;Score;Comment", *cells, "q9;no answer;;", ""])
    Path(name).write_text(f"\ufeff{text}", encoding="utf-8", newline="")


def _in_words(name: str, values: list[float]) -> None:
    words = {0: ("False", "fail", "0.0", "0%"), 0.5: ("0.5", "50%", "P", "50.0 %"), 1: ("True", "PASS", "1.0", "100%")}
    rows = [f"{i}\t{words[value][i % 4]}\tmore" for i, value in enumerate(values)]
    Path(name).write_text("\n".join(["Sample ID\tCorrect\tExtra", *rows, "9\tN/A\t"]), encoding="utf-8")


def _graded(name: str, values: list[float]) -> None:
    grades: list[Any] = [{"value": value, "explanation": "because"} for value in values]
    write_lines(name, [{"id": i, "score": grade} for i, grade in enumerate([*grades, None])])


def _wrapped(name: str, values: list[float]) -> None:
    rows: list[Any] = [
        {"task-id": i, "Scores": {"quality": value, "length": 7, "why": "x"}} for i, value in enumerate(values)
    ]
    document = {"model": "lab/m", "results": [*rows, {"task-id": 9, "Scores": {"why": "y"}}], "tags": []}
    Path(name).write_text(json.dumps(document, indent=1), encoding="utf-8")


def _within(name: str, values: list[float]) -> None:
    rows: list[dict[str, Any]] = [
        {"id": i, "epoch": 1 if i % 2 else None, "run": {"grade": f"{value}"}} for i, value in enumerate(values)
    ]
    write_lines(name, [*rows, {"id": 9, "run": {"grade": ""}}])


@pytest.mark.parametrize(
    ("write", "ending", "score", "columns"),
    [
        (_spreadsheet, "csv", "Score", None),
        (_in_words, "csv", "Correct", None),
        (_graded, "jsonl", "score", None),
        (_wrapped, "json", "quality", None),
        (_within, "jsonl", "run.grade", "score=run.grade"),
    ],
)
def test_tables_as_people_write_them(
    write: Callable[[str, list[float]], None], ending: str, score: str, columns: str | None
) -> None:
    """With a byte order mark, semicolons and commas in numbers, tabs, heads in words, verdicts and percentages, grades
    that are objects, rows within a document: the same differences, and what has no score is counted."""
    a, b = [0, 0.5, 0, 1, 0, 0], [1, 0.5, 1, 1, 0.5, 1]
    for side, values in (("a", a), ("b", b)):
        write(f"{side}.{ending}", values)
    comparison = akinai.compare_logs(f"a.{ending}", f"b.{ending}", columns=columns)
    paired = comparison[score].paired
    assert next(iter(comparison.scores)) == score
    assert (paired.pairs, paired.difference, paired.p) == (6, pytest.approx(3.5 / 6), 8 / 64)
    assert (comparison.a.lost, comparison.b.lost) == ({"unscored": 1}, {"unscored": 1})


def test_a_column_without_any_number_is_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with its first value, and says which option names another column."""
    for side in "ab":
        Path(f"{side}.csv").write_text("id,score,grade\n1,,1\n2,fine work,0\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no row has a number as its 'score', the first is 'fine work'; --columns"):
        akinai.compare_logs("a.csv", "b.csv")
    assert akinai.compare_logs("a.csv", "b.csv", columns="score=grade")["grade"].paired.pairs == 2


def test_rows_in_no_figure_are_counted_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Of another task, failed, without a score, and repeated: counted in the document and said on the page."""
    rows = [{"task": "x", "sample": n, "epoch": 1, "score": n % 2} for n in range(7)]
    more = [
        {"task": "y", "sample": 1, "epoch": 1, "score": 1},
        {"task": "x", "sample": 5, "epoch": 2, "score": 1, "error": "timeout"},
        {"task": "x", "sample": 6, "epoch": 2, "score": None},
        {"task": "x", "sample": 6, "epoch": 1, "score": 0},
    ]
    write_lines("a.jsonl", rows), write_lines("b.jsonl", rows + more)
    comparison = akinai.compare_logs("a.jsonl", "b.jsonl")
    assert comparison.b.lost == {"of another task": 1, "failed": 1, "unscored": 1, "repeated": 1}
    assert comparison.to_json()["b"]["lost"] == comparison.b.lost  # pyright: ignore[reportIndexIssue, reportCallIssue, reportArgumentType, reportOptionalSubscript]  a document
    with pytest.raises(SystemExit):
        main(["compare", "a.jsonl", "b.jsonl"])
    page = " ".join(capsys.readouterr().out.split())
    assert "Rows of b.jsonl in no figure: 1 repeated, 1 of another task, 1 unscored, 1 failed." in page


def test_what_is_no_file_of_scores_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Broken lines, empty files, another format than the named one, and flags of files beside runs."""
    Path("a.jsonl").write_text('{"sample": 1, "score": 1}\n{oh', encoding="utf-8")
    Path("e.csv").write_text("sample,score\n", encoding="utf-8")
    table("b.csv", B)
    for pair, why in ((("a.jsonl", "b.csv"), "line 2"), (("e.csv", "b.csv"), "has no row")):
        with pytest.raises(UsageError, match=why):
            akinai.compare_logs(*pair)
    with pytest.raises(UsageError, match="no file of scores of the format tau2"):
        akinai.compare_logs("b.csv", "b.csv", file_format="tau2")
    with pytest.raises(SystemExit):
        main(["compare", "b.csv", "b.csv", "--format", "xml"])
    assert "--format is one of inspect, tau2, lm-eval, verifiers, table" in capsys.readouterr().err


def test_a_row_whose_status_says_that_it_broke_has_no_score() -> None:
    """It is counted as failed, whatever number stands there; a table without a task has none in its title."""
    Path("a.csv").write_text("sample,score\n" + "".join(f"q{i},0\n" for i in range(8)), encoding="utf-8")
    rows = ("ok", "passed", "", "done", "ok", "ok", "Failed", "error")
    Path("b.csv").write_text(
        "sample,score,status\n" + "".join(f"q{i},1,{status}\n" for i, status in enumerate(rows)), encoding="utf-8"
    )
    comparison = akinai.compare_logs("a.csv", "b.csv")
    assert (comparison["score"].paired.pairs, dict(comparison.b.lost)) == (6, {"failed": 2})
