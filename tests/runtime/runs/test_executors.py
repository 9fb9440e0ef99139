"""One protocol of executors behind playing, reading and explaining: whoever does the work, the results are equal."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.runtime.runs.work import Died

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "akinai.db"
    for agent in ("naive", "reference"):
        akinai.run("vending", agent=agent, days=8, seeds="1-3", store=str(path), name=agent, preset="classic")
    return path


@pytest.fixture
def store(played: Path, tmp_path: Path) -> str:
    """A copy to change."""
    return str(shutil.copy(played, tmp_path))


def made_anew(store: str, ask: Callable[[], Any]) -> Any:
    """The answer, without scores that were kept before."""
    with sqlite3.connect(store) as connection:
        connection.execute("DELETE FROM run_scores")
    connection.close()
    return ask()


ASKED: dict[str, Callable[[str, str | None], Any]] = {
    "analyze": lambda store, on: akinai.analyze("naive", store=store, on=on, by_day=True).to_json(),
    "analyze, scores alone": lambda store, on: akinai.analyze("naive", store=store, on=on, evidence=False).to_json(),
    "compare": lambda store, on: akinai.compare("naive", "reference", store=store, on=on).to_json(),
    "fork": lambda store, on: [
        run.digest for run in akinai.fork("naive", at_day=4, agent="reference", store=store, on=on)
    ],
}


@pytest.mark.parametrize("name", ASKED)
def test_results_are_equal_whoever_does_the_work(store: str, elsewhere: Any, name: str) -> None:
    """What an engine reads, plays and scores equals what this process does, to the byte."""
    here = made_anew(store, lambda: ASKED[name](store, None))
    assert elsewhere.done == 0
    assert made_anew(store, lambda: ASKED[name](store, "elsewhere://there")) == here
    assert elsewhere.done > 0


def test_why_is_equal_whoever_plays_the_branches(store: str, elsewhere: Any, tmp_path: Path) -> None:
    """An engine plays the branches of an explanation, and shows the same."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(Path(store).read_bytes())
    here = akinai.why("naive-1", store=store, futures=4, budget=12)
    there = akinai.why("naive-1", store=str(copy), futures=4, budget=12, on="elsewhere://there")
    assert here == there
    assert elsewhere.done == here.branches > 0


def test_engine_says_which_store_it_cannot_open(store: str) -> None:
    """A store that the engine cannot open is refused before anything is read."""
    with pytest.raises(UsageError, match="cannot open a store in memory"):
        akinai.analyze(store="memory:", on="elsewhere://there")


@pytest.mark.slow
async def test_processes_stay_for_the_next_work() -> None:
    """The processes of a machine do work after work, and say so of a process that dies."""
    from akinai.runtime.runs.processes import LocalProcesses

    executor = LocalProcesses(1)
    try:
        pids = [result for _ in range(2) for result in [result async for result in executor.work(None, [Pid()], None)]]
        assert pids[0] == pids[1]
        died = [result async for _, result in executor.work(None, [Pid(dies=True)], None)]
        assert isinstance(died[0], Died)
        assert [result async for result in executor.work(None, [Pid()], None)] != pids[:1]
    finally:
        await executor.close()


class Pid:
    """The number of the process that does it."""

    run_ids = ()

    def __init__(self, *, dies: bool = False) -> None:
        self.dies = dies

    async def do(self, books: Any, monitor: Any) -> int:
        import os

        if self.dies:
            os._exit(1)
        return os.getpid()
