"""Authentication: the X-Agent-Id header alone on loopback, otherwise a token given at registration."""

import base64
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
        """Credentials in raw headers, whose names are in lower case. An agent id may be any text in UTF-8."""
        agent_id: str | None = None
        token = ""
        for key, value in headers:
            if key == NAME:
                agent_id = _text(value)
            elif key == BEARER:
                scheme, _, secret = _text(value).partition(" ")
                token = secret.strip() if scheme.lower() == "bearer" else ""
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
    """Checks who sends a request. Without `tokens` the header is trusted."""

    def __init__(self, market: HostedMarket, *, tokens: bool = False, operator_token: str = "") -> None:
        self.tokens = tokens
        self._market, self._operator_token = market, operator_token

    async def agent(self, credentials: Credentials) -> str:
        """The id of the agent that sends a request. Unauthorized (401) for no id, an unknown id, or a wrong token."""
        if (known_id := self.known(credentials)) is not None:
            return known_id
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

    def known(self, credentials: Credentials) -> str | None:
        """The id of the agent that sends a request; None where it is not known here, or its token is wrong."""
        agent_id = credentials.agent_id
        if agent_id is None or not self._is_registered(agent_id):
            return None
        return agent_id if not self.tokens or self._token_matches(credentials) else None

    async def own_view(self, credentials: Credentials) -> None:
        """Check who asks for a view of its own. An id that the run does not know needs no token."""
        if not self.tokens:
            return
        if (credentials.agent_id or "") in self._market.committed.token_digests:
            await self.agent(credentials)
        else:
            self.expect_claim(credentials.agent_id or "", credentials)

    async def profiles(self, credentials: Credentials) -> None:
        """Unauthorized (401) for everybody but registered agents and the operator."""
        if self.tokens and not (credentials.agent_id is None and self._is_operator(credentials)):
            await self.agent(credentials)

    def claim(self, agent_id: str) -> str:
        """The token that claims an id of the run's population. It is derived from the operator's token."""
        message = f"claim\0{self._market.header.run_id}\0{agent_id}".encode()
        mac = hmac.digest(self._operator_token.encode(), message, "sha256")
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()

    def claims(self) -> list[tuple[str, str]]:
        """Id and claim token of each known agent that has no token of its own yet."""
        head = self._market.committed
        ids = dict.fromkeys(
            [*head.state.roll, *(head.state.joined[number] for number in range(len(head.state.joined)))]
        )
        return [(id, self.claim(id)) for id in ids if id not in head.token_digests] if self.tokens else []

    def expect_claim(self, agent_id: str, credentials: Credentials) -> None:
        """Unauthorized (401) when an id is known, has no token yet, and the request does not carry its claim token."""
        head = self._market.committed
        if not self.tokens or agent_id not in head.state.members or agent_id in head.token_digests:
            return
        if not hmac.compare_digest(self.claim(agent_id), credentials.token.encode("ascii", "replace").decode()):
            why = "Authorization: Bearer with the token that the operator hands out for it is required"
            raise Unauthorized(401, f"Agent {agent_id!r:.100} is known here: {why}")

    def _is_registered(self, agent_id: str) -> bool:
        member = self._market.committed.state.members.get(agent_id)
        return member is not None and member.registered

    def _token_matches(self, credentials: Credentials) -> bool:
        expected = self._market.committed.token_digests.get(credentials.agent_id or "")
        return expected is not None and hmac.compare_digest(expected, digest(credentials.token))

    def operator(self, credentials: Credentials) -> None:
        """Unauthorized (401) when tokens are required and this is not the operator's."""
        if self.tokens and not self._is_operator(credentials):
            raise Unauthorized(
                401, "This is for the operator: Authorization: Bearer with the operator's token is required"
            )

    def _is_operator(self, credentials: Credentials) -> bool:
        return hmac.compare_digest(digest(self._operator_token), digest(credentials.token))
