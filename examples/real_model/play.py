"""A small real language model plays: a week of vending, a small market and a sheet of questions. `make real` runs it.

The model and its runtime come as packages; there is no key and no account. It plays badly: what is tried is the way of
a model's replies through Akinai, with the loops and the nonsense of a real model. `make real-large` lets a model of 1.5
billion parameters play ten days of the quarter, by tool calls and by JSON, with a few sentences of advice.
"""

import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import akinai
from akinai.runtime.runs.processes import available_cpus

MODEL = "openai:small"
WINDOW = 6_000
"""Tokens of a conversation; the model's context holds 8,192."""
MARKET = {"customers.count": 1, "businesses.count": 2, "businesses.agent": "careful"}
WORLDS: Mapping[str, Mapping[str, Any]] = {
    "qa": {"settings": {"draw": 10}},
    "market": {"settings": MARKET, "max_actions": 30},
    "vending": {"days": 7, "max_actions": 300},
}


QUARTER: Mapping[str, Any] = {
    "preset": "quarter",
    "days": 10,
    "max_actions": 300,
    "window": 8_000,
    "playbook": str(Path(__file__).with_name("advice.md")),
}
LARGE = (
    *("--qwen", "--tools", "99", "--text", "500", "--reply", "500"),
    *("--context", "12000", "--conversations", "3", "--threads", str(min(2, available_cpus()))),
)


@contextmanager
def serving(folder: Path, weights: Path | None = None, flags: Sequence[str] = ()) -> Generator[str]:
    """A server of `weights`, or of the model in `folder`, where the runtime is; its address for OpenAI's clients."""
    if weights is None:
        (weights,) = folder.rglob("*.gguf")
    script = shutil.copy(Path(__file__).with_name("server.mjs"), folder)  # which imports the runtime beside it
    with subprocess.Popen(["node", script, str(weights), *flags], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def play(url: str, world: str, **options: Any) -> akinai.Run:
    """A run of a world by the model; it fails unless every reply is an action that the world knows."""
    (run,) = akinai.run(world, **{"model": MODEL, "base_url": url, "window": WINDOW, "timeout": 600, **options})
    unread = [entry for entry in run.ledger.entries if entry.outcome.code == "no_action"]
    if run.status != "done" or unread:
        raise RuntimeError(f"{world}: {run.status} {run.reason or ''} {[entry.parameters for entry in unread]}")
    return run


def summary(run: akinai.Run) -> str:
    """What became of a run, in a line. Businesses are played by rules; each other entry is a call of the model."""
    calls = [entry.outcome for entry in run.ledger.entries if not entry.actor.startswith("business")]
    refused = sum(not outcome.ok for outcome in calls)
    unreadable = sum(outcome.code == "no_action" for outcome in calls)
    score = run.scores[0]
    return (
        f"{run.world}: {len(calls)} calls, {refused} refused, {unreadable} unreadable, {run.ending}; "
        f"{score.name} {score.value} {score.unit}"
    )


def main(folder: Path) -> None:
    """Play all three worlds; `akinai show RUN` reads what the model did."""
    store = str(folder / "akinai.db")
    with serving(folder) as url:
        for world, options in WORLDS.items():
            run = play(url, world, store=store, **options)
            print(f"{run.id:24}", summary(run), flush=True)


def play_quarter(folder: Path, large: Path) -> None:
    """Play ten days by both protocols, a reply that cannot be read being an event of the game."""
    (weights,) = large.glob("*.gguf")
    options = {**QUARTER, "model": MODEL, "timeout": 900, "store": str(large / "akinai.db")}
    with serving(folder, weights, LARGE) as url:
        for agent in ("chat", "structured"):
            (run,) = akinai.run("vending", **{**options, "agent": agent, "base_url": url})
            print(f"{run.id:24}", agent, summary(run), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        play_quarter(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
