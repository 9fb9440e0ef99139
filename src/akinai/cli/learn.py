"""The command that learns a playbook and says what it is worth."""

from pathlib import Path
from typing import Annotated

import typer

from akinai.cli import models as m
from akinai.cli.learn_asked import LearnFlags, RunFlags, expect_none
from akinai.cli.learn_tasks import learn_from_tasks
from akinai.cli.learn_world import learn_from_runs
from akinai.cli.options import Json, Store, argument, option, whole

Tasks = Annotated[str, argument("TASKS", "A data set: qa, or one of akinai.toml; or a world: vending, market.")]
Sets = Annotated[
    list[str] | None,
    option("--set", metavar="NAME=VALUE", help="Of the data set, such as data=FILE or eval=FILE, or of the learner."),
]
PlaybookPath = Annotated[
    Path | None, option("--playbook", metavar="F", help="Its file.", default="data/playbooks/TASKS.json")
]
Epochs = Annotated[
    int | None, option("--epochs", metavar="N", help="Times through the tasks.", default="1", parser=whole)
]
Online = Annotated[
    bool | None, typer.Option("--online", help="Score each task before learning from it; no validation.")
]
Limit = Annotated[int | None, option("--limit", metavar="N", help="The first N training tasks.", parser=whole)]
Checkpoint = Annotated[
    str | None, option("--checkpoint", metavar="FILE", help="Go on from there after a crash (extra learn).")
]

Agent = Annotated[
    str | None,
    option("--agent", metavar="A", help="Who plays a world.", default="chat with a model, else the world's learner"),
]
Reflect = Annotated[
    str | None,
    option("--reflect", metavar="WHO", help="Who learns from runs: model or rules.", default="the model, if any"),
]
Seeds = Annotated[str | None, option("--seeds", metavar="S", help="Runs of a world to learn from.", default="1-10")]
EvalSeeds = Annotated[
    str | None, option("--eval-seeds", metavar="S", help="Runs to judge by, with and without.", default="101-120")
]
Days = Annotated[int | None, option("--days", metavar="N", help="Of each run of a world.", parser=whole)]
EvalSets = Annotated[
    list[str] | None, option("--eval-set", metavar="NAME=VALUE", help="A world's setting where it is judged alone.")
]


def learn(
    tasks: Tasks,
    sets: Sets = None,
    playbook: PlaybookPath = None,
    epochs: Epochs = None,
    online: Online = None,
    limit: Limit = None,
    checkpoint: Checkpoint = None,
    agent: Agent = None,
    reflect: Reflect = None,
    seeds: Seeds = None,
    eval_seeds: EvalSeeds = None,
    days: Days = None,
    eval_sets: EvalSets = None,
    store: Store = None,
    as_json: Json = False,
    model: m.ModelName = None,
    base_url: m.BaseUrl = None,
    temperature: m.Temperature = None,
    reply_tokens: m.ReplyTokens = None,
    model_seed: m.ModelSeed = None,
    max_tokens: m.MaxTokens = 0,
    max_minutes: m.MaxMinutes = 0,
    max_dollars: m.MaxDollars = 0,
) -> None:
    """Learn a playbook from tasks or from runs and judge it on others. Without a model, by rules."""
    from akinai.runtime.cast import ModelChoice
    from akinai.runtime.learn_world import is_played

    choice = ModelChoice(model, base_url, temperature, reply_tokens, model_seed) if model else None
    if choice is None:
        how = {"--base-url": base_url, "--temperature": temperature, "--reply-tokens": reply_tokens}
        limits = {"--max-tokens": max_tokens, "--max-minutes": max_minutes, "--max-dollars": max_dollars}
        asked = {**how, "--model-seed": model_seed, **{name: value or None for name, value in limits.items()}}
        expect_none(asked, "no model is asked without --model")
    budget = m.limits(0, max_tokens, max_minutes, max_dollars)
    flags = LearnFlags(tasks, sets or [], playbook, epochs, bool(online), limit, checkpoint, as_json, choice, budget)
    runs = RunFlags(agent, reflect, seeds, eval_seeds, days, eval_sets, store)
    if is_played(tasks):
        learn_from_runs(flags, runs)
    else:
        expect_none(runs.given, f"{tasks} is no world")
        learn_from_tasks(flags)
