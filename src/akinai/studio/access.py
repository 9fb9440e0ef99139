"""Access to the studio: a browser sends the token once, and keeps it in a cookie."""

import hmac
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.front import Answer, Guard, Headers, Scope

TOKEN = "token"
STATIC = "/static/"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer. The page itself says what it may load."""


def guard_of(token: str, hosts: AllowedHosts, port: int) -> Guard:
    """The guard of a studio with this token. What changes something must come from a page of this very server."""
    return Guard(hosts, own_pages=True, admit=Access(token, port).answer, headers=HEADERS)


class Access:
    """Checks the token of a request."""

    def __init__(self, token: str, port: int) -> None:
        self._token, self._cookie = token, f"akinai-studio-{port}"

    def answer(self, scope: Scope) -> Answer | None:
        """The answer to a request without the token in its cookie; its address may bring the token. None otherwise."""
        if scope["path"].startswith(STATIC) or self._is_token(self._cookie_token(scope["headers"])):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope.get("method") == "GET" and self._is_token(dict(query).get(TOKEN, "")):
            return self._welcome(scope["path"], [pair for pair in query if pair[0] != TOKEN])
        text = b"Open the address with the token that 'akinai studio' printed.\n"
        return Answer(401, text, [(b"content-type", b"text/plain; charset=utf-8")])

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._token.encode())

    def _cookie_token(self, headers: Headers) -> str:
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

    def _welcome(self, path: str, query: Sequence[tuple[str, str]]) -> Answer:
        """Keep the token in a cookie and lead to the same page without it in the address."""
        # A path of two slashes would lead to another machine.
        target = quote("/" + path.lstrip("/")) + (f"?{urlencode(query)}" if query else "")
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        return Answer(303, b"", [(b"location", target.encode()), (b"set-cookie", cookie.encode())])
