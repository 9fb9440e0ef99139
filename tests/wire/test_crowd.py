"""Many agents at once, on raw sockets: the driver of the bench, which costs less than what it measures."""

import asyncio

import pytest
from wire_server import Asked

import market as bench
from akinai.server.serving import served


@pytest.mark.parametrize("agents", [100, pytest.param(1_000, marks=pytest.mark.slow)])
async def test_a_crowd_is_served(place: str, agents: int) -> None:
    """Every customer buys once of its own business: all purchases are made, and no answer is an error of the server."""
    tally = bench.Tally()
    pairs = [(bench.Caller(f"c{n}", tally), bench.Caller(f"b{n}", tally)) for n in range(agents // 2)]
    async with served(Asked(store=place, port=0)) as one:
        port = int(one.listening.url.rpartition(":")[2])
        for customer, business in pairs:
            for caller, kind in ((customer, "customer"), (business, "business")):
                await caller.connect(port)
                await caller.register(kind)
        await asyncio.gather(*(bench.pair(customer, business, 1) for customer, business in pairs))
        for caller in (caller for both in pairs for caller in both):
            caller.writer.close()
        assert tally.purchases == one.market.committed.state.payments == agents // 2
        assert one.market.committed.state.booked_cents == 300 * (agents // 2)
