"""The agent spec: which agent plays a run, which models it asks, and within which limits. The run card holds it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from akinai.agents.chat import ChatOptions, Memory, checked_instructions, estimated_tokens, instructions
from akinai.core.canonical import Json, canonical, short_digest
from akinai.core.errors import UsageError
from akinai.core.facets import SAME
from akinai.core.models import TIMEOUT_S, Message
from akinai.core.stores import LABEL, PROGRAM, PROMPT, RunHeader, why_no_label
from akinai.core.worlds import World, participants
from akinai.runtime.models.budget import NO_BUDGET, Budget

if TYPE_CHECKING:
    from akinai.runtime.models.langchain import LangChainModel

CHAT = "chat"
STRUCTURED = "structured"
MODEL_AGENTS = (CHAT, STRUCTURED)
"""Agents that ask a model: by tool calls, or by one JSON object in each reply."""
RULES = "rules"
"""Stands for the sub-agents' model: they play by rules."""
PLAYBOOK_TOKENS = 2_000
"""Default number of playbook tokens that an agent which asks a model sees at a time."""
AGENT_SPEC = "agent_spec"
"""The key of a run card for the parts of the spec that have no key of their own."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model and its sampling parameters."""

    name: str
    """"openai:NAME", "anthropic:NAME", "ollama:NAME" or another provider of LangChain."""
    base_url: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    """The limit of one reply."""
    seed: int | None = None

    @property
    def provider(self) -> str:
        """The part of its name before the colon."""
        return self.name.partition(":")[0]

    @property
    def sampling(self) -> dict[str, Json]:
        """The sampling parameters that are set; the provider has defaults for the others."""
        parameters = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return {name: value for name, value in parameters.items() if value is not None}

    def open(self, timeout_s: float, at_once: int, calls_per_minute: int) -> "LangChainModel":
        """Open the model. 0 calls a minute is no limit. UsageError for a model that cannot be asked."""
        from akinai.runtime.models.langchain import open_model

        return open_model(
            self.name,
            base_url=self.base_url,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            timeout_s=timeout_s,
            max_concurrency=at_once,
            calls_per_minute=calls_per_minute,
        )


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent, its models and its limits. Without a model it is a rule-based player, a script, a program or person."""

    agent: str
    """Its name, as `--agent` takes it."""
    model: ModelChoice | None = None
    sub_agents: str | None = None
    """The model of the sub-agents; None means the same model, "rules" means none."""
    memory: Memory = "trim"
    window_tokens: int = 30_000
    resumed_window: int | None = None
    """The window from the first call after a resume on; None for `window_tokens`, with which the past was played."""
    budget: Budget = NO_BUDGET
    cache: str | None = None
    """The file of the response cache; None for no cache."""
    timeout_s: float = TIMEOUT_S
    calls_per_minute: int = 0
    """Limit on the calls of all runs together; 0 for no limit."""
    group_models: tuple[tuple[str, str], ...] = ()
    """Models that the settings name for groups of actors: (group, model), in the world's order."""
    seat_agents: tuple[tuple[str, str], ...] = ()
    """Agents that the settings name for single participants and that ask no model: (group, agent)."""
    model_defaults: ModelChoice | None = None
    """Address and sampling of the group models where the run names no model; its own name is ignored."""
    bullets: tuple[str, ...] = ()
    """Bullets of a playbook that every agent of the run is given; the run card holds them and their digest."""
    playbook: str = ""
    """A playbook as JSON text, instead of bullets: agents that ask a model search it, others get all of it. The run
    card holds it and its digest."""
    playbook_tokens: int = PLAYBOOK_TOKENS
    """Most tokens of the playbook that an agent which asks a model sees at a time; 0 for all of it."""
    embedder: str = ""
    """The embedder for searching the playbook: "hashed", "svd" or "PROVIDER:NAME"; empty means hashed."""
    embedder_base_url: str | None = None
    label: str = ""
    """What tables call the player; empty for agent and model."""
    prompt: str = ""
    """The instructions for the model; empty for those of `akinai.agents`. The run card holds them and their digest."""
    agent_user: str = ""
    """The user of this machine as whom a program runs; empty for the user of this process."""
    program: str = ""
    """Digest of the code that plays: the files of a command or script, the source of a class; empty for players of the
    world, whose version says it, and for models."""

    def __post_init__(self) -> None:
        if self.model is None and self.agent in MODEL_AGENTS:
            raise UsageError(f"the agent {self.agent!r} asks a model; name one, such as --model openai:gpt-5-mini")
        if self.model is not None and self.agent not in MODEL_AGENTS:
            raise UsageError(f"the agent {self.agent!r} asks no model; leave --model out, or --agent")
        smallest = min(self.window_tokens, self.resumed_window or self.window_tokens)
        if smallest < 2_000:
            raise UsageError(f"a window of {smallest} tokens holds no conversation; give at least 2,000")
        if self.playbook_tokens < 0:
            raise UsageError(f"a playbook in {self.playbook_tokens} tokens; give some, or 0 for the whole of it")
        if why := why_no_label(self.label):
            raise UsageError(f"the label {self.label!r:.100} cannot name a row: {why}")
        if self.prompt:
            self._check_prompt()

    def _check_prompt(self) -> None:
        """UsageError for instructions that no model is given, or that it cannot be given."""
        if not self.asks_model and self.model_defaults is None:
            raise UsageError(
                f"the agent {self.agent!r} asks no model, so a prompt would do nothing; leave --prompt out"
            )
        try:
            tokens = estimated_tokens(Message("system", checked_instructions(self.prompt)))
        except ValueError as error:
            raise UsageError(f"the prompt {error}") from error
        if tokens >= self.window_tokens:
            raise UsageError(
                f"the prompt takes about {tokens:,} tokens of a window of {self.window_tokens:,}; shorten it"
            )

    @property
    def asks_model(self) -> bool:
        """Whether any actor's agent asks a model."""
        return self.model is not None or bool(self.group_models)

    @property
    def seated(self) -> Mapping[str, str]:
        """The agents and models that the settings name, by group."""
        return dict((*self.seat_agents, *self.group_models))

    def is_taken(self, world: World[Any], state: object, actor: str) -> bool:
        """Whether the settings name an agent or a model for an actor, or the world has a player of its own for it."""
        seating = world.facets.seating
        return seating.group(state, actor) in self.seated or seating.own_player(state, actor) is not None

    def leaves_nobody(self, world: World[Any], state: object) -> bool:
        """Whether the settings or the world name a player for every actor."""
        actors = participants(world, state)
        return bool(actors) and all(self.is_taken(world, state, actor) for actor in actors)

    def expect_actor(self, world: World[Any], state: object, advice: str) -> None:
        """UsageError, which ends in the advice, where the settings or the world name a player for every actor."""
        if self.leaves_nobody(world, state):
            raise UsageError(f"every actor has a player by the world or the settings; {advice}")

    @property
    def agents(self) -> Sequence[str]:
        """Its name, and the agents that the settings name for single participants."""
        return (self.agent, *dict(self.seat_agents).values())

    @property
    def programs(self) -> Sequence[str]:
        """The agents that are programs which Akinai starts."""
        return [agent for agent in self.agents if agent.startswith("stdio:")]

    @property
    def all_bullets(self) -> tuple[str, ...]:
        """The bullets for an agent that does not search its playbook."""
        if self.bullets or not self.playbook:
            return self.bullets
        from akinai.runtime.play.lookup import playbook_search

        return playbook_search(self.playbook, self.playbook_tokens).bullets

    def with_group_models(self, world: World[Any], setup: Mapping[str, Json]) -> "AgentSpec":
        """The same spec with the models, and the agents of single seats, that a setup names for the world's groups.

        UsageError for a user of programs where none plays.
        """
        sides = world.facets.sides
        tables = {group: _table(setup, group) for group in (*sides.groups, *sides.helpers)}
        seats = {group: _table(setup, name) for group, name in sides.seats.items()}
        models = [(group, str(model)) for group, table in (tables | seats).items() if (model := table.get("model"))]
        named = seats | {group: tables[group] for group in sides.helpers}
        agents = [(group, str(table.get("agent", SAME))) for group, table in named.items() if not table.get("model")]
        seat_agents = tuple((group, agent) for group, agent in agents if agent != SAME)
        resolved = replace(self, group_models=tuple(models), seat_agents=seat_agents)
        if resolved.agent_user and not resolved.programs:
            raise UsageError(f"the agent {self.agent!r} is no program that Akinai starts; leave --agent-user out")
        return resolved

    def model_of(self, group: str = "") -> ModelChoice | None:
        """The model that plays a group, or the actors outside any group; None if no model does.

        A group's model takes address and sampling from the run's model. The address belongs to a provider: a model of
        another provider is asked at its own.
        """
        name = dict(self.group_models).get(group)
        if name is None:
            return None if group in dict(self.seat_agents) else self.model
        defaults = self.model or self.model_defaults or ModelChoice(name)
        same_provider = self.model is None or self.model.provider == name.partition(":")[0]
        return replace(defaults, name=name, base_url=defaults.base_url if same_provider else None)

    def reads_task(self, world: World[Any], group: str) -> bool:
        """Whether who plays a group reads its task, as models, programs and people do; rules and scripts do not."""
        agent = dict(self.seat_agents).get(group, self.agent)
        by_rules = agent in world.players or agent.startswith("script:")
        return self.model_of(group) is not None or not by_rules

    @property
    def models(self) -> Sequence[ModelChoice]:
        """Every model that plays, once each, without the model of the sub-agents."""
        choices = (self.model_of(group) for group in ("", *dict(self.group_models)))
        return list(dict.fromkeys(choice for choice in choices if choice))

    def open_model(self, choice: ModelChoice, at_once: int = 0) -> "LangChainModel":
        """Open one of its models for `at_once` runs. UsageError for a model that cannot be asked."""
        from akinai.runtime.models.rate_limit import MAX_CONCURRENCY

        return choice.open(self.timeout_s, max(MAX_CONCURRENCY, at_once), self.calls_per_minute)

    @property
    def chat_options(self) -> ChatOptions:
        """The options of its chat agents."""
        protocol: Literal["tools", "json"] = "json" if self.agent == STRUCTURED else "tools"
        return ChatOptions(protocol, self.memory, self.window_tokens, self.prompt)

    def card(self) -> dict[str, Json]:
        """Its part of a run card; `from_card` reads it."""
        card: dict[str, Json] = {"agent": self.agent, "model": None, "sampling": None, "playbook": None}
        card |= {LABEL: self.label or None, PROMPT: None, PROGRAM: self.program or None}
        own_keys: dict[str, Json] = {"budget": asdict(self.budget)} if self.budget != NO_BUDGET else {}
        if self.prompt:
            own_keys["prompt"] = self.prompt
        model = self.model or (self.model_defaults or ModelChoice("") if self.group_models else None)
        if model:
            card |= {"model": model.name or None, "sampling": model.sampling}
            card[PROMPT] = short_digest(self.prompt or instructions(self.chat_options.protocol))
            own_keys |= {
                "base_url": model.base_url,
                "sub_agents": self.sub_agents,
                "memory": self.memory,
                "window_tokens": self.window_tokens,
                **({"resumed_window": self.resumed_window} if self.resumed_window else {}),
                "cache": self.cache,
                "timeout_s": self.timeout_s,
                "calls_per_minute": self.calls_per_minute,
                **({"group_models": dict(self.group_models)} if self.group_models else {}),
            }
        elif self.programs and self.timeout_s != TIMEOUT_S:
            own_keys["timeout_s"] = self.timeout_s
        if self.seat_agents:
            own_keys["seat_agents"] = dict(self.seat_agents)
        if self.agent_user:
            own_keys["agent_user"] = self.agent_user
        if self.playbook:
            own_keys |= {"playbook": json.loads(self.playbook), "playbook_tokens": self.playbook_tokens}
            embedding = {"embedder": self.embedder or None, "embedder_base_url": self.embedder_base_url}
            own_keys |= {name: value for name, value in embedding.items() if value}
            card["playbook"] = short_digest(
                [own_keys["playbook"], self.playbook_tokens, *filter(None, embedding.values())]
            )
        if self.bullets:
            card["playbook"] = short_digest([*self.bullets])
            own_keys["bullets"] = [*self.bullets]
        return card | ({AGENT_SPEC: own_keys} if own_keys else {})

    @staticmethod
    def from_card(card: Mapping[str, Any], agent: str) -> "AgentSpec":
        """The spec that a run card holds, for a resume."""
        fields = dict(cast("Mapping[str, Any]", card.get(AGENT_SPEC) or {}))
        budget, base_url = Budget(**fields.pop("budget", {})), fields.pop("base_url", None)
        group_models: Mapping[str, str] = fields.pop("group_models", {})
        fields["seat_agents"] = tuple(fields.get("seat_agents", {}).items())
        # Canonical, since a store may change the order of its keys.
        playbook = canonical(fields["playbook"]) if fields.get("playbook") else ""
        fields |= {"bullets": tuple(fields.get("bullets", ())), "playbook": playbook}
        fields |= {name: text for name in (LABEL, PROGRAM) if isinstance(text := card.get(name), str)}
        name = card.get("model") if agent in MODEL_AGENTS else None
        if not name and not group_models:
            return AgentSpec(agent, budget=budget, **fields)
        sampling = cast("Mapping[str, Any]", card.get("sampling") or {})
        model = ModelChoice(name or "", base_url, **sampling)
        return AgentSpec(
            agent,
            model if name else None,
            budget=budget,
            group_models=tuple(group_models.items()),
            model_defaults=model,
            **fields,
        )


def spec_of(header: RunHeader) -> AgentSpec:
    """The agent spec of a run."""
    return AgentSpec.from_card(header.card, header.player)


def _table(setup: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """The table of a setup under a dotted name; empty where there is none."""
    table: Json = setup
    for step in name.split("."):
        table = table.get(step) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}


CHARACTERS_A_TOKEN = 2.6
"""Of reports full of numbers and ids, measured with a real model's tokenizer; texts are counted at four otherwise."""


def limited(options: ChatOptions, setup: Mapping[str, Json]) -> ChatOptions:
    """The options under the limits of a game that has its own: `window_tokens`, counted in its own text, and
    `max_replies`."""
    window, replies = setup.get("window_tokens"), setup.get("max_replies")
    if isinstance(window, int) and window:
        tokens = int(min(options.window_tokens, window) * CHARACTERS_A_TOKEN / 4)
        options = replace(options, window_tokens=tokens)
    return replace(options, max_replies=replies) if isinstance(replies, int) else options


def with_window(header: RunHeader, tokens: int) -> RunHeader:
    """The header of a run that is resumed with another window. UsageError for one too small, or where none is used."""
    spec = replace(spec_of(header), resumed_window=tokens)
    if not spec.asks_model:
        raise UsageError(f"run {header.run_id!r} asks no model, so it has no window; leave --window out")
    return replace(header, card={**header.card, **spec.card()})
