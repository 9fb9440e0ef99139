"""A world as a parallel environment of PettingZoo."""

import json
import re
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import parallel_api_test
from pettingzoo.utils.conversions import parallel_to_aec

import akinai
import doors
from akinai.adapters.pettingzoo import WorldParallelEnv
from akinai.core.chance import pooled_seed, split_of

PAGE = Path(__file__).parents[2] / "docs" / "pettingzoo.md"
MARKET = doors.Game("market", days=None)
WAIT = '{"action": "wait"}'
REGISTER = '{"action": "register"}'


@pytest.mark.parametrize(
    ("world", "preset"),
    [("market", None), ("vending", None), ("qa", None), ("vending", "arena"), ("vending", "arena-sprint")],
)
def test_pettingzoos_own_check_passes(world: str, preset: str | None) -> None:
    """Without a warning: tests make an error of each."""
    parallel_api_test(WorldParallelEnv(world, preset=preset), num_cycles=60)


@pytest.mark.parametrize(("preset", "action"), [("arena", "advance_day"), ("arena-sprint", "close_week")])
def test_owners_play_as_agents_of_a_game_by_turns(preset: str, action: str) -> None:
    """PettingZoo's conversion makes them act one after the other; its own check of such games wants arrays, not texts."""
    (run,) = akinai.run("vending", agent="idle", preset=preset, days=14)
    parallel = WorldParallelEnv("vending", preset=preset, days=14)
    environment = parallel_to_aec(parallel)
    environment.reset(seed=run.seed)
    for _ in environment.agent_iter():
        over = environment.last()[2]
        environment.step(None if over else json.dumps({"action": action}))
    assert parallel.game.record().digest == run.digest


@pytest.mark.parametrize(("preset", "days"), [("arena", 4), ("arena-sprint", 21)])
def test_an_arena_that_all_play_is_the_ordinary_run(preset: str, days: int) -> None:
    """The ledger, digest and scores are those of the world's own players; rewards sum to what each owner gained."""
    game = doors.Game(preset=preset, days=days)
    run, environment = doors.reference(game), WorldParallelEnv("vending", preset=preset, days=days)
    assert environment.possible_agents == ["owner_1", "owner_2"]
    environment.reset(seed=run.seed)
    before = {agent: environment.game.part(agent) or 0.0 for agent in environment.possible_agents}
    gains, _ = played(environment, game)
    recorded = environment.game.record()
    assert (recorded.digest, recorded.scores) == (run.digest, run.scores)
    assert gains == {agent: (environment.game.part(agent) or 0.0) - cents for agent, cents in before.items()}
    assert all(gains.values())


def replies(game: doors.Game) -> dict[str, deque[str]]:
    """The replies of each actor of the reference, in order."""
    return {
        actor: deque(json.dumps({"action": name, "arguments": arguments}) for name, arguments in actions)
        for actor, actions in game.by_actor().items()
    }


def played(environment: WorldParallelEnv, game: doors.Game) -> tuple[dict[str, float], int]:
    """Play the reference's actions, in each step one of every agent that has any left: gains by agent, and steps."""
    queues = replies(game)
    environment.reset(seed=doors.reference(game).seed)
    gains, steps = dict.fromkeys(environment.agents, 0.0), 0
    while environment.agents:
        actions = {agent: queues[agent][0] for agent in environment.agents if queues[agent]}
        observations, rewards, over, truncated, infos = environment.step(actions)
        steps += 1
        for agent, info in infos.items():
            gains[agent] += rewards[agent]
            if info["acted"]:
                queues[agent].popleft()
        assert sum(info["turn"] for info in infos.values()) == bool(environment.agents)
    assert ({*over.values()}, {*truncated.values()}, any(queues.values())) == ({True}, {False}, False)
    assert all(f"The run is over: {environment.game.ending}." in text for text in observations.values())
    return gains, steps


def test_a_market_that_all_play_is_the_ordinary_run() -> None:
    """All act in each step, several in most; the ledger, digest and scores are those of the market's own players, and
    rewards sum to what each customer gained and each business was paid."""
    run, environment = doors.reference(MARKET), WorldParallelEnv("market")
    observations, infos = environment.reset(seed=run.seed)
    assert {agent.partition("_")[0] for agent in environment.agents} == {"customer", "business"}
    assert observations["customer_0001"].startswith("You are a customer")
    assert observations["customer_0001"].partition("\n\nNow: ")[0] in infos["customer_0001"]["prompt"]
    gains, steps = played(environment, MARKET)
    assert steps < len(run.ledger.entries) / 2
    recorded = environment.game.record()
    assert (recorded.digest, recorded.scores) == (run.digest, run.scores)
    sides = {
        side: sum(gain for agent, gain in gains.items() if agent.startswith(side)) for side in ("customer", "business")
    }
    scores = {score.name: score.value for score in run.scores}
    assert sides == {"customer": scores["welfare"], "business": scores["business_revenue"]}
    assert min(sides.values()) > 0


def on_turn(infos: dict[str, Any]) -> str:
    """The agent whose action is next."""
    (agent,) = (agent for agent, info in infos.items() if info["turn"])
    return agent


def test_an_agent_on_turn_reads_how_its_wait_ended() -> None:
    """And a step ends where an agent is on turn that has no action in it, or an action that was taken."""
    environment = WorldParallelEnv("market", hold=["businesses"])
    assert environment.possible_agents == [f"business_000{number}" for number in range(1, 7)]
    observations, infos = environment.reset(seed=1)
    for _ in range(3):
        actions = {agent: REGISTER if "Call register" in text else WAIT for agent, text in observations.items()}
        observations, _, _, _, infos = environment.step(actions)
    agent = on_turn(infos)
    assert observations[agent] == "Mail came; fetch_messages reads it."
    stood = environment.step({})
    assert (stood[0], on_turn(stood[4])) == (observations, agent)
    assert not any(info["acted"] for info in stood[4].values())
    _, rewards, _, _, infos = environment.step({agent: "Hm."})
    assert (infos[agent]["acted"], infos[agent]["ok"], infos[agent]["code"]) == (True, False, "no_action")
    assert {*rewards.values()} == {0.0}


def test_an_episode_is_a_game_of_a_pool() -> None:
    """With seeds as in Gymnasium; a limit of the session truncates, and a step needs an episode."""
    environment = WorldParallelEnv("market", max_actions=2, split="validation")
    with pytest.raises(ResetNeeded, match="no episode"):
        environment.step({})
    environment.reset()
    assert split_of(environment.game.seed) == "validation"
    first, _ = environment.reset(seed=5)
    assert first == environment.reset(seed=5)[0]
    while environment.agents:
        _, _, over, truncated, infos = environment.step(dict.fromkeys(environment.agents, WAIT))
    assert ({*over.values()}, {*truncated.values()}) == ({False}, {True})
    assert {info["ending"] for info in infos.values()} == {"message_cap"}


def test_scaled_rewards_are_parts_of_the_first_players_gain() -> None:
    """A customer's utility over what all customers gain together, in the mean of a few games."""
    (plain, _), (scaled, _) = (played(WorldParallelEnv("market", reward=name), MARKET) for name in ("score", "scaled"))
    (span,) = {round(plain[agent] / scaled[agent], 6) for agent in plain if plain[agent]}
    played_by_first = [akinai.run("market", seeds=pooled_seed("train", number))[0] for number in range(4)]
    assert span == pytest.approx(sum(run.scores[0].value for run in played_by_first) / 4)


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader who pastes it sees rewards."""
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    exec(compile(program, PAGE.name, "exec"), {"__name__": "__main__"})
    assert "customer_0001" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "agents"),
    [
        ({"businesses.agent": "careful"}, {"customer"}),
        (["customers.agent=careful"], {"business"}),
        ({}, {"customer", "business"}),
    ],
)
def test_a_side_for_which_a_player_is_named_is_no_agent(settings: Any, agents: set[str]) -> None:
    """It is played by that player, unless it is held."""
    environment = WorldParallelEnv("market", settings=settings)
    assert {agent.partition("_")[0] for agent in environment.possible_agents} == agents
    held = WorldParallelEnv("market", settings=settings, hold=["customers", "businesses"])
    assert {agent.partition("_")[0] for agent in held.possible_agents} == {"customer", "business"}
