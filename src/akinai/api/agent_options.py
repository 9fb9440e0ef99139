"""The options of `run` about its agent: which model it asks and how, within which limits, and by which playbook."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from akinai.agents.chat import checked_instructions, instructions
from akinai.core.agents import AgentFactory
from akinai.core.errors import UnknownName, UsageError, why_unreadable
from akinai.core.worlds import World
from akinai.files import read_named
from akinai.learning.playbook.formats import dumps
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.config.calls import given_of
from akinai.runtime.config.files import new_path
from akinai.runtime.config.settings import Settings, named_source, setting
from akinai.runtime.models.budget import Budget
from akinai.runtime.models.embeddings import find_embedder
from akinai.runtime.options import AgentOptions
from akinai.runtime.play.agent_registry import check_spec, default_agent
from akinai.runtime.play.agent_spec import CHAT, MODEL_AGENTS, PLAYBOOK_TOKENS, STRUCTURED, AgentSpec, ModelChoice
from akinai.runtime.play.program import command_digest, object_digest


def budget_of(options: AgentOptions) -> Budget:
    """The limits of each run. UsageError for a negative one."""
    return Budget(
        options["max_actions"], options["max_tokens"], options["max_minutes"], options["max_dollars"],
        options["max_repeats"],
    )  # fmt: skip


def resolve_options(
    world: World[Any],
    agent: str | AgentSpec | AgentFactory | None,
    options: AgentOptions,
    settings: Settings,
    *,
    open_models: bool = True,
) -> tuple[AgentSpec, AgentFactory | None]:
    """The spec of an agent, and its factory where that was given as an object. UsageError if it cannot play.

    With `open_models` False nothing is asked of its models: no package, no key.
    """
    if not (agent is None or isinstance(agent, str | AgentSpec) or callable(agent)):
        raise UsageError(f"an agent is a name, an AgentSpec or a function of a role, not {agent!r:.100}")
    if isinstance(agent, AgentSpec):
        if wrong := [name for name in given_of(AgentOptions, options) if name not in ("base_url", "label")]:
            raise UsageError(f"an AgentSpec says all of its model and limits; leave out {', '.join(wrong)}")
        agent = _with_program(replace(agent, label=options["label"] or agent.label))
        check_spec(world, agent, open_models=open_models)
        return agent, None
    factory = None if agent is None or isinstance(agent, str) else agent
    spec = _with_playbook(_spec(world, agent, options), options, settings)
    spec = replace(spec, program=object_digest(agent)) if callable(agent) else _with_program(spec)
    if factory is None:
        named = "model" if options["model"] is None and spec.model else "agent"
        with named_source(named, spec.model and options["model"] if named == "model" else agent):
            check_spec(world, spec, open_models=open_models)
    return spec, factory


def _spec(world: World[Any], agent: str | AgentFactory | None, options: AgentOptions) -> AgentSpec:
    budget = budget_of(options)
    if options["memory"] not in ("trim", "summary"):
        raise UnknownName("memory", options["memory"], ("trim", "summary"))
    name = None if callable(agent) else setting("model", options["model"], "") or None
    by_rules = name is None or (options["model"] is None and agent is not None and agent not in MODEL_AGENTS)
    if callable(agent):
        if options["model"] is not None:
            raise UsageError(f"an agent given as an object asks no model; leave model {options['model']!r} out")
        agent_name = getattr(agent, "__name__", type(agent).__name__)
    else:
        agent_name = setting("agent", agent, default_agent(world)) if by_rules else agent or CHAT
    sampling = (options["temperature"], options["reply_tokens"], options["model_seed"])
    choice = ModelChoice(name or "", options["base_url"], *sampling)
    sets_defaults = options["base_url"] is not None or any(value is not None for value in sampling)
    return AgentSpec(
        agent_name,
        None if by_rules else choice,
        model_defaults=replace(choice, name="") if world.facets.sides.groups or (by_rules and sets_defaults) else None,
        sub_agents=options["sub_model"],
        memory="summary" if options["memory"] == "summary" else "trim",
        window_tokens=options["window"],
        budget=budget,
        cache=str(options["cache"] or "") or None,
        timeout_s=options["timeout"],
        calls_per_minute=options["calls_per_minute"],
        label=options["label"] or "",
        prompt=_prompt(options["prompt"]),
        agent_user=options["agent_user"] or "",
    )


def _with_program(spec: AgentSpec) -> AgentSpec:
    return spec if spec.program else replace(spec, program=command_digest(spec.agent))


def write_prompt(file: str | Path, agent: str | None = None) -> Path:
    """Write Akinai's own instructions for a model to a file, to change them; the agent is "chat" or "structured".

    UsageError for another agent, and for a file that is there already or cannot be written.
    """
    if agent not in (None, *MODEL_AGENTS):
        raise UsageError(f"the agent {agent!r} asks no model, which a prompt is for; it is chat or structured")
    text = instructions("json" if agent == STRUCTURED else "tools")
    parts = [text, *(["{actions}"] if agent == STRUCTURED else []), "{situation}"]
    path = new_path(file).expanduser()
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write("\n\n".join(parts) + "\n")
    except OSError as error:
        raise UsageError(f"the prompt {str(file)!r} cannot be written: {why_unreadable(error)}") from error
    return path


def _prompt(prompt: str | Path | None) -> str:
    """The instructions of a file, or of a text of several lines; empty for None. UsageError for an unfit file."""
    if prompt is None:
        return ""
    if isinstance(prompt, str) and "\n" in prompt.strip():
        text, name = prompt, "the prompt"
    else:
        name = f"the prompt {str(prompt)!r}"
        text = read_named(prompt, name)
    try:
        return checked_instructions(text.strip())
    except ValueError as error:
        raise UsageError(f"{name} {error}") from error


def _with_playbook(spec: AgentSpec, options: AgentOptions, settings: Settings) -> AgentSpec:
    """Give the agent a playbook: a model searches it, a player by rules gets all of its bullets."""
    playbook, tokens = options["playbook"], options["playbook_tokens"]
    if playbook is None and tokens is not None:
        raise UsageError("--playbook-tokens tells how much of a playbook is in sight; name one with --playbook")
    if playbook is None and options["embedder"] is not None:
        raise UsageError("--embedder tells how a playbook is searched; name one with --playbook")
    if playbook is None:
        return spec
    names = settings if isinstance(settings, Mapping) else [text.partition("=")[0].strip() for text in settings or ()]
    if spec.asks_model or any(str(name).endswith(".model") for name in names):
        budget = PLAYBOOK_TOKENS if tokens is None else tokens
        if options["embedder"]:
            find_embedder(options["embedder"])  # refused before anything is played
        text = dumps(read_playbook(playbook))
        return replace(spec, playbook=text, playbook_tokens=budget, embedder=options["embedder"] or "")
    unused = {"--playbook-tokens": tokens, "--embedder": options["embedder"]}
    if flag := next((flag for flag, value in unused.items() if value is not None), None):
        raise UsageError(f"{spec.agent} is told all of a playbook, as every player by rules; leave {flag} out")
    return replace(spec, bullets=read_playbook(playbook).for_players)
