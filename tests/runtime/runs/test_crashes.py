"""kill -9 at any moment, then resume: the end equals the uninterrupted run's, byte for byte."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

import akinai
import forked

DAYS = 90
CHILD = """
import sys, akinai, akinai.runtime.play.driver
akinai.runtime.play.driver.BATCH = int(sys.argv[2])
akinai.run("vending", agent="reference", seeds=1, days=90, preset="classic", store=sys.argv[1], name="cut")
"""


def entries_in(store: Path) -> int:
    """Entries that are committed, seen from another process; 0 while there is no table."""
    if not store.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as book:
            return book.execute("SELECT count(*) FROM actions").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        if "book" in locals():
            book.close()


def kill_after(store: Path, entries: int, batch: int) -> int:
    """Begin the run in a process, kill it when so many entries are committed, and count what was left."""
    child = forked.Popen([sys.executable, "-c", CHILD, str(store), str(batch)])
    while child.poll() is None and entries_in(store) < entries:
        time.sleep(0.001)
    child.send_signal(signal.SIGKILL)
    child.wait()
    return entries_in(store)


@cache
def whole_run() -> akinai.Run:
    return akinai.run("vending", agent="reference", seeds=1, days=DAYS, preset="classic")[0]


@pytest.mark.slow
@pytest.mark.parametrize("cut", range(20))
def test_a_killed_run_resumes_to_the_end_it_would_have_had(cut: int, tmp_path: Path) -> None:
    """At twenty random moments of a ninety-day run: after kill -9 and resume the digest is the uninterrupted one's."""
    moment, whole = random.Random(cut), whole_run()
    store = tmp_path / "akinai.db"
    left = kill_after(store, moment.randrange(1, len(whole.ledger.entries) - 10), batch=moment.choice((1, 3, 10)))
    assert 0 < left <= len(whole.ledger.entries)
    (run,) = akinai.resume("cut-1", store=str(store))
    assert (run.header.status, run.header.ending) == ("done", "horizon")
    assert run.ledger.digest == whole.ledger.digest
    assert akinai.verify("cut-1", store=str(store))["cut-1"].ok


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_stood(tmp_path: Path) -> None:
    """Ctrl-C keeps what was played and leaves the run open; resumed it ends with the digest of a run in one go."""
    store = tmp_path / "akinai.db"
    command = [
        sys.executable,
        "-m",
        "akinai",
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "reference",
        "--days",
        "1500",
    ]
    command += ["--set", "max_messages=0", "--name", "long", "--store", str(store)]
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    while entries_in(store) < 500 and child.poll() is None:
        time.sleep(0.002)
    child.send_signal(signal.SIGINT)
    _, output = child.communicate(timeout=60)
    assert child.returncode == 130, output
    assert "akinai resume" in output
    (stopped,) = akinai.runs("long-1", store=str(store))
    assert (stopped.header.status, stopped.header.ending) == ("open", "stopped")
    (resumed,) = akinai.resume("long-1", store=str(store))
    whole = akinai.run("vending", agent="reference", days=1500, settings={"max_messages": 0}, preset="classic")[0]
    assert resumed.ledger.digest == whole.ledger.digest
