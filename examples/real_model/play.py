"""A small real language model plays: a week of vending, a small market and a sheet of questions; and it is asked to
learn sums. `make real` runs it.

The model and its runtime come as packages; there is no key and no account. It plays badly: what is tried is the way of
a model's replies through Akinai, with the loops and the nonsense of a real model. `make real-large` lets a model of 1.5
billion parameters play ten days of the quarter, by tool calls and by JSON, with six tools and a prompt of its own, and
six weeks on a street with rivals, one of whom writes to it each week.
"""

import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import akinai
from akinai.learning import DataSet, Task
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
SUMS = (Task("1", "What is 2 + 3? Answer with a number.", "5"), Task("2", "What is 4 + 4? Answer with a number.", "8"))
TRIES = 2
LEARNER: Mapping[str, Any] = {
    "timeout": 600,
    "reply_tokens": 150,
    "online": True,
    "settings": {"tries": TRIES, "new_tries": False, "unreadable_limit": 0},
}

QUARTER: Mapping[str, Any] = {
    "preset": "quarter",
    "days": 10,
    "max_actions": 300,
    "temperature": 0.9,
    "settings": {
        "tools": ["search_web", "get_price_lists", "place_order", "visit_site", "change_prices", "advance_day"]
    },
}
BY_PROTOCOL: Mapping[str, Mapping[str, Any]] = {"chat": {"window": 3_000}, "structured": {"window": 2_000}}
"""The window holds the last exchange or two: with more in sight, so small a model goes on with what it did before."""
STREET: Mapping[str, Any] = {
    "preset": "arena-sprint",
    "days": 42,
    "seeds": "2",
    "max_actions": 45,
    "temperature": 0.7,
    "window": 4_500,
}
RIVALS = {"owners.2.agent": "listed", "owners.3.agent": "naive", "owners.1.tools": "week,send_letter", "advice": True}
LARGE = (
    *("--qwen", "--tools", "99", "--text", "500", "--reply", "900"),
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
    """What became of a run, in a line. Businesses and rivals are played by rules; each other entry is a call of the
    model."""
    by_rules = ("business", "owner_2", "owner_3", "owner_4")
    calls = [entry.outcome for entry in run.ledger.entries if not entry.actor.startswith(by_rules)]
    refused = sum(not outcome.ok for outcome in calls)
    unreadable = sum(outcome.code == "no_action" for outcome in calls)
    score = run.scores[0]
    return (
        f"{run.world}: {len(calls)} calls, {refused} refused, {unreadable} unreadable, {run.ending}; "
        f"{score.name} {score.value} {score.unit}"
    )


def learn_sums(url: str, playbook: Path, *, structured: bool) -> str:
    """Learn from sums by the model in all three roles, and say what became of its replies. They pass the learner's
    reader: with `structured` the server keeps them to the roles' schemas, else the model writes what it likes.

    RuntimeError where a reply was neither read nor refused with a reason.
    """
    tasks = SUMS if structured else SUMS[:1]
    sums = DataSet("sums", lambda split: tasks if split == "train" else ())
    options = {**LEARNER, "settings": {"structured": structured, **LEARNER["settings"]}}
    learned = akinai.learn(sums, model=MODEL, base_url=url, playbook=playbook, **options)
    (epoch,), spent = learned.to_json()["training"], learned.usage
    given_up = epoch["failed"] + epoch["given_up"]
    refused = sum(spent.reasons.values())
    if spent.unreadable != refused or refused < TRIES * given_up or learned.ending != "done":
        raise RuntimeError(f"{spent.unreadable} replies could not be read, {refused} with a reason: {epoch}")
    return (
        f"learner: {spent.calls} calls, {refused} unreadable {spent.reasons}, {given_up} given up; {epoch['learned']} "
        f"operations done, refused {epoch['refused']}"
    )


def main(folder: Path) -> None:
    """Play all three worlds, then learn; `akinai show RUN` reads what the model did."""
    store = str(folder / "akinai.db")
    with serving(folder) as url:
        for world, options in WORLDS.items():
            run = play(url, world, store=store, **options)
            print(f"{run.id:24}", summary(run), flush=True)
        for structured in (True, False):
            print(learn_sums(url, folder / f"sums-{structured}.json".lower(), structured=structured), flush=True)


def play_quarter(folder: Path, large: Path) -> None:
    """Play ten days by both protocols, a reply that cannot be read being an event of the game."""
    (weights,) = large.glob("*.gguf")
    options = {**QUARTER, "model": MODEL, "timeout": 900, "store": str(large / "akinai.db")}
    with serving(folder, weights, LARGE) as url:
        for agent, window in BY_PROTOCOL.items():
            prompt = str(Path(__file__).with_name(f"{agent}.txt"))
            (run,) = akinai.run("vending", **{**options, **window, "agent": agent, "prompt": prompt, "base_url": url})
            print(f"{run.id:24}", agent, summary(run), flush=True)


def play_street(folder: Path, large: Path) -> None:
    """Play six weeks by the week beside two players by rules and a rival by script who writes letters."""
    (weights,) = large.glob("*.gguf")
    here = Path(__file__).parent
    settings = {**RIVALS, "owners.4.agent": f"script:{here / 'rival.jsonl'}"}
    options = {**STREET, "settings": settings, "prompt": str(here / "street.txt"), "timeout": 900}
    with serving(folder, weights, LARGE) as url:
        (run,) = akinai.run("vending", model=MODEL, base_url=url, store=str(large / "akinai.db"), **options)
        print(f"{run.id:24}", "street", summary(run), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        play_quarter(Path(sys.argv[1]), Path(sys.argv[2]))
        play_street(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
