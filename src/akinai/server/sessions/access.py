"""Permissions of the operator, of the token of a session, and of the token of a seat."""

import base64
import hmac

from akinai.api.seat import Seat, own_actors
from akinai.api.session import AsyncSession
from akinai.server.authentication import Credentials, Unauthorized
from akinai.server.sessions.hosting import HostedSession, SessionHost


class SessionAccess:
    """Checks the tokens of sessions. Without `tokens` everybody who reaches the server may do everything.

    A token follows from the operator's token, the run and the seat: it is stored nowhere, and lasts as long as the
    operator's does.
    """

    def __init__(self, host: SessionHost, *, tokens: bool, operator_token: str = "") -> None:
        self.tokens = tokens
        self._host, self._operator_token = host, operator_token

    def token(self, run_id: str, seat: str = "") -> str:
        """The token of a seat; of the whole session without one. Empty where none is needed."""
        if not self.tokens:
            return ""
        message = f"session\0{run_id}\0{seat}".encode()
        mac = hmac.digest(self._operator_token.encode(), message, "sha256")
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()

    def operator(self, credentials: Credentials) -> None:
        """Unauthorized (401) for everybody but the operator."""
        if self.tokens and not _same(self._operator_token, credentials):
            raise Unauthorized(401, "Authorization: Bearer with the operator's token is required")

    def session(self, name: str, credentials: Credentials) -> tuple[HostedSession, Seat[AsyncSession]]:
        """A session and the seat that may be played: one actor's, or that of all held actors.

        Unauthorized (401) for a token that is not of this session, UnknownName for a session that is not open here.
        """
        if not self.tokens or self._opens_whole(name, credentials):
            hosted = self._host.find(name)
            return hosted, Seat(hosted.session)
        hosted = self._host.sessions.get(name)
        for actor in own_actors(hosted.session) if hosted else ():
            if hosted and _same(self.token(name, actor), credentials):
                return hosted, Seat(hosted.session, actor)
        raise Unauthorized(401, "Authorization: Bearer with a token of this session is required")

    def whole_session(self, name: str, credentials: Credentials) -> None:
        """Unauthorized (401) for a token other than the session's or the operator's."""
        if self.tokens and not self._opens_whole(name, credentials):
            raise Unauthorized(401, "Authorization: Bearer with the token of the session is required")

    def member(self, credentials: Credentials) -> None:
        """Unauthorized (401) for a request without any token of this server."""
        if not self.tokens or _same(self._operator_token, credentials):
            return
        for name, hosted in self._host.sessions.items():
            if any(_same(self.token(name, actor), credentials) for actor in ("", *own_actors(hosted.session))):
                return
        raise Unauthorized(401, "Authorization: Bearer with a token of this server is required")

    def _opens_whole(self, name: str, credentials: Credentials) -> bool:
        return any(_same(token, credentials) for token in (self._operator_token, self.token(name)))


def _same(token: str, credentials: Credentials) -> bool:
    return hmac.compare_digest(token.encode(), credentials.token.encode("utf-8", "replace"))
