"""Groups in order: corrected for the number of pairs, clustered by seed, with ties where nothing is shown."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.statistics import clustered, compare, holm, mde, pass_at_k, pass_hat_k, rank, rate, sd, summarise

PS = st.lists(st.floats(0, 1), min_size=1, max_size=10)


def test_holm_by_hand() -> None:
    """0.01 x 4, 0.02 x 3, 0.03 x 2 and 0.04 x 1, none below the one before; what was not tested is not counted."""
    assert holm([0.04, 0.01, None, 0.03, 0.02]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.slow  # statsmodels takes seconds to import
def test_holm_is_that_of_statsmodels() -> None:
    """The same corrected p on random tables."""
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 20):
        ps = [float(p) for p in rng.random(n) ** 3]
        assert holm(ps) == pytest.approx(list(multipletests(ps, method="holm")[1]))


@pytest.mark.slow  # statsmodels takes seconds to import
def test_paired_figures_are_those_of_statsmodels() -> None:
    """Difference and spread of pairs, and of pairs whose seeds were played three times, clustered by seed."""
    import statsmodels.api as sm
    from statsmodels.stats.weightstats import DescrStatsW

    rng = np.random.default_rng(2)
    gains = rng.gamma(2, 100, size=(12, 3)) - 150 + rng.normal(0, 80, size=(12, 1))
    once = compare(dict.fromkeys(range(12), 0.0), dict(enumerate(gains[:, 0].tolist())))
    theirs = DescrStatsW(gains[:, 0])
    assert (once.difference, once.sd_difference) == pytest.approx((theirs.mean, math.sqrt(theirs.var_ddof(1))))
    student = theirs.ttest_mean(0)[1]
    assert (once.p or 0) >= student
    assert theirs.tconfint_mean()[0] >= (once.ci95 or (0,))[0]

    groups = np.repeat(np.arange(12), 3)
    fitted = sm.OLS(gains.ravel(), np.ones(36)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True
    )
    repeated = compare(dict.fromkeys(range(12), 0.0), dict(enumerate(gains.mean(axis=1).tolist())))
    assert repeated.difference == pytest.approx(fitted.params[0], abs=1e-9)
    assert (repeated.sd_difference or 0) / math.sqrt(12) == pytest.approx(fitted.bse[0])


@pytest.mark.slow  # statsmodels takes seconds to import
def test_clusters_of_any_size_have_the_error_of_statsmodels() -> None:
    """Seeds that were played once, twice or five times: mean and cluster-robust standard error."""
    import statsmodels.api as sm

    rng = np.random.default_rng(3)
    sizes = [1, 2, 5, 1, 3, 2, 4, 1]
    table = {seed: [float(v) for v in rng.normal(rng.normal(0, 3), 1, size)] for seed, size in enumerate(sizes)}
    values = [value for cluster in table.values() for value in cluster]
    fitted = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(8), sizes), "df_correction": True}, use_t=True
    )
    summary = summarise(clustered(table).values())
    assert summary.mean == pytest.approx(fitted.params[0])
    assert (summary.sd or 0) / math.sqrt(8) == pytest.approx(fitted.bse[0])


def test_clusters_by_hand() -> None:
    """Equal clusters stand for themselves by their means, single values are themselves, an empty one is nothing."""
    assert clustered({1: [1.0, 3.0], 2: [5.0, 7.0]}) == {1: 2.0, 2: 6.0}
    assert clustered({1: [4.0], 2: [], 3: [6]}) == {1: 4.0, 3: 6.0}
    # mean 3 of 0, 4, 5; 2/3 of the deviations -3 and 1 + 2
    assert clustered({1: [0.0], 2: [4.0, 5.0]}) == pytest.approx({1: 1.0, 2: 5.0})


@given(st.dictionaries(st.integers(), st.lists(st.floats(-1e6, 1e6), max_size=4), max_size=6))
def test_clustering_keeps_the_mean(table: dict[int, list[float]]) -> None:
    """The mean of the clusters' values is the mean of all."""
    values = [value for cluster in table.values() for value in cluster]
    assert (summarise(clustered(table).values()).mean or 0.0) == pytest.approx(summarise(values).mean or 0.0, abs=1e-6)


def test_repeating_a_run_narrows_nothing() -> None:
    """Ten seeds played ten times alike say as much as ten seeds."""
    once = {seed: [float(seed * seed % 7)] for seed in range(10)}
    assert clustered({seed: values * 10 for seed, values in once.items()}) == clustered(once)


def test_places_by_hand() -> None:
    """C is far ahead; A and B differ by less than their noise and share the second place; the sentence has its number."""
    noise = [10.0, -12.0, 8.0, -6.0, 3.0, 1.0, -3.0]
    a = {seed: 100.0 * seed for seed in range(7)}
    b = {seed: value + noise[seed] for seed, value in a.items()}
    c = {seed: value + 500 + seed for seed, value in a.items()}
    ranking = rank({"A": a, "B": b, "C": c}, better="higher")
    assert ranking.places == {"C": 1, "B": 2, "A": 2}
    assert list(ranking.places) == ["C", "B", "A"]
    assert [(pair.a, pair.b, pair.winner) for pair in ranking.pairs] == [
        ("A", "B", None), ("A", "C", "C"), ("B", "C", "C"),
    ]  # fmt: skip
    first = ranking.pairs[0]
    assert first.seeds_to_show is not None
    assert first.seeds_to_show > 100
    assert ranking.mde == max(mde(sd(noise) or 0.0, 7, level=0.05 / 3), *(pair.mde or 0.0 for pair in ranking.pairs))
    assert [pair.fewest for pair in ranking.pairs] == [7, 7, 7]
    assert rank({"A": a, "C": c}, better="lower").places == {"A": 1, "C": 2}
    assert rank({"A": a, "C": c}, better=None).places == {}


def test_seeds_that_would_do_are_those_of_the_power_table() -> None:
    """A difference of half its spread wants 34 pairs of a t-test, and 37 of one that holds whatever the scores are."""
    gains = [0.5 + z for z in (-1.5, -0.5, 0.0, 0.5, 1.5)]
    scale = sd(gains) or 1.0
    b = {seed: (gain - 0.5) / scale + 0.5 for seed, gain in enumerate(gains)}
    (pair,) = rank({"A": dict.fromkeys(range(5), 0.0), "B": b}, better="higher").pairs
    assert (pair.winner, pair.seeds_to_show) == (None, 37)


def test_groups_without_a_common_seed_are_ranked_by_their_means() -> None:
    """Values are exchanged between the sides; a group of one run shows nothing and shares its place."""
    a, b = {1: 0.0, 2: 1.0, 3: 0.5, 4: 0.3, 5: 0.1}, {11: 90.0, 12: 91.0, 13: 90.5, 14: 90.1, 15: 90.2}
    ranking = rank({"A": a, "B": b, "C": {21: 50.0}}, better="higher")
    assert ranking.places == {"B": 1, "C": 1, "A": 2}
    assert ranking.mde is None
    assert ranking.pairs[0].comparison.p == pytest.approx(2 / 252)
    assert (ranking.pairs[1].powerless, ranking.pairs[1].fewest) == (True, 5)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_seeds_name_no_winner(n: int) -> None:
    """However large and even a difference is, too few seeds show nothing, and the number that could is told."""
    groups = {"A": dict.fromkeys(range(n), 0.4), "B": dict.fromkeys(range(n), 0.5)}
    (pair,) = rank(groups, better="higher").pairs
    assert (pair.winner, pair.powerless, pair.fewest, pair.p_holm) == (None, True, 6, 2 / 2**n)
    assert rank(groups, better="higher").places == {"A": 1, "B": 1}


def test_equal_agents_seldom_differ() -> None:
    """Eight equal agents that pass one time in ten or break one time in five: a winner in at most 5 % of studies."""
    rng = np.random.default_rng(7)
    studies = [rng.random((8, n)) < share for n in (2, 3, 5, 11) for share in (0.1, 0.5) for _ in range(10)]
    named = 0
    for study in studies:
        groups = {str(agent): dict(enumerate(row.astype(float).tolist())) for agent, row in enumerate(study)}
        named += any(pair.winner for pair in rank(groups, better="higher").pairs)
    assert named <= 0.05 * len(studies)


@given(st.lists(st.lists(st.floats(-100, 100), min_size=4, max_size=4), min_size=2, max_size=4))
def test_order_of_the_groups_moves_no_place(rows: list[list[float]]) -> None:
    """Places depend on values alone, and every tie of the best stands in place 1."""
    groups = {str(i): dict(enumerate(row)) for i, row in enumerate(rows)}
    forward = rank(groups, better="higher")
    backward = rank(dict(reversed(groups.items())), better="higher")
    assert dict(forward.places) == dict(backward.places)
    assert min(forward.places.values()) == 1
    assert len(forward.pairs) == len(list(combinations(groups, 2)))


def brute(outcomes: Sequence[int], k: int) -> tuple[float, float]:
    draws = list(combinations(outcomes, k))
    return sum(any(draw) for draw in draws) / len(draws), sum(all(draw) for draw in draws) / len(draws)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=8), st.data())
def test_passes_are_what_all_draws_give(outcomes: list[int], data: st.DataObject) -> None:
    """pass@k and pass^k are the shares of all draws of k tries in which some, or all, succeed."""
    k = data.draw(st.integers(1, len(outcomes)))
    estimates = pass_at_k(sum(outcomes), len(outcomes), k), pass_hat_k(sum(outcomes), len(outcomes), k)
    assert estimates == pytest.approx(brute(outcomes, k))


@pytest.mark.parametrize(("successes", "n", "k"), [(3, 2, 1), (-1, 2, 1), (1, 2, 0), (1, 2, 3)])
def test_impossible_passes_are_refused(successes: int, n: int, k: int) -> None:
    """More successes than tries, no try, and more tries than there were."""
    with pytest.raises(ValueError, match="give successes"):
        pass_at_k(successes, n, k)
    with pytest.raises(ValueError, match="give successes"):
        pass_hat_k(successes, n, k)


def test_two_players_by_hand() -> None:
    """Three wins to one, and the added tie: odds of 3.5 to 1.5, which are 147 points."""
    games = [{"a": 2.0, "b": 1.0}] * 3 + [{"a": 0.0, "b": 1.0}]
    ratings = rate([games])
    assert ratings["a"].points - ratings["b"].points == pytest.approx(400 * math.log10(3.5 / 1.5))
    assert ratings["a"].points + ratings["b"].points == pytest.approx(2000)
    assert (ratings["a"].ahead, ratings["b"].ahead) == (0.75, 0.25)
    assert ratings["a"].ci95 is None


@given(st.lists(st.permutations([1.0, 2.0, 3.0, 4.0]), min_size=1, max_size=6))
def test_ratings_have_the_same_wins_as_the_games(orders: Sequence[Sequence[float]]) -> None:
    """At the greatest likelihood each player's expected wins are its wins and its added half ones."""
    players = "abcd"
    games = [dict(zip(players, order, strict=True)) for order in orders]
    ratings = {player: rating.points * math.log(10) / 400 for player, rating in rate([games]).items()}
    for player in players:
        others = [other for other in players if other != player]
        met = len(games) + 1
        expected = sum(met / (1 + math.exp(ratings[other] - ratings[player])) for other in others)
        won = sum(game[player] > game[other] for game in games for other in others)
        assert expected == pytest.approx(won + 0.5 * len(others), abs=1e-6)


def test_intervals_of_ratings_come_from_rounds() -> None:
    """Where rounds differ the interval is wide and holds the rating; where they are alike it is a point."""
    upset, usual = [{"a": 0.0, "b": 1.0}], [{"a": 1.0, "b": 0.0}]
    rating = rate([usual] * 6 + [upset] * 2)["a"]
    assert rating.ci95
    assert rating.ci95[0] < rating.points < rating.ci95[1]
    alike = rate([usual] * 8)["a"]
    assert alike.ci95 == (alike.points, alike.points)
    assert rate([usual] * 4)["a"].ci95 is None
