"""A game in a folder: a shell agent plays with `./play` alone, and reads nothing but what the game says."""

import ast
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import pytest

import akinai
import forked
from akinai import worlds
from akinai.core.errors import UsageError

Actions = Sequence[tuple[str, dict[str, Any]]]
GAMES: dict[str, dict[str, Any]] = {
    "vending": {"preset": "sprint", "days": 14},
    "market": {"hold": ["customers"]},
    "qa": {"settings": {"draw": 6}},
}
PATIENCE_S = 60
PROGRAM = Path(akinai.__file__).parent / "server" / "folder" / "play.py"


def native(world: str, **options: Any) -> tuple[Actions, akinai.Run]:
    """The actions of the reference player in the order of a session's turns, and that session's run."""
    played = {name: value for name, value in options.items() if name != "hold"}
    reference = akinai.run(world, agent="reference" if world == "vending" else None, **played)[0]
    verbs, actions = worlds.load(world).verbs, list[tuple[str, dict[str, Any]]]()
    queues: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for entry in reference.ledger.entries:
        action = verbs.recorded(entry.name, entry.parameters)
        parameters = type(action).tool()["parameters"]["properties"]
        arguments = {name: value for name, value in action.encode().items() if name in parameters}
        queues.setdefault(entry.actor, []).append((action.tool_name(), arguments))
    with akinai.open(world, **options) as session:
        while session.actor is not None:
            actions.append(queues[session.actor].pop(0))
            session.act(*actions[-1])
    return actions, session.run()


def expect_equal(run: akinai.Run, other: akinai.Run) -> None:
    """Two runs of the same actions; questions have no clock of their own, so that their entries have the time of day."""
    facts, others = (
        [(entry.actor, entry.name, entry.parameters, entry.outcome) for entry in played.ledger.entries]
        for played in (run, other)
    )
    assert facts == others
    assert run.scores == other.scores
    assert run.digest == other.digest or run.world.startswith("qa@")


def command(name: str, arguments: dict[str, Any]) -> str:
    """The line of a shell that takes an action."""
    values = {flag: value if isinstance(value, str) else json.dumps(value) for flag, value in arguments.items()}
    return shlex.join(["./play", name, *(f"--{flag.replace('_', '-')}={value}" for flag, value in values.items())])


def shell(folder: Path, *lines: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Lines of a shell in the folder, which knows nothing of this process."""
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONNOUSERSITE": "1"}
    return subprocess.run(
        ["sh", "-c", "\n".join(lines)], cwd=folder, env=environment, input=stdin, capture_output=True, text=True
    )


@contextmanager
def served(folder: Path, world: str | None, **options: Any) -> Iterator["Future[akinai.Run]"]:
    """A game that is served until it is over, or its time is up; the future is its run."""
    options = {"max_minutes": 0.5, **options}
    ready = Queue[Any]()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(akinai.game, folder, world, ready=ready.put, **options)
        run.add_done_callback(ready.put)
        ready.get(timeout=PATIENCE_S)
        yield run


@contextmanager
def process(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`akinai game` in a process of its own, which SIGTERM ends."""
    line = [sys.executable, "-m", "akinai", "game", str(folder), *words]
    with (folder.parent / "log").open("w") as log:
        server = forked.Popen(line, cwd=folder.parent, stdout=forked.PIPE, stderr=log)
    assert server.stdout
    try:
        assert "http://" in server.stdout.readline(), (folder.parent / "log").read_text()
        server.stdout.readline()
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_S)
        server.stdout.close()


@pytest.mark.parametrize("world", [*(pytest.param(world, marks=pytest.mark.slow) for world in list(GAMES)[:2]), "qa"])
def test_a_shell_agent_plays(world: str, tmp_path: Path) -> None:
    """With `./play` alone; the digest is that of the same actions in a session, and the run names who played."""
    actions, expected = native(world, **GAMES[world])
    folder, store = tmp_path / "game", str(tmp_path / "a.db")
    with served(folder, world, store=store, agent="shell", label="A shell", **GAMES[world]) as run:
        played = shell(folder, *(command(*action) for action in actions))
        assert (played.returncode, played.stderr) == (0, "")
        assert "The run is over" in played.stdout
        expect_equal(run.result(PATIENCE_S), expected)
    after = shell(folder, "./play view")
    assert (after.returncode, after.stdout.startswith("The run is over")) == (0, True)
    (kept,) = akinai.runs(store=store)
    expect_equal(kept, expected)
    assert (kept.label, kept.status, kept.ending) == ("A shell", "done", expected.ending)
    with pytest.raises(UsageError, match="is over"):
        akinai.game(folder, world, store=store, agent="shell", label="A shell", **GAMES[world])
    with pytest.raises(UsageError, match="is over"):
        akinai.game(folder, store=store)


@pytest.mark.slow
def test_the_agent_reads_what_the_chat_agent_is_told(tmp_path: Path) -> None:
    """AGENTS.md ends with the prompt of the session; every tool is a command whose help has its parameters."""
    with akinai.open("vending", days=2) as session:
        prompt, tools = session.prompt(), [verb.tool(inline=True) for verb in session.verbs()]
    with served(tmp_path / "game", "vending", days=2, store=str(tmp_path / "a.db"), max_actions=1):
        assert (tmp_path / "game" / "AGENTS.md").read_text().endswith(f"\n\n{prompt}\n")
        listed = shell(tmp_path / "game", "./play --help").stdout
        for tool in tools:
            assert f"    {tool['name']}" in listed
        helped = shell(tmp_path / "game", *(f"./play {tool['name']} --help" for tool in tools)).stdout
        for tool in tools:
            assert all(f"--{parameter}" in helped for parameter in tool["parameters"]["properties"])
        shell(tmp_path / "game", "./play advance_day", "./play advance_day")


@pytest.mark.slow
def test_a_mistake_on_the_line_is_no_action(tmp_path: Path) -> None:
    """It ends with 2 and a sentence, and nothing is recorded; a refusal by the rules ends with 1 and is an entry."""
    folder = tmp_path / "game"
    with served(folder, "qa", settings={"draw": 2}, store=str(tmp_path / "a.db")) as run:
        for line, complaint in {
            "./play nothing": "invalid choice",
            "./play answer": "answer needs --choice",
            "./play answer --choice five": "integer is expected, not 'five'",
            "./play answer --chioce 1": "unrecognized arguments",
            "./play answer '[1]'": "a JSON object, not array",
            "./play answer -": "the arguments are no JSON",
        }.items():
            wrong = shell(folder, line)
            assert (wrong.returncode, wrong.stdout) == (2, ""), line
            assert complaint in wrong.stderr
            assert "Traceback" not in wrong.stderr
        refused = shell(folder, "./play answer --choice 99")
        assert (refused.returncode, refused.stdout.startswith("Refused")) == (1, True)
        assert shell(folder, "./play answer -", stdin='{"choice": 1}').returncode == 0
        assert shell(folder, "./play view | head -1").stdout.startswith("Question 2")
        assert shell(folder, "./play skip").returncode == 0
        assert [entry.name for entry in run.result(PATIENCE_S).ledger.entries] == ["Answer", "Answer", "Skip"]


def test_the_program_needs_no_package() -> None:
    """It imports the standard library alone."""
    imports = [
        node for node in ast.walk(ast.parse(PROGRAM.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {getattr(node, "module", None) or alias.name for node in imports for alias in node.names}
    assert names
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_nothing_in_the_folder_tells_seed_key_or_store(tmp_path: Path) -> None:
    """Nor does an answer, also of a request that the program never sends; without the token there is none."""
    key = akinai.seal.new(tmp_path / "key.json")
    secret = json.loads((tmp_path / "key.json").read_text())
    folder, store = tmp_path / "game", tmp_path / "runs" / "secret.db"
    store.parent.mkdir()
    with served(folder, "vending", seed=77, days=1, key=tmp_path / "key.json", store=str(store)) as run:
        session = json.loads((folder / ".session.json").read_text())
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert sorted(path.name for path in files) == [".session.json", "AGENTS.md", "play"]
        assert stat.S_IMODE((folder / ".session.json").stat().st_mode) == 0o600
        texts = [path.read_text() for path in files]
        with httpx.Client(headers={"authorization": f"Bearer {session['token']}"}) as client:
            base = session["url"].removesuffix("/game")
            paths = ("/game/view", "/game", "/game/act", "/sessions", "/game/scores", "/game/ledger", "/openapi.json")
            bodies = ("", "{", "[]", '{"action": 1}', '{"action": "x", "seed": 1}', '{"action": "no_action"}')
            texts += [client.get(base + path).text for path in paths]
            texts += [client.post(f"{session['url']}/act", content=body).text for body in bodies]
            texts.append("".join(f"{name}: {value}" for name, value in client.get(session["url"]).headers.items()))
        assert httpx.get(f"{session['url']}/view").status_code == 401
        shell(folder, "./play advance_day")
        seed = str(run.result(PATIENCE_S).header.genesis.seed)
        texts.append((folder / ".session.json").read_text())
    for text in texts:
        for word in (seed, key.commitment, "secret.db", "key.json", str(tmp_path), run.result().id, "akinai.db"):
            assert word not in text, word
        assert not any(isinstance(value, str) and len(value) > 30 and value in text for value in secret.values())


@pytest.mark.slow
def test_a_stopped_game_goes_on(tmp_path: Path) -> None:
    """Its server stops, then starts with the folder alone: the run is that of one sitting, files of the agent stay."""
    (actions, expected), folder = native("qa", **GAMES["qa"]), tmp_path / "game"
    with process(folder, "qa", "--set", "draw=6"):
        assert shell(folder, *(command(*action) for action in actions[:2])).returncode == 0
        (folder / "notes" / "mine").write_text("remember")
        (folder / "AGENTS.md").write_text("my own words")
        (tmp_path / "precious").write_text("precious")
        (folder / "play").unlink()
        (folder / "play").symlink_to(tmp_path / "precious")
    assert not (folder / ".session.json").exists()
    with process(folder) as server:
        assert shell(folder, *(command(*action) for action in actions[2:])).returncode == 0
        assert server.wait(PATIENCE_S) == 0
    assert (tmp_path / "precious").read_text() == "precious"
    assert ((folder / "notes" / "mine").read_text(), (folder / "AGENTS.md").read_text()) == ("remember", "my own words")
    (run,) = akinai.runs(store=str(tmp_path / "akinai.db"))
    expect_equal(run, expected)


def test_nobody_serves_a_stopped_game(tmp_path: Path) -> None:
    """The program says so, and ends with 2."""
    with process(tmp_path / "game", "qa"):
        pass
    stopped = shell(tmp_path / "game", "./play view")
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert "nobody serves this game now" in stopped.stderr


@pytest.mark.parametrize("world", GAMES)
def test_the_time_of_a_folder_is_up(world: str, tmp_path: Path) -> None:
    """The run ends though nobody acts, with what was done before; with more time it goes on."""
    folder, store = tmp_path / "game", str(tmp_path / "a.db")
    with served(folder, world, store=store, max_minutes=0.001, **GAMES[world]) as run:
        ended = run.result(PATIENCE_S)
    assert (ended.status, ended.ending) == ("done", "budget")
    assert shell(folder, "./play view").stdout == "The run is over: budget.\n"
    with served(folder, world, store=store, max_minutes=0.001, **GAMES[world]) as run:
        assert run.result(PATIENCE_S).id == ended.id


def test_a_folder_that_is_used_is_refused(tmp_path: Path) -> None:
    """So is a file, a folder with the store or the key, another game in the folder, and one that holds none."""
    used, store = tmp_path / "used", str(tmp_path / "a.db")
    used.mkdir()
    (used / "thesis.txt").write_text("all of it")
    for world, complaint in (("qa", "is not empty"), (None, "no game was begun in")):
        with pytest.raises(UsageError, match=complaint):
            akinai.game(used, world, store=str(akinai_store(store)))
    assert [path.name for path in used.iterdir()] == ["thesis.txt"]
    with pytest.raises(UsageError, match="is no folder"):
        akinai.game(used / "thesis.txt", "qa", store=store)
    for options in ({"store": str(tmp_path / "new" / "a.db")}, {"store": f"sqlite:///{tmp_path}/new/a.db"}):
        with pytest.raises(UsageError, match="would lie in the folder"):
            akinai.game(tmp_path / "new", "qa", **options)
    with pytest.raises(UsageError, match="a store that lasts"):
        akinai.game(tmp_path / "new", "qa", store="memory:")
    with pytest.raises(UsageError, match="max-minutes"):
        akinai.game(tmp_path / "new", "qa", store=store, max_minutes=-1)
    assert not (tmp_path / "new").exists()
    with served(tmp_path / "game", "qa", store=store, max_minutes=0.001):
        pass
    for options, complaint in (({"seed": 2}, "is not empty"), ({"settings": {"draw": 3}}, "other settings")):
        with pytest.raises(UsageError, match=complaint):
            akinai.game(tmp_path / "game", "qa", store=store, **options)


def akinai_store(path: str) -> str:
    """A store with a run of another folder."""
    akinai.run("qa", days=None, settings={"draw": 1}, store=path)
    return path
