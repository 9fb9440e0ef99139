"""What a playbook was learned from is remembered: no judged task that a bullet has seen counts as new."""

import json
import re
from pathlib import Path

import pytest

from akinai.learning import PlaybookFile
from akinai.learning.playbook.texts import dumps_text
from command_line import Akinai

pytestmark = pytest.mark.needs_qa
PLAIN = ("--set", "extra=false")
TRADES = {"bakes": "a baker", "flies": "a pilot", "sews": "a tailor", "judges": "a judge", "cooks": "a cook"}


def questions(path: Path, *verbs: str) -> Path:
    """A file of questions, each with choices of its own."""
    rows = [
        {"q_id": n, "question": f"Who {verb}?", "choice0": TRADES[verb], "choice1": f"nobody who {verb}", "label": 0}
        for n, verb in enumerate(verbs)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_task_that_was_learned_from_before_is_not_clean(akinai: Akinai, tmp_path: Path) -> None:
    """Learned with the judged tasks among the training tasks, then judged after learning from others: none counts as
    new, until the playbook is begun anew; a rollback brings back the bullets and what is known of them."""
    judged = f"eval={questions(tmp_path / 'eval.jsonl', 'bakes', 'flies', 'sews')}"
    leaked = f"data={questions(tmp_path / 'leaked.jsonl', 'flies', 'bakes', 'cooks')}"
    other = f"data={questions(tmp_path / 'other.jsonl', 'judges')}"
    first = akinai("learn", "qa", *PLAIN, "--set", leaked, "--set", judged, "--json").json
    assert first["card"]["began_with"] == {"bullets": 0, "sources": {}, "unrecorded": 0, "seen": 0, "migrated": 0}
    again = akinai("learn", "qa", *PLAIN, "--set", other, "--set", judged, "--json").json
    assert (again["accuracy"]["n"], again["clean_accuracy"]["n"]) == (3, 1)
    assert again["card"]["began_with"]["sources"] == {"leaked.jsonl": 3}
    fresh = akinai("learn", "qa", *PLAIN, "--set", other, "--set", judged, "--fresh", "--json").json
    assert (fresh["clean_accuracy"]["n"], fresh["card"]["began_with"]["bullets"], fresh["playbook_size"]) == (3, 0, 1)
    akinai("playbook", "rollback", "qa", "2")
    rolled = akinai("learn", "qa", *PLAIN, "--set", other, "--set", judged, "--json").json
    assert (rolled["clean_accuracy"]["n"], rolled["card"]["began_with"]["bullets"]) == (1, 3)


def test_the_page_says_what_learning_began_with(akinai: Akinai, tmp_path: Path) -> None:
    """People read how many bullets there were before, from where, and how many judged tasks were learned from."""
    judged = f"eval={questions(tmp_path / 'eval.jsonl', 'bakes', 'flies')}"
    data = f"data={questions(tmp_path / 'mine.jsonl', 'bakes', 'cooks')}"
    assert "began with no bullets" in akinai("learn", "qa", *PLAIN, "--set", data, "--set", judged).out
    page = " ".join(akinai("learn", "qa", *PLAIN, "--set", data, "--set", judged).out.split())
    assert "learning began with 2 bullets from mine.jsonl" in page
    assert "judged tasks that were learned from 1" in page


def test_bullets_of_unknown_origin_allow_no_claim(akinai: Akinai, tmp_path: Path) -> None:
    """A bullet by hand, or a text without a record, may come from any task: then nothing is called clean."""
    judged = f"eval={questions(tmp_path / 'eval.jsonl', 'bakes')}"
    data = f"data={questions(tmp_path / 'mine.jsonl', 'cooks')}"
    akinai("playbook", "add", "hand", "bakes -> a baker", "--section", "concepts")
    learned = akinai("learn", "qa", *PLAIN, "--playbook", "data/playbooks/hand.json", "--set", data, "--set", judged)
    assert "the tasks of 1 are not recorded" in " ".join(learned.out.split())
    assert "nothing was learned from" not in learned.out
    akinai("learn", "qa", *PLAIN, "--set", data, "--set", judged)
    Path("copy.md").write_text(dumps_text(PlaybookFile("data/playbooks/qa.json").load()))
    akinai("playbook", "import", "copy", "copy.md")
    again = ("learn", "qa", *PLAIN, "--playbook", "data/playbooks/copy.json", "--set", data, "--set", judged, "--json")
    for _ in range(2):  # what was not recorded before a learning is not known after it
        assert akinai(*again).json["clean_accuracy"] is None


def test_online_scores_of_tasks_seen_before_are_not_clean(akinai: Akinai, tmp_path: Path) -> None:
    """Online, each task is scored before this learning learns from it, but an earlier one may have."""
    akinai("learn", "qa", *PLAIN, "--set", f"data={questions(tmp_path / 'a.jsonl', 'bakes', 'cooks')}")
    data = f"data={questions(tmp_path / 'b.jsonl', 'cooks', 'flies', 'sews')}"
    document = akinai("learn", "qa", *PLAIN, "--online", "--set", data, "--json").json
    assert (document["accuracy"]["n"], document["clean_accuracy"]["n"]) == (3, 2)
    page = akinai("learn", "qa", *PLAIN, "--online", "--set", data).out
    assert "3 of which earlier learnings had seen" in page


def test_runs_that_were_learned_from_do_not_judge(akinai: Akinai) -> None:
    """A seed that taught in an earlier learning is refused as a judge, unless it is another run by its settings."""
    days = ("--days", "3", "--json")
    assert akinai("learn", "vending", "--preset", "classic", "--seeds", "1-2", "--eval-seeds", "3", *days).code == 0
    before = Path("data/playbooks/vending.json").read_bytes()
    refused = akinai("learn", "vending", "--preset", "classic", "--seeds", "4", "--eval-seeds", "2", *days)
    assert (refused.code, refused.out) == (2, "")
    assert "vending-validation-2" in refused.err
    assert "--fresh" in refused.err
    assert Path("data/playbooks/vending.json").read_bytes() == before
    shuffled = ("--eval-set", "catalog.shuffle=true")
    assert (
        akinai("learn", "vending", "--preset", "classic", "--seeds", "4", "--eval-seeds", "2", *shuffled, *days).code
        == 0
    )
    assert (
        akinai("learn", "vending", "--preset", "classic", "--seeds", "4", "--eval-seeds", "2", "--fresh", *days).code
        == 0
    )


def test_test_tasks_that_were_learned_from_are_shown_too(akinai: Akinai, tmp_path: Path) -> None:
    """The page has the clean figure of the test tasks; of no tasks there is no figure; a comparison says what it counts."""
    splits = {"data": ("bakes", "flies"), "eval": ("bakes", "flies"), "test": ("flies", "sews", "judges")}
    files = [("--set", f"{name}={questions(tmp_path / f'{name}.jsonl', *verbs)}") for name, verbs in splits.items()]
    words = ("learn", "qa", *PLAIN, *(word for pair in files for word in pair))
    document = akinai(*words, "--json").json
    assert document["clean_accuracy"] == {"value": None, "ci95": None, "n": 0}
    assert (document["test"]["accuracy"]["n"], document["test"]["clean_accuracy"]["n"]) == (3, 2)
    rows = {row[0]: row[1] for row in document["table"]["rows"]}
    assert rows["accuracy on test tasks that nothing was learned from"] == 2
    assert "accuracy on validation tasks that nothing was learned from" not in rows
    page = " ".join(akinai(*words, "--against", "placebo").out.split())
    assert "test tasks that were learned from 1" in page
    assert "2 of these 2 tasks were learned from; the gains count them." in page


def test_the_page_is_in_japanese(akinai: Akinai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Title, beginning, rows, contenders and verdicts; names and numbers stay."""
    monkeypatch.setenv("AKINAI_LANG", "ja")
    splits = {"data": ("bakes", "flies"), "eval": ("bakes", "flies"), "test": ("flies", "sews", "judges")}
    files = [("--set", f"{name}={questions(tmp_path / f'{name}.jsonl', *verbs)}") for name, verbs in splits.items()]
    words = ("learn", "qa", *PLAIN, *(word for pair in files for word in pair), "--against", "placebo,icl")
    for _ in range(2):
        page = akinai(*words).out.partition("次に:")[0].replace("data/playbooks/qa.json", "")
        known_words = {"qa", "rules", "validation", "test", "to", "of", "data", "jsonl", "concepts"}
        assert not set(re.findall(r"[A-Za-z]{2,}", page)) - known_words, page
