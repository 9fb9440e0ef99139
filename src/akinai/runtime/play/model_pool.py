"""The models of a command, opened once and shared by all its runs, and their agents."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Protocol, cast, runtime_checkable

from akinai.agents.chat import ChatAgent
from akinai.core.agents import Agent, AgentFactory, Role, is_sub_agent
from akinai.core.canonical import Json
from akinai.core.models import Model
from akinai.core.stores import Books, RunHeader, TraceRecord
from akinai.core.worlds import World
from akinai.runtime.models.budget import Meter, Prices, known_prices
from akinai.runtime.models.cache import ResponseCache
from akinai.runtime.models.contract import SERVERS
from akinai.runtime.play.agent_registry import agent_factory, default_agent
from akinai.runtime.play.agent_spec import RULES, AgentSpec, ModelChoice, limited, spec_of
from akinai.runtime.play.recording import CallRecorder
from akinai.runtime.play.trace_codec import figures

CALLS = "calls"
"""The key of a run card for the totals of the model calls."""


@runtime_checkable
class Negotiated(Protocol):
    """A model whose server may have refused a part of its requests."""

    @property
    def concessions(self) -> tuple[str, ...]:
        """What was refused and what is sent in place of it, a sentence each."""
        ...


class ModelPool:
    """The open models of an agent spec; makes the agents of each run."""

    def __init__(
        self,
        spec: AgentSpec,
        models: Mapping[ModelChoice, Model],
        sub_model: Model | None,
        cache: ResponseCache | None,
        prices: Prices,
        meter: Meter | None = None,
    ) -> None:
        """`meter` counts all runs together; without it, each run has the spec's whole budget."""
        self.spec = spec
        self._models, self._sub_model, self._cache, self._prices = models, sub_model, cache, prices
        self._meter = meter

    def agent_factory(
        self,
        world: World[Any],
        header: RunHeader,
        store: Books,
        factory: AgentFactory | None = None,
        actions: Mapping[str, int] | None = None,
    ) -> AgentFactory:
        """The factory of a run's agents. `factory` makes those that ask no model, if the agent is an object.

        `actions` counts each actor's entries as they are written, for the records of calls. UsageError for an unknown
        agent.
        """
        plain = None if self.spec.model else factory or self._plain_factory(world)
        by_rules = world.players[default_agent(world)]
        if not self._models:
            return plain or by_rules
        meter = self._meter or Meter(self.spec.budget, self._prices)
        seed, cache = header.genesis.seed, self._cache
        # The run's own spec: the runs of a pool may have different playbooks.
        spec = spec_of(header)
        window = spec.resumed_window
        if window is not None:
            window = limited(replace(spec.chat_options, window_tokens=window), header.genesis.setup).window_tokens
        recorder = CallRecorder(header.run_id, seed, store, meter, cache=cache, actions=actions, window=window)

        def make_agent(role: Role) -> Agent:
            choice = self.spec.model_of(role.group)
            if choice is None:
                assert plain is not None
                return plain(role)
            is_helped = is_sub_agent(role.actor) and self.spec.sub_agents is not None
            model = self._sub_model if is_helped else self._models[choice]
            if model is None:
                return by_rules(role)
            options = limited(spec.chat_options, header.genesis.setup)
            if is_sub_agent(role.actor) or role.group in world.facets.sides.helpers:
                options = replace(options, instructions="")  # those of a person are for who plays
            if not spec.playbook:
                return ChatAgent(recorder.asker(role.actor, model), world.verbs, options, role.bullets)
            from akinai.runtime.play.lookup import ActorLookup, playbook_search

            search = playbook_search(spec.playbook, spec.playbook_tokens, spec.embedder, spec.embedder_base_url)
            lookup = ActorLookup(search)
            asker = recorder.asker(role.actor, model, lookup.take_notes)
            return ChatAgent(asker, world.verbs, options, lookup=role.lookup or lookup)

        return make_agent

    def _plain_factory(self, world: World[Any]) -> AgentFactory:
        spec = self.spec
        return agent_factory(world, spec.agent, spec.timeout_s, spec.agent_user)

    async def calls(self, world: World[Any], header: RunHeader, store: Books) -> Mapping[str, Json]:
        """Totals of the model calls of a run and of each group, for its card; empty where no model is asked."""
        if not self._models:
            return {}
        records = [record async for record in store.read_trace(header.run_id)]
        totals = figures(records, self._prices).to_json()
        if self.spec.group_models or world.facets.sides.groups:
            begin = world.begin(header.genesis)
            by_group: dict[str, list[TraceRecord]] = {}
            for record in records:
                by_group.setdefault(world.facets.seating.group(begin, record.actor), []).append(record)
            totals["groups"] = {
                group: figures(group_records, self._prices).to_json()
                for group, group_records in sorted(by_group.items())
            }
        return {CALLS: totals, **self._servers(header)}

    def _servers(self, header: RunHeader) -> Mapping[str, Json]:
        """What the servers refused, in this command and before it; empty where they took everything."""
        sentences = {**cast("Mapping[str, Json]", header.card.get(SERVERS) or {})}
        for model in (*self._models.values(), *filter(None, (self._sub_model,))):
            concessions = model.concessions if isinstance(model, Negotiated) else ()
            if concessions:
                earlier = cast("Sequence[str]", sentences.get(model.name) or ())
                sentences[model.name] = [*dict.fromkeys((*earlier, *concessions))]
        return {SERVERS: sentences} if sentences else {}


@asynccontextmanager
async def open_model_pool(
    spec: AgentSpec, meter: Meter | None = None, *, at_once: int = 0
) -> AsyncGenerator[ModelPool]:
    """The pool of a spec; its models and cache are closed at the end. `meter` as for `ModelPool`.

    `at_once` runs share it, and each may have a call under way. UsageError for a model or cache that cannot be opened.
    """
    if not spec.asks_model:
        yield ModelPool(spec, {}, None, None, {})
        return
    async with AsyncExitStack() as stack:
        models = {choice: await stack.enter_async_context(spec.open_model(choice, at_once)) for choice in spec.models}
        sub_model: Model | None = models[spec.model] if spec.model else None
        if spec.sub_agents == RULES:
            sub_model = None
        elif spec.model and spec.sub_agents not in (None, spec.model.name):
            sub_model = await stack.enter_async_context(
                spec.open_model(replace(spec.model, name=spec.sub_agents), at_once)
            )
        cache = None
        if spec.cache:
            cache = await ResponseCache.open(spec.cache)
            stack.push_async_callback(cache.close)
        yield ModelPool(spec, models, sub_model, cache, known_prices(), meter)
