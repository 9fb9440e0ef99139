"""The wire, field by field, over raw HTTP, as the public system's own client sends and reads it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from wire_server import ServeConfig, Wire, wire_to

NULLS = dict.fromkeys(("from_agent_id", "limit", "offset", "after", "after_index"))


async def test_health_and_registration_answer_as_the_wire_says(wire: Wire) -> None:
    """Health, registering, one profile and the list have the fields of the wire and no others."""
    assert (await wire.http.get("/health")).json() == {"status": "healthy"}
    assert (await wire.register("new")).json() == {"error": None, "id": "new"}
    member = (await wire.http.get("/agents/new")).json()
    assert member["error"] is None
    assert member["agent"]["id"] == "new"
    assert member["agent"]["customer"]["menu_features"] == {"Tea": 3}
    listed = (await wire.http.get("/agents", params={"offset": 1, "limit": 2})).json()
    assert [profile["id"] for profile in listed.pop("items")] == ["d", "b"]
    assert listed == {"error": None, "total": 5, "offset": 1, "limit": 2, "has_more": True}
    assert (await wire.http.get("/agents/nobody")).status_code == 404


async def test_a_path_that_leads_nowhere_says_where_to_look(wire: Wire) -> None:
    """404 as JSON, with the two paths that list routes and verbs; nothing is recorded."""
    answer = await wire.http.get("/nowhere")
    assert answer.status_code == 404
    assert answer.json() == {
        "detail": "there is no GET /nowhere; /openapi.json tells what there is, /actions/protocol how to act"
    }


async def test_registering_again_updates_the_profile(wire: Wire) -> None:
    """A known id keeps its place in the list and shows its new profile."""
    await wire.register("c", "customer", note="changed")
    assert (await wire.http.get("/agents/c")).json()["agent"]["note"] == "changed"
    assert (await wire.http.get("/agents")).json()["total"] == 4


@pytest.mark.parametrize(
    "body", [{}, {"agent": 1}, {"agent": {}}, {"agent": {"id": ""}}, {"agent": {"id": 1}}, {"agent": {"id": "a\n"}}]
)
async def test_a_registration_that_does_not_parse_is_422(wire: Wire, body: Any) -> None:
    """No profile, no id, or an id that no header can hold: 422, and nobody was registered."""
    answer = await wire.http.post("/agents/register", json=body)
    assert answer.status_code == 422
    assert (await wire.http.get("/agents")).json()["total"] == 4


async def test_the_protocol_lists_the_three_verbs_in_order(wire: Wire) -> None:
    """SendMessage, FetchMessages, Search, each with a JSON Schema that fixes its `type`."""
    protocol = (await wire.http.get("/actions/protocol")).json()
    assert protocol["error"] is None
    assert [verb["name"] for verb in protocol["actions"]] == ["SendMessage", "FetchMessages", "Search"]
    for verb in protocol["actions"]:
        assert verb.keys() == {"name", "description", "parameters", "metadata"}
        assert verb["parameters"]["properties"]["type"]["const"]
        assert verb["description"]


async def test_a_message_is_answered_with_itself(wire: Wire) -> None:
    """SendMessage returns the very object, and the status."""
    sent = {
        "type": "send_message",
        "from_agent_id": "c",
        "to_agent_id": "b",
        "created_at": "2026-04-01T10:00:00+02:00",
        "message": {"type": "text", "content": "a table for two?"},
        "metadata": {"x": 1},
    }
    answer = await wire.act("c", "SendMessage", sent)
    assert answer == {"content": sent, "is_error": False, "metadata": {"status": "sent"}}


async def test_omitted_fields_are_filled_in(wire: Wire) -> None:
    """Sender and time come from the header and the clock; an item's name and missing id are accepted."""
    items = [{"name": "Tea", "quantity": 2, "unit_price": 3.5}]
    message = {"type": "order_proposal", "id": "p", "items": items, "total_price": 7.0}
    answer = await wire.act("b", "SendMessage", {"to_agent_id": "c", "message": message})
    assert answer["content"]["from_agent_id"] == "b"
    line = {"id": "", "item_name": "Tea", "quantity": 2, "unit_price": 3.5}
    unset = {"special_instructions": None, "estimated_delivery": None, "expiry_time": None}
    assert answer["content"]["message"] == {**message, "items": [line], **unset}
    assert abs(datetime.fromisoformat(answer["content"]["created_at"]) - datetime.now(UTC)) < timedelta(minutes=1)
    (mail,) = await wire.mail("c")
    assert mail["message"] == answer["content"]["message"]


async def test_an_all_null_fetch_returns_everything_each_time(wire: Wire) -> None:
    """Stock agents fetch without an index and tell new from old by it: it is unique, rising and never changes."""
    for number in range(3):
        await wire.text("c", "b", f"line {number}")
    first = await wire.act("b", "FetchMessages", {"type": "fetch_messages", **NULLS})
    await wire.text("d", "b", "line 3")
    second = await wire.act("b", "FetchMessages", {"type": "fetch_messages", **NULLS})
    old, new = first["content"]["messages"], second["content"]["messages"]
    assert new[:3] == old
    assert [mail["message"]["content"] for mail in new] == [f"line {number}" for number in range(4)]
    indexes = [mail["index"] for mail in new]
    assert indexes == sorted(set(indexes))
    assert new[0].keys() == {"from_agent_id", "to_agent_id", "created_at", "message", "index"}
    assert first["content"].keys() == {"messages", "has_more"}
    assert first["metadata"] == {}
    seen = {mail["index"] for mail in old}
    assert [mail["from_agent_id"] for mail in new if mail["index"] not in seen] == ["d"]


async def test_a_fetch_may_be_narrowed(wire: Wire) -> None:
    """Limit 3 of 5 gives 3 and more, offset 3 the other 2; the index and the sender narrow it too."""
    for number in range(4):
        await wire.text("c", "b", str(number))
    await wire.text("d", "b", "4")
    page = (await wire.act("b", "FetchMessages", {"limit": 3}))["content"]
    last_page = (await wire.act("b", "FetchMessages", {"limit": 3, "offset": 3}))["content"]
    assert [len(page["messages"]), page["has_more"]] == [3, True]
    assert [len(last_page["messages"]), last_page["has_more"]] == [2, False]
    assert (await wire.act("b", "FetchMessages", {"after_index": 10**30}))["content"]["messages"] == []
    behind = await wire.mail("b", after_index=page["messages"][1]["index"])
    assert [mail["message"]["content"] for mail in behind] == ["2", "3", "4"]
    assert len(await wire.mail("b", from_agent_id="d")) == 1
    assert len(await wire.mail("b", after=page["messages"][2]["created_at"])) == 2
    assert await wire.mail("c") == []


async def test_a_search_answers_with_profiles(wire: Wire) -> None:
    """Businesses as they registered, the algorithm, and how many results and pages there are."""
    query = {
        "type": "search",
        "query": "tea",
        "search_algorithm": "simple",
        "constraints": None,
        "limit": 10,
        "page": 1,
    }
    search = await wire.act("c", "Search", query)
    profile = (await wire.http.get("/agents/b")).json()["agent"]
    profile["business"] |= {"type": "business", "id": "b", "progenitor_customer": "", "min_price_factor": 1.0}
    content = {"businesses": [profile], "search_algorithm": "simple", "total_possible_results": 1, "total_pages": 1}
    assert search == {"content": content, "is_error": False, "metadata": {}}
    refused = await wire.act("c", "Search", {"query": "tea", "page": 0})
    assert refused["is_error"]
    past = await wire.act("c", "Search", {"query": "tea", "page": 9})
    assert past["content"]["businesses"] == []


async def test_type_names_the_verb_and_name_where_it_is_missing(wire: Wire) -> None:
    """Either names it in either spelling; a name that contradicts the type is refused."""
    for envelope in (
        {"name": "FetchMessages"},
        {"name": "fetch_messages", "parameters": None},
        {"name": "FetchMessages", "parameters": {"type": "fetch_messages"}, "metadata": {}},
    ):
        assert (await wire.post("c", envelope)).json()["content"] == {"messages": [], "has_more": False}
    crossed = await wire.act("c", "Search", {"type": "fetch_messages"})
    assert crossed["content"]["code"] == "bad_parameters"


async def refused(wire: Wire, id: str, to: str, message: Any, **more: Any) -> dict[str, Any]:
    answer = await wire.act(id, "SendMessage", {"to_agent_id": to, "message": message, **more})
    assert answer["is_error"]
    return answer


async def test_refusals_by_the_rules_are_answers(wire: Wire) -> None:
    """HTTP 200 with is_error, a type, a code and a sentence; the same error in the metadata."""
    why = "No valid proposal found with this ID"
    answer = await refused(wire, "c", "b", {"type": "payment", "proposal_message_id": "none"})
    assert answer["content"] == {"error_type": "invalid_proposal", "code": "invalid_proposal", "message": why}
    assert answer["metadata"]["error"] == {"code": "invalid_proposal", "message": why}
    unknown = await refused(wire, "c", "X", {"type": "text", "content": "hello"})
    assert unknown["content"] == {"error": "to_agent_id X not found"}


async def test_every_rule_of_payment_has_its_words(wire: Wire) -> None:
    """Paid, another's, another business's, expired: each refused with its sentence, and nothing is delivered."""
    await wire.register("e", "business")
    await wire.propose("b", "c", "p")
    await wire.propose("b", "c", "old", expiry_time="2020-01-01T00:00:00")
    assert not (await wire.pay("c", "b", "p"))["is_error"]
    refusals = [
        (await wire.pay(customer, business, id))["content"]["message"]
        for customer, business, id in (("c", "b", "p"), ("d", "b", "p"), ("c", "e", "p"), ("c", "b", "old"))
    ]
    assert refusals == [
        "Proposal is already paid",
        "Proposal was made to another customer",
        "Proposal is not from this business",
        "Proposal has expired",
    ]
    assert [mail["message"]["type"] for mail in await wire.mail("b")] == ["payment"]
    assert await wire.mail("e") == []


async def test_the_sender_is_the_agent_of_the_header(wire: Wire) -> None:
    """A message under another's name is refused, and so are a customer's proposal and a business's payment."""
    other = await refused(wire, "c", "b", {"type": "text", "content": "x"}, from_agent_id="d")
    assert other["content"]["code"] == "wrong_sender"
    proposal = {"type": "order_proposal", "id": "q", "items": [{"name": "T", "quantity": 1, "unit_price": 1}]}
    assert (await refused(wire, "c", "b", {**proposal, "total_price": 1}))["content"]["code"] == "wrong_role"
    assert (await refused(wire, "b", "c", {"type": "payment", "proposal_message_id": "q"}))["content"]["code"]


async def test_an_unnamed_agent_is_turned_away(wire: Wire) -> None:
    """401 without the header and for an unknown id; nothing is written."""
    before = wire.server.market.committed.seq
    bare = await wire.http.post("/actions/execute", json={"name": "FetchMessages"})
    assert bare.status_code == 401
    assert bare.json()["detail"] == "X-Agent-Id header required"
    assert (await wire.post("stranger", {"name": "FetchMessages"})).status_code == 401
    assert wire.server.market.committed.seq == before


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"name": 1}', b"{}", b'{"name": "Search", "parameters": []}'])
async def test_an_envelope_that_does_not_parse_is_422_and_no_entry(wire: Wire, body: bytes) -> None:
    """Nothing is recorded."""
    before = wire.server.market.committed.seq
    answer = await wire.http.post("/actions/execute", content=body, headers={"X-Agent-Id": "c"})
    assert answer.status_code == 422
    assert answer.json()["detail"]
    assert wire.server.market.committed.seq == before


@pytest.mark.parametrize(
    "envelope",
    [
        {"name": "SendMessage", "parameters": {}},
        {"name": "Dance", "parameters": {}},
        {"name": "FetchMessages", "parameters": {"limit": 0}},
        {"name": "FetchMessages", "parameters": {"limit": True}},
        {"name": "Search", "parameters": {"query": "x", "limit": -1}},
        {"name": "SendMessage", "parameters": {"to_agent_id": "b", "message": {"type": "text", "content": "a\0b"}}},
    ],
)
async def test_invalid_parameters_are_an_answer_and_an_entry(wire: Wire, envelope: Any) -> None:
    """200 with is_error: the attempt is on the record, and nothing else happened."""
    before = wire.server.market.committed
    answer = (await wire.post("c", envelope)).json()
    assert answer["is_error"]
    assert answer["content"]["message"]
    after = wire.server.market.committed
    assert after.seq == before.seq + 1
    assert after.state is before.state


async def test_large_bodies_are_cut_off(wire: Wire) -> None:
    """Above 1 MiB it is 413, with or without a content length; the rules refuse a message above 64 KiB."""
    text = {"to_agent_id": "b", "message": {"type": "text", "content": "x" * 70_000}}
    assert (await wire.act("c", "SendMessage", text))["content"]["code"] == "too_large"

    async def chunks() -> Any:
        for _ in range(40):
            yield b"x" * 65_536

    for body in (b"x" * 2_000_000, chunks()):
        answer = await wire.http.post("/actions/execute", content=body, headers={"X-Agent-Id": "c"})
        assert answer.status_code == 413
    assert (await wire.http.get("/health")).status_code == 200


async def test_sender_of_a_body_of_any_size_reads_that_it_is_too_large(wire: Wire) -> None:
    """40 MiB are answered 413, and the connection goes on: closing it with unread bytes would take the answer away."""
    for _ in range(3):
        answer = await wire.http.post("/actions/execute", content=bytes(40 * 2**20), headers={"X-Agent-Id": "c"})
        assert answer.status_code == 413
        assert "above 1,048,576 bytes" in answer.json()["detail"]
    assert "connection" not in answer.headers


async def test_a_key_is_done_once_and_answered_the_same(wire: Wire) -> None:
    """The same idempotency key from the same agent gives the same answer, in the message or in the envelope."""
    keyed = {"metadata": {"idempotency_key": "k"}}
    await wire.propose("b", "c", "p")
    first = await wire.pay("c", "b", "p", **keyed)
    assert not first["is_error"]
    assert await wire.pay("c", "b", "p", **keyed) == first
    envelope = {"name": "SendMessage", "parameters": {"to_agent_id": "b", "message": first["content"]["message"]}}
    again = (await wire.post("c", {**envelope, **keyed})).json()
    assert again == first
    assert len(await wire.mail("b")) == 1


async def test_log_lines_are_kept_and_listed(wire: Wire) -> None:
    """A line comes back with its sender and time, in the shape of every list."""
    line = {"level": "warning", "name": "model", "message": "slow \U0001f40c", "data": {"ms": 900}, "metadata": {}}
    answer = await wire.http.post("/logs/create", json={"log": line}, headers={"X-Agent-Id": "c"})
    assert answer.json() == {"error": None}
    listed = (await wire.http.get("/logs")).json()
    (item,) = listed.pop("items")
    assert listed == {"error": None, "total": 1, "offset": 0, "limit": None, "has_more": False}
    assert {name: item[name] for name in line} == line
    assert item["agent_id"] == "c"
    later = (datetime.fromisoformat(item["created_at"]) + timedelta(seconds=1)).isoformat()
    assert (await wire.http.get("/logs", params={"after": later})).json()["total"] == 0
    assert (await wire.http.get("/logs", params={"before": later})).json()["total"] == 1
    assert (await wire.http.get("/logs", params={"after": "soon"})).status_code == 422
    for wrong in (
        {},
        {"log": {"level": "loud", "name": "x"}},
        {"log": {"level": "info"}},
        {"log": {**line, "data": 3}},
    ):
        assert (await wire.http.post("/logs/create", json=wrong)).status_code == 422


ODD = ["it's", '"quoted"', "100%s %(x)s", "\U0001f600 \u5546\u3044", "x' OR '1'='1", "a\\b", "semi;colon--"]


async def test_odd_texts_are_plain_text(store_address: str) -> None:
    """Quotes, percent signs, emoji and SQL in ids and texts are plain text, on both databases."""
    async with wire_to(ServeConfig(store=store_address, port=0)) as wire:
        await wire.register("b", "business")
        for id in ODD:
            assert (await wire.register(id)).json() == {"error": None, "id": id}
            await wire.text(id, "b", id)
            await wire.propose("b", id, id)
            assert not (await wire.pay(id, "b", id))["is_error"]
        mail = await wire.mail("b")
        messages = [received["message"] for received in mail]
        assert [message["content"] for message in messages if message["type"] == "text"] == ODD
        assert [message["proposal_message_id"] for message in messages if message["type"] == "payment"] == ODD


async def test_the_document_describes_every_route(wire: Wire) -> None:
    """The OpenAPI names the routes of the wire with their bodies and answers."""
    document = json.loads((await wire.http.get("/openapi.json")).text)
    routes = {(path, verb) for path, verbs in document["paths"].items() for verb in verbs}
    assert {
        ("/health", "get"), ("/agents/register", "post"), ("/agents", "get"), ("/agents/{id}", "get"),
        ("/actions/protocol", "get"), ("/actions/execute", "post"), ("/logs/create", "post"), ("/logs", "get"),
    } <= routes  # fmt: skip
    assert document["paths"]["/actions/execute"]["post"]["requestBody"]["content"]["application/json"]["schema"]
