"""Studies planned from a pilot: worked numbers, and what each run took."""

from pathlib import Path

import pytest

import akinai
from akinai.core.errors import UnknownName, UsageError
from akinai.core.statistics import seeds_needed, summarise, welch_seeds_needed


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("plan") / "akinai.db")
    akinai.run(
        "vending", agent="reference", seeds="1-5", days=12, name="a", store=path, ledgers=False, preset="classic"
    )
    akinai.run(
        "vending", agent="reference", seeds="1-5", days=12, name="b", store=path, settings=["small_capacity=8"],
        ledgers=False, preset="classic",
    )  # fmt: skip
    return path


def test_a_pilot_of_one_side_is_counted_as_if_nothing_were_common(store: str) -> None:
    """Two sides of the pilot's spread, by Welch; both sides' runs; and a cautious number above it."""
    values = [run.score("net_worth") for run in akinai.runs("a", store=store)]
    study = akinai.plan(gain=20, from_="a", store=store)
    side = summarise(values)
    assert (study.paired, study.pilot_seeds, study.gain) == (False, 5, 2_000)
    assert study.seeds == welch_seeds_needed(side, side, 2_000)
    assert study.sd == pytest.approx(side.sd)
    assert study.runs == 2 * study.cautious
    assert study.cautious > study.seeds
    text = str(study)
    assert text.startswith(f"{study.cautious} seeds on each side show a gain of $20.00 in net worth")
    assert f"{study.seeds} would do if the true spread is the pilot's" in text
    assert "No model was asked in the pilot: no tokens." in text


def test_common_seeds_of_two_pilots_need_fewer(store: str) -> None:
    """The spread is that of the differences, seed by seed."""
    a, b = ([run.score("net_worth") for run in akinai.runs(name, store=store)] for name in "ab")
    sd = summarise([y - x for x, y in zip(a, b, strict=True)]).sd or 0.0
    study = akinai.plan(gain=20, from_="a", against="b", store=store)
    assert (study.paired, study.sd, study.seeds) == (True, pytest.approx(sd), seeds_needed(sd, 2_000))
    assert "between a and b, seed by seed" in str(study)
    assert study.to_json()["pilot"] == ["a", "b"]


def test_a_pilot_without_spread_names_no_number(tmp_path: Path) -> None:
    """Two sides that never differ, and one whose runs all end alike, cannot tell how many seeds show a gain."""
    path = str(tmp_path / "akinai.db")
    for name in "ab":
        akinai.run("vending", agent="idle", seeds="1-2", days=2, name=name, label=name, store=path, preset="classic")
    for against in ("b", None):
        text = str(akinai.plan(gain=100, from_="a", against=against, store=path))
        assert text.startswith("The pilot of 2 seeds shows no spread of net worth, and cannot tell how many")
        assert "four times in five" not in text


def test_what_a_study_takes_is_what_the_pilot_took(tmp_path: Path) -> None:
    """Tokens of all runs, and hours with so many at once, from a pilot whose calls are known."""
    from akinai.core.models import Reply, Usage
    from akinai.core.stores import TraceRecord
    from akinai.runtime.sync import wait
    from akinai.stores import open_store

    path = str(tmp_path / "calls.db")
    runs = akinai.run(
        "vending", agent="naive", seeds="1-4", days=12, name="m", store=path, ledgers=False, preset="classic"
    )

    async def call() -> None:
        books = await open_store(path)
        reply = Reply("ok", usage=Usage(1_000, 50), model="m", latency_s=90.0).to_json()
        for run in runs:
            data = {"kind": "model_call", "model": "openai:m", "reply": reply}
            await books.add_trace(run.id, [TraceRecord("owner", 1, 0, data)])
        await books.close()

    wait(call())
    study = akinai.plan(gain=1, from_="m", at_once=2, store=path)
    assert study.tokens == Usage(1_000 * study.runs, 50 * study.runs)
    assert study.hours == pytest.approx(study.runs * 1.5 / 60 / 2)
    assert study.dollars is None


def test_impossible_plans_are_refused(store: str) -> None:
    """One seed, no gain, a score that nobody has, and nobody at once."""
    for wrong in ({"gain": 0}, {"gain": float("nan")}, {"gain": 5, "at_once": 0}):
        with pytest.raises(UsageError):
            akinai.plan(from_="a", store=store, **wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="shows no spread; play at least 2"):
        akinai.plan(gain=5, from_="a-1", store=store)
    with pytest.raises(UnknownName, match="net_worth"):
        akinai.plan(gain=5, from_="a", score="net_wort", store=store)
