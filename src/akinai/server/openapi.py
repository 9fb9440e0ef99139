"""The OpenAPI description of each route: the shapes of bodies and answers."""

from typing import Any

from akinai.server import wire

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TABLE: Schema = {"type": "object"}
NOTHING: Schema = {"type": "null"}


def _table(required: str = "", **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required.split()}


def _or_none(schema: Schema) -> Schema:
    return {"anyOf": [schema, NOTHING]}


def _route(answer: Schema, *refusals: int, body: Schema | None = None) -> dict[str, Any]:
    """The arguments of a route's decorator."""
    descriptions = {200: "Done.", 401: "Not let in.", 404: "Not there.", 413: "Too large.", 422: "Does not parse."}
    descriptions |= {429: "Too many wait; try again.", 503: "Could not be kept, so it was not done; try again."}
    detail = _table("detail", detail={}, error=TABLE)
    responses = {status: _of(descriptions[status], detail) for status in refusals} | {
        200: _of(descriptions[200], answer)
    }
    extra = {"openapi_extra": {"requestBody": {"required": True, "content": _json(body)}}} if body else {}
    return {"response_model": None, "responses": responses, **extra}


def _of(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": _json(schema)}


def _json(schema: Schema | None) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


_PROFILE = _table("id", id=TEXT, metadata=TABLE)
_VERB = _table("name description parameters metadata", name=TEXT, description=TEXT, parameters=TABLE, metadata=TABLE)
_LOG = _table(
    "level name",
    level={"enum": list(wire.LEVELS)},
    name=TEXT,
    message=_or_none(TEXT),
    data={},
    metadata=_or_none(TABLE),
)
_ENVELOPE = _table(
    "name",
    name={"type": "string", "examples": [verb.__name__ for verb in wire.LISTED]},
    parameters={"type": "object", "description": "as /actions/protocol describes them"},
    metadata=_or_none(TABLE),
)
_FLAG: Schema = {"type": "boolean"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_PAGE = _table(
    "error total offset limit has_more items",
    error=NOTHING,
    total=_WHOLE,
    offset=_WHOLE,
    limit=_or_none(_WHOLE),
    has_more=_FLAG,
    items={"type": "array", "items": TABLE},
)

REGISTER = _route(
    _table("error id", error=NOTHING, id=TEXT, token=TEXT),
    401,
    413,
    422,
    429,
    503,
    body=_table("agent", agent=_PROFILE),
)
LISTING = _route(_PAGE, 401, 422)
AGENT = _route(_table("error agent", error=NOTHING, agent=_PROFILE), 401, 404)
_VIEW = _table(
    "text verbs mail wait",
    text=TEXT,
    verbs={"type": "array", "items": TEXT},
    closed=_or_none(TEXT),
    news=TEXT,
    mail=_FLAG,
    wait=TEXT,
)
VIEW = _route(_VIEW, 401, 422)
PROTOCOL = _route(_table("error actions", error=NOTHING, actions={"type": "array", "items": _VERB}))
EXECUTE = _route(
    _table("content is_error metadata", content={}, is_error=_FLAG, metadata=TABLE),
    *(401, 413, 422, 429, 503),
    body=_ENVELOPE,
)
LOG = _route(_table("error", error=NOTHING), 401, 413, 422, 429, body=_table("log", log=_LOG))
HEALTH = _route(_table("status", status=TEXT))
METRICS: dict[str, Any] = {
    "response_model": None,
    "responses": {
        200: {"description": "Text for Prometheus.", "content": {"text/plain": {"schema": TEXT}}},
        401: _of("Not let in.", _table("detail", detail=TEXT)),
    },
}
