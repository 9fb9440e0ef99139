"""The Python side of the command line: `akinai.run(...)` and its kin, in scripts and in notebooks."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import akinai
from akinai.core.agents import Role
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.core.scores import Score
from akinai.core.steps import Steps
from akinai.stores.memory import MemoryStore
from akinai.worlds.vending import State, Vending
from akinai.worlds.vending.model.actions import AdvanceDay, GetMoneyBalance
from lemonade import Lemonade


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings from around it."""
    for name in [name for name in os.environ if name.startswith("AKINAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Frugal:
    """Looks at the money once, then sleeps."""

    def __init__(self, role: Role) -> None:
        self.looked = False

    async def act(self, view: akinai.View, last: Outcome | None) -> akinai.Move:
        if self.looked:
            return akinai.Move(AdvanceDay())
        self.looked = True
        return akinai.Move(GetMoneyBalance(), said="let me see")


def test_import_is_light() -> None:
    """`import akinai` loads no pydantic, no numpy and no event loop."""
    script = "import sys, akinai; print([m for m in ('pydantic', 'numpy', 'asyncio', 'sqlite3') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_run_gives_ledgers_scores_and_a_summary(folder: Path) -> None:
    """`akinai.run` plays in memory by default, and what it gives holds ledgers, scores and statistics."""
    runs = akinai.run("vending", agent="idle", seeds=range(1, 4), days=5, preset="classic")
    assert [run.seed for run in runs] == [1, 2, 3]
    assert {run.score("net_worth") for run in runs} == {49_000}
    assert [len(run.ledger.entries) for run in runs] == [5, 5, 5]
    assert runs.summary()["net_worth"].mean == 49_000
    assert (runs[0].status, runs[0].ending, runs[0].days, runs[0].agent) == ("done", "horizon", 5, "idle")
    assert len(runs[1:]) == 2
    assert list(folder.iterdir()) == []
    with pytest.raises(UnknownName, match="did you mean 'net_worth'"):
        runs[0].score("networth")


async def test_works_inside_a_running_loop() -> None:
    """In a notebook, where a loop is running, all of it works and gives the same."""
    inside = akinai.run("vending", agent="naive", days=6, store="a.db", name="a", preset="classic")
    assert akinai.runs("a", store="a.db")[0].digest == inside[0].digest
    assert akinai.verify("a", store="a.db")["a-1"].ok
    digests: list[str] = []
    thread = threading.Thread(
        target=lambda: digests.append(akinai.run("vending", agent="naive", days=6, preset="classic")[0].digest)
    )
    thread.start()
    thread.join()
    assert digests == [inside[0].digest]


def test_life_of_a_run_in_python() -> None:
    """run, fork, diff, compare, resume, replay: what the commands do, as functions over one store."""
    base = akinai.run("vending", agent="naive", seeds=[1, 2], days=6, store="akinai.db", name="base", preset="classic")
    lazy = akinai.fork("base", at_day=3, agent="idle")
    assert [run.id for run in lazy] == ["base-fork-1-1", "base-fork-1-2"]
    compared = akinai.compare(base, lazy)
    assert compared == akinai.compare("base", "base-fork-1")
    messages = compared["messages"].paired
    assert messages is not None
    assert (messages.pairs, messages.wins, compared["messages"].winner) == (2, None, None)
    assert akinai.diff("base-1", "base-fork-1-1").entry == akinai.diff(base[0], lazy[0]).entry
    assert [run.digest for run in akinai.resume("base")] == [run.digest for run in base]
    assert [run.digest for run in akinai.replay("base")] == [run.digest for run in base]
    assert [run.id for run in akinai.runs()] == ["base-1", "base-2", "base-fork-1-1", "base-fork-1-2"]


def test_agent_and_world_may_be_objects() -> None:
    """A factory of agents, or a world of one's own, plays without being installed."""
    (run,) = akinai.run("vending", agent=Frugal, days=2, preset="classic")
    assert [entry.name for entry in run.ledger.entries] == ["GetMoneyBalance", "AdvanceDay", "AdvanceDay"]
    assert run.ledger.entries[0].said == "let me see"
    assert run.agent == "Frugal"
    stand = akinai.run(Lemonade(), seeds="1-3", settings={"start_cents": 500})
    assert (len(stand), stand[0].world, stand[0].days) == (3, "lemonade@1", 7)


def test_open_store_stays_open() -> None:
    """A store that is handed in is used and left open, so that memory can be forked as well."""
    store = MemoryStore()
    akinai.run("vending", agent="naive", days=4, store=store, name="a", preset="classic")
    (fork,) = akinai.fork("a-1", after=3, agent="idle", store=store)
    assert fork.header.parent == "a-1#3"
    assert len(akinai.runs(store=store)) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": []}, "no seeds"),
        ({"seeds": [1, 1]}, "seed 1 is there twice"),
        ({"seeds": [True]}, "a seed is a whole number"),
        ({"seeds": -1}, "a seed is a whole number"),
        ({"seeds": [1.5]}, "a seed is a whole number"),
        ({"jobs": 0}, "jobs is a whole number"),
        ({"jobs": 2}, "a store in memory belongs to one process"),
        ({"jobs": 2, "store": "a.db", "agent": Frugal}, "given as an object plays in this process"),
        ({"settings": {"fee_cent": 3}}, "no setting 'fee_cent'"),
        ({"name": "a/b"}, "a run's name is"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(
    folder: Path, options: dict[str, object], message: str
) -> None:
    """What cannot be played as asked is a UsageError, and no store is made."""
    with pytest.raises(UsageError, match=message):
        akinai.run("vending", **options)  # pyright: ignore[reportArgumentType] - wrong on purpose
    assert list(folder.iterdir()) == []


def test_ledgers_can_be_left_behind() -> None:
    """Without ledgers a run still has scores and digest, and says where its ledger is."""
    (run,) = akinai.run("vending", agent="idle", days=2, name="a", ledgers=False, preset="classic")
    assert (run.entries, run.score("messages")) == (2, 2)
    with pytest.raises(UsageError, match=r"akinai.runs\('a-1'\) reads it"):
        _ = run.ledger


def test_a_run_is_shown_in_a_line() -> None:
    """In a notebook a run says in a line what it is: its setup alone would fill the page."""
    (run,) = akinai.run("vending", agent="idle", days=2, name="a", preset="classic")
    assert repr(run) == "<Run a-1: vending@3 by idle, practice seed 1, horizon, net_worth 49600 cents>"


def test_a_frame_names_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither pandas nor polars is installed, a sentence says which to install."""
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match="a frame needs pandas or polars, and neither is installed"):
        akinai.run("vending", agent="idle", days=2, preset="classic").frame()


@pytest.mark.parametrize(
    ("options", "message"), [({"world": 3}, "a world is a name"), ({"agent": 3}, "an agent is a name")]
)
def test_a_number_is_no_world_and_no_agent(options: "dict[str, object]", message: str) -> None:
    """What is neither a name nor the thing itself is refused before anything is begun."""
    with pytest.raises(UsageError, match=message):
        akinai.run(**{"world": "vending", "days": 2, **options})  # pyright: ignore[reportArgumentType] - that is the test


def test_progress_is_told() -> None:
    """Progress begins with every run at day 0, tells days, and ends with -1."""
    reports: list[tuple[str, int, int]] = []
    akinai.run(
        "vending",
        agent="idle",
        seeds=[1, 2],
        days=3,
        name="a",
        progress=lambda *report: reports.append(report),
        preset="classic",
    )
    assert reports[:2] == [("a-1", 0, 3), ("a-2", 0, 3)]
    assert reports[2:] == [(run, days, 3) for run in ("a-1", "a-2") for days in (1, 2, 3, -1)]


@pytest.mark.slow
def test_ctrl_c_in_a_notebook_keeps_what_was_played() -> None:
    """KeyboardInterrupt inside a running loop comes back as Stopped, with the runs as they stand."""
    script = """
import asyncio, os, signal
import akinai

def stop(run, days, horizon):
    if days == 20:
        os.kill(os.getpid(), signal.SIGINT)

async def cell():
    endless = {"days": 0, "settings": ["max_messages=0"]}
    try:
        akinai.run("vending", seeds=[1, 2], **endless, store="a.db", name="a", progress=stop)
    except akinai.Stopped as stopped:
        print([(run.id, run.status, run.ending) for run in stopped.runs], stopped.runs[0].entries > 0)

asyncio.new_event_loop().run_until_complete(cell())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[('a-1', 'open', 'stopped'), ('a-2', 'open', 'stopped')] True\n", done.stderr
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_subclass_of_a_world_has_its_presets() -> None:
    """A world with a scorer of one's own is played with the presets of the world that it extends."""

    def overnight(steps: Steps[State]) -> list[Score]:
        return [Score("nights", sum(type(step.turn.action) is AdvanceDay for step in steps), "days")]

    class Watched(Vending):
        scorers = (*Vending.scorers, overnight)

    (run,) = akinai.run(Watched(), preset="paper", days=4)
    assert run.score("nights") == 4
    assert run.card["preset"] == "paper"
    (plain,) = akinai.run("vending", preset="paper", days=4)
    assert (plain.digest, plain.scores) == (run.digest, run.scores[:-1])
