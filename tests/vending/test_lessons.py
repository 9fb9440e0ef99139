"""What a vending run teaches: sentences that can be followed, with numbers from its ledger and from nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

import akinai
from akinai import worlds
from akinai.core.agents import Agent, AgentFactory, Role
from akinai.core.errors import UsageError
from akinai.core.lessons import Lesson
from akinai.core.worlds import fold
from akinai.runtime.config import prepare
from akinai.runtime.runs import Run
from akinai.worlds.vending.advice import PriceAdvice, SupplierAdvice, added, read_advice
from akinai.worlds.vending.seen import Seen

WORLD = worlds.load("vending")


def told(*bullets: str, player: str = "naive") -> AgentFactory:
    def agent(role: Role) -> Agent:
        return WORLD.players[player](replace(role, bullets=bullets))

    return agent


def tried(seed: int = 1, days: int = 20, **settings: object) -> Run:
    run = akinai.run("vending", agent=told(WORLD.experiment(seed)), seeds=seed, days=days, settings=settings)[0]
    assert run.status == "done", run.error
    return run


def lessons(run: Run) -> Mapping[str, Lesson]:
    return {lesson.about: lesson for lesson in WORLD.lessons(run.ledger)}


@pytest.fixture(scope="module")
def run() -> Run:
    return tried()


def test_every_lesson_is_a_sentence_that_reads_back(run: Run) -> None:
    """A sentence is read back to what it was written from, and shows at least one entry of its run."""
    found = lessons(run)
    assert len(found) > 10
    for lesson in found.values():
        advice = read_advice(lesson.content)
        assert advice is not None
        assert advice.said() == lesson.content
        assert lesson.entries
        assert max(lesson.entries) <= len(run.ledger.entries)


def test_a_sentence_alone_adds_up_with_others(run: Run) -> None:
    """Added to itself a sentence advises the same and has seen twice as many days; other wordings are replaced."""
    for lesson in lessons(run).values():
        twice = added(lesson.content, lesson.content)
        assert read_advice(twice) is not None
    price = next(lesson.content for lesson in lessons(run).values() if PriceAdvice.read(lesson.content))
    one, two = PriceAdvice.read(price), PriceAdvice.read(added(price, price))
    assert one is not None
    assert two is not None
    assert (two.days, two.best_cents) == (2 * one.days, one.best_cents)
    assert added("Drinks are best cold.", price) == price


def test_the_best_price_is_that_of_the_line_through_what_was_seen() -> None:
    """3.0 a day at $2.00 and 2.0 at $2.60 end at $3.80: with a cost of $0.80 the best is (3.80 + 0.80) / 2."""
    advice = PriceAdvice("cola", "Cola", "small", 200, 80, (Seen(200, 3.0, 10), Seen(260, 2.0, 10)))
    assert advice.best_cents == 230
    assert advice.units_a_day == pytest.approx(2.5)
    assert "Sell Cola (cola, small) at about $2.30 where its list price is $2.00" in advice.said()


def test_the_numbers_are_those_of_the_ledger() -> None:
    """Where demand falls steeper, the advised prices are lower; where goods take longer, the sentences say so."""
    catalog = prepare(WORLD).setup["catalog"]
    assert isinstance(catalog, dict)
    products = [{**one, "elasticity_permille": 3000} for one in catalog["products"]]  # type: ignore[union-attr]
    suppliers = [{**one, "lead_days": one["lead_days"] + 2} for one in catalog["suppliers"]]  # type: ignore[union-attr]
    before = [one for seed in (1, 2, 3) for one in WORLD.lessons(tried(seed).ledger)]
    after = [
        one
        for seed in (1, 2, 3)
        for one in WORLD.lessons(tried(seed, catalog={"products": products, "suppliers": suppliers}).ledger)
    ]
    assert _price(after) < _price(before) - 0.1
    assert _lead(after) > _lead(before) + 1


def _price(found: Sequence[Lesson]) -> float:
    """The advised prices as multiples of the list prices, on average."""
    read = [one for one in (PriceAdvice.read(lesson.content) for lesson in found) if one]
    return sum(one.best_cents / one.list_cents for one in read) / len(read)


def _lead(found: Sequence[Lesson]) -> float:
    read = [one for one in (SupplierAdvice.read(lesson.content) for lesson in found) if one]
    return sum(one.lead_days for one in read) / len(read)


def test_naive_plays_on_as_ever_where_nothing_can_be_followed() -> None:
    """Without bullets, and with such as it cannot read, the player's ledger is the same to the byte."""
    plain = akinai.run("vending", agent="naive", seeds=3, days=15)[0]
    deaf = akinai.run("vending", agent=told("Be good.", "Sell cola dearly."), seeds=3, days=15)[0]
    assert plain.digest == deaf.digest


def test_naive_does_what_a_sentence_tells(run: Run) -> None:
    """One sentence on the price of water, and the player asks that price, but not where the list price is another."""
    advice = PriceAdvice("water", "Water", "small", 150, 60, (Seen(150, 3.0, 10), Seen(190, 2.6, 10)))
    assert _asked(advice) == [190]
    assert _asked(replace(advice, list_cents=300)) == [150]


def _asked(advice: PriceAdvice) -> Sequence[int]:
    """The prices of water in a run of somebody who was told so, in cents."""
    state = fold(WORLD, akinai.run("vending", agent=told(advice.said()), seeds=3, days=8)[0].ledger)
    return [state.prices[advice.product]]


def test_who_sold_nothing_teaches_nothing() -> None:
    """An idle run has no lessons."""
    assert not WORLD.lessons(akinai.run("vending", agent="idle", seeds=1, days=5)[0].ledger)


def test_a_shuffled_catalogue_is_another_one_and_a_ledger_holds_it() -> None:
    """`catalog.shuffle` changes prices, elasticities and lead times, and leaves no trace where it is off."""
    plain, off = prepare(WORLD).setup, prepare(WORLD, settings={"catalog.shuffle": False}).setup
    one, two = (prepare(WORLD, settings={"catalog.shuffle": which}).setup for which in (True, 2))
    assert plain == off
    assert plain["catalog"] != one["catalog"] != two["catalog"]
    assert prepare(WORLD, settings={"catalog.shuffle": 1}).setup == one
    with pytest.raises(UsageError, match="shuffle is true, false or the number"):
        prepare(WORLD, settings={"catalog.shuffle": "often"})
