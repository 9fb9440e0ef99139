"""Thirty days of the reference player's actions through each door: the digest of the run in process, and milliseconds.

Doors whose package is not installed here are named as such: some need an environment of their own.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import akinai
from akinai import worlds

DAYS = 30
WORLD = "vending"
Actions = Sequence[tuple[str, dict[str, Any]]]


@cache
def reference(days: int = DAYS) -> akinai.Run:
    """The run whose actions go through every door."""
    return akinai.run(WORLD, agent="reference", days=days)[0]


def actions_of(run: akinai.Run) -> Actions:
    """The recorded actions as tools and arguments."""
    verbs = worlds.load(run.world).verbs
    actions = [verbs.recorded(entry.name, entry.parameters) for entry in run.ledger.entries]
    return [(action.tool_name(), action.encode()) for action in actions]


def replies_of(run: akinai.Run) -> Sequence[str]:
    """The recorded actions as replies of a model without tool calls."""
    return [json.dumps({"action": name, "arguments": arguments}) for name, arguments in actions_of(run)]


def starting_score(run: akinai.Run) -> float:
    """The first score before anybody has acted."""
    with akinai.open(WORLD, days=run.days) as session:
        return session.scores()[0].value


def play_session(run: akinai.Run) -> akinai.Run:
    """Through an open session."""
    with akinai.open(WORLD, days=run.days) as session:
        for name, arguments in actions_of(run):
            session.act(name, arguments)
    return session.run()


def play_gymnasium(run: akinai.Run) -> akinai.Run:
    """Through Gymnasium."""
    import gymnasium

    environment = gymnasium.make(f"akinai.adapters.gymnasium:akinai/{WORLD}", days=run.days).unwrapped
    environment.reset(seed=run.seed)
    for reply in replies_of(run):
        environment.step(reply)
    session: akinai.Session = environment.session
    environment.close()
    return session.run()


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """An application on a free port of this machine; its address."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def play_openenv(run: akinai.Run) -> akinai.Run:
    """Through OpenEnv's client and server."""
    from openenv.core import GenericEnvClient

    from akinai.adapters.openenv import make_app

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        with (
            serving(make_app(WORLD, days=run.days, store=store)) as url,
            GenericEnvClient(base_url=url).sync() as client,
        ):
            client.reset(seed=run.seed, episode_id="game")
            for name, arguments in actions_of(run):
                client.step({"name": name, "arguments": arguments})
        return akinai.runs(store=store)[0]


def rollout(actions: Actions, **options: Any) -> Any:
    """The trace of a rollout of verifiers, whose harness plays these actions."""
    import verifiers.v1 as vf

    agent = {
        "harness": {"id": "scripted_harness", "env": {"ACTIONS": json.dumps(actions)}},
        "runtime": {"type": "subprocess"},
    }
    taskset = {"id": "akinai-verifiers", "world": WORLD, "seeds": 1, **options}
    environment = vf.SingleAgentEnv(vf.SingleAgentEnvConfig(taskset=taskset, agent=agent))

    async def play() -> Any:
        async with environment.serving():
            context = vf.ModelContext(model="none", client=vf.EvalClientConfig())
            return await environment.run_slot(environment.slots(next(iter(environment.taskset)))[0], context)

    episode = asyncio.run(play())
    assert episode.ok, [*episode.errors, *(trace.errors for trace in episode.traces)]
    return episode.traces[0]


def play_verifiers(run: akinai.Run) -> akinai.Run:
    """Through a rollout of verifiers."""
    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        rollout(actions_of(run), days=run.days, store=store)
        return akinai.runs(store=store)[0]


DOORS: dict[str, tuple[str, Callable[[akinai.Run], akinai.Run]]] = {
    "session": ("akinai", play_session),
    "gymnasium": ("gymnasium", play_gymnasium),
    "openenv": ("openenv", play_openenv),
    "verifiers": ("verifiers", play_verifiers),
}
"""Each door with the package that it needs, and how a run's actions go through it."""


def main() -> None:
    run = reference()
    for door, (package, play) in DOORS.items():
        if find_spec(package) is None:
            print(f"{door:20} {package} is not installed here")
            continue
        began = perf_counter()
        found = play(run)
        took_ms = (perf_counter() - began) / run.entries * 1000
        print(f"{door:20} {took_ms:7.2f} ms a call   digest {'equal' if found.digest == run.digest else 'DIFFERS'}")


if __name__ == "__main__":
    main()
