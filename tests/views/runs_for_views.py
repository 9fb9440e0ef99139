"""Runs for the tests of view models: short ones of each world, in memory."""

from functools import cache
from typing import Any

import akinai
from akinai import worlds
from akinai.core.worlds import replay
from akinai.runtime.runs.records import Run
from akinai.views import RunViews

RUNS: dict[str, dict[str, Any]] = {
    "vending": {"preset": "classic", "agent": "reference", "days": 9},
    "market": {"preset": None, "agent": "careful"},
    "qa": {"agent": "overlap"},
}


@cache
def played(world: str, **options: Any) -> Run:
    """A run of a world."""
    run_options = {name: value for name, value in {**RUNS[world], **options}.items() if value is not None}
    return akinai.run(world, seeds=[3], store="memory:", **run_options)[0]


@cache
def views(world: str, **options: Any) -> RunViews:
    """The views of the same run."""
    run = played(world, **options)
    rules = worlds.load(run.world)
    return RunViews(run.header, rules, replay(rules, run.ledger))
