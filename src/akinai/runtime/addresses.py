"""Addresses of model servers, as people give them."""

import ipaddress
from urllib.parse import urlsplit

from akinai.core.errors import UsageError


def checked_address(base_url: str | None) -> str | None:
    """The address of a server, without a slash at its end. UsageError for none, and where a key could be in it."""
    if not base_url:
        return None
    try:
        parts = urlsplit(base_url)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        fits = parts = None
    if parts and (parts.username or parts.password or parts.query):
        raise UsageError(
            "--base-url holds a password or a query, and it would be written into the run card; "
            "leave them out and set the key in the environment"
        )
    if not fits:
        raise UsageError(f"--base-url is an address such as 'http://127.0.0.1:8000/v1', not {base_url!r:.200}")
    return base_url.rstrip("/")


def on_this_machine(address: str) -> bool:
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
