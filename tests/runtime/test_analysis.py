"""Analyses: what many runs say together, worked by hand on runs that are small enough for it."""

import math
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import akinai
from akinai.core.agents import Agent, Role
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis, Outcome
from akinai.core.models import Reply, Usage
from akinai.core.stores import RunHeader
from akinai.core.trace import TraceRecord
from akinai.core.worlds import Walked, walk, walked
from akinai.runtime import api
from akinai.runtime.analysis import Wanted
from akinai.runtime.config import prepare
from akinai.runtime.waiting import wait
from akinai.stores import open_store
from akinai.worlds.vending import Vending
from akinai.worlds.vending.actions import AdvanceDay, GetMoneyBalance

STORE = "akinai.db"
FEE = 200
START = 50_000


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings from around it."""
    for name in [name for name in os.environ if name.startswith("AKINAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tired(after: int, looks: int = 0) -> Callable[[Role], Agent]:
    """A player that looks at its money, sleeps so many days and then breaks."""

    class Tired:
        def __init__(self, role: Role) -> None:
            self.moves = 0

        async def act(self, view: akinai.View, heard: Outcome | None) -> akinai.Move:
            self.moves += 1
            if self.moves <= looks:
                return akinai.Move(GetMoneyBalance())
            if self.moves > after + looks:
                raise RuntimeError("too tired")
            return akinai.Move(AdvanceDay())

    return Tired


def play(name: str, lasts: dict[int, int], days: int = 5, **more: object) -> None:
    """One group of an idle player that breaks on each seed after so many days; after `days` it has ended."""
    for seed, after in lasts.items():
        akinai.run("vending", agent=tired(after, **more), seeds=seed, days=days, store=STORE, name=name)  # pyright: ignore[reportArgumentType] - looks


def edit(statement: str) -> None:
    with closing(sqlite3.connect(STORE)) as connection, connection:
        connection.execute(statement)


def test_failed_runs_stay_in_every_figure() -> None:
    """A run that broke counts with what its ledger holds: 498, 496 and 490 dollars, of which one run ended."""
    play("g", {1: 1, 2: 2, 3: 5})
    told = api.analyze("g", store=STORE, scale=False)
    (group,) = told.groups
    worth = group.scores["net_worth"]
    values = [START - days * FEE for days in (1, 2, 5)]
    mean = sum(values) / 3
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
    assert (group.name, len(group.runs), group.seeds, group.days) == ("Tired", 3, 3, 8)
    assert group.states == {"done": 1, "failed": 2}
    assert group.endings == {"(failed)": 2, "horizon": 1}
    assert (worth.summary.n, worth.summary.failed) == (3, 0)
    assert worth.summary.mean == pytest.approx(mean)
    assert (worth.summary.median, worth.summary.min, worth.summary.max) == (49_600, 49_000, 49_800)
    half = 4.302652729911275 * sd / math.sqrt(3)
    assert worth.summary.ci95 == (pytest.approx(mean - half), pytest.approx(mean + half))
    assert worth.mean_of_done == 49_000
    # two groups of three such runs: four degrees of freedom
    assert worth.smallest_visible == pytest.approx((2.7764451051977987 + 0.9409645999) * sd * math.sqrt(2 / 3))
    assert told.summary["net_worth"].mean == pytest.approx(mean)


def test_unreadable_runs_are_counted_beside_the_figures() -> None:
    """A damaged entry, a damaged header, a lost tail, an edited outcome: each is told of, counted, and stops nothing."""
    play("g", dict.fromkeys(range(1, 7), 5))
    edit("UPDATE actions SET data = '{}' WHERE seq = 3 AND run_id = 'g-1'")
    edit("UPDATE runs SET genesis = 'nothing' WHERE run_id = 'g-2'")
    edit("DELETE FROM actions WHERE seq > 3 AND run_id = 'g-3'")
    edit("UPDATE actions SET data = replace(data, '$2.00 paid', '$9.00 paid') WHERE seq = 2 AND run_id = 'g-4'")
    edit("UPDATE runs SET genesis = replace(genesis, '\"fee_cents\":200', '\"fee_cents\":-1') WHERE run_id = 'g-5'")
    told = api.analyze("g", store=STORE, scale=False)
    assert [run.id for run in told.runs] == [f"g-{seed}" for seed in range(1, 7)]
    troubles = {run.id: run.trouble or "" for run in told.troubled}
    assert list(troubles) == [f"g-{seed}" for seed in range(1, 6)]
    assert troubles["g-1"].startswith("entry 3: its data is not an entry's")
    assert "header of run 'g-2'" in troubles["g-2"]
    assert "the run had 5 entries when it was closed" in troubles["g-3"]
    assert troubles["g-4"].startswith("entry 2: AdvanceDay gave ok")
    assert "fee_cents" in troubles["g-5"]
    (group,) = [group for group in told.groups if "g-6" in group.runs]
    assert group.runs == ("g-1", "g-3", "g-4", "g-6")
    assert group.states == {"done": 1, "unreadable": 3}
    worth = group.scores["net_worth"].summary
    assert (worth.n, worth.failed, worth.mean) == (1, 3, 49_000)
    (group,) = api.analyze("g-1", "g-2", "g-6", store=STORE).groups
    assert (group.states, group.scale.of, group.scale.seeds) == ({"done": 1, "unreadable": 2}, 1, (6,))
    assert sum(len(group.runs) for group in told.groups) == 6


def test_runs_are_grouped_by_how_they_were_played() -> None:
    """Player, settings, playbook, model and forks tell groups apart, and names say what does."""
    akinai.run("vending", agent="idle", seeds="1-2", days=3, store=STORE, name="a")
    akinai.run("vending", agent="idle", seeds="3-4", days=3, store=STORE, name="b")
    akinai.run("vending", agent="naive", seeds=1, days=3, store=STORE, name="c")
    akinai.run("vending", agent="idle", seeds=1, days=3, store=STORE, name="d", settings={"fee_cents": 300})
    akinai.fork("c", at_day=2, agent="idle", new_name="e", store=STORE)
    told = api.analyze(store=STORE, scale=False)
    assert {group.name: group.runs for group in told.groups} == {
        "idle fee_cents=200": ("a-1", "a-2", "b-3", "b-4"),
        "naive fee_cents=200": ("c-1",),
        "idle fee_cents=300": ("d-1",),
        "idle fork e fee_cents=200": ("e-1",),
    }
    assert [group.name for group in api.analyze("a", "b", store=STORE, scale=False).groups] == ["idle"]
    assert api.analyze("d", "a", store=STORE, scale=False).groups[0].settings == {"fee_cents": 300}


def test_copies_are_told() -> None:
    """A rule-based run that was played twice says nothing new, and the group says so."""
    akinai.run("vending", agent="idle", seeds="1-2", days=3, store=STORE, name="a")
    akinai.run("vending", agent="idle", seeds="2-3", days=3, store=STORE, name="b")
    (group,) = api.analyze("a", "b", store=STORE, scale=False).groups
    assert (len(group.runs), group.seeds, group.copies) == (4, 3, 1)


def test_share_stands_between_idle_and_reference() -> None:
    """0 for idle, 1 for reference, and by hand between: on runs of the store where it has them, else played."""
    play("g", {1: 5, 2: 3})
    told = api.analyze("g", store=STORE)
    (group,) = told.groups
    reference = [run.score("net_worth") for run in akinai.run("vending", agent="reference", seeds="1-2", days=5)]
    low, high, own = 49_000, sum(reference) / 2, (49_000 + 49_400) / 2
    assert group.scores["net_worth"].share == pytest.approx((own - low) / (high - low))
    assert (group.scale.seeds, group.scale.of, group.scale.played) == ((1, 2), 2, (1, 2))
    for agent in ("idle", "reference"):
        akinai.run("vending", agent=agent, seeds="2-3", days=5, store=STORE, name=agent)
    (group,) = api.analyze("g", store=STORE).groups
    assert (group.scale.seeds, group.scale.played) == ((1, 2), (1,))
    shares = {one.name: one.scores["net_worth"].share for one in api.analyze("idle", "reference", store=STORE).groups}
    assert shares == {"idle": 0, "reference": 1}


@pytest.mark.slow
def test_scale_is_bounded_unless_asked_for() -> None:
    """Of 23 seeds idle and reference are played on 20; on all where that is asked for, on none where it is refused."""
    akinai.run("vending", agent="idle", seeds="1-23", days=1, store=STORE, name="a")
    few, every, none = (api.analyze("a", store=STORE, scale=scale).groups[0].scale for scale in (None, True, False))
    assert (len(few.seeds), few.of) == (20, 23)
    assert len(every.seeds) == 23
    assert (none.seeds, none.why_not) == ((), "it was not asked for")


def test_endless_games_have_no_scale() -> None:
    """A game without a horizon is not played for a scale: it might never end."""
    run = RunHeader(
        "a",
        Genesis("vending@1", 1, prepare(Vending(), days=0, settings=["max_messages=0"]).setup),
        {"owner": "idle"},
        1,
    )
    wait(_write([run], {}))
    assert (
        api.analyze("a", store=STORE).groups[0].scale.why_not == "idle and reference were played on none of its seeds"
    )


async def _write(headers: list[RunHeader], trace: dict[str, list[TraceRecord]]) -> None:
    store = await open_store(STORE)
    for header in headers:
        await store.create(header)
        await store.add_trace(header.run_id, trace.get(header.run_id, []))
    await store.close()


@pytest.mark.slow
def test_empty_runs_are_read_in_processes_as_here() -> None:
    """Runs that nobody has played count with the state they begin in; processes give the same records in order."""
    genesis = Genesis("vending@1", 1, prepare(Vending(), days=5).setup)
    headers = [RunHeader(f"r-{n}", replace(genesis, seed=n), {"owner": "idle"}, n, group="r") for n in range(30)]
    wait(_write(headers, {}))
    heard: list[tuple[str, int, int]] = []
    here = api.analyze("r", store=STORE, scale=False)
    there = api.analyze("r", store=STORE, scale=False, jobs=2, progress=lambda *one: heard.append(one))
    assert here == there
    assert [run.id for run in there.runs] == [f"r-{n}" for n in range(30)]
    assert heard[:30] == [(f"r-{n}", 0, 5) for n in range(30)]
    assert heard[30:] == [(f"r-{n}", -1, 5) for n in range(30)]
    (group,) = there.groups
    assert (group.states, group.days, group.scores["net_worth"].summary.mean) == ({"open": 30}, 0, START)


def test_days_are_told_where_wanted() -> None:
    """Worked by hand: an idle machine loses its fee each day; tools and refusals are counted by day."""
    play("g", {1: 3}, days=3, looks=2)
    (run,) = api.analyze("g", store=STORE, scale=False, wanted=Wanted(series=True)).runs
    told = run.series
    assert told is not None
    assert told.days == (1, 2, 3)
    assert told.facts["net_worth_cents"] == (49_800, 49_600, 49_400)
    assert told.facts["income_cents"] == (0, 0, 0)
    assert told.tools == {"get_money_balance": (2, 0, 0), "advance_day": (1, 1, 1)}
    assert told.refused == (0, 0, 0)
    assert api.analyze("g", store=STORE, scale=False).runs[0].series is None


def test_sales_and_prices_are_told_by_product() -> None:
    """The days of a player that sells add up to its scores: units, and income at the prices of the day."""
    akinai.run("vending", agent="naive", seeds=1, days=12, store=STORE, name="a")
    (run,) = api.analyze("a", store=STORE, scale=False, wanted=Wanted(series=True)).runs
    told = run.series
    assert told is not None
    sold, prices = told.tables["sold"], told.tables["price_cents"]
    assert sum(sum(units) for units in sold.values()) == run.value("units_sold")
    for day in range(12):
        income = sum(units[day] * prices[product][day] for product, units in sold.items())
        assert income == told.facts["income_cents"][day]
    assert told.facts["net_worth_cents"][-1] == run.value("net_worth")


def test_effort_comes_from_the_trace(folder: Path) -> None:
    """Tokens, minutes and dollars of the calls that were sent; what the cache answered took none."""
    genesis = Genesis("vending@1", 1, prepare(Vending(), days=5).setup)
    sent = Reply("a", usage=Usage(1_000, 100, 200), model="m-2026", latency_s=30)
    calls = [sent, sent, replace(sent, from_cache=True)]
    records = [
        TraceRecord("owner", n, n, {"kind": "model_call", "model": "openai:m", "reply": call.to_json()})
        for n, call in enumerate(calls, 1)
    ]
    header = RunHeader("a", genesis, {"owner": "chat"}, 1, card={"model": "openai:m"})
    wait(_write([header, replace(header, run_id="b")], {"a": records}))
    (run, quiet) = api.analyze(store=STORE, scale=False).runs
    assert run.effort is not None
    assert (run.effort.calls, run.effort.cache_hits, run.effort.tokens) == (3, 1, Usage(2_000, 200, 400))
    assert (run.effort.minutes, run.effort.dollars, run.effort.models) == (1, None, ("m-2026",))
    assert quiet.effort is None
    prices = "input_per_million = 5.0\noutput_per_million = 10.0\ncached_input_per_million = 1.0"
    (folder / "akinai.toml").write_text(f'[prices."openai:m"]\n{prices}\n')
    (group,) = api.analyze(store=STORE, scale=False).groups
    assert group.name == "chat openai:m"
    assert group.effort is not None
    # 1,600 new tokens at 5, 400 read before at 1 and 200 written at 10 dollars a million
    assert (group.effort.runs, group.effort.dollars) == (1, pytest.approx((1_600 * 5 + 400 + 200 * 10) / 1e6))


def test_record_is_folded_once_for_all() -> None:
    """Whoever walks the entries of a walked ledger gets the very steps that were made, and scores alike."""
    world = Vending()
    (run,) = akinai.run(world, agent="naive", seeds=1, days=8)
    once = walked(world, run.ledger, check=True)
    assert isinstance(once.entries, Walked)
    assert list(once.entries) == list(run.ledger.entries)
    assert once.entries[3:5] == tuple(run.ledger.entries[3:5])
    again = list(walk(Vending(), once.genesis, once.entries))
    assert all(one is kept for one, kept in zip(again, once.entries.steps, strict=True))
    assert [scorer(once) for scorer in world.scorers] == [scorer(run.ledger) for scorer in world.scorers]
    assert list(world.findings(once)) == list(world.findings(run.ledger))


def test_pairs_by_hand() -> None:
    """Paired by seed: +2, +6 and 0 dollars; the seeds that one side alone has are named and in no figure."""
    play("a", {1: 3, 2: 5, 3: 5, 4: 5})
    play("b", {1: 2, 2: 2, 3: 5, 9: 1}, looks=1)
    told = api.contrast("a", "b", store=STORE, gain=2)
    worth = told.scores["net_worth"]
    assert (told.seeds, told.only_a, told.only_b, told.unfinished) == ((1, 2, 3), (4,), (9,), (1, 2))
    assert worth.paired is not None
    assert (worth.paired.pairs, worth.paired.wins, worth.paired.losses, worth.paired.ties) == (3, 2, 0, 1)
    assert worth.difference == pytest.approx((200 + 600 + 0) / 3)
    assert worth.of_done == 0
    sd = math.sqrt(((200 - 800 / 3) ** 2 + (600 - 800 / 3) ** 2 + (800 / 3) ** 2) / 2)
    assert worth.smallest_visible == pytest.approx((4.302652729911275 + 1.0606601717798212) * sd / math.sqrt(3))
    assert worth.needed == 21  # (2.086 + 0.860) sd / sqrt(21) = 1.96 dollars; with 20 it is 2.02
    assert told.scores["messages"].difference == pytest.approx((0 - 2 + 1) / 3)


def test_seeds_played_twice_count_once() -> None:
    """Runs of one seed are one observation, by their mean."""
    play("a", {1: 5, 2: 5})
    play("b", {1: 1, 2: 5}, looks=1)
    play("c", {1: 3}, looks=1)
    edit("UPDATE runs SET group_name = 'b' WHERE run_id = 'c-1'")
    told = api.contrast("a", "b", store=STORE)
    worth = told.scores["net_worth"]
    assert told.repeated
    assert worth.paired is not None
    assert worth.paired.pairs == 2
    assert worth.difference == (((START - FEE + START - 3 * FEE) / 2 - 49_000) + 0) / 2


def test_without_common_seeds_means_are_compared() -> None:
    """No seed in common: the means of both sides and Welch's interval, and no pair is claimed."""
    play("a", {1: 5, 2: 4})
    play("b", {3: 1, 4: 2}, looks=1)
    told = api.contrast("a", "b", store=STORE)
    worth = told.scores["net_worth"]
    assert not told.paired
    assert worth.paired is None
    assert worth.apart is not None
    assert worth.difference == (49_800 + 49_600) / 2 - (49_000 + 49_200) / 2
    # equal spreads, two runs each: two degrees of freedom, standard error sd
    sd = 100 * math.sqrt(2)
    assert worth.ci95 == (pytest.approx(600 - 4.302652729911275 * sd), pytest.approx(600 + 4.302652729911275 * sd))


def test_what_cannot_be_compared_is_refused() -> None:
    """A side against itself, runs that were not played alike, and worlds without a score in common."""
    play("a", {1: 5})
    akinai.run("vending", agent="idle", seeds=2, days=5, store=STORE, name="b")
    akinai.run("vending", agent="naive", seeds=3, days=5, store=STORE, name="c")
    edit("UPDATE runs SET group_name = 'b' WHERE run_id = 'c-3'")
    with pytest.raises(UsageError, match="'a' against itself"):
        api.contrast("a", "a", store=STORE)
    with pytest.raises(UsageError, match=r"'b' holds runs that were not played alike \(idle, naive\)"):
        api.contrast("a", "b", store=STORE)


def test_damaged_pair_is_in_no_figure() -> None:
    """A seed on which a side cannot be read is named, and makes no pair."""
    play("a", {1: 5, 2: 5})
    play("b", {1: 5, 2: 4}, looks=1)
    edit("UPDATE actions SET data = '{}' WHERE seq = 2 AND run_id = 'b-1'")
    told = api.contrast("a", "b", store=STORE)
    paired = told.scores["net_worth"].paired
    assert paired is not None
    assert (told.seeds, told.unreadable, paired.pairs, paired.failed_b) == ((1, 2), (1,), 1, 1)
    assert paired.difference == FEE
    edit("UPDATE runs SET genesis = '{' WHERE run_id = 'b-1'")
    told = api.contrast("a", "b", store=STORE)
    assert (told.seeds, told.only_a, told.b.group.states) == ((2,), (1,), {"failed": 1, "unreadable": 1})
