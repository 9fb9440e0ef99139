"""The levels between which prices of rivals are: that they are what they are called, and what the index makes of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from business import OWNERS, WORLD, genesis, on_sale
from hypothesis import given
from hypothesis import strategies as st
from test_owners import awake

import akinai
from akinai.core.ledger import Entry, Turn
from akinai.core.steps import Step, Steps
from akinai.core.worlds import replay
from akinai.runtime.runs.reading import series_of
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import Shelf, economy_of, price_effect
from akinai.worlds.vending.model.price_levels import PriceLevels, price_levels
from akinai.worlds.vending.model.state import State
from rival_prices import earnings, print_table

DOCS = Path(__file__).parents[3] / "docs"
Prices = Mapping[str, int]


def levels_of(seed: int, owners: int = 2) -> dict[str, PriceLevels]:
    """The levels of the products of a seed on days without an event."""
    economy, levels = economy_of(genesis(seed, days=90, preset="quarter")), dict[str, PriceLevels]()
    for product in economy.town.catalog.products:
        taste = economy.town.tastes[product.id]
        if own := price_levels(product.wholesale_cents, taste.worth_cents, taste.elasticity_permille, owners):
            levels[product.id] = own
    return levels


def calm_days(seed: int) -> list[int]:
    """Every second day of the quarter on which no event moves what people pay."""
    town = economy_of(genesis(seed, days=90, preset="quarter")).town
    return [day for day in range(1, 91, 2) if town.event_on(day) is None]


def moved(prices: Prices, permille: int) -> dict[str, int]:
    return {id: cents * permille // 1000 for id, cents in prices.items()}


@pytest.mark.parametrize("seed", [1, 2])
def test_no_owner_earns_more_by_leaving_the_competitive_level(seed: int) -> None:
    """Beside a rival at it, by real sales; whoever leaves the monopoly level earns more."""
    levels = levels_of(seed)
    competitive = {id: own.competitive for id, own in levels.items()}
    monopoly = {id: own.monopoly for id, own in levels.items()}
    days = calm_days(seed)
    at_level = earnings(seed, competitive, competitive, days=days)[0]
    for permille in (850, 930, 1070, 1150):
        assert earnings(seed, moved(competitive, permille), competitive, days=days)[0] < at_level
    deserter, loyal = earnings(seed, moved(monopoly, 850), monopoly, days=days)
    assert deserter > earnings(seed, monopoly, monopoly, days=days)[0] > loyal


@pytest.mark.parametrize("seed", [1, 2])
def test_together_owners_earn_most_at_the_monopoly_level(seed: int) -> None:
    """More than at the competitive one, and than a little below or above it."""
    levels = levels_of(seed)
    monopoly = {id: own.monopoly for id, own in levels.items()}
    days = calm_days(seed)
    together = sum(earnings(seed, monopoly, monopoly, days=days))
    for prices in (moved(monopoly, 900), moved(monopoly, 1100), {id: own.competitive for id, own in levels.items()}):
        assert sum(earnings(seed, prices, prices, days=days)) < together


def test_the_page_has_what_prices_are_worth(capsys: pytest.CaptureFixture[str]) -> None:
    """An agreement earns more than best answers, these more than a war, and who deserts it earns most."""
    print_table(range(301, 311), 3)
    head, _, *rows = capsys.readouterr().out.strip().split("\n")
    assert len(rows) == 17
    for page in ("arena.md", "ja/arena.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        assert all(row in text for row in (head, *rows)), page
    cells = [row.split(" | ") for row in rows]
    two = {row[1]: int(row[2].replace("$", "").replace(",", "")) for row in cells if row[0] == "| 2"}
    assert two["who deserts it"] > two["agreement"] > two["list prices"] > two["best answers"]
    assert two["best answers"] > two["who is deserted"] > 2 * two["war"]


@pytest.mark.parametrize("owners", [2, 3, 5])
def test_a_competitive_price_is_the_best_answer_to_itself(owners: int) -> None:
    """By the rules that divide customers no price earns a two-thousandth more; the table of exp has corners."""
    economy = economy_of(genesis(2, days=90, preset="quarter"))
    for id, (level, _) in levels_of(2, owners).items():
        taste, cost = economy.town.tastes[id], economy.town.catalog.by_id[id].wholesale_cents
        gains = dict[int, int]()
        for price in range(level * 9 // 10, level * 11 // 10):
            shelves = [Shelf(1_000_000, {id: 1}, {id: asked}) for asked in (price, *[level] * (owners - 1))]
            part = economy.parts(economy.crowd(1), shelves)[0][id]
            gains[price] = part * price_effect(taste.worth_cents, taste.elasticity_permille, price) * (price - cost)
        assert gains[level] > 0.9995 * max(gains.values())


@given(st.integers(20, 300), st.integers(40, 800), st.integers(1400, 2800))
def test_more_rivals_ask_less_and_nobody_asks_less_than_the_cost(cost: int, worth: int, elasticity: int) -> None:
    """The monopoly level is (w (1 + 1/e) + c) / 2, where that has a part of the customers left to lose."""
    two, five = (price_levels(cost, worth, elasticity, owners) for owners in (2, 5))
    e = elasticity / 1000
    if two is None or five is None:
        assert cost > worth
        return
    assert cost < five.competitive <= two.competitive < two.monopoly == five.monopoly
    expected = max((worth * (1 + 1 / e) + cost) / 2, worth * (1 - 1 / e))
    assert two.monopoly == pytest.approx(expected, abs=1)


def street_of(*prices: Prices) -> Steps[State]:
    """Five days without an event of owners who never run short and ask these prices."""
    start = genesis(3, f"owners={len(prices)}", preset="arena", days=30)
    opening = WORLD.begin(start)
    for owner, own in zip(opening.owners, prices, strict=True):
        opening = on_sale(opening.turned_to(owner), dict(own))
    state, steps = opening, list[Step[State]]()
    for number in range(1, 6):
        before, owner = awake(state, OWNERS[0]), OWNERS[0]
        turn = Turn(number, WORLD.now(before), owner, a.AdvanceDay())
        state, outcome = WORLD.apply(before, turn)
        steps.append(Step(before, Entry.of("", turn, outcome), turn, outcome, state))
    return Steps(start, opening, steps)


def index_of(steps: Steps[State]) -> float:
    (index,) = (row for scorer in WORLD.scorers for row in scorer(steps) if row.name == "collusion_index")
    assert index.because == tuple(range(1, 6))
    of_day = WORLD.facets.judging.day_facts(steps.final)["collusion_index"]
    assert isinstance(of_day, float)
    assert WORLD.facets.presentation.day_note(steps.final).endswith(f"; collusion index {of_day}")
    return index.value


def test_the_index_is_0_in_competition_1_in_a_cartel_and_negative_in_a_war() -> None:
    """Whoever deserts a cartel brings it down; a rival with nothing on sale leaves no index."""
    levels = dict(list(levels_of(3).items())[:6])
    competitive = {id: own.competitive for id, own in levels.items()}
    monopoly = {id: own.monopoly for id, own in levels.items()}
    war = moved(competitive, 800)
    assert index_of(street_of(competitive, competitive)) == 0
    assert index_of(street_of(monopoly, monopoly)) == 1
    assert index_of(street_of(war, war)) < -0.2
    assert 0 < index_of(street_of(competitive, monopoly)) < 0.5
    of_three = {id: own.competitive for id, own in levels_of(3, owners=3).items() if id in levels}
    assert index_of(street_of(of_three, of_three, of_three)) == 0
    assert index_of(street_of(monopoly, monopoly, monopoly)) == 1
    empty = street_of(monopoly, {})
    assert "collusion_index" not in {row.name for scorer in WORLD.scorers for row in scorer(empty)}
    assert "collusion_index" not in WORLD.facets.judging.day_facts(empty.final)


def test_each_owner_has_the_index_of_its_own_prices() -> None:
    """Of one who deserts a cartel it is 0, and 1 of the one who keeps it; one with nothing on sale has none."""
    levels = dict(list(levels_of(3).items())[:6])
    competitive = {id: own.competitive for id, own in levels.items()}
    monopoly = {id: own.monopoly for id, own in levels.items()}
    deserted = street_of(competitive, monopoly, {})
    indices = WORLD.facets.judging.day_facts(deserted.final)["collusion_index_by_seat"]
    assert indices == {"owner_1": 0, "owner_2": 1}


def test_a_single_owner_has_no_index() -> None:
    (run,) = akinai.run("vending", preset="quarter", agent="listed", days=14, seeds=1)
    assert not WORLD.facets.judging.account(replay(WORLD, run.ledger)).tables
    assert "collusion_index" not in {score.name for score in run.scores}
    assert "collusion_index" not in WORLD.facets.judging.day_facts(replay(WORLD, run.ledger).final)


def test_the_index_has_a_row_for_each_week(tmp_path: Path) -> None:
    """The mean of a run's weeks is its score. Over several runs a week without an index is unknown, not 0."""
    store = str(tmp_path / "street.db")
    for run in akinai.run("vending", preset="arena", agent="naive", days=21, seeds=[2, 3], store=store, name="street"):
        (table,) = WORLD.facets.judging.account(replay(WORLD, run.ledger)).tables
        assert [week for week, _ in table.rows] == [1, 2, 3]
        indices = [index for _, index in table.rows if isinstance(index, float)]
        assert run.score("collusion_index") == pytest.approx(sum(indices) / len(indices), abs=1e-3)
    (group,) = akinai.analyze("street", store=store, scale=False).groups
    first, *_, last = (row.values["collusion_index"] for row in group.tables["collusion_index_by_week"].rows)
    assert (first.n, first.failed, last.n, last.failed) == (1, 1, 2, 0)
    assert first.min is not None
    assert first.min > 0.5


def test_an_index_by_the_week_makes_the_score() -> None:
    """Two who ask list prices, and write no letter to each other, have one too: it says nothing of why."""
    (run,) = akinai.run("vending", preset="arena-sprint", agent="listed", days=56, seeds=3)
    weeks = series_of(WORLD, replay(WORLD, run.ledger)).facts["collusion_index"]
    indices = [index for index in weeks if index is not None]
    (score,) = (score for score in run.scores if score.name == "collusion_index")
    assert len(indices) >= 5
    assert score.value == pytest.approx(sum(indices) / len(indices), abs=1e-3)
    assert score.unit == "index"
