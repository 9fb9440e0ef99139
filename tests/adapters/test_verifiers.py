"""A world as a taskset of verifiers: its own validation, and rollouts whose harness plays given actions."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import akinai
import doors
from akinai import worlds
from akinai.adapters.verifiers import WorldTaskset, WorldTasksetConfig
from akinai.core.chance import pooled_seed
from akinai.core.errors import UsageError

PAGE = Path(__file__).parents[2] / "docs" / "verifiers.md"


@pytest.mark.slow
def test_its_own_validation_is_positive(tmp_path: Path) -> None:
    """As the page shows it: the gold answer of every task gains, and an untouched task does not pass."""
    (command,) = re.findall(r"^\$ (vf-validate .+)$", PAGE.read_text(encoding="utf-8"), re.M)
    program, *words = command.split()
    line = [str(Path(sys.executable).with_name(program)), *words, "-o", str(tmp_path), "--rich", "false"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    assert (summary["total"], summary["outcomes"]["valid"]) == (2, 2)


def test_the_gold_answer_leaves_out_whom_the_settings_name() -> None:
    """They play as in the run of the world's first player, whose digest it has."""
    config = WorldTasksetConfig(world="vending", preset="arena", days=60, seeds=1, settings=["owners.2.agent=naive"])
    (task,) = WorldTaskset(config).load()
    assert asyncio.run(task.validate(None))


def test_a_taskset_without_a_world_says_so() -> None:
    """Since verifiers makes one before it reads the options, only its tasks can."""
    with pytest.raises(UsageError, match="the taskset needs a world"):
        list(WorldTaskset(WorldTasksetConfig()))


@pytest.mark.slow
def test_thirty_days_give_the_digest_of_the_run_in_process() -> None:
    """Through a rollout, its tools in a process of their own; the reward is what the score gained."""
    game = doors.Game()
    run = doors.reference(game)
    trace = doors.rollout(game.actions, days=run.days)
    assert (trace.state.digest, trace.state.ending) == (run.digest, "horizon")
    assert trace.rewards["gained"].score == run.scores[0].value - doors.starting_score(game)
    assert trace.metrics["net_worth"] == run.score("net_worth")
    assert trace.metrics["bank_balance"] == run.score("bank_balance")


@pytest.mark.slow
def test_a_call_that_cannot_be_read_is_answered_and_the_run_is_resumable(tmp_path: Path) -> None:
    """Unknown tools, wrong arguments, a megabyte, calls after the end; text that looks like JSON stays text."""
    actions: doors.Actions = [
        ("sell_kidney", {}),
        ("wait_until", {"hour": "noon"}),
        ("wait_until", {"hour": 9, "minute": 5}),
        ("notepad_write", {"text": "x" * 2**20}),
        ("notepad_write", {"text": '["no list"]'}),
        ("advance_day", {}),
    ]
    store = str(tmp_path / "a.db")
    trace = doors.rollout(actions, days=2, store=store)
    unknown, noon, minute, megabyte, note, _ = trace.info["texts"]
    assert unknown.startswith("True Refused (no_action)")
    assert all(text.startswith("True Refused (bad_parameters)") for text in (noon, minute, megabyte))
    assert note.startswith("False ")
    assert not trace.state.done
    with akinai.open(resume=trace.state.run, store=store) as session:
        session.act("advance_day")
    entries = session.run().ledger.entries
    assert [entry.name for entry in entries] == [*["Unreadable"] * 4, "NotepadWrite", "AdvanceDay", "AdvanceDay"]
    assert entries[4].parameters["text"] == '["no list"]'


DYING = "import doors, sys; doors.rollout([('advance_day', {})] * 90, days=90, store=sys.argv[1])"


@pytest.mark.slow
def test_a_rollout_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Every action that its tools answered is in the store, and another session goes on."""
    folders = [Path(doors.__file__).parent, PAGE.parent.parent / "examples"]
    store = tmp_path / "a.db"
    client = subprocess.Popen(
        [sys.executable, "-c", DYING, str(store)], cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
    )  # fmt: skip
    while not store.exists() or not any(run.entries for run in akinai.runs(store=str(store))):
        assert client.poll() is None
        time.sleep(0.2)
    os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    (run,) = akinai.runs(store=str(store))
    with akinai.open(resume=run.id, store=str(store)) as session:
        assert session.act("get_money_balance").ok
    entries = session.run().ledger.entries
    assert [entry.name for entry in entries] == ["AdvanceDay"] * run.entries + ["GetMoneyBalance"]


@pytest.mark.parametrize("world", ["vending", "market", pytest.param("qa", marks=pytest.mark.needs_qa)])
def test_a_world_is_a_taskset(world: str) -> None:
    """A task for each seed, whose system prompt says how one acts and what the actor sees."""
    first, second = WorldTaskset(WorldTasksetConfig(world=world, seeds=2))
    assert [first.data.name, second.data.name] == [f"{worlds.load(world).name}-train-{number}" for number in (1, 2)]
    with akinai.open(world, seed=pooled_seed("train", 1)) as session:
        assert (first.data.system_prompt, first.data.prompt) == (session.prompt(), "Begin.")
        assert session.view().text in first.data.system_prompt
    assert first.key != second.key
