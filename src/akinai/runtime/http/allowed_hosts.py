"""Checks Host and Origin headers, which keeps foreign web pages away from a server on this machine."""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

Headers = Iterable[tuple[bytes, bytes]]


class AllowedHosts:
    """The host names that a server on this machine accepts: its own, and those that its operator gives.

    A browser that visits a foreign page sends that page's name: as the Origin of a request to another server, or as the
    Host after its name was pointed at this machine.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {"localhost", *(name.lower() for name in names)}
        self._allows = lru_cache(100)(self._judge)  # a client sends the same names with each of its requests

    def refuse(self, headers: Headers) -> str | None:
        """Why a request is refused; None when it is not."""
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._allows(f"//{hosts[0]}"):
            return (
                f"The Host {', '.join(hosts)!r:.100} is not this machine; the operator may allow it with --allow-host"
            )
        for origin in (value.decode("latin-1") for name, value in headers if name == b"origin"):
            if not self._allows(origin):
                return f"The Origin {origin!r:.100} is a foreign page; the operator may allow it (--allow-host)"
        return None

    def _judge(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            name = parts.hostname or ""
            plain = "@" not in parts.netloc and not (parts.path or parts.query or parts.fragment)
            return plain and (name in self._names or ipaddress.ip_address(name).is_loopback)
        except ValueError:
            return False
