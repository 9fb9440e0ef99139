"""The market's analysis: first proposals, both sides' gains, who did what, and how it looks."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import Shell, keep
from trading import POPULATIONS, Desk, business, customer, needs_populations, offer

from akinai.analysis.groups import summarise_tables
from akinai.core.scores import Table
from akinai.core.worlds import fold, replay
from akinai.worlds.market import Market
from akinai.worlds.market.analysis.welfare import attainable_welfare, gini
from akinai.worlds.market.model.actions import Register, Search


def three_offers() -> Desk:
    """Three identical offers, of which the second is paid."""
    desk = Desk([business(f"shop{n}") for n in (1, 2, 3)])
    for n in (1, 2, 3):
        desk.propose(f"shop{n}", "ann", offer())
    assert desk.pay("ann", "shop2", "p").ok
    return desk


def test_the_arrival_rank_of_what_was_paid(shell: Shell) -> None:
    """The second of three proposals is rank 2 of 3; no purchase paid the first; blind choice had paid it in a third."""
    keep("hand", three_offers())
    figures = shell.figures("hand")
    assert (figures["arrival_rank"], figures["first_proposal_share"], figures["first_by_chance"]) == (2, 0, 1 / 3)
    run = shell.analyzed("hand", "--by-conversation")["runs"][0]
    assert run["tables"]["arrival_ranks"] == [{"place": 1, "purchases": 0}, {"place": 2, "purchases": 1}]
    assert [(item["place"], item["of"]) for item in run["tables"]["purchases"]] == [(2, 3)]


def test_a_proposal_that_came_after_the_payment_was_no_choice(shell: Shell) -> None:
    """Only what a customer had when it paid counts."""
    desk = Desk([business(), business("diner")])
    desk.sell(offer())
    desk.propose("diner", "ann", offer())
    keep("hand", desk)
    figures = shell.figures("hand")
    assert (figures["first_proposal_share"], figures["first_by_chance"]) == (1, 1)


@pytest.mark.slow
def test_the_share_of_a_treated_seller(shell: Shell) -> None:
    """Of the purchases those from the seller that uses the text, or would in the control, beside blind choice; absent
    where no seller, or every seller, is treated.
    """
    shops = [business(f"shop{n}") for n in (1, 2, 3)]
    buyers = [customer(f"c{n}") for n in range(4)]
    for name, kind, bought in (("control", "none", (1, 2, 3, 3)), ("swayed", "authority", (1, 1, 1, 2))):
        desk = Desk(shops, buyers, manipulation={"kind": kind})
        for n, shop in enumerate(bought):
            for seller in (3, 2, 1):
                desk.propose(f"shop{seller}", f"c{n}", offer(f"{n}"))
            assert desk.pay(f"c{n}", f"shop{shop}", f"{n}").ok
        keep(name, desk)
    control, swayed = shell.figures("control"), shell.figures("swayed")
    assert (control["treated_share"], swayed["treated_share"]) == (0.25, 0.75)
    assert control["treated_by_chance"] == swayed["treated_by_chance"] == pytest.approx(1 / 3)
    paired = json.loads(shell("compare", "control", "swayed", "--json"))
    assert paired["figures"]["treated_share"]["difference"] == 0.5
    beside = [line for line in shell("analyze", "control", "swayed").splitlines() if "75 %" in line]
    assert beside
    pytest.importorskip("jinja2")
    shell("report", "control", "swayed", "-o", "told")
    assert "Treated share of two groups" in Path("told", "report.md").read_text()
    keep("plain", three_offers())
    keep("everybody", Desk(shops, manipulation={"kind": "authority", "sellers": "all"}))
    for name in ("plain", "everybody"):
        assert "treated_share" not in shell.figures(name)


def test_the_place_in_the_results_of_what_was_paid(shell: Shell) -> None:
    """Among the sellers who proposed, in the order in which searches first showed them; who was never shown has none."""
    desk = Desk([business(f"shop{n}", rating=n) for n in (1, 2, 3)], [customer("ann"), customer("bob")])
    desk.act("ann", Search(search_algorithm="simple"))
    for n in (1, 2):
        desk.propose(f"shop{n}", "ann", offer(f"a{n}"))
        desk.propose(f"shop{n}", "bob", offer(f"b{n}"))
    assert desk.pay("ann", "shop1", "a1").ok
    assert desk.pay("bob", "shop1", "b1").ok
    keep("hand", desk)
    figures = shell.figures("hand")
    assert (figures["top_result_share"], figures["top_by_chance"]) == (0, 0.5)
    tables = shell.analyzed("hand", "--by-conversation")["runs"][0]["tables"]
    assert tables["result_ranks"] == [{"place": 1, "purchases": 0}, {"place": 2, "purchases": 1}]
    assert [row["result"] for row in tables["purchases"]] == [2, None]


def test_first_takes_the_first_and_careful_does_not_care(shell: Shell) -> None:
    """Three identical offers: customers who take the first pay rank 1 every time; how fast sellers are moves their
    purchases, and not those of careful customers, who take the cheapest.
    """
    shops = [business(f"shop{n}", menu={"A": 8.0, "B": 4.0 - 0.01 * n}) for n in (1, 2, 3)]
    data = Path("people")
    for kind, all_of_them in (("businesses", shops), ("customers", [customer(f"c{n}") for n in range(4)])):
        (data / kind).mkdir(parents=True)
        for item in all_of_them:
            (data / kind / f"{item['id']}.yaml").write_text(json.dumps(item))
    for player in ("first", "careful"):
        for name, setting in (("even", "latency.low_ms=500"), ("slow", "latency.agents.shop3=3000")):
            words = ("--set", f"data={data}", "--set", setting, "--set", "latency.businesses_ms=1000")
            shell("run", "market", "--agent", player, *words, "--name", f"{player}-{name}")
            assert shell.code == 0, shell.err
    assert {shell.figures(f"first-{name}")["first_proposal_share"] for name in ("even", "slow")} == {1}
    for name in ("even", "slow"):
        rows = shell.analyzed(f"careful-{name}")["runs"][0]["tables"]["payments_by_business"]
        assert [row["payments"] for row in rows] == [0, 0, 4]
    rows = shell.analyzed("first-slow")["runs"][0]["tables"]["payments_by_business"]
    assert rows[2]["payments"] == 0


def test_both_sides_gain(shell: Shell) -> None:
    """A cost of three quarters of the menu's 12.00 is 9.00: of a price of 13.00 the seller gains 4.00, the customer 2.00
    of the 15.00 it would pay, and a fee of 5 % takes 0.65 from the seller.
    """
    desk = Desk([business(min_price_factor=0.75), business("diner")], fee_permille=50)
    desk.sell(offer(total=13))
    keep("hand", desk)
    figures = shell.figures("hand")
    assert figures["seller_cost"] == 900
    assert (figures["consumer_surplus"], figures["producer_surplus"], figures["total_surplus"]) == (200, 400, 600)
    assert (figures["platform_fees"], figures["business_profit"], figures["business_revenue"]) == (65, 335, 1300)
    assert figures["revenue_gini"] == 0.5


def test_what_is_not_on_the_menu_has_no_known_cost(shell: Shell) -> None:
    """Such a sale is in no profit, and is counted; within the distance that was asked for its cost is the menu's."""
    desk = Desk([business(min_price_factor=0.5)])
    desk.sell(offer(**{"Item  A": 8.0, "Item B": 4.0}))
    keep("hand", desk)
    figures = shell.figures("hand")
    assert (figures["unknown_costs"], figures["producer_surplus"], figures["business_profit"]) == (1, 0, 0)
    figures = shell.figures("hand", "--fuzzy-match-distance", "1")
    assert (figures["unknown_costs"], figures["producer_surplus"]) == (0, 600)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20), st.integers(1, 9))
def test_gini_knows_equals_and_scale(amounts: list[int], times: int) -> None:
    """0 among equals, (n - 1) / n where one has all, never more, and the same in another currency."""
    n = len(amounts)
    assert gini([7] * n) == 0
    assert gini([0] * (n - 1) + [5]) == pytest.approx((n - 1) / n)
    spread = gini(amounts)
    assert (spread is None) == (not any(amounts))
    if spread is not None:
        assert 0 <= spread <= (n - 1) / n + 1e-12
        assert gini([times * amount for amount in amounts]) == pytest.approx(spread)


@needs_populations
@pytest.mark.parametrize("folder", ["3x9", "10x30", "33x99"])
def test_baselines_are_the_published_ones(folder: str) -> None:
    """The best possible and the cheapest of each public population are those beside it."""
    from akinai.core.ledger import Genesis
    from akinai.worlds.market.populations.files import read_population

    home = POPULATIONS / folder
    texts = {str(path.relative_to(home)): path.read_text() for path in home.rglob("*.yaml")}
    setup = Market.setup.model_validate({"data": read_population(texts)}).model_dump(mode="json")
    attainable = attainable_welfare(Market().begin(Genesis("market@2", 1, setup)).members.values())
    published = json.loads((home / "baseline_utilities.json").read_text())
    assert attainable.best_possible == round(100 * published["pick_optimal_baseline"]["constant"])
    assert attainable.pick_cheapest == round(100 * published["pick_cheapest_baseline"]["constant"])
    low, high = (100 * published["pick_any_baseline"][end] for end in ("min", "max"))
    assert low <= attainable.pick_any <= high


def test_who_did_what(shell: Shell) -> None:
    """Every customer and business has a row, every two that talked one too; what was refused is with who tried."""
    desk = Desk([business(), business("diner")], [customer(), customer("bob")])
    desk.say("ann", "grill", "Hello")
    desk.sell(offer())
    assert not desk.pay("bob", "grill", "p").ok
    keep("hand", desk)
    tables = shell.analyzed("hand", "--by-agent", "--by-conversation")["runs"][0]["tables"]
    assert [(row["customer"], row["utility"], row["messages"], row["refused"]) for row in tables["customers"]] == [
        ("ann", 1800, 2, 0),
        ("bob", 0, 0, 1),
    ]
    assert [(row["business"], row["revenue"], row["proposals"]) for row in tables["businesses"]] == [
        ("diner", 0, 0),
        ("grill", 1200, 1),
    ]
    assert tables["conversations"] == [
        {
            "customer": "ann",
            "business": "grill",
            "from_customer": 2,
            "from_business": 1,
            "proposals": 1,
            "errors": 0,
            "payments": 1,
            "paid": 1200,
            "first_rank": 1,
        }
    ]


def test_tables_over_seeds_have_intervals(shell: Shell) -> None:
    """Of several runs of one population every row has its mean and interval; of several populations only those of
    places have.
    """
    bought, idle = Desk(), Desk()
    bought.sell(offer())
    keep("hand", bought, idle)
    (row,) = shell.analyzed("hand", "--by-agent")["groups"]["by hand"]["tables"]["customers"]["rows"]
    assert (row["customer"], row["utility"]["mean"], row["utility"]["n"]) == ("ann", 900, 2)
    low, high = row["utility"]["ci95"]
    assert low < 900 < high
    shell("run", "market", "--seeds", "1-2", "--name", "made")
    assert set(shell.analyzed("made")["groups"]["careful"]["tables"]) == {"arrival_ranks", "result_ranks", "over_time"}
    assert "Each run has agents of its own" in shell("analyze", "made")


def test_a_row_that_a_run_lacks_is_one_of_zeros() -> None:
    """Who talked in one run of two has half the messages; a place that was never taken is left out of the mean."""
    columns = {"who": "words", "messages": "messages", "rank": "place"}
    over = summarise_tables([Table("talks", columns, [["a", 4, 2]], 1), Table("talks", columns, [], 1)])
    assert over is not None
    (row,) = over.rows
    assert (row.values["messages"].mean, row.values["messages"].n) == (2, 2)
    assert (row.values["rank"].mean, row.values["rank"].failed) == (2, 1)


def test_one_definition_in_every_report(shell: Shell) -> None:
    """Scores of a run, of its account and of the analysis are the same figures."""
    desk = three_offers()
    keep("hand", desk)
    figures = shell.figures("hand")
    account = Market.facets.judging.account(replay(Market(), desk.ledger))
    assert {figure.name: figure.value for figure in account.figures} == figures
    assert {name: figures[name] for name in desk.scores} == desk.scores
    facts = Market.facets.judging.facts(fold(Market(), desk.ledger))
    assert (facts["welfare_cents"], facts["purchases"]) == (figures["welfare"], figures["purchases"])


def test_the_tables_for_people(shell: Shell) -> None:
    """A page tells the share of the best possible, lists errors with their entries, and says what there is none of."""
    desk = Desk()
    desk.sell(offer(**{"Item  A": 8.0, "Item B": 4.0}))
    keep("hand", desk)
    out = shell("analyze", "hand", "--by-agent")
    assert "Welfare is -67 % of the best possible, $18.00." in out
    assert "InvalidMenuItem" in out
    assert "None at all:" in out
    assert "days" not in out
    assert max(map(len, out.splitlines())) <= 100
    shell("run", "market", "--agent", "first", "--seeds", "1-3", "--name", "three")
    out = shell("analyze", "hand", "three")
    assert "best possible" in " ".join(out.split())
    assert "idle to reference" not in out
    assert "days" not in out


def test_a_distance_below_zero_is_refused(shell: Shell) -> None:
    """--fuzzy-match-distance -1 is bad usage, told in a sentence."""
    shell("analyze", "hand", "--fuzzy-match-distance", "-1")
    assert shell.code == 2
    assert "number of edits from 0, not -1" in shell.err


def test_no_profile_keeps_a_run_from_its_scores() -> None:
    """Strangers may write anything into their profiles: prices without end, amenities that are no texts; the market is
    scored all the same, and what is no price is none.
    """
    desk = Desk(open=True)
    wild = {"menu_features": {"Item A": 1e300, "Item B": -5}, "amenity_features": [["a"], 7]}
    desk.act("x", Register(profile={"id": "x", "metadata": {"type": "customer"}, "customer": wild}))
    shop = {"menu_features": {"Item A": 1e9}, "amenity_features": ["x"], "min_price_factor": 1e300}
    desk.act("y", Register(profile={"id": "y", "metadata": {"type": "business"}, "business": shop}))
    desk.sell(offer(A=1), "y", "x")
    desk.sell(offer("q", A=1), "y")
    account = Market.facets.judging.account(replay(Market(), desk.ledger))
    result = {figure.name: figure.value for figure in account.figures}
    assert (result["purchases"], result["unknown_costs"], result["business_revenue"]) == (2, 2, 2400)


def test_a_report_tells_the_markets_tables(shell: Shell) -> None:
    """Page and Markdown hold the share of the best possible, the figures, the tables of agents and the errors."""
    pytest.importorskip("jinja2")
    desk = Desk()
    desk.sell(offer(**{"Item  A": 8.0, "Item B": 4.0}))
    keep("hand", desk, desk)
    shell("report", "hand", "-o", "told")
    assert shell.code == 0, shell.err
    for name in ("report.html", "report.md"):
        text = Path("told", name).read_text()
        for part in (
            "Welfare is -67 % of the best possible",
            "consumer surplus",
            "Payments by business",
            "Customers, means",
        ):
            assert part in text, (name, part)
        assert "InvalidMenuItem" in text
    assert json.loads(Path("told/results.json").read_text())["groups"]["by hand"]["tables"]["customers"]["runs"] == 2
