"""With tokens agents act only under their own names and see what is theirs; a reader that polls sees all its mail."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from wire_server import ServeConfig, wire_to

from akinai.server.client import MarketClient, WireError
from akinai.worlds.market.model.actions import FetchMessages


async def test_tokens_keep_names_and_mail_apart(tmp_path: Path) -> None:
    """With tokens an id acts only with its own token, keeps it over a restart, and no secret is stored."""
    config = ServeConfig(run="r", store=str(tmp_path / "m.db"), port=0, auth="token", operator_token="operator-secret")
    async with wire_to(config) as wire:
        token = (await wire.register("c")).json()["token"]
        other = (await wire.register("d")).json()["token"]
        mine, foreign = ({"Authorization": f"Bearer {bearer}"} for bearer in (token, other))
        fetch = {"name": "FetchMessages"}
        assert (await wire.post("c", fetch)).status_code == 401
        assert (await wire.post("c", fetch, **foreign)).status_code == 401
        assert (await wire.post("c", fetch, **mine)).json()["is_error"] is False
        assert (await wire.register("c")).status_code == 401
        again = {"agent": {"id": "c", "metadata": {}, "note": "mine"}}
        assert (await wire.http.post("/agents/register", json=again, headers=foreign)).status_code == 401
        updated = await wire.http.post("/agents/register", json=again, headers=mine)
        assert updated.json() == {"error": None, "id": "c"}
        named: Any = {"X-Agent-Id": "c"}
        assert (await wire.http.get("/views/c", headers=named)).status_code == 401
        assert (await wire.http.get("/views/c", headers={**named, **mine})).status_code == 200
        assert (await wire.http.get("/views/d", headers={**named, **mine})).status_code == 401
        for path in ("/logs", "/metrics"):
            assert (await wire.http.get(path, headers=mine)).status_code == 401
            operator = {"Authorization": "Bearer operator-secret"}
            assert (await wire.http.get(path, headers=operator)).status_code == 200
    async with wire_to(config) as wire:
        assert (await wire.post("c", fetch, **mine)).status_code == 200
        assert (await wire.post("c", fetch, **foreign)).status_code == 401
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [secret for secret in (token, other, "operator-secret") if secret.encode() in stored]


async def test_profiles_are_for_registered_agents(tmp_path: Path) -> None:
    """With tokens neither the list nor a profile is shown to strangers; agents and the operator see both."""
    async with wire_to(ServeConfig(store="memory:", port=0, auth="token", operator_token="secret")) as wire:
        token = (await wire.register("c")).json()["token"]
        for path in ("/agents", "/agents/c", "/agents/nobody"):
            wrong: list[Any] = [{}, {"X-Agent-Id": "c"}, {"X-Agent-Id": "c", "Authorization": "Bearer x"}]
            right: list[Any] = [
                {"X-Agent-Id": "c", "Authorization": f"Bearer {token}"},
                {"Authorization": "Bearer secret"},
            ]
            assert {(await wire.http.get(path, headers=headers)).status_code for headers in wrong} == {401}
            assert {(await wire.http.get(path, headers=headers)).status_code for headers in right} <= {200, 404}
        for path in ("/", "/docs", "/health", "/actions/protocol", "/openapi.json"):
            assert (await wire.http.get(path)).status_code == 200


async def test_a_member_of_the_population_is_claimed(tmp_path: Path) -> None:
    """Only with the token that the operator hands out for it, once; the claims are the same after a restart."""
    size = {"customers.count": 1, "businesses.count": 1}
    config = ServeConfig(
        run="r", store=str(tmp_path / "m.db"), port=0, auth="token", operator_token="secret", settings=size
    )
    async with wire_to(config) as wire:
        url, state = str(wire.http.base_url), wire.server.market.committed.state
        business, customer = state.roll
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Bearer secret"}):
            body = {"agent": {"id": customer, "metadata": {}}}
            assert (await wire.http.post("/agents/register", json=body, headers=headers)).status_code == 401
        named: Any = {"X-Agent-Id": customer}
        assert (await wire.http.get(f"/views/{customer}", headers=named)).status_code == 401
        assert (await wire.http.get("/claims")).status_code == 401
        async with MarketClient(url, tokens={"": "secret"}) as operator:
            claims = await operator.claims()
            assert set(claims) == {business, customer}
        async with MarketClient(url, tokens={customer: claims[business]}) as thief:
            with pytest.raises(WireError, match="the token that the operator hands out"):
                await thief.register({"id": customer})
    async with wire_to(config) as wire:
        url = str(wire.http.base_url)
        async with MarketClient(url, tokens={customer: claims[customer]}) as agent:
            assert "request" in (await agent.view(customer))["text"]
            token = await agent.register({"id": customer})
            assert agent.tokens[customer] == token != claims[customer]
            assert (await agent.act(customer, FetchMessages())).ok
        async with MarketClient(url, tokens={customer: claims[customer], "": "secret"}) as again:
            with pytest.raises(WireError, match="registered already"):
                await again.register({"id": customer})
            assert set(await again.claims()) == {business}


async def test_a_market_that_was_open_is_claimed_too(tmp_path: Path) -> None:
    """Who registered without a token is nobody's for the taking once tokens are required."""
    store = str(tmp_path / "m.db")
    async with wire_to(ServeConfig(run="r", store=store, port=0)) as wire:
        await wire.register("c")
    async with wire_to(ServeConfig(run="r", store=store, port=0, auth="token", operator_token="secret")) as wire:
        assert (await wire.register("c")).status_code == 401
        async with MarketClient(str(wire.http.base_url), tokens={"": "secret"}) as client:
            client.tokens |= await client.claims()
            assert await client.register({"id": "c", "metadata": {}})


@pytest.mark.parametrize(
    ("readers", "writers", "messages"), [(2, 5, 100), pytest.param(4, 50, 5_000, marks=pytest.mark.slow)]
)
async def test_a_reader_that_polls_by_index_misses_nothing(
    store_address: str, readers: int, writers: int, messages: int
) -> None:
    """While many agents write, each poll after the last index returns the new messages in order, none twice."""
    async with wire_to(ServeConfig(store=store_address, port=0)) as wire:
        for id in [*(f"w{n}" for n in range(writers)), *(f"r{n}" for n in range(readers))]:
            await wire.register(id)

        async def write(n: int) -> None:
            for k in range(messages // writers):
                await wire.text(f"w{n}", f"r{k % readers}", f"{n}/{k}")

        async def read(id: str, share: int) -> list[dict[str, Any]]:
            mail: list[dict[str, Any]] = []
            started = time.monotonic()
            while len(mail) < share and time.monotonic() - started < 300:
                mail += await wire.mail(id, after_index=mail[-1]["index"] if mail else None)
            return mail

        shares = [messages // writers // readers * writers for _ in range(readers)]
        reading = [read(f"r{n}", share) for n, share in enumerate(shares)]
        *boxes, _ = await asyncio.gather(*reading, asyncio.gather(*(write(n) for n in range(writers))))
        for box, share in zip(boxes, shares, strict=True):
            assert len({mail["message"]["content"] for mail in box}) == len(box) == share
            assert [mail["index"] for mail in box] == sorted({mail["index"] for mail in box})
