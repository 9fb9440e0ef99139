"""Things that go away under a server: the reader of its log, room on the disk, the store's file."""

import asyncio
import fcntl
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from server_process import Process, wired
from wire_server import ServeConfig, wire_to

import akinai
from akinai.core.errors import StoreError

F_SETPIPE_SZ = 1031


def dead_reader() -> int:
    """A pipe that nobody reads from any more."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def full_pipe() -> int:
    """A pipe whose reader lives and does not read: it is full already."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    try:
        while os.write(writing, b"x" * 512):
            pass
    except BlockingIOError:
        os.set_blocking(writing, True)
    os.set_inheritable(reading, False)
    return writing


def full_disk() -> int:
    """Every write fails: no space left."""
    return os.open("/dev/full", os.O_WRONLY)


@pytest.mark.slow
@pytest.mark.parametrize("sink", [dead_reader, full_pipe, full_disk])
async def test_a_log_that_is_gone_delays_no_answer_and_no_stop(tmp_path: Path, sink: Callable[[], int]) -> None:
    """Requests are answered, also those whose failure is logged, and SIGTERM ends the server at once."""
    writing = sink()
    process = Process(tmp_path, "--store", "m.db", "--run", "r", stderr=writing)
    os.close(writing)
    try:
        async with asyncio.timeout(20), wired(process) as wire:
            await wire.register("b", "business")
            await wire.register("c")
            assert not (await wire.text("c", "b"))["is_error"]
            (tmp_path / "m.db").rename(tmp_path / "away.db")
            for _ in range(50):
                assert (await wire.post("c", {"name": "FetchMessages"})).status_code == 503
            (tmp_path / "away.db").rename(tmp_path / "m.db")
            assert not (await wire.text("c", "b"))["is_error"]
    finally:
        code = process.end(signal.SIGTERM, within_s=10)
    assert code == 0


def delete(file: Path) -> None:
    file.unlink()


def replace(file: Path) -> None:
    shutil.copy(file, file.with_suffix(".copy"))
    file.with_suffix(".copy").replace(file)


def delete_journal(file: Path) -> None:
    file.with_name(f"{file.name}-wal").unlink()


def overwrite(file: Path) -> None:
    """The file stays, with another store's content."""
    other = file.with_name("other.db")
    akinai.run("vending", agent="idle", days=1, store=str(other), preset="classic")
    with file.open("r+b") as target:
        target.write(other.read_bytes())
        target.truncate()


def scribble(file: Path) -> None:
    """The file stays, and is no database any more."""
    with file.open("r+b") as target:
        target.write(b"This is no database." * 500)


HARMS = (delete, replace, delete_journal, overwrite, scribble)


@pytest.mark.parametrize(
    ("harm", "served_before"),
    [
        (delete, False),
        *((harm, True) for harm in HARMS),
        *(pytest.param(harm, False, marks=pytest.mark.slow) for harm in HARMS[1:]),
    ],
)
async def test_a_store_that_is_deleted_or_replaced_is_noticed(
    tmp_path: Path, harm: Callable[[Path], None], served_before: bool
) -> None:
    """From then on actions are answered 503 and nothing is done, also where nothing was written before; so is the stop."""
    file = tmp_path / "m.db"
    config = ServeConfig(run="r", store=str(file), port=0)
    if served_before:
        async with wire_to(config) as wire:
            await wire.register("c")

    async def serve_and_harm() -> None:
        async with wire_to(config) as wire:
            if not served_before:
                await wire.register("c")
            harm(file)
            for _ in range(2):
                answer = await wire.post("c", {"name": "FetchMessages"})
                assert answer.status_code == 503
                assert answer.json()["error"]["code"] == "store_unavailable"
            assert (await wire.http.get("/agents")).json()["total"] == 1

    with pytest.raises(StoreError, match="was deleted or replaced while it was open"):
        await serve_and_harm()


async def test_a_stop_says_that_the_store_is_gone(tmp_path: Path) -> None:
    """On stderr and in the exit code, and it does not claim that all is kept."""
    process = Process(tmp_path, "--store", "m.db", "--run", "r")
    async with wired(process) as wire:
        await wire.register("c")
    delete(tmp_path / "m.db")
    assert process.end(signal.SIGTERM) == 2
    assert "all that was answered is kept" not in process.rest
    stopped, sentence = (tmp_path / "log.jsonl").read_text().splitlines()[-2:]
    assert '"what": "stopped", "run": "r", "entries": 1, "error"' in stopped
    assert sentence.startswith("akinai: the store 'm.db' was deleted or replaced while it was open")
