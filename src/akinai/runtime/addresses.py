"""Addresses of model servers, as people give them."""

import ipaddress
from urllib.parse import urlsplit

from akinai.core.errors import UsageError
from akinai.runtime.keys import without_keys


def checked_address(base_url: str | None) -> str | None:
    """The address of a server, without a slash at its end. UsageError for none, and for one that holds a key."""
    if not base_url:
        return None
    if without_keys(base_url) != base_url:
        raise UsageError("--base-url holds a password or a key, which would be written into the run card; leave it out")
    try:
        parts = urlsplit(base_url)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        fits = False
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
