"""The command that learns a playbook and says what it is worth."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akinai.cli import models as m
from akinai.cli.learn_world import Agent, Days, EvalSeeds, EvalSets, RunFlags, Seeds, expect_none, learn_from_runs
from akinai.cli.options import Json, Store, argument, option, whole
from akinai.cli.shown import document, next_steps, page, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from akinai.learning.loop import Watch

FAILED = 1

Tasks = Annotated[str, argument("TASKS", "A data set: qa, or one of akinai.toml; or a world that teaches: vending.")]
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


def learn(
    tasks: Tasks,
    sets: Sets = None,
    playbook: PlaybookPath = None,
    epochs: Epochs = None,
    online: Online = None,
    limit: Limit = None,
    checkpoint: Checkpoint = None,
    agent: Agent = None,
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
    """Learn a playbook from tasks with known answers, and judge it on others. Without a model, rules do it."""
    import akinai.runtime.learn as runtime
    from akinai.runtime.cast import ModelChoice
    from akinai.runtime.learn_document import learned_json
    from akinai.runtime.learn_settings import find_data_set, learn_settings
    from akinai.runtime.learn_world import teaches

    given = {"--agent": agent, "--seeds": seeds, "--eval-seeds": eval_seeds, "--days": days, "--eval-set": eval_sets}
    if teaches(tasks):
        others = {"--online": online, "--limit": limit, "--checkpoint": checkpoint, "--model": model}
        expect_none(others, f"{tasks} is a world, whose runs teach by rules")
        learn_from_runs(
            RunFlags(tasks, agent, seeds, eval_seeds, days, sets, eval_sets, store), playbook, epochs or 1, as_json
        )
        return
    expect_none(given, f"{tasks} is no world")
    settings, options = _split(sets or [])
    settings |= {"limit": limit} if limit is not None else {}
    data_set = find_data_set(tasks, learn_settings(settings), options)
    choice = ModelChoice(model, base_url, temperature, reply_tokens, model_seed) if model else None
    start = perf_counter()
    with _bar(quiet=as_json) as watch:
        learned = runtime.learn(
            data_set,
            playbook=playbook,
            epochs=epochs,
            online=online,
            model=choice,
            checkpoint=checkpoint,
            budget=m.limits(0, max_tokens, max_minutes, max_dollars),
            settings=settings,
            watch=watch,
        )
    told = learned_json(learned, data_set, perf_counter() - start, model)
    if as_json:
        document(told)
    else:
        page(lambda width: _page(told, width))
        next_steps(_steps(str(learned.path)))
    if learned.ending != "done":
        say(f"the learning ended early: {learned.ending}; the playbook holds what was learned until then")
        raise typer.Exit(FAILED)


def _split(sets: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of the learner, and options of the data set: what the learner does not know is the data set's."""
    from akinai.runtime.config import named_value
    from akinai.runtime.learn_settings import LearnSettings

    settings: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for one in sets:
        name, value = named_value(one, LearnSettings)
        (settings if name in LearnSettings.model_fields else options)[name] = value
    return settings, options


def _steps(path: str) -> dict[str, str]:
    quoted = shlex.quote(path)
    return {
        f"akinai playbook show {quoted}": "what was learned",
        f"akinai playbook history {quoted}": "change by change, and back to any of them",
    }


def _page(told: Mapping[str, Any], width: int) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from akinai.report.columns import Column, fitted

    rows = list(_rows(told))
    names, values, ends = ([row[at] for row in rows] for at in range(3))
    title = f"{told['tasks']}, learned by {told['card']['roles']}, judged on {told['split']}"
    table = fitted([Column("figure", names, words=True), Column("value", values), Column("95 %", ends, drop=1)], width)
    return Group(Text(title, "bold"), Text(f"playbook {told['card']['playbook']}"), Text(""), table)


def _rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The figures in words; those that are not there are left out."""
    names = {
        "baseline_accuracy": "accuracy without a playbook",
        "accuracy": "accuracy with the playbook",
        "clean_accuracy": "accuracy on tasks that are not in training",
    }
    for name, words in names.items():
        if one := told[name]:
            low, high = one["ci95"]
            yield f"{words} (n = {one['n']:,})", f"{one['value']:.1%}", f"{low:.1%} to {high:.1%}"
    if pairs := told["paired"]:
        ends = " to ".join(f"{100 * end:+.1f}" for end in pairs["ci95"] or ())
        yield "gain in points, task by task", f"{100 * pairs['gain']:+.1f}", ends
        yield "tasks won, lost", f"{pairs['wins']:,}, {pairs['losses']:,}", ""
    for epoch in told["improvement_rate"]:
        rate = f" ({epoch['rate']:+.1%})" if epoch["rate"] is not None else ""
        yield f"accuracy in training, epoch {epoch['epoch']}", f"{epoch['accuracy']:.1%}{rate}", ""
    tokens = told["tokens"]
    yield "bullets in the playbook", f"{told['playbook_size']:,}", ""
    yield "tokens given to a task", f"{tokens['injected']:,.0f} of {tokens['injected_all']:,.0f}", ""
    if told["failed"]:
        yield "tasks without a readable answer", f"{told['failed']:,}", ""
    if (spent := told["spent"])["calls"]:
        unreadable = f", {spent['unreadable']:,} unreadable" if spent["unreadable"] else ""
        yield "replies of the model", f"{spent['calls']:,}{unreadable}", ""
        yield "tokens sent, answered", f"{spent['input']:,}, {spent['output']:,}", ""
    yield "seconds", f"{told['seconds']:,.1f}", ""


@contextmanager
def _bar(*, quiet: bool) -> "Iterator[Watch | None]":
    """A bar over the tasks on stderr, where somebody sits at a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        bar = shown.add_task("epoch 1")

        def watch(step: str, state: Any) -> None:
            told = "judging" if state.over else f"epoch {state.epoch}: {state.done:,} tasks learned, {step} done"
            shown.update(bar, description=told)

        yield watch
