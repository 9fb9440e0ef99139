"""A store of 20,000 runs: time and memory that listing, analysing and a leaderboard take, on SQLite and on PostgreSQL.

python bench/large_store.py [runs] [analysed]       by default 20,000 and 2,000; budgets are for these

Seconds are of the processor, this process's own: a PostgreSQL server's are not among them.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import akinai

RUNS, ANALYSED = [int(word) for word in sys.argv[1:]] + [20_000, 2_000][len(sys.argv) - 1 :]
PLAYED, DAYS = 50, 9
PLAYERS, BOARD_DAYS = ("idle", "naive", "careful", "reference"), 3
"""Of the leaderboard, whose runs differ: a quarter each, on SQLite."""
BUDGETS_S = {"runs": 3.0, "runs --json": 10.0, "analyze, first": 40.0, "analyze": 10.0, "leaderboard": 20.0}


def copies() -> str:
    """SQL that makes RUNS - PLAYED copies of the runs that were played; groups of CHOSEN. A digest covers no run id."""
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RUNS // PLAYED - 1})"
    group = f"'g' || (i / {ANALYSED // PLAYED})"
    return f"""
    INSERT INTO runs (run_id, genesis, agents, status, created_at, parent, group_name, ending, entries, digest, error,
      card) {numbers} SELECT i || '-' || run_id, genesis, agents, status, created_at + i, parent, {group}, ending,
      entries, digest, error, card FROM runs, n;
    INSERT INTO actions (run_id, seq, created_at, data, digest)
      {numbers} SELECT i || '-' || run_id, seq, created_at, data, digest FROM actions, n"""


def fill(url: str) -> None:
    akinai.run(
        "vending",
        agent="naive",
        days=DAYS,
        seeds=range(1, PLAYED + 1),
        store=url,
        name="g0",
        ledgers=False,
        preset="classic",
    )
    if url.startswith("postgres"):
        import psycopg

        with psycopg.connect(url, autocommit=True) as server:
            for statement in copies().split(";"):
                server.execute(statement.encode())
            server.execute("ANALYZE")
        return
    with sqlite3.connect(url) as file:
        file.executescript(copies())
    file.close()


def measured(url: str, *command: str) -> tuple[float, float, int]:
    """Seconds of the processor, megabytes at most, and characters written, of a command in a process of its own."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([sys.executable, "-m", "akinai", *command, "--store", url], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        size = out.tell()
    if status:
        raise SystemExit(f"akinai {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, size


def measure(kind: str, url: str) -> None:
    began = time.monotonic()
    fill(url)
    print(f"{kind}: {RUNS:,} runs, {ANALYSED:,} analysed; made in {time.monotonic() - began:.0f} s")
    group = f"g{RUNS // ANALYSED - 1}"
    commands = {
        "runs": ("runs",),
        "runs --json": ("runs", "--json"),
        "analyze, first": ("analyze", group, "--jobs", "1"),
        "analyze": ("analyze", group, "--jobs", "1"),
    }
    for name, command in commands.items():
        seconds, megabytes, size = measured(url, *command)
        print(
            f"  {name:<22} {seconds:6.1f} s, {seconds / BUDGETS_S[name]:.2f} of its budget; "
            f"{megabytes:4.0f} MB; {size:,} characters"
        )


def measure_leaderboard(url: str, folder: str) -> None:
    """The second one, which finds the scores of all runs."""
    for agent in PLAYERS:
        seeds = range(1, RUNS // len(PLAYERS) + 1)
        akinai.run("vending", agent=agent, days=BOARD_DAYS, seeds=seeds, store=url, name=agent, ledgers=False)
    for _ in range(2):
        seconds, megabytes, _ = measured(url, "leaderboard", *PLAYERS, "-o", folder, "--jobs", "1")
    share = seconds / BUDGETS_S["leaderboard"]
    print(f"  leaderboard of {RUNS:,} runs {seconds:6.1f} s, {share:.2f} of its budget; {megabytes:4.0f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure("SQLite", str(Path(folder) / "akinai.db"))
        measure_leaderboard(str(Path(folder) / "board.db"), str(Path(folder) / "board"))
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import real_postgres

    measure("PostgreSQL", real_postgres.started("on"))


if __name__ == "__main__":
    main()
