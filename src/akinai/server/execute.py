"""The hot route, `POST /actions/execute`, and how bodies are read and requests refused."""

import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from akinai.core.canonical import Json
from akinai.core.errors import StoreError
from akinai.core.ledger import Outcome, Turn
from akinai.server import wire
from akinai.server.authentication import Authentication, Credentials, Unauthorized
from akinai.server.market import HostedMarket, LookAlike, Overloaded, WrongToken
from akinai.server.metrics import Metrics
from akinai.server.wire import Answer, Malformed
from akinai.worlds.market import State

MAX_BODY_BYTES = 1_048_576
MAX_LOG_BYTES = 8 * MAX_BODY_BYTES
"""A log line may be larger than an action: the public agents log whole model calls."""
EXECUTE_PATH = "/actions/execute"
RETRY_S = 1

Headers = Iterable[tuple[bytes, bytes]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class TooLarge(Exception):
    """A body above its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is above {limit:,} bytes; send less")


class Disconnected(Exception):
    """The client went away before its body was complete; nobody reads an answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The HTTP answer of a route; the body is JSON."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])


def refusal(status: int, detail: Json, code: str = "") -> Reply:
    """An answer with a 4xx or 5xx status. Refusals by the market's rules are answers with status 200."""
    body: dict[str, Json] = {"detail": detail}
    if code:
        body["error"] = {"code": code, "message": detail}
    return Reply(status, wire.encode(body), _HEADERS.get(status, {}))


_HEADERS = {
    401: {"www-authenticate": "Bearer"},
    429: {"retry-after": str(RETRY_S)},
    503: {"retry-after": str(RETRY_S)},
}


async def reply_or_refusal(work: Awaitable[Reply]) -> Reply:
    """The reply of `work`, or a refusal when it raises an error that a client may see."""
    try:
        return await work
    except Malformed as error:
        return refusal(422, error.detail)
    except TooLarge as error:
        return refusal(413, str(error))
    except Disconnected as error:
        return refusal(400, str(error))
    except Unauthorized as error:
        return refusal(error.status, error.why)
    except WrongToken:
        return refusal(401, "The id is registered already; to change its profile send Authorization: Bearer its token")
    except LookAlike as error:
        return refusal(422, str(error), "look_alike")
    except Overloaded:
        return refusal(429, "Too many requests wait; try again in a second", "overloaded")
    except StoreError:
        why = "The market could not keep the action, so it was not done; try again with the same idempotency_key"
        return refusal(503, why, "store_unavailable")


class ExecuteRoute:
    """Reads an action, passes it to the market, and answers when it is durable."""

    def __init__(self, market: HostedMarket, authentication: Authentication, metrics: Metrics) -> None:
        self._market, self._authentication, self._metrics = market, authentication, metrics

    async def __call__(self, headers: Headers, receive: Receive) -> Reply:
        return await reply_or_refusal(self._act(headers, receive))

    async def _act(self, headers: Headers, receive: Receive) -> Reply:
        actor = await self._authentication.agent(Credentials.of(headers))
        body = await read_body(receive)
        started = time.perf_counter()
        request, world = wire.read_request(body), self._market.world

        def respond(state: State, turn: Turn, outcome: Outcome) -> Answer:
            return wire.encode_answer(world, state, turn, request, outcome)

        answer = await self._market.act(actor, request.action, respond)
        self._metrics.acted(answer.verb, answer.code, time.perf_counter() - started)
        return Reply(200, answer.body)


async def read_body(receive: Receive, limit: int = MAX_BODY_BYTES) -> bytes:
    """The body of a request. TooLarge above the limit, Disconnected.

    The connection discards what is left of a body, so that its sender reads the answer.
    """
    chunks, length, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected("The client disconnected")
        chunk: bytes = message.get("body", b"")
        length += len(chunk)
        if length > limit:
            raise TooLarge(limit)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
