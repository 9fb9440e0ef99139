"""Addresses and tokens of seats, for servers that serve them over HTTP."""

import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from akinai.api.seat import own_actors
from akinai.api.session import AsyncSession
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.front import Answer, App, Auth, Guard, Receive, Scope, Send, refusal


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
    resumed: bool
    """Whether the run had begun before."""
    ending: str | None
    """Why the run is over; None while it goes on."""

    @staticmethod
    def of(session: AsyncSession, seats: Sequence[SeatAddress]) -> "SeatsServer":
        """The server of a session's seats."""
        return SeatsServer(session.id, seats, session.resumed, session.ending)


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


def by_path(apps: Mapping[str, App]) -> App:
    """An application that passes each request to the one at its path, or at the beginning of its path up to a slash."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        prefix = _prefix_of(scope, apps)
        assert prefix is not None, "the guard has seen the path"
        await apps[prefix](scope, receive, send)

    return application


def guard_of(seats: Sequence[SeatAddress], auth: Auth, public: str = "") -> Guard:
    """The guard of a server of seats: each has its token, save at its path followed by `public`."""
    tokens = {urlsplit(seat.url).path: seat.token for seat in seats}

    def admit(scope: Scope) -> Answer | None:
        prefix = _prefix_of(scope, tokens)
        if auth == "open":
            there = f"Nothing is here; there is {', '.join(tokens)}"
            return refusal(404, "not_found", there) if prefix is None else None
        if prefix is not None and public and scope["path"] == prefix + public:
            return None
        sent = dict(scope["headers"]).get(b"authorization", b"")
        if prefix is not None and hmac.compare_digest(sent, f"Bearer {tokens[prefix]}".encode()):
            return None
        return refusal(401, "unauthorized", "Send the token of this seat as Authorization: Bearer TOKEN")

    return Guard(AllowedHosts() if auth == "open" else None, admit=admit)


def _prefix_of(scope: Scope, prefixes: Iterable[str]) -> str | None:
    """The prefix that is the path of a request, or its beginning up to a slash."""
    path = str(scope["path"]).rstrip("/")
    return next((prefix for prefix in prefixes if path == prefix or path.startswith(f"{prefix}/")), None)
