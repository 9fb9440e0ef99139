"""What a market teaches its customers: sentences with the ledger's numbers, and the player who can read them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from trading import Desk, business, customer, offer

import akinai
from akinai import worlds
from akinai.core.agents import Agent, AgentFactory, Role
from akinai.core.ledger import Ledger
from akinai.core.lessons import Advice, Lesson
from akinai.core.worlds import replay
from akinai.runtime.runs.records import Run
from akinai.worlds.market.lessons.buying.advice import (
    AmenityAdvice,
    Deals,
    Experiment,
    ItemsAdvice,
    MenuAdvice,
    PriceAdvice,
    PricePoint,
    Ranked,
    SearchAdvice,
    WaitAdvice,
    merge_advice,
    merge_points,
    read_advice,
)
from akinai.worlds.market.model.actions import Search
from akinai.worlds.market.model.setup import read_setup
from akinai.worlds.market.players.policies import CAREFUL, FIRST, TRIED, follow, guided_policy
from akinai.worlds.market.rules.members import population
from together import together

WORLD = worlds.load("market")

AMENITIES = AmenityAdvice(Deals(10, -2192), Deals(38, 2203))
ITEMS = ItemsAdvice(Deals(2, -886), Deals(48, 1287))
MENUS = MenuAdvice(455, 0, 129, 129)
WAITING = WaitAdvice(50, 26, (2217, 2396, 2401), 140, 3.8, 9)
PRICE = PriceAdvice((PricePoint(0.8, 1.2, 12), PricePoint(1.2, 0.8, 4)))
SEARCHES = SearchAdvice((Ranked("lexical", 14, 9, 13, 14), Ranked("optimal", 8, 8, 8, 3)))
ALL: Sequence[Advice] = (AMENITIES, ITEMS, MENUS, WAITING, PRICE, SEARCHES)


def lessons_in(ledger: Ledger) -> Sequence[Lesson]:
    return WORLD.facets.teaching.lessons(replay(WORLD, ledger))


def with_bullets(*bullets: str, player: str = "first") -> AgentFactory:
    def agent(role: Role) -> Agent:
        return WORLD.players[player](replace(role, bullets=bullets))

    return agent


def played(*bullets: str, seed: int = 1, player: str = "first", **settings: object) -> Run:
    setup = {"customers": 8} | settings
    run = akinai.run("market", agent=with_bullets(*bullets, player=player), seeds=seed, settings=setup)[0]
    assert run.status == "done", run.error
    return run


def lessons(ledger: Ledger) -> Mapping[str, Lesson]:
    return {lesson.about: lesson for lesson in lessons_in(ledger)}


@pytest.fixture(scope="module")
def run() -> Run:
    return played(WORLD.facets.teaching.experiment(1))


def test_every_lesson_is_a_sentence_that_reads_back(run: Run) -> None:
    """A sentence is read back to what it was written from, and shows entries of its run, in rising order."""
    taught = lessons(run.ledger)
    assert taught.keys() == {"amenities", "items", "menus", "waiting", "price", "searches"}
    for lesson in taught.values():
        advice = read_advice(lesson.content)
        assert advice is not None
        assert advice.sentence() == lesson.content
        assert lesson.entries == tuple(sorted(set(lesson.entries)))
        assert 1 <= lesson.entries[0] <= lesson.entries[-1] <= len(run.ledger.entries)


@together("advice", [*ALL, Experiment(7)])
def test_a_sentence_about_the_market_adds_up_with_another(advice: Advice) -> None:
    """Added to itself it advises the same and has seen twice as much; another wording is replaced."""
    twice = read_advice(merge_advice(advice.sentence(), advice.sentence()))
    assert twice is not None
    if not isinstance(advice, Experiment):
        assert twice.sentence().partition(":")[0] == advice.sentence().partition(":")[0]
        assert twice != advice
    assert merge_advice("Bargain hard.", advice.sentence()) == advice.sentence()


def test_more_evidence_weighs_more() -> None:
    """Means are weighted by what each has seen; who saw fewer proposals had no use for more."""
    deals = AmenityAdvice(Deals(1, -300), Deals(0, 0)).merge(AmenityAdvice(Deals(3, -100), Deals(2, 50)))
    assert deals == AmenityAdvice(Deals(4, -150), Deals(2, 50))
    curve = WaitAdvice(10, 5, (1000, 1400), 5, 2.0, 9).merge(WaitAdvice(30, 10, (2000, 2100, 2200), 15, 4.0, 40))
    assert curve == WaitAdvice(40, 15, (1750, 1925, 2000), 20, 3.5, 40)
    assert (curve.best, curve.patience_s) == (3, 80)


@pytest.mark.parametrize("price", [0.3, 0.83])
def test_payments_at_one_price_are_one_row(price: float) -> None:
    """However many they are, their mean is the price to the bit."""
    assert merge_points([PricePoint(price, 0.2, 1)] * 50) == (PricePoint(price, 0.2, 50),)


@pytest.fixture
def bazaar() -> Desk:
    """Two terraces, a cellar and a bar without B, and Ann, who wants A and B outdoors for 15.00."""
    houses = [
        business("dear", {"A": 9.0, "B": 5.0}),
        business("good", {"A": 8.0, "B": 4.0}),
        business("cellar", {"A": 5.0, "B": 2.0}, amenity_features={}),
        business("bar", {"A": 6.0}),
    ]
    desk = Desk(houses, [customer("ann"), customer("bob"), customer("eve")])
    desk.act("ann", Search(query="Item A, Item B", search_algorithm="simple"))
    for house in ("dear", "good", "cellar", "bar"):
        desk.say("ann", house, "Item A and Item B, please.")
    desk.at += 4
    return desk


def test_numbers_are_those_that_the_ledger_holds(bazaar: Desk) -> None:
    """A hand-made market: 14.00 for all outdoors leaves 16.00, the cellar costs 7.00, half an order 6.00."""
    desk = bazaar
    desk.propose("dear", "ann", offer("d", 14, A=9.0, B=5.0))
    desk.at += 6
    desk.propose("good", "ann", offer("g"))
    desk.propose("bar", "ann", offer("b", 6, A=6.0))
    desk.propose("cellar", "ann", offer("c", 7, A=5.0, B=2.0))
    desk.sell(offer("d2", 14, A=9.0, B=5.0), "dear", "bob")
    desk.sell(offer("c2", 7, A=5.0, B=2.0), "cellar", "eve")
    desk.sell(offer("b2", 6, A=6.0), "bar", "bob")
    taught = {about: read_advice(lesson.content) for about, lesson in lessons(desk.ledger).items()}
    assert taught["amenities"] == AmenityAdvice(Deals(1, -700), Deals(1, 1600))
    assert taught["items"] == ItemsAdvice(Deals(1, -600), Deals(2, 450))
    assert taught["menus"] == MenuAdvice(1, 0, 3, 3)
    assert taught["waiting"] == WaitAdvice(2, 1, (1600, 1700), 4, 8.5, 10)
    assert taught["price"] == PriceAdvice((PricePoint(0.93, 1.07, 1),))
    assert taught["searches"] == SearchAdvice((Ranked("simple", 1, 1, 1, 2),))


def test_an_offer_that_expires_is_what_waiting_costs(bazaar: Desk) -> None:
    """Of a cheap proposal that is void when the next one comes, the curve keeps the dear one."""
    desk = bazaar
    desk.propose("good", "ann", offer("g", expiry_time="2025-06-15T15:06:50Z"))
    desk.at += 60
    desk.propose("dear", "ann", offer("d", 14, A=9.0, B=5.0))
    advice = WaitAdvice.parse(lessons(desk.ledger)["waiting"].content)
    assert advice is not None
    assert (advice.left_cents, advice.best) == ((1800, 1600), 1)


def test_evidence_shows_what_the_sentence_says(bazaar: Desk) -> None:
    """The first entries named are the payments that went wrong, and the questions that led to nothing."""
    desk = bazaar
    desk.sell(offer("g"), "good")
    desk.sell(offer("c", 7, A=5.0, B=2.0), "cellar", "eve")
    bad, entries = len(desk.entries), desk.ledger.entries
    taught = lessons(desk.ledger)
    assert taught["amenities"].entries == (bad - 2, bad)
    recipients = [entries[seq - 1].parameters["to_agent_id"] for seq in taught["menus"].entries]
    assert recipients == ["dear", "bar"]


def test_a_market_without_a_deal_teaches_nothing() -> None:
    """Nobody there, nothing to tell."""
    assert not lessons_in(played(customers=0, businesses=2).ledger)


def test_altered_prices_latencies_and_menus_alter_the_numbers(run: Run) -> None:
    """Dearer goods leave less, slower sellers take longer, and where menus lack an item fewer propose all."""
    setup = run.ledger.genesis.setup
    assert isinstance(setup, dict)
    people = json.loads(population(read_setup(setup), run.ledger.genesis).model_dump_json())
    plain = _advice(people)
    slow = _advice(people, **{"latency.businesses_ms": 9_000})
    dear = json.loads(json.dumps(people))
    poor = json.loads(json.dumps(people))
    for house in dear["businesses"]:
        house["menu_features"] = [[item, round(1.2 * price, 2)] for item, price in house["menu_features"]]
    for house in poor["businesses"][::2]:
        house["menu_features"] = house["menu_features"][::2]
    dear_told, poor_told = _advice(dear), _advice(poor)
    assert _of(slow, WaitAdvice).mean_s > _of(plain, WaitAdvice).mean_s + 5
    assert _of(dear_told, WaitAdvice).left_cents[0] < _of(plain, WaitAdvice).left_cents[0] - 200
    assert _of(dear_told, PriceAdvice).points[0].price > _of(plain, PriceAdvice).points[0].price
    assert _of(poor_told, MenuAdvice).having < _of(plain, MenuAdvice).having


def _advice(people: object, **settings: object) -> Sequence[Advice]:
    run = akinai.run(
        "market", agent=with_bullets(WORLD.facets.teaching.experiment(1)), settings={"data": people, **settings}
    )[0]
    return [item for item in (read_advice(lesson.content) for lesson in lessons_in(run.ledger)) if item]


def _of(advice: Sequence[Advice], kind: type) -> object:
    return next(item for item in advice if isinstance(item, kind))


def test_the_limit_is_where_the_line_ends() -> None:
    """1.2 is left at 0.8 and 0.8 at 1.2: nothing at 2.0; where more was left at a higher price there is no limit."""
    assert PRICE.percent == 200
    assert PriceAdvice((PricePoint(0.8, 0.8, 12), PricePoint(1.2, 1.2, 4))).percent is None
    assert PriceAdvice((PricePoint(0.8, 1.2, 12),)).percent is None


def test_first_plays_on_as_ever_where_nothing_can_be_followed() -> None:
    """Without bullets, and with such as it cannot read, its ledger is the same to the byte; other players take no
    notice of any."""
    plain = akinai.run("market", agent="first", seeds=1, settings={"customers": 3})[0]
    deaf = played("Be good.", "Wait for the best.", customers=3)
    assert plain.digest == deaf.digest
    careful = akinai.run("market", seeds=1, settings={"customers": 3})[0]
    assert careful.digest == played(*(item.sentence() for item in ALL), player="careful", customers=3).digest


@together(
    ("advice", "moved"),
    [
        (AMENITIES, {"asks"}),
        (MENUS, {"asks"}),
        (ITEMS, {"takes"}),
        (PRICE, {"takes"}),
        (WAITING, {"enough"}),
        (SEARCHES, {"algorithm"}),
        (AmenityAdvice(Deals(10, 2203), Deals(38, -2192)), set[str]()),
        (AmenityAdvice(Deals(0, 0), Deals(38, 2203)), set[str]()),
        (ItemsAdvice(Deals(2, 1287), Deals(48, -886)), set[str]()),
        (MenuAdvice(455, 455, 129, 0), set[str]()),
        (MenuAdvice(0, 0, 129, 129), set[str]()),
        (replace(WAITING, left_cents=(2401, 2396, 2217)), set[str]()),
        (replace(WAITING, left_cents=(2401, 2217), longest_s=50), {"patience_s"}),
        (PriceAdvice((PricePoint(0.8, 0.8, 12), PricePoint(1.2, 1.2, 4))), set[str]()),
        (SearchAdvice((Ranked("lexical", 8, 8, 8, 120),)), {"pages"}),
        (SearchAdvice((Ranked("crystal", 8, 8, 8, 3),)), set[str]()),
    ],
)  # fmt: skip
def test_a_sentence_moves_one_thing_and_by_its_numbers(advice: Advice, moved: set[str]) -> None:
    """What a bullet changes follows from its record: turned round, or with nothing seen, the same kind changes
    nothing."""
    taste = follow(FIRST, advice)
    names = ("pages", "asks", "takes", "enough", "algorithm", "patience_s")
    assert {name for name in names if getattr(taste, name) != getattr(FIRST, name)} == moved
    assert read_advice(advice.sentence()) == advice


def test_the_whole_playbook_makes_no_other_player_of_it() -> None:
    """With all sentences it waits for as many as they say, not for everybody as `careful` does."""
    taste = guided_policy(FIRST, Role("customer_1", (), bullets=tuple(item.sentence() for item in ALL)))
    assert (taste.enough, taste.algorithm, taste.pages) == (3, "optimal", 1)
    assert taste.enough != CAREFUL.enough


def test_first_does_what_a_sentence_tells() -> None:
    """Told of amenities it writes only where they are; told to wait for two it pays the cheaper of the first two."""
    data = {
        "businesses": [business(f"house_{n}", {"A": 8.0 + n, "B": 4.0}) for n in range(4)]
        + [business("cellar", {"A": 1.0, "B": 1.0}, amenity_features={})],
        "customers": [customer(request="Item A, Item B")],
    }
    settings: Mapping[str, object] = {
        "data": data,
        "customers": {},
        "latency.agents": {"house_3": 100, "house_2": 1_000, "house_1": 60_000, "house_0": 60_000, "cellar": 1},
    }
    assert _paid(**settings) == "cellar"
    assert _paid(AMENITIES, **settings) == "house_3"
    assert _paid(AMENITIES, replace(WAITING, left_cents=(1, 2)), **settings) == "house_2"


def _paid(*advice: Advice, **settings: object) -> str:
    """Whom the one customer paid, who was told so."""
    run = akinai.run("market", agent=with_bullets(*(item.sentence() for item in advice)), settings=settings)[0]
    (payment,) = [
        entry
        for entry in run.ledger.entries
        if entry.name == "SendMessage" and entry.parameters["message"]["type"] == "payment"
    ]
    return payment.parameters["to_agent_id"]


def test_customers_try_things_each_for_itself() -> None:
    """Over customers and numbers an experiment tries every search, all numbers of proposals, and to ask few or many."""
    tastes = [
        guided_policy(FIRST, Role(f"customer_{n}", (), bullets=(Experiment(number).sentence(),)))
        for n in range(10)
        for number in range(10)
    ]
    assert {taste.algorithm for taste in tastes} == set(TRIED)
    assert {taste.enough for taste in tastes} == {1, 2, 3, 4, 5}
    assert {taste.pages for taste in tastes} == {1, 2, 3}
    assert 20 < sum(taste.asks is FIRST.asks for taste in tastes) < 40
