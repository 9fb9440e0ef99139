"""Laws of planted shocks: nothing before their day, what each does from then on, and how a recovery is counted."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import pytest
from business import OWNERS, WORLD, do, done, genesis, on_sale
from test_owners import awake

import akinai
from akinai.core.ledger import Entry, Turn
from akinai.core.steps import Step, Steps
from akinai.core.worlds import replay
from akinai.runtime.runs.records import Run
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import DAY_MINUTES, Line, Order, State
from akinai.worlds.vending.model.terms import ShockKind
from akinai.worlds.vending.rules.books import in_business
from akinai.worlds.vending.rules.deliveries import missing_units

KINDS: tuple[ShockKind, ...] = ("supplier_fails", "bad_delivery", "complaints", "price_war")
DAY = 20
DAY_US = DAY_MINUTES * 60_000_000
CALM = ("street.rent.every_days=1000", "street.customers.complaints_permille=0", "street.counter.box_cents=100000000")
"""Settings under which a machine that is never visited sells as on its first day."""


def planted(kind: str, day: int = DAY) -> dict[str, object]:
    return {"shocks.1.kind": kind, "shocks.1.day": day}


def before_the_shock(entries: list[Entry], street_day: int) -> list[Entry]:
    """The entries that were over before the shock, without their digests: a genesis with a shock has another one."""
    morning = WORLD.now(WORLD.begin(genesis(3, preset="quarter"))) + (street_day - 1) * DAY_US
    early = [entry for entry in entries if entry.at < morning]
    return [replace(entry, digest="") for entry in early[:-1]]


@lru_cache(maxsize=2)
def run_of(preset: str, *settings: tuple[str, object]) -> Run:
    """The run of the reference player; the last are cached, since every shock is compared with the same calm."""
    return akinai.run("vending", preset=preset, agent="reference", days=42, seeds=3, settings=dict(settings))[0]


@pytest.mark.parametrize(
    ("preset", "settings", "kind"),
    [
        *(("quarter", {}, kind) for kind in KINDS),
        *(("sprint", {"takes_over": 2}, kind) for kind in KINDS[:2]),
        *(pytest.param("sprint", {"takes_over": 2}, kind, marks=pytest.mark.slow) for kind in KINDS[2:]),
        *(pytest.param("arena", {}, kind, marks=pytest.mark.slow) for kind in KINDS),
    ],
)
def test_a_shock_changes_nothing_before_its_day(kind: str, preset: str, settings: Mapping[str, object]) -> None:
    """Every entry that is over before the morning of the day is as without a shock, and later ones differ."""
    plays = [run_of(preset, *settings.items()), run_of(preset, *settings.items(), *planted(kind).items())]
    calm, hit = ([*play.ledger.entries] for play in plays)
    street_day = DAY + 7 * int(str(settings.get("takes_over", 0)))
    assert before_the_shock(calm, street_day) == before_the_shock(hit, street_day)
    assert [replace(entry, digest="") for entry in calm] != [replace(entry, digest="") for entry in hit]
    assert len(before_the_shock(calm, street_day)) > 3
    assert "shocks" in plays[1].ledger.genesis.setup
    assert "shocks" not in plays[0].ledger.genesis.setup


def test_the_control_is_a_run_without_a_shock() -> None:
    plays = [
        akinai.run("vending", preset="quarter", agent="listed", days=42, seeds=3, settings=shock)[0]
        for shock in ({}, planted("nothing"))
    ]
    calm, control = ([replace(entry, digest="") for entry in play.ledger.entries] for play in plays)
    assert calm == control
    assert "shock_recovered" in {score.name for score in plays[1].scores}


def street(kind: ShockKind, preset: str = "quarter", days: int = 60) -> State:
    """A street on its first morning, on which nothing but shocks happens."""
    sets = [f"{name}={value}" for name, value in planted(kind).items()]
    return WORLD.begin(genesis(1, *sets, *CALM, preset=preset, days=days))


def on_eve(state: State) -> State:
    """The evening before the shock."""
    return state.moved(minute=(DAY - 1) * DAY_MINUTES - 60)


def order_of(state: State, number: int, supplier: str, day: int) -> Order:
    """An order of 30 units each of two products that comes at noon of a day."""
    lines = tuple(Line(product.id, 30, 50) for product in state.setup.catalog.products[:2])
    due = (day - 1) * DAY_MINUTES + 12 * 60
    return Order(number, supplier, lines, 1, due, due)


def test_the_supplier_of_most_goods_fails_for_every_owner() -> None:
    """With what was prepaid, and a letter to each; the second one goes on."""
    state = on_eve(street("supplier_fails", "arena"))
    first, second = state.economy.town.open_suppliers(1)[:2]
    for owner, bought in zip(OWNERS, ({first: 900, second: 1_000}, {first: 800}), strict=True):
        orders = (order_of(state, 1, first, DAY + 1), order_of(state, 2, second, DAY + 1))
        state = state.turned_to(owner).moved(bought=bought, orders=orders)
    state, _ = do(awake(state, OWNERS[0]), a.AdvanceDay(), OWNERS[0])
    suppliers = state.setup.catalog.supplier_by_id
    assert (state.day, in_business(state, suppliers[first]), in_business(state, suppliers[second])) == (20, False, True)
    for own in state.businesses.values():
        assert [order.supplier for order in own.orders] == [second]
        assert f"{suppliers[first].name} closes" in [letter.subject for letter in own.mail.unread]


def test_bad_deliveries_lack_two_thirds_for_a_week() -> None:
    """And are whole before and after it."""
    state = street("bad_delivery")
    supplier = state.economy.town.open_suppliers(1)[0]
    days = (DAY - 1, DAY, DAY + 6, DAY + 7)
    state = state.moved(
        minute=(DAY - 2) * DAY_MINUTES + 8 * 60,
        orders=tuple(order_of(state, number, supplier, day) for number, day in enumerate(days, 1)),
    )
    missing = dict[int, int]()
    while len(missing) < len(days):
        state = done(state, a.WaitUntil(hour=13))
        missing |= {parcel.order.number: sum(missing_units(parcel.order).values()) for parcel in state.parcels}
        state = done(state, a.AdvanceDay())
    assert missing == {1: 0, 2: 40, 3: 40, 4: 0}


def stocked(state: State, worth_permille: int = 900) -> State:
    """An owner who never runs short of twelve products, at a part of the price that people find right."""
    tastes, prices = state.economy.town.tastes, dict[str, int | None]()
    for size, count in state.setup.slots_by_size.items():
        goods = [product.id for product in state.setup.catalog.products if product.size == size]
        prices |= {id: tastes[id].worth_cents * worth_permille // 1000 for id in goods[:count]}
    return on_sale(state, prices, units=10**5)


def test_complaints_come_in_a_burst_of_three_days() -> None:
    state = stocked(street("complaints"))
    letters, counts = 0, list[int]()
    for _ in range(DAY + 10):
        state = done(state, a.AdvanceDay())
        counts.append(state.complaint_count - letters)
        letters = state.complaint_count
    burst = counts[DAY - 2 : DAY + 2]  # the first customers of a day come with its morning
    assert sum(burst) >= 9
    assert counts == [0] * (DAY - 2) + burst + [0] * 8


def units_by_day(state: State, until: int) -> list[int]:
    units = list[int]()
    while len(units) < until:
        state = done(state, a.AdvanceDay())
        assert state.book is not None
        units.append(sum(state.book.sold.values()))
    return units


def test_a_price_war_takes_customers_from_who_is_dear() -> None:
    """The kiosk leaves a machine at 90 % of the worth a tenth of its customers, and half to one at its own prices."""
    kinds: tuple[ShockKind, ShockKind] = ("nothing", "price_war")
    days = slice(DAY - 1, DAY + 13)
    for worth_permille, least, most in ((900, 0.05, 0.15), (600, 0.4, 0.6)):
        peace, war = (units_by_day(stocked(street(kind), worth_permille), DAY + 14) for kind in kinds)
        assert war[: DAY - 1] == peace[: DAY - 1]
        assert least < sum(war[days]) / sum(peace[days]) < most
        assert war[-1] == peace[-1]


def played(opening: State, until: int = 60, *, empty: bool = False, broke: bool = False) -> Steps[State]:
    """Days that an owner lets pass; on that of the shock its machines are emptied, or its account too."""
    state, steps, action = opening, list[Step[State]](), a.AdvanceDay()
    while WORLD.actors(state) and state.day <= until:
        before = state
        if state.day == DAY and empty:
            before = state.moved(slots=(None,) * len(state.slots), cash_cents=0 if broke else state.cash_cents)
        turn = Turn(len(steps) + 1, WORLD.now(before), "owner", action)
        after, outcome = WORLD.apply(before, turn)
        steps.append(Step(before, Entry.of("", turn, outcome), turn, outcome, after))
        state = after
    return Steps(genesis(3, preset="quarter"), opening, steps)


def recovery(steps: Steps[State]) -> Mapping[str, float]:
    scores = (score for scorer in WORLD.scorers for score in scorer(steps))
    return {score.name: score.value for score in scores if score.name.startswith("shock_")}


def test_recovery_is_counted_from_the_shock() -> None:
    """A war of fourteen days is over when it is; who is not hurt needs no day; who gained nothing has no score."""
    war = recovery(played(stocked(street("price_war"))))
    assert 14 <= war["shock_recovery_days"] <= 21
    assert war["shock_recovered"] == 1
    unhurt = recovery(played(stocked(street("nothing"))))
    assert unhurt == {"shock_recovery_days": 0, "shock_recovered": 1}
    assert recovery(played(street("price_war"))) == {}
    assert recovery(played(stocked(street("nothing")), until=DAY + 12)) == {}


def test_each_owner_of_a_street_has_its_own_recovery() -> None:
    """The second beside a first that is idle, which gained nothing before and so has none."""
    settings = {**planted("price_war"), "owners.2.agent": "reference"}
    (run,) = akinai.run("vending", preset="arena", agent="idle", days=60, seeds=3, settings=settings)
    scores = {score.name: score for score in run.scores if score.name.startswith("shock_")}
    assert [*scores] == ["shock_recovery_days_owner_2", "shock_recovered_owner_2"]
    assert scores["shock_recovery_days_owner_2"].value >= 7
    entries = {entry.seq: entry for entry in run.ledger.entries}
    assert {entries[seq].actor for seq in scores["shock_recovered_owner_2"].because} == {"owner_2"}


def test_the_first_owners_recovery_is_the_runs() -> None:
    """It stands under the name that a street of one owner has, and under its own."""
    settings = {**planted("price_war"), "owners.1.agent": "reference"}
    (run,) = akinai.run("vending", preset="arena", agent="idle", days=60, seeds=3, settings=settings)
    values = {score.name: score.value for score in run.scores if score.name.startswith("shock_")}
    assert values["shock_recovery_days"] == values["shock_recovery_days_owner_1"] >= 7
    assert values["shock_recovered"] == values["shock_recovered_owner_1"] == 1
    assert len(values) == 4


def test_no_recovery_counts_to_the_end_and_says_so() -> None:
    """Also to the end that was planned, where the business is closed before."""
    never = {"shock_recovery_days": 60 - DAY + 1, "shock_recovered": 0}
    assert recovery(played(stocked(street("nothing")), empty=True)) == never
    broke = played(stocked(street("nothing")), empty=True, broke=True)
    assert broke.final.ending == "bankrupt"
    assert broke.final.closed_days < 50
    assert recovery(broke) == never


def test_two_shocks_have_scores_by_number() -> None:
    sets = ["shocks.1.kind=price_war", "shocks.1.day=20", "shocks.4.kind=complaints", "shocks.4.day=40", *CALM]
    opening = WORLD.begin(genesis(3, *sets, preset="quarter", days=60))
    names = [f"shock_{word}_{number}" for number in (1, 4) for word in ("recovery_days", "recovered")]
    assert [*recovery(played(stocked(opening)))] == names


def test_a_shock_strikes_by_the_week_too() -> None:
    """The employee's days have the same rules; a day is the owner's, also where a business is taken over."""
    settings = {**planted("price_war", 30), "takes_over": 3}
    (run,) = akinai.run("vending", preset="sprint", agent="reference", days=84, seeds=3, settings=settings)
    days, _ = (score for score in run.scores if score.name.startswith("shock_"))
    assert days.value >= 7
    first = replay(WORLD, run.ledger)[days.because[0] - 1]
    assert first.before.owner_day <= 30 < first.after.owner_day
