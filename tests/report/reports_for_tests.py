"""Analyses to report on: of real runs, of worlds with little to tell, and of names that try to be markup."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import akinai
from akinai import api
from akinai.analysis.analyse import Analysis
from akinai.analysis.groups import GroupName, summarise_group
from akinai.analysis.records import Scale
from akinai.core.findings import Finding
from akinai.core.ledger import Genesis
from akinai.core.scores import Score
from akinai.core.stores import RunHeader
from akinai.report.page.document import Document
from akinai.report.page.groups import group_comparisons
from akinai.report.page.sections import document
from akinai.runtime.runs.records import Run, Runs, Series
from akinai.stores.memory import MemoryStore

EVIL = "</svg><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">|`x`*y*_z_[l](u)<b>&amp;$1 'q'"
"""What an agent might call itself."""


def analysis_of(records: Iterable[Run], scale: Scale = Scale(why_not="nobody asked")) -> Analysis:  # noqa: B008
    """Runs in groups by agent."""
    runs = tuple(records)
    agents = dict.fromkeys(run.agent for run in runs)
    groups = [
        summarise_group(GroupName(agent, {}), [run for run in runs if run.agent == agent], scale) for agent in agents
    ]
    return Analysis(Runs(runs), tuple(groups))


@cache
def played(days: int = 20, seeds: int = 3, players: Sequence[str] = ("idle", "naive", "reference")) -> Analysis:
    """Real runs of the vending world, analysed as the command does it."""
    store = MemoryStore()
    for name in players:
        akinai.run(
            "vending",
            agent=name,
            seeds=range(1, seeds + 1),
            days=days,
            name=name,
            store=store,
            ledgers=False,
            preset="classic",
        )
    return api.analyze(store=store, by_day=True)


def evil() -> Analysis:
    """Two runs, one of them failed, in which every name and text tries to be markup."""
    series = Series(
        days=(1, 2, 4),
        facts={"net_worth_cents": (100.0, 250.0, 900.0), "cash_cents": (1.0, 2.0, 3.0), "stock_cents": (0.0, 5.0, 9.0)},
        tables={"sold": {EVIL: (1.0, 0.0, 2.0)}, "price_cents": {EVIL: (0.0, 150.0, 175.0)}},
        tools={EVIL: (2, 1, 1)},
        refused=(0, 0, 1),
    )
    finding = Finding(EVIL, EVIL, (1, 3), "grave", EVIL, EVIL, 0)
    card = {"agent": EVIL, "model": EVIL, "sampling": {EVIL: EVIL}}
    header = RunHeader(EVIL, Genesis("vending@3", 1, {}), {"owner": EVIL}, 1, status="done", ending=EVIL, card=card)
    broken = replace(header, run_id=f"{EVIL} again", genesis=Genesis("vending@3", 2, {}), status="failed", error=EVIL)
    run = Run(
        header, 4, "ab" * 32, 4, (Score("net_worth", 900, "cents"),), judged=True, finding_types={EVIL: 1},
        severities={"grave": 1}, findings=(finding,), series=series,
    )  # fmt: skip
    return analysis_of([run, replace(run, header=broken)])


@cache
def report(which: str) -> Document:
    """The report on `played`, or on `evil` with the paper's table."""
    analysis = played() if which == "played" else evil()
    return document(analysis, group_comparisons(analysis), with_paper=which == "evil")
