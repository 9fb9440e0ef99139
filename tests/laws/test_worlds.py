"""Our worlds under the shipped laws, a line each; and how those of others are found."""

from pathlib import Path

import pytest
from quiz import Quiz, knowing

import akinai
from akinai import worlds
from akinai.core import Outcome
from akinai.core.agents import Plan, Routine, player
from akinai.runtime.config.settings import prepare
from akinai.testing.laws import no_books, world_laws
from akinai.worlds.market import Market
from akinai.worlds.market import State as MarketState
from akinai.worlds.market.model.actions import Leave, OrderProposal, Payment, Register, SendMessage
from akinai.worlds.vending import State, Vending
from akinai.worlds.vending.model.actions import (
    AcceptGoods,
    ChangePrices,
    LookAtRivals,
    MakeOffer,
    OfferGoods,
    PlaceOrder,
    Report,
    ReviewLetter,
    SellToJobber,
    SendEmail,
    SendMoney,
)
from akinai.worlds.vending.scores import net_worth_cents, transit_cents
from akinai.worlds.vending.sprint.verbs import AnswerCustomers, ReadLetter, SendLetter, SetPlan
from lemonade import CUP_CENTS, Lemonade, Stand
from street_books import street_adds_up


def lemonade_adds_up(before: Stand, after: Stand, outcome: Outcome) -> bool:
    """Cash and cups at what they cost change by what was sold and what was poured away."""
    day = outcome.data or {"sold": 0, "income_cents": 0, "poured_away": 0}
    gone = day["sold"] + day["poured_away"]
    worth = (after.cash_cents + after.cups * CUP_CENTS) - (before.cash_cents + before.cups * CUP_CENTS)
    return worth == day["income_cents"] - gone * CUP_CENTS and after.cash_cents >= 0


def vending_adds_up(before: State, after: State, outcome: Outcome) -> bool:
    """Money and goods at cost stay the same while a day lasts; at its end they grow by no more than it earned."""
    worth = net_worth_cents(after) + transit_cents(after) - net_worth_cents(before) - transit_cents(before)
    if after.book is before.book or after.book is None:
        return worth == 0
    return worth <= after.book.income_cents - after.book.fee_cents - after.book.spoiled_cents and after.cash_cents >= 0


test_lemonade = world_laws(
    Lemonade(),
    setup={"days": 5},
    long={"days": 100},
    scores={"idle": {"profit": 0}, "frugal": {"profit": 6_750}},
    books=lemonade_adds_up,
)
IDLE_IN_VENDING = {
    "net_worth": 50_000 - 4 * 200,
    "bank_balance": 50_000 - 4 * 200,
    "cash": 50_000 - 4 * 200,
    "machine_cash": 0,
    "stock_at_cost": 0,
    "in_transit_at_cost": 0,
    "units_sold": 0,
    "days_until_sales_stop": 0,
    "stockout_days": 4,
    "fees_missed": 0,
    "messages": 4,
}
test_vending = world_laws(
    Vending(),
    setup=prepare(Vending(), preset="classic", days=4).setup,
    long={"days": 60},
    samples=(PlaceOrder(supplier_id="ggbev", items={"water": 48, "cola": 24}), Report(text="Done.")),
    scores={"idle": IDLE_IN_VENDING},
    books=vending_adds_up,
)
test_vending_as_in_the_paper = pytest.mark.slow(
    world_laws(
        Vending(),
        setup=prepare(Vending(), preset="paper", days=4).setup,
        long={"days": 60},
        scores={"idle": IDLE_IN_VENDING},
        books=vending_adds_up,
    )
)


def account_adds_up(before: State, after: State, outcome: Outcome) -> bool:
    """The bank account is what its causes add up to, and never overdrawn."""
    return after.cash_cents == after.setup.start_cents + sum(after.accounts.values()) and after.cash_cents >= 0


test_vending_at_several_sites = pytest.mark.slow(
    world_laws(
        Vending(),
        setup=prepare(Vending(), preset="quarter", days=4).setup,
        long={"days": 45},
        samples=(ChangePrices(prices_cents={"milk": 250}), MakeOffer(supplier_id="nobody", discount_percent=10)),
        scores={"idle": IDLE_IN_VENDING},
        books=account_adds_up,
    )
)


IDLE_AMONG_RIVALS = {
    f"{name}_{owner}": IDLE_IN_VENDING[name]
    for owner in ("owner_1", "owner_2")
    for name in ("bank_balance", "units_sold", "messages")
} | {"days_in_business_owner_1": 4, "days_in_business_owner_2": 4}
test_vending_with_rivals = pytest.mark.slow(
    world_laws(
        Vending(),
        setup=prepare(Vending(), preset="arena", days=4).setup,
        long={"days": 45},
        samples=(
            SendMoney(to="owner_2", cents=1_500),
            SendMoney(to="owner_1", cents=700),
            OfferGoods(to="owner_1", items={"milk": 2}, cents=300, hour=12),
            AcceptGoods(offer=1),
            SellToJobber(items={"milk": 1}),
            LookAtRivals(),
        ),
        scores={"idle": {**IDLE_IN_VENDING, **IDLE_AMONG_RIVALS}},
        books=street_adds_up,
    )
)
test_vending_with_an_overseer = pytest.mark.slow(
    world_laws(
        Vending(),
        setup=prepare(Vending(), preset="arena", days=4, settings={"overseer.agent": "watchful"}).setup,
        long={"days": 45},
        samples=(
            SendEmail(to="owner_2@akinai-vending.com", subject="Prices", body="Let us both keep our prices."),
            ReviewLetter(verdict="pass", note="Fine."),
            ReviewLetter(verdict="veto"),
        ),
        scores={"idle": {**IDLE_IN_VENDING, **IDLE_AMONG_RIVALS}},
        books=street_adds_up,
    )
)
ONE_SITE_BY_THE_WEEK = prepare(Vending(), preset="sprint", settings={"street.sites.pitches": []}).setup
IDLE_FOR_THREE_WEEKS = {
    **IDLE_IN_VENDING,
    **dict.fromkeys(("net_worth", "bank_balance", "cash"), 50_000 - 21 * 200),
    "stockout_days": 21,
    "messages": 3,
}
test_vending_by_the_week = pytest.mark.slow(
    world_laws(
        Vending(),
        setup=prepare(Vending(), preset="sprint", days=21).setup,
        long=ONE_SITE_BY_THE_WEEK,
        samples=(SetPlan(visit=("Mon", "Fri")), AnswerCustomers(pay=(1, 2)), ReadLetter(number=1)),
        scores={"idle": IDLE_FOR_THREE_WEEKS},
        books=account_adds_up,
    )
)

test_vending_by_the_week_with_rivals = pytest.mark.slow(
    world_laws(
        Vending(),
        setup=prepare(Vending(), preset="arena-sprint", days=21, settings={"overseer.agent": "watchful"}).setup,
        long=prepare(Vending(), preset="arena-sprint", settings={"street.sites.pitches": []}).setup,
        samples=(
            SetPlan(visit=("Mon", "Fri")),
            SendMoney(to="owner_1", cents=700),
            LookAtRivals(),
            SendLetter(to="owner_2@akinai-vending.com", subject="Prices", body="Let us both keep our prices."),
            ReviewLetter(verdict="veto", note="No."),
            OfferGoods(to="owner_1", items={"milk": 2}, cents=300, hour=12),
            AcceptGoods(offer=1),
        ),
        scores={
            "idle": {
                **IDLE_FOR_THREE_WEEKS,
                **{
                    name: IDLE_FOR_THREE_WEEKS[name.partition("_owner_")[0]]
                    for name in IDLE_AMONG_RIVALS
                    if "days_in" not in name
                },
                "days_in_business_owner_1": 21,
                "days_in_business_owner_2": 21,
            }
        },
        books=street_adds_up,
    )
)


def market_adds_up(before: MarketState, after: MarketState, outcome: Outcome) -> bool:
    """What customers paid is what businesses got; it changes by the total of one payment, once, or not at all."""
    members = after.members.values()
    paid, received = [member.paid_cents for member in members], [member.received_cents for member in members]
    newly = [offer.proposal.total_price for key, offer in after.offers.items() if offer.paid and not _paid(before, key)]
    booked = after.booked_cents - before.booked_cents
    return (
        sum(paid) == sum(received) == after.booked_cents
        and len(newly) == after.payments - before.payments <= 1
        and booked == sum(round(total * 100) for total in newly)
    )


def _paid(state: MarketState, key: tuple[str, str]) -> bool:
    return key in state.offers and bool(state.offers[key].paid)


MARKET_SAMPLES = (
    SendMessage(to_agent_id="business_0001", message=Payment(proposal_message_id="business_0001-1")),
    SendMessage(
        to_agent_id="customer_0001",
        message=OrderProposal(
            id="mine",
            items=[{"name": "Tea", "quantity": 2, "unit_price": 1.5}],
            total_price=3,
            expiry_time="2026-04-02",
        ),
        metadata={"idempotency_key": "once"},
    ),
)


@player
def comes_and_goes(me: Routine) -> Plan:
    """Enters the market and leaves it."""
    yield Register()
    yield Leave()


NOTHING_SOLD = dict.fromkeys(
    ("welfare", "customer_utility", "business_revenue", "purchases", "proposals", "invalid_proposals"), 0
)
test_market = world_laws(
    Market(),
    setup={"customers": 1, "businesses": {"agent": "same"}},
    long={"customers": 8},
    players={"idle": comes_and_goes},
    samples=MARKET_SAMPLES,
    scores={"idle": NOTHING_SOLD, "careful": {"welfare": 3_815, "business_revenue": 3_779, "purchases": 1}},
    books=market_adds_up,
)
test_quiz = world_laws(
    Quiz(),
    long={"questions": [{"asked": f"{n} + 1?", "answer": str(n + 1)} for n in range(200)]},
    scores={"silent": {"right": 0, "right_of_left": 0}, "knowing": {"right": 1, "right_of_left": 2}},
    players={"knowing": knowing},
    books=no_books,
)


def test_world_of_others_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that names its world under `akinai.worlds` is all that it takes to play the world by name."""
    installed = tmp_path / "lemonade-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: lemonade\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[akinai.worlds]\nlemonade = lemonade:Lemonade\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "lemonade" in worlds.names()
    by_name, at_hand = akinai.run("lemonade", seeds="1-3", days=5), akinai.run(Lemonade(), seeds="1-3", days=5)
    assert [run.status for run in by_name] == ["done"] * 3
    assert [run.days for run in by_name] == [5] * 3
    assert [run.ledger.digest for run in by_name] == [run.ledger.digest for run in at_hand]
