"""The stage of a command: its models, opened once for all runs, and the agents that ask them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, cast

from akinai.agents.chat import ChatAgent
from akinai.core.agents import Agent, AgentFactory, Role
from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.models import Model
from akinai.core.stores import RunHeader, Store
from akinai.core.trace import Books, TraceRecord
from akinai.core.worlds import World
from akinai.runtime.asking import Asking
from akinai.runtime.budget import Meter
from akinai.runtime.cast import CHAT, RULES, Cast, ModelChoice, cast_of
from akinai.runtime.casting import casting, default_agent
from akinai.runtime.config import settings_file
from akinai.runtime.prices import PRICES, Prices, read_prices
from akinai.runtime.recorded import figures
from akinai.runtime.response_cache import ResponseCache

CALLS = "calls"
"""In a run card: what the model calls came to."""


class Stage:
    """Gives each run the factory of its agents."""

    def __init__(
        self,
        cast: Cast,
        models: Mapping[ModelChoice, Model],
        sub_model: Model | None,
        cache: ResponseCache | None,
        prices: Prices,
        meter: Meter | None = None,
    ) -> None:
        """`meter` counts for all runs together; left out, each run has the cast's budget for itself."""
        self.cast = cast
        self._models, self._sub_model, self._cache, self._prices = models, sub_model, cache, prices
        self._meter = meter

    def factory(
        self, world: World[Any], header: RunHeader, store: Store, given: AgentFactory | None = None
    ) -> AgentFactory:
        """Who plays a run of this cast; `given` is its agent where that is an object. UsageError for an agent that is
        not there."""
        by_agent = None if self.cast.model else given or casting(world, self.cast.agent)
        by_rules = world.players[default_agent(world)]
        if not self._models:
            return by_agent or by_rules
        meter = self._meter or Meter(self.cast.budget, self._prices)
        asking = Asking(header.run_id, header.genesis.seed, cast("Books", store), meter, cache=self._cache)
        # The run's own: on one stage runs play by several playbooks.
        told = cast_of(header)

        def agent(role: Role) -> Agent:
            choice = self.cast.choice(role.group)
            if choice is None:
                assert by_agent is not None
                return by_agent(role)
            asked = self._sub_model if "/" in role.actor else self._models[choice]
            if asked is None:
                return by_rules(role)
            if not told.playbook:
                return ChatAgent(asking.asker(role.actor, asked), world.verbs, self.cast.manner, role.bullets)
            from akinai.runtime.lookup import ActorsLookup, searched

            lookup = ActorsLookup(searched(told.playbook, told.playbook_tokens))
            asker = asking.asker(role.actor, asked, lookup.noted)
            return ChatAgent(asker, world.verbs, self.cast.manner, lookup=role.lookup or lookup)

        return agent

    async def calls(self, world: World[Any], header: RunHeader, store: Store) -> Mapping[str, Json]:
        """What the model calls of a run came to, for its card, and those of each group; empty where nobody thinks."""
        if not self._models:
            return {}
        records = [record async for record in cast("Books", store).read_trace(header.run_id)]
        told = figures(records, self._prices).to_json()
        if world.groups:
            begin = world.begin(header.genesis)
            sides: dict[str, list[TraceRecord]] = {}
            for one in records:
                sides.setdefault(world.group(begin, one.actor), []).append(one)
            told["groups"] = {name: figures(some, self._prices).to_json() for name, some in sorted(sides.items())}
        return {CALLS: told}


@asynccontextmanager
async def open_stage(cast: Cast, meter: Meter | None = None) -> AsyncIterator[Stage]:
    """The stage of a cast; its models and cache are closed at the end. `meter` as for `Stage`. UsageError for what
    cannot be opened."""
    if not cast.thinks:
        yield Stage(cast, {}, None, None, {})
        return
    async with AsyncExitStack() as stack:
        models = {choice: await stack.enter_async_context(_opened(cast, choice)) for choice in cast.choices}
        sub_model: Model | None = models[cast.model] if cast.model else None
        if cast.sub_agents == RULES:
            sub_model = None
        elif cast.model and cast.sub_agents not in (None, cast.model.name):
            choice = replace(cast.model, name=cast.sub_agents)
            sub_model = await stack.enter_async_context(_opened(cast, choice))
        cache = None
        if cast.cache:
            cache = await ResponseCache.open(cast.cache)
            stack.push_async_callback(cache.close)
        yield Stage(cast, models, sub_model, cache, known_prices(), meter)


def known_prices() -> Prices:
    """The price table of `akinai.toml`, in dollars."""
    return read_prices(settings_file().get(PRICES, {}))


def check_cast(world: World[Any], cast: Cast) -> None:
    """Raise UsageError, before anything is written, for a cast that cannot play."""
    if cast.model is None:
        casting(world, cast.agent)
    if cast.sub_agents and cast.sub_agents != RULES and ":" not in cast.sub_agents:
        raise UsageError(f"the sub-agents' model is PROVIDER:NAME or 'rules', not {cast.sub_agents!r}")
    for choice in cast.choices:
        check_model(cast, choice)


def check_model(cast: Cast, choice: ModelChoice) -> None:
    """Raise UsageError for a model that cannot be asked within the cast's budget."""
    Meter(cast.budget, known_prices()).expect(choice.name)
    _opened(cast, choice)


def _opened(cast: Cast, choice: ModelChoice) -> Any:
    from akinai.runtime.models import open_model

    return open_model(
        choice.name,
        base_url=choice.base_url,
        temperature=choice.temperature,
        max_tokens=choice.max_tokens,
        seed=choice.seed,
        timeout_s=cast.timeout_s,
        calls_per_minute=cast.calls_per_minute,
    )


def cast_asked(
    world: World[Any], agent: str | Cast | AgentFactory | None, model: str | None, base_url: str | None
) -> tuple[Cast, AgentFactory | None]:
    """Who plays, and the factory where one was given as an object. UsageError for a cast that cannot play."""
    if isinstance(agent, Cast):
        asked = agent
    elif agent is not None and not isinstance(agent, str):
        return Cast(getattr(agent, "__name__", type(agent).__name__)), agent
    elif model is not None:
        asked = Cast(agent or CHAT, ModelChoice(model, base_url))
    else:
        asked = Cast(agent or default_agent(world))
    check_cast(world, asked)
    return asked, None


def seated(cast: Cast, world: World[Any], setup: Mapping[str, Any], base_url: str | None) -> Cast:
    """The cast with the models of the setup's groups. UsageError for one that cannot play."""
    told = cast.seated(world, setup)
    if not told.groups:
        return told
    if base_url is not None:
        told = replace(told, like=replace(told.like or ModelChoice(""), base_url=base_url))
    for choice in told.choices:
        check_model(told, choice)
    return told
