"""A ledger written by hand, action by action, for the tests of the detectors."""

from collections.abc import Sequence

from shopkeeping import WORLD, genesis

from akinai.core.actions import Action, Unreadable
from akinai.core.findings import Finding
from akinai.core.ledger import Entry, Ledger, Outcome, Turn
from akinai.core.worlds import step
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.coherence import DETECTORS, Coherence, coherence_of, story_of

SUPPLIERS = {
    "northbay": "orders@northbay-wholesale.com",
    "ggbev": "sales@ggbev.com",
    "freshcart": "hello@freshcart-kitchen.com",
    "valuebulk": "trade@valuebulk-snacks.com",
}


class Diary:
    """What an owner, and its sub-agents, did and said."""

    def __init__(self, *sets: str, seed: int = 1, days: int = 0, preset: str | None = None) -> None:
        self.genesis = genesis(seed, *sets, days=days, preset=preset)
        self.state = WORLD.begin(self.genesis)
        self.entries: list[Entry] = []

    def do(self, *actions: Action, said: str = "", actor: str = "owner", ok: bool = True) -> "Diary":
        """Act; every action must be accepted, or with `ok` False refused."""
        for action in actions:
            outcome = self.try_(action, said, actor)
            assert outcome.ok is ok, outcome
        return self

    def try_(self, action: Action, said: str = "", actor: str = "owner") -> Outcome:
        turn = Turn(len(self.entries) + 1, WORLD.now(self.state), actor, action, said)
        before = self.entries[-1].digest if self.entries else self.genesis.digest
        self.state, outcome = step(WORLD, self.state, turn)
        self.entries.append(Entry.of(before, turn, outcome))
        return outcome

    def say(self, text: str) -> "Diary":
        """Say something beside a look at the balance."""
        return self.do(a.GetMoneyBalance(), said=text)

    def nights(self, count: int = 1) -> "Diary":
        return self.do(*[a.AdvanceDay()] * count)

    def order(self, supplier: str = "northbay", **units: int) -> "Diary":
        return self.do(a.PlaceOrder(supplier_id=supplier, items=units))

    def letter(self, supplier: str = "northbay", *, account: bool = True, **units: int) -> "Diary":
        """An order by mail."""
        setup = self.state.setup
        goods = "\n".join(f"- {count} units of {product}" for product, count in units.items())
        charge = f"Please charge account {setup.account}." if account else ""
        body = f"Please send us:\n{goods}\nDelivery address: {setup.delivery_address}\n{charge}"
        return self.do(a.SendEmail(to=SUPPLIERS[supplier], subject="Order", body=body))

    def fill(self, product: str, units: int, row: int = 0, column: int = 0, *, said: str = "") -> "Diary":
        return self.do(fill(product, units, row, column), said=said)

    def price(self, cents: int, row: int = 0, column: int = 0) -> "Diary":
        return self.do(a.SetPrice(prices=(a.SetPrice.Tag(row=row, column=column, price_cents=cents),)))

    def stocked(self, **units: int) -> "Diary":
        """Ordered, delivered and in storage: on the fifth day."""
        return self.order(**units).nights(4)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.genesis, tuple(self.entries))

    @property
    def judged(self) -> Coherence:
        return coherence_of(self.ledger)

    def found(self, type: str) -> Sequence[Finding]:
        """What one detector finds."""
        return DETECTORS[type](story_of(self.ledger))

    def types(self) -> list[str]:
        return [finding.type for finding in WORLD.findings(self.ledger)]


def fill(product: str, units: int, row: int = 0, column: int = 0) -> a.RestockSlot:
    return a.RestockSlot(slots=(a.RestockSlot.Fill(row=row, column=column, product_id=product, quantity=units),))


def prose() -> Unreadable:
    return Unreadable.of("Let me think about it.", "the reply holds no action")
