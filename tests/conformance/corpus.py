"""The requests of the differential test, generated from the public package's models.

Every field of every model is sent in its valid form, left out, null, and with values of other types. Hand-written
requests follow: rules of deals, pages, logs, paths, bodies that are no JSON.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from magentic_marketplace.marketplace.actions import (
    FetchMessages,
    OrderItem,
    OrderProposal,
    Payment,
    Search,
    SendMessage,
    TextMessage,
)
from magentic_marketplace.marketplace.shared.models import (
    Business,
    BusinessAgentProfile,
    Customer,
    CustomerAgentProfile,
    SearchConstraints,
)
from magentic_marketplace.platform.shared.models import ActionExecutionRequest, Log
from pydantic import BaseModel

ABSENT = object()
VALUES: Mapping[str, Any] = {
    "absent": ABSENT,
    "null": None,
    "text": "text",
    "digits": "7",
    "number": 7,
    "fraction": 7.5,
    "true": True,
    "list": [],
    "list_of_text": ["text"],
    "object": {},
    "object_of_number": {"key": 1},
}
"""What is sent in place of a field's value, by the name of the case."""
TIME = "2025-01-01T12:00:00Z"
EXECUTE = "/actions/execute"


@dataclass(frozen=True)
class Request:
    """A request of the corpus. A value `{"$": "NAME.PLACE.FIELD"}` in its body is taken from a remembered fetch."""

    name: str
    method: str
    path: str
    body: Any = ABSENT
    """JSON, or bytes that are sent as they are."""
    agent: str | None = None
    """The X-Agent-Id header."""
    remember: str = ""
    """Keeps the messages of the answer under this name."""


def corpus() -> list[Request]:
    """All requests, in the order in which they are sent. Names are unique."""
    requests = [
        *_population(),
        *_searches(),
        *_of_models(),
        *_of_envelopes(),
        *_mail(),
        *_deals(),
        *_lists(),
        *_logs(),
        *_registrations(),
        *_paths(),
        *_bodies(),
        *_of_profiles(),
        act("search.incomplete", "ann", {**SEARCH, "query": "", "constraints": None, "limit": 500}, "Search"),
    ]
    names = [request.name for request in requests]
    assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1][:3]
    return requests


MENUS: Mapping[str, Mapping[str, float]] = {
    "grill": {"Zesty Wrap": 8.0, "Apple Pie": 4.5, "Mint Tea": 2.25},
    "diner": {"Mint Tea": 2.0, "Zesty Wrap": 9.0},
    "cafe": {"Mint Tea": 2.5},
}


def business(id: str, **fields: Any) -> dict[str, Any]:
    """The profile of a business, as the public client registers it."""
    data = {
        "type": "business",
        "id": id,
        "name": id.title(),
        "description": f"Food of the {id}.",
        "rating": 0.5,
        "progenitor_customer": "ann",
        "menu_features": dict(MENUS.get(id, {"Soup": 3.0})),
        "amenity_features": {"Outdoor Seating": True, "Free Wifi": False},
        "min_price_factor": 0.8,
    }
    return {"id": id, "metadata": {"type": "business"}, "business": {**data, **fields}}


def customer(id: str, **fields: Any) -> dict[str, Any]:
    """The profile of a customer."""
    data = {
        "type": "customer",
        "id": id,
        "name": id.title(),
        "request": "Mint Tea, please.",
        "menu_features": {"Mint Tea": 3.0},
        "amenity_features": ["Outdoor Seating"],
    }
    return {"id": id, "metadata": {"type": "customer"}, "customer": {**data, **fields}}


def register(name: str, profile: Any) -> Request:
    return Request(name, "POST", "/agents/register", {"agent": profile})


def _population() -> Iterator[Request]:
    for id in MENUS:
        yield register(f"setup.{id}", business(id))
    for id in ("ann", "ben", "sink", "reader"):
        yield register(f"setup.{id}", customer(id))


def act(name: str, agent: str | None, parameters: Any, verb: str = "SendMessage", **more: Any) -> Request:
    remember = more.pop("remember", "")
    return Request(
        name, "POST", EXECUTE, {"name": verb, "parameters": parameters, "metadata": {}, **more}, agent, remember
    )


def send(sender: str, to: str, message: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    parameters = {"type": "send_message", "from_agent_id": sender, "to_agent_id": to, "created_at": TIME}
    return {**parameters, "message": message, "metadata": {}, **fields}


def text(content: str = "Hello.") -> dict[str, Any]:
    return {"type": "text", "content": content}


def proposal(id: str, **fields: Any) -> dict[str, Any]:
    item = {"id": "Item-1", "item_name": "Mint Tea", "quantity": 2, "unit_price": 2.25}
    message = {"type": "order_proposal", "id": id, "items": [item], "total_price": 4.5}
    options = {"special_instructions": "Hot.", "estimated_delivery": "soon", "expiry_time": "2999-01-01T00:00:00Z"}
    return {**message, **options, **fields}


def payment(id: str, **fields: Any) -> dict[str, Any]:
    options = {"payment_method": "cash", "delivery_address": "Here 1", "payment_message": "Thanks."}
    return {"type": "payment", "proposal_message_id": id, **options, **fields}


FETCH = {
    "type": "fetch_messages",
    "from_agent_id": "grill",
    "limit": 5,
    "offset": 0,
    "after": TIME,
    "after_index": 0,
    "metadata": {},
}
SEARCH = {
    "type": "search",
    "query": "mint tea",
    "search_algorithm": "simple",
    "constraints": {"rating_threshold": 0.1, "amenity_features": ["Outdoor Seating"], "menu_items": ["Mint Tea"]},
    "limit": 10,
    "page": 1,
    "metadata": {},
}
LOG = {"level": "info", "name": "n", "message": "m", "data": {"a": 1}, "metadata": {"b": 2}}


def _of_models() -> Iterator[Request]:
    """Every field of every model in turn."""
    for case, field, values in _changed(SendMessage, lambda _: send("ann", "sink", text())):
        yield act(f"SendMessage.{field}.{case}", "ann", values)
    for case, field, values in _changed(TextMessage, lambda _: text()):
        yield act(f"TextMessage.{field}.{case}", "ann", send("ann", "sink", values))
    for case, field, values in _changed(OrderProposal, lambda name: proposal(f"model-{name}")):
        yield act(f"OrderProposal.{field}.{case}", "grill", send("grill", "sink", values))
    for case, field, values in _changed(OrderItem, lambda _: proposal("")["items"][0]):
        message = proposal(f"item-{field}-{case}", items=[values], total_price=4.5)
        yield act(f"OrderItem.{field}.{case}", "grill", send("grill", "sink", message))
    for case, field, values in _changed(Payment, lambda name: payment(f"pay-{name}")):
        yield act(f"Payment.{field}.{case}.offer", "grill", send("grill", "ann", proposal(f"pay-{field}-{case}")))
        yield act(f"Payment.{field}.{case}", "ann", send("ann", "grill", values))
    for case, field, values in _changed(FetchMessages, lambda _: FETCH):
        yield act(f"FetchMessages.{field}.{case}", "ben", values, "FetchMessages")
    for case, field, values in _changed(Search, lambda _: SEARCH):
        yield act(f"Search.{field}.{case}", "ann", values, "Search")
    for case, field, values in _changed(SearchConstraints, lambda _: SEARCH["constraints"]):
        parameters = {**SEARCH, "search_algorithm": "filtered", "query": "", "constraints": values}
        yield act(f"SearchConstraints.{field}.{case}", "ann", parameters, "Search")


def _of_envelopes() -> Iterator[Request]:
    """Every field of the envelope, and of a log line."""
    envelope = {"name": "Search", "parameters": SEARCH, "metadata": {}}
    for case, field, values in _changed(ActionExecutionRequest, lambda _: envelope):
        yield Request(f"ActionExecutionRequest.{field}.{case}", "POST", EXECUTE, values, "ann")
    for case, field, values in _changed(Log, lambda _: LOG):
        yield Request(f"Log.{field}.{case}", "POST", "/logs/create", {"log": values}, "ann")


def _of_profiles() -> Iterator[Request]:
    """Every field of the profiles. Businesses that lack some are found by searches here, and not there."""
    for case, field, values in _changed(Business, lambda name: business(f"biz-{name}")["business"]):
        id = f"biz-{field}-{case}"
        yield register(f"Business.{field}.{case}", {**business(id), "business": values})
        yield Request(f"Business.{field}.{case}.get", "GET", f"/agents/{id}")
    for case, field, values in _changed(Customer, lambda name: customer(f"cus-{name}")["customer"]):
        id = f"cus-{field}-{case}"
        yield register(f"Customer.{field}.{case}", {**customer(id), "customer": values})
        yield Request(f"Customer.{field}.{case}.get", "GET", f"/agents/{id}")
    for role, model in (("Business", BusinessAgentProfile), ("Customer", CustomerAgentProfile)):
        make = business if role == "Business" else customer
        for case, field, values in _changed(model, lambda name, make=make, role=role: make(f"{role}-{name}")):
            yield register(f"{role}AgentProfile.{field}.{case}", values)


def _changed(model: type[BaseModel], valid: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(case, field, value of the model), for every field and case; the valid value and one with unknown keys first.

    `valid` makes the valid value for a name of its own.
    """
    assert set(model.model_fields) <= set(valid("x")) | {"metadata", "type"}, model
    yield "valid", "all", copy.deepcopy(valid("all-valid"))
    yield "unknown_keys", "all", {**copy.deepcopy(valid("all-unknown_keys")), "unknown": [1], "another": None}
    for field in model.model_fields:
        for case, value in VALUES.items():
            values = copy.deepcopy(valid(f"{field}-{case}"))
            values.pop(field, None)
            yield case, field, values if value is ABSENT else {**values, field: value}


TIMES = {
    "zone": "2025-01-01T12:00:00+09:00",
    "fractions": "2025-01-01T12:00:00.123456Z",
    "space": "2025-01-01 12:00:00Z",
    "no_zone": "2025-01-01T12:00:00",
    "date": "2025-01-01",
    "word": "yesterday",
    "empty": "",
    "month_13": "2025-13-01T12:00:00Z",
    "seconds": 1_735_732_800,
    "milliseconds": 1_735_732_800_000,
    "fraction": 1_735_732_800.5,
    "digits": "1735732800",
    "far": 10**15,
    "negative": -1,
}


def _mail() -> Iterator[Request]:
    """Fetching: pages, filters, times, indices. The mailbox of `reader` holds five messages of two senders."""
    yield act("mail.empty", "reader", {"type": "fetch_messages"}, "FetchMessages")
    for number in range(5):
        sender = "grill" if number % 2 else "diner"
        yield act(f"mail.send.{number}", sender, send(sender, "reader", text(f"message {number}")))
    yield act("mail.all", "reader", {"type": "fetch_messages"}, "FetchMessages", remember="mail")
    pages: Mapping[str, Mapping[str, Any]] = {
        "limit_5": {"limit": 5},
        "limit_6": {"limit": 6},
        "limit_3": {"limit": 3},
        "limit_1": {"limit": 1},
        "limit_0": {"limit": 0},
        "limit_-1": {"limit": -1},
        "offset_0": {"offset": 0},
        "offset_2": {"offset": 2},
        "offset_9": {"offset": 9},
        "offset_-1": {"offset": -1},
        "limit_9_offset_3": {"limit": 9, "offset": 3},
        "limit_2_offset_1": {"limit": 2, "offset": 1},
        "sender": {"from_agent_id": "grill"},
        "sender_without_mail": {"from_agent_id": "cafe"},
        "sender_unknown": {"from_agent_id": "nobody"},
        "sender_empty": {"from_agent_id": ""},
        "after_first": {"after_index": {"$": "mail.0.index"}},
        "after_third": {"after_index": {"$": "mail.2.index"}},
        "after_last": {"after_index": {"$": "mail.4.index"}},
        "after_none": {"after_index": -5},
        "after_all": {"after_index": 10**9},
        "after_huge": {"after_index": 10**30},
        "time_of_third": {"after": {"$": "mail.2.created_at"}},
        "sender_after": {"from_agent_id": "diner", "after_index": {"$": "mail.0.index"}},
        "sender_quote": {"from_agent_id": "it's"},
    }
    for name, fields in pages.items():
        yield act(f"mail.{name}", "reader", {"type": "fetch_messages", **fields}, "FetchMessages")
    for name, value in TIMES.items():
        yield act(f"mail.after.{name}", "reader", {"type": "fetch_messages", "after": value}, "FetchMessages")
        yield act(f"mail.created_at.{name}", "ann", send("ann", "sink", text(), created_at=value))
    yield act("mail.unknown_recipient", "ann", send("ann", "nobody", text()))
    yield act("mail.to_itself", "ann", send("ann", "ann", text()))
    yield act("mail.from_another", "ann", send("ben", "sink", text()))
    yield act("mail.from_unknown", "ann", send("nobody", "sink", text()))
    yield act("mail.quotes", "ann", send("ann", "sink", text("x' OR '1'='1 \" % _ \\ 寿司 🍣 \n")))
    yield act("mail.nul", "ann", send("ann", "sink", text("a\0b")))
    yield act("mail.empty_text", "ann", send("ann", "sink", text("")))
    yield act("mail.kib_60", "ann", send("ann", "sink", text("x" * 60_000)))
    yield act("mail.kib_70", "ann", send("ann", "sink", text("x" * 70_000)))
    yield act("mail.mib_2", "ann", send("ann", "sink", text("x" * 2_000_000)))
    yield act("mail.metadata_of_many_kinds", "ann", send("ann", "sink", text(), metadata={"a": 1.0, "b": [None, {}]}))
    key = {"idempotency_key": "k"}
    yield act("mail.key", "ann", send("ann", "reader", text("once"), metadata=key))
    yield act("mail.key_again", "ann", send("ann", "reader", text("once"), metadata=key))
    yield act("mail.key_of_another", "ann", send("ann", "reader", text("twice"), metadata=key))
    yield act("mail.after_key", "reader", {"type": "fetch_messages", "from_agent_id": "ann"}, "FetchMessages")
    yield act("mail.number_as_key", "ann", send("ann", "sink", text(), metadata={"idempotency_key": 3}))


def _searches() -> Iterator[Request]:
    """Every algorithm that runs without torch, with queries and pages."""
    queries = (
        "",
        " ",
        "mint tea",
        "Zesty",
        "tea, zesty",
        "apple_pie",
        "GRILL",
        "food of",
        "%",
        "_",
        "寿司",
        "a",
        "it's",
    )
    for algorithm in ("simple", "lexical", "filtered", "optimal"):
        for number, query in enumerate(queries):
            parameters = {"type": "search", "query": query, "search_algorithm": algorithm}
            yield act(f"search.{algorithm}.{number}", "ann", parameters, "Search")
        pages = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 9), (10, 1), (0, 1), (-1, 1), (2, 0), (2, -1), (10**20, 1))
        for limit, page in pages:
            parameters = {"type": "search", "query": "tea", "search_algorithm": algorithm, "limit": limit, "page": page}
            yield act(f"search.{algorithm}.limit_{limit}_page_{page}", "ann", parameters, "Search")
    limits: Mapping[str, Mapping[str, Any]] = {
        "none": {},
        "nulls": {"rating_threshold": None, "amenity_features": None, "menu_items": None},
        "rating_met": {"rating_threshold": 0.5},
        "rating_above": {"rating_threshold": 0.6},
        "amenity": {"amenity_features": ["Outdoor Seating"]},
        "amenity_false": {"amenity_features": ["Free Wifi"]},
        "amenity_unknown": {"amenity_features": ["Pool"]},
        "amenity_quote": {"amenity_features": ["Children's Menu"]},
        "item": {"menu_items": ["Zesty Wrap"]},
        "items": {"menu_items": ["Zesty Wrap", "Apple Pie"]},
        "item_unknown": {"menu_items": ["Pizza"]},
        "item_case": {"menu_items": ["zesty wrap"]},
        "empty_lists": {"amenity_features": [], "menu_items": []},
    }
    for name, fields in limits.items():
        parameters = {"type": "search", "query": "", "search_algorithm": "filtered", "constraints": fields}
        yield act(f"search.limits.{name}", "ann", parameters, "Search")
    whole = {"type": "search", "query": "tea", "search_algorithm": "optimal"}
    yield act("search.optimal.by_business", "grill", whole, "Search")
    yield act("search.unknown_algorithm", "ann", {**whole, "search_algorithm": "magic"}, "Search")
    yield act("search.long_query", "ann", {**whole, "search_algorithm": "lexical", "query": "tea " * 4_000}, "Search")


def _deals() -> Iterator[Request]:
    """Proposals and payments: what the rules of deals accept and refuse."""

    def offer(name: str, sender: str = "grill", to: str = "ann", id: str = "", **fields: Any) -> Request:
        return act(f"deal.{name}", sender, send(sender, to, proposal(id or f"deal-{name}", **fields)))

    def pay(name: str, sender: str, to: str, id: str) -> Request:
        return act(f"deal.{name}", sender, send(sender, to, payment(id)))

    item = proposal("")["items"][0]
    yield offer("offer")
    yield pay("pay_unknown", "ann", "grill", "no-such-proposal")
    yield pay("pay_other_business", "ann", "diner", "deal-offer")
    yield pay("pay_for_another", "ben", "grill", "deal-offer")
    yield pay("pay_by_business", "diner", "grill", "deal-offer")
    yield pay("pay", "ann", "grill", "deal-offer")
    yield pay("pay_twice", "ann", "grill", "deal-offer")
    yield offer("same_id", id="deal-offer")
    yield offer("same_id_of_another", sender="diner", id="deal-offer")
    yield offer("by_customer", sender="ben")
    yield offer("to_business", to="diner")
    yield offer("expired", expiry_time="2001-01-01T00:00:00Z")
    yield pay("pay_expired", "ann", "grill", "deal-expired")
    yield offer("expiry_word", expiry_time="tomorrow")
    yield pay("pay_expiry_word", "ann", "grill", "deal-expiry_word")
    yield offer("negative_total", total_price=-1)
    yield offer("negative_price", items=[{**item, "unit_price": -1}])
    yield offer("zero", total_price=0, items=[{**item, "unit_price": 0}])
    yield offer("wrong_total", total_price=99)
    yield offer("quantity_0", items=[{**item, "quantity": 0}])
    yield offer("quantity_million", items=[{**item, "quantity": 10**6}])
    yield offer("quantity_billion", items=[{**item, "quantity": 10**9}])
    yield offer("total_billion", total_price=10**9)
    yield offer("total_1e12", total_price=1e12)
    yield offer("total_tiny", total_price=1e-7)
    yield offer("whole_float", total_price=4.0, items=[{**item, "quantity": 2.0, "unit_price": 2.0}])
    yield offer("no_items", items=[])
    yield offer("items_200", items=[item] * 200)
    yield offer("items_201", items=[item] * 201)
    yield offer("id_500", id="x" * 500)
    yield offer("id_501", id="x" * 501)
    yield offer("id_quote", id="it's")
    yield pay("pay_id_quote", "ann", "grill", "it's")
    yield offer("name_for_item_name", items=[{"name": "Mint Tea", "quantity": 1, "unit_price": 4.5}])
    yield act("deal.fetched", "grill", {"type": "fetch_messages", "from_agent_id": "ann", "limit": 1}, "FetchMessages")


def _registrations() -> Iterator[Request]:
    """Profiles beside those of the models."""
    yield register("register.without_role", {"id": "anyone", "metadata": {}})
    yield register("register.only_id", {"id": "only"})
    yield register("register.extra", {"id": "extra", "metadata": {"a": [1.0]}, "more": {"b": None}, "list": [1, "x"]})
    yield register("register.again", business("cafe", rating=0.9))
    yield Request("register.again.get", "GET", "/agents/cafe")
    yield act("register.again.search", "ann", {**SEARCH, "limit": 1, "constraints": None}, "Search")
    yield register("register.empty_id", {"id": "", "metadata": {}})
    yield register("register.space", {"id": " a ", "metadata": {}})
    yield register("register.control", {"id": "a\nb", "metadata": {}})
    yield register("register.invisible", {"id": "a\u200bb", "metadata": {}})
    yield register("register.wide", {"id": "\uff21\uff22", "metadata": {}})
    yield register("register.look_alike", {"id": "caf\u0435", "metadata": {}})
    yield register("register.quote", {"id": "o'neil", "metadata": {}})
    yield Request("register.quote.get", "GET", "/agents/o'neil")
    yield register("register.japanese", {"id": "寿司", "metadata": {}})
    yield Request("register.japanese.get", "GET", "/agents/寿司")
    yield register("register.slash", {"id": "a/b", "metadata": {}})
    yield Request("register.slash.get", "GET", "/agents/a/b")
    yield Request("register.slash.get_quoted", "GET", "/agents/a%2Fb")
    yield register("register.kib_60", {"id": "big", "metadata": {"text": "x" * 60_000}})
    yield register("register.kib_70", {"id": "bigger", "metadata": {"text": "x" * 70_000}})
    yield Request("register.no_agent", "POST", "/agents/register", {})
    yield Request("register.null", "POST", "/agents/register", {"agent": None})
    yield Request("register.list", "POST", "/agents/register", [])
    yield Request("register.more", "POST", "/agents/register", {"agent": {"id": "more"}, "unknown": 1})
    yield Request("register.as_another", "POST", "/agents/register", {"agent": {"id": "other"}}, "ann")


QUERIES: Mapping[str, str] = {
    "all": "",
    "limit_2": "?limit=2",
    "limit_2_offset_1": "?limit=2&offset=1",
    "offset_2": "?offset=2",
    "offset_far": "?offset=99999",
    "limit_7": "?limit=7",
    "limit_0": "?limit=0",
    "limit_negative": "?limit=-1",
    "offset_negative": "?offset=-1",
    "limit_text": "?limit=x",
    "limit_empty": "?limit=",
    "limit_null": "?limit=null",
    "limit_fraction": "?limit=1.5",
    "limit_large": "?limit=100000",
    "unknown_key": "?limit=1&unknown=2",
    "twice": "?limit=1&limit=2",
}


def _lists() -> Iterator[Request]:
    for name, query in QUERIES.items():
        yield Request(f"agents.{name}", "GET", f"/agents{query}")
    for name, id in {"known": "ann", "unknown": "nobody", "spaces": "%20", "case": "ANN", "percent": "%25"}.items():
        yield Request(f"agent.{name}", "GET", f"/agents/{id}")
    yield Request("protocol", "GET", "/actions/protocol")
    yield Request("health", "GET", "/health")


def _logs() -> Iterator[Request]:
    def log(name: str, line: Any, agent: str | None = "ann") -> Request:
        return Request(f"log.{name}", "POST", "/logs/create", {"log": line}, agent)

    for level in ("debug", "info", "warning", "error", "critical", "INFO", ""):
        yield log(f"level.{level}", {"level": level, "name": "n"})
    yield log("without_agent", {"level": "info", "name": "n"}, None)
    yield log("unknown_agent", {"level": "info", "name": "n"}, "nobody")
    yield log("empty_agent", {"level": "info", "name": "n"}, "")
    yield log("extra", {"level": "info", "name": "n", "extra": {"a": 1}, "more": [None, 1.0]})
    yield log("mib_2", {"level": "info", "name": "n", "data": {"text": "x" * 2_000_000}})
    yield Request("log.empty", "POST", "/logs/create", {})
    yield Request("log.more", "POST", "/logs/create", {"log": {"level": "info", "name": "n"}, "unknown": 1}, "ann")
    for name, query in QUERIES.items():
        yield Request(f"logs.{name}", "GET", f"/logs{query}")
    for name, time in {
        "past": "2001-01-01T00:00:00Z",
        "future": "2999-01-01T00:00:00%2B09:00",
        "date": "2001-01-01",
    }.items():
        yield Request(f"logs.after.{name}", "GET", f"/logs?limit=2&after={time}")
        yield Request(f"logs.before.{name}", "GET", f"/logs?limit=2&before={time}")
    yield log("mib_9", {"level": "info", "name": "n", "data": {"text": "x" * 9_000_000}})
    yield Request("logs.between", "GET", "/logs?limit=3&after=2001-01-01T00:00:00Z&before=2999-01-01T00:00:00Z")


def _paths() -> Iterator[Request]:
    """Slashes at the end, unknown paths, other methods."""
    for path in (
        "/health/",
        "/agents/",
        "/logs/",
        "/actions/protocol/",
        "/",
        "/HEALTH",
        "/nothing",
        "/agents/ann/",
    ):
        yield Request(f"path.{path}", "GET", path)
    yield Request("path.register/", "POST", "/agents/register/", {"agent": {"id": "slash"}})
    yield Request(
        "path.execute/", "POST", "/actions/execute/", {"name": "Search", "parameters": SEARCH, "metadata": {}}, "ann"
    )
    yield Request("path.create/", "POST", "/logs/create/", {"log": LOG}, "ann")
    methods = {
        "/health": ("POST", "HEAD", "OPTIONS", "DELETE"),
        "/agents": ("POST", "DELETE"),
        "/agents/ann": ("DELETE", "PUT", "PATCH"),
        "/agents/register": ("PUT", "GET"),
        "/actions/protocol": ("POST",),
        EXECUTE: ("GET", "PUT"),
        "/logs": ("POST", "DELETE"),
        "/logs/create": ("GET",),
    }
    for path, names in methods.items():
        for method in names:
            yield Request(f"path.{method}.{path}", method, path)


def _bodies() -> Iterator[Request]:
    """Bodies that are no envelope, and who asks."""
    raw: Mapping[str, bytes] = {
        "empty": b"",
        "cut": b'{"name": "Search", "para',
        "text": b"hello",
        "array": b"[]",
        "number": b"3",
        "null": b"null",
        "nan": b'{"name": "Search", "parameters": {"type": "search", "query": NaN}, "metadata": {}}',
        "latin": b'{"name": "\xe9", "parameters": {}}',
        "two": b"{} {}",
        "deep": b'{"name": "Search", "parameters": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}",
        "duplicate": b'{"name": "X", "name": "FetchMessages", "parameters": {"type": "fetch_messages"}, "metadata": {}}',
    }
    for name, body in raw.items():
        for path in (EXECUTE, "/agents/register", "/logs/create"):
            yield Request(f"body.{name}.{path}", "POST", path, body, "cafe")
    half = b'{"name": "SendMessage", "parameters": {"type": "send_message", "from_agent_id": "ann", "to_agent_id": "sink", '
    half += b'"created_at": "2025-01-01T12:00:00Z", "message": {"type": "text", "content": "\\ud800"}}}'
    yield Request("body.half_surrogate", "POST", EXECUTE, half, "ann")
    envelope = {"name": "FetchMessages", "parameters": {"type": "fetch_messages"}, "metadata": {}}
    yield Request("who.nobody", "POST", EXECUTE, envelope)
    yield Request("who.empty", "POST", EXECUTE, envelope, "")
    yield Request("who.unknown", "POST", EXECUTE, envelope, "nobody")
    yield Request("who.case", "POST", EXECUTE, envelope, "ANN")
    yield Request("who.nobody_without_body", "POST", EXECUTE, b"")
    yield Request("who.unknown_without_body", "POST", EXECUTE, b"", "nobody")
    yield act("verb.other_name", "ann", SEARCH, "FetchMessages")
    yield act("verb.unknown_name", "ann", SEARCH, "Dance")
    yield act("verb.snake_case", "ann", SEARCH, "search")
    yield act("verb.unknown_type", "ann", {**SEARCH, "type": "dance"}, "Search")
    yield act("verb.no_type", "ann", {key: value for key, value in SEARCH.items() if key != "type"}, "Search")
    yield act("verb.no_parameters", "ann", {}, "FetchMessages")
    yield act("verb.register", "ann", {"type": "register"}, "Register")
    yield act("verb.wait", "ann", {"type": "wait", "seconds": 0}, "Wait")
    yield act("verb.more_keys", "cafe", {"type": "fetch_messages"}, "FetchMessages", unknown=1)
