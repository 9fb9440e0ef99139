"""`akinai learn`: the document that programs rely on, the table for people, and what is told of a mistake."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Akinai

pytestmark = pytest.mark.needs_qa

KEYS = [
    "tasks", "world", "role", "agent", "seeds", "eval_seeds", "days", "settings", "eval_settings", "opponents", "online",
    "epochs", "split", "ending", "accuracy", "baseline_accuracy", "clean_accuracy", "runs", "unit", "with", "without", "playbook_size", "tokens",
    "failed", "given_up", "stopped", "training", "spent", "improvement_rate", "paired", "control",
    "near_copies", "test", "judge_only", "selected",
    "against", "seconds", "card", "table",
]  # fmt: skip
PLAIN = ("--set", "extra=false")


def questions(path: Path, *triples: tuple[str, str, str]) -> Path:
    """A file of questions: text, right answer, wrong answer."""
    rows = [
        {"q_id": n, "question": text, "choice0": right, "choice1": wrong, "label": 0}
        for n, (text, right, wrong) in enumerate(triples)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_the_document_has_the_shape_that_programs_rely_on(akinai: Akinai) -> None:
    """One document with every figure, its interval and n; the playbook lies where it says."""
    answer = akinai("learn", "qa", *PLAIN, "--json")
    assert (answer.code, answer.err, answer.out.count("\n")) == (0, "", 1)
    document = answer.json
    assert list(document) == KEYS
    assert (document["near_copies"], document["clean_accuracy"]["n"]) == (24, 0)  # the samples are made in threes
    for name in ("accuracy", "baseline_accuracy"):
        low, high = document[name]["ci95"]
        assert low < document[name]["value"] < high
        assert document[name]["n"] == 24
    assert document["tokens"].keys() == {"playbook", "injected", "injected_all"}
    assert document["paired"].keys() >= {"gain", "ci95", "wins", "losses"}
    assert document["card"]["roles"] == "rules"
    assert document["playbook_size"] == 24
    assert (document["world"], document["seeds"], document["runs"], document["unit"]) == (None, None, None, None)
    assert document["online"] is False
    assert Path("data/playbooks/qa.json").is_file()


def test_runs_of_a_world_have_the_same_document(akinai: Akinai) -> None:
    """Tasks and runs differ in what applies, never in the fields."""
    document = akinai(
        "learn", "vending", "--preset", "classic", "--seeds", "1", "--eval-seeds", "2-3", "--days", "5", "--json"
    ).json
    assert list(document) == KEYS
    assert (document["tasks"], document["world"], document["runs"], document["accuracy"]) == (
        "vending",
        "vending@3",
        2,
        None,
    )
    assert document["with"] - document["without"] == pytest.approx(document["paired"]["gain"])
    assert document["unit"] == "dollars"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
def test_money_has_its_dollar_sign(akinai: Akinai, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the page of a world that is scored in money: scores, gains and intervals, of others too."""
    monkeypatch.setenv("AKINAI_LANG", language)
    words = (
        "learn",
        "vending",
        "--preset",
        "classic",
        "--seeds",
        "1",
        "--eval-seeds",
        "2-8",
        "--days",
        "20",
        "--against",
        "placebo",
    )
    page = akinai(*words).out
    amounts = re.findall(r"[-+]?\$?[\d,]+\.\d\d\b", page)
    assert len(amounts) > 10
    assert [amount for amount in amounts if "$" not in amount] == []
    assert bool(re.search(r"\d to [-+]?\$", page)) == (language == "en")


def test_what_is_learned_helps(akinai: Akinai) -> None:
    """On the product's own questions the playbook wins far more than it loses, for a part of its tokens."""
    document = akinai("learn", "qa", *PLAIN, "--json").json
    assert document["accuracy"]["value"] > document["baseline_accuracy"]["value"] + 0.3
    assert document["paired"]["gain"] == pytest.approx(
        document["accuracy"]["value"] - document["baseline_accuracy"]["value"]
    )
    assert (document["paired"]["wins"] - document["paired"]["losses"]) / 24 == pytest.approx(document["paired"]["gain"])
    assert 0 < document["tokens"]["injected"] < document["tokens"]["injected_all"] / 5


def test_learning_is_repeatable(akinai: Akinai) -> None:
    """Learned twice, all figures but the time are equal, and so are the bullets."""
    documents = [akinai("learn", "qa", *PLAIN, "--playbook", f"{name}.json", "--json").json for name in "ab"]
    bullets = [json.loads(Path(f"{name}.json").read_text())["sections"] for name in "ab"]
    assert bullets[0] == bullets[1]
    for document in documents:
        del document["seconds"], document["card"]
    assert documents[0] == documents[1]


def test_epochs_are_told_one_by_one(akinai: Akinai) -> None:
    """The second epoch meets the bullets of the first; its improvement is a rate and points."""
    first, second = akinai("learn", "qa", *PLAIN, "--epochs", "2", "--json").json["improvement_rate"]
    assert first["rate"] is None
    assert second["rate"] == pytest.approx(second["accuracy"] / first["accuracy"] - 1)
    assert second["points"] == pytest.approx(100 * (second["accuracy"] - first["accuracy"]))
    assert second["accuracy"] > 0.8


def test_online_scores_before_it_learns(akinai: Akinai) -> None:
    """Online the training tasks are the judged ones, nothing is clean, and one after the other helps the next."""
    document = akinai("learn", "qa", *PLAIN, "--online", "--set", "batch=1", "--json").json
    assert (document["split"], document["clean_accuracy"], document["accuracy"]["n"]) == ("train", None, 48)
    assert document["accuracy"]["value"] > document["baseline_accuracy"]["value"]


def test_the_clean_part_leaves_out_what_stands_in_training(akinai: Akinai, tmp_path: Path) -> None:
    """A judged question is left out when its text, or the set of its choices, stands in the training file."""
    train = questions(
        tmp_path / "train.jsonl", ("Who bakes?", "a baker", "a pilot"), ("Who flies?", "a pilot", "a cook")
    )
    judged = questions(
        tmp_path / "eval.jsonl",
        ("Who bakes?", "a baker", "a judge"),
        ("Who steers a plane?", "A PILOT", "a baker"),
        ("Who sews?", "a tailor", "a pilot"),
    )
    document = akinai("learn", "qa", *PLAIN, "--set", f"data={train}", "--set", f"eval={judged}", "--json").json
    assert (document["accuracy"]["n"], document["clean_accuracy"]["n"]) == (3, 1)


def test_limit_learns_from_the_first_tasks(akinai: Akinai) -> None:
    """`--limit` takes so many training tasks and judges as before."""
    document = akinai("learn", "qa", *PLAIN, "--limit", "2", "--json").json
    assert (document["playbook_size"], document["accuracy"]["n"]) == (1, 24)


def test_people_get_a_table_and_the_next_step(akinai: Akinai) -> None:
    """Without --json there are figures in per cent, and commands to try."""
    answer = akinai("learn", "qa", *PLAIN)
    assert answer.code == 0
    for text in ("learned by rules", "Accuracy in percent", "%", "akinai playbook show"):
        assert text in answer.out


def test_no_judged_question_reaches_the_playbook(akinai: Akinai, tmp_path: Path) -> None:
    """A canary planted in a judged question stands nowhere in playbook or journal."""
    judged = questions(tmp_path / "eval.jsonl", ("Where is canary-7731?", "canary-7732", "here"))
    assert akinai("learn", "qa", *PLAIN, "--set", f"eval={judged}", "--playbook", "p.json").code == 0
    for path in Path().rglob("p.*"):
        assert "canary" not in path.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("qua",), "did you mean 'qa'?"),
        (("qa", "--set", "data=nowhere.jsonl"), "no file of questions 'nowhere.jsonl'"),
        (("qa", "--set", "data=some/name"), "needs 'datasets', which is not installed"),
        (("qa", "--set", "extra=some"), "extra is 'some'; say true or false"),
        (("qa", "--set", "dat=x"), "no setting 'dat'; did you mean 'data'?"),
        (("qa", "--epochs", "0"), "epochs"),
        (("qa", "--set", "data=broken.jsonl"), "record 2 has the label 7"),
        (("qa", "--set", "data=twice.csv"), "has the q_id '1' of record 2"),
        (("qa", "--set", "data=words.txt"), "its name ends in '.txt'"),
        (("qa", "--set", "data=table.parquet"), "is Parquet, and pyarrow is not installed"),
    ],
)
def test_a_mistake_is_one_sentence(akinai: Akinai, words: tuple[str, ...], message: str) -> None:
    """Bad usage is told on stderr with what was found, without a traceback, and no playbook is begun."""
    if "datasets" in message or "pyarrow" in message:
        package = "datasets" if "datasets" in message else "pyarrow"
        try:
            __import__(package)
        except ImportError:
            pass
        else:
            pytest.skip(f"{package} is installed here")
    row: dict[str, Any] = {"q_id": 1, "question": "q?", "choice0": "a", "choice1": "b", "label": 0}
    Path("broken.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "q_id": 2, "label": 7}))
    Path("twice.csv").write_text("q_id,question,choice0,choice1,label\n1,q?,a,b,0\n1,r?,a,b,1\n")
    Path("words.txt").write_text("q?")
    Path("table.parquet").write_bytes(b"PAR1")
    answer = akinai("learn", *words)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert not Path("data").exists()


@pytest.mark.parametrize("id", [5, "five"])
def test_files_of_every_form_say_the_same(akinai: Akinai, id: int | str) -> None:
    """JSON lines, a JSON list and CSV, with q_ids of numbers or text, teach the same bullets."""
    row = {"q_id": id, "question": "空から降る白いものは？", "choice0": "雪", "choice1": "石", "label": 0}
    Path("a.jsonl").write_text(json.dumps(row, ensure_ascii=False))
    Path("b.json").write_text(json.dumps([row]))
    Path("c.csv").write_text("\ufeff" + ",".join(row) + "\r\n" + ",".join(map(str, row.values())) + "\r\n")
    for name in ("a.jsonl", "b.json", "c.csv"):
        answer = akinai("learn", "qa", *PLAIN, "--set", f"data={name}", "--playbook", f"of-{name}", "--json")
        assert (answer.code, answer.json["accuracy"]) == (0, None)
    contents = {json.loads(path.read_text())["sections"][0]["bullets"][0]["content"] for path in Path().glob("of-*n")}
    assert contents == {"空から降る白いもの -> 雪"}


@pytest.mark.slow
def test_without_the_extra_plain_words_are_used(tmp_path: Path) -> None:
    """Where SudachiPy and SciPy are not installed, `akinai learn qa` does without them and says nothing."""
    code = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name in ('sudachipy', 'scipy') else find(name, *a)\n"
        "sys.modules |= dict.fromkeys(('scipy', 'scipy.sparse', 'sudachipy', 'sudachidict_core'))\n"
        "from akinai.cli import main\n"
        "main(['learn', 'qa', '--json'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["accuracy"]["value"] > 0.7
