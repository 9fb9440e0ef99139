"""Who may come in: by the header alone on loopback, or by a token that was given at registration."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from akinai.server.market import HostedMarket

NAME, BEARER = b"x-agent-id", b"authorization"


class Refused(Exception):
    """A request that is turned away at the door, as an HTTP status and a sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True, slots=True)
class Badge:
    """What a request says of its sender."""

    name: str | None
    token: str

    @staticmethod
    def of(headers: Iterable[tuple[bytes, bytes]]) -> "Badge":
        """From raw headers, names in lower case. An id may be any text in UTF-8."""
        name: str | None = None
        token = ""
        for key, value in headers:
            if key == NAME:
                name = _text(value)
            elif key == BEARER:
                scheme, _, rest = _text(value).partition(" ")
                token = rest.strip() if scheme.lower() == "bearer" else ""
        return Badge(name, token)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def digest(token: str) -> str:
    """What is kept of a token: it holds 256 random bits, so a plain SHA-256 hides it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


class Door:
    """Lets agents in under the name they may bear. `operator` is the digest of the operator's token."""

    def __init__(self, market: HostedMarket, *, tokens: bool = False, operator: str = "") -> None:
        self.tokens = tokens
        self._market, self._operator = market, operator

    async def agent(self, badge: Badge) -> str:
        """The id of the agent that sends a request. Refused with 401 without one, unknown, or without its token."""
        if badge.name is None:
            raise Refused(401, "X-Agent-Id header required")
        if not self._is_registered(badge.name):
            await self._market.look()  # it may have registered at another server a moment ago
            if not self._is_registered(badge.name):
                raise Refused(401, f"Agent {badge.name!r:.100} is not registered; POST it to /agents/register first")
        if self.tokens and not self._bears(badge):
            raise Refused(401, "Authorization: Bearer with the token that was given at registration is required")
        return badge.name

    async def own_view(self, badge: Badge) -> None:
        """The same for a view; one who has yet to register, and whom anybody may still become, needs no token."""
        if self.tokens and (badge.name or "") in self._market.committed.holders:
            await self.agent(badge)

    def _is_registered(self, id: str) -> bool:
        member = self._market.committed.state.members.get(id)
        return member is not None and member.registered

    def _bears(self, badge: Badge) -> bool:
        kept = self._market.committed.holders.get(badge.name or "")
        return kept is not None and hmac.compare_digest(kept, digest(badge.token))

    def operator(self, badge: Badge) -> None:
        """Refused with 401 under tokens without the operator's."""
        if self.tokens and not hmac.compare_digest(self._operator, digest(badge.token)):
            raise Refused(401, "This is for the operator: Authorization: Bearer with the operator's token is required")
