"""Authentication: the X-Agent-Id header alone on loopback, otherwise a token given at registration."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from akinai.server.market import HostedMarket

NAME, BEARER = b"x-agent-id", b"authorization"


class Unauthorized(Exception):
    """A request that may not be served, with the HTTP status and a sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True, slots=True)
class Credentials:
    """The agent id and the token that a request carries."""

    agent_id: str | None
    token: str

    @staticmethod
    def of(headers: Iterable[tuple[bytes, bytes]]) -> "Credentials":
        """From raw headers with names in lower case. An agent id may be any text in UTF-8."""
        agent_id: str | None = None
        token = ""
        for key, value in headers:
            if key == NAME:
                agent_id = _text(value)
            elif key == BEARER:
                scheme, _, rest = _text(value).partition(" ")
                token = rest.strip() if scheme.lower() == "bearer" else ""
        return Credentials(agent_id, token)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def digest(token: str) -> str:
    """The stored form of a token. A token has 256 random bits, so a plain SHA-256 hides it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token() -> str:
    """A random token of 256 bits."""
    return secrets.token_urlsafe(32)


class Authentication:
    """Checks who sends a request. `operator` is the digest of the operator's token."""

    def __init__(self, market: HostedMarket, *, tokens: bool = False, operator: str = "") -> None:
        self.tokens = tokens
        self._market, self._operator = market, operator

    async def agent(self, credentials: Credentials) -> str:
        """The id of the agent that sends a request. Unauthorized (401) for no id, an unknown id, or a wrong token."""
        agent_id = credentials.agent_id
        if agent_id is None:
            raise Unauthorized(401, "X-Agent-Id header required")
        if not self._is_registered(agent_id):
            await self._market.refresh()  # it may have registered at another server a moment ago
            if not self._is_registered(agent_id):
                raise Unauthorized(401, f"Agent {agent_id!r:.100} is not registered; POST it to /agents/register first")
        if self.tokens and not self._token_matches(credentials):
            raise Unauthorized(401, "Authorization: Bearer with the token that was given at registration is required")
        return agent_id

    async def own_view(self, credentials: Credentials) -> None:
        """The same check for a view. An id that nobody has registered yet needs no token."""
        if self.tokens and (credentials.agent_id or "") in self._market.committed.token_digests:
            await self.agent(credentials)

    def _is_registered(self, agent_id: str) -> bool:
        member = self._market.committed.state.members.get(agent_id)
        return member is not None and member.registered

    def _token_matches(self, credentials: Credentials) -> bool:
        expected = self._market.committed.token_digests.get(credentials.agent_id or "")
        return expected is not None and hmac.compare_digest(expected, digest(credentials.token))

    def operator(self, credentials: Credentials) -> None:
        """Unauthorized (401) when tokens are required and this is not the operator's."""
        if self.tokens and not hmac.compare_digest(self._operator, digest(credentials.token)):
            raise Unauthorized(
                401, "This is for the operator: Authorization: Bearer with the operator's token is required"
            )
