"""run, resume and fork at the command line: many seeds, runs that break, runs that are stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from akinai import api
from command_line import Akinai

ENDLESS = ("run", "vending", "--preset", "classic", "--days", "0", "--set", "max_messages=0")


def test_idle_goes_bankrupt_after_260_days(akinai: Akinai) -> None:
    """An owner that does nothing pays 250 fees and ends after day 260 with nothing."""
    (run,) = akinai(
        "run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1", "--days", "0", "--json"
    ).json["runs"]
    assert (run["ending"], run["days"], run["scores"]["net_worth"]["value"]) == ("bankrupt", 260, 0)


def test_default_is_seed_1_and_the_first_player(akinai: Akinai) -> None:
    """Without options a world is played on seed 1 by its first player, kept in akinai.db, with a name of two words."""
    (run,) = akinai("run", "vending", "--preset", "classic", "--days", "3", "--json").json["runs"]
    assert (run["seed"], run["agent"]) == (1, "reference")
    assert Path("akinai.db").exists()
    assert len(run["group"].split("-")) == 2


@pytest.mark.slow
def test_processes_change_nothing(akinai: Akinai) -> None:
    """Runs played side by side in processes are byte for byte those played one after the other."""
    words = ("run", "vending", "--preset", "classic", "--seeds", "1-3", "--days", "6", "--json")
    alone, together = (akinai(*words, "--jobs", jobs).json["runs"] for jobs in ("1", "2"))
    assert [run["digest"] for run in alone] == [run["digest"] for run in together]
    assert [run["scores"] for run in alone] == [run["scores"] for run in together]


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_failed_run_takes_no_other_along(akinai: Akinai, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    """A run that breaks is failed, with its reason; the others end; the exit code is 1; every statistic counts it."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    words = (
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "breaking:cloudy",
        "--seeds",
        "1-4",
        "--days",
        "2",
        "--name",
        "a",
        "--json",
    )
    answer = akinai(*words, "--jobs", jobs)
    assert answer.code == 1
    broken = [run for run in answer.json["runs"] if run["status"] == "failed"]
    assert 0 < len(broken) < 4
    assert all("RuntimeError: no [red]coffee[/red]" in run["error"] and run["ending"] is None for run in broken)
    assert all(run["ending"] == "horizon" for run in answer.json["runs"] if run not in broken)
    assert f"run {broken[0]['run']} failed: the agent of owner broke" in answer.err
    assert f"its traceback: 'akinai replay {broken[0]['run']} --json'" in answer.err
    assert "Traceback" not in answer.err
    (listed,) = akinai("replay", broken[0]["run"], "--json").json["runs"]
    assert 'raise RuntimeError("no [red]coffee[/red]")' in listed["traceback"]
    assert answer.err.endswith("akinai: what was played is kept: go on with 'akinai resume a'\n")
    document = akinai("analyze", "a", "--json").json
    worth = document["summary"]["net_worth"]
    assert (worth["n"], worth["failed"]) == (4, 0)
    assert document["groups"]["breaking:cloudy"]["states"] == {"done": 4 - len(broken), "failed": len(broken)}


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_exception_reaches_the_caller_from_any_process(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """`raise_errors` raises what an agent raised, also where it played in a process of its own."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with pytest.raises(RuntimeError, match="coffee"):
        api.run(
            "vending",
            agent="breaking:cloudy",
            seeds="1-4",
            days=2,
            store="akinai.db",
            jobs=jobs,
            raise_errors=True,
            preset="classic",
        )


def test_script_is_played_to_its_end(akinai: Akinai, folder: Path) -> None:
    """`script:FILE` gives one reply a line, ends as script_over, and goes on when the file has grown."""
    script = folder / "replies.jsonl"
    script.write_text('{"action": "ADVANCE_DAY", "reasoning": "first"}\n"I would rather not."\n')
    (run,) = akinai(
        "run", "vending", "--preset", "classic", "--agent", "script:replies.jsonl", "--name", "s", "--json"
    ).json["runs"]
    assert (run["status"], run["ending"], run["entries"], run["days"]) == ("done", "script_over", 2, 1)
    with script.open("a") as file:
        file.write('{"action": "GET_MONEY_BALANCE"}\n')
    (run,) = akinai("resume", "s", "--json").json["runs"]
    assert (run["ending"], run["entries"]) == ("script_over", 3)


def test_resume_refuses_another_player(akinai: Akinai, folder: Path) -> None:
    """A script that no longer says what is recorded cannot go on; the record stays as it is."""
    script = folder / "replies.jsonl"
    script.write_text('{"action": "ADVANCE_DAY"}\n')
    before = akinai(
        "run", "vending", "--preset", "classic", "--agent", "script:replies.jsonl", "--name", "s", "--json"
    ).json["runs"][0]
    script.write_text('{"action": "GET_MONEY_BALANCE"}\n')
    answer = akinai("resume", "s", "--json")
    assert answer.code == 1
    assert "at entry 1 the player now does GetMoneyBalance" in answer.err
    assert [run.to_json() for run in api.runs(store="akinai.db")] == [before]


def test_ended_run_is_left_alone(akinai: Akinai) -> None:
    """Resuming what ended in its world plays nothing and says so."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "2", "--name", "a")
    answer = akinai("resume", "a-1")
    assert answer.code == 0
    assert "it had ended before: nothing was left to play there" in answer.out


def test_forks_are_counted(akinai: Akinai) -> None:
    """A fork without a name is called RUN-fork-1, then RUN-fork-2; of a group, GROUP-fork-1-SEED."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-2", "--days", "3", "--name", "a")
    names = [akinai("fork", "a-1", "--after", "1", "--json").json["runs"][0]["run"] for _ in range(2)]
    assert names == ["a-1-fork-1", "a-1-fork-2"]
    group = akinai("fork", "a", "--at-day", "2", "--name", "b", "--json").json["runs"]
    assert [(run["run"], run["parent"], run["group"]) for run in group] == [
        ("b-1", "a-1#1", "b"),
        ("b-2", "a-2#1", "b"),
    ]


def test_group_grows_by_like_runs(akinai: Akinai) -> None:
    """More seeds of the same agent and settings join a group, so that a comparison can be made surer."""
    words = ("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "2", "--name", "a")
    akinai(*words, "--seeds", "1-2")
    akinai(*words, "--seeds", "3")
    assert [run["run"] for run in akinai("analyze", "a", "--json").json["runs"]] == ["a-1", "a-2", "a-3"]


def test_group_of_a_market_grows_whoever_acts_first(akinai: Akinai) -> None:
    """A seed draws who acts first; the group is one all the same, in its name and in its analysis."""
    words = ("run", "market", "--agent", "first", "--name", "a")
    assert [akinai(*words, "--seeds", seeds).code for seeds in ("1", "2", "3-4")] == [0, 0, 0]
    assert list(akinai("analyze", "a", "--json").json["groups"]) == ["first"]


def test_group_does_not_mix_playbooks(akinai: Akinai) -> None:
    """Runs that were told something else do not join a group: its figures would be of neither."""
    akinai("playbook", "add", "p.json", "Price Cola at $2.00.", "--section", "prices")
    words = ("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "2", "--name", "a")
    akinai(*words, "--seeds", "1")
    answer = akinai(*words, "--seeds", "2", "--playbook", "p.json")
    assert (
        answer.code,
        "another agent, label, model, prompt, program or playbook, or under other settings" in answer.err,
    ) == (2, True)


def test_memory_keeps_nothing(akinai: Akinai, folder: Path) -> None:
    """With --store memory: a run leaves no file."""
    assert (
        akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "2", "--store", "memory:").code
        == 0
    )
    assert list(folder.iterdir()) == []


def started(*words: str) -> "subprocess.Popen[str]":
    """The command in a process of its own, once its store is there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "akinai", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not Path("akinai.db").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    return process


def assert_stopped(process: "subprocess.Popen[str]") -> list[dict[str, Any]]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert err.strip() == "akinai: stopped; all that was played is kept: go on with 'akinai resume a'"
    runs = json.loads(out)["runs"]
    assert [(run["run"], run["status"], run["ending"]) for run in runs] == [
        ("a-1", "open", "stopped"),
        ("a-2", "open", "stopped"),
    ]
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_stopped_runs_stay_open(akinai: Akinai, stop: signal.Signals, jobs: str) -> None:
    """Ctrl-C and SIGTERM keep what was played, print the document, name the command to go on with, and exit 130."""
    process = started(*ENDLESS, "--seeds", "1-2", "--jobs", jobs, "--name", "a", "--json")
    if stop == signal.SIGINT:
        os.killpg(process.pid, stop)  # a terminal sends Ctrl-C to all processes of a command
    else:
        process.send_signal(stop)
    assert_stopped(process)
    assert akinai("verify", "a").code == 0


@pytest.mark.slow
def test_ctrl_c_twice_is_no_traceback(akinai: Akinai) -> None:
    """Who cannot wait for the end of a stop gets a sentence as well, and goes on from what was kept."""
    process = started(*ENDLESS, "--seeds", "1-2", "--jobs", "1", "--name", "a")
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.startswith("akinai: stopped")
    assert err.count("\n") == 1
    assert akinai("verify", "a").code == 0


@pytest.mark.slow
def test_dead_process_takes_no_run_along(akinai: Akinai) -> None:
    """When a process of the pool is killed, its runs and those of its pool are taken up again from their ledgers."""
    words = ("run", "vending", "--preset", "classic", "--days", "250", "--seeds", "1-3", "--json")
    process = started(*words, "--jobs", "2", "--name", "a")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        process.communicate()
        pytest.skip("no /proc to find the processes by")
    pids = children.read_text().split()
    workers = [pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(int(workers[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    alone = akinai(*words, "--jobs", "1", "--name", "b").json["runs"]
    assert [run["digest"] for run in json.loads(out)["runs"]] == [run["digest"] for run in alone]
