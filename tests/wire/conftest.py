"""The servers and stores that the tests of the wire share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from wire_server import STORES, ServeConfig, Wire, wire_to


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    """A market in memory with the customers `c` and `d`, a business `b`, and an agent without a role."""
    async with wire_to(ServeConfig(store="memory:", port=0)) as wire:
        await wire.register("c")
        await wire.register("d")
        await wire.register("b", "business")
        await wire.http.post("/agents/register", json={"agent": {"id": "anyone"}})
        yield wire


@pytest.fixture(params=STORES)
def store_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store on disk, of each kind."""
    return str(tmp_path / "market.db") if request.param == "sqlite" else request.getfixturevalue("postgres")
