"""Laws of refining: what is merged and what never is, and that nothing goes without evidence."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners_for_tests import codes, contents, make_job
from playbooks_for_tests import playbooks

from akinai.core.statistics import proportion_interval
from akinai.learning import Bullet, Edit, Playbook, Section, dedup, prune
from akinai.learning.loop.loop import learn
from akinai.learning.search.dedup import NEAR, differ_in_meaning
from together import together

LONG = "when the machine is nearly empty order enough cola for two weeks from the cheaper of both known suppliers today"


def playbook_of(*bullets: Bullet) -> Playbook:
    names = dict.fromkeys(bullet.section for bullet in bullets)
    return Playbook(tuple(Section(n, "", tuple(b for b in bullets if b.section == n)) for n in names), 99)


def bullets_of(*texts: str) -> Playbook:
    return playbook_of(*(Bullet(f"r-{n:05}", "rules", text) for n, text in enumerate(texts, 1)))


def contents_of(playbook: Playbook) -> list[str]:
    return sorted(bullet.content for bullet in playbook)


def test_equal_texts_become_one_with_all_their_record() -> None:
    """Width, case, white space and a full stop do not tell texts apart; counters are summed, sources and keywords kept."""
    refined = dedup(
        playbook_of(
            Bullet("a-1", "rules", "Buy ＭＩＬＫ.", ("milk",), 1, 2, 3, "r#1", {"type": "Corrected Error"}),
            Bullet("a-2", "rules", "buy  milk", ("dairy",), 5, 1, 0, "r#2; r#1", {"x": 1}),
            Bullet("b-3", "other", "BUY MILK", (), 0, 0, 0, "r#3"),
            Bullet("a-4", "rules", "sell tea"),
        )
    )
    survivor, other = refined.playbook
    assert survivor == Bullet(
        *("a-2", "rules", "buy  milk", ("dairy", "milk"), 6, 3, 3, "r#2; r#1; r#3"),
        {"type": "Corrected Error", "x": 1},
    )
    assert other.id == "a-4"
    [merge] = refined.merges
    assert (merge.kept, sorted(merge.merged), merge.similarity) == ("a-2", ["a-1", "b-3"], 1.0)


@given(st.permutations(range(6)), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_near_duplicates_are_merged_once_whatever_their_order(order: list[int], helpful: list[int]) -> None:
    """Chains of near duplicates give the same bullets and the same sums in every order, and no counter is used twice."""
    texts = [LONG, f"{LONG} now", f"{LONG} now please", f"{LONG} now please do", "something else", f"really {LONG}"]
    bullets = [Bullet(f"r-{n:05}", "rules", text, helpful=helpful[n]) for n, text in enumerate(texts)]
    straight, shuffled = dedup(playbook_of(*bullets)), dedup(playbook_of(*(bullets[n] for n in order)))
    assert straight.playbook.by_id == shuffled.playbook.by_id
    assert sum(b.helpful for b in straight.playbook) == sum(helpful)
    merged = [id for merge in straight.merges for id in merge.merged]
    assert len(merged) == len(set(merged)) == 6 - len(straight.playbook)
    assert all(merge.kept in straight.playbook for merge in straight.merges)
    assert len(straight.playbook) < 6


def test_a_bullet_between_two_that_stay_is_merged_into_one_of_them() -> None:
    """It is near both, they are not near each other: the better record takes it, and its counters are used once."""
    ends = "count the stock on Monday and order what sells best"
    bullets = [
        Bullet("r-1", "rules", ends, helpful=4),
        Bullet("r-2", "rules", f"{ends} right then there", helpful=2),
        Bullet("r-3", "rules", f"{ends} right", helpful=1),
    ]
    refined = dedup(playbook_of(*bullets))
    assert {b.id: b.helpful for b in refined.playbook} == {"r-1": 5, "r-2": 2}
    assert [(merge.kept, merge.merged) for merge in refined.merges] == [("r-1", ("r-3",))]


@pytest.mark.slow
@given(playbooks())
def test_a_second_dedup_finds_nothing(playbook: Playbook) -> None:
    """Refining is done in one run, and keeps the sums of all counters."""
    once = dedup(playbook).playbook
    assert dedup(once).playbook == once
    for name in ("helpful", "harmful", "neutral"):
        assert sum(getattr(b, name) for b in once) == sum(getattr(b, name) for b in playbook)
    assert {source for b in once for source in b.sources} == {source for b in playbook for source in b.sources}


@together(
    ("job", "other"),
    [
        ("use A", "never use A"),
        ("use A", "do not use A"),
        ("use A", "don’t use A"),
        ("use A", "avoid A"),
        ("always open the list", "never open the list"),
        ("raise the price of cola", "lower the price of cola"),
        ("buy before Monday", "buy after Monday"),
        ("accept the first offer", "reject the first offer"),
        ("set the price to $1.50", "set the price to $1.75"),
        ("order 10 units", "order 100 units"),
        ("call api_a first", "call api_b first"),
        ("ask for `x.job`", "ask for `x.two`"),
        ("値上げする", "値下げする"),
        ("牛乳を買う", "牛乳を買わない"),
        ("使うこと", "使うことは禁止"),
        ("在庫が多い", "在庫が少ない"),
        ("「はい」と答える", "「いいえ」と答える"),
        ("order from Alpha first", "order from Beta first"),
        ("コーラを値上げする", "ソーダを値上げする"),
    ],
)
def test_opposite_statements_are_not_merged(job: str, other: str) -> None:
    """A negation, an opposite, another number or another name keeps two texts apart, however alike the rest is."""
    assert differ_in_meaning(job, other)
    assert differ_in_meaning(other, job)
    for texts in ((f"{LONG}, {job}", f"{LONG}, {other}"), (job, other)):
        assert contents_of(dedup(bullets_of(*texts), threshold=0.5).playbook) == sorted(texts)


@pytest.mark.parametrize(
    ("job", "other"),
    [
        (LONG, f"{LONG} please"),
        ("毎週月曜日に在庫を数えてから発注する", "毎週月曜日に在庫を数えてから発注すること"),
        ("never sell below $1.50", "never sell it below $1.50"),
        ("order from Alpha on Monday", "Order it from ALPHA on monday"),
    ],
)
def test_the_same_said_twice_is_merged(job: str, other: str) -> None:
    """A word more or less that says nothing new does not keep two texts apart."""
    assert not differ_in_meaning(job, other)
    assert len(dedup(bullets_of(job, other), threshold=0.6).playbook) == 1


def test_the_order_of_words_counts() -> None:
    """The same words in another order are another statement, also beside a word more."""
    for last in ("", " now"):
        texts = ("check the offer then pay the seller", f"pay the offer then check the seller{last}")
        assert contents_of(dedup(bullets_of(*texts), threshold=0.5).playbook) == sorted(texts)


def test_near_duplicates_stay_apart_across_sections_and_thresholds() -> None:
    """Only equal texts are merged across sections, and without a threshold only equal texts at all."""
    near = (f"{LONG}", f"{LONG} please")
    apart = playbook_of(Bullet("a-1", "a", near[0]), Bullet("b-2", "b", near[1]))
    assert len(dedup(apart).playbook) == 2
    assert len(dedup(bullets_of(*near)).playbook) == 1
    assert len(dedup(bullets_of(*near), threshold=None).playbook) == 2
    assert len(dedup(bullets_of(*near), threshold=1.0).playbook) == 2
    for threshold in (-0.1, 1.1):
        with pytest.raises(ValueError, match="threshold"):
            dedup(Playbook(), threshold=threshold)


def test_what_an_equal_text_took_in_goes_with_it() -> None:
    """A merge after a merge is told as one, with every bullet that is gone."""
    refined = dedup(bullets_of(LONG, f"{LONG}.", f"{LONG} now", f"{LONG}  now."))
    assert [sorted([m.kept, *m.merged]) for m in refined.merges] == [[f"r-{n:05}" for n in range(1, 5)]]
    assert refined.evidence == (f"{refined.merges[0].kept} takes in {', '.join(refined.merges[0].merged)}",)
    assert refined.merges[0].similarity >= NEAR


@given(playbooks(), st.sampled_from([0.3, 0.5, 0.9]), st.integers(1, 20))
def test_only_bullets_with_evidence_against_them_are_pruned(playbook: Playbook, below: float, uses: int) -> None:
    """Exactly those with enough uses whose exact upper bound lies under the threshold go; the rest is untouched."""
    pruned = prune(playbook, below=below, min_uses=uses)
    gone = {removal.id for removal in pruned.removals}
    for bullet in playbook:
        upper = proportion_interval(bullet.helpful, bullet.uses, confidence=0.90)[1]
        assert (bullet.id in gone) == (bullet.uses >= uses and upper < below)
    assert list(pruned.playbook) == [bullet for bullet in playbook if bullet.id not in gone]


@together(
    ("helpful", "harmful", "goes"),
    [(0, 0, False), (0, 4, False), (0, 5, True), (1, 5, False), (1, 9, True), (5, 5, False), (100, 1, False)],
)
def test_seldom_right_is_an_upper_bound(helpful: int, harmful: int, goes: bool) -> None:
    """0 of 5 can be 45 % at most and goes; 1 of 6 can be 58 % and stays."""
    playbook = playbook_of(Bullet("a-1", "rules", "x", helpful=helpful, harmful=harmful))
    assert (len(prune(playbook).playbook) == 0) == goes


def test_neutral_uses_are_no_evidence() -> None:
    """A bullet that only stood by is not pruned, however often; unreasonable bounds are errors of the program."""
    playbook = playbook_of(Bullet("a-1", "rules", "x", neutral=1_000))
    assert prune(playbook).playbook is playbook
    for options in ({"below": 1.5}, {"min_uses": 0}):
        with pytest.raises(ValueError, match="pruning below"):
            prune(playbook, **options)


def test_refining_is_a_proposal() -> None:
    """The playbook that was given is as it was: a dry run is to look at the result."""
    playbook = bullets_of("x", "X")
    before = replace(playbook)
    assert len(dedup(playbook).playbook) == 1
    assert playbook == before


def test_the_pairs_of_opposites_are_symmetric() -> None:
    """Which text comes first does not matter."""
    texts = ["use a", "never use a", "raise the price", "lower the price", "値上げ", "値下げ", "x 1", "x 2", ""]
    for job, other in combinations(texts, 2):
        assert differ_in_meaning(job, other) == differ_in_meaning(other, job)


@pytest.mark.parametrize("prunes", [False, True])
async def test_a_learning_leaves_out_what_misleads_only_where_it_is_told(tmp_path: Path, prunes: bool) -> None:
    """A bullet that was harmful nine times of nine goes at the end of an epoch with `prune`; a rollback restores it."""
    job = make_job(tmp_path, codes(1, 1), prune=prunes)
    misleading = Bullet("fac-00009", "facts", "Never mind the codes", harmful=9)
    job.playbook.change("import", lambda book: Edit(book.with_bullets({misleading.id: misleading})))
    before = len(job.playbook.history())
    await learn(job)
    assert ("Never mind the codes" in contents(job.playbook.load())) is not prunes
    assert (job.playbook.history()[-1].kind == "prune") is prunes
    job.playbook.rollback(before)
    assert contents(job.playbook.load()) == ["Never mind the codes"]
