"""The settings of a server, and the names and populations of its markets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from akinai.core.errors import UsageError
from akinai.runtime.runs.planning import checked_name

MOST_MARKETS = 100
"""Markets of one server; each is a process."""

Auth = Literal["open", "token"]


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The settings of a server."""

    data: str | None = None
    """A folder with a population; None for an empty market."""
    run: str | None = None
    """The name of the run. An existing run continues."""
    store: str = "akinai.db"
    host: str = "127.0.0.1"
    port: int = 8000
    auth: Auth = "open"
    operator_token: str | None = None
    """Used with `auth="token"`; None makes one."""
    allow_host: Sequence[str] = ()
    """Host names besides this machine's under which the market may be reached, with `auth="open"`."""
    world: str | None = None
    """The world whose sessions are served; None for a market, beside which sessions of every world are."""
    playbooks: Sequence[str] = ()
    """Names or paths of the playbooks that are served as JSON."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of a new market, besides those of every served market."""
    markets: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Further markets at `/m/NAME`: the names of their runs, and the folders with their populations."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The address and the run of a server that listens."""

    url: str
    run_id: str
    """The run of the market; empty for a server of sessions alone."""
    entries: int
    """The number of entries when it started; 0 for a new run."""
    agents: int
    operator_token: str
    """Empty when the config names it or no token is needed."""
    claims: int
    """The number of known agents that register with a token of the operator's."""
    markets: Sequence[str] = ()
    """The markets at `/m/NAME`, that at `/` among them; empty where there is only that."""


def read_markets(words: Sequence[str]) -> tuple[str | None, Mapping[str, str | None]]:
    """The population of the market at `/`, and further markets with theirs, from DIR and NAME=DIR.

    `NAME=` is a market without a population. A folder with '=' in its name is written './a=b'. UsageError for a bad
    name, a name that is there twice, and two populations of the market at `/`.
    """
    data, markets = None, dict[str, str | None]()
    for word in words:
        name, named, folder = word.partition("=")
        if not named or "/" in name:
            if data is not None:
                raise UsageError(
                    f"--market {data!r:.100} and {word!r:.100} are two populations of the market at /; "
                    "NAME=DIR is a market of its own at /m/NAME"
                )
            data = word
        elif name in markets:
            raise UsageError(f"--market names {name!r:.100} twice; give each market a name of its own")
        else:
            markets[checked_name(name)] = folder or None
    return data, markets


def expect_safe(config: ServeConfig) -> None:
    """UsageError when other machines could act under any name, an allowed host is no name, or markets are asked for
    that a server of sessions or a store in memory cannot have."""
    if config.world is not None and (config.data or config.run or config.markets):
        option = "--run" if config.run else "--market"
        raise UsageError(f"{option} belongs to a market, which 'akinai serve' without a world serves; leave it out")
    if config.markets and config.store.startswith("memory:"):
        raise UsageError(
            "several markets are several processes, which share no store in memory; choose another --store"
        )
    if config.run in config.markets:
        raise UsageError(f"--run and --market both name {config.run!r}; give each market a name of its own")
    if len(config.markets) >= MOST_MARKETS:
        raise UsageError(f"a server has at most {MOST_MARKETS} markets, not {len(config.markets) + 1}")
    for name in config.allow_host:
        if not re.fullmatch(r"[\w.-]+|[0-9a-fA-F:.]+", name):
            raise UsageError(f"--allow-host takes the name of a host, such as market.example, not {name!r:.100}")
    if config.auth == "open" and config.host not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(
            f"on --host {config.host!r} anybody could act under any name; add --auth token, or listen on 127.0.0.1"
        )
