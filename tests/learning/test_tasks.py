"""Laws of tasks: when an answer is right, what a Generator sees, how data sets are read and found."""

import json
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from learners_for_tests import codes, data_set, playbook_file, roles

import akinai
import forked
from akinai.core.errors import UnknownName, UsageError
from akinai.learning.data_sets import read_tasks
from akinai.learning.loop.job import Job
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import LoopConfig
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.learning.roles.tasks import Assignment, Task, exact, number
from akinai.runtime.learn.checks import find_check
from akinai.runtime.learn.data_sets import find_data_set
from akinai.runtime.learn.settings import learn_settings
from together import together

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_task.py"


@together(
    ("truth", "answer", "right"),
    [
        ("10", "1", False),
        ("1", "10", False),
        ("10", "10", True),
        ("10", " 10. ", True),
        ("Lima", "lima", True),
        ("ＡＢＣ", "abc", True),
        ("東京。", "東京", True),
        ("New York", "New  York", True),
        ("New York", "NewYork", False),
        ("10", "10 apples", False),
        ("10", "10.0", False),
    ],
)
def test_an_answer_is_right_when_it_is_the_truth_however_it_is_written(truth: str, answer: str, right: bool) -> None:
    """Width, case, spaces and a full stop do not matter; a part of the truth is not the truth."""
    assert exact(truth, answer) is right


@together(
    ("truth", "answer", "right"),
    [("1000", "1,000.0", True), ("10", "1", False), ("-3", "-3.0", True), ("0.1", "0.2", False), ("Lima", "lima", True),
     ("10", "1O", False), ("1,0", "10", False)],
)  # fmt: skip
def test_numbers_are_compared_as_numbers(truth: str, answer: str, right: bool) -> None:
    """The check `number` knows how numbers are written, and takes nothing else for one."""
    assert number(truth, answer) is right


def test_a_generator_has_no_way_to_the_truth() -> None:
    """An assignment has neither the truth nor a field for it; what is read from files hides the truth's fields."""
    lines = '{"id": 7, "question": "2 + 2?", "sum": "four", "hint": "{braces}"}'
    (task,) = read_tasks(lines, "sums.jsonl", id="id", task="{question} ({hint})", truth="sum")
    assert (task.id, task.text, task.truth, task.source) == ("7", "2 + 2? ({braces})", "four", "sums.jsonl#1")
    assert {field.name for field in fields(Assignment)} == {"id", "text", "query", "data", "attempt"}
    assert "four" not in repr(task.assignment)


def test_tasks_come_from_csv_as_from_json_lines() -> None:
    """The name of the file says how it is read; without a field for the id a task is named by file and place."""
    read = read_tasks('q,a\n"one, two?",3\nnext?,4\n', "sums.csv", id="", task="q", truth="a")
    assert [(task.id, task.text, task.truth) for task in read] == [
        ("sums.csv#1", "one, two?", "3"),
        ("sums.csv#2", "next?", "4"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": "a"}\n{"q":', "tasks.jsonl cannot be read: line 2: it is no JSON"),
        ("[1]", r"tasks.jsonl, line 1 is \[1\]; write one object a line"),
        ('{"qestion": "a"}', "no field 'question'; did you mean 'qestion'"),
    ],
)
def test_a_line_that_is_no_task_is_named(text: str, message: str) -> None:
    """A file that cannot be read says where it goes wrong and what is wanted."""
    with pytest.raises(UsageError, match=message):
        read_tasks(text, "tasks.jsonl", id="", task="question", truth="answer")


@pytest.mark.parametrize("ids", [["a", "a"], ["a", ""], ["a\0"]])
def test_every_task_has_an_id_that_a_journal_can_keep(tmp_path: Path, ids: list[str]) -> None:
    """Two tasks of one id, an empty id and one with a NUL are refused before anything is learned."""
    plan = LoopConfig()
    with pytest.raises(UsageError, match="task id"):
        Job(
            [Task(id, "?", "!") for id in ids],
            *(roles(), AnswerEvaluator(exact), playbook_file(tmp_path), PlaybookRetriever(plan), plan),
        )


def test_configuration_alone_brings_a_data_set_and_its_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`akinai.toml` names the files, the wording and the check; changing only it changes what counts as right."""
    monkeypatch.chdir(tmp_path)
    rows = [{"n": n, "is": f"{n}.0"} for n in range(3)]
    Path("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = '[learn.tasks.sums]\ntrain = "sums.jsonl"\ntask = "What is {n}?"\ntruth = "is"\n'
    Path("akinai.toml").write_text(table)
    read = find_data_set("sums")
    assert [task.text for task in read.load("train")] == ["What is 0?", "What is 1?", "What is 2?"]
    assert not read.load("validation")
    assert not read.check("1.0", "1")
    Path("akinai.toml").write_text(f'{table}check = "number"\n')
    assert find_data_set("sums").check("1.0", "1")
    Path("akinai.toml").write_text(f'{table}check = "operator:contains"\n')
    assert find_data_set("sums").check("1.0", "1")


def test_the_check_in_the_settings_goes_over_that_of_the_data_set(tmp_path: Path) -> None:
    """The same answers are right or wrong by the check that is named for this learning."""
    rules = roles()
    tasks = [Task("t1", "What is the code of item1?", "UNKNOWN!")]
    for check, accuracy in (("exact", 0.0), ("operator:ne", 1.0)):
        learned = akinai.learn(
            data_set(tasks, rules=rules), playbook=tmp_path / f"{accuracy}.json", settings={"check": check}
        )
        assert learned.epochs[0].accuracy == accuracy


def test_names_that_are_not_there_meet_close_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data sets, settings, checks and places for bullets: each unknown one is named with what it could have been."""
    monkeypatch.chdir(tmp_path)
    Path("akinai.toml").write_text('[learn.tasks.capitals]\ntrain = "x.jsonl"\n')
    with pytest.raises(UnknownName, match="did you mean 'capitals'"):
        find_data_set("capital")
    with pytest.raises(UnknownName, match="did you mean 'epochs'"):
        learn_settings({"epoch": 2})
    with pytest.raises(UnknownName, match="did you mean 'truth'"):
        find_data_set("capitals", {"truht": "x"})
    with pytest.raises(UnknownName, match="did you mean 'exact'"):
        find_check("exakt")
    with pytest.raises(UsageError, match="'operator:nothing' cannot be loaded"):
        find_check("operator:nothing")
    with pytest.raises(UsageError, match=r"'x\.jsonl' cannot be read"):
        find_data_set("capitals").load("train")


def test_the_example_learns_a_data_set_of_its_own(tmp_path: Path) -> None:
    """A new data set without a touch of the library takes under 40 lines, and is learned."""
    assert len(EXAMPLE.read_text().splitlines()) < 40
    run = forked.run([sys.executable, str(EXAMPLE), str(tmp_path)], cwd=tmp_path)
    assert run.stdout == "0% then 100%\n"
    assert (tmp_path / "capitals.json").is_file()


def test_nothing_is_written_for_what_cannot_be_learned(tmp_path: Path) -> None:
    """A data set without tasks, without rules and without held-out tasks for the gate: refused before a file is made."""
    path = tmp_path / "p.json"
    for bad, settings in ((data_set([]), {}), (data_set(codes(1, 2)), {"gate": True}),
                          (data_set(codes(1, 2)), {"held_out": 2})):  # fmt: skip
        with pytest.raises(UsageError):
            akinai.learn(bad, playbook=path, settings=settings)
    without = data_set(codes(1, 2))
    with pytest.raises(UsageError, match="has no rules to play by; name a model"):
        akinai.learn(type(without)(without.name, without.load), playbook=path)
    assert not list(tmp_path.iterdir())


def test_a_data_set_says_what_suits_its_rules_and_nobody_elses(tmp_path: Path) -> None:
    """Its settings lie beneath what the caller says, and are left out where other roles play."""
    tasks = replace(data_set(codes(1, 2)), settings={"epochs": 3})
    for index, (options, epochs) in enumerate([({}, 3), ({"epochs": 2}, 2), ({"roles": roles()}, 1)]):
        assert len(akinai.learn(tasks, playbook=tmp_path / f"{index}.json", **options).epochs) == epochs
