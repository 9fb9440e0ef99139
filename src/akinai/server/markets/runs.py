"""The runs of served markets: found in the store, or made."""

from collections.abc import Sequence
from dataclasses import replace

from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import Books, RunHeader
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.agent_registry import HTTP_AGENT
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.planning import checked_name, expect_free, fresh_name, run_card
from akinai.server.markets.settings import ServeConfig
from akinai.server.spoofing import fault_in
from akinai.worlds.market import Market

OPEN_MARKET = {"open": True, "clock": "wall", "customers.purchases": 0, "customers.max_turns": 0}
"""A market in which anybody may register and trade as often as they like."""


async def find_or_create_runs(configs: Sequence[ServeConfig], store: Books) -> list[RunHeader]:
    """The run that each config names, or a new one. UsageError for a run that cannot be served; then none is made."""
    stored = await store.runs()
    headers, new = list[RunHeader](), list[RunHeader]()
    for config in configs:
        existing = next((run for run in stored if config.run is not None and run.run_id == config.run), None)
        if existing is not None:
            headers.append(_resumed_header(existing, config))
        else:
            name = checked_name(config.run) if config.run else fresh_name([*stored, *new])
            headers.append(_new_header(config, name))
            new.append(headers[-1])
    expect_free(stored, new)
    for header in new:
        await store.create(header)
    return headers


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
