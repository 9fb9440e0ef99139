"""The part of `akinai learn` that learns from the runs of a world."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from akinai.cli.options import option, place_of, whole
from akinai.cli.shown import document, next_steps, page

if TYPE_CHECKING:
    from rich.console import RenderableType

Agent = Annotated[str | None, option("--agent", metavar="A", help="Who plays a world.", default="the world's learner")]
Seeds = Annotated[str | None, option("--seeds", metavar="S", help="Runs of a world to learn from.", default="1-10")]
EvalSeeds = Annotated[
    str | None, option("--eval-seeds", metavar="S", help="Runs to judge by, with and without.", default="101-120")
]
Days = Annotated[int | None, option("--days", metavar="N", help="Of each run of a world.", parser=whole)]
EvalSets = Annotated[
    list[str] | None, option("--eval-set", metavar="NAME=VALUE", help="A world's setting where it is judged alone.")
]


@dataclass(frozen=True, slots=True)
class RunFlags:
    """What was asked for of a world's runs."""

    world: str
    agent: str | None
    seeds: str | None
    eval_seeds: str | None
    days: int | None
    sets: list[str] | None
    eval_sets: list[str] | None
    store: str | None


def expect_none(given: Mapping[str, object], why: str) -> None:
    """UsageError for a flag that does not go with what is learned from."""
    from akinai.core.errors import UsageError

    if wrong := [name for name, value in given.items() if value]:
        raise UsageError(f"{', '.join(wrong)} cannot be used: {why}; leave it out")


def learn_from_runs(flags: RunFlags, playbook: Path | None, epochs: int, as_json: bool) -> None:
    """Learn from a world's runs, judge on others, and tell what came of it."""
    from akinai import worlds
    from akinai.runtime.learn_world import EVAL_SEEDS, TRAIN_SEEDS, Practice, learn_world, learned_document

    practice = Practice(
        flags.world,
        flags.agent or worlds.load(flags.world).learner,
        flags.seeds or TRAIN_SEEDS,
        flags.eval_seeds or EVAL_SEEDS,
        flags.days,
        flags.sets or (),
        flags.eval_sets or (),
        place_of(flags.store),
    )
    start = perf_counter()
    learned = learn_world(practice, playbook=playbook, epochs=epochs)
    told = learned_document(learned, practice, perf_counter() - start)
    if as_json:
        document(told)
        return
    page(lambda width: _page(told, width))
    path, set_flags = shlex.quote(str(learned.path)), "".join(f" --set {shlex.quote(one)}" for one in practice.settings)
    next_steps(
        {
            f"akinai playbook show {path}": "what was learned, with its evidence",
            f"akinai run {flags.world} --agent {practice.agent} --playbook {path}{set_flags}": "play by it",
        }
    )


def _page(told: Mapping[str, Any], width: int) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from akinai.report.columns import Column, fitted

    rows = list(_rows(told))
    names, values, ends = ([row[at] for row in rows] for at in range(3))
    title = f"{told['world']}: {told['agent']} with what it learned from seeds {told['seeds']}, on {told['eval_seeds']}"
    table = fitted([Column("figure", names, words=True), Column("value", values), Column("95 %", ends, drop=1)], width)
    return Group(Text(title, "bold"), Text(f"playbook {told['card']['playbook']}"), Text(""), table)


def _rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield f"without a playbook (n = {told['runs']})", f"{told['without']:,.2f}", ""
    yield "with the playbook", f"{told['with']:,.2f}", ""
    if pairs := told["paired"]:
        ends = " to ".join(f"{end:+,.2f}" for end in pairs["ci95"] or ())
        yield "gain, run by run", f"{pairs['gain']:+,.2f}", ends
        yield "runs won, lost", f"{pairs['wins']}, {pairs['losses']}", ""
    yield "bullets in the playbook", f"{told['playbook_size']:,}", ""
    yield "seconds", f"{told['seconds']:,.1f}", ""
