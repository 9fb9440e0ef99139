"""Estimates of the calls, tokens, time and money of a learning, made before anything is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import get_args

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.models import Usage, estimate_tokens
from akinai.learning.data_sets import DataSet
from akinai.learning.loop.state import LoopConfig
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.roles.protocols import RoleName
from akinai.learning.roles.tasks import Split, Task
from akinai.learning.roles.templates import PromptTemplates
from akinai.learning.search.injection import inject_all
from akinai.runtime.learn.against import find_rivals
from akinai.runtime.learn.arguments import names_in, playbook_file
from akinai.runtime.learn.players import TRUTH_SHARE
from akinai.runtime.learn.role_models import LEARNERS, ROLES, RoleModels
from akinai.runtime.learn.settings import LearnSettings
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.models.budget import known_prices
from akinai.runtime.options import LearnOptions
from akinai.runtime.play.agent_spec import MODEL_AGENTS, AgentSpec
from akinai.runtime.play.estimate import SECONDS_PER_CALL, Estimate, estimate_runs, summed
from akinai.runtime.runs.planning import seeds_in

REPLY_TOKENS: Mapping[RoleName, int] = {"generator": 200, "reflector": 300, "curator": 200}
"""Assumed tokens of a reply."""
INSIGHT_TOKENS = 150
"""Assumed tokens of a reflection in later prompts."""
BULLET_TOKENS = 60
"""Assumed tokens of a new bullet; each delta adds one."""
SAMPLED = 100
"""Number of tasks whose prompts are counted; the others are assumed to be like them."""

_EMPTY_VALUES = dict.fromkeys(
    (
        *("bullets", "reflections", "reasoning", "report", "sections", "earlier", "progress"),
        *("insights", "tokens", "budget", "most"),
    ),
    "",
)


@dataclass(frozen=True, slots=True)
class LearnEstimate:
    """The most that a learning takes of its models: every attempt fails, every reply is readable, none is cached."""

    models: RoleModels
    roles: Mapping[RoleName, Estimate]
    """The calls of each role that asks a model, while it learns and on the judged tasks."""
    against: Mapping[str, Estimate]
    """The contenders, each of which learns with at most the tokens of the playbook's learning."""

    @property
    def whole(self) -> Estimate:
        """All roles and contenders together."""
        return summed([*self.roles.values(), *self.against.values()])

    def to_json(self) -> dict[str, Json]:
        """The document of `akinai learn --dry-run --json`."""
        roles: dict[str, Json] = {
            role: {"model": self.models.label((role,)), **_calls_json(part)} for role, part in self.roles.items()
        }
        against: list[Json] = [
            {"name": name, **_calls_json(part), "dollars": part.dollars} for name, part in self.against.items()
        ]
        whole = self.whole
        totals = {**_calls_json(whole), "hours": whole.hours, "dollars": whole.dollars}
        return {**totals, "roles": roles, "against": against or None}


def _calls_json(part: Estimate) -> dict[str, Json]:
    return {"calls": part.messages, "tokens": part.to_json()["tokens"]}


def _against(
    names: Sequence[str], learning: Sequence[Estimate], judging: Sequence[Estimate], *, on_runs: bool = False
) -> Mapping[str, Estimate]:
    """The contenders: each takes `judging`, and `learning` too if it asks a model to learn."""
    rivals = find_rivals(names, has_model=True, on_runs=on_runs)
    return {name: summed([*judging, *(learning if rival.asks_model else ())]) for name, rival in rivals.items()}


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The most calls that a learning can make, by purpose."""

    attempts: int = 0
    """At training tasks."""
    reflections: int = 0
    curations: int = 0
    held_out: int = 0
    """Attempts at held-out tasks, by the gate and for choosing the best playbook."""
    judged: int = 0
    """Attempts that judge: with the playbook, without one, and with its control."""


def call_counts(
    config: LoopConfig, train: int, held_out: int, judged: int, *, tries: int = 1, baseline: bool = True
) -> CallCounts:
    """The calls of a learning from so many tasks in which every attempt fails; `tries` are attempts that are compared
    in training.

    A task is attempted once and after each of its reflections, and each batch is curated once.
    """
    learned = train * config.epochs
    reflections = max(config.rounds, int(config.reflect_on_success))
    attempts = 1 + (config.rounds if config.new_tries else 0)
    curations = ceil(train / config.batch) * config.epochs if reflections else 0
    judgements = curations + 1 if config.gate else 0
    if config.keep_best:
        judgements += 1 + config.epochs * (1 + (train // config.select_every if config.select_every else 0))
    judging = judged * (1 + 2 * baseline) if judged else learned * baseline
    return CallCounts(learned * attempts * tries, learned * reflections, curations, judgements * held_out, judging)


def estimate_tasks(
    data_set: DataSet, settings: LearnSettings, models: RoleModels, options: LearnOptions
) -> LearnEstimate:
    """The estimate for tasks with known answers. UsageError where no model is asked."""
    _expect_model(models)
    tasks = {split: tuple(data_set.load(split)) for split in get_args(Split)}
    reserved = 0 if tasks["held_out"] else settings.held_out
    train = tasks["train"][: len(tasks["train"]) - reserved][: settings.limit or None]
    judged = () if settings.online else (*tasks["validation"], *tasks["test"])
    config, baseline = settings.for_roles(uses_model=True), options["baseline"]
    tries = settings.consistency_tries if settings.no_truth and settings.feedback == "consistency" else 1
    calls = CallCounts(judged=len(judged) * (1 + 2 * baseline))
    if not options["judge_only"]:
        held_out = len(tasks["held_out"]) or reserved
        calls = call_counts(config, len(train), held_out, len(judged), tries=tries, baseline=baseline)
    base = _prompt_tokens(settings.templates(data_set), (train or judged)[:SAMPLED], {role: role for role in ROLES})
    file = PlaybookFile(playbook_file(options, data_set.name))
    start = 0 if options["fresh"] or not file.exists() else inject_all(file.load()).tokens

    def estimate(counts: CallCounts) -> Mapping[RoleName, Estimate]:
        return _estimate_calls(models, _usages(config, counts, base, start, settings.curator_budget_tokens))

    last = _injected_tokens(config, start + BULLET_TOKENS * calls.curations)
    sent = ceil(len(judged) * (base["generator"] + last))
    usage = Usage(sent, len(judged) * REPLY_TOKENS["generator"])
    judging = _estimate_calls(models, {"generator": (len(judged), usage)})
    learning = estimate(replace(calls, judged=0))
    against = _against(names_in(options["against"]), [*learning.values()], [*judging.values()])
    return LearnEstimate(models, estimate(calls), against)


def estimate_training_runs(
    config: TrainConfig, settings: LearnSettings, data_set: DataSet, options: LearnOptions
) -> LearnEstimate:
    """The estimate for the runs of a world. UsageError where no model is asked."""
    models, jobs, against = config.models, options["jobs"], names_in(options["against"])
    if not config.plays_by_model:
        _expect_model(models)
    loop = settings.for_roles(uses_model=True)
    train, judged = seeds_in(config.seeds) if config.seeds else [], seeds_in(config.eval_seeds)
    judged = judged * len(config.opposing())
    roles = dict[RoleName, Estimate]()
    if config.plays_by_model:
        judging = train if config.online else judged * 3
        roles["generator"] = _played(config, [*train * loop.epochs], judging, jobs)
    if config.learns_by_model:
        calls = call_counts(loop, len(train), 0, 0, baseline=False)
        names: Mapping[RoleName, str] = {"reflector": "run_reflector", "curator": "run_curator"}
        record = settings.run_tokens + settings.run_tokens // TRUTH_SHARE
        base = _prompt_tokens(settings.templates(data_set), data_set.load("train")[:1], names, record)
        usages = _usages(loop, calls, base, 0, settings.curator_budget_tokens)
        roles |= _estimate_calls(models, {role: usages[role] for role in LEARNERS})
    contest = [_played(config, (), judged, jobs)] if config.plays_by_model and against else []
    return LearnEstimate(models, roles, _against(against, (), contest, on_runs=True))


def _played(config: TrainConfig, train: Sequence[int], judged: Sequence[int], jobs: int | None) -> Estimate:
    """The estimate of the runs that teach and of those that judge, as calls of the Generator."""
    spec = AgentSpec(config.agent, config.model if config.agent in MODEL_AGENTS else None, model_defaults=config.model)
    side = config.opposing()[0].settings
    return summed(
        [
            estimate_runs(
                config.load_world(),
                spec,
                seeds,
                preset=config.preset,
                days=config.days,
                settings=[*config.settings_of(judged=judging), *side],
                jobs=jobs,
            )
            for seeds, judging in ((train, False), (judged, True))
            if seeds
        ]
    )


def _prompt_tokens(
    templates: PromptTemplates, tasks: Sequence[Task], names: Mapping[RoleName, str], record_tokens: int = 0
) -> Mapping[RoleName, int]:
    """The tokens of the roles' prompts without bullets and insights, by role: the mean over some tasks. A Reflector is
    shown a record of `record_tokens` besides."""
    tokens = dict.fromkeys(ROLES, 0)
    for role, prompt in names.items():
        for task in tasks:
            values = {"task": task.text, "tasks": task.text, "answer": task.truth, "truth": task.truth}
            messages = templates.messages(prompt, {**_EMPTY_VALUES, **values})
            tokens[role] += estimate_tokens("\n".join(message.text for message in messages))
        tokens[role] = ceil(tokens[role] / max(1, len(tasks)))
    tokens["reflector"] += record_tokens
    return tokens


def _usages(
    config: LoopConfig, calls: CallCounts, base: Mapping[RoleName, int], start: int, curator_budget: int
) -> Mapping[RoleName, tuple[int, Usage]]:
    """Calls and tokens by role, whose prompts have `base` tokens. The playbook begins with `start` tokens and grows by
    a bullet with each delta."""
    sizes = [start + BULLET_TOKENS * n for n in range(calls.curations)] or [start]
    injected = [_injected_tokens(config, size) for size in sizes]
    mean, last = sum(injected) / len(injected), _injected_tokens(config, sizes[-1])
    whole = sum(min(size, curator_budget or size) for size in sizes) / len(sizes)
    generated = (
        calls.attempts * (base["generator"] + mean)
        + calls.reflections * INSIGHT_TOKENS * bool(config.new_tries)
        + calls.held_out * (base["generator"] + mean)
        + calls.judged * (base["generator"] + last * 2 / 3)
    )
    reflected = calls.reflections * (base["reflector"] + mean + REPLY_TOKENS["generator"])
    insights = calls.reflections / max(1, calls.curations) * INSIGHT_TOKENS
    curated = calls.curations * (base["curator"] + whole + insights)
    numbers: dict[RoleName, tuple[int, float]] = {
        "generator": (calls.attempts + calls.held_out + calls.judged, generated),
        "reflector": (calls.reflections, reflected),
        "curator": (calls.curations, curated),
    }
    return {role: (n, Usage(ceil(sent), n * REPLY_TOKENS[role])) for role, (n, sent) in numbers.items()}


def _injected_tokens(config: LoopConfig, size: int) -> int:
    """The tokens of the bullets in a context, for a playbook of some size."""
    if config.whole:
        return size
    return min(size, config.top_k * BULLET_TOKENS, config.budget_tokens or size)


def _estimate_calls(models: RoleModels, usages: Mapping[RoleName, tuple[int, Usage]]) -> Mapping[RoleName, Estimate]:
    prices = known_prices()
    roles = dict[RoleName, Estimate]()
    for role, (calls, usage) in usages.items():
        if role in models.by_role and calls:
            price = prices.get(models.by_role[role].name)
            hours = calls * SECONDS_PER_CALL / 3600
            roles[role] = Estimate(calls, usage, hours, price.dollars(usage) if price else None)
    return roles


def _expect_model(models: RoleModels) -> None:
    if not models:
        raise UsageError("an estimate tells what models are asked, and rules ask none; name a model with --model")
