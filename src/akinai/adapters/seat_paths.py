"""Addresses and tokens of seats, for servers that serve them over HTTP."""

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from akinai.api.seat import own_actors
from akinai.api.session import AsyncSession
from akinai.core.errors import UsageError

Auth = Literal["open", "token"]
Application = Callable[[Any, Any, Any], Any]
"""An ASGI application."""


@dataclass(frozen=True, slots=True)
class SeatAddress:
    """The address of a seat that clients can take."""

    actor: str
    url: str
    """Address of the seat; empty over stdio."""
    token: str
    """Sent as `Authorization: Bearer TOKEN`; empty where none is needed."""


@dataclass(frozen=True, slots=True)
class SeatsServer:
    """A server that listens."""

    run_id: str
    seats: Sequence[SeatAddress]


def seats_at(session: AsyncSession, address: str, protocol: str, auth: Auth) -> Sequence[SeatAddress]:
    """The address of each actor's seat:  /PROTOCOL/RUN; at /PROTOCOL/RUN/ACTOR where there are several."""
    actors = own_actors(session)
    base = f"{address}/{protocol}/{session.id}"
    return [
        SeatAddress(
            actor,
            base + (f"/{actor}" if len(actors) > 1 else ""),
            secrets.token_urlsafe(24) if auth == "token" else "",
        )
        for actor in actors
    ]


def expect_safe(host: str, auth: Auth) -> None:
    """UsageError if anybody could play from another machine."""
    if auth == "open" and host not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(f"on --host {host!r} anybody could play; add --auth token, or listen on 127.0.0.1")


def by_path(apps: Mapping[str, Application]) -> Application:
    """An application that passes each request to the one at its path, or at the beginning of its path up to a slash."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        path = str(scope.get("path", "")).rstrip("/")
        app = next((apps[prefix] for prefix in apps if path == prefix or path.startswith(f"{prefix}/")), None)
        if app is None:
            await refuse(send, 404, f"nothing is here; there is {', '.join(apps)}")
        else:
            await app(scope, receive, send)

    return application


def guarded(app: Application, token: str, public: str = "") -> Application:
    """An application that requires a token, except at the path `public`; an empty token lets everybody in."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"")
        is_public = bool(public) and scope.get("path") == public
        if token and not is_public and not hmac.compare_digest(sent, f"Bearer {token}".encode()):
            await refuse(send, 401, "send the token of this seat as Authorization: Bearer TOKEN")
        else:
            await app(scope, receive, send)

    return application


async def refuse(send: Any, status: int, why: str) -> None:
    """Answer with a status and a sentence."""
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why.encode()})
