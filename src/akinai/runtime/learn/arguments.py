"""The arguments of a learning, resolved: its tasks, and the settings of the learner and of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from akinai import worlds
from akinai.core.errors import UnknownName, UnusedOptions
from akinai.core.options import part_of
from akinai.core.worlds import World
from akinai.learning.data_sets import DataSet
from akinai.learning.playbook.opening import PLAYBOOKS, playbook_path
from akinai.runtime.config.settings import DEFAULT_STORE, Settings, assign, named_value, setting
from akinai.runtime.learn.data_sets import entry_data_sets, find_data_set
from akinai.runtime.learn.role_models import ROLES, RoleModels, role_setting
from akinai.runtime.learn.settings import LearnSettings, learn_settings
from akinai.runtime.learn.train_config import EVAL_SEEDS, TRAIN_SEEDS, TrainConfig, setting_texts
from akinai.runtime.models.budget import Budget
from akinai.runtime.options import LearnerOptions, LearnOptions, Seeds, TrainingRunOptions
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import CHAT, ModelChoice


def find_world(tasks: object) -> World[Any] | None:
    """The world that a name or an object stands for; None for a data set. A data set's name comes first."""
    if isinstance(tasks, str):
        return worlds.load(tasks) if tasks in worlds.names() and tasks not in entry_data_sets() else None
    return cast("World[Any]", tasks) if hasattr(tasks, "begin") and hasattr(tasks, "apply") else None


def split_settings(settings: Settings, world: World[Any] | None) -> tuple[list[str], dict[str, Any]]:
    """The settings of the world or the options of the data set as "name=value", and those of the learner by name."""
    world_fields = world.setup.model_fields if world else {}
    task_settings: list[str] = []
    learner: dict[str, Any] = {}
    for text in setting_texts(settings):
        name = text.partition("=")[0].strip()
        if name.partition(".")[0] in LearnSettings.model_fields and name not in world_fields:
            assign(learner, *named_value(text, LearnSettings), LearnSettings)
        else:
            task_settings.append(text)
    return task_settings, learner


def learner_settings(options: LearnOptions) -> dict[str, Any]:
    """The options that are settings of the learner, without those that are left out, and the models by role."""
    learner = {
        name: value
        for name, value in part_of(LearnerOptions, options).items()
        if name in LearnSettings.model_fields and _is_set(value)
    }
    named = cast("Mapping[str, Any]", options)
    by_role = {role: role_setting(named[f"{role}_model"], named[f"{role}_base_url"]) for role in ROLES}
    roles = {role: setting for role, setting in by_role.items() if setting}
    return {**learner, "roles": roles} if roles else learner


def run_options(options: LearnOptions) -> TrainingRunOptions:
    """The options about the runs of a world; None for empty ones."""
    runs: TrainingRunOptions = part_of(TrainingRunOptions, options)
    return cast("TrainingRunOptions", {name: value if _is_set(value) else None for name, value in runs.items()})


def _is_set(value: object) -> bool:
    """Whether an option holds something: 0 counts, False and empty values do not."""
    return value is not None and value is not False and value not in ("", [])


def main_model(options: LearnOptions) -> ModelChoice | None:
    """The model of all roles."""
    model = options["model"]
    if not isinstance(model, str):
        return model
    return ModelChoice(
        model, options["base_url"], options["temperature"], options["reply_tokens"], options["model_seed"]
    )


def train_config(
    world: str | World[Any],
    runs: TrainingRunOptions,
    models: RoleModels,
    settings: Sequence[str],
    *,
    online: bool,
) -> TrainConfig:
    """The runs to learn from and to judge by. UsageError for options that do not go together."""
    if online:
        judging = {"eval_seeds": runs["eval_seeds"], "eval_settings": runs["eval_settings"]}
        expect_unused(judging, "online learning is judged by the runs that it learns from")
    reflect = runs["reflect"]
    if reflect not in (None, "model", "rules"):
        raise UnknownName("way to reflect", reflect, ("model", "rules"))
    loaded = worlds.load(world) if isinstance(world, str) else world
    player = models.by_role.get("generator")
    learner = loaded.facets.teaching.of_role(runs["role"] or "").learner
    return TrainConfig(
        world,
        runs["agent"] or (CHAT if player else learner or default_agent(loaded)),
        _seed_text(runs["seeds"], TRAIN_SEEDS),
        _seed_text(runs["eval_seeds"], EVAL_SEEDS),
        runs["days"],
        settings,
        setting_texts(runs["eval_settings"]),
        setting("store", runs["store"], DEFAULT_STORE),
        player,
        reflect or ("rules" if models and not models.learns else None),
        online,
        models.by_role.get("reflector"),
        models.by_role.get("curator"),
        models.options,
        runs["preset"],
        runs["role"] or "",
        names_in(runs["opponents"]),
    )


def playbook_file(options: LearnOptions, name: str) -> Path:
    """The file of the playbook; without `playbook` the one for a data set of this name."""
    return playbook_path(options["playbook"]) if options["playbook"] else PLAYBOOKS / f"{name}.json"


def names_in(names: str | Sequence[str] | None) -> Sequence[str]:
    """The names in a text such as "placebo,icl", or in a list."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else tuple(names or ())


def learning_budget(options: LearnOptions) -> Budget:
    """The limits of a whole learning. UsageError for a negative one."""
    return Budget(0, options["max_tokens"], options["max_minutes"], options["max_dollars"])


def expect_unused(options: Mapping[str, object], why: str) -> None:
    """UnusedOptions for options that are not None: `why` says why they have no effect."""
    if used := [name for name, value in options.items() if value is not None]:
        raise UnusedOptions(used, why)


def expect_no_model_options(options: LearnOptions) -> None:
    """UnusedOptions about a model where none is asked."""
    limits = ("max_tokens", "max_minutes", "max_dollars", "cache", "calls_per_minute")
    named = cast("Mapping[str, Any]", options)
    unused = {name: named[name] or None for name in ("base_url", "reply_tokens")}
    unused |= {"temperature": options["temperature"], "model_seed": options["model_seed"]}
    expect_unused(unused | {name: named[name] or None for name in limits}, "no model is asked without --model")


def named_data_set(name: str, overrides: Mapping[str, Any], options: Sequence[str]) -> DataSet:
    """The data set of a name, with its options as NAME=VALUE. UnknownName; UsageError for options that do not fit."""
    return find_data_set(name, dict(named_value(text, LearnSettings) for text in options), learn_settings(overrides))


def _seed_text(seeds: Seeds | None, default: str) -> str:
    """Seeds as text: "7", "1-5", "1,3"."""
    if seeds is None or isinstance(seeds, str):
        return seeds or default
    return str(seeds) if isinstance(seeds, int) else ",".join(map(str, seeds))
