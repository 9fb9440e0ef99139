"""Which runs of a world are learned from, which judge, and who plays and reflects."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from akinai import worlds
from akinai.core.worlds import World
from akinai.learning.roles.protocols import RoleName
from akinai.runtime.learn.role_models import CallOptions, RoleModels
from akinai.runtime.play.agent_spec import MODEL_AGENTS, ModelChoice

Reflect: TypeAlias = Literal["model", "rules"]

TRAIN_SEEDS, EVAL_SEEDS = "1-10", "101-120"


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Runs of a world to learn from, and runs to judge by."""

    world: str | World[Any]
    agent: str
    seeds: str = TRAIN_SEEDS
    """Empty where nothing is learned."""
    eval_seeds: str = EVAL_SEEDS
    days: int | None = None
    settings: Sequence[str] = ()
    """Settings of all runs, as "name=value"."""
    eval_settings: Sequence[str] = ()
    """Settings of the judged runs, which override the others."""
    store: str = "memory:"
    """Where the training runs, the evidence of every bullet, are kept."""
    model: ModelChoice | None = None
    """The model of the player, where it asks one, and of the roles that have none of their own."""
    reflect: Reflect | None = None
    """Who finds the lessons and keeps the playbook; None: the model, where there is one."""
    online: bool = False
    """Each seed is played with the playbook so far, and scored, before anything is learned from it."""
    reflector_model: ModelChoice | None = None
    curator_model: ModelChoice | None = None
    options: CallOptions = field(default_factory=CallOptions)
    """How all the models are asked."""
    preset: str | None = None
    """The world's preset; None: its default."""

    def load_world(self) -> World[Any]:
        return worlds.load(self.world) if isinstance(self.world, str) else self.world

    @property
    def plays_by_model(self) -> bool:
        """Whether the agent asks a model, or a side of the world has a model of its own."""
        names = [setting.partition("=")[0] for setting in (*self.settings, *self.eval_settings)]
        return self.agent in MODEL_AGENTS or any(name.endswith(".model") for name in names)

    @property
    def learns_by_model(self) -> bool:
        return self.reflect == "model" if self.reflect else self.reflects_with is not None

    @property
    def reflects_with(self) -> ModelChoice | None:
        """The model of the Reflector, where a model learns."""
        return self.reflector_model or self.model

    @property
    def models(self) -> RoleModels:
        """The models that are asked, by role."""
        roles: dict[RoleName, ModelChoice | None] = {"generator": self.model if self.plays_by_model else None}
        if self.learns_by_model:
            roles |= {"reflector": self.reflects_with, "curator": self.curator_model or self.model}
        return RoleModels({role: choice for role, choice in roles.items() if choice}, self.model, self.options)
