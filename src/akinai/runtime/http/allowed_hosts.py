"""Checks Host and Origin headers, which keeps foreign web pages away from a server on this machine."""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

Headers = Iterable[tuple[bytes, bytes]]


class AllowedHosts:
    """The host names that a server on this machine accepts: its own, and those that its operator gives.

    A browser that visits a foreign page sends that page's name: as the Origin of a request to another server, or as the
    Host after its name was pointed at this machine. Another port is another page: what is there may be anybody's.
    """

    def __init__(self, names: Iterable[str] = (), pages: Iterable[str] = ()) -> None:
        """`pages` are names whose pages may send requests, from any port; otherwise only the server's own may."""
        self._names = {"localhost", *(name.lower() for name in names)}
        self._pages = frozenset(name.lower() for name in pages)
        self._judged = lru_cache(100)(self._judge)  # a client sends the same names with each of its requests

    def refuse(self, headers: Headers) -> str | None:
        """Why a request is refused; None when it is not."""
        hosts, origins = list[bytes](), list[bytes]()
        for name, value in headers:
            if name == b"host":
                hosts.append(value)
            elif name == b"origin":
                origins.append(value)
        return self._judged(tuple(hosts), tuple(origins))

    def _judge(self, hosts: tuple[bytes, ...], origins: tuple[bytes, ...]) -> str | None:
        names = [host.decode("latin-1") for host in hosts]
        if len(names) != 1 or not self._is_own(_parts_of(f"//{names[0]}")):
            return (
                f"The Host {', '.join(names)!r:.100} is not this machine; the operator may allow it with --allow-host"
            )
        for origin in (value.decode("latin-1") for value in origins):
            parts = _parts_of(origin)
            if parts is None or (parts[0] != names[0].lower() and parts[1] not in self._pages):
                return f"The Origin {origin!r:.100} is a foreign page; the operator may allow it (--allow-host)"
        return None

    def _is_own(self, parts: tuple[str, str] | None) -> bool:
        try:
            return parts is not None and (parts[1] in self._names or ipaddress.ip_address(parts[1]).is_loopback)
        except ValueError:
            return False


def _parts_of(url: str) -> tuple[str, str] | None:
    """The host with its port, and its name, of a URL that has nothing else; None for other text."""
    try:
        parts = urlsplit(url)
        plain = "@" not in parts.netloc and not (parts.path or parts.query or parts.fragment)
        return (parts.netloc.lower(), parts.hostname or "") if plain else None
    except ValueError:
        return None
