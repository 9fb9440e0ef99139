"""The rules that learn questions: what they vote by, what they leave behind, and what they reach on the real data."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from akinai.learning import Playbook, PlaybookIndex
from akinai.learning.choices import RetrievedVotes, VotingRetriever
from akinai.learning.loop.state import LoopConfig
from akinai.runtime.learn.data_sets import find_data_set
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.result import LearnResult

DATA = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[4] / "shared" / "data")) / "jcommonsenseqa"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no real questions here (AKINAI_DATA names the folder)")


def taught(path: Path, **settings: Any) -> LearnResult:
    return learn("qa", playbook=path, settings={"extra": False, **settings})


def test_a_bullet_is_made_for_each_answer(tmp_path: Path) -> None:
    """48 questions on 24 answers make 24 bullets, each with both of its concepts and both sources."""
    learned = taught(tmp_path / "p.json")
    bullets = list(learned.playbook)
    assert len(bullets) == 24
    assert all(bullet.content.count("; ") == 1 and bullet.content.count(" -> ") == 1 for bullet in bullets)
    assert all(len(bullet.sources) == 2 and bullet.sources[0].startswith("sample_train.jsonl#") for bullet in bullets)


def test_learning_the_same_again_adds_nothing(tmp_path: Path) -> None:
    """A second learning into the same playbook leaves its bullets as they are, but for their records."""
    first = taught(tmp_path / "p.json").playbook
    again = taught(tmp_path / "p.json").playbook
    assert [bullet.content for bullet in again] == [bullet.content for bullet in first]
    assert sum(bullet.uses for bullet in again) > sum(bullet.uses for bullet in first)


def test_what_was_followed_is_tagged(tmp_path: Path) -> None:
    """In the second epoch bullets are called helpful for right answers, and harmful for wrong ones, once a task."""
    playbook = taught(tmp_path / "p.json", epochs=2).playbook
    assert sum(bullet.helpful for bullet in playbook) > 24
    assert all(bullet.uses <= 48 for bullet in playbook)


def test_only_voters_are_injected(tmp_path: Path) -> None:
    """What a task is given are the bullets that its question and one of its choices both find, within the budget."""
    playbook = taught(tmp_path / "p.json").playbook
    (task, *_) = find_data_set("qa", {"extra": False}).load("validation")
    retrieved = VotingRetriever(LoopConfig(top_k=100, budget_tokens=0), index=PlaybookIndex).retrieve(
        playbook, task.query
    )
    assert isinstance(retrieved, RetrievedVotes)
    assert set(retrieved.injection.bullet_ids) == {id for voters in retrieved.ballot.voters for id in voters}
    assert 0 < len(retrieved.injection.bullet_ids) < len(playbook)
    tight = VotingRetriever(LoopConfig(top_k=100, budget_tokens=70), index=PlaybookIndex).retrieve(playbook, task.query)
    assert isinstance(tight, RetrievedVotes)
    assert tight.injection.tokens <= 70
    assert {id for voters in tight.ballot.voters for id in voters} <= set(tight.injection.bullet_ids)


def test_without_bullets_words_in_common_decide(tmp_path: Path) -> None:
    """An empty playbook votes for nothing and injects nothing: the baseline is word overlap."""
    data_set = find_data_set("qa", {"extra": False})
    assert data_set.retriever is not None
    retrieved = data_set.retriever(LoopConfig()).retrieve(Playbook(), data_set.load("validation")[0].query)
    assert (retrieved.injection.text, retrieved.injection.tokens) == ("", 0)


def judged(limit: int, extra: bool, folder: Path, **settings: Any) -> dict[str, Any]:
    """The real data: learned from the first `limit` of train (0: all), judged on validation."""
    data_set = find_data_set(
        "qa", {"data": str(DATA / "train-v1.3.json"), "eval": str(DATA / "valid-v1.3.json"), "extra": extra}
    )
    learned = learn(data_set, playbook=folder / f"{limit}-{extra}.json", settings={"limit": limit, **settings})
    document: dict[str, Any] = json.loads(json.dumps(learned.to_json()))
    return document


@needs_data
@pytest.mark.slow
def test_a_thousand_real_questions_show(tmp_path: Path) -> None:
    """Learned from 1,000 train items without an extra: above 35 % on validation, and above the run without."""
    document = judged(1000, False, tmp_path)
    assert document["accuracy"]["value"] > 0.35
    assert document["paired"]["ci95"][0] > 0
    assert document["accuracy"]["n"] == 1119


@needs_data
@pytest.mark.slow
def test_all_real_questions_reach_the_goal(tmp_path: Path) -> None:
    """Learned from all of train with the extra: at least 55 %, without near copies 54, for a tenth of the tokens.
    Two batches: what the questions of a batch teach does not depend on what was found for them."""
    for package in ("sudachipy", "sudachidict_core", "scipy"):
        pytest.importorskip(package, reason=f"{package} is part of the extra `learn`, which is not installed")
    document = judged(0, True, tmp_path, batch=4500)
    assert document["accuracy"]["value"] >= 0.55
    assert document["clean_accuracy"]["value"] >= 0.54
    assert (document["near_copies"], document["accuracy"]["n"] - document["clean_accuracy"]["n"]) == (165, 184)
    assert document["tokens"]["injected"] <= 0.1 * document["tokens"]["injected_all"]
