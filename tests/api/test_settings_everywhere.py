"""What the settings and the options say holds in every way to play, or is refused."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai import worlds
from akinai.api.person import Game, open_game
from akinai.core.errors import UsageError
from akinai.core.models import Reply
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.agent_spec import CHARACTERS_A_TOKEN, AgentSpec, spec_of
from akinai.runtime.runs.planning import plan
from akinai.runtime.runs.reading import Detail
from akinai.runtime.runs.work import play_scratch
from akinai.testing.endpoint import Endpoint, ModelCall, PlayerResponder, Refused

ARENA: dict[str, Any] = {"preset": "arena", "days": 3}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A model that plays as `idle` does."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    world = worlds.load("vending")
    with Endpoint(PlayerResponder(world.players["idle"], world.verbs)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield endpoint


def played(run: akinai.Run) -> list[tuple[str, Any]]:
    return [(entry.name, entry.parameters) for entry in run.ledger.entries]


def test_a_single_owner_is_played_by_whom_the_settings_name(endpoint: Endpoint) -> None:
    """`owners.1.agent` and `owners.1.model` hold with one owner as with several."""
    one = {"owners": {"1": {"agent": "reference"}}}
    named = akinai.run("vending", agent="idle", days=3, settings=one)[0]
    assert played(named) == played(akinai.run("vending", agent="reference", days=3)[0])
    with pytest.raises(UsageError, match="hold"):
        akinai.open("vending", settings=one)
    asked = akinai.run("vending", agent="reference", days=3, settings={"owners.1.model": "openai:m"})[0]
    assert len(endpoint.calls) == len(asked.ledger.entries) == 3


@pytest.mark.parametrize(
    ("settings", "hold", "person"),
    [
        (None, None, "owner_1"),
        ({"owners.1.agent": "naive"}, None, "owner_2"),
        ({"owners": {"1": {"agent": "naive"}, "3": {}}}, None, "owner_2"),
        ({"owners.1.agent": "naive"}, "owner_1", "owner_1"),
    ],
)
def test_a_person_is_an_owner_for_whom_nobody_is_named(settings: Any, hold: str | None, person: str) -> None:
    """In the browser and at a terminal; another one where it is asked for."""

    async def actors() -> Any:
        session = await open_game(Game("vending", "arena", days=2, settings=settings, hold=hold), "memory:")
        await session.close()
        return session.held

    assert asyncio.run(actors()) == (person,)


def test_a_person_plays_nobody_where_all_are_named() -> None:
    """The error is that of a session."""
    settings = {"owners.1.agent": "naive", "owners.2.agent": "idle"}
    with pytest.raises(UsageError, match="hold"):
        asyncio.run(open_game(Game("vending", "arena", days=2, settings=settings), "memory:"))


def test_days_are_said_once() -> None:
    """As an option or as a setting, swept or not; both may say the same."""
    twice: list[Any] = [{"settings": {"days": 9}}, {"sweep": {"days": [1, 2]}}]
    for said in twice:
        with pytest.raises(UsageError, match="days"):
            akinai.run("vending", agent="idle", days=2, **said)
    assert akinai.run("vending", agent="idle", days=2, settings={"days": 2})[0].header.genesis.setup["days"] == 2


def test_a_fork_asks_models_as_its_run_did(endpoint: Endpoint, tmp_path: Path) -> None:
    """Whoever plays on: the models of single owners keep window, memory, cache and limits."""
    store = str(tmp_path / "runs.db")
    how: dict[str, Any] = {"window": 8000, "memory": "summary", "timeout": 33.0}
    akinai.run(
        "vending", agent="naive", settings={"owners.2.model": "openai:m"}, name="base", store=store,
        cache=tmp_path / "replies.db", calls_per_minute=6000, **how, **ARENA,
    )  # fmt: skip
    others: list[Any] = [{"agent": "idle"}, {"model": "openai:k"}]
    for who in others:
        (forked,) = akinai.fork("base-1", at_day=2, store=store, **who)
        old, new = spec_of(akinai.runs("base-1", store=store)[0].header), spec_of(forked.header)
        names = ("window_tokens", "memory", "timeout_s", "cache", "calls_per_minute", "group_models")
        assert [getattr(new, name) for name in names] == [getattr(old, name) for name in names]
        assert (forked.status, new.window_tokens, new.memory) == ("done", 8000, "summary")


def test_a_player_by_rules_goes_on_where_a_model_was(endpoint: Endpoint, tmp_path: Path) -> None:
    """What only a model uses is left behind, and refused where it is asked for."""
    store = str(tmp_path / "runs.db")
    akinai.run(
        "vending", model="openai:m", temperature=0.3, cache=tmp_path / "replies.db", days=3, name="base", store=store
    )
    (forked,) = akinai.fork("base-1", at_day=2, agent="idle", store=store)
    assert (forked.status, spec_of(forked.header).asks_model, spec_of(forked.header).cache) == ("done", False, None)
    of_models: list[Any] = [{"max_dollars": 3.0}, {"base_url": "http://127.0.0.1:1"}]
    for unused in of_models:
        with pytest.raises(UsageError, match="would do nothing"):
            akinai.fork("base-1", at_day=2, agent="idle", store=store, **unused)


def test_a_fork_has_somebody_for_its_agent(tmp_path: Path) -> None:
    """Where the settings name who plays each owner, another agent would play nobody."""
    store, named = str(tmp_path / "runs.db"), {"owners.1.agent": "idle", "owners.2.agent": "naive"}
    akinai.run("vending", settings=named, name="base", store=store, **ARENA)
    with pytest.raises(UsageError, match="every actor has a player"):
        akinai.fork("base-1", at_day=2, agent="reference", store=store)
    assert akinai.fork("base-1", at_day=2, store=store)[0].status == "done"


def test_options_of_programs_hold_for_the_program_of_one_owner() -> None:
    """`timeout` and `agent_user` are no options of a model, nor of the first agent alone."""
    world, named = worlds.load("vending"), {"owners": {"2": {"agent": "stdio:cat"}}}
    spec = AgentSpec("idle", agent_user="nobody", timeout_s=5).with_group_models(world, named)
    assert (spec.agent_user, spec.programs) == ("nobody", ["stdio:cat"])
    assert AgentSpec.from_card(spec.card(), "idle") == spec
    with pytest.raises(UsageError, match="agent-user"):
        AgentSpec("idle", agent_user="nobody").with_group_models(world, {})
    (run,) = akinai.run("vending", agent="idle", settings={"owners.2.agent": "stdio:cat"}, timeout=5, **ARENA)
    assert Counter(entry.actor for entry in run.ledger.entries)["owner_1"] == 3
    with pytest.raises(UsageError, match="timeout"):
        akinai.run("vending", agent="idle", timeout=5, **ARENA)


def test_a_batch_on_the_wall_clock_is_refused() -> None:
    """Before anything is played."""
    with pytest.raises(UsageError, match="virtual"):
        akinai.batch("market", n=1, settings={"clock": "wall"})


@pytest.mark.parametrize("unused", [{"window": 5000}, {"memory": "summary"}, {"timeout": 3}, {"round_dollars": 2}])
def test_an_arena_of_rules_takes_no_option_of_models(unused: dict[str, Any]) -> None:
    """As a run does."""
    with pytest.raises(UsageError, match="would do nothing"):
        akinai.arena(["naive", "idle"], days=2, **unused)


class Unwilling(PlayerResponder):
    """Refuses its first call, and then plays."""

    refused = False

    async def reply(self, call: ModelCall) -> Reply:
        if not self.refused:
            self.refused = True
            raise Refused("not now")
        return await super().reply(call)


def test_the_window_of_a_game_holds_after_a_resume(endpoint: Endpoint, tmp_path: Path) -> None:
    """A resume with a wider window, as a run with one, shows no more than the game does: here 7,000 tokens."""
    store, world = str(tmp_path / "runs.db"), worlds.load("vending")
    with Endpoint(Unwilling(world.players["idle"], world.verbs)) as unwilling:
        (run,) = akinai.run(
            "vending", model="openai:m", base_url=unwilling.openai_url, preset="sprint", days=364, name="base",
            settings={"window_tokens": 7_000}, store=store,
        )  # fmt: skip
        assert run.status == "failed"
        (run,) = akinai.resume("base-1", window=60_000, store=store)
        assert run.status == "done"
        sizes = [
            len(str(call.request.tools)) + sum(len(message.text) for message in call.request.messages)
            for call in unwilling.calls
        ]
    assert max(sizes) < 7_000 * CHARACTERS_A_TOKEN


@pytest.mark.parametrize("where", ["a table", "the environment"])
def test_learning_asks_the_model_of_one_owner(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Wherever it is named, and an estimate counts its calls: two days of the run that teaches and of two that judge."""
    settings: Any = {"owners": {"2": {"model": "openai:m"}}} if where == "a table" else None
    if settings is None:
        monkeypatch.setenv("AKINAI_VENDING__OWNERS__2__MODEL", "openai:m")
    game: Any = {
        "preset": "arena", "days": 2, "seeds": "train:1-1", "eval_seeds": "validation:1-1", "settings": settings,
        "playbook": tmp_path / "playbook.json", "store": str(tmp_path / "runs.db"), "jobs": 1,
    }  # fmt: skip
    assert akinai.estimate_learning("vending", **game).roles["generator"].messages > 0
    akinai.learn("vending", **game)
    assert len(endpoint.calls) == 6


def test_a_run_in_memory_asks_the_model_of_one_owner(endpoint: Endpoint) -> None:
    """Also where nobody opened its models before."""
    world, settings = worlds.load("vending"), {"owners.2.model": "openai:m"}
    prepared = prepare(world, preset="arena", days=2, settings=settings)
    spec = AgentSpec("idle").with_group_models(world, prepared.setup)
    (header,) = plan(world, prepared, spec, [1], "alone")
    run = asyncio.run(play_scratch(header, Detail()))
    assert (run.status, len(endpoint.calls)) == ("done", 2)


def test_an_estimate_says_what_it_cannot_count() -> None:
    """The model of the suppliers is asked as letters come."""
    suppliers = {"suppliers.model": "openai:m"}
    assert akinai.estimate("vending", model="openai:k", settings=suppliers, days=3).uncounted == ("suppliers",)
    assert akinai.estimate("vending", model="openai:k", days=3).uncounted == ()
    with pytest.raises(UsageError, match="cannot tell how often the model of suppliers"):
        akinai.estimate("vending", agent="idle", settings=suppliers, days=3)


def test_tools_are_a_list_or_a_text_with_commas() -> None:
    """As the list of treated businesses of a market is: one ledger for both, and the same unknown names."""
    world = worlds.load("vending")
    listed, text = (
        prepare(world, preset="arena", settings=[f"owners.2.tools={tools}"]).setup
        for tools in ('["look_at_rivals", "advance_day"]', "look_at_rivals, advance_day")
    )
    assert listed == text
    assert prepare(world, preset="arena", settings=["tools=advance_day"]).setup["tools"] == ["advance_day"]
    with pytest.raises(UsageError, match="did you mean 'advance_day'"):
        prepare(world, preset="arena", settings=["tools=advence_day"])


@pytest.mark.parametrize(
    ("preset", "settings", "who"),
    [
        ("arena", {"owners.2.tools": "look_at_rivals", "owners.2.agent": "listed"}, "'listed'.*owner_2"),
        ("arena", {"owners.2.tools": "look_at_rivals"}, "'reference'.*owner_2"),
        ("quarter", {"tools": "advance_day"}, "'reference'.*owner"),
        ("sprint", {"tools": "week"}, "'reference'.*owner"),
    ],
)
def test_no_player_by_rules_is_left_without_its_tools(preset: str, settings: dict[str, Any], who: str) -> None:
    """It would break, and leave the street without a word. Presets of few tools hold all that such players use."""
    with pytest.raises(UsageError, match=who):
        akinai.run("vending", preset=preset, days=7, settings=settings)
    with pytest.raises(UsageError, match="counts on tools"):
        akinai.open("vending", preset="arena", days=2, settings={"owners.2.tools": "advance_day"}, hold=["owner_1"])


def test_few_tools_are_for_scripts_and_for_those_who_play_from_outside(tmp_path: Path) -> None:
    """These may have few, beside players by rules that have all."""
    script = tmp_path / "two.jsonl"
    script.write_text('{"action": "ADVANCE_DAY"}\n' * 2)
    own = {"owners.2.tools": "advance_day"}
    (run,) = akinai.run("vending", preset="arena", days=2, settings={**own, "owners.2.agent": f"script:{script}"})
    assert run.ending == "horizon"
    with akinai.open("vending", preset="arena", days=2, settings=own, hold=["owner_2"]) as session:
        assert [verb.tool_name() for verb in session.view("owner_2").verbs] == ["advance_day"]
    with akinai.open("vending", preset="quarter", days=2, settings={"tools": "advance_day"}) as session:
        assert [verb.tool_name() for verb in session.view("owner").verbs] == ["advance_day"]


def test_a_store_may_be_a_path(tmp_path: Path) -> None:
    """As a file may be everywhere else."""
    path = tmp_path / "a.db"
    run = akinai.run("vending", agent="idle", days=2, store=path, name="a")[0]
    assert [row.id for row in akinai.runs(store=str(path))] == [run.id] == [row.id for row in akinai.runs(store=path)]
