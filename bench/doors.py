"""The reference's actions through each door, in several games: the digest of the native run, and milliseconds a call;
days a second of CPU of each, of client and server together, beside those of the rules alone.

Doors whose package is in an environment of its own are played there, where `make environments` has made it; the others
are named as not installed. `python bench/doors.py DOOR` plays one.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import Any, NamedTuple, TypeVar

import akinai
from akinai import worlds
from akinai.core.worlds import read_turn, step
from akinai.runtime.seal import load_key

DAYS = 30
WORLD = "vending"
Actions = Sequence[tuple[str, dict[str, Any]]]
T = TypeVar("T")


class Loop(NamedTuple):
    """The time that a loop of actions took."""

    seconds: float
    cpu_s: float
    """Of this process and of those that it started."""


LOOPS: list[Loop] = []
"""Each loop that was timed."""


@dataclass(frozen=True)
class Game:
    """A game that is played through doors by the actions of the world's first player."""

    world: str = WORLD
    days: int | None = DAYS
    preset: str | None = None
    hold: str | None = None
    """The group of actors that is played, if it is not everybody."""
    key: str | None = None
    """The file of a key, under which game 1 is played through a door."""

    @property
    def setup(self) -> dict[str, Any]:
        """What of `akinai.run` and `akinai.open` is played."""
        return {name: value for name in ("days", "preset") if (value := getattr(self, name)) is not None}

    @property
    def options(self) -> dict[str, Any]:
        """The options of `akinai.open`."""
        own: dict[str, Any] = {"hold": [self.hold] if self.hold else None, "key": self.key}
        return {**self.setup, **{name: value for name, value in own.items() if value}}

    @property
    def flags(self) -> list[str]:
        """The same on the command line."""
        return [
            word
            for name in ("days", "preset", "hold", "key")
            if (value := getattr(self, name))
            for word in (f"--{name}", str(value))
        ]

    @property
    def actions(self) -> Actions:
        """The actions of the reference by those who are played, as tools and arguments."""
        return [action for actions in self.by_actor(together=True).values() for action in actions]

    def by_actor(self, *, together: bool = False) -> Mapping[str, Actions]:
        """The actions of each actor that is played, or under one name of all `together`, in the ledger's order."""
        run, actions = reference(self), dict[str, list[tuple[str, dict[str, Any]]]]()
        verbs = worlds.load(run.world).verbs
        for entry in run.ledger.entries:
            if entry.actor.startswith((self.hold or "").removesuffix("s")):
                action = verbs.recorded(entry.name, entry.parameters)
                actions.setdefault("" if together else entry.actor, []).append((action.tool_name(), action.encode()))
        return actions


GAMES = {
    "vending quarter": Game(days=10),
    "vending classic": Game(days=10, preset="classic"),
    "vending sprint": Game(days=14, preset="sprint"),
    "market": Game("market", days=None, hold="customers"),
    "qa": Game("qa", days=None),
}
"""The games of the table in docs/design/seats.md."""


@cache
def reference(game: Game = Game()) -> akinai.Run:
    """The run whose actions go through every door; of a sealed game it is played on the seed itself."""
    seed = (
        1 if game.key is None else load_key(game.key).seed_of(worlds.load(game.world).name, game.preset or "default", 1)
    )
    return akinai.run(game.world, seeds=seed, **game.setup)[0]


def starting_score(game: Game = Game()) -> float:
    """The first score before anybody has acted."""
    with opened(game) as session:
        return session.scores()[0].value


def opened(game: Game) -> akinai.Session:
    """A session of the game."""
    return akinai.open(game.world, **game.options)


Tools = Mapping[str, tuple[str, tuple[str, ...]]]
"""By name: the description, and the names of the parameters."""


def described(tools: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Tools:
    """Tools of any framework by name, description and JSON Schema."""
    return {name: (text, tuple(sorted(schema.get("properties") or {}))) for name, text, schema in tools}


@dataclass(frozen=True)
class Played:
    """What a door offered, and the run that came of it."""

    run: akinai.Run
    tools: Tools
    prompt: str


def own(session: Any) -> tuple[Tools, str]:
    """Tools and prompt of a session, as Akinai's own chat agent has them."""
    tools = [verb.tool(inline=True) for verb in session.verbs()]
    return described([(tool["name"], tool["description"], tool["parameters"]) for tool in tools]), session.prompt()


def timed(items: Sequence[T]) -> Iterator[T]:
    """The items of a loop; notes its time in `LOOPS`."""
    began, cpu_began = perf_counter(), cpu_s()
    yield from items
    LOOPS.append(Loop(perf_counter() - began, cpu_s() - cpu_began))


def cpu_s() -> float:
    """Seconds of CPU of this process and of those that it started and that run still, where Linux tells them."""
    children = [id for task in Path("/proc/self/task").glob("*/children") for id in task.read_text().split()]
    fields = [Path(f"/proc/{id}/stat").read_text().rpartition(")")[2].split() for id in children]
    return process_time() + sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")


def play_session(game: Game) -> Played:
    """Through an open session."""
    with opened(game) as session:
        offer = own(session)
        for name, arguments in timed(game.actions):
            session.act(name, arguments)
    return Played(session.run(), *offer)


def play_chat(game: Game) -> Played:
    """By Akinai's own chat agent, whose model replies with the actions."""
    from akinai.core.models import Reply, ToolCall
    from akinai.testing.endpoint import Endpoint, ModelCall

    class Script:
        """Each actor's actions in order, a tool call a reply."""

        def __init__(self) -> None:
            self.actions = {actor: iter(actions) for actor, actions in game.by_actor().items()}

        async def reply(self, call: ModelCall) -> Reply:
            actor = next(actor for actor in self.actions if f"/{actor}" in call.key)
            name, arguments = next(self.actions[actor])
            return Reply("", (ToolCall(f"call-{call.nth}", name, arguments),))

    with Endpoint(Script()) as endpoint:
        clock = {"clock": "virtual"} if game.hold else {}  # with a model a market plays in real time
        (run,) = akinai.run(game.world, model="openai:m", base_url=endpoint.openai_url, settings=clock, **game.setup)
        request = endpoint.calls[0].request
    return Played(
        run,
        described([(tool["name"], tool["description"], tool["parameters"]) for tool in request.tools]),
        request.messages[0].text,
    )


def play_gymnasium(game: Game) -> Played:
    """Through Gymnasium."""
    import gymnasium

    environment: Any = gymnasium.make(f"akinai.adapters.gymnasium:akinai/{game.world}", **game.options).unwrapped
    _, info = environment.reset(seed=reference(game).seed)
    offer = own(environment.session)
    replies = [json.dumps({"action": name, "arguments": arguments}) for name, arguments in game.actions]
    for reply in timed(replies):
        environment.step(reply)
    session: akinai.Session = environment.session
    environment.close()
    return Played(session.run(), offer[0], info["prompt"])


def play_pettingzoo(game: Game) -> Played:
    """Through a parallel environment of PettingZoo, an agent's action a step."""
    from akinai.adapters.pettingzoo import WorldParallelEnv

    environment, replies = WorldParallelEnv(game.world, **game.options), dict[str, deque[str]]()
    for actor, actions in game.by_actor().items():
        for name, arguments in actions:
            replies.setdefault(actor, deque()).append(json.dumps({"action": name, "arguments": arguments}))
    _, infos = environment.reset(seed=reference(game).seed)
    tools, prompt = own(environment.game)[0], next(info["prompt"] for info in infos.values() if info["turn"])
    for _ in timed(game.actions):
        agent = next(agent for agent, info in infos.items() if info["turn"])
        infos = environment.step({agent: replies[environment.game.actor or ""].popleft()})[-1]
    return Played(environment.game.record(), tools, prompt)


def play_langchain(game: Game) -> Played:
    """Through LangChain's tools."""
    with opened(game) as session:
        tools = {tool.name: tool for tool in session.tools_for("langchain")}
        prompt = session.prompt()
        for name, arguments in timed(game.actions):
            tools[name].invoke(arguments)
    return Played(
        session.run(), described([(tool.name, tool.description, tool.args_schema) for tool in tools.values()]), prompt
    )


def play_openai(game: Game) -> Played:
    """Through the loop of OpenAI's client."""
    with opened(game) as session:
        tools = [tool["function"] for tool in session.tools_for("openai")]
        prompt = session.prompt()
        for name, arguments in timed(game.actions):
            call = {"id": "a", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            session.answer({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]})
    return Played(
        session.run(), described([(tool["name"], tool["description"], tool["parameters"]) for tool in tools]), prompt
    )


def play_anthropic(game: Game) -> Played:
    """Through the loop of Anthropic's client."""
    with opened(game) as session:
        tools, prompt = session.tools_for("anthropic"), session.prompt()
        for name, arguments in timed(game.actions):
            block = {"type": "tool_use", "id": "a", "name": name, "input": arguments}
            session.answer({"role": "assistant", "content": [block]})
    return Played(
        session.run(), described([(tool["name"], tool["description"], tool["input_schema"]) for tool in tools]), prompt
    )


def play_autogen(game: Game) -> Played:
    """Through AutoGen's tools."""
    from autogen_core import CancellationToken

    with opened(game) as session:
        tools = {tool.name: tool for tool in session.tools_for("autogen")}
        prompt = session.prompt()
        for name, arguments in timed(game.actions):
            asyncio.run(tools[name].run_json(arguments, CancellationToken()))
    schemas = [tool.schema for tool in tools.values()]
    return Played(
        session.run(), described([(tool["name"], tool["description"], tool["parameters"]) for tool in schemas]), prompt
    )


@contextmanager
def program(*words: str) -> Iterator[Iterator[str]]:
    """The lines that a command of Akinai prints while it runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "akinai", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield iter(process.stdout)
        finally:
            process.terminate()


def seats_of(game: Game, lines: Iterator[str]) -> dict[str, str]:
    """The address of each seat, as `akinai mcp` and `akinai a2a` print them."""
    next(lines)
    return dict(next(lines).split()[:2] for _ in game.by_actor())


def play_mcp(game: Game, *, over_http: bool = False) -> Played:
    """Through an MCP server in a process of its own, and the newest client."""
    from mcp import Client, StdioServerParameters

    async def play(target: Any, actions: Actions) -> tuple[Tools, str]:
        async with Client(target) as client:
            tools = [tool for tool in (await client.list_tools()).tools if tool.name != "look"]
            prompt = (await client.get_prompt("play")).messages[0].content.text
            for name, arguments in timed(actions):
                await client.call_tool(name, arguments)
        return described([(tool.name, tool.description, tool.input_schema) for tool in tools]), prompt

    async def play_all(addresses: Mapping[str, str]) -> tuple[Tools, str]:
        offers = await asyncio.gather(*(play(url, game.by_actor()[actor]) for actor, url in addresses.items()))
        return offers[0]

    with TemporaryDirectory() as folder:
        words = ["mcp", game.world, *game.flags, "--store", f"{folder}/akinai.db"]
        if over_http:
            with program(*words, "--http", "--port", "0") as lines:
                offer = asyncio.run(play_all(seats_of(game, lines)))
        else:
            server = StdioServerParameters(command=sys.executable, args=["-m", "akinai", *words], env={**os.environ})
            offer = asyncio.run(play(server, game.actions))
        return Played(akinai.runs(store=f"{folder}/akinai.db")[0], *offer)


def play_http(game: Game) -> Played:
    """Through a server in a process of its own, and the client of sessions over HTTP."""

    async def play(url: str) -> tuple[Tools, str]:
        options = {name: value for name, value in game.options.items() if name != "key"}
        async with akinai.SessionClient(url) as client, await client.open(**options) as session:
            prompt, tools = await session.prompt(), list[Any]()
            for name, arguments in timed(game.actions):
                if game.world != WORLD or not tools:  # elsewhere they change with the turns
                    tools += [tool for tool in await session.tools(inline=True) if tool not in tools]
                await session.act(name, arguments)
        return described([(tool["name"], tool["description"], tool["parameters"]) for tool in tools]), prompt

    key = ["--key", game.key] if game.key else []
    with (
        TemporaryDirectory() as folder,
        program("serve", game.world, "--port", "0", "--store", f"{folder}/akinai.db", *key) as lines,
    ):
        offer = asyncio.run(play(next(text.split()[-1] for text in lines if " on http://" in text)))
        return Played(akinai.runs(store=f"{folder}/akinai.db")[0], *offer)


def play_a2a(game: Game) -> Played:
    """Through A2A agents in a process of their own, and the official client."""
    import httpx
    from a2a.client import create_client
    from a2a.helpers import get_text_parts, new_data_part, new_message
    from a2a.types import Role, SendMessageRequest

    async def ask(client: Any, name: str, arguments: Mapping[str, Any] | None = None) -> str:
        data = new_data_part({"action": name, "arguments": {**(arguments or {})}})
        parts: Any = []
        async for event in client.send_message(SendMessageRequest(message=new_message([data], role=Role.ROLE_USER))):
            parts = event.message.parts if event.HasField("message") else parts
        return "\n".join(get_text_parts(parts))

    async def play(url: str, actions: Actions) -> tuple[Tools, str]:
        async with httpx.AsyncClient() as http:
            card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
        async with await create_client(url) as client:
            prompt = await ask(client, "prompt")
            for name, arguments in timed(actions):
                await ask(client, name, arguments)
        skills = [
            (skill["name"], *skill["description"].split("\n\nIts arguments as JSON Schema: "))
            for skill in card["skills"]
        ]
        return described([(name, text, json.loads(schema)) for name, text, schema in skills]), prompt

    async def play_all(addresses: Mapping[str, str]) -> tuple[Tools, str]:
        offers = await asyncio.gather(*(play(url, game.by_actor()[actor]) for actor, url in addresses.items()))
        return offers[0]

    with TemporaryDirectory() as folder:
        with program("a2a", game.world, *game.flags, "--store", f"{folder}/akinai.db", "--port", "0") as lines:
            offer = asyncio.run(play_all(seats_of(game, lines)))
        return Played(akinai.runs(store=f"{folder}/akinai.db")[0], *offer)


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


def play_openenv(game: Game) -> Played:
    """Through OpenEnv's client and server."""
    from openenv.core import GenericEnvClient

    from akinai.adapters.openenv import make_app

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        with (
            serving(make_app(game.world, store=store, **game.options)) as url,
            GenericEnvClient(base_url=url).sync() as client,
        ):
            begun = client.reset(seed=reference(game).seed, episode_id="game").observation
            for name, arguments in timed(game.actions):
                client.step({"name": name, "arguments": arguments})
        tools = [(tool["name"], tool["description"], tool["parameters"]) for tool in begun["tools"]]
        return Played(akinai.runs(store=store)[0], described(tools), begun["text"])


def rollout(actions: Actions, **options: Any) -> Any:
    """The trace of a rollout of verifiers, whose harness plays these actions."""
    import verifiers.v1 as vf

    agent = {
        "harness": {"id": "scripted_harness", "env": {"ACTIONS": json.dumps(actions)}},
        "runtime": {"type": "subprocess"},
    }
    taskset = {"id": "akinai-verifiers", "world": WORLD, "split": "practice", "seeds": 1, **options}
    environment = vf.SingleAgentEnv(vf.SingleAgentEnvConfig(taskset=taskset, agent=agent))

    async def play() -> Any:
        async with environment.serving():
            context = vf.ModelContext(model="none", client=vf.EvalClientConfig())
            return await environment.run_slot(environment.slots(next(iter(environment.taskset)))[0], context)

    episode = asyncio.run(play())
    assert episode.ok, [*episode.errors, *(trace.errors for trace in episode.traces)]
    return episode.traces[0]


def play_verifiers(game: Game) -> Played:
    """Through a rollout of verifiers."""
    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        trace = rollout(game.actions, world=game.world, store=store, **game.options)
        tools = [(tool["name"], tool["description"], tool["inputSchema"]) for tool in trace.info["tools"]]
        return Played(akinai.runs(store=store)[0], described(tools), trace.info["prompt"])


def play_inspect(game: Game) -> Played:
    """Through Inspect's model and tools loop, with a scripted model that knows each actor's name."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    queues = {actor: iter(actions) for actor, actions in game.by_actor().items()}

    offers: list[tuple[Any, str]] = []

    def reply(messages: Sequence[Any], tools: Any, *_: Any) -> ModelOutput:
        offers.append((tools, messages[0].text))
        actor = next((actor for actor in queues if actor in messages[0].text), next(iter(queues)))
        name, arguments = next(queues[actor])
        output = ModelOutput.for_tool_call("mock", name, arguments, content="")
        return output.model_copy(update={"usage": usage})

    with TemporaryDirectory() as folder:
        store = f"{folder}/akinai.db"
        arguments = {"seeds": 1, "store": store, **game.options}
        model = get_model("mockllm/model", custom_outputs=reply)
        evaluate(f"akinai/{game.world}", model=model, task_args=arguments, log_dir=folder, display="none")
        tools, prompt = offers[0]
        offer = described([(tool.name, tool.description, tool.parameters.model_dump()) for tool in tools])
        return Played(akinai.runs(store=store)[0], offer, prompt)


@dataclass(frozen=True)
class Door:
    """A way to play from outside."""

    package: str
    """What it needs."""
    play: Callable[[Game], Played]
    adapter: str = ""
    """The adapter whose environment of its own has the package; empty where the tests' own has it."""
    lists_all: bool = True
    """Whether it lists all tools at once, with those of sub-agents that its client may get to play."""


DOORS = {
    "session": Door("akinai", play_session),
    "chat agent": Door("langchain_openai", play_chat, lists_all=False),
    "LangChain's tools": Door("langchain_core", play_langchain),
    "OpenAI's loop": Door("akinai", play_openai),
    "Anthropic's loop": Door("akinai", play_anthropic),
    "MCP over stdio": Door("mcp", play_mcp),
    "MCP over HTTP": Door("mcp", partial(play_mcp, over_http=True)),
    "HTTP sessions": Door("fastapi", play_http, lists_all=False),
    "Gymnasium": Door("gymnasium", play_gymnasium),
    "PettingZoo": Door("pettingzoo", play_pettingzoo),
    "A2A": Door("a2a", play_a2a, "a2a"),
    "AutoGen's tools": Door("autogen_core", play_autogen, "autogen"),
    "Inspect AI": Door("inspect_ai", play_inspect, "inspect"),
    "OpenEnv": Door("openenv", play_openenv, "openenv"),
    "verifiers": Door("verifiers", play_verifiers, "verifiers"),
}
"""Every door, with the package that it needs, and the function that plays a game through it."""


def raw_world(game: Game) -> float:
    """Seconds of CPU of the rules alone, for the actions of the reference."""
    run = reference(game)
    world = worlds.load(run.world)
    turns = [read_turn(world, entry) for entry in run.ledger.entries]
    began = process_time()
    state = world.begin(run.ledger.genesis)
    for turn in turns:
        state, _ = step(world, state, turn)
    return process_time() - began


def batched(game: Game, size: int = 4) -> float:
    """Seconds of CPU of one game of a batch, whose every game is played alike; the actions are read before."""
    run = reference(game)
    verbs = worlds.load(run.world).verbs
    actions = [verbs.recorded(entry.name, entry.parameters) for entry in run.ledger.entries]
    batch = akinai.batch(game.world, seeds=run.seed, n=size, **game.options)
    began = process_time()
    batch.reset()
    for action in actions:
        batch.step([action] * size)
    took = (process_time() - began) / size
    assert all(game.done for game in batch.games)
    return took


def through(play: Callable[[Game], Played]) -> Callable[[Game], float]:
    """Seconds of CPU of a game through a door."""

    def play_and_time(game: Game) -> float:
        reference(game)
        began = process_time()
        play(game)
        return process_time() - began

    return play_and_time


def print_rates(game: Game, tries: int = 3) -> None:
    """Days a second of CPU in one run, the best of some tries, and their ratio to the rules alone."""
    ways = {
        "raw world": raw_world, "batch": batched, "session": through(play_session), "Gymnasium": through(play_gymnasium)
    }  # fmt: skip
    rates = {name: max((game.days or 0) / way(game) for _ in range(tries)) for name, way in ways.items()}
    for name, rate in rates.items():
        print(f"{name:18} {rate:8.0f} days a second of CPU {rate / rates['raw world']:7.0%}")


def is_installed(door: Door) -> bool:
    """Whether a door can be played here."""
    return find_spec(door.package) is not None and (door.package != "mcp" or version("mcp") >= "2.1")


def print_door(name: str, raw: float) -> None:
    """A row of a door: whether the digest is that of the native run, and what a call and a day cost."""
    game, door = Game(), DOORS[name]
    run = reference(game)
    LOOPS.clear()
    began, cpu_began = perf_counter(), process_time()
    played = door.play(game)
    whole = Loop(perf_counter() - began, process_time() - cpu_began)
    loop = LOOPS[0] if LOOPS else whole
    digest = "equal" if played.run.digest == run.digest else "DIFFERS"
    rate = (game.days or 0) / loop.cpu_s
    start = "" if LOOPS else ", start included"
    print(
        f"{name:18} digest {digest:8} {loop.seconds * 1000 / run.entries:7.2f} ms a call, "
        f"{rate:7.0f} days a second of CPU {rate / raw:6.1%}{start}",
        flush=True,
    )


def main(door: str = "") -> None:
    raw = DAYS / min(raw_world(Game()) for _ in range(3))
    if door:
        return print_door(door, raw)
    for preset in ("quarter", "classic", "sprint"):
        print(f"\n{WORLD}, {preset}, {DAYS} days")
        print_rates(Game(preset=preset))
    print(f"\n{WORLD}, {DAYS} days, door by door")
    for name, other in DOORS.items():
        apart = Path(f"{sys.prefix}-{other.adapter}/bin/python")
        if is_installed(other):
            print_door(name, raw)
        elif other.adapter and apart.exists():
            subprocess.run([apart, __file__, name], check=True)
        else:
            print(f"{name:18} its package is not installed here")


if __name__ == "__main__":
    main(*sys.argv[1:])
