"""Thirty days of the reference player's actions through each door: the digest of the run in process, and milliseconds.

Doors whose package is not installed here are named as such: some need an environment of their own.
"""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, TypeVar

import akinai
from akinai import worlds

DAYS = 30
WORLD = "vending"
Actions = Sequence[tuple[str, dict[str, Any]]]
T = TypeVar("T")
LOOPS_MS: list[float] = []
"""Milliseconds a call, of each loop that was timed."""


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


def timed(items: Sequence[T]) -> Iterator[T]:
    """The items of a loop; notes its mean duration in `LOOPS_MS`."""
    began = perf_counter()
    yield from items
    LOOPS_MS.append((perf_counter() - began) * 1000 / len(items))


def starting_score(run: akinai.Run) -> float:
    """The first score before anybody has acted."""
    with akinai.open(WORLD, days=run.days) as session:
        return session.scores()[0].value


def play_session(run: akinai.Run) -> akinai.Run:
    """Play the run through an open session."""
    with akinai.open(WORLD, days=run.days) as session:
        for name, arguments in timed(actions_of(run)):
            session.act(name, arguments)
    return session.run()


def play_gymnasium(run: akinai.Run) -> akinai.Run:
    """Play the run through Gymnasium."""
    import gymnasium

    environment = gymnasium.make(f"akinai.adapters.gymnasium:akinai/{WORLD}", days=run.days).unwrapped
    environment.reset(seed=run.seed)
    for reply in timed(replies_of(run)):
        environment.step(reply)
    session: akinai.Session = environment.session
    environment.close()
    return session.run()


def play_langchain(run: akinai.Run) -> akinai.Run:
    """Play the run through LangChain's tools."""
    with akinai.open(WORLD, days=run.days) as session:
        tools = {tool.name: tool for tool in session.tools_for("langchain")}
        for name, arguments in timed(actions_of(run)):
            tools[name].invoke(arguments)
    return session.run()


def play_mcp(run: akinai.Run, *, over_http: bool = False) -> akinai.Run:
    """Play the run through an MCP server in a process of its own, and the newest client."""
    from mcp import Client, StdioServerParameters

    async def play(target: Any) -> None:
        async with Client(target) as client:
            for name, arguments in timed(actions_of(run)):
                await client.call_tool(name, arguments)

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        words = ["-m", "akinai", "mcp", WORLD, "--days", str(run.days), "--store", store]
        if not over_http:
            asyncio.run(play(StdioServerParameters(command=sys.executable, args=words)))
        else:
            line = [sys.executable, *words, "--http", "--port", "0"]
            with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
                assert server.stdout is not None
                url = next(text.split()[-1] for text in server.stdout if "http://" in text)
                asyncio.run(play(url))
                server.terminate()
        return akinai.runs(store=store)[0]


def play_http(run: akinai.Run) -> akinai.Run:
    """Play the run through a server in a process of its own, and the client of sessions over HTTP."""

    async def play(url: str) -> None:
        async with akinai.SessionClient(url) as client, await client.open(days=run.days) as session:
            for name, arguments in timed(actions_of(run)):
                await session.act(name, arguments)

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        line = [sys.executable, "-m", "akinai", "serve", WORLD, "--port", "0", "--store", store]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            url = next(text.split()[-1] for text in server.stdout if " on http://" in text)
            asyncio.run(play(url))
            server.terminate()
        return akinai.runs(store=store)[0]


def play_a2a(run: akinai.Run) -> akinai.Run:
    """Play the run through an A2A agent in a process of its own, and the official client."""
    from a2a.client import create_client
    from a2a.helpers import new_data_part, new_message
    from a2a.types import Role, SendMessageRequest

    async def play(url: str) -> None:
        async with await create_client(url) as client:
            for name, arguments in timed(actions_of(run)):
                message = new_message([new_data_part({"action": name, "arguments": arguments})], role=Role.ROLE_USER)
                async for _ in client.send_message(SendMessageRequest(message=message)):
                    pass

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        words = ["a2a", WORLD, "--days", str(run.days), "--store", store, "--port", "0"]
        with subprocess.Popen([sys.executable, "-m", "akinai", *words], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            asyncio.run(play(next(text.split()[-1] for text in server.stdout if "http://" in text)))
            server.terminate()
        return akinai.runs(store=store)[0]


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
    """Play the run through OpenEnv's client and server."""
    from openenv.core import GenericEnvClient

    from akinai.adapters.openenv import make_app

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        with (
            serving(make_app(WORLD, days=run.days, store=store)) as url,
            GenericEnvClient(base_url=url).sync() as client,
        ):
            client.reset(seed=run.seed, episode_id="game")
            for name, arguments in timed(actions_of(run)):
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
    """Play the run through a rollout of verifiers."""
    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        rollout(actions_of(run), days=run.days, store=store)
        return akinai.runs(store=store)[0]


def play_inspect(run: akinai.Run) -> akinai.Run:
    """Play the run through Inspect's model and tools loop, with a scripted model."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    outputs = (
        ModelOutput.for_tool_call("mock", name, arguments, content="").model_copy(update={"usage": usage})
        for name, arguments in actions_of(run)
    )
    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        arguments = {"seeds": 1, "days": run.days, "store": store}
        model = get_model("mockllm/model", custom_outputs=outputs)
        evaluate(f"akinai/{WORLD}", model=model, task_args=arguments, log_dir=folder, display="none")
        return akinai.runs(store=store)[0]


DOORS: dict[str, tuple[str, Callable[[akinai.Run], akinai.Run]]] = {
    "session": ("akinai", play_session),
    "langchain tools": ("langchain_core", play_langchain),
    "mcp over stdio": ("mcp", play_mcp),
    "mcp over http": ("mcp", partial(play_mcp, over_http=True)),
    "http": ("fastapi", play_http),
    "a2a": ("a2a", play_a2a),
    "gymnasium": ("gymnasium", play_gymnasium),
    "openenv": ("openenv", play_openenv),
    "verifiers": ("verifiers", play_verifiers),
    "inspect": ("inspect_ai", play_inspect),
}
"""Each door with the package that it needs, and the function that plays a run through it."""


def main() -> None:
    run, own = reference(), 0.0
    for door, (package, play) in DOORS.items():
        if find_spec(package) is None or (door.startswith("mcp") and version("mcp") < "2.1"):
            print(f"{door:16} its package is not installed here")
            continue
        LOOPS_MS.clear()
        began = perf_counter()
        replayed = play(run)
        took = LOOPS_MS[0] if LOOPS_MS else (perf_counter() - began) / run.entries * 1000
        own = own or took
        over = f"{took - own:6.2f} beyond the session's" if took > own else ""
        unit = "ms a call" if LOOPS_MS else "ms a call, start included"
        print(f"{door:16} digest {'equal' if replayed.digest == run.digest else 'DIFFERS':8} {took:7.2f} {unit} {over}")


if __name__ == "__main__":
    main()
