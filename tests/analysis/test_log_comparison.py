"""Logs of Inspect AI compared, of any task. Here they are written by hand; tests/adapters compares Inspect's own."""

import json
import math
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.analysis.eval_logs import as_number
from akinai.cli import main
from akinai.core.errors import UsageError

Value = Any


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, values: dict[str, list[Value]], topics: dict[str, str] | None = None, **spec: Any) -> str:
    """A log with these values by sample, one for each epoch; None is an error. `topics` go into the metadata."""
    summaries: list[dict[str, Any]] = [
        {
            "id": id,
            "epoch": epoch,
            "metadata": {"topic": topics[id]} if topics else {},
            "scores": None if value is None else {"match": {"value": value}},
        }
        for id, epochs in values.items()
        for epoch, value in enumerate(epochs, 1)
    ]
    task = {"task": "arc", "task_version": 1, "task_args": {"shots": 5}, "model": f"lab/{name}"}
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": {**task, **spec}}))
        log.writestr("summaries.json", json.dumps(summaries))
    return name


def test_the_interval_is_that_of_a_computation_by_hand() -> None:
    """Epochs are averaged, then samples paired: differences 0.5, 0, 1, 0.5, twice, with mean 0.5 and variance 1/7."""
    side_a = {"1": ["C", "I"], "2": ["C", "C"], "3": ["I", "I"], "4": ["I", "I"]}
    side_b = {"1": ["C", "C"], "2": ["C", "C"], "3": ["C", "C"], "4": ["I", "C"]}
    a = write("a.eval", side_a | {f"1{id}": values for id, values in side_a.items()})
    b = write("b.eval", side_b | {f"1{id}": values for id, values in side_b.items()})
    score = akinai.compare_logs(a, b)["match"]
    assert (score.mean_a, score.mean_b, score.paired.pairs) == (0.375, 0.875, 8)
    # of 256 parts of the line 5 lie beyond each end: the subsets' means are three times 0, then four times 0.5 / 3;
    # Student's interval, 0.5 -+ 2.3646 sqrt(1 / 56) = 0.184 and 0.816, lies within
    assert score.paired.ci95 == pytest.approx((0.5 / 3, 1 - 0.5 / 3))
    # six differences are not 0: all of one sign is 2 of 64; Student's t of 0.5 / sqrt(1 / 56) = 3.742 is p .0073
    assert score.paired.p == pytest.approx(2 / 64)


def test_samples_of_a_cluster_count_as_one_draw() -> None:
    """Six differences in three clusters of means 0, 1 and 2: too few clusters to show anything, whatever the samples."""
    topics = {"1": "x", "2": "x", "3": "y", "4": "y", "5": "z", "6": "z"}
    a = write("a.eval", {id: [0] for id in topics}, topics)
    b = write("b.eval", {"1": [0], "2": [0], "3": [0], "4": [2], "5": [2], "6": [2]}, topics)
    score = akinai.compare_logs(a, b, cluster="topic")["match"]
    assert (score.clusters, score.paired.pairs, score.paired.difference) == (3, 6, 1)
    assert (score.paired.ci95, score.paired.p, score.paired.sd_difference) == (None, 0.5, 1)
    assert akinai.compare_logs(a, b)["match"].clusters is None
    with pytest.raises(UsageError, match="has no 'colour' in its metadata"):
        akinai.compare_logs(a, b, cluster="colour")


def test_samples_that_make_no_pair_are_counted() -> None:
    """Those of one log alone, and those without a score on a side."""
    a = write("a.eval", {"1": [1], "2": [2], "3": [None], "4": [4], "5": [5]})
    b = write("b.eval", {"1": [2], "2": [3], "3": [3], "4": [None], "6": [6]})
    paired = akinai.compare_logs(a, b)["match"].paired
    counts = paired.pairs, paired.failed_a, paired.failed_b, paired.only_a, paired.only_b
    assert (counts, paired.difference) == ((2, 1, 1, 1, 1), 1)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"task": "gpqa"}, "of the task 'arc', version 1, and b.eval of 'gpqa'"),
        ({"task_version": 2}, "version 1, and b.eval of 'arc', version 2"),
        ({"task_args": {"shots": 0}}, r"other arguments \(shots: 5 and 0\)"),
        ({"task_args": {"shots": 5, "cot": True}}, r"cot: .* and True"),
    ],
)
def test_logs_of_different_tasks_or_arguments_are_refused(spec: dict[str, Any], why: str) -> None:
    """And the error says in what they differ."""
    a, b = write("a.eval", {"1": [1]}), write("b.eval", {"1": [1]}, **spec)
    with pytest.raises(UsageError, match=why):
        akinai.compare_logs(a, b)


def test_logs_of_akinai_are_alike_by_their_settings() -> None:
    """An exported run and another of other seeds are of the same task; of other settings they are not."""
    store = "runs.db"
    for name, seeds, days, agent in (("a", [1, 2], 2, "idle"), ("b", [2, 3], 2, "naive"), ("c", [1], 3, "idle")):
        akinai.run("vending", agent=agent, days=days, seeds=seeds, name=name, store=store, preset="classic")
        akinai.export(name, format="inspect", store=store)
    native = akinai.compare("a", "b", store=store)["net_worth"].paired
    paired = akinai.compare_logs("a.eval", "b.eval")["net_worth"].paired
    assert native is not None
    assert (paired.pairs, paired.difference) == (1, native.difference)
    with pytest.raises(UsageError, match="other settings"):
        akinai.compare_logs("a.eval", "c.eval")


def test_the_command_compares_them(capsys: pytest.CaptureFixture[str]) -> None:
    """A table for people, a document for programs; a log against a run is refused, and so is a broken file."""
    values = {str(id): [id % 3 == 0] for id in range(12)}
    write("a.eval", values)
    write("b.eval", {id: [True] for id in values})
    Path("broken.eval").write_bytes(b"PK")

    def shell(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exit:
            main(["compare", *words])
        return int(exit.value.code or 0), *capsys.readouterr()

    code, text, _ = shell("a.eval", "b.eval", "--gain", "0.1")
    assert code == 0
    assert re.match(
        r"match is 0.667 higher with b.eval on average than with a.eval, between \S+ and \S+ at 95 %\.",
        " ".join(text.split()),
    )
    assert "12 pairs by sample id" in text
    assert "Smallest visible" in text
    document = json.loads(shell("a.eval", "b.eval", "--json")[1])
    assert document["scores"]["match"]["difference"] == pytest.approx(8 / 12)
    assert shell("a.eval", "some-run")[0] == 2
    for words, why in (
        (("a.eval", "broken.eval"), "is no log of Inspect AI"),
        (("a.eval", "nothing.eval"), "'nothing.eval' cannot be read"),
        (("run-a", "run-b", "--cluster", "x"), "about files of scores"),
    ):
        code, _, error = shell(*words)
        assert (code, why in error, len(error.splitlines())) == (2, True, 1)


def test_scores_in_words_count_as_inspect_counts_them() -> None:
    """Correct, partial and incorrect, yes and no, numbers in text; anything else is no number."""
    words = ["C", "I", "P", "N", "yes", "False", "0.25", True, 3, "none", math.nan, math.inf, None]
    assert [as_number(word) for word in words] == [1, 0, 0.5, 0, 1, 0, 0.25, 1, 3, None, None, None, None]
