"""What the clients of the public system send and expect back, without that system at hand (tests/conformance has it)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from wire_server import Wire

UNSET = {"special_instructions": None, "estimated_delivery": None, "expiry_time": None}


async def test_a_slash_at_the_end_is_the_same_path(wire: Wire) -> None:
    """It is answered and not redirected; a slash elsewhere makes another path."""
    for path in ("/health", "/agents", "/agents/b", "/actions/protocol"):
        assert (await wire.http.get(f"{path}/")).json() == (await wire.http.get(path)).json()
    assert (await wire.http.post("/agents/register/", json={"agent": {"id": "e"}})).json() == {"error": None, "id": "e"}
    assert (await wire.http.post("/logs/create/", json={"log": {"level": "info", "name": "n"}})).status_code == 200
    envelope = {"name": "FetchMessages", "parameters": {}}
    answer = await wire.http.post("/actions/execute/", json=envelope, headers={"X-Agent-Id": "e"})
    assert answer.json()["content"]["messages"] == []
    address = str(wire.http.base_url).rstrip("/")  # alone, "//health" is a host to httpx
    for path in ("//health", "/health//", "/nothing/"):
        assert (await wire.http.get(address + path)).status_code == 404


async def test_unknown_parameters_and_metadata_are_ignored(wire: Wire) -> None:
    """Every action of the public package carries `metadata`; what a verb does not know decides nothing."""
    for name, parameters in (
        ("Search", {"query": "tea"}),
        ("FetchMessages", {}),
        ("Wait", {"seconds": 0}),
        ("Leave", {}),
    ):
        extra = {"metadata": {"a": [1]}, "unknown": {"b": None}}
        assert not (await wire.act("d", name, {**parameters, **extra}))["is_error"]
    assert not (await wire.text("c", "b", unknown=1))["is_error"]
    for metadata in (None, 3, [], "text"):
        answer = await wire.act("c", "Search", {"query": "tea", "metadata": metadata})
        assert answer["content"]["code"] == "bad_parameters"
        assert "metadata should be a JSON object" in answer["content"]["message"]


@pytest.mark.parametrize(
    "created_at", ["yesterday", "", "2026-04-01", "2026-04-01T10:00:00", "2026-13-01T10:00:00Z", True, []]
)
async def test_a_created_at_without_time_or_zone_is_refused(wire: Wire, created_at: Any) -> None:
    """As by the public models; null and a missing one mean the market's clock."""
    answer = await wire.text("c", "b", created_at=created_at)
    assert answer["content"]["code"] == "bad_parameters"
    assert "created_at should be a time with a zone" in answer["content"]["message"]
    assert not await wire.mail("b")


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ("2026-04-01T10:00:00Z", "2026-04-01T10:00:00Z"),
        ("2026-04-01 10:00:00+09:00", "2026-04-01T10:00:00+09:00"),
        (1_775_037_600, "2026-04-01T10:00:00Z"),
        ("1775037600", "2026-04-01T10:00:00Z"),
    ],
)
async def test_times_are_read_as_the_public_models_read_them(wire: Wire, sent: Any, answered: str) -> None:
    """Text with a zone, and seconds since the epoch; in a fetch, too."""
    assert (await wire.text("c", "b", created_at=sent))["content"]["created_at"] == answered
    assert len(await wire.mail("b", after=sent)) == (datetime.now(UTC) > datetime.fromisoformat(answered))


async def test_numbers_are_answered_as_they_were_read(wire: Wire) -> None:
    """Digits in quotes are numbers in the answer, and options that were left out are null."""
    items = [{"id": "1", "item_name": "Tea", "quantity": "2", "unit_price": "1.5", "unknown": 1}]
    message = {"type": "order_proposal", "id": "p", "items": items, "total_price": "3", "unknown": 1}
    answer = await wire.act("b", "SendMessage", {"to_agent_id": "c", "message": message})
    line = {"id": "1", "item_name": "Tea", "quantity": 2, "unit_price": 1.5}
    assert answer["content"]["message"] == {
        "type": "order_proposal",
        "id": "p",
        "items": [line],
        "total_price": 3,
        **UNSET,
    }


async def test_profiles_are_complete(wire: Wire) -> None:
    """Neutral values stand where a profile lacks a field of the public models."""
    await wire.http.post("/agents/register", json={"agent": {"id": "e", "metadata": {"type": "business"}}})
    await wire.http.post("/agents/register", json={"agent": {"id": "f", "customer": {"name": "F", "more": 1}}})
    neutral = {"name": "", "description": "", "rating": 0, "progenitor_customer": "", "menu_features": {}}
    neutral |= {"type": "business", "id": "e", "amenity_features": {}, "min_price_factor": 1.0}
    assert (await wire.http.get("/agents/e")).json()["agent"]["business"] == neutral
    businesses = (await wire.act("c", "Search", {"query": "", "search_algorithm": "simple"}))["content"]["businesses"]
    assert [profile["business"] for profile in businesses if profile["id"] == "e"] == [neutral]
    assert (await wire.http.get("/agents/f")).json()["agent"]["customer"] == {
        **{"type": "customer", "id": "f", "name": "F", "request": "", "menu_features": {}, "amenity_features": []},
        "more": 1,
    }


async def test_a_menu_keeps_its_order_on_the_wire(wire: Wire) -> None:
    """In the profile, in search results, and after a change of the profile."""
    for menu in ({"Zest": 1, "Apple": 2}, {"Apple": 2, "Zest": 1}):
        await wire.register("z", "business", business={"name": "Z", "rating": 9, "menu_features": menu})
        profile = (await wire.http.get("/agents/z")).json()["agent"]
        (first, *_) = (await wire.act("c", "Search", {"query": ""}))["content"]["businesses"]
        assert list(profile["business"]["menu_features"]) == list(first["business"]["menu_features"]) == list(menu)


@pytest.mark.parametrize("agent", ["nobody", "", None])
async def test_anybody_may_log_in_open_mode(wire: Wire, agent: str | None) -> None:
    """The agent need not be registered, nor named. Options that were left out are null."""
    headers = {} if agent is None else {"X-Agent-Id": agent}
    answer = await wire.http.post("/logs/create", json={"log": {"level": "info", "name": "n"}}, headers=headers)
    assert answer.json() == {"error": None}
    (item,) = (await wire.http.get("/logs?limit=1")).json()["items"]
    assert (item["agent_id"], item["message"], item["data"], item["metadata"]) == (agent or None, None, None, None)


async def test_log_lines_may_be_large(wire: Wire) -> None:
    """Up to 8 MiB, since the public agents log whole model calls; above that it is 413."""
    line = {"level": "info", "name": "n", "data": {"prompt": "x" * 7_000_000}}
    assert (await wire.http.post("/logs/create", json={"log": line})).status_code == 200
    assert (await wire.http.post("/logs/create", content=b"x" * 9_000_000)).status_code == 413
    (item,) = (await wire.http.get("/logs")).json()["items"]
    assert len(item["data"]["prompt"]) == 7_000_000
