"""`akinai learn --jobs` and `--on`: whoever judges, and however many at once, the result is the same."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from learning_by_wire import Business

import akinai
from akinai import worlds
from akinai.core.errors import UsageError
from akinai.core.models import Reply
from akinai.learning.data_sets import DataSet
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import dumps
from akinai.learning.roles.protocols import Trajectory
from akinai.learning.roles.tasks import Split, Task
from akinai.runtime.learn import players
from akinai.runtime.learn import world as learning
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.runtime.runs.records import Run
from akinai.testing.endpoint import Endpoint, ModelCall

pytestmark = pytest.mark.usefixtures("elsewhere")
GATED = {"held_out": 1, "gate": True, "epochs": 2}
RUNS = {
    "preset": "classic",
    "agent": "naive",
    "seeds": "1-3",
    "eval_seeds": "101-102",
    "days": 6,
    "keep_best": True,
    "settings": GATED,
}
JUDGED_RUNS = 2 * 3 + 4
"""Without a playbook and with each of two; and the run that is held out, under each of four playbooks."""


def figures(learned: LearnResult) -> str:
    """All that was learned and measured, to the byte; not when, and how long it took."""
    document = {**learned.to_json(), "seconds": 0, "card": None}
    judged = learned.judged
    bullets = [[bullet.id, bullet.content, bullet.source_trajectory] for bullet in learned.playbook]
    return json.dumps([document, judged and [judged.scores, judged.right], bullets])


def learned(folder: Path, **changes: Any) -> LearnResult:
    folder.mkdir(exist_ok=True)
    options: dict[str, Any] = {**RUNS, "store": "memory:", "playbook": folder / "p.json", **changes}
    return akinai.learn("vending", **options)


def bytes_of(folder: Path) -> bytes:
    """The playbook's file without its times."""
    document = json.loads((folder / "p.json").read_text())
    return json.dumps({**document, "metadata": {**document["metadata"], "created_at": 0, "updated_at": 0}}).encode()


@pytest.fixture
def digests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Filled with the digest of every run that judges or is learned from, with its task."""
    seen: list[str] = []

    def trajectory_of(run: Run, task_id: str, config: TrainConfig) -> Trajectory:
        seen.append(f"{task_id} {run.digest}")
        return plain(run, task_id, config)

    plain = players.trajectory_of
    monkeypatch.setattr(players, "trajectory_of", trajectory_of)
    return seen


@pytest.mark.slow
def test_an_engine_judges_as_this_process_does(tmp_path: Path, digests: list[str], elsewhere: Any) -> None:
    """Judging, gates and the choice of the best go through the executor; document, playbook and runs are equal."""
    here, plain = learned(tmp_path / "here"), sorted(digests)
    assert elsewhere.done == 0
    digests.clear()
    there = learned(tmp_path / "there", on="elsewhere://there")
    assert elsewhere.done == JUDGED_RUNS
    assert figures(there) == figures(here)
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    assert sorted(digests) == plain


@pytest.mark.slow
def test_processes_judge_as_this_process_does(
    tmp_path: Path, digests: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two processes the document, the playbook's file and the digests of all runs are those of one."""
    monkeypatch.setattr(learning, "FEW_DAYS", 0)
    plain, alone = learned(tmp_path / "1", jobs=1), sorted(digests)
    digests.clear()
    assert figures(learned(tmp_path / "2", jobs=2)) == figures(plain)
    assert bytes_of(tmp_path / "2") == bytes_of(tmp_path / "1")
    assert sorted(digests) == alone


def runs_of(folder: Path) -> dict[str, str]:
    return {run.id: run.digest for run in akinai.runs(store=str(folder / "runs.db"))}


@pytest.mark.slow
def test_an_engine_plays_what_models_play(tmp_path: Path, elsewhere: Any) -> None:
    """Runs that ask a model are played by the engine from the store: equal names, digests, bullets and scores."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    results: dict[str | None, LearnResult] = {}
    with Endpoint(Business()) as endpoint:
        model = ModelChoice("openai:test", endpoint.openai_url)
        for on in (None, "elsewhere://there"):
            folder = tmp_path / str(bool(on))
            folder.mkdir()
            store = str(folder / "runs.db")
            config = TrainConfig("vending", "chat", "1", "101", 2, store=store, model=model, reflect="rules")
            results[on] = akinai.learn(config, playbook=folder / "p.json", on=on)
    assert elsewhere.done == 3
    assert runs_of(tmp_path / "True") == runs_of(tmp_path / "False")
    assert figures(results[None]) == figures(results["elsewhere://there"])


class Crowd:
    """Answers when `wanted` calls wait for it, and at the latest after a while; knows how many did at once."""

    def __init__(self, callers: int) -> None:
        self.callers, self.waiting, self.most = callers, 0, 0

    async def reply(self, call: ModelCall) -> Reply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        for _ in range(300):
            if self.most >= self.callers:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # a call too many would come now
        self.waiting -= 1
        return Reply('{"answer": "a", "bullet_ids": []}')


@pytest.mark.parametrize("jobs", [3, pytest.param(80, marks=pytest.mark.slow)])
def test_jobs_are_calls_at_the_same_time(jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tasks with known answers, `jobs` calls of a model are under way: neither more, nor 64 where more are asked."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def load(split: Split) -> list[Task]:
        return (
            [Task(f"t{n}", f"Which letter is the {n}th?", "a") for n in range(jobs + 9)]
            if split == "validation"
            else []
        )

    with Endpoint(brain := Crowd(jobs)) as endpoint:
        options: dict[str, Any] = {"model": "openai:test", "base_url": endpoint.openai_url, "baseline": False}
        (playbook := tmp_path / "p.json").write_text(dumps(Playbook(created_at="2026-01-01T00:00:00Z")))
        akinai.learn(DataSet("letters", load), playbook=playbook, judge_only=True, jobs=jobs, **options)
    assert brain.most == jobs


def test_what_nobody_else_can_do_is_refused(tmp_path: Path) -> None:
    """Jobs that are none, a world as an object elsewhere, a data set on an engine, a budget that nobody counts there."""
    model = ModelChoice("openai:test", "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="jobs is a whole number of at least 1, not 0"):
        learned(tmp_path, jobs=0)
    with pytest.raises(UsageError, match="a world given as an object is played in this process"):
        akinai.learn(worlds.load("vending"), jobs=2, store="memory:", playbook=tmp_path / "p.json")
    with pytest.raises(UsageError, match="on cannot be used: qa is no world"):
        akinai.learn("qa", on="elsewhere://there")
    with pytest.raises(UsageError, match="jobs cannot be used: tasks without a model are done in this process"):
        akinai.learn("qa", jobs=2)
    with pytest.raises(UsageError, match="no executor 'elsewere'; did you mean 'elsewhere'"):
        learned(tmp_path, on="elsewere")
    for store, more, why in (
        ("memory:", {}, "cannot open a store in memory"),
        (str(tmp_path / "runs.db"), {"max_tokens": 5}, "cannot count a limit on a whole learning"),
    ):
        config = TrainConfig("vending", "chat", "1", "101", 5, store=store, model=model)
        with pytest.raises(UsageError, match=why):
            akinai.learn(config, playbook=tmp_path / "p.json", on="elsewhere://there", **more)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_learning_killed_while_processes_judge_goes_on(tmp_path: Path) -> None:
    """kill -9 while two processes judge: no process stays, and the same command only judges, with the same result."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    options = "--seeds 1-2 --eval-seeds 101-124 --days 90 --agent naive --store runs.db --json --jobs"
    command = [
        sys.executable,
        "-m",
        "akinai",
        "learn",
        "vending",
        "--preset",
        "classic",
        *options.split(),
        "2",
        "--checkpoint",
        "learn.db",
    ]
    killed = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = Path(f"/proc/{killed.pid}/task/{killed.pid}/children")
    deadline = time.monotonic() + 120
    while len(ids := children.read_text().split()) < 3 and time.monotonic() < deadline:  # two, and what tracks them
        time.sleep(0.05)
    time.sleep(1)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert len(ids) == 3
    learned_runs = runs_of(tmp_path)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert runs_of(tmp_path) == learned_runs
    assert not [id for id in ids if Path(f"/proc/{id}").exists()]
    plain: dict[str, Any] = {"preset": "classic", "store": "memory:", "playbook": tmp_path / "whole.json"}
    whole = akinai.learn("vending", seeds="1-2", eval_seeds="101-124", days=90, agent="naive", **plain).to_json()
    again = json.loads(done.stdout)
    for name in ("with", "without", "paired", "training", "playbook_size", "tokens"):
        assert again[name] == whole[name], name
