"""Graded checks by configuration: their scores, what they refuse, and that no report holds the right answer."""

import asyncio
import json
from pathlib import Path

import pytest
from learners_for_tests import codes

from akinai.core.errors import UnknownName, UsageError
from akinai.learning.roles.protocols import Trajectory
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.learning.roles.tasks import Grade, Task, grade, labels
from akinai.runtime.learn.checks import find_check
from akinai.runtime.learn.data_sets import find_data_set
from together import together

OWN = """
from akinai.learning.roles.tasks import Grade
def half(truth, answer): return 0.5
def why(truth, answer): return Grade(0.25, "too long")
def broken(truth, answer): return 1 / 0
def nothing(truth, answer): return "yes"
"""


@together(
    ("check", "truth", "answer", "score"),
    [
        ("contains", "10", "The answer is 10.", 1),
        ("contains", "10", "The answer is 100", 0),
        ("contains", "10", "It costs 10.50", 0),
        ("contains", "東京", "答えは東京です", 1),
        ("contains", "C++", "use c++ here", 1),
        ("parts", "red; green; blue", "Green and red", 2 / 3),
        ("parts", "red\nred; blue", "blue", 0.5),
        ("parts", "art; cart", "cart", 0.5),
        ("regex", r"\d{4}-\d\d", " 2026-11 ", 1),
        ("regex", r"\d{4}", "in 2026", 0),
        ("number:0.05", "100", "104", 1),
        ("number:0.05", "100", "106", 0),
        ("exact", "a", "", 0),
    ],
)  # fmt: skip
def test_a_check_scores_as_its_name_says(check: str, truth: str, answer: str, score: float) -> None:
    """Whole words count, shares are shares, and an empty answer is worth nothing."""
    assert grade(find_check(check), truth, answer).score == pytest.approx(score)


async def test_a_partly_right_answer_is_not_right_and_its_report_hides_the_truth() -> None:
    """The score is the share; the report names numbers and the answer, not the parts that are missing."""
    evaluator = AnswerEvaluator(find_check("parts"))
    evaluation = await evaluator.evaluate(Task("t", "Which?", "canary7; blue"), Trajectory("t", "blue"))
    assert (evaluation.right, evaluation.score) == (False, 0.5)
    assert "1 of 2 parts" in evaluation.report
    assert "canary7" not in evaluation.report


def test_a_function_beside_the_settings_is_found(folder: Path) -> None:
    """`module:function` is looked for in the working folder first; it may return a score or a grade with a report."""
    Path("my_checks.py").write_text(OWN)
    assert grade(find_check("my_checks:half"), "a", "b").score == 0.5
    assert grade(find_check("my_checks:why"), "a", "b") == Grade(0.25, "too long")
    Path("akinai.toml").write_text(
        "[learn.tasks.mine]\ntrain = 't.jsonl'\ntask = '{q}'\ntruth = 'a'\ncheck = 'my_checks:half'\n"
    )
    assert grade(find_data_set("mine").check, "a", "b").score == 0.5
    for name, why in {"broken": "ZeroDivisionError", "nothing": "returned 'yes'"}.items():
        with pytest.raises(UsageError, match=why):
            grade(find_check(f"my_checks:{name}"), "a", "b")


async def test_a_command_judges_by_exit_code_or_score(folder: Path) -> None:
    """It reads truth and answer as JSON, and its other lines are the report; other exit codes are an error."""
    Path("judge.py").write_text(
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "if asked['answer'] == 'crash': sys.exit(7)\n"
        "if asked['answer'] == 'half': print('0.5\\nonly the first part ran')\n"
        "sys.exit(asked['answer'] != asked['truth'])\n"
    )
    check = find_check("command:python judge.py")
    assert [grade(check, "a", answer).score for answer in ("a", "b", "half")] == [1, 0, 0.5]
    evaluation = await AnswerEvaluator(check).evaluate(Task("t", "?", "a"), Trajectory("t", "half"))
    assert (evaluation.right, evaluation.score) == (False, 0.5)
    assert "only the first part ran" in evaluation.report
    with pytest.raises(UsageError, match="ended with code 7"):
        grade(check, "a", "crash")


@together(
    ("name", "why"),
    [("exakt", "did you mean 'exact'"), ("number:x", "relative tolerance"), ("command:", "names no program"),
     ("command:'a", "quotation"), ("command:./nowhere x", "there is no program"), ("nowhere:f", "No module named"), ("json:nothing", "no attribute"),
     ("json:__name__", "give a function")],
)  # fmt: skip
def test_a_check_that_cannot_be_is_refused(name: str, why: str) -> None:
    """Before anything is learned, in one sentence."""
    with pytest.raises((UsageError, UnknownName), match=why):
        find_check(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text("\n".join(json.dumps({"q": task.text, "a": task.truth}) for task in codes(1, 2)))
    return tmp_path


@together(
    ("check", "truth", "answer", "score"),
    [
        ("contains", "fox", "the fox", 1.0),
        ("contains", "fox", "fox, hen, owl or cat", 0.25),
        ("contains", "fox", "hen, owl", 0.0),
        ("contains", "red fox", "the red fox", 1.0),
        ("parts", "fox; hen", "fox and hen", 1.0),
        ("parts", "fox; hen", "fox hen owl cat", 0.5),
        ("parts", "fox; hen", "fox", 0.5),
        ("exact", "fox", "fox", 1.0),
    ],
)
def test_naming_every_option_pays_no_more_than_a_lot(check: str, truth: str, answer: str, score: float) -> None:
    """Where the truth is looked for inside an answer, several options in it share one option's worth."""
    options = ["fox", "red fox", "hen", "owl", "cat"] if "red" in truth else ["fox", "hen", "owl", "cat"]
    task = Task("t", "Who?", truth, data={"question": "Who?", "choices": options})
    graded = asyncio.run(AnswerEvaluator(find_check(check)).evaluate(task, Trajectory("t", answer)))
    assert graded.score == score
    without = Task("t", "Who?", truth)
    assert asyncio.run(AnswerEvaluator(find_check(check)).evaluate(without, Trajectory("t", answer))).score >= score


def test_labels_are_right_answers_that_recur() -> None:
    """Tasks that all choose from a few words have labels; free answers and numbers have none."""
    assert labels([Task(str(n), "", ("yes", "no")[n % 2]) for n in range(6)]) == ("yes", "no")
    assert labels([Task(str(n), "", f"word {n}") for n in range(6)]) == ()
    assert labels([Task(str(n), "", str(n % 2)) for n in range(6)]) == ()
