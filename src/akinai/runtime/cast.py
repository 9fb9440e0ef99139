"""The cast: which agent plays a run, which model it asks, and within which limits. It stands in the run card."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast

from akinai.agents.chat import Manner, Memory
from akinai.core.canonical import Json, canonical
from akinai.core.errors import UsageError
from akinai.core.stores import RunHeader
from akinai.core.worlds import World
from akinai.runtime.budget import NO_BUDGET, Budget

CHAT = "chat"
STRUCTURED = "structured"
THINKING = (CHAT, STRUCTURED)
"""Agents that ask a model: by tool calls, or by one JSON object a reply."""
RULES = "rules"
"""In place of a sub-agents' model: they play by rules."""
PLAYBOOK_TOKENS = 2_000
"""Of a playbook, in the sight of an agent that thinks, unless somebody says otherwise."""
CAST = "cast"
"""In a run card: what is not told elsewhere in it."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model and how it is sampled."""

    name: str
    """"openai:NAME", "anthropic:NAME", "ollama:NAME" and whatever else LangChain knows."""
    base_url: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    """Of one reply."""
    seed: int | None = None

    @property
    def provider(self) -> str:
        """What stands before the colon of its name."""
        return self.name.partition(":")[0]

    @property
    def sampling(self) -> dict[str, Json]:
        """What was asked for beyond the provider's own."""
        given = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays. Without a model it is a rule-based player, a script, a program or a person."""

    agent: str
    model: ModelChoice | None = None
    sub_agents: str | None = None
    """The model of the sub-agents; None is the same model, "rules" none."""
    memory: Memory = "trim"
    window_tokens: int = 30_000
    budget: Budget = NO_BUDGET
    cache: str | None = None
    """The file of the response cache; None is no cache."""
    timeout_s: float = 180.0
    calls_per_minute: int = 0
    """Of all runs together; 0 is no limit."""
    groups: tuple[tuple[str, str], ...] = ()
    """Models that the settings name for groups of actors: (group, model), in the world's order."""
    like: ModelChoice | None = None
    """How the groups' models are asked where the run names none itself; only its name means nothing."""
    bullets: tuple[str, ...] = ()
    """What a playbook tells every agent of the run; the card holds them, and their digest."""
    playbook: str = ""
    """A playbook as JSON text, in place of bullets: agents that think look into it, others are told all of it. The card
    holds it, and its digest."""
    playbook_tokens: int = PLAYBOOK_TOKENS
    """The most of it that is in the sight of an agent that thinks; 0 is all of it."""

    def __post_init__(self) -> None:
        if self.model is None and self.agent in THINKING:
            raise UsageError(f"the agent {self.agent!r} asks a model; name one, such as --model openai:gpt-5-mini")
        if self.model is not None and self.agent not in THINKING:
            raise UsageError(f"the agent {self.agent!r} asks no model; leave --model out, or --agent")
        if self.window_tokens < 2_000:
            raise UsageError(f"a window of {self.window_tokens} tokens holds no conversation; give at least 2,000")
        if self.playbook_tokens < 0:
            raise UsageError(f"a playbook in {self.playbook_tokens} tokens; give some, or 0 for the whole of it")

    @property
    def thinks(self) -> bool:
        """Whether it asks a model."""
        return self.model is not None or bool(self.groups)

    @property
    def told(self) -> tuple[str, ...]:
        """The bullets of an agent that looks into no playbook."""
        if self.bullets or not self.playbook:
            return self.bullets
        from akinai.runtime.lookup import searched

        return searched(self.playbook, self.playbook_tokens).contents

    def seated(self, world: World[Any], setup: Mapping[str, Json]) -> "Cast":
        """The same with the models that a setup names for the world's groups."""
        named = ((group, cast("Mapping[str, Json]", setup.get(group) or {}).get("model")) for group in world.groups)
        return replace(self, groups=tuple((group, str(model)) for group, model in named if model))

    def choice(self, group: str = "") -> ModelChoice | None:
        """The model that plays a group, or those in none; None where the agent does, by rules.

        A group's model is asked as the run's is. The address goes with the provider: another provider has its own.
        """
        name = dict(self.groups).get(group)
        if name is None:
            return self.model
        like = self.model or self.like or ModelChoice(name)
        same = self.model is None or self.model.provider == name.partition(":")[0]
        return replace(like, name=name, base_url=like.base_url if same else None)

    @property
    def choices(self) -> Sequence[ModelChoice]:
        """Every model that plays, each once; that of the sub-agents aside."""
        asked = (self.choice(group) for group in ("", *dict(self.groups)))
        return list(dict.fromkeys(one for one in asked if one))

    @property
    def manner(self) -> Manner:
        """How its chat agents speak and remember."""
        speech: Literal["tools", "json"] = "json" if self.agent == STRUCTURED else "tools"
        return Manner(speech, self.memory, self.window_tokens)

    def card(self) -> dict[str, Json]:
        """Its part of a run card."""
        told: dict[str, Json] = {"agent": self.agent, "model": None, "sampling": None, "playbook": None}
        rest: dict[str, Json] = {"budget": asdict(self.budget)} if self.budget != NO_BUDGET else {}
        asked = self.model or (self.like or ModelChoice("") if self.groups else None)
        if asked:
            told |= {"model": asked.name or None, "sampling": asked.sampling}
            rest |= {
                "base_url": asked.base_url,
                "sub_agents": self.sub_agents,
                "memory": self.memory,
                "window_tokens": self.window_tokens,
                "cache": self.cache,
                "timeout_s": self.timeout_s,
                "calls_per_minute": self.calls_per_minute,
                **({"groups": dict(self.groups)} if self.groups else {}),
            }
        if self.playbook:
            rest |= {"playbook": json.loads(self.playbook), "playbook_tokens": self.playbook_tokens}
            told["playbook"] = _digest([rest["playbook"], self.playbook_tokens])
        if self.bullets:
            told["playbook"] = _digest([*self.bullets])
            rest["bullets"] = [*self.bullets]
        return told | ({CAST: rest} if rest else {})

    @staticmethod
    def of(card: Mapping[str, Any], agent: str) -> "Cast":
        """The cast that a run card tells, for a resume."""
        rest = dict(cast("Mapping[str, Any]", card.get(CAST) or {}))
        budget, base_url = Budget(**rest.pop("budget", {})), rest.pop("base_url", None)
        groups: Mapping[str, str] = rest.pop("groups", {})
        rest |= {"bullets": tuple(rest.get("bullets", ())), "playbook": _text_of(rest.get("playbook"))}
        model = card.get("model") if agent in THINKING else None
        if not model and not groups:
            return Cast(agent, budget=budget, **rest)
        asked = ModelChoice(model or "", base_url, **(card.get("sampling") or {}))
        return Cast(agent, asked if model else None, budget=budget, groups=tuple(groups.items()), like=asked, **rest)


def _digest(told: Json) -> str:
    return hashlib.sha256(canonical(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _text_of(playbook: Json) -> str:
    """A playbook of a card as the text that it was, whatever a store did to the order of its keys."""
    return canonical(playbook) if playbook else ""


def cast_of(header: RunHeader) -> Cast:
    """The cast of a run."""
    return Cast.of(header.card, next(iter(header.agents.values())))
