"""Analyses: what many runs say together, worked by hand on runs that are small enough for it."""

import math
import os
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import akinai
from akinai import api
from akinai.core.actions import Unreadable
from akinai.core.agents import Agent, Move, Role, View
from akinai.core.errors import RunFailedWarning, UsageError
from akinai.core.ledger import Genesis, Outcome
from akinai.core.models import Reply, Usage
from akinai.core.stores import RunHeader, TraceRecord
from akinai.core.worlds import replay
from akinai.runtime.config.settings import prepare
from akinai.runtime.sync import wait
from akinai.stores import open_store
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.actions import AdvanceDay, GetMoneyBalance

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
    """A player that looks at its money, sleeps so many days and then breaks. How many is no part of its program."""
    plan = SimpleNamespace(after=after, looks=looks)

    class Tired:
        def __init__(self, role: Role) -> None:
            self.moves = 0

        async def act(self, view: akinai.View, last: Outcome | None) -> akinai.Move:
            self.moves += 1
            if self.moves <= plan.looks:
                return akinai.Move(GetMoneyBalance())
            if self.moves > plan.after + plan.looks:
                raise RuntimeError("too tired")
            return akinai.Move(AdvanceDay())

    return Tired


def play(name: str, lasts: dict[int, int], days: int = 5, **more: object) -> None:
    """One group of an idle player that breaks on each seed after so many days; after `days` it has ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunFailedWarning)
        for seed, after in lasts.items():
            akinai.run(
                "vending", agent=tired(after, **more), seeds=seed, days=days, store=STORE, name=name, preset="classic"
            )  # pyright: ignore[reportArgumentType] - looks


def edit(statement: str) -> None:
    with closing(sqlite3.connect(STORE)) as connection, connection:
        connection.execute(statement)


def test_failed_runs_stay_in_every_figure() -> None:
    """A run that broke counts with what its ledger holds: 498, 496 and 490 dollars, of which one run ended."""
    play("g", {1: 1, 2: 2, 3: 5})
    analysis = api.analyze("g", store=STORE, scale=False)
    (group,) = analysis.groups
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
    # Student's end above; below Hall's, which looks further down, where the tail is
    assert worth.summary.ci95 is not None
    assert worth.summary.ci95[1] == pytest.approx(mean + 4.302652729911275 * sd / math.sqrt(3))
    assert worth.summary.ci95[0] < mean - 4.302652729911275 * sd / math.sqrt(3)
    assert worth.mean_of_done == 49_000
    assert worth.mde is None  # two groups of three runs can show nothing
    assert analysis.runs.summary()["net_worth"].mean == pytest.approx(mean)


def test_damaged_runs_are_counted_beside_the_figures() -> None:
    """A damaged entry, a damaged header, a lost tail, an edited outcome: each is reported, counted, and stops nothing."""
    play("g", dict.fromkeys(range(1, 7), 5))
    edit("UPDATE actions SET data = '{}' WHERE seq = 3 AND run_id = 'g-1'")
    edit("UPDATE runs SET genesis = 'nothing' WHERE run_id = 'g-2'")
    edit("DELETE FROM actions WHERE seq > 3 AND run_id = 'g-3'")
    edit("UPDATE actions SET data = replace(data, '$2.00 paid', '$9.00 paid') WHERE seq = 2 AND run_id = 'g-4'")
    edit("UPDATE runs SET genesis = replace(genesis, '\"fee_cents\":200', '\"fee_cents\":-1') WHERE run_id = 'g-5'")
    analysis = api.analyze("g", store=STORE, scale=False)
    assert [run.id for run in analysis.runs] == [f"g-{seed}" for seed in range(1, 7)]
    troubles = {run.id: run.trouble or "" for run in analysis.troubled}
    assert list(troubles) == [f"g-{seed}" for seed in range(1, 6)]
    assert troubles["g-1"].startswith("entry 3: its data is not an entry's")
    assert "header of run 'g-2'" in troubles["g-2"]
    assert "the run had 5 entries when it was closed" in troubles["g-3"]
    assert troubles["g-4"].startswith("entry 2: AdvanceDay gave ok")
    assert "fee_cents" in troubles["g-5"]
    (group,) = [group for group in analysis.groups if "g-6" in group.runs]
    assert group.runs == ("g-1", "g-3", "g-4", "g-6")
    assert group.states == {"done": 1, "damaged": 3}
    worth = group.scores["net_worth"].summary
    assert (worth.n, worth.failed, worth.mean) == (1, 3, 49_000)
    (group,) = api.analyze("g-1", "g-2", "g-6", store=STORE).groups
    assert (group.states, group.scale.of, group.scale.seeds) == ({"done": 1, "damaged": 2}, 1, (6,))
    assert sum(len(group.runs) for group in analysis.groups) == 6


def test_runs_are_grouped_by_how_they_were_played() -> None:
    """Player, settings, playbook, model and forks tell groups apart, and names say what does."""
    akinai.run("vending", agent="idle", seeds="1-2", days=3, store=STORE, name="a", preset="classic")
    akinai.run("vending", agent="idle", seeds="3-4", days=3, store=STORE, name="b", preset="classic")
    akinai.run("vending", agent="naive", seeds=1, days=3, store=STORE, name="c", preset="classic")
    akinai.run(
        "vending", agent="idle", seeds=1, days=3, store=STORE, name="d", settings={"fee_cents": 300}, preset="classic"
    )
    akinai.fork("c", at_day=2, agent="idle", name="e", store=STORE)
    analysis = api.analyze(store=STORE, scale=False)
    assert {group.name: group.runs for group in analysis.groups} == {
        "idle a fee_cents=200": ("a-1", "a-2"),
        "idle b fee_cents=200": ("b-3", "b-4"),
        "naive fee_cents=200": ("c-1",),
        "idle fee_cents=300": ("d-1",),
        "idle fork e fee_cents=200": ("e-1",),
    }
    assert [group.name for group in api.analyze("a", "b", store=STORE, scale=False).groups] == ["idle a", "idle b"]
    assert api.analyze("d", "a", store=STORE, scale=False).groups[0].settings == {"fee_cents": 300}


def test_copies_are_counted() -> None:
    """A rule-based run that was played twice says nothing new, and the group says so."""
    akinai.run("vending", agent="idle", seeds="1-2", days=3, store=STORE, name="a", preset="classic", label="same")
    akinai.run("vending", agent="idle", seeds="2-3", days=3, store=STORE, name="b", preset="classic", label="same")
    (group,) = api.analyze("a", "b", store=STORE, scale=False).groups
    assert (len(group.runs), group.seeds, group.copies) == (4, 3, 1)


def test_share_stands_between_idle_and_reference() -> None:
    """0 for idle, 1 for reference, and by hand between: on runs of the store where it has them, else played."""
    play("g", {1: 5, 2: 3})
    analysis = api.analyze("g", store=STORE)
    (group,) = analysis.groups
    reference = [
        run.score("net_worth")
        for run in akinai.run("vending", agent="reference", seeds="1-2", days=5, preset="classic")
    ]
    low, high, own = 49_000, sum(reference) / 2, (49_000 + 49_400) / 2
    assert group.scores["net_worth"].share == pytest.approx((own - low) / (high - low))
    assert (group.scale.seeds, group.scale.of, group.scale.played) == ((1, 2), 2, (1, 2))
    for agent in ("idle", "reference"):
        akinai.run("vending", agent=agent, seeds="2-3", days=5, store=STORE, name=agent, preset="classic")
    (group,) = api.analyze("g", store=STORE).groups
    assert (group.scale.seeds, group.scale.played) == ((1, 2), (1,))
    shares = {
        group.name: group.scores["net_worth"].share for group in api.analyze("idle", "reference", store=STORE).groups
    }
    assert shares == {"idle": 0, "reference": 1}


class Noise:
    """An agent whose actions are all refused."""

    async def act(self, view: View, last: Outcome | None) -> Move:
        return Move(Unreadable.of("I see.", "wait_until: no hour", "bad_parameters"))


def test_a_first_day_of_noise_is_not_ahead_of_idle_and_has_no_coherence() -> None:
    """It kept its money because no day went by; idle, which paid for its days, stands no lower."""
    akinai.run(
        "vending", agent=lambda _: Noise(), seeds=1, days=5, store=STORE, name="noise", max_actions=60, preset="classic"
    )
    (group,) = api.analyze("noise", store=STORE).groups
    assert group.scores["net_worth"].summary.mean == 50_000
    assert group.scores["net_worth"].share == 0
    assert group.coherence["coherence"].summary.mean == 0


def test_a_scale_reaches_to_a_player_that_knows_what_is_hidden() -> None:
    """At several sites runs are placed below `informed` too, and nothing is above the bound; one machine has neither."""
    akinai.run("vending", preset="quarter", agent="careful", seeds=2, days=40, store=STORE, name="q")
    (group,) = api.analyze("q", store=STORE).groups
    scale, name = group.scale, "bank_balance"
    assert scale.bound is not None
    assert scale.idle[name] < scale.own[name] < scale.reference[name] < scale.informed[name] < scale.bound
    play("one", {1: 5})
    (group,) = api.analyze("one", store=STORE).groups
    assert (group.scale.informed, group.scale.bound) == ({}, None)


@pytest.mark.slow
def test_scale_is_bounded_unless_asked_for() -> None:
    """Of 23 seeds idle and reference are played on 20; on all where that is asked for, on none where it is refused."""
    akinai.run("vending", agent="idle", seeds="1-23", days=1, store=STORE, name="a", preset="classic")
    few, every, none = (api.analyze("a", store=STORE, scale=scale).groups[0].scale for scale in (None, True, False))
    assert (len(few.seeds), few.of) == (20, 23)
    assert len(every.seeds) == 23
    assert (none.seeds, none.why_not) == ((), "it was not asked for")


def test_endless_games_have_no_scale() -> None:
    """A game without a horizon is not played for a scale: it might never end."""
    run = RunHeader(
        "a",
        Genesis("vending@3", 1, prepare(Vending(), preset="classic", days=0, settings=["max_messages=0"]).setup),
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
    """Runs that nobody has played count with the state they begin in; processes give the same records in order, and report each."""
    genesis = Genesis("vending@3", 1, prepare(Vending(), preset="classic", days=5).setup)
    headers = [RunHeader(f"r-{n}", replace(genesis, seed=n), {"owner": "idle"}, n, group="r") for n in range(30)]
    wait(_write(headers, {}))
    reported: list[tuple[str, int, int]] = []
    here = api.analyze("r", store=STORE, scale=False)
    there = api.analyze("r", store=STORE, scale=False, jobs=2, progress=lambda *report: reported.append(report))
    assert here == there
    assert [run.id for run in there.runs] == [f"r-{n}" for n in range(30)]
    assert sorted(reported[:30]) == sorted((f"r-{n}", 0, 5) for n in range(30))
    assert sorted(reported[30:]) == sorted((f"r-{n}", -1, 5) for n in range(30))
    (group,) = there.groups
    assert (group.states, group.days, group.scores["net_worth"].summary.mean) == ({"open": 30}, 0, START)


def test_days_are_kept_on_request() -> None:
    """Worked by hand: an idle machine loses its fee each day; tools and refusals are counted by day."""
    play("g", {1: 3}, days=3, looks=2)
    (run,) = api.analyze("g", store=STORE, scale=False, by_day=True).runs
    series = run.series
    assert series is not None
    assert series.days == (1, 2, 3)
    assert series.facts["net_worth_cents"] == (49_800, 49_600, 49_400)
    assert series.facts["income_cents"] == (0, 0, 0)
    assert series.tools == {"get_money_balance": (2, 0, 0), "advance_day": (1, 1, 1)}
    assert series.refused == (0, 0, 0)
    assert api.analyze("g", store=STORE, scale=False).runs[0].series is None


def test_sales_and_prices_are_kept_by_product() -> None:
    """The days of a player that sells add up to its scores: units, and income at the prices of the day."""
    akinai.run("vending", agent="naive", seeds=1, days=12, store=STORE, name="a", preset="classic")
    (run,) = api.analyze("a", store=STORE, scale=False, by_day=True).runs
    series = run.series
    assert series is not None
    sold, prices = series.tables["sold"], series.tables["price_cents"]
    assert sum(sum(units) for units in sold.values()) == run.value("units_sold")
    for day in range(12):
        income = sum(units[day] * prices[product][day] for product, units in sold.items())
        assert income == series.facts["income_cents"][day]
    assert series.facts["net_worth_cents"][-1] == run.value("net_worth")


def test_usage_comes_from_the_trace(folder: Path) -> None:
    """Tokens, minutes and dollars of the calls that were sent; what the cache answered took none."""
    genesis = Genesis("vending@3", 1, prepare(Vending(), preset="classic", days=5).setup)
    sent = Reply("a", usage=Usage(1_000, 100, 200), model="m-2026", latency_s=30)
    calls = [sent, sent, replace(sent, from_cache=True)]
    records = [
        TraceRecord("owner", n, n, {"kind": "model_call", "model": "openai:m", "reply": call.to_json()})
        for n, call in enumerate(calls, 1)
    ]
    header = RunHeader("a", genesis, {"owner": "chat"}, 1, card={"model": "openai:m"})
    wait(_write([header, replace(header, run_id="b")], {"a": records}))
    (run, quiet) = api.analyze(store=STORE, scale=False).runs
    assert run.usage is not None
    assert (run.usage.calls, run.usage.cache_hits, run.usage.tokens) == (3, 1, Usage(2_000, 200, 400))
    assert (run.usage.minutes, run.usage.dollars, run.usage.models) == (1, None, ("m-2026",))
    assert quiet.usage is None
    prices = "input_per_million = 5.0\noutput_per_million = 10.0\ncached_input_per_million = 1.0"
    (folder / "akinai.toml").write_text(f'[prices."openai:m"]\n{prices}\n')
    (group,) = api.analyze(store=STORE, scale=False).groups
    assert group.name == "chat openai:m"
    assert group.usage is not None
    # 1,600 new tokens at 5, 400 read before at 1 and 200 written at 10 dollars a million
    assert (group.usage.runs, group.usage.dollars) == (1, pytest.approx((1_600 * 5 + 400 + 200 * 10) / 1e6))


def test_record_is_folded_once_for_all() -> None:
    """Scorers, detectors and accounts read the same steps; what they gather from them is gathered once."""
    world = Vending()
    (run,) = akinai.run(world, agent="naive", seeds=1, days=8)
    steps = replay(world, run.ledger, check=True)
    assert list(steps.entries) == list(run.ledger.entries)
    assert steps.ledger.digest == run.digest
    assert (steps.opening, steps.final) == (steps[0].before, steps[-1].after)
    assert tuple(score for scorer in world.scorers for score in scorer(steps)) == run.scores
    gathered: list[int] = []

    def gather(given: object) -> int:
        gathered.append(len(gathered))
        return len(gathered)

    assert [steps.derive(gather), steps.derive(gather)] == [1, 1]
    assert gathered == [0]


def test_pairs_by_hand() -> None:
    """Paired by seed: +2, +6 and 0 dollars; the seeds that one side alone has are named and in no figure."""
    play("a", {1: 3, 2: 5, 3: 5, 4: 5})
    play("b", {1: 2, 2: 2, 3: 5, 9: 1}, looks=1)
    compared = api.compare("a", "b", store=STORE, gain=2)
    worth = compared.scores["net_worth"]
    assert (compared.seeds, compared.only_a, compared.only_b, compared.unfinished) == ((1, 2, 3), (4,), (9,), (1, 2))
    assert worth.paired is not None
    assert (worth.paired.pairs, worth.paired.wins, worth.paired.losses, worth.paired.ties) == (3, 2, 0, 1)
    assert worth.difference == pytest.approx((200 + 600 + 0) / 3)
    assert worth.of_done == 0
    sd = math.sqrt(((200 - 800 / 3) ** 2 + (600 - 800 / 3) ** 2 + (800 / 3) ** 2) / 2)
    # half of the 8 ways to sign three differences lie as far from 0 when one of them is 0
    assert (worth.mde, worth.ci95, worth.winner, worth.statistic.fewest) == (None, None, None, 6)
    assert worth.paired.p == 0.5
    # (2.074 + 0.858) sd / sqrt(23) = 1.87 dollars, and 1 + 0.36 / 18^0.6 = 1.06 of it for an exact test: 1.99
    assert worth.needed == 23
    assert worth.paired.sd_difference == pytest.approx(sd)
    assert compared.scores["messages"].difference == pytest.approx((0 - 2 + 1) / 3)


def test_seeds_played_twice_count_once() -> None:
    """Runs of one seed are one observation, by their mean."""
    play("a", {1: 5, 2: 5})
    play("b", {1: 1, 2: 5}, looks=1)
    play("c", {1: 3}, looks=1)
    edit("UPDATE runs SET group_name = 'b' WHERE run_id = 'c-1'")
    compared = api.compare("a", "b", store=STORE)
    worth = compared.scores["net_worth"]
    assert compared.repeated
    assert worth.paired is not None
    assert worth.paired.pairs == 2
    assert worth.difference == (((START - FEE + START - 3 * FEE) / 2 - 49_000) + 0) / 2


def test_without_common_seeds_means_are_compared() -> None:
    """No seed in common: the means of both sides and Welch's interval, and no pair is claimed."""
    play("a", {1: 5, 2: 4})
    play("b", {3: 1, 4: 2}, looks=1)
    compared = api.compare("a", "b", store=STORE)
    worth = compared.scores["net_worth"]
    assert not compared.paired
    assert worth.paired is None
    assert worth.welch is not None
    assert worth.difference == (49_800 + 49_600) / 2 - (49_000 + 49_200) / 2
    # two runs each may be dealt to the sides in six ways, and two of them are as far apart as these
    assert (worth.ci95, worth.welch.p, worth.statistic.fewest, worth.winner) == (None, pytest.approx(2 / 6), 4, None)


def test_what_cannot_be_compared_is_refused() -> None:
    """A side against itself, runs that were not played alike, and worlds without a score in common."""
    play("a", {1: 5})
    akinai.run("vending", agent="idle", seeds=2, days=5, store=STORE, name="b", preset="classic")
    akinai.run("vending", agent="naive", seeds=3, days=5, store=STORE, name="c", preset="classic")
    edit("UPDATE runs SET group_name = 'b' WHERE run_id = 'c-3'")
    with pytest.raises(UsageError, match="'a' against itself"):
        api.compare("a", "a", store=STORE)
    with pytest.raises(UsageError, match=r"'b' holds runs that were not played alike \(idle, naive\)"):
        api.compare("a", "b", store=STORE)


def test_damaged_pair_is_in_no_figure() -> None:
    """A seed on which a side cannot be read is named, and makes no pair."""
    play("a", {1: 5, 2: 5})
    play("b", {1: 5, 2: 4}, looks=1)
    edit("UPDATE actions SET data = '{}' WHERE seq = 2 AND run_id = 'b-1'")
    compared = api.compare("a", "b", store=STORE)
    paired = compared.scores["net_worth"].paired
    assert paired is not None
    assert (compared.seeds, compared.unreadable, paired.pairs, paired.failed_b) == ((1, 2), (1,), 1, 1)
    assert paired.difference == FEE
    edit("UPDATE runs SET genesis = '{' WHERE run_id = 'b-1'")
    compared = api.compare("a", "b", store=STORE)
    assert (compared.seeds, compared.only_a, compared.b.group.states) == ((2,), (1,), {"failed": 1, "damaged": 1})


def test_direction_names_the_winner() -> None:
    """Fewer missed fees win, more net worth wins; a score without a direction has a difference and no wins."""
    akinai.run(
        "vending",
        agent="idle",
        seeds="1-6",
        days=20,
        store=STORE,
        name="idle",
        settings=["start_cents=1000"],
        preset="classic",
    )
    akinai.run(
        "vending",
        agent="idle",
        seeds="1-6",
        days=20,
        store=STORE,
        name="rich",
        settings=["start_cents=9000"],
        preset="classic",
    )
    compared = akinai.compare("idle", "rich", store=STORE)
    missed = compared["fees_missed"]
    assert missed.paired is not None
    assert missed.difference is not None
    assert missed.difference < 0
    assert (missed.paired.wins, missed.paired.losses, missed.winner) == (6, 0, "b")
    assert (compared.winner, compared["net_worth"].winner) == ("b", "b")
    messages = akinai.compare("rich", "idle", store=STORE)["messages"].to_json()
    assert (messages["better"], messages["winner"], messages["wins"], messages["losses"]) == (None, None, None, None)


def test_comparison_means_the_same_for_names_and_runs_at_hand() -> None:
    """Runs in memory give what their names give: by seed, and by means where no seed is common."""
    a = akinai.run("vending", agent="idle", seeds="1-3", days=5, store=STORE, name="a", preset="classic")
    b = akinai.run("vending", agent="naive", seeds="2-4", days=5, store=STORE, name="b", preset="classic")
    c = akinai.run("vending", agent="naive", seeds="7-9", days=5, store=STORE, name="c", preset="classic")
    for other, name in ((b, "b"), (c, "c")):
        assert akinai.compare(a, other) == akinai.compare("a", name, store=STORE)
        assert akinai.compare("a", other, store=STORE) == akinai.compare(a, other)
    assert akinai.compare(a[0], c[0])["net_worth"].welch is not None
