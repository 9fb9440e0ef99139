"""The part of `akinai learn` that learns from tasks with known answers."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from akinai.cli.learn_asked import FAILED, LearnFlags, learning_bar
from akinai.cli.shown import document, next_steps, page, say

if TYPE_CHECKING:
    from rich.console import RenderableType


def learn_from_tasks(flags: LearnFlags) -> None:
    """Learn from a data set, judge on its validation tasks, and tell what came of it. Exits where it ended early."""
    import akinai.runtime.learn as runtime
    from akinai.runtime.learn_document import learned_json
    from akinai.runtime.learn_settings import find_data_set, learn_settings

    settings, options = _split(flags.sets)
    settings |= flags.learner
    data_set = find_data_set(flags.tasks, learn_settings(settings), options)
    start = perf_counter()
    with learning_bar(quiet=flags.as_json) as watch:
        learned = runtime.learn(
            data_set,
            playbook=flags.playbook,
            model=flags.model,
            checkpoint=flags.checkpoint,
            budget=flags.budget,
            settings=settings,
            watch=watch,
        )
    told = learned_json(learned, data_set, perf_counter() - start, flags.model.name if flags.model else None)
    if flags.as_json:
        document(told)
    else:
        page(lambda width: _page(told, width))
        next_steps(_steps(str(learned.path)))
    if learned.ending != "done":
        say(f"the learning ended early: {learned.ending}; the playbook holds what was learned until then")
        raise typer.Exit(FAILED)


def _split(sets: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
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
