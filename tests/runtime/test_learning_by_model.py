"""Learning in a world with models: who plays, who reflects, what they are shown, and what is never paid for twice."""

import json
import re
from pathlib import Path

import pytest
from learning_by_wire import CURATOR, PLAYER, REFLECTOR, Business

import akinai
from akinai.core.errors import UsageError
from akinai.learning.search.injection import estimate_tokens
from akinai.runtime.learn.learner import learn as learn_playbook
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.testing.endpoint import Endpoint

pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")

DAYS = 6


def config(endpoint: Endpoint, folder: Path, agent: str = "chat", **more: object) -> TrainConfig:
    model = ModelChoice("openai:test", endpoint.openai_url)
    options = {"seeds": "1-2", "eval_seeds": "101", "days": DAYS, "store": str(folder / "runs.db"), "model": model}
    return TrainConfig("vending", agent, **{"preset": "classic", **options, **more})  # type: ignore[arg-type]


def learn(endpoint: Endpoint, folder: Path, agent: str = "chat", **more: object) -> LearnResult:
    learn_options = {name: more.pop(name) for name in ("max_tokens", "settings", "checkpoint", "watch") if name in more}
    return learn_playbook(config(endpoint, folder, agent, **more), playbook=folder / "p.json", **learn_options)  # type: ignore[arg-type]


def references(learned: LearnResult) -> list[str]:
    return [reference for bullet in learned.playbook for reference in re.split("; | -> ", bullet.source_trajectory)]


@pytest.mark.parametrize("agent", ["chat", pytest.param("naive", marks=pytest.mark.slow)])
def test_what_a_model_learns_from_runs_lands_with_its_evidence(agent: str, tmp_path: Path) -> None:
    """A bullet a run, each leading to an entry of the training run that shows it; the model is asked once a role."""
    brain = Business()
    with Endpoint(brain) as endpoint:
        learned = learn(endpoint, tmp_path, agent)
    runs = {run.id: run for run in akinai.runs(store=str(tmp_path / "runs.db"))}
    assert (learned.ending, learned.label, len(learned.playbook)) == ("done", "openai:test", 2)
    for reference in references(learned):
        run, _, entry = reference.partition("#")
        assert run.startswith("learn-vending-")
        assert runs[run].ledger.entries[int(entry) - 1].name == "SendEmail"
    assert (len(brain.of(REFLECTOR)), len(brain.of(CURATOR))) == (2, 2)
    assert bool(brain.of(PLAYER)) == (agent == "chat")
    assert learned.judged is not None
    assert learned.judged.failed == 0
    assert (learned.judged.usage.calls > 0) == (agent == "chat")
    calls = [json.loads(line) for line in (tmp_path / "p.calls.jsonl").read_text().splitlines()]
    assert [call["role"] for call in calls] == [REFLECTOR, CURATOR] * 2


@pytest.mark.slow
def test_a_reflector_sees_record_report_truth_and_situation(tmp_path: Path) -> None:
    """All that a run's ledger tells, within the budget, and what the player could not see: demand that went unmet."""
    brain = Business()
    with Endpoint(brain) as endpoint:
        learn(endpoint, tmp_path, settings={"run_tokens": 700})
    for text in brain.of(REFLECTOR):
        record = text.partition("Record of the run:\n")[2].partition("\n\nReport of the check:")[0]
        assert 400 < estimate_tokens(record) <= 700
        truth = text.partition("player could not see:\n")[2].partition("\n\nBullets")[0]
        assert "wanted" in truth
        assert estimate_tokens(truth) <= 700 // 3
        assert "net_worth $" in text.partition("Report of the check:\n")[2]
        assert "vending machine" in text.partition("Situation:\n")[2].partition("Record")[0]


@pytest.mark.slow
def test_nothing_of_a_run_that_judges_is_learned(tmp_path: Path) -> None:
    """A canary in the runs that judge stands in nothing that Reflector and Curator see, and not in the playbook."""
    canary = "judged@canary-foods.com"
    brain = Business()
    with Endpoint(brain) as endpoint:
        learned = learn(endpoint, tmp_path, eval_settings=(f"email={canary}",))
    assert any(canary in text for text in brain.of(PLAYER))
    assert not any(canary in text or "seed 10" in text for text in (*brain.of(REFLECTOR), *brain.of(CURATOR)))
    assert canary not in (tmp_path / "p.json").read_text()
    assert all(reference.startswith("learn-") for reference in references(learned))


TRUNCATED = '{"reasoning": "x", "operations": [{"type": "ADD", "section": "stock_and_orders", "content": "Never or'
MADE_UP = json.dumps(
    {
        "operations": [
            {
                "type": "ADD",
                "section": "stock_and_orders",
                "content": "Order twice.",
                "evidence": ["learn-vending-0-1#9"],
            }
        ]
    }
)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (TRUNCATED, "stops before its end"),
        pytest.param(MADE_UP, "is the evidence of no insight", marks=pytest.mark.slow),
    ],
)
def test_what_is_cut_off_or_made_up_is_asked_for_again_then_given_up(reply: str, why: str, tmp_path: Path) -> None:
    """Twice unreadable and the third reply is taken; three times, and nothing of it is in the playbook, but counted."""
    brain = Business(broken=[reply, reply])
    with Endpoint(brain) as endpoint:
        assert len(learn(endpoint, tmp_path, "naive", seeds="1", eval_seeds="101").playbook) == 1
        assert sum(why in text for text in brain.of(CURATOR)) == 2
        brain.broken = [reply] * 3
        (tmp_path / "again").mkdir()
        again = learn(endpoint, tmp_path / "again", "naive", seeds="1", eval_seeds="101")
    assert len(again.playbook) == 0
    assert again.epochs[0].counts.given_up == 1


@pytest.mark.parametrize(("named", "why"), [([99_999], "1 to"), (["#3"], "give numbers")])
def test_an_insight_without_entries_of_the_run_is_refused(named: list[object], why: str, tmp_path: Path) -> None:
    """Evidence that the run has not is asked for again; a Reflector that never gives any is given up."""

    class Vague(Business):
        def insights(self, text: str) -> dict[str, object]:
            return {"insights": [{"insight": "Sell more.", "entries": named}]}

    brain = Vague()
    with Endpoint(brain) as endpoint:
        learned = learn(endpoint, tmp_path, "naive", seeds="1", eval_seeds="101")
    assert sum(why in text.rpartition("could not be read")[2] for text in brain.of(REFLECTOR)) == 2
    assert (len(learned.playbook), learned.epochs[0].counts.given_up, brain.of(CURATOR)) == (0, 1, [])


class Crash(Exception):
    """The end of a process, as far as its checkpoint can tell."""


@pytest.mark.slow
def test_a_crash_before_the_curator_plays_nothing_again(tmp_path: Path) -> None:
    """With a checkpoint the same learning goes on at the Curator: no request of a run or a Reflector is sent again, and
    the playbook is the one that an unbroken learning writes.
    """
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    for folder in ("whole", "cut"):
        (tmp_path / folder).mkdir()
    with Endpoint(brain := Business()) as endpoint:
        whole = learn(endpoint, tmp_path / "whole")
    steps: list[str] = []

    def crash(step: str, state: object) -> None:
        steps.append(step)
        if steps.count("reflect") == 2:
            raise Crash

    with Endpoint(cut := Business()) as endpoint:
        checkpoint = str(tmp_path / "cut" / "learn.db")
        with pytest.raises(Crash):
            learn(endpoint, tmp_path / "cut", checkpoint=checkpoint, watch=crash)
        assert len(cut.of(CURATOR)) == 1
        learned = learn(endpoint, tmp_path / "cut", checkpoint=checkpoint)
    for role in (PLAYER, REFLECTOR, CURATOR):
        assert len(cut.of(role)) == len(brain.of(role)), role
    assert [bullet.content for bullet in learned.playbook] == [bullet.content for bullet in whole.playbook]
    assert learned.judged is not None
    assert whole.judged is not None
    assert learned.judged.scores == whole.judged.scores


def test_a_learning_that_was_cut_while_it_was_judged_only_judges(tmp_path: Path) -> None:
    """What is learned is learned: the same command plays what is left to judge, and another one after it learns anew."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    checkpoint = str(tmp_path / "learn.db")

    def crash(step: str, state: object) -> None:
        if step == "refine":
            raise Crash

    with Endpoint(brain := Business()) as endpoint:
        with pytest.raises(Crash):
            learn(endpoint, tmp_path, "naive", seeds="1", checkpoint=checkpoint, watch=crash)
        learned = learn(endpoint, tmp_path, "naive", seeds="1", checkpoint=checkpoint)
        assert (len(brain.of(REFLECTOR)), len(learned.epochs), learned.judged is not None) == (1, 1, True)
        learn(endpoint, tmp_path, "naive", seeds="1", checkpoint=checkpoint)
    assert len(brain.of(REFLECTOR)) == 2


@pytest.mark.slow
def test_online_learning_is_scored_before_it_learns(tmp_path: Path) -> None:
    """Seed by seed: the first run sees an empty playbook and the last all that was learned before; the scores of those
    runs are the result, beside the same seeds without a playbook.
    """
    brain = Business()
    with Endpoint(brain) as endpoint:
        learned = learn(endpoint, tmp_path, seeds="1-3", online=True)
    assert learned.judged is not None
    assert learned.baseline is not None
    assert (learned.split, len(learned.judged.scores), len(learned.playbook)) == ("train", 3, 3)
    assert learned.judged.scores == learned.baseline.scores
    assert all(score > 100 for score in learned.judged.scores.values())
    per_run = [text.count("as seed") for text in brain.of(PLAYER)]
    assert (min(per_run), max(per_run)) == (0, 2)


@pytest.mark.slow
def test_a_spent_budget_ends_the_learning_and_the_same_goes_on(tmp_path: Path) -> None:
    """Tokens of player and roles count together; a checkpoint then goes on in the middle of the run that was cut off."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    checkpoint = str(tmp_path / "learn.db")
    with Endpoint(Business()) as endpoint:
        first = learn(endpoint, tmp_path, checkpoint=checkpoint, max_tokens=30_000)
        assert (first.ending, len(first.playbook)) == ("budget", 0)
        names = {run.id for run in akinai.runs(store=str(tmp_path / "runs.db"))}
        again = learn(endpoint, tmp_path, checkpoint=checkpoint)
    assert (again.ending, len(again.playbook)) == ("done", 2)
    after = {run.id for run in akinai.runs(store=str(tmp_path / "runs.db"))}
    assert names < after
    assert not [name for name in after if "again" in name]


@pytest.mark.slow
def test_rules_reflect_on_what_a_model_played(tmp_path: Path) -> None:
    """`reflect="rules"`: the world's lessons from the ledgers of the agent that thinks, and no call for a role."""
    brain = Business()
    with Endpoint(brain) as endpoint:
        learned = learn(endpoint, tmp_path, seeds="1", eval_seeds="101", reflect="rules")
    assert learned.label == "rules"
    assert len(learned.playbook) == 3
    assert not brain.of(REFLECTOR)
    assert all(reference.startswith("learn-vending-") for reference in references(learned))


def test_what_cannot_be_learned_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """A role without its model, and a checkpoint of runs in memory, each in one sentence."""
    with pytest.raises(UsageError, match="the agent 'chat' asks a model here"):
        learn_playbook(TrainConfig("vending", "chat"), playbook=tmp_path / "p.json")
    with pytest.raises(UsageError, match="whoever reflects asks a model here"):
        learn_playbook(TrainConfig("vending", "naive", reflect="model"), playbook=tmp_path / "p.json")
    with pytest.raises(UsageError, match="these are in memory; name a store"):
        learn_playbook(TrainConfig("vending", "naive"), playbook=tmp_path / "p.json", checkpoint=str(tmp_path / "c.db"))
    assert not list(tmp_path.iterdir())
