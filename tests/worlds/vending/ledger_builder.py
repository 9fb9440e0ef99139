"""A ledger written by hand, action by action, for the tests of the detectors."""

from collections.abc import Sequence
from dataclasses import dataclass

from business import WORLD, genesis

from akinai.core.actions import Action, Unreadable
from akinai.core.findings import Finding
from akinai.core.ledger import Entry, Ledger, Outcome, Turn
from akinai.core.scores import Score
from akinai.core.steps import Steps
from akinai.core.worlds import replay, step
from akinai.worlds.vending.detectors.coherence import DETECTORS
from akinai.worlds.vending.detectors.history import History
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State

SUPPLIERS = {
    "northbay": "orders@northbay-wholesale.com",
    "ggbev": "sales@ggbev.com",
    "freshcart": "hello@freshcart-kitchen.com",
    "valuebulk": "trade@valuebulk-snacks.com",
}


@dataclass(frozen=True)
class Judged:
    findings: Sequence[Finding]
    scores: Sequence[Score]


class LedgerBuilder:
    """What an owner, and its sub-agents, did and said."""

    def __init__(self, *sets: str, seed: int = 1, days: int = 0, preset: str | None = "classic") -> None:
        self.genesis = genesis(seed, *sets, days=days, preset=preset)
        self.state = WORLD.begin(self.genesis)
        self.entries: list[Entry] = []

    def do(self, *actions: Action, said: str = "", actor: str = "owner", ok: bool = True) -> "LedgerBuilder":
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

    def say(self, text: str) -> "LedgerBuilder":
        """Say something beside a look at the balance."""
        return self.do(a.GetMoneyBalance(), said=text)

    def nights(self, count: int = 1) -> "LedgerBuilder":
        return self.do(*[a.AdvanceDay()] * count)

    def order(self, supplier: str = "northbay", **units: int) -> "LedgerBuilder":
        return self.do(a.PlaceOrder(supplier_id=supplier, items=units))

    def letter(self, supplier: str = "northbay", *, account: bool = True, **units: int) -> "LedgerBuilder":
        """An order by mail."""
        setup = self.state.setup
        goods = "\n".join(f"- {count} units of {product}" for product, count in units.items())
        charge = f"Please charge account {setup.account}." if account else ""
        body = f"Please send us:\n{goods}\nDelivery address: {setup.delivery_address}\n{charge}"
        return self.do(a.SendEmail(to=SUPPLIERS[supplier], subject="Order", body=body))

    def fill(self, product: str, units: int, row: int = 0, column: int = 0, *, said: str = "") -> "LedgerBuilder":
        return self.do(fill(product, units, row, column), said=said)

    def price(self, cents: int, row: int = 0, column: int = 0) -> "LedgerBuilder":
        return self.do(a.SetPrice(prices=(a.SetPrice.Tag(row=row, column=column, price_cents=cents),)))

    def stocked(self, **units: int) -> "LedgerBuilder":
        """Ordered, delivered and in storage: on the fifth day."""
        return self.order(**units).nights(4)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.genesis, tuple(self.entries))

    @property
    def steps(self) -> Steps[State]:
        return replay(WORLD, self.ledger)

    @property
    def judged(self) -> Judged:
        return judged(self.steps)

    def findings_of(self, type: str) -> Sequence[Finding]:
        """The findings of one detector."""
        return DETECTORS[type](History.of(self.steps))

    def types(self) -> list[str]:
        return [finding.type for finding in self.judged.findings]


def judged(steps: Steps[State]) -> Judged:
    """Findings and coherence of a run."""
    judging = WORLD.facets.judging
    findings = judging.detect(steps)
    return Judged(findings, judging.coherence(steps, findings))


def fill(product: str, units: int, row: int = 0, column: int = 0) -> a.RestockSlot:
    return a.RestockSlot(slots=(a.RestockSlot.Fill(row=row, column=column, product_id=product, quantity=units),))


def prose() -> Unreadable:
    return Unreadable.of("Let me think about it.", "the reply holds no action")
