"""What a vending run teaches: sentences that can be followed, with numbers from its ledger and from nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from ledger_builder import LedgerBuilder

import akinai
from akinai import worlds
from akinai.core.agents import Agent, AgentFactory, Role
from akinai.core.errors import UsageError
from akinai.core.ledger import Ledger
from akinai.core.lessons import Lesson, SentenceTemplate, TemplateAdvice, sentence_of, with_record
from akinai.core.worlds import fold, replay
from akinai.runtime.config.settings import prepare
from akinai.runtime.runs.records import Run
from akinai.worlds.vending.lessons.advice import (
    CashAdvice,
    DataPoint,
    HourAdvice,
    LastOrderAdvice,
    PriceAdvice,
    StockAdvice,
    SupplierAdvice,
    merge_advice,
    read_advice,
)
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players.following import follow
from akinai.worlds.vending.players.habits import LADDER
from akinai.worlds.vending.transcript.entries import show

WORLD = worlds.load("vending")


def lessons_in(ledger: Ledger) -> Sequence[Lesson]:
    return WORLD.facets.teaching.lessons(replay(WORLD, ledger))


def advised(*bullets: str, player: str = "naive") -> AgentFactory:
    def agent(role: Role) -> Agent:
        return WORLD.players[player](replace(role, bullets=bullets))

    return agent


def tried(seed: int = 1, days: int = 20, **settings: object) -> Run:
    run = akinai.run(
        "vending",
        agent=advised(WORLD.facets.teaching.experiment(seed)),
        seeds=seed,
        days=days,
        settings=settings,
        preset="classic",
    )[0]
    assert run.status == "done", run.error
    return run


def lessons(run: Run) -> Mapping[str, Lesson]:
    return {lesson.about: lesson for lesson in lessons_in(run.ledger)}


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
        assert advice.sentence() == lesson.content
        assert lesson.entries
        assert max(lesson.entries) <= len(run.ledger.entries)


def test_a_record_is_read_and_an_edited_sentence_overrides_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Players read the kind and the numbers of a lesson and no sentence; what a person changed in a sentence counts."""
    taught = [*lessons(run).values()]
    parsed = {lesson.bullet: read_advice(lesson.content) for lesson in taught}
    edited = with_record("Order nothing in the last 3 days: " + LastOrderAdvice(5, 1, 0).sentence().partition(": ")[2],
                         LastOrderAdvice(2, 1, 0).record())  # fmt: skip
    assert read_advice(edited) == LastOrderAdvice(5, 1, 0)
    assert read_advice(with_record("Drinks are best cold.", {"kind": "price", "points": []})) is None
    monkeypatch.setattr(SentenceTemplate, "parse", lambda *_: pytest.fail("a sentence was parsed"))
    assert {bullet: read_advice(bullet) for bullet in parsed} == parsed
    assert all(lesson.record["kind"] and sentence_of(lesson.bullet) == lesson.content for lesson in taught)


@pytest.mark.parametrize(
    "advice", [CashAdvice(200, 30, 0, 900.0), HourAdvice(10, 3, 1), StockAdvice("cola", "Cola", 4, 9, 3, 2)]
)
def test_advice_on_one_thing_leaves_the_others_as_they_are(advice: TemplateAdvice) -> None:
    """A player with a single piece of advice is not worse than one without any: what it is silent about stays."""
    plain, told = (
        akinai.run("vending", agent=advised(*bullets), preset="classic", seeds="201-203", days=30)
        for bullets in ((), (advice.bullet(),))
    )
    for without, with_one in zip(plain, told, strict=True):
        assert with_one.scores[0].value >= without.scores[0].value


def test_a_sentence_alone_adds_up_with_others(run: Run) -> None:
    """Added to itself a sentence advises the same and has seen twice as many days; other wordings are replaced."""
    for lesson in lessons(run).values():
        twice = merge_advice(lesson.content, lesson.content)
        assert read_advice(twice) is not None
    price = next(lesson.content for lesson in lessons(run).values() if PriceAdvice.parse(lesson.content))
    single, double = read_advice(price), read_advice(merge_advice(price, price))
    assert isinstance(single, PriceAdvice)
    assert isinstance(double, PriceAdvice)
    assert (double.days, double.best_cents) == (2 * single.days, single.best_cents)
    assert merge_advice("Drinks are best cold.", price) == price


def test_the_best_price_is_that_of_the_line_through_what_was_seen() -> None:
    """3.0 a day at $2.00 and 2.0 at $2.60 end at $3.80: with a cost of $0.80 the best is (3.80 + 0.80) / 2."""
    advice = PriceAdvice("cola", "Cola", "small", 200, 80, (DataPoint(200, 3.0, 10), DataPoint(260, 2.0, 10)))
    assert advice.best_cents == 230
    assert advice.units_a_day == pytest.approx(2.5)
    assert "Sell Cola (cola, small) at about $2.30 where its list price is $2.00" in advice.sentence()


def test_the_numbers_are_those_of_the_ledger() -> None:
    """Where demand falls steeper, the advised prices are lower; where goods take longer, the sentences say so."""
    catalog = prepare(WORLD, preset="classic").setup["catalog"]
    assert isinstance(catalog, dict)
    products = [{**product, "elasticity_permille": 3000} for product in catalog["products"]]  # type: ignore[union-attr]
    suppliers = [{**product, "lead_days": product["lead_days"] + 2} for product in catalog["suppliers"]]  # type: ignore[union-attr]
    before = [lesson for seed in (1, 2, 3) for lesson in lessons_in(tried(seed).ledger)]
    after = [
        lesson
        for seed in (1, 2, 3)
        for lesson in lessons_in(tried(seed, catalog={"products": products, "suppliers": suppliers}).ledger)
    ]
    assert _price(after) < _price(before) - 0.1
    assert _lead(after) > _lead(before) + 1


def _price(found: Sequence[Lesson]) -> float:
    """The advised prices as multiples of the list prices, on average."""
    read = [advice for advice in (PriceAdvice.parse(lesson.content) for lesson in found) if advice]
    return sum(advice.best_cents / advice.list_cents for advice in read) / len(read)


def _lead(found: Sequence[Lesson]) -> float:
    read = [advice for advice in (SupplierAdvice.parse(lesson.content) for lesson in found) if advice]
    return sum(advice.lead_days for advice in read) / len(read)


def test_naive_plays_on_as_ever_where_nothing_can_be_followed() -> None:
    """Without bullets, and with such as it cannot read, the player's ledger is the same to the byte."""
    plain = akinai.run("vending", agent="naive", seeds=3, days=15, preset="classic")[0]
    deaf = akinai.run("vending", agent=advised("Be good.", "Sell cola dearly."), seeds=3, days=15, preset="classic")[0]
    assert plain.digest == deaf.digest


def test_naive_does_what_a_sentence_tells(run: Run) -> None:
    """One sentence on the price of water, and the player asks that price, but not where the list price is another."""
    advice = PriceAdvice("water", "Water", "small", 150, 60, (DataPoint(150, 3.0, 10), DataPoint(190, 2.6, 10)))
    assert _asked(advice) == [190]
    assert _asked(replace(advice, list_cents=300)) == [150]


def _asked(advice: PriceAdvice) -> Sequence[int]:
    """The prices of water in a run of somebody who was advised so, in cents."""
    state = fold(
        WORLD, akinai.run("vending", agent=advised(advice.sentence()), seeds=3, days=8, preset="classic")[0].ledger
    )
    return [state.prices[advice.product]]


def test_who_sold_nothing_teaches_nothing() -> None:
    """An idle run has no lessons."""
    assert not lessons_in(akinai.run("vending", agent="idle", seeds=1, days=5, preset="classic")[0].ledger)


def test_a_shuffled_catalogue_is_another_one_and_a_ledger_holds_it() -> None:
    """`catalog.shuffle` changes prices, elasticities and lead times, and leaves no trace where it is off."""
    plain, off = (
        prepare(WORLD, preset="classic").setup,
        prepare(WORLD, preset="classic", settings={"catalog.shuffle": False}).setup,
    )
    first, second = (prepare(WORLD, preset="classic", settings={"catalog.shuffle": which}).setup for which in (True, 2))
    assert plain == off
    assert plain["catalog"] != first["catalog"] != second["catalog"]
    assert prepare(WORLD, preset="classic", settings={"catalog.shuffle": 1}).setup == first
    with pytest.raises(UsageError, match="shuffle is true, false or the number"):
        prepare(WORLD, preset="classic", settings={"catalog.shuffle": "often"})


@pytest.mark.parametrize("field", ["id", "name", "address"])
def test_an_offer_teaches_whatever_its_supplier_is_called(field: str) -> None:
    """The supplier's id, its name and its address are one supplier, to the rules and to who reads the record."""
    builder = LedgerBuilder(preset="quarter", days=90).do(a.SearchWeb(query="wholesale suppliers"))
    supplier = builder.state.setup.catalog.supplier_by_id[builder.state.known_suppliers[0]]
    called: str = getattr(supplier, field)
    items = dict.fromkeys(supplier.products[:2], 40)
    builder.do(a.GetPriceLists(), a.MakeOffer(supplier_id=called, discount_percent=10))
    assert show(builder.steps, 2).summary == f"Asked {supplier.name} for 10 % off"
    builder.do(a.PlaceOrder(supplier_id=called, items=items)).nights()
    about = [lesson.about for lesson in WORLD.facets.teaching.lessons(builder.steps)]
    assert "bargaining" in about


def test_lessons_of_several_sites_name_no_goods_and_no_supplier_and_change_habits() -> None:
    """Catalogues differ by seed, so a lesson holds for any; each is read back, and naive trades by what it says."""
    run = akinai.run("vending", preset="quarter", agent="naive", seeds=2, days=40)[0]
    found, setup = lessons(run), WORLD.begin(run.ledger.genesis).setup
    assert {"being there", "claims", "customers", "news", "products", "tastes"} <= set(found)
    listed = (*setup.catalog.products, *setup.catalog.suppliers)
    names = {name.lower() for entry in listed for name in (entry.id, entry.name)}
    for lesson in found.values():
        advice = read_advice(lesson.content)
        assert advice is not None
        assert advice.sentence() == lesson.content
        assert lesson.entries
        assert not any(name in lesson.content.lower() for name in names)
    naive = LADDER["naive"]
    habits = follow(naive, [lesson.content for lesson in found.values()])
    assert (habits.claims, habits.complaints, habits.reads_news, habits.every) == (True, "pay", True, 1)
    assert follow(naive, ["Be kind.", "Sell Cola at $9.00."]) == naive
    assert follow(naive, [WORLD.facets.teaching.experiment(7)]) != naive


@pytest.mark.slow
def test_a_playbook_of_two_seeds_helps_where_goods_and_suppliers_are_others() -> None:
    """What is learned on seeds 1 and 2 of `quarter` earns more on seeds 101 to 103."""
    learned = akinai.learn("vending", preset="quarter", seeds="1-2", eval_seeds="101-103", store="memory:").to_json()
    assert learned["paired"]["losses"] == 0
    assert learned["paired"]["wins"] == 3
