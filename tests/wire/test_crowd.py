"""Many agents at once on raw sockets: the driver of the bench, which costs less than the server it measures."""

import asyncio

import pytest
from wire_server import ServeConfig

import market as bench
from akinai.server.serving import running_server


@pytest.mark.parametrize("agents", [100, pytest.param(1_000, marks=pytest.mark.slow)])
async def test_a_crowd_is_served(store_address: str, agents: int) -> None:
    """Every customer buys once from its own business: all purchases are made, and no answer is a server error."""
    tally = bench.Tally()
    pairs = [(bench.Caller(f"c{n}", tally), bench.Caller(f"b{n}", tally)) for n in range(agents // 2)]
    async with running_server(ServeConfig(store=store_address, port=0)) as server:
        port = int(server.info.url.rpartition(":")[2])
        for customer, business in pairs:
            for caller, kind in ((customer, "customer"), (business, "business")):
                await caller.connect(port)
                await caller.register(kind)
        await asyncio.gather(*(bench.pair(customer, business, 1) for customer, business in pairs))
        for caller in (caller for both in pairs for caller in both):
            caller.writer.close()
        assert tally.purchases == server.market.committed.state.payments == agents // 2
        assert server.market.committed.state.booked_cents == 300 * (agents // 2)
