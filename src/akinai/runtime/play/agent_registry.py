"""Agents that can play a world: a name or an object becomes an agent spec and a factory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from akinai.agents.human import HumanAgent
from akinai.agents.scripted import ScriptedAgent, script_lines
from akinai.agents.stdio import ProgramAgent, command_words, expect_user
from akinai.agents.terminal import open_terminal
from akinai.core.agents import AgentFactory, Role
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Genesis
from akinai.core.models import TIMEOUT_S
from akinai.core.stores import RunHeader
from akinai.core.worlds import World, participants
from akinai.files import read_named
from akinai.plugins import plugins
from akinai.runtime.models.budget import Meter, known_prices
from akinai.runtime.models.cache import expect_cache_path
from akinai.runtime.play.agent_spec import CHAT, RULES, AgentSpec, ModelChoice

GROUP = "akinai.agents"
"""Entry points: a name, and a function of (world, rest of the agent's name) that returns an AgentFactory."""
SCRIPT = "script:"
"""The start of the name of a scripted agent; the name of its file follows."""
BUILT_IN = ("script:FILE", "stdio:COMMAND", "human", "chat", "structured")
"""Agents of every world; the last two ask a model."""
NAME_MODEL = "name one with --model"
"""What helps where an option of models is given and none is asked."""
HTTP_AGENT = "http"
"""Stands for an agent's name in a run whose actors come over HTTP."""
SESSION_AGENT = "session"
"""Stands for an agent's name in a run that `akinai.open` played."""
HUMAN = "human"
"""A person, at the terminal or in the browser."""
PERSONS = (HUMAN, SESSION_AGENT)
"""Agents whose runs are continued in the browser."""
HELD = "session"
"""Run card key: the actors played from outside ("hold", None by default) and the agent of the "rest"."""


def default_agent(world: World[Any]) -> str:
    """The world's first rule-based player."""
    return next(iter(world.players))


def seats_of(world: World[Any], setup: Mapping[str, Json]) -> AgentSpec:
    """Whom the settings name for actors, whoever plays the others."""
    return AgentSpec(default_agent(world)).with_group_models(world, setup)


def resolve_agent(
    world: World[Any], agent: str | AgentSpec | AgentFactory | None, model: str | None, base_url: str | None
) -> tuple[AgentSpec, AgentFactory | None]:
    """The spec of an agent, and its factory if the agent is an object. UsageError if it cannot play."""
    if isinstance(agent, AgentSpec):
        spec = agent
    elif agent is not None and not isinstance(agent, str):
        return AgentSpec(getattr(agent, "__name__", type(agent).__name__)), agent
    elif model is not None:
        spec = AgentSpec(agent or CHAT, ModelChoice(model, base_url))
    else:
        spec = AgentSpec(agent or default_agent(world))
    check_spec(world, spec)
    return spec, None


def resolve_group_models(
    spec: AgentSpec,
    world: World[Any],
    setup: Mapping[str, Any],
    base_url: str | None,
    *,
    open_models: bool = True,
    advice: str = NAME_MODEL,
) -> AgentSpec:
    """The spec with the models of the setup's groups. UsageError for a model that cannot be asked, if `open_models`,
    and, which ends in the advice, for options of models where none is asked."""
    resolved = spec.with_group_models(world, setup)
    seat_factories(world, resolved)
    if not resolved.group_models:
        _expect_use(resolved, advice)
        return resolved
    if base_url is not None:
        defaults = replace(resolved.model_defaults or ModelChoice(""), base_url=base_url)
        resolved = replace(resolved, model_defaults=defaults)
    if open_models:
        for choice in resolved.models:
            check_model(resolved, choice)
    return resolved


def expect_tools(
    world: World[Any], setup: Mapping[str, Json], spec: AgentSpec, held: Collection[str] | None = ()
) -> None:
    """UsageError where the settings keep tools from an actor that a player of the world plays. `held` are played from
    outside; None: all for whom the settings name nobody."""
    state, seating = world.begin(Genesis(world.name, 1, setup)), world.facets.seating
    for actor in participants(world, state):
        if actor in held if held is not None else not spec.is_taken(world, state, actor):
            continue
        agent = spec.seated.get(seating.group(state, actor), spec.agent)
        by_rules = agent in world.players and not (spec.program and agent == spec.agent)  # else an object of that name
        if by_rules and (missing := seating.missing_tools(state, actor)):
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            raise UsageError(
                f"the player {agent!r} counts on tools that the setting tools keeps from {actor}: "
                f"{', '.join(missing[:3])}{more}; leave that setting out, or let a model, a script or a program play"
            )


def _expect_use(spec: AgentSpec, advice: str) -> None:
    """Raise UsageError if a spec has model options but asks no model."""
    choice = spec.model_defaults or ModelChoice("")
    if spec.asks_model or spec.sub_agents:
        return
    flags = {
        "--base-url": choice.base_url,
        "--temperature": choice.temperature,
        "--reply-tokens": choice.max_tokens,
        "--model-seed": choice.seed,
        "--cache": spec.cache,
    }
    refuse_unused([flag for flag, value in flags.items() if value is not None], advice)


def refuse_unused(flags: Sequence[str], advice: str = NAME_MODEL) -> None:
    """Raise UsageError, which ends in the advice, for flags of models where none is asked."""
    if flags:
        raise UsageError(f"no model is asked here, so {', '.join(flags)} would do nothing; {advice}")


def check_spec(world: World[Any], spec: AgentSpec, *, open_models: bool = True) -> None:
    """Raise UsageError for a spec that cannot play. Writes nothing, and opens models only if `open_models`."""
    if spec.model is None:
        agent_factory(world, spec.agent)
    if spec.agent_user:
        expect_user(spec.agent_user)
    if spec.sub_agents and spec.sub_agents != RULES and ":" not in spec.sub_agents:
        raise UsageError(f"the sub-agents' model is PROVIDER:NAME or 'rules', not {spec.sub_agents!r}")
    if spec.cache:
        expect_cache_path(spec.cache)
    if open_models:
        for choice in spec.models:
            check_model(spec, choice)


def check_model(spec: AgentSpec, choice: ModelChoice) -> None:
    """Raise UsageError for a model that cannot be asked within the spec's budget."""
    Meter(spec.budget, known_prices()).expect_price(choice.name)
    spec.open_model(choice)


def agent_factory(world: World[Any], agent: str, timeout_s: float = TIMEOUT_S, user: str = "") -> AgentFactory:
    """The factory of a named agent: a player of the world, a built-in agent, or one from an entry point.

    `timeout_s` is how long a program is waited for, `user` as whom it runs. Raises UsageError, before anything is
    written, for an unknown name or a script that cannot be read.
    """
    if agent in world.players:
        return world.players[agent]
    kind, colon, argument = agent.partition(":")
    if f"{kind}{colon}" == SCRIPT:
        return _script_factory(world, argument)
    if kind == "stdio" and argument.strip():
        command_words(argument)
        return lambda role: ProgramAgent(argument, role, world.verbs, timeout_s, user)
    if agent == HUMAN:
        return _person_factory(world)
    plugins = agent_plugins()
    if kind in plugins:
        try:
            return plugins[kind].load()(world, argument)
        except ImportError as error:
            raise UsageError(f"the agent {kind!r} cannot be loaded ({error}); install what it needs") from error
    names = [*world.players, *BUILT_IN, *plugins]
    raise UnknownName("agent", agent, names, f"'akinai worlds {world.name.partition('@')[0]}' lists them")


def seat_factories(world: World[Any], spec: AgentSpec) -> Mapping[str, AgentFactory]:
    """The factories of the agents that the settings name for single seats, by group. UsageError for an unknown one."""
    return {group: agent_factory(world, agent, spec.timeout_s, spec.agent_user) for group, agent in spec.seat_agents}


def expect_local_agent(run: RunHeader, advice: str = "") -> None:
    """Raise UsageError for a run whose actors were played from outside: no agent here can continue it.

    `advice` ends the error; the default names the command that continues the run.
    """
    agent = run.player
    if agent == HTTP_AGENT:
        advice = advice or f"'akinai serve --run {run.run_id}' goes on with it"
        raise UsageError(f"the agents of {run.run_id!r} came over HTTP, and none of them is here; {advice}")
    if agent == SESSION_AGENT:
        advice = advice or f"akinai.open(resume={run.run_id!r}) goes on with it"
        raise UsageError(f"{run.run_id!r} was played from outside, through a session; {advice}")
    held = run.card.get(HELD)
    hold = held.get("hold") if isinstance(held, dict) else None
    if agent == HUMAN and isinstance(hold, list) and hold:
        advice = advice or f"'akinai play --resume {run.run_id}' goes on with it"
        raise UsageError(f"a person played {' and '.join(map(str, hold))} in {run.run_id!r}; {advice}")


def with_bullets(factory: AgentFactory, bullets: tuple[str, ...]) -> AgentFactory:
    """A factory that gives its agents the bullets of a playbook."""
    return (lambda role: factory(replace(role, bullets=bullets))) if bullets else factory


def agent_plugins() -> Mapping[str, EntryPoint]:
    """The agents that other packages provide, by name."""
    return plugins(GROUP)


def read_script(name: str) -> list[str]:
    """The replies in the file of a script. UsageError for one without any."""
    if not name:
        raise UsageError("the agent 'script:' names no file; write 'script:FILE'")
    text = read_named(Path(name), f"the script {name!r}")
    lines = script_lines(text, name)
    if not lines:
        raise UsageError(f"the script {name!r} holds no action; write one a line")
    return lines


def _person_factory(world: World[Any]) -> AgentFactory:
    def person(role: Role) -> HumanAgent:
        return HumanAgent(world.verbs, open_terminal(), role.voice)

    person.__dict__["person"] = True
    return person


def _script_factory(world: World[Any], name: str) -> AgentFactory:
    script = ScriptedAgent(read_script(name), world.verbs)
    return lambda _: script  # shared by all actors: the lines are in the order of the ledger, sub-agents' included
