"""Games that are played side by side, and the runs that are made of them afterwards."""

from pathlib import Path

import pytest

import akinai
import doors
from akinai import worlds
from akinai.api.training.batch import Batch
from akinai.api.training.pools import episode_seed, reward_span
from akinai.core.chance import pooled_seed, split_of
from akinai.core.errors import EndRun, UnknownName, UsageError

GAMES = [
    doors.Game(days=6),
    doors.Game(days=6, preset="classic"),
    doors.Game(days=21, preset="sprint"),
    doors.Game("market", days=None, hold="customers"),
]
SEED = 7


def played(game: doors.Game) -> tuple[Batch, float]:
    """A batch of the reference's game beside another, and the sum of its rewards."""
    batch = akinai.batch(game.world, seeds=[doors.reference(game).seed, SEED], **game.options)
    rewards = sum(batch.step([action, None]).rewards[0] for action in game.actions)
    return batch, rewards


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.world} {game.preset or ''}")
def test_a_recorded_game_is_the_run(game: doors.Game) -> None:
    """Digest, scores and ending of an ordinary run; the rewards sum to what the score gained; the other game stands."""
    run = doors.reference(game)
    batch, rewards = played(game)
    recorded = batch.record(0)
    assert (recorded.digest, recorded.scores) == (run.digest, run.scores)
    assert (batch.games[0].ending, batch.games[1].ending) == (run.ending, None)
    assert rewards == run.scores[0].value - doors.starting_score(game)
    assert batch.games[1].moves == []


@pytest.mark.needs_qa
def test_questions_are_a_batch() -> None:
    """The session's clock rules there, so entries are compared without their times."""
    game = doors.Game("qa", days=None)
    batch, rewards = played(game)
    recorded, run = batch.record(0), doors.reference(game)
    assert [entry.text for entry in recorded.ledger.entries] == [entry.text for entry in run.ledger.entries]
    assert recorded.scores == run.scores
    assert rewards == pytest.approx(run.scores[0].value)


def test_an_unfinished_game_is_recorded_as_far_as_it_went() -> None:
    """The run can be resumed; a reply in words is read, and what cannot be read is refused in both."""
    batch = akinai.batch("vending", preset="classic", days=3, seeds=SEED)
    replies = ['{"action": "advance_day"}', "Let me think.", '{"action": "change_prices", "prices": 3}']
    outcomes = [batch.step([reply]).outcomes[0] for reply in replies]
    assert [outcome and outcome.code for outcome in outcomes] == [None, "no_action", "bad_parameters"]
    run = batch.record(0)
    assert [entry.outcome for entry in run.ledger.entries] == outcomes
    with akinai.open("vending", preset="classic", days=3, seed=SEED) as session:
        for reply in replies:
            session.reply(reply)
        assert session.run().digest == run.digest


def test_a_game_is_recorded_once_under_a_name(tmp_path: Path) -> None:
    """In the store that is named; a second time the name is taken, and the run there stays as it was."""
    store = str(tmp_path / "akinai.db")
    batch = akinai.batch("vending", preset="classic", days=3, seeds=SEED)
    batch.step([("advance_day", {})])
    run = batch.record(0, name="mine", store=store)
    with pytest.raises(UsageError, match="mine-7"):
        batch.record(0, name="mine", store=store)
    (recorded,) = akinai.runs(store=store)
    assert (recorded.id, recorded.digest, recorded.entries) == ("mine-7", run.digest, 1)


def test_the_limits_of_a_session_end_a_game() -> None:
    """An actor that repeats itself is stuck, and a cap of actions counts, as in a session."""
    stuck = akinai.batch("vending", preset="classic", seeds=SEED, max_repeats=3)
    for _ in range(3):
        stuck.step(["I wait."])
    assert (stuck.games[0].ending, stuck.games[0].done) == ("unreadable", True)
    with pytest.raises(EndRun):
        stuck.games[0].act("advance_day")
    assert stuck.step([("advance_day", {})]) == ([None], [0.0], [True])
    capped = akinai.batch("vending", preset="classic", seeds=SEED, max_actions=1)
    assert capped.step([("advance_day", {})]).done == [True]
    assert capped.record(0).ending == capped.games[0].ending == "message_cap"


def test_seeds_come_in_turn_and_pools_are_named() -> None:
    """Named seeds begin again after the last one; without seeds every game is a new one of a pool."""
    named = akinai.batch("vending", seeds="1-3", n=2)
    seeds = [game.seed for game in named.games]
    named.reset()
    assert seeds + [game.seed for game in named.games] == [1, 2, 3, 1]
    assert named.begin(0, 9).seed == named.games[0].seed == 9
    numbered = akinai.batch("vending", seeds="1-2", split="test")
    assert [game.seed for game in numbered.games] == [episode_seed(1, "test"), episode_seed(2, "test")]
    new = [game.seed for split in (None, "validation") for game in akinai.batch("vending", split=split, n=3).games]
    assert [split_of(seed) for seed in new] == ["train"] * 3 + ["validation"] * 3
    assert len({*new}) == 6


def test_scaled_rewards_sum_to_about_one() -> None:
    """For the first player, in the mean over the games that make the scale; the other unit stays cents."""
    game = doors.Game(days=10, preset="classic")
    world = worlds.load("vending")
    span = reward_span(world, "scaled", {"settings": None, **game.options})
    run = doors.reference(game)
    batch = akinai.batch("vending", seeds=run.seed, reward="scaled", **game.options)
    total = sum(batch.step([action]).rewards[0] for action in game.actions)
    assert total == pytest.approx((run.scores[0].value - doors.starting_score(game)) / span)
    assert 0.5 < total < 1.5
    idle = akinai.run("vending", agent="idle", seeds=run.seed, ledgers=False, **game.setup)[0]
    assert idle.scores[0].value - doors.starting_score(game) < 0.1 * span


def test_rewards_of_games_too_short_to_gain_are_not_scaled() -> None:
    """In the first days the first player only spends; a world without an idle player is measured from its start."""
    with pytest.raises(UsageError, match="cannot be scaled"):
        akinai.batch("vending", preset="classic", days=1, seeds=1, reward="scaled")
    market = worlds.load("market")
    span = reward_span(market, "scaled", {"preset": None, "days": None, "settings": None})
    gains = [run.scores[0].value for run in akinai.run("market", seeds=[pooled_seed("train", n) for n in range(4)])]
    assert span == sum(gains) / 4


def test_what_cannot_be_a_batch_is_refused() -> None:
    """In a sentence each; a key of sealed games is no option at all."""
    with pytest.raises(UsageError, match="one game or more"):
        akinai.batch("vending", n=0)
    with pytest.raises(UsageError, match="takes 2 actions, not 1"):
        akinai.batch("vending", seeds="1-2").step([None])
    with pytest.raises(UnknownName, match="split"):
        akinai.batch("vending", split="exam")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="play by rules"):
        akinai.batch("market", hold=["businesses"], rest="stdio:cat", seeds=1)
    with pytest.raises(TypeError, match="key"):
        akinai.batch("vending", key="key.json")  # pyright: ignore[reportCallIssue]
