"""A run that is played from outside, action by action."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import akinai
from akinai import worlds
from akinai.core.errors import AgentError, EndRun, UnknownName, UsageError
from akinai.core.ledger import Entry


def moves(run: akinai.Run, actors: str | None = None) -> Iterator[tuple[Entry, str, Mapping[str, Any]]]:
    """The recorded moves of a run as an agent writes them."""
    verbs = worlds.load(run.world).verbs
    for entry in run.ledger.entries:
        action = verbs.recorded(entry.name, entry.parameters)
        if actors is None or entry.actor.startswith(actors):
            yield entry, action.tool_name(), action.encode()


@pytest.fixture(scope="module")
def recorded() -> akinai.Run:
    """Five days of the reference player."""
    return akinai.run("vending", agent="reference", days=5, preset="classic")[0]


@pytest.fixture(scope="module")
def market() -> akinai.Run:
    """A small market of rule-based players."""
    return akinai.run("market")[0]


def test_the_same_actions_give_the_same_digest(recorded: akinai.Run) -> None:
    """Whoever plays, the ledger is a function of seed and actions; rewards sum to what the score gained."""
    with akinai.open("vending", days=5, preset="classic") as session:
        assert session.actor == "owner"
        rewards: list[float] = []
        for entry, name, arguments in moves(recorded):
            assert session.act(name, arguments, text=entry.said).text.startswith(entry.outcome.text[:40])
            rewards.append(session.reward)
        assert (session.done, session.ending, session.actor) == (True, "horizon", None)
        assert session.run().digest == recorded.digest
    assert sum(rewards) == recorded.scores[0].value - 50_000
    assert session.scores() == recorded.scores
    assert session.run().card["agent"] == "session"


@pytest.mark.parametrize("stop", [0, 7, 15])
def test_a_closed_session_is_resumed(recorded: akinai.Run, tmp_path: Path, stop: int) -> None:
    """From the last entry, with the rewards that are left; the end equals that of the uninterrupted run."""
    store, played_moves = str(tmp_path / "a.db"), [*moves(recorded)]
    gained = 0.0
    with akinai.open("vending", days=5, store=store, name="game", preset="classic") as session:
        for entry, name, arguments in played_moves[:stop]:
            session.act(name, arguments, text=entry.said)
            gained += session.reward
    assert (session.run().status, session.run().ending) == ("open", "stopped")
    with pytest.raises(UsageError, match=r"akinai.open\(resume='game-1'\) goes on"):
        akinai.resume("game", store=store)
    with akinai.open(resume="game", store=store) as session:
        assert session.run().entries == stop
        for entry, name, arguments in played_moves[stop:]:
            session.act(name, arguments, text=entry.said)
            gained += session.reward
    assert akinai.runs("game-1", store=store)[0].digest == recorded.digest
    assert gained == recorded.scores[0].value - 50_000
    assert akinai.verify("game-1", store=store)["game-1"].ok
    assert akinai.fork("game-1", after=3, agent="reference", store=store)[0].ending == "horizon"
    with pytest.raises(UsageError, match="name who plays on, such as --agent reference"):
        akinai.fork("game-1", after=3, store=store)


def test_an_open_session_survives_a_kill(tmp_path: Path) -> None:
    """Every action is durable when it is answered; nobody has to close."""
    store = str(tmp_path / "a.db")
    session = akinai.open("vending", store=store, name="game", preset="classic")
    session.act("get_money_balance")
    assert akinai.runs("game-1", store=store)[0].entries == 1
    with akinai.open(resume="game-1", store=store) as other:
        other.act("get_money_balance")
    with pytest.raises(akinai.AkinaiError):
        session.act("get_money_balance")
    session.close()


def test_a_session_by_rules_plays_where_it_is_called(recorded: akinai.Run) -> None:
    """Without a thread of its own, and from any thread; one that somebody may wait for between calls has one."""
    played_moves, before = [*moves(recorded)], {*threading.enumerate()}

    def own_threads() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread not in before]

    with akinai.open("vending", days=5, preset="classic") as session, ThreadPoolExecutor(1) as others:
        for entry, name, arguments in played_moves[:9]:
            session.act(name, arguments, text=entry.said)
        assert own_threads() == []
        entry, name, arguments = played_moves[9]
        others.submit(session.act, name, arguments, text=entry.said).result()
        entry, name, arguments = played_moves[10]
        session.act(name, arguments, text=entry.said, wait=False)
        assert "akinai-session" in own_threads()
        for entry, name, arguments in played_moves[11:]:
            session.act(name, arguments, text=entry.said)
    assert session.run().digest == recorded.digest
    assert own_threads() == []


def test_ctrl_c_within_an_action_leaves_a_run_to_go_on_with(tmp_path: Path) -> None:
    """The interrupt reaches the program; what was answered before is in the run."""
    store = str(tmp_path / "a.db")
    with akinai.open("vending", store=store, preset="classic", name="game") as session:
        session.act("get_money_balance")
        interrupted = patch.object(type(session.world), "apply", side_effect=KeyboardInterrupt)
        with interrupted, pytest.raises(KeyboardInterrupt):
            session.act("get_money_balance")
    assert (session.done, session.run().entries, session.run().ending) == (True, 1, "stopped")
    with akinai.open(resume="game", store=store) as session:
        assert session.act("get_money_balance").ok


UNCLOSED = {
    "plain": """
first = akinai.open("vending", preset="classic")
second = akinai.open("vending", store="a.db", name="game", preset="classic")
print(second.act("get_money_balance").ok)
""",
    "asyncio": """
async def play():
    session = await akinai.aopen("vending", store="a.db", name="game", preset="classic")
    print((await session.act("get_money_balance")).ok)
asyncio.run(play())
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", UNCLOSED)
def test_a_program_may_leave_a_session_open(program: str, tmp_path: Path) -> None:
    """Its end closes it: nothing is printed, nothing is lost, and the store is one file."""
    script = f"import asyncio, akinai\n{UNCLOSED[program]}\nraise SystemExit(3)"
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("True\n", "", 3)
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    (run,) = akinai.runs("game-1", store=str(tmp_path / "a.db"))
    assert (run.entries, run.status, run.ending) == (1, "open", "stopped")


def test_a_name_goes_on_with_its_run(tmp_path: Path) -> None:
    """Where it was opened in the same way and is not over; everything else is refused in a sentence, and changes nothing."""
    store = str(tmp_path / "a.db")

    def opened(world: str = "vending", **options: Any) -> akinai.Session:
        return akinai.open(world, **{"days": 2, "store": store, "name": "game", **options})

    with opened() as session:
        session.act("advance_day")
        assert not session.resumed
    for options, why in {
        (("days", 3),): r"other settings \(days\)",
        (("world", "qa"), ("days", None)): "world vending@3, not qa@1",
        (("agent", "mine"),): "agent session, not mine",
        (("model", "m"), ("label", "l")): "model none, not m and label none, not l",
        (("hold", ("owner",)), ("rest", "naive")): "hold none, not .* and rest reference, not naive",
        (("max_repeats", 3),): "other limits",
    }.items():
        with pytest.raises(UsageError, match=f"there is a run 'game-1' already, with {why}; ask for the same to go on"):
            opened(**dict(options))
    with opened() as session:
        assert (session.resumed, session.run().entries) == (True, 1)
        session.act("advance_day")
        assert session.done
    with pytest.raises(UsageError, match=r"'game-1' is over \(horizon\); another name or seed begins another run"):
        opened()
    with opened(seed=2) as session:
        assert not session.resumed
    akinai.run("vending", days=1, agent="naive", store=store, name="rules")
    with pytest.raises(UsageError, match="'rules-1' was played by 'naive', not through a session"):
        opened(name="rules")


def test_a_run_that_is_played_twice_at_once_keeps_its_record(tmp_path: Path) -> None:
    """The slower action is not done, in words; a session that leaves changes nothing of what the other has played."""
    store = str(tmp_path / "a.db")
    first = akinai.open("vending", days=1, store=store, name="game")
    other = akinai.open("vending", days=1, store=store, name="game")
    idle = akinai.open("vending", days=1, store=store, name="game")
    first.act("advance_day")
    with pytest.raises(akinai.AkinaiError, match=r"'game-1' is played elsewhere at the same time.* was not done"):
        other.act("advance_day")
    first.close()
    for session in (other, idle):
        session.close()
    (run,) = akinai.runs(store=store)
    assert (run.status, run.ending, run.entries) == ("done", "horizon", 1)


def test_a_bad_action_is_refused_and_recorded() -> None:
    """As an agent's is: unknown, with wrong arguments, or with text that no store can keep."""
    with akinai.open("vending", days=1, preset="classic") as session:
        assert session.act("sell_kidney").code == "no_action"
        assert session.act("wait_until", {"hour": 99}).code == "bad_parameters"
        assert session.act("search_web", {"query": "\0"}).code == "bad_text"
        assert session.act("notepad_write", {"text": "x" * 2**20}).code == "bad_parameters"
        assert session.act("search_web", ["water"]).code == "bad_parameters"  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="the arguments of 'search_web' are no JSON"):
            session.act("search_web", {"query": object()})
        assert [session.reward, session.run().entries] == [0, 5]


def test_a_sub_agent_is_played_where_its_owner_is() -> None:
    """Its turn comes when it is given a task; its report is news for its owner."""
    with akinai.open("vending", days=2, preset="classic") as session:
        session.act("delegate_research", {"task": "Find a supplier of water."})
        assert session.actor == "owner/research-1"
        assert {tool["name"] for tool in session.tools()} >= {"search_web", "report"}
        assert "get_money_balance" not in {tool["name"] for tool in session.tools()}
        session.act("report", {"text": "There is one."})
        assert session.actor == "owner"
        assert "There is one." in session.view().news


@pytest.mark.parametrize("hold", [None, ["businesses"], ["customers", "businesses"], ["customer_0001"]])
def test_any_actors_can_be_held(market: akinai.Run, hold: list[str] | None) -> None:
    """One side, one actor or everybody; the world's own players play the rest, and the ledger is the same."""
    prefix = {None: "customer", "businesses": "business", "customers": None, "customer_0001": "customer_0001"}
    with akinai.open("market", hold=hold) as session:
        total = 0.0
        for entry, name, arguments in moves(market, prefix[hold[0] if hold else None]):
            session.act(name, arguments, text=entry.said, actor=entry.actor)
            total += session.reward
    assert session.run().digest == market.digest
    assert total == market.scores[0].value


def test_a_session_leaves_out_whom_the_settings_name() -> None:
    """An owner with an agent in the settings is played by it, and held where it is named; all named is an error."""
    rival = {"owners.2.agent": "naive"}
    with akinai.open("vending", preset="arena", days=2, settings=rival) as session:
        assert session.actors == ("owner_1",)
        session.act("advance_day")
        assert session.actor == "owner_1"
    with akinai.open("vending", preset="arena", days=2, settings=rival, hold=["owner_2"]) as session:
        assert session.actors == ("owner_2",)
    with pytest.raises(UsageError, match="hold"):
        akinai.open("vending", preset="arena", settings={**rival, "owners.1.agent": "idle"})


def test_another_agent_plays_the_rest() -> None:
    """Named, or given as an object; a resume has the same."""
    alone = akinai.open("market", hold=["customer_0001"], settings={"customers.agent": "same"}, rest="first")
    with alone as session:
        assert session.actors == ("customer_0001",)
        session.act("leave", {"reason": "I have all."})
    assert session.run().card["session"] == {"hold": ["customer_0001"], "rest": "first"}


def test_on_the_wall_clock_actors_sleep_in_real_time() -> None:
    """A `wait` is answered when it is over."""
    with akinai.open("market", hold=["customers"], settings={"clock": "wall"}) as session:
        customers = session.actors
        for actor in customers:
            session.act("register", actor=actor, wait=False)
        outcome = session.act("wait", {"seconds": 0.2}, actor=customers[0])
        assert outcome.ok
        for actor in customers:
            session.act("leave", actor=actor, wait=False)
        while not session.done:
            with suppress(EndRun):
                session.act("leave")
    assert session.ending == "all_done"


async def test_seats_are_played_by_several_tasks(market: akinai.Run) -> None:
    """An actor whose turn it is not waits for it, and with `wait="own"` is answered at its next."""
    actors = {entry.actor for entry in market.ledger.entries}
    async with await akinai.aopen("market", hold=["customers", "businesses"]) as session:

        async def play(actor: str) -> None:
            for entry, name, arguments in moves(market, actor):
                await session.act(name, arguments, text=entry.said, actor=actor, wait="own")

        await asyncio.gather(*map(play, actors))
        assert session.done
    assert (await session.run()).digest == market.digest


def test_the_end_of_a_run_ends_the_block() -> None:
    """An action after the end raises EndRun, also out of another loop; the context manager takes it for what it is."""
    with akinai.open("vending", days=1, preset="classic") as session:
        session.act("advance_day")
        assert session.done
        try:
            session.act("advance_day")
        except EndRun as end:
            raise RuntimeError("a tool failed") from end
    assert session.ending == "horizon"
    with pytest.raises(RuntimeError, match="mine"), akinai.open("vending", days=1, preset="classic") as session:
        raise RuntimeError("mine")


def test_what_cannot_be_opened_says_why(recorded: akinai.Run, tmp_path: Path) -> None:
    """Before anything is written."""
    store = str(tmp_path / "a.db")
    akinai.run("vending", agent="idle", days=1, name="idle", store=store, preset="classic")
    with pytest.raises(UsageError, match="opens a world, such as 'vending', or goes on"):
        akinai.open()
    with pytest.raises(UnknownName, match="no actor 'ownr'; did you mean 'owner'"):
        akinai.open("vending", hold=["ownr"], store=str(tmp_path / "b.db"), preset="classic")
    assert not (tmp_path / "b.db").exists()
    with pytest.raises(UsageError, match="was played by 'idle', not through a session"):
        akinai.open(resume="idle", store=store)
    with pytest.raises(UsageError, match="goes on as it began; leave out days"):
        akinai.open(resume="idle", days=3, store=store)
    with (
        akinai.open("vending", days=1, preset="classic") as session,
        pytest.raises(UnknownName, match="no actor 'owner_2'"),
    ):
        session.act("advance_day", actor="owner_2")
    with pytest.raises(UsageError, match="the session is closed"):
        session.act("advance_day")
    with (
        akinai.open("market", hold=["customers", "businesses"]) as session,
        pytest.raises(UsageError, match="customer_0001 may not act before business_0"),
    ):
        session.act("leave", actor="customer_0001")


def test_a_rest_that_breaks_fails_the_run() -> None:
    """The error is raised where the next action is made, and kept in the run."""

    def broken(_: object) -> Any:
        raise ZeroDivisionError("mine")

    with (
        pytest.raises(AgentError, match="ZeroDivisionError"),
        akinai.open("market", hold=["customer_0001"], settings={"businesses.agent": "same"}, rest=broken) as session,
    ):
        session.act("leave", actor="customer_0001")


async def test_plain_code_plays_inside_a_running_loop() -> None:
    """As in a notebook, whose cells run in one."""
    with akinai.open("vending", days=1, preset="classic") as session:
        session.act("advance_day")
    assert session.run().ending == "horizon"
