"""The part of `akinai learn` that learns from the runs of a world."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from akinai.cli.learn_asked import FAILED, LearnFlags, RunFlags, expect_none, learning_bar
from akinai.cli.options import place_of
from akinai.cli.shown import document, next_steps, page, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from akinai.runtime.learn_world import Practice


def learn_from_runs(flags: LearnFlags, runs: RunFlags) -> None:
    """Learn from a world's runs, judge on others, and tell what came of it. Exits where it ended early."""
    from akinai.runtime.learn_world import learn_world
    from akinai.runtime.learn_world_document import learned_document

    world_sets, settings = _split(flags)
    practice = _practice(flags, runs, world_sets)
    start = perf_counter()
    with learning_bar(quiet=flags.as_json) as watch:
        learned = learn_world(
            practice,
            playbook=flags.playbook,
            checkpoint=flags.checkpoint,
            budget=flags.budget,
            settings=settings | flags.learner,
            watch=watch,
        )
    told = learned_document(learned, practice, perf_counter() - start)
    if flags.as_json:
        document(told)
    else:
        page(lambda width: _page(told, width))
        next_steps(_steps(str(learned.path), practice, runs))
    if learned.ending != "done":
        on = "the same command goes on" if flags.checkpoint else "the playbook holds what was learned until then"
        say(f"the learning ended early: {learned.ending}; {on}")
        raise typer.Exit(FAILED)


def _practice(flags: LearnFlags, runs: RunFlags, world_sets: Sequence[str]) -> "Practice":
    """What is to be played. UsageError for flags that nobody would hear."""
    from akinai import worlds
    from akinai.core.errors import UnknownName, UsageError
    from akinai.runtime.cast import CHAT
    from akinai.runtime.learn_world import EVAL_SEEDS, TRAIN_SEEDS, Practice

    if flags.online:
        judging = {"--eval-seeds": runs.eval_seeds, "--eval-set": runs.eval_sets}
        expect_none(judging, "online learning is judged by the runs that it learns from")
    if runs.reflect not in (None, "model", "rules"):
        raise UnknownName("way to reflect", runs.reflect, ("model", "rules"))
    practice = Practice(
        flags.tasks,
        runs.agent or (CHAT if flags.model else worlds.load(flags.tasks).learner),
        runs.seeds or TRAIN_SEEDS,
        runs.eval_seeds or EVAL_SEEDS,
        runs.days,
        world_sets,
        runs.eval_sets or (),
        place_of(runs.store),
        flags.model,
        "rules" if runs.reflect == "rules" else "model" if runs.reflect == "model" else None,
        flags.online,
    )
    if flags.model and not (practice.plays_by_model or practice.learns_by_model):
        raise UsageError(
            f"nobody asks {flags.model.name}: {practice.agent} plays by rules and --reflect rules learns by them; "
            "leave --model out, or one of the two"
        )
    return practice


def _split(flags: LearnFlags) -> tuple[list[str], dict[str, Any]]:
    """Settings of the runs, and of the learner: what the world does not know and the learner does is the learner's."""
    from akinai import worlds
    from akinai.runtime.config import named_value
    from akinai.runtime.learn_settings import LearnSettings

    setup = worlds.load(flags.tasks).setup
    world_sets: list[str] = []
    settings: dict[str, Any] = {}
    for one in flags.sets:
        name = one.partition("=")[0].strip()
        if name in LearnSettings.model_fields and name not in setup.model_fields:
            name, settings[name] = named_value(one, LearnSettings)
        else:
            world_sets.append(one)
    return world_sets, settings


def _steps(path: str, practice: "Practice", runs: RunFlags) -> dict[str, str]:
    """What to try next: read it, and have somebody play by it who can."""
    from akinai.runtime.cast import CHAT, THINKING

    words = ["akinai", "run", practice.world]
    # Sentences of a model are for a model: players by rules read those of the rules.
    agent = CHAT if practice.learns_by_model and practice.agent not in THINKING else practice.agent
    if agent != CHAT:
        words += ["--agent", agent]
    if agent in THINKING and practice.model:
        words += ["--model", practice.model.name]
        words += ["--base-url", practice.model.base_url] if practice.model.base_url else []
    words += ["--playbook", path]
    words += ["--days", str(practice.days)] if practice.days is not None else []
    words += [word for one in practice.settings for word in ("--set", one)]
    words += ["--store", runs.store] if runs.store else []
    shown = {f"akinai playbook show {shlex.quote(path)}": "what was learned, with its evidence"}
    return shown | {shlex.join(words): "play by it"}


def _page(told: Mapping[str, Any], width: int) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from akinai.report.columns import Column, fitted

    rows = list(_rows(told))
    names, values, ends = ([row[at] for row in rows] for at in range(3))
    where = "before each was learned from" if told["online"] else f"on {told['eval_seeds']}"
    who = "the rules" if told["card"]["roles"] == "rules" else told["card"]["roles"]
    learned = f"what {who} learned from seeds {told['seeds']}"
    title = f"{told['world']}: {told['agent']} with {learned}, {where}"
    table = fitted([Column("figure", names, words=True), Column("value", values), Column("95 %", ends, drop=1)], width)
    return Group(Text(title, "bold"), Text(f"playbook {told['card']['playbook']}"), Text(""), table)


def _rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The figures in words; those that are not there are left out."""
    if told["without"] is not None:
        yield f"without a playbook (n = {told['runs']})", f"{told['without']:,.2f}", ""
    if told["with"] is not None:
        yield "with the playbook", f"{told['with']:,.2f}", ""
    if pairs := told["paired"]:
        ends = " to ".join(f"{end:+,.2f}" for end in pairs["ci95"] or ())
        yield "gain, run by run", f"{pairs['gain']:+,.2f}", ends
        yield "runs won, lost", f"{pairs['wins']}, {pairs['losses']}", ""
    if told["failed"]:
        yield "runs that broke, counted as 0", f"{told['failed']:,}", ""
    yield "bullets in the playbook", f"{told['playbook_size']:,}", ""
    if told["given_up"]:
        yield "replies given up as unreadable", f"{told['given_up']:,}", ""
    if (spent := told["spent"])["calls"]:
        yield "replies of models", f"{spent['calls']:,}", ""
        yield "tokens sent, answered", f"{spent['input']:,}, {spent['output']:,}", ""
    yield "seconds", f"{told['seconds']:,.1f}", ""
