"""The runs of a world that teach and that judge, and who plays and reflects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.facets import Teaching
from akinai.core.worlds import World
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.playbook.opening import playbook_path, read_playbook
from akinai.learning.roles.protocols import RoleName
from akinai.runtime.config.settings import Settings, prepare
from akinai.runtime.learn.role_models import CallOptions, RoleModels
from akinai.runtime.play.agent_registry import seats_of
from akinai.runtime.play.agent_spec import MODEL_AGENTS, ModelChoice

Reflect: TypeAlias = Literal["model", "rules"]

TRAIN_SEEDS, EVAL_SEEDS = "train:1-10", "validation:1-20"
"""Games of the pools for training, which nobody plays by hand."""


@dataclass(frozen=True, slots=True)
class Opponents:
    """The players of the other side of a world."""

    name: str
    settings: Sequence[str]
    """Settings of the runs with them, as "name=value"."""


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
    role: str = ""
    """Who learns in a world with several roles, such as "business"; empty: the world's first."""
    opponents: Sequence[str] = ()
    """Who plays the other side: a player, or the file of a playbook that one follows. Training runs take turns among
    them, and each is judged against. Empty: as the settings say."""

    def load_world(self) -> World[Any]:
        return worlds.load(self.world) if isinstance(self.world, str) else self.world

    @property
    def teaching(self) -> Teaching[Any]:
        """How the role is taught. UnknownName for a role that the world has not."""
        return self.load_world().facets.teaching.of_role(self.role)

    @property
    def name(self) -> str:
        """The name of the playbook: the world's, with the role where it is not the world's first."""
        world = self.load_world()
        base = world.name.partition("@")[0]
        return base if self.role in ("", world.facets.teaching.role) else f"{base}-{self.role}"

    def settings_of(self, *, judged: bool) -> list[str]:
        """The settings of the training or the judged runs, those of the role among them."""
        settings = [*self.settings, *(self.eval_settings if judged else ())]
        names = {text.partition("=")[0].strip() for text in settings}
        defaults = setting_texts(self.teaching.settings)
        return [*settings, *(text for text in defaults if text.partition("=")[0] not in names)]

    def opposing(self) -> list[Opponents]:
        """The players of the other side, with the settings for them; one without a name where nobody was named.

        UsageError for a name that is neither a player of the other side nor a file, and for one that stands twice.
        """
        if not self.opponents:
            return [Opponents("", [])]
        if twice := next((name for name in self.opponents if [*self.opponents].count(name) > 1), None):
            raise UsageError(f"the opponents {twice!r} stand twice; name each once")
        teaching = self.teaching
        if not teaching.opponents:
            raise UsageError(f"{self.load_world().name} has no other side to play; leave the opponents out")
        return [Opponents(name, setting_texts(_opposed(teaching, name))) for name in self.opponents]

    def is_against(self, id: str, side: Opponents) -> bool:
        """Whether the judged run of a task is one with these opponents."""
        return len(self.opponents) < 2 or id.endswith(f"-{side.name}")

    @property
    def plays_by_model(self) -> bool:
        """Whether the agent asks a model, or a side of the world has a model of its own."""
        if self.agent in MODEL_AGENTS:
            return True
        world, settings = self.load_world(), self.settings_of(judged=True)
        setup = prepare(world, preset=self.preset, days=self.days, settings=settings).setup
        return seats_of(world, setup).asks_model

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


def setting_texts(settings: Settings) -> list[str]:
    """Settings as "name=value": {"demand.footfall": 40} becomes ["demand.footfall=40"]."""
    if not isinstance(settings, Mapping):
        return list(settings or ())
    return [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in settings.items()]


def _opposed(teaching: Teaching[Any], name: str) -> Mapping[str, Json]:
    if name in teaching.opponents:
        return teaching.opposed_by(name, ())
    if not PlaybookFile(playbook_path(name)).exists():
        raise UnknownName("opponent", name, teaching.opponents, "or the file or name of a playbook")
    return teaching.opposed_by(teaching.opponents[0], read_playbook(name).for_players)
