"""The settings of a server, and the run of its market: found in the store, or made."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import Books, RunHeader
from akinai.runtime.config.settings import prepare
from akinai.runtime.http import front
from akinai.runtime.http.front import Auth
from akinai.runtime.play.agent_registry import HTTP_AGENT
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.planning import checked_name, expect_free, fresh_name, run_card
from akinai.runtime.seal import Key, expect_key, load_optional
from akinai.server.spoofing import fault_in
from akinai.worlds.market import Market

OPEN_MARKET = {"open": True, "clock": "wall", "customers.purchases": 0, "customers.max_turns": 0}
"""A market in which anybody may register and trade as often as they like."""


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
    key: str | Path | None = None
    """The file of a key: games are sealed, and dealt in the order of their numbers."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of a new market, besides those of every served market."""


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


def expect_safe(config: ServeConfig) -> None:
    """UsageError when other machines could act under any name, an allowed host is no name, or a server of sessions has
    options of a market."""
    if config.world is not None and (config.data or config.run):
        option = "--run" if config.run else "--market"
        raise UsageError(f"{option} belongs to a market, which 'akinai serve' without a world serves; leave it out")
    for name in config.allow_host:
        if not re.fullmatch(r"[\w.-]+|[0-9a-fA-F:.]+", name):
            raise UsageError(f"--allow-host takes the name of a host, such as market.example, not {name!r:.100}")
    front.expect_safe(config.host, config.auth, "act under any name")


async def find_or_create_run(config: ServeConfig, store: Books) -> RunHeader:
    """The run that the config names, or a new one. UsageError for a run that cannot be served."""
    stored = await store.runs()
    existing = next((run for run in stored if config.run is not None and run.run_id == config.run), None)
    key = load_optional(config.key)
    if existing is not None:
        expect_key(key, [existing], "going on with")
        return _resumed_header(existing, config)
    header = _sealed(_new_header(config, checked_name(config.run) if config.run else fresh_name(stored)), key)
    expect_free(stored, [header])
    await store.create(header)
    if key is not None:
        key.note([header])
    return header


def _sealed(header: RunHeader, key: Key | None) -> RunHeader:
    """The header on the next game of a key; as it is without one."""
    if key is None:
        return header
    genesis, preset = header.genesis, str(header.card.get("preset"))
    index = key.next_index(genesis.world, preset)
    seed = key.seed_of(genesis.world, preset, index)
    return replace(header, genesis=replace(genesis, seed=seed), card={**header.card, **key.sealed(index).card()})


def _new_header(config: ServeConfig, name: str) -> RunHeader:
    world = Market()
    prepared = prepare(
        world, settings={**OPEN_MARKET, **config.settings, **({"data": config.data} if config.data else {})}
    )
    card = run_card(world.name, HTTP_AGENT, prepared.preset, prepared.preset_sha256)
    genesis = Genesis(world.name, 1, prepared.setup)
    for id in world.begin(genesis).roll:
        if fault := fault_in(id):
            raise UsageError(f"the id {id!r:.100} in the population {fault}")
    return RunHeader(name, genesis, agents={"agents": HTTP_AGENT}, created_at=clock_us(), card=card)


def _resumed_header(run: RunHeader, config: ServeConfig) -> RunHeader:
    if run.damage:
        raise UsageError(f"the run {run.run_id!r} is damaged: {run.damage}; choose another --run")
    if run.genesis.world != Market.name or not run.genesis.setup.get("open"):
        raise UsageError(
            f"the run {run.run_id!r} is of {run.genesis.world} and not an open market; choose another --run"
        )
    if config.data and _new_header(config, run.run_id).genesis.setup["data"] != run.genesis.setup["data"]:
        raise UsageError(
            f"the run {run.run_id!r} began with another population than {config.data!r}; leave --market out to go on "
            "with it, or choose another --run"
        )
    return replace(run, status="open", ending=None)
