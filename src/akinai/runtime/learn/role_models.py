"""The models of the roles of a learning, and how they are asked: `[learn.roles]` of `akinai.toml`.

[learn.roles.reflector]
model = "anthropic:NAME"
temperature = 0.2
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from pydantic import BaseModel, ConfigDict

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.learning.roles.protocols import RoleName
from akinai.runtime.models.cache import expect_cache_path
from akinai.runtime.play.agent_spec import ModelChoice

ROLES: tuple[RoleName, ...] = get_args(RoleName)
TIMEOUT_S = 180.0
LEARNERS: tuple[RoleName, ...] = ("reflector", "curator")


class RoleSettings(BaseModel):
    """The model of one role. Missing values are the learning's; its address applies to the same provider only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    reply_tokens: int | None = None
    model_seed: int | None = None


class RolesSettings(BaseModel):
    """The models by role."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator: RoleSettings = RoleSettings()
    """In a world the model of the player."""
    reflector: RoleSettings = RoleSettings()
    curator: RoleSettings = RoleSettings()


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How the models of a learning are asked. UsageError for values out of range, or a cache that cannot be."""

    timeout_s: float = TIMEOUT_S
    """Limit on one try."""
    calls_per_minute: int = 0
    """Limit on the calls of each model, all roles together; 0 is none."""
    cache: str | None = None
    """A file with replies, which are used again for the same requests."""

    def __post_init__(self) -> None:
        if not self.timeout_s > 0 or self.calls_per_minute < 0:
            raise UsageError(
                f"a timeout of {self.timeout_s:g} seconds and {self.calls_per_minute} calls a minute; "
                "give more than 0 seconds, and 0 or more calls"
            )
        if self.cache:
            expect_cache_path(self.cache)


@dataclass(frozen=True)
class RoleModels:
    """The models of a learning; a role without one plays by rules."""

    by_role: Mapping[RoleName, ModelChoice] = field(default_factory=dict[RoleName, ModelChoice])
    main: ModelChoice | None = None
    options: CallOptions = field(default_factory=CallOptions)

    def __bool__(self) -> bool:
        return bool(self.by_role)

    @property
    def learns(self) -> bool:
        """Whether models reflect and curate."""
        return "reflector" in self.by_role

    def label(self, roles: Sequence[RoleName] = ROLES) -> str:
        """A label for those who fill the roles: "rules", a model's name, or a name for each role where they differ."""
        names = {role: self.by_role[role].name if role in self.by_role else "rules" for role in roles}
        if len({*names.values()}) == 1:
            return names[roles[0]]
        return ", ".join(f"{role} {name}" for role, name in names.items())

    def to_json(self) -> dict[str, Json]:
        """By role: name, address and sampling; null for a role that plays by rules."""
        choices = {role: self.by_role.get(role) for role in ROLES}
        return {
            role: choice and {"name": choice.name, "base_url": choice.base_url, "sampling": choice.sampling}
            for role, choice in choices.items()
        }


def role_models(main: ModelChoice | None, roles: RolesSettings, options: CallOptions) -> RoleModels:
    """The model of each role. UsageError where reflector and curator are not both models or both rules."""
    choices: dict[RoleName, ModelChoice | None] = {role: _choice(main, role, getattr(roles, role)) for role in ROLES}
    by_role: dict[RoleName, ModelChoice] = {role: choice for role, choice in choices.items() if choice}
    if ("reflector" in by_role) != ("curator" in by_role):
        with_model, without = sorted(("reflector", "curator"), key=lambda role: role not in by_role)
        raise UsageError(
            f"the {with_model} has a model and the {without} has none; "
            f"name one with --{without}-model, or one for all roles with --model"
        )
    return RoleModels(by_role, main, options)


def _choice(main: ModelChoice | None, role: RoleName, settings: RoleSettings) -> ModelChoice | None:
    name = settings.model or (main.name if main else None)
    if name is None:
        if settings != RoleSettings():
            raise UsageError(f"the {role} has settings and no model; name one with --{role}-model or --model")
        return None
    defaults = main or ModelChoice(name)
    same_provider = defaults.provider == name.partition(":")[0]
    overrides = {
        "base_url": settings.base_url,
        "temperature": settings.temperature,
        "max_tokens": settings.reply_tokens,
        "seed": settings.model_seed,
    }
    base = replace(defaults, name=name, base_url=defaults.base_url if same_provider else None)
    return replace(base, **{field: value for field, value in overrides.items() if value is not None})


def role_setting(model: str | ModelChoice | None, base_url: str | None = None) -> dict[str, Json]:
    """The settings of a role from its arguments, without those that are None."""
    if isinstance(model, ModelChoice):
        settings: dict[str, Json] = {"model": model.name, "base_url": base_url or model.base_url}
        settings |= {"temperature": model.temperature, "reply_tokens": model.max_tokens, "model_seed": model.seed}
    else:
        settings = {"model": model, "base_url": base_url}
    return {name: value for name, value in settings.items() if value is not None}
