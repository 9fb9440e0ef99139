"""Branches of a run: the past as it was, the same chance or other futures, and one player for the rest."""

import asyncio

import pytest

import akinai
from akinai import worlds
from akinai.core.worlds import replay
from akinai.runtime.why.branches import Branch, Branches
from akinai.worlds.vending.model.state import State


def branches(agent: str, days: int = 12, player: str = "reference") -> Branches:
    run = akinai.run("vending", preset="quarter", agent=agent, days=days, seeds=5)[0]
    world = worlds.load(run.world)
    return Branches(world, replay(world, run.ledger), player)


def value(of: Branches, branch: Branch) -> float:
    return asyncio.run(of.value(branch))


def test_a_branch_of_its_own_player_ends_as_the_run() -> None:
    """Wherever the run's own player takes over, it ends with the run's score: nothing of its past is lost on it."""
    own = branches("reference")
    end = own.headline(own.steps).value
    assert [value(own, Branch(index)) for index in range(len(own.units) + 1)] == [end] * (len(own.units) + 1)
    assert not any(unit.parted for unit in asyncio.run(own.divergences()))


def test_copied_players_play_as_those_that_follow_from_the_beginning() -> None:
    """A player that was copied at a morning goes on as one that followed the record up to there."""
    careful = branches("careful")
    copied = [value(careful, Branch(index, index + 1, index, 2)) for index in (3, 8)]
    careful._copies.clear()
    assert [value(careful, Branch(index, index + 1, index, 2)) for index in (3, 8)] == copied


def test_a_player_that_cannot_be_told_takes_over_afresh() -> None:
    """After another player's days it reads the shop that it takes over, does business there, and what of that was left
    out on the day is named."""
    run = akinai.run("vending", agent="idle", days=24, seeds=5, preset="classic")[0]
    world = worlds.load(run.world)
    late = Branches(world, replay(world, run.ledger), "reference")
    assert value(late, Branch(3)) > late.headline(late.steps).value + 5_000
    assert value(late, Branch(3, 4)) == value(late, Branch(4))
    assert late.afresh
    divergences = asyncio.run(late.divergences())
    assert all(divergences[index].missed for index in late.afresh - {len(late.units)})


def test_the_same_future_for_everybody() -> None:
    """The same number is the same future, another number another one, and the past stays."""
    idle = branches("idle", player="careful")
    futures = [value(idle, Branch(2, 0, 2, salt)) for salt in (1, 1, 2)]
    assert futures[0] == futures[1] != futures[2]
    assert value(idle, Branch(12)) == idle.headline(idle.steps).value == value(idle, Branch(12, 0, 12, 1))


def test_what_is_left_out_did_not_happen() -> None:
    """Without its entries a day is one on which they were not made; without any, the branch is the recorded one."""
    own = branches("reference")
    day = own.units[3]
    decided = [
        step.entry.seq
        for step in own.steps[day.begin : day.end]
        if own.world.facets.explaining.decides(step.turn.action)
    ]
    whole = value(own, Branch(3, 4))
    assert whole == own.headline(own.steps).value
    assert value(own, Branch(3, 4, without=tuple(decided))) != whole


def test_redrawing_keeps_what_is_hidden() -> None:
    """Another future has the town, the money and the past noise of the state; only days ahead differ."""
    own = branches("reference")
    explaining, before = own.world.facets.explaining, own.before(4)
    other: State = explaining.redraw(before, 1)
    assert other.economy.town is before.economy.town
    assert [other.economy.today(day) == before.economy.today(day) for day in range(1, 5)] == [True] * 4
    assert [other.economy.today(day) for day in range(5, 12)] != [before.economy.today(day) for day in range(5, 12)]
    assert explaining.redraw(before, 1).economy.today(7) == other.economy.today(7)


def test_words_name_what_was_decided() -> None:
    """An order says how much of what from whom."""
    own = branches("reference")
    words = own.world.facets.explaining.words
    orders = [words(step) for step in own.steps if step.entry.name == "PlaceOrder"]
    assert orders[0].startswith("ordered ")
    assert " units of " in orders[0]
    assert " from " in orders[0]


@pytest.mark.parametrize("index", [0, 5])
def test_a_day_taken_again_in_its_own_future_is_the_recorded_day(index: int) -> None:
    """Taking a day's actions again gives what taking over after it gives."""
    careful = branches("careful")
    assert value(careful, Branch(index, index + 1)) == value(careful, Branch(index + 1))
