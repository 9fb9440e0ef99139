"""Groups in order, what their runs could have shown, and how often seeds pass a threshold: worked on small runs."""

from pathlib import Path

import pytest

import akinai
from akinai import api
from akinai.analysis.analyse import Analysis
from akinai.analysis.tables import group_notes
from akinai.analysis.verdicts import ranking_sentences
from akinai.core.errors import UnknownName, UsageError
from akinai.core.presentation.sentences import coverage_warning


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Idle, naive and reference on seeds 1 to 8, and naive on 11 to 15."""
    path = str(tmp_path_factory.mktemp("standings") / "akinai.db")
    for agent in ("idle", "naive", "reference"):
        akinai.run(
            "vending", agent=agent, seeds="1-8", days=12, name=agent, store=path, ledgers=False, preset="classic"
        )
    akinai.run(
        "vending", agent="naive", seeds="11-15", days=12, name="other", store=path, ledgers=False, preset="classic"
    )
    return path


@pytest.fixture(scope="module")
def analysis(store: str) -> Analysis:
    return api.analyze("idle", "naive", "reference", scale=False, store=store, threshold={"net_worth": 500})


def test_groups_have_places_and_a_verdict(analysis: Analysis) -> None:
    """The order is told with differences, what these seeds could show, the correction, and how far to trust it."""
    (ranking,) = analysis.standings
    assert dict(ranking.order.places) == {"reference": 1, "naive": 2, "idle": 3}
    sentences = ranking_sentences(ranking)
    assert sentences.startswith("naive is better than idle: net worth is $")
    assert "reference is better than naive: net worth is $" in sentences
    assert "With these runs a true difference of about $" in sentences
    assert "Corrected for 3 pairs (Holm)." in sentences
    assert "intervals over 8 seeds hold the truth in 88 % of studies, not 95 %" in sentences
    assert analysis.to_json()["standings"] == [ranking.to_json()]


def test_a_tie_says_how_many_seeds_would_do(store: str) -> None:
    """Seeds 1 to 8 against 11 to 15 of one player: nothing is shown, and a number of seeds is named."""
    comparison = api.compare("naive", "other", store=store)
    score = comparison["net_worth"]
    assert (comparison.winner, comparison.paired) == (None, False)
    assert score.to_show is not None
    assert " cannot be told apart with 5 seeds: net worth is $" in comparison.sentences
    assert f"About {score.to_show:,} seeds would show a difference of this size." in comparison.sentences
    assert str(comparison).startswith(comparison.sentences)
    assert comparison.to_json()["scores"]["net_worth"]["seeds_to_show"] == score.to_show


def test_a_winner_is_named_with_its_interval(store: str) -> None:
    """The gain is positive whichever side is named first."""
    for names in (("naive", "reference"), ("reference", "naive")):
        comparison = api.compare(*names, store=store)
        score = comparison["net_worth"]
        low, high = sorted(abs(end) / 100 for end in score.ci95 or ())
        assert comparison.sentences == (
            f"reference is better than naive: net worth is ${abs(score.difference or 0) / 100:,.2f} higher on average, "
            f"between ${low:,.2f} and ${high:,.2f} at 95 %, better on 8 of 8 seeds."
        )


def test_runs_of_a_seed_are_one_draw_of_chance(tmp_path: Path) -> None:
    """Five runs that repeat two seeds have the interval of two seeds, though n counts the runs."""
    for seeds in ("1-2", "1-2", "1"):
        akinai.run(
            "vending",
            agent="naive",
            seeds=seeds,
            days=12,
            store=str(tmp_path / "s.db"),
            ledgers=False,
            preset="classic",
        )
    (group,) = api.analyze(scale=False, store=str(tmp_path / "s.db")).groups
    summary = group.scores["net_worth"].summary
    assert (summary.n, group.seeds, group.copies) == (5, 2, 3)
    assert summary.ci95 is not None
    assert summary.ci95[0] < (summary.min or 0)
    assert summary.ci95[1] > (summary.max or 0)


def test_passing_a_threshold(analysis: Analysis, tmp_path: Path) -> None:
    """A group always or never passes with the interval of a share; k goes up to the tries of a seed."""
    idle, reference = (analysis.pass_rates[name] for name in ("idle", "reference"))
    assert [(rate.k, rate.threshold, rate.every_time.mean) for rate in idle] == [(1, 50_000, 0.0)]
    assert [rate.at_least_once.mean for rate in reference] == [1.0]
    assert reference[0].every_time.ci95 == pytest.approx((0.6306, 1.0), abs=1e-4)  # 0.025 ** (1 / 8)
    store = str(tmp_path / "twice.db")
    for _ in range(2):
        akinai.run("vending", agent="naive", seeds="1-3", days=12, store=store, ledgers=False, preset="classic")
    twice = api.analyze(scale=False, store=store, threshold=["net_worth=100", "stockout_days=0"])
    rates = [(rate.score, rate.k, rate.at_least_once.mean, rate.every_time.n) for rate in twice.pass_rates["naive"]]
    assert rates == [
        ("net_worth", 1, 1.0, 3), ("net_worth", 2, 1.0, 3), ("stockout_days", 1, 0.0, 3), ("stockout_days", 2, 0.0, 3),
    ]  # fmt: skip


def test_impossible_thresholds_are_refused(store: str) -> None:
    """A score that nobody has, one without a direction, and a text that is no threshold."""
    with pytest.raises(UnknownName, match="no score 'net_wort'"):
        api.analyze("idle", scale=False, store=store, threshold=["net_wort=1"])
    with pytest.raises(UsageError, match="neither higher nor lower values of 'messages' are better"):
        api.analyze("idle", scale=False, store=store, threshold={"messages": 3})
    with pytest.raises(UsageError, match="--threshold wants SCORE=VALUE"):
        api.analyze("idle", store=store, threshold=["net_worth"])


def test_few_seeds_are_warned_of() -> None:
    """Below 50 seeds a sentence tells how often such intervals hold; from 50 on there is nothing to say."""
    assert [bool(coverage_warning(seeds)) for seeds in (1, 2, 49, 50, 500)] == [False, True, True, False, False]


def test_every_interval_of_a_group_of_few_seeds_is_warned_of(store: str) -> None:
    """Also where so few runs could show no difference to another group."""
    (three,) = api.analyze("naive-1", "naive-2", "naive-3", scale=False, store=store).groups
    assert (three.seeds, next(iter(three.scores.values())).mde) == (3, None)
    share = "intervals over 3 seeds hold the truth in 75 % of studies, not 95 %"
    assert share in " ".join(group_notes(three))
