"""The wire of the market: how requests are parsed and answers are encoded. docs/serve.md documents it."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

import orjson
from pydantic import AwareDatetime, TypeAdapter

from akinai.core.actions import Action, Unreadable, UnreadableCode, Verbs
from akinai.core.canonical import MOST_LEVELS, Json, bad_text_in, no_constant, settled, unfit_in
from akinai.core.errors import UnknownName
from akinai.core.ledger import Outcome, Turn
from akinai.server.spoofing import fault_in
from akinai.worlds.market import Market, State
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.units import iso
from akinai.worlds.market.rules import mail
from akinai.worlds.market.rules import verbs as rules
from akinai.worlds.market.search import Listing

LISTED = tuple(verb for verb in a.CLASSES if verb.on_wire == "listed")
"""The verbs of the protocol, in its order."""
EXECUTABLE = Verbs([verb for verb in a.CLASSES if verb.on_wire != "own route"])
"""The verbs of `/actions/execute`: besides the protocol's, our own agents wait and leave."""
KEY = "idempotency_key"
WITH_TEXT = "akinai_text"
"""If true in an envelope's metadata, the answer's metadata holds the outcome as a session in process returns it."""

Table = Mapping[str, Any]


class Malformed(ValueError):
    """A body that does not parse: answered with 422 and not recorded."""

    def __init__(self, where: Sequence[str], why: str) -> None:
        super().__init__(why)
        self.where, self.why = ("body", *where), why

    @property
    def detail(self) -> list[dict[str, Json]]:
        """The fault as the answer shows it."""
        return [{"type": "malformed", "loc": list(self.where), "msg": self.why}]


class Request(NamedTuple):
    """A parsed envelope: its action, which may be an `Unreadable`."""

    action: Action
    with_text: bool = False


class Answer(NamedTuple):
    """An encoded answer, with the labels of its metrics."""

    body: bytes
    verb: str
    """The verb's tool name, or "unreadable"."""
    code: str
    """The code of a refusal, or "ok"."""


def read_json(body: bytes) -> Any:
    """The value of a JSON body. Malformed for anything else, NaN and infinities included."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # JSON that orjson refuses, such as half a surrogate pair, is left to the rules.
        try:
            return json.loads(body, parse_constant=no_constant)
        except (ValueError, RecursionError) as error:
            raise Malformed((), f"the body is not JSON: {str(error)[:200]}") from None


def read_request(body: bytes) -> Request:
    """The request in the body of `/actions/execute`. Malformed when its envelope does not parse.

    Invalid parameters give an `Unreadable` action, whose refusal is an entry.
    """
    envelope = _object(read_json(body), ())
    name, parameters, metadata = envelope.get("name"), envelope.get("parameters"), envelope.get("metadata")
    if not isinstance(name, str):
        raise Malformed(("name",), "the name of the action should be text")
    fields = {} if parameters is None else _object(parameters, ("parameters",))
    if not metadata and "metadata" not in envelope:
        return Request(_parse_action(name, fields, body))
    options = _object(metadata, ("metadata",))
    return Request(_parse_action(name, _with_key(fields, options), body), options.get(WITH_TEXT) is True)


def _object(value: object, where: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(where, f"a JSON object is expected, not {_kind(value)}")
    return cast("dict[str, Any]", value)


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "nothing"


def _with_key(parameters: dict[str, Any], metadata: Table) -> dict[str, Any]:
    """The parameters with the idempotency key of the envelope, unless the message's own metadata has a key."""
    own: object = parameters.get("metadata", {})
    if KEY not in metadata or not isinstance(own, dict) or KEY in own or "to_agent_id" not in parameters:
        return parameters
    return {**parameters, "metadata": {**cast("Table", own), KEY: metadata[KEY]}}


def _parse_action(name: str, parameters: Table, body: bytes) -> Action:
    """The action of an envelope. `type` among the parameters names its verb, otherwise `name`; the two must agree."""
    if "type" not in parameters:
        return _parse_verb(name, parameters, body)
    kind = parameters["type"]
    if not isinstance(kind, str):
        return _unreadable(body, f"the type of the action should be text, not {_kind(kind)}", "bad_parameters")
    if _fold(name) != _fold(kind):
        why = f"the name says {name!r:.100} and the type {kind!r:.100}; send the same in both"
        return _unreadable(body, why, "bad_parameters")
    return _parse_verb(kind, parameters, body)


def _fold(name: str) -> str:
    return name.replace("_", "").lower()


def _parse_verb(name: str, parameters: Table, body: bytes) -> Action:
    """The action as the ledger would return it: numbers are settled before they are parsed."""
    try:
        verb = _BY_NAME.get(name) or EXECUTABLE.find(name)
        fields = _fields(verb, parameters)
    except UnknownName as error:
        return _unreadable(body, str(error)[:600])
    except ValueError as error:
        return _unreadable(body, f"{name:.100}: {error}", "bad_parameters")
    if _is_plain(body) and not _has_nested_metadata(fields):
        try:
            return _VALIDATE[verb](settled(fields))
        except ValueError:
            pass  # the slow path below words the refusal
    action = EXECUTABLE.parse(name, fields, _text(body))
    return action if isinstance(action, Unreadable) else EXECUTABLE.settled(action)


def _fields(verb: type[Action], parameters: Table) -> dict[str, Any]:
    """The parameters that a verb knows. Others, as the `metadata` that each public action has, are ignored.

    ValueError for metadata that is no object and for a `created_at` that is no time with a zone.
    """
    if not isinstance(parameters.get("metadata", {}), dict):
        raise ValueError(f"metadata should be a JSON object, not {_kind(parameters['metadata'])}")
    names = _FIELDS[verb]
    fields = dict(parameters)
    if not names.issuperset(fields):
        fields = {name: value for name, value in fields.items() if name in names}
    if fields.get("created_at") is not None:
        if (created_at := _time_text(fields["created_at"])) is None:
            raise ValueError(f"created_at should be a time with a zone, not {fields['created_at']!r:.100}")
        fields["created_at"] = created_at
    if fields.get("after") is not None:
        fields["after"] = _time_text(fields["after"]) or fields["after"]  # the rules judge what is no such time
    return fields


_FIELDS: Mapping[type[Action], frozenset[str]] = {verb: frozenset(verb.model_fields) for verb in EXECUTABLE.classes}
_VALIDATE = {verb: TypeAdapter(verb).validator.validate_python for verb in EXECUTABLE.classes}
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


def _time_text(value: object) -> str | None:
    """A time with a zone, as text or as seconds since the epoch, in ISO 8601 as pydantic writes it; None for others."""
    try:
        return _TIME.validate_python(value).isoformat().replace("+00:00", "Z")
    except ValueError:
        return None


_BY_NAME: Mapping[str, type[Action]] = {
    spelling: verb for verb in LISTED for spelling in (verb.__name__, verb.tool_name())
}


def _is_plain(body: bytes) -> bool:
    """Whether the body surely holds no text that stores refuse, and no nesting that is too deep."""
    return b"\\" not in body and body.count(b"[") + body.count(b"{") <= MOST_LEVELS


def _has_nested_metadata(parameters: Table) -> bool:
    """Whether metadata holds other values than text, which need a closer check than the fields of a verb."""
    metadata: object = parameters.get("metadata")
    if isinstance(metadata, dict):
        return not all(isinstance(value, str) for value in cast("Table", metadata).values())
    return metadata is not None


def _unreadable(body: bytes, why: str, code: UnreadableCode = "no_action") -> Unreadable:
    return Unreadable.of(_text(body), why, code)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def encode_answer(world: Market, state: State, turn: Turn, request: Request, outcome: Outcome) -> Answer:
    """The answer to a request, from the outcome as the ledger keeps it and the state after it."""
    verb = _NAMES[type(turn.action)]
    if not outcome.ok:
        return Answer(_refusal(outcome, request), verb, outcome.code or "refused")
    metadata: dict[str, Json] = {}
    match turn.action:
        case a.SendMessage() as action:
            content, metadata["status"] = _sent(state, turn, action, outcome), "sent"
        case a.FetchMessages() as action:
            content = _fetched(state, turn, action, outcome)
        case a.Search() as action:
            page = rules.results_page(state, turn.actor, action)
            businesses = [orjson.Fragment(state.catalogue.line(id, _profile_text)) for id in page.ids]
            content = {"businesses": businesses, **rules.counts(action, page)}
        case _:
            content = {"text": outcome.text}
    if request.with_text:
        observed = world.facets.observation.observe(state, turn, outcome)
        metadata["text"] = observed.text
        if not isinstance(turn.action, a.FetchMessages | a.Search):
            metadata["data"] = observed.data
    return Answer(_dump({"content": content, "is_error": False, "metadata": metadata}), verb, "ok")


_NAMES: Mapping[type[Action], str] = {verb: verb.tool_name() for verb in EXECUTABLE.classes} | {
    Unreadable: "unreadable"
}


def _profile_text(listing: Listing) -> str:
    return _dump(listing.public).decode()


def _fetched(state: State, turn: Turn, action: a.FetchMessages, outcome: Outcome) -> dict[str, Any]:
    """The messages, in the JSON whose digest is in the entry of the fetch."""
    selection = mail.selected(state, turn, action) if cast("Table", outcome.data)["count"] else None
    if selection is None:
        return {"messages": [], "has_more": False}
    return {"messages": orjson.Fragment(selection.text), **mail.fetch_metadata(state, turn, selection)}


def _refusal(outcome: Outcome, request: Request) -> bytes:
    content: dict[str, Json] = {"error_type": outcome.code, "code": outcome.code, "message": outcome.text}
    if outcome.code == "unknown_recipient":
        content = {"error": outcome.text}
    error: dict[str, Json] = {"code": outcome.code, "message": outcome.text}
    data: dict[str, Json] = {"data": outcome.data} if request.with_text else {}
    return _dump({"content": content, "is_error": True, "metadata": {"error": error, **data}})


def _sent(state: State, turn: Turn, action: a.SendMessage, outcome: Outcome) -> dict[str, Json]:
    """The message as it was delivered, omitted fields filled in. A repeat shows the message as first delivered."""
    message, at = action.message, turn.at
    index = cast("Mapping[str, int]", outcome.data)["index"]
    if index != turn.seq and (first := state.box(action.to_agent_id, turn.actor).find(index)):
        message, at = first.message, first.at
    return {
        "type": "send_message",
        "from_agent_id": turn.actor,
        "to_agent_id": action.to_agent_id,
        "created_at": action.created_at or iso(at),
        "message": message.dumped(),
        "metadata": action.metadata,
    }


def _dump(value: object) -> bytes:
    return orjson.dumps(value, default=_default)


def _default(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def encode(value: Json) -> bytes:
    """The JSON of an answer. Text that UTF-8 cannot hold is escaped."""
    try:
        return _dump(value)
    except TypeError:
        return json.dumps(value, default=_default, allow_nan=False).encode()


def read_profile(body: bytes) -> dict[str, Any]:
    """The profile in the body of `/agents/register`. Malformed when it is missing or cannot be stored."""
    profile = _object(_object(read_json(body), ()).get("agent"), ("agent",))
    id, metadata = profile.get("id"), profile.get("metadata", {})
    if not isinstance(id, str):
        raise Malformed(("agent", "id"), f"the id should be text, not {_kind(id)}")
    if fault := fault_in(id):
        raise Malformed(("agent", "id"), f"the id {fault}")
    _object(metadata, ("agent", "metadata"))
    if why := unfit_in(profile) or bad_text_in(profile):
        raise Malformed(("agent",), f"a value in it {why}")
    return {**profile, "metadata": metadata}


def registration(profile: Mapping[str, Any], state: State) -> Action:
    """The action of registering. A member of the run's population that sends only its id keeps its own profile."""
    member = state.members.get(profile["id"])
    if member is not None and member.number is not None and not set(profile) - {"id", "metadata"}:
        return a.Register()
    return a.VERBS.settled(a.Register(profile=dict(profile)))


LEVELS = ("debug", "info", "warning", "error")


def read_log(body: bytes) -> dict[str, Any]:
    """The line in the body of `/logs/create`. Malformed when it is missing or cannot be stored."""
    line = _object(_object(read_json(body), ()).get("log"), ("log",))
    if line.get("level") not in LEVELS:
        raise Malformed(("log", "level"), f"the level is one of {', '.join(LEVELS)}")
    if not isinstance(line.get("name"), str):
        raise Malformed(("log", "name"), "the name should be text")
    if not isinstance(line.get("message"), str | None):
        raise Malformed(("log", "message"), f"text is expected, not {_kind(line.get('message'))}")
    for field in ("data", "metadata"):
        if line.get(field) is not None:
            _object(line[field], ("log", field))
    if why := unfit_in(line):
        raise Malformed(("log",), f"a value in it {why}")
    return line


def protocol() -> list[dict[str, Any]]:
    """The verbs as `/actions/protocol` lists them, parameters as JSON Schema."""
    return [_describe(verb) for verb in LISTED]


def _describe(verb: type[Action]) -> dict[str, Any]:
    schema = verb.model_json_schema()
    kind = {"const": verb.tool_name(), "type": "string", "default": verb.tool_name()}
    schema["properties"] = {"type": kind, **schema["properties"]}
    return {"name": verb.__name__, "description": schema.pop("description", ""), "parameters": schema, "metadata": {}}


def listing(items: Sequence[Json], total: int, offset: int, limit: int | None) -> dict[str, Json]:
    """A page of a list; `limit` is null where none was asked for, as in the public system."""
    more = offset + len(items) < total
    return {
        "error": None,
        "total": total,
        "offset": offset,
        "limit": limit,
        "has_more": more,
        "items": list(items),
    }
