"""The wire of the market: the only place that knows how requests and answers are spelled. docs/serve.md shows it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.canonical import MOST_LEVELS, Json, bad_text_in, settled, unfit_in
from akinai.core.ledger import Outcome, Turn
from akinai.worlds.market import Market, mail, rules
from akinai.worlds.market import actions as a
from akinai.worlds.market.state import State
from akinai.worlds.market.times import iso

SPOKEN = (a.SendMessage, a.FetchMessages, a.Search)
"""What the protocol lists, in its order."""
VERBS = Verbs((*SPOKEN, a.Wait, a.Leave))
"""What can be executed: agents of ours wait and leave as well. Registering has a route of its own."""
KEY = "idempotency_key"
TEXT_TOO = "akinai_text"
"""In the metadata of an envelope: the answer's metadata shall hold what a session in process tells, for our agents."""

Table = Mapping[str, Any]


class Malformed(ValueError):
    """A body that is not what its route takes: answered with 422, and no entry."""

    def __init__(self, where: Sequence[str], why: str) -> None:
        super().__init__(why)
        self.where, self.why = ("body", *where), why

    @property
    def detail(self) -> list[dict[str, Json]]:
        """As the answer tells it."""
        return [{"type": "malformed", "loc": list(self.where), "msg": self.why}]


@dataclass(frozen=True, slots=True)
class Request:
    """An envelope that parsed, and the action in it, which may be an `Unreadable`."""

    name: str
    given: Table
    """The parameters as they came."""
    action: Action
    text_too: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent is answered."""

    body: bytes
    name: str
    """Of the verb, "unreadable" for none."""
    code: str
    """Of a refusal; "ok" for none."""


def read_json(body: bytes) -> Any:
    """The value of a JSON body. Malformed when it is none, NaN and infinities included."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # What orjson refuses and JSON allows, such as half a surrogate pair, is for the rules to refuse.
        try:
            return json.loads(body, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise Malformed((), f"the body is not JSON: {str(error)[:200]}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def read_request(body: bytes) -> Request:
    """The request in the body of `/actions/execute`. Malformed when its envelope does not parse.

    Parameters that do not fit give an `Unreadable` action: its refusal is an entry.
    """
    envelope = _object(read_json(body), ())
    name, parameters, metadata = envelope.get("name"), envelope.get("parameters"), envelope.get("metadata")
    if not isinstance(name, str):
        raise Malformed(("name",), "the name of the action should be text")
    given = {} if parameters is None else _object(parameters, ("parameters",))
    if metadata is None:
        return Request(name, given, _spoken(name, given, body))
    told = _object(metadata, ("metadata",))
    given = _with_key(given, told)
    return Request(name, given, _spoken(name, given, body), told.get(TEXT_TOO) is True)


def _object(value: object, where: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(where, f"a JSON object is expected, not {_kind(value)}")
    return cast("dict[str, Any]", value)


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "nothing")


def _with_key(given: dict[str, Any], metadata: Table) -> dict[str, Any]:
    """An idempotency key in the envelope means the same as one in the message's own metadata."""
    own: object = given.get("metadata", {})
    if KEY not in metadata or not isinstance(own, dict) or KEY in own or "to_agent_id" not in given:
        return given
    return {**given, "metadata": {**cast("Table", own), KEY: metadata[KEY]}}


def _spoken(name: str, given: Table, body: bytes) -> Action:
    """The action that parameters say: `type` names it, `name` where that is missing; the two must agree."""
    if "type" not in given:
        return _heard(name, given, body)
    kind = given["type"]
    if not isinstance(kind, str):
        return _unreadable(body, "the type of the action should be text", "bad_parameters")
    if _plain(name) != _plain(kind):
        why = f"the name says {name!r:.100} and the type {kind!r:.100}; send the same in both"
        return _unreadable(body, why, "bad_parameters")
    return _heard(kind, {field: value for field, value in given.items() if field != "type"}, body)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _heard(name: str, given: Table, body: bytes) -> Action:
    """As the ledger would give it back: numbers are settled before they are read."""
    if name in _PLAIN_VERBS and _is_plain(body) and not _free(given):
        try:
            return _PLAIN_VERBS[name].model_validate(settled(given))
        except ValueError:
            pass  # told in the same words as anywhere else, below
    action = VERBS.heard(name, given, _text(body))
    return action if isinstance(action, Unreadable) else VERBS.settled(action)


_PLAIN_VERBS: Mapping[str, type[Action]] = {
    spelling: verb for verb in SPOKEN for spelling in (verb.__name__, verb.tool_name())
}


def _is_plain(body: bytes) -> bool:
    """No text in it can be one that no store keeps, and nothing is nested too deep."""
    return b"\\" not in body and body.count(b"[") + body.count(b"{") <= MOST_LEVELS


def _free(given: Table) -> bool:
    """Whether metadata holds more than texts: then it needs a closer look than the fields of a verb."""
    metadata: object = given.get("metadata")
    if isinstance(metadata, dict):
        return not all(isinstance(value, str) for value in cast("Table", metadata).values())
    return metadata is not None


def _unreadable(body: bytes, why: str, code: Any = "no_action") -> Unreadable:
    return Unreadable.of(_text(body), why, code)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def answer(world: Market, state: State, turn: Turn, request: Request, outcome: Outcome) -> Told:
    """What is answered to a request: `outcome` as the ledger keeps it, `state` after it."""
    verb = _NAMES[type(turn.action)]
    if not outcome.ok:
        return Told(_refusal(outcome, request), verb, outcome.code or "refused")
    metadata: dict[str, Json] = {}
    match turn.action:
        case a.SendMessage() as action:
            content, metadata["status"] = _sent(state, turn, action, request, outcome), "sent"
        case a.FetchMessages() as action:
            content = _fetched(state, turn, action)
        case a.Search() as action:
            content = rules.shown(state, action, rules.found(state, turn.actor, action))
        case _:
            content = {"text": outcome.text}
    if request.text_too:
        told = world.told(state, turn, outcome)
        metadata["text"] = told.text
        if not isinstance(turn.action, a.FetchMessages | a.Search):
            metadata["data"] = told.data
    return Told(_dumped({"content": content, "is_error": False, "metadata": metadata}), verb, "ok")


_NAMES: Mapping[type[Action], str] = {verb: verb.tool_name() for verb in VERBS.classes} | {Unreadable: "unreadable"}


def _fetched(state: State, turn: Turn, action: a.FetchMessages) -> dict[str, Any]:
    """The messages, their JSON as it was made for the digest of the fetch."""
    found = mail.select(state, turn.actor, turn.at, action)
    if found is None or not found.mails:
        return {"messages": [], "has_more": False}
    return {"messages": orjson.Fragment(found.text), **mail.told_beside(state, turn, found)}


def _refusal(outcome: Outcome, request: Request) -> bytes:
    content: dict[str, Json] = {"error_type": outcome.code, "code": outcome.code, "message": outcome.text}
    if outcome.code == "unknown_recipient":
        content = {"error": outcome.text}
    error: dict[str, Json] = {"code": outcome.code, "message": outcome.text}
    own: dict[str, Json] = {"data": outcome.data} if request.text_too else {}
    return _dumped({"content": content, "is_error": True, "metadata": {"error": error, **own}})


def _sent(state: State, turn: Turn, action: a.SendMessage, request: Request, outcome: Outcome) -> dict[str, Json]:
    """The message as it came, with what its sender left out. One that was sent before is told as it was then."""
    message: Json = request.given.get("message")
    at = turn.at
    index = cast("Mapping[str, int]", outcome.data)["index"]
    if index != turn.seq and (first := _delivered(state, turn.actor, action.to_agent_id, index)):
        at = first.at
        if first.message != action.message:
            message = first.message.model_dump(mode="json")
    return {
        "type": "send_message",
        "from_agent_id": turn.actor,
        "to_agent_id": action.to_agent_id,
        "created_at": action.created_at or iso(at),
        "message": message,
        "metadata": action.metadata,
    }


def _delivered(state: State, sender: str, to: str, index: int) -> Any:
    box = state.box(to, sender)
    return next((mail for place in range(box.count) if (mail := box.by_place[place]).index == index), None)


def _dumped(value: object) -> bytes:
    return orjson.dumps(value, default=_default)


def _default(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def dumped(value: Json) -> bytes:
    """The JSON of any answer; text that UTF-8 cannot hold is escaped."""
    try:
        return _dumped(value)
    except TypeError:
        return json.dumps(value, default=_default, allow_nan=False).encode()


def read_profile(body: bytes) -> dict[str, Any]:
    """The profile in the body of `/agents/register`. Malformed when there is none that can be kept."""
    profile = _object(_object(read_json(body), ()).get("agent"), ("agent",))
    id, metadata = profile.get("id"), profile.get("metadata")
    if not isinstance(id, str) or not id:
        raise Malformed(("agent", "id"), "the id should be a text that is not empty")
    if id != id.strip() or any(letter < " " or letter == "\x7f" for letter in id):
        raise Malformed(("agent", "id"), "a header cannot hold the id: no control characters, no space at its ends")
    if not isinstance(metadata, dict | None):
        raise Malformed(("agent", "metadata"), f"a JSON object is expected, not {_kind(metadata)}")
    if why := unfit_in(profile) or bad_text_in(profile):
        raise Malformed(("agent",), f"a value in it {why}")
    return {**profile, "metadata": metadata or {}}


def registration(profile: Mapping[str, Any], state: State) -> a.Register:
    """The action of registering. One of the run's population that says no more than its id keeps its own profile."""
    member = state.members.get(profile["id"])
    if member is not None and member.number is not None and not set(profile) - {"id", "metadata"}:
        return a.Register()
    return cast("a.Register", VERBS_WITH_REGISTER.settled(a.Register(profile=dict(profile))))


VERBS_WITH_REGISTER = Verbs((a.Register,))

LEVELS = ("debug", "info", "warning", "error")


def read_log(body: bytes) -> dict[str, Any]:
    """The line in the body of `/logs/create`. Malformed when there is none."""
    line = _object(_object(read_json(body), ()).get("log"), ("log",))
    if line.get("level") not in LEVELS:
        raise Malformed(("log", "level"), f"the level is one of {', '.join(LEVELS)}")
    if not isinstance(line.get("name"), str):
        raise Malformed(("log", "name"), "the name should be text")
    if not isinstance(line.get("message"), str | None):
        raise Malformed(("log", "message"), f"text is expected, not {_kind(line.get('message'))}")
    if not isinstance(line.get("metadata"), dict | None):
        raise Malformed(("log", "metadata"), f"a JSON object is expected, not {_kind(line.get('metadata'))}")
    if why := unfit_in(line):
        raise Malformed(("log",), f"a value in it {why}")
    return line


def protocol() -> list[dict[str, Any]]:
    """The verbs as `/actions/protocol` lists them, parameters as JSON Schema."""
    return [_described(verb) for verb in SPOKEN]


def _described(verb: type[a.SendMessage | a.FetchMessages | a.Search]) -> dict[str, Any]:
    schema = verb.model_json_schema()
    kind = {"const": verb.tool_name(), "type": "string", "default": verb.tool_name()}
    schema["properties"] = {"type": kind, **schema["properties"]}
    return {"name": verb.__name__, "description": schema.pop("description", ""), "parameters": schema, "metadata": {}}


def listing(items: Sequence[Json], total: int, offset: int, limit: int | None) -> dict[str, Json]:
    """A page of a list."""
    more = offset + len(items) < total
    return {
        "error": None,
        "total": total,
        "offset": offset,
        "limit": total if limit is None else limit,
        "has_more": more,
        "items": list(items),
    }
