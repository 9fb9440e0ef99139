"""Access to the studio: a browser under an allowed name sends the token once, and keeps it in a cookie."""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from akinai.runtime.http.allowed_hosts import AllowedHosts

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN = "token"
SAFE_METHODS = ("GET", "HEAD")
STATIC = "/static/"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
)
"""Headers of every answer. The page itself says what it may load."""


class Access:
    """ASGI middleware: checks Host, Origin and token before anything else sees a request.

    A request that changes something must come from a page of this very server.
    """

    def __init__(self, app: App, token: str, hosts: AllowedHosts, port: int) -> None:
        self._app, self._token, self._hosts = app, token, hosts
        self._cookie = f"akinai-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = list(scope["headers"])
        why = self._hosts.refuse(headers) or _foreign(scope["method"], dict(headers))
        if why:
            return await _answer(send, 403, f"{why}\n")
        if scope["path"].startswith(STATIC) or self._is_token(self._cookie_token(headers)):
            return await self._app(scope, receive, _with_headers(send))
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and self._is_token(dict(query).get(TOKEN, "")):
            return await self._welcome(scope["path"], [pair for pair in query if pair[0] != TOKEN], send)
        return await _answer(send, 401, "Open the address with the token that 'akinai studio' printed.\n")

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._token.encode())

    def _cookie_token(self, headers: list[tuple[bytes, bytes]]) -> str:
        """The token in the cookie; empty without one."""
        for name, value in headers:
            if name == b"cookie":
                try:
                    cookies = SimpleCookie(value.decode("latin-1"))
                except CookieError:
                    continue
                if self._cookie in cookies:
                    return cookies[self._cookie].value
        return ""

    async def _welcome(self, path: str, query: list[tuple[str, str]], send: Send) -> None:
        """Keep the token in a cookie and lead to the same page without it in the address."""
        # A path of two slashes would lead to another machine.
        target = quote("/" + path.lstrip("/")) + (f"?{urlencode(query)}" if query else "")
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, 303, "", ((b"location", target.encode()), (b"set-cookie", cookie.encode())))


def _foreign(method: str, headers: dict[bytes, bytes]) -> str | None:
    """Why a request that changes something is refused; None for one from a page of this server."""
    if method in SAFE_METHODS:
        return None
    origin, host = headers.get(b"origin", b"").decode("latin-1"), headers.get(b"host", b"").decode("latin-1")
    return None if origin and urlsplit(origin).netloc == host else "Only a page of this studio may change anything"


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message["headers"])
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*headers, *HEADERS]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, text: str, more: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    body = text.encode("utf-8", "replace")
    kind = (b"content-type", b"text/plain; charset=utf-8")
    headers = [kind, (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store"), *HEADERS, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
