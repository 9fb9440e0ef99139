"""A world as an environment of Gymnasium."""

import json
import os
import signal
import subprocess
import sys
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

import akinai
import doors
import gymnasium_sprint
from akinai.adapters.gymnasium import ReplySpace, TextSpace, WorldEnv, WorldVectorEnv
from akinai.core.chance import pooled_seed, split_of
from akinai.core.errors import UsageError

DAY = json.dumps({"action": "advance_day"})


@pytest.mark.parametrize("world", ["vending", "market"])
def test_gymnasiums_own_check_passes(world: str) -> None:
    """Without a warning; refused actions of any kind among its steps."""
    environment = gymnasium.make(
        f"akinai.adapters.gymnasium:akinai/{world}", render_mode="ansi", disable_env_checker=True
    )
    with warnings.catch_warnings(action="error"):
        check_env(environment.unwrapped)
    environment.close()


def test_rewards_sum_to_what_the_score_gained() -> None:
    """Over an episode, the last reward included; the end is told, and a step after it is an error."""
    game = doors.Game(days=3, preset="classic")
    run = doors.reference(game)
    environment = WorldEnv("vending", preset="classic", days=3)
    observation, info = environment.reset(seed=run.seed)
    assert (observation.startswith("You run a vending machine"), info["actor"]) == (True, "owner")
    rewards, over = 0.0, False
    for name, arguments in game.actions:
        assert not over
        observation, reward, over, truncated, info = environment.step(
            json.dumps({"action": name, "arguments": arguments})
        )
        rewards += reward
        assert not truncated
    assert (over, info["ending"], info["tools"]) == (True, "horizon", [])
    scores = environment.session.scores()
    assert rewards == scores[0].value - doors.starting_score(game)
    with pytest.raises(ResetNeeded, match="horizon"):
        environment.step(DAY)
    environment.close()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("I think about it.", "no_action"),
        ('{"action": "sell_kidney"}', "no_action"),
        ('{"action": "wait_until", "hour": "noon"}', "bad_parameters"),
        (json.dumps({"action": "notepad_write", "text": "x" * 2**20}), "bad_parameters"),
    ],
)
def test_a_reply_that_cannot_be_read_is_refused(reply: str, code: str) -> None:
    """The episode goes on."""
    environment = WorldEnv("vending", preset="classic", days=1)
    environment.reset(seed=1)
    observation, reward, over, _, info = environment.step(reply)
    assert (info["ok"], info["code"], reward, over) == (False, code, 0.0, False)
    assert observation.startswith(f"Refused ({code})")
    assert environment.step(DAY)[2]
    environment.close()


def test_a_limit_of_the_session_truncates() -> None:
    """The world did not end."""
    environment = WorldEnv("vending", preset="classic", max_actions=1)
    environment.reset(seed=1)
    assert environment.step(DAY)[2:4] == (False, True)
    environment.close()


def test_two_environments_play_two_runs() -> None:
    """A vector of environments is stepped together."""
    environments = gymnasium.make_vec("akinai.adapters.gymnasium:akinai/vending", 2, vectorization_mode="sync", days=2)
    environments.reset(seed=1)
    _, _, over, _, _ = environments.step((DAY, '{"action": "look"}'))
    assert not over.any()
    assert environments.step((DAY, DAY))[2].tolist() == [True, False]
    environments.close()


PROGRAM = f"""
from akinai.adapters.gymnasium import WorldEnv
environment = WorldEnv("vending", preset="classic", days=2, store="a.db")
environment.reset(seed=1)
environment.step({DAY!r})
print(environment.session.id, flush=True)
input()
"""


@pytest.mark.slow
def test_an_episode_whose_process_died_is_resumed(tmp_path: Path) -> None:
    """Every answered step is in the store."""
    client = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert client.stdout is not None
    name = client.stdout.readline().strip()
    os.kill(client.pid, signal.SIGKILL)
    client.communicate()
    environment = WorldEnv("vending", preset="classic", store=str(tmp_path / "a.db"))
    environment.reset(options={"resume": name})
    assert environment.step(DAY)[2]
    environment.close()
    (run,) = akinai.runs(name, store=str(tmp_path / "a.db"))
    assert (run.entries, run.days) == (2, 2)


def test_sampled_replies_are_actions_of_the_world() -> None:
    """Most are readable; the same seed gives the same samples."""
    with akinai.open("vending", preset="classic") as session:
        first, other = (ReplySpace(session.world.verbs.classes, seed=1) for _ in range(2))
        samples = [first.sample() for _ in range(100)]
        assert samples == [other.sample() for _ in range(100)]
        verbs = session.world.verbs
        actions: list[Any] = [verbs.parse(*json.loads(text).values(), text).tool_name() for text in samples]
        assert actions.count("unreadable") < 40


def test_a_reset_without_a_seed_draws_a_new_game_of_the_pool() -> None:
    """Of `train`, or of the split that is named; with one the seed is the number of its game."""
    environment = WorldEnv("vending", preset="classic", days=1)
    seeds: list[int] = []
    for _ in range(3):
        environment.reset()
        seeds.append(environment.session.seed or 0)
    assert (len({*seeds}), {split_of(seed) for seed in seeds}) == (3, {"train"})
    environment.close()
    validation = WorldEnv("vending", preset="classic", days=1, split="validation")
    validation.reset(seed=4)
    assert validation.session.seed == pooled_seed("validation", 4)
    validation.reset()
    assert split_of(validation.session.seed or 0) == "validation"
    validation.close()


def test_a_sealed_game_is_no_episode(tmp_path: Path) -> None:
    """A trainer has no key: it can neither begin a sealed game nor go on with one."""
    store, key = str(tmp_path / "a.db"), str(tmp_path / "key.json")
    akinai.seal.new(key)
    with akinai.open("vending", preset="classic", days=2, key=key, store=store) as session:
        session.act("advance_day")
    environment = WorldEnv("vending", store=store)
    with pytest.raises(UsageError, match="sealed 1 of"):
        environment.reset(options={"resume": session.id})
    with pytest.raises(TypeError, match="key"):
        WorldEnv("vending", key=key)  # pyright: ignore[reportCallIssue]


def test_a_vector_of_games_is_what_single_environments_are() -> None:
    """The same texts and rewards; a game that is over is followed by a new one, and can be recorded before."""
    name, single = "akinai.adapters.gymnasium:akinai/vending", WorldEnv("vending", preset="classic", days=2)
    vector: Any = gymnasium.make_vec(name, 2, preset="classic", days=2)
    assert isinstance(vector, WorldVectorEnv)
    texts, infos = vector.reset(seed=1)
    text, info = single.reset(seed=2)
    assert (texts[1], infos["prompt"][1]) == (text, info["prompt"])
    for reply in (DAY, "Hm.", DAY):
        texts, rewards, over, truncated, infos = vector.step((reply, reply))
        text, reward, single_over, single_truncated, info = single.step(reply)
        assert (texts[1], rewards[1], over[1], truncated[1]) == (text, reward, single_over, single_truncated)
        assert (infos["ok"][1], infos["code"][1] or None) == (info["ok"], info["code"])
    assert over.all()
    assert vector.batch.record(1).digest == single.session.run().digest
    assert infos["ending"].tolist() == ["horizon"] * 2
    texts, rewards, over, _, _ = vector.step((DAY, DAY))
    assert (rewards.tolist(), over.tolist()) == ([0.0, 0.0], [False, False])
    assert all(text.startswith("You run a vending machine") for text in texts)
    assert {split_of(game.seed) for game in vector.batch.games} == {"train"}
    single.close()
    vector.close()


def test_a_reply_of_several_actions_earns_the_rewards_of_all() -> None:
    """In a single environment and in a vector; what comes after the end earns nothing."""
    days = json.dumps([{"action": "advance_day"}] * 3)
    single, vector = WorldEnv("vending", preset="classic", days=2), WorldVectorEnv("vending", preset="classic", days=2)
    single.reset(seed=1)
    vector.reset(seed=1)
    _, reward, over, _, _ = single.step(days)
    with akinai.open("vending", preset="classic", days=2, seed=1) as session:
        rewards = [session.act("advance_day").ok and session.reward for _ in range(2)]
    assert (reward, over) == (sum(rewards), True)
    assert vector.step([days])[1].tolist() == [reward]
    assert all(rewards)
    single.close()


def test_environments_in_processes_of_their_own() -> None:
    """As they come, with the texts of single environments; one that is too long for the memory they share says so."""
    vector: Any = gymnasium.make_vec(
        "akinai.adapters.gymnasium:akinai/vending", 2, preset="classic", days=2, vectorization_mode="async"
    )
    single = WorldEnv("vending", preset="classic", days=2)
    single.reset(seed=2)
    assert vector.reset(seed=1)[0][1] == single.reset(seed=2)[0]
    texts, rewards, over, _, _ = vector.step([DAY, DAY])
    assert (texts[1], rewards.tolist(), over.tolist()) == (single.step(DAY)[0], [-200.0, -200.0], [False, False])
    single.close()
    vector.close()
    space = TextSpace()
    memory = create_shared_memory(space, 2)
    for place, text in enumerate(("水" * 80_000, "")):
        write_to_shared_memory(space, place, text, memory)
    assert deepcopy(read_from_shared_memory(space, memory, 2)) == ("水" * 80_000, "")
    with pytest.raises(ValueError, match="300,000 bytes"):
        write_to_shared_memory(space, 0, "水" * 100_000, memory)


@pytest.mark.slow
def test_a_small_policy_learns_to_plan_and_its_control_does_not() -> None:
    """On games of another pool the policy beats a rule-based player; shuffled rewards teach nothing."""
    small = {"generations": 6, "policies": 12, "games": 1, "days": 84}
    policy, control = (gymnasium_sprint.train(shuffled, **small) for shuffled in (False, True))
    gains = [gymnasium_sprint.judge(learned, 8, 84).mean() for learned in (policy, control)]
    naive = gymnasium_sprint.gains_of_naive(8, 84).mean()
    assert gains[0] > naive > gains[1]
