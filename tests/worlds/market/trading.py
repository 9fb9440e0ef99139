"""A market at hand for tests: hand-made populations, and a run in which anybody acts at any time."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from akinai.core.actions import Action
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
from akinai.core.worlds import replay, step
from akinai.worlds.market import Market, State
from akinai.worlds.market.analysis.scores import score
from akinai.worlds.market.model.actions import Item, Message, OrderProposal, Payment, Register, SendMessage, Text

POPULATIONS = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[4] / "shared" / "data")) / "market"
OUTDOORS = "Outdoor Seating"

needs_populations = pytest.mark.skipif(
    not POPULATIONS.is_dir(), reason=f"the public populations are not at {POPULATIONS}"
)


def business(id: str = "grill", menu: Mapping[str, float] | None = None, **more: Any) -> dict[str, Any]:
    """One that sells A and B outdoors."""
    result = {"A": 8.0, "B": 4.0} if menu is None else dict(menu)
    menu_features = {f"Item {name}" if len(name) == 1 else name: price for name, price in result.items()}
    return {
        "id": id,
        "name": id.title(),
        "description": "Food.",
        "rating": 3.0,
        "menu_features": menu_features,
        "amenity_features": {OUTDOORS: True},
        **more,
    }


def customer(id: str = "ann", **more: Any) -> dict[str, Any]:
    """One who wants A at 10.00 and B at 5.00, outdoors."""
    return {
        "id": id,
        "name": id.title(),
        "request": "Item A and Item B, please, outdoors.",
        "menu_features": {"Item A": 10.0, "Item B": 5.0},
        "amenity_features": [OUTDOORS],
        **more,
    }


class Desk:
    """A market under the wall clock in which everybody has registered; its own clock is `at`, in seconds."""

    def __init__(self, businesses: Any = None, customers: Any = None, purchases: int = 0, **settings: Any) -> None:
        self.world = Market()
        data = {"businesses": businesses or [business()], "customers": customers or [customer()]}
        setup = {"data": data, "clock": "wall", "customers": {"purchases": purchases}, **settings}
        result = Market.setup.model_validate(setup).model_dump(mode="json")
        self.genesis = Genesis(self.world.name, 1, result)
        self.state: State = self.world.begin(self.genesis)
        self.entries: list[Entry] = []
        self.at = 1_750_000_000.0
        for item in (*data["businesses"], *data["customers"]):
            assert self.act(item["id"], Register()).ok

    def act(self, actor: str, action: Action) -> Outcome:
        """One action; what is kept of it is the outcome."""
        seq = len(self.entries) + 1
        turn = Turn(seq, round(self.at * 1e6), actor, self.world.verbs.settled(action))
        before = self.state
        self.state, outcome = step(self.world, before, turn)
        assert outcome.ok or self.state is before, "a refusal changed the state"
        self.entries.append(Entry.of(self.entries[-1].digest if self.entries else self.genesis.digest, turn, outcome))
        return outcome

    def hears(self, actor: str, action: Action) -> Any:
        """The data that the actor hears."""
        outcome = self.act(actor, action)
        turn = Turn(len(self.entries), round(self.at * 1e6), actor, action)
        return self.world.facets.observation.observe(self.state, turn, outcome).data

    def send(self, sender: str, to: str, message: Message, key: str | None = None) -> Outcome:
        return self.act(
            sender,
            SendMessage(to_agent_id=to, message=message, metadata={} if key is None else {"idempotency_key": key}),
        )

    def say(self, sender: str, to: str, text: str) -> Outcome:
        return self.send(sender, to, Text(content=text))

    def propose(self, sender: str, to: str, proposal: OrderProposal) -> Outcome:
        return self.send(sender, to, proposal)

    def pay(self, payer: str, business: str, id: str, key: str | None = None) -> Outcome:
        return self.send(payer, business, Payment(proposal_message_id=id), key)

    def sell(self, proposal: OrderProposal, seller: str = "grill", buyer: str = "ann") -> None:
        """Propose and pay; both are to go well."""
        assert self.propose(seller, buyer, proposal).ok
        assert self.pay(buyer, seller, proposal.id).ok

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.genesis, tuple(self.entries))

    @property
    def scores(self) -> dict[str, int | float]:
        return {item.name: item.value for item in score(replay(self.world, self.ledger))}


def offer(id: str = "p", total: float = 12, expiry_time: str | None = None, **prices: float) -> OrderProposal:
    """A proposal of one unit each of items by name, A and B at 8 and 4 unless told otherwise."""
    items = [
        Item(item_name=f"Item {name}" if len(name) == 1 else name, quantity=1, unit_price=price)
        for name, price in (prices or {"A": 8.0, "B": 4.0}).items()
    ]
    return OrderProposal(id=id, items=items, total_price=total, expiry_time=expiry_time)
