"""Runs played by a Ray cluster of two nodes, in a network namespace with loopback alone (`make test-ray`)."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai import worlds
from akinai.core.errors import UsageError
from akinai.runtime.seal import new_key

if {name for _, name in socket.if_nameindex()} != {"lo"}:
    pytest.fail(
        "Ray's daemons listen on every address: run this by 'make test-ray', in a namespace with loopback alone"
    )

import ray
from ray.cluster_utils import Cluster

import real_postgres

os.environ.update(
    RAY_USAGE_STATS_ENABLED="0",
    RAY_BACKEND_LOG_LEVEL="info",  # says why Ray ended a process, and is searched for passwords below
    RAY_worker_niceness="0",  # else what runs beside these tests starves the workers
    PYTHONWARNINGS="ignore",
)
LONG: dict[str, Any] = {"days": 8_000, "settings": {"max_messages": 1_000_000}}
"""Long enough to be met at play: news of a run comes once a second, and naive plays some thousand days in one."""
HERE = {"node_ip_address": "127.0.0.1", "include_dashboard": False, "object_store_memory": 100_000_000}


@pytest.fixture(scope="module")
def url() -> str:
    return real_postgres.started()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU each; drivers join the first."""
    ray_cluster = Cluster(initialize_head=True, head_node_args={**HERE, "num_cpus": 1})
    ray_cluster.worker = ray_cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1", object_store_memory=100_000_000)
    yield ray_cluster
    ray_cluster.shutdown()


def play(url: str, name: str, **overrides: Any) -> list[str]:
    options: dict[str, Any] = {"agent": "naive", "days": 20, "seeds": "1-4", "store": url, "name": name, **overrides}
    return [run.digest for run in akinai.run("vending", ledgers=False, **options)]


def test_cluster_plays_what_this_machine_plays(url: str, cluster: Any) -> None:
    """On two nodes the runs have the digests and scores of runs played here."""
    seen: list[tuple[str, int]] = []
    on = f"ray://{cluster.address}"
    played = play(url, "there", on=on, progress=lambda run, day, _: seen.append((run, day)))
    assert played == play(url, "here")
    here, there = akinai.runs("here", store=url), akinai.runs("there", store=url)
    assert [run.scores for run in here] == [run.scores for run in there]
    assert {run for run, day in seen if day == -1} == {f"there-{seed}" for seed in range(1, 5)}


def test_cluster_plays_sealed_games(url: str, cluster: Any, tmp_path: Path) -> None:
    """Under a key, with the digests and scores of the seeds that the key gives, played openly here."""
    key = new_key(tmp_path / "key.json")
    played = play(url, "sealed", on=f"ray://{cluster.address}", preset="classic", key=key.path)
    seeds = [key.seed_of(worlds.load("vending").name, "classic", index) for index in range(1, 5)]
    assert played == play(url, "open", seeds=seeds, preset="classic")
    there, here = akinai.runs("sealed", store=url), akinai.runs("open", store=url)
    assert [run.scores for run in there] == [run.scores for run in here]
    assert [run.header.sealed for run in there] == [key.sealed(index) for index in range(1, 5)]
    assert [line["run"] for line in key.log.lines()] == [run.id for run in there]


def test_cluster_judges_what_this_machine_judges(cluster: Any, tmp_path: Path) -> None:
    """Runs that judge a learning are played by the cluster without a store, with equal scores and bullets."""
    overrides: dict[str, Any] = {
        "agent": "naive",
        "seeds": "1",
        "eval_seeds": "101-103",
        "days": 10,
        "preset": "classic",
        "store": "memory:",
    }
    here = akinai.learn("vending", playbook=tmp_path / "here.json", **overrides)
    there = akinai.learn("vending", playbook=tmp_path / "there.json", on=f"ray://{cluster.address}", **overrides)
    assert there.judged is not None
    assert there.judged == here.judged
    assert there.baseline == here.baseline
    assert [bullet.content for bullet in there.playbook] == [bullet.content for bullet in here.playbook] != []


PLAY = f"""
import akinai, sys
url, on, name, seeds = sys.argv[1:]
if __name__ == "__main__":
    akinai.run("vending", agent="naive", store=url, name=name, on=on, jobs=2, seeds=seeds, **{LONG},
               progress=lambda run, day, _: print(day, flush=True))
"""


def started(folder: Path, *arguments: str, **env: str) -> "subprocess.Popen[str]":
    """A process that plays on a cluster, and that prints the days of its runs."""
    script = folder / "play.py"
    script.write_text(PLAY)
    return subprocess.Popen(
        [sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True, env={**os.environ, **env}
    )


def await_day(child: "subprocess.Popen[str]", least: int) -> None:
    assert child.stdout is not None
    assert any(int(line) > least for line in child.stdout)


def test_node_that_dies_loses_nothing(url: str, cluster: Any, tmp_path: Path) -> None:
    """A node is killed while it plays: its runs go on elsewhere, and every digest is that of an undisturbed run.

    Ray may end its driver too, where the machine has no time for it: then what was committed is resumed.
    """
    child = started(tmp_path, url, f"ray://{cluster.address}", "killed", "1-4")
    await_day(child, 1)
    cluster.remove_node(cluster.worker, allow_graceful=False)
    child.communicate()
    if child.returncode:
        assert sum(run.entries for run in akinai.runs("killed", store=url)) > 0
        akinai.resume("killed", store=url, ledgers=False)
    runs = akinai.runs("killed", store=url)
    assert [run.digest for run in runs] == play(url, "whole", **LONG)
    assert {run.status for run in runs} == {"done"}


def test_ctrl_c_stops_soon_and_keeps_what_was_played(url: str, tmp_path: Path) -> None:
    """Ctrl-C ends the command; the runs are open, and another engine ends them with equal digests.
    No password is in what Ray logged."""
    env = {"PGPASSWORD": "s3cret-word", "RAY_TMPDIR": tempfile.mkdtemp(prefix="ray-", dir="/tmp")}
    child = started(tmp_path, url, "ray", "stopped", "1-2", **env)
    await_day(child, 5)
    child.send_signal(signal.SIGINT)
    child.wait(60)
    left = akinai.runs("stopped", store=url)
    assert {(run.status, run.ending) for run in left} == {("open", "stopped")}
    assert sum(run.entries for run in left) > 0
    ended = akinai.resume("stopped", store=url, ledgers=False)
    assert [run.digest for run in ended] == play(url, "unstopped", seeds="1-2", **LONG)
    logs = [path.read_bytes() for path in Path(env["RAY_TMPDIR"]).rglob("*") if path.is_file()]
    assert logs
    assert not [text for text in logs if b"s3cret-word" in text]


def test_engine_is_refused_what_it_cannot_share(tmp_path: Path) -> None:
    """A file, memory and an address with a password are refused before anything is written or started."""
    for store in (str(tmp_path / "akinai.db"), "memory:", "postgresql://me:secret@localhost/a"):
        with pytest.raises(UsageError, match=r"other machines cannot open|holds a password"):
            play(store, "refused", on="ray")
    with pytest.raises(UsageError, match="no executor 'rey'; did you mean 'ray'"):
        play("postgresql://localhost/a", "refused", on="rey")
    assert not list(tmp_path.iterdir())
    assert not ray.is_initialized()
