"""With tokens agents act only under their own names; a reader that polls sees all its mail."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from wire_server import ServeConfig, wire_to


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
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [secret for secret in (token, other, "operator-secret") if secret.encode() in kept]


@pytest.mark.parametrize(
    ("readers", "writers", "messages"), [(2, 5, 200), pytest.param(4, 50, 10_000, marks=pytest.mark.slow)]
)
async def test_a_reader_that_polls_by_index_misses_nothing(
    place: str, readers: int, writers: int, messages: int
) -> None:
    """While many agents write, each poll after the last index returns the new messages in order, none twice."""
    async with wire_to(ServeConfig(store=place, port=0)) as wire:
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
