"""akinai.why: planted mistakes are found, nothing is blamed that does not matter, and the ledger stays as it was."""

from dataclasses import replace
from pathlib import Path

import pytest
from mistakes import DAY, cheap, look, play

import akinai
from akinai.core.errors import UnknownName, UsageError
from akinai.report.page.document import Document, Section
from akinai.report.page.markdown import markdown
from akinai.report.why.section import with_explanations
from akinai.report.why.tables import summary_sentences
from akinai.runtime.why.explanation import Explanation


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Explanation]:
    """A run with a planted mistake, explained."""
    store = tmp_path_factory.mktemp("why") / "runs.db"
    return store, akinai.why(play(store, cheap), futures=4, store=str(store))


def test_a_planted_mistake_costs_most(explained: tuple[Path, Explanation]) -> None:
    """The day of the mistake is the first row, shown to cost, in the words of the mistake; no other day parts."""
    _, explanation = explained
    row = explanation.cost[0]
    assert (row.first, row.last, row.shown, explanation.parted) == (DAY, DAY, True, 1)
    assert row.words.startswith("priced ")
    assert "$0.05" in row.words
    assert row.made < 0
    assert row.own < 0
    assert row.ci95 is not None
    assert row.ci95[1] < 0


def test_the_worth_of_days_adds_up(explained: tuple[Path, Explanation]) -> None:
    """In the run's own future the days' worth adds up to what the run has more than the player from the first day."""
    _, explanation = explained
    assert explanation.player_value is not None
    assert (
        sum(row.own for row in (*explanation.cost, *explanation.made)) == explanation.value - explanation.player_value
    )


def test_the_ledger_stays_as_it_was(explained: tuple[Path, Explanation]) -> None:
    """An explanation is in the second book: digests are what they were, and the run verifies."""
    store, explanation = explained
    verdict = akinai.verify(explanation.run, store=str(store))[explanation.run]
    assert verdict.ok
    assert akinai.runs(explanation.run, store=str(store))[0].digest == explanation.digest


def test_a_transcript_and_a_report_show_it(explained: tuple[Path, Explanation]) -> None:
    """`show` and the report have what was found; a selection of the transcript does not repeat it."""
    store, explanation = explained
    view = akinai.show(explanation.run, store=str(store))
    assert view.to_json()["why"] == explanation.to_json()
    assert "why" not in akinai.show(explanation.run, day=2, store=str(store)).to_json()
    report = with_explanations(Document("t", "a", (Section("How to read", ()),)), [explanation])
    assert [section.title for section in report.sections] == [f"Why {explanation.run} ended as it did", "How to read"]
    assert "Cost most" in markdown(report)
    assert Explanation.from_json(explanation.to_json()) == explanation
    assert "A model played" not in " ".join(summary_sentences(explanation))
    assert "not by that model" in " ".join(summary_sentences(replace(explanation, asked_model=True)))


def test_asked_again_it_plays_nothing(explained: tuple[Path, Explanation]) -> None:
    """What was played is kept: the same question is answered from the book."""
    store, explanation = explained
    played: list[int] = []
    again = akinai.why(explanation.run, futures=4, store=str(store), progress=lambda done, _: played.append(done))
    assert (again, played) == (explanation, [])


def test_the_players_own_run_has_nothing_to_explain(tmp_path: Path) -> None:
    """A run of the player itself has no row at all."""
    store = tmp_path / "runs.db"
    explanation = akinai.why(play(store, days=10), store=str(store))
    assert (explanation.cost, explanation.made, explanation.parted, explanation.value) == (
        (),
        (),
        0,
        explanation.player_value,
    )


def test_what_cannot_matter_is_not_blamed(tmp_path: Path) -> None:
    """A look more at the end of a day is worth nothing."""
    store = tmp_path / "runs.db"
    explanation = akinai.why(play(store, look, days=14), futures=4, store=str(store))
    assert (explanation.parted, explanation.cost, explanation.made) == (1, (), ())


@pytest.mark.slow
def test_a_budget_bounds_the_work_and_the_next_call_goes_on(tmp_path: Path) -> None:
    """Calls within a budget come to what a single call finds."""
    store = tmp_path / "runs.db"
    run = play(store, cheap, days=16)
    counts: list[int] = []
    for _ in range(4):
        played: list[int] = []
        explanation = akinai.why(
            run, futures=4, budget=4, store=str(store), progress=lambda done, _, p=played: p.append(done)
        )
        counts.append(len(played))
    assert counts == [4, 4, 3, 0]
    assert explanation.left == 0
    assert explanation.cost[0].shown


def test_what_was_played_before_a_stop_is_kept(tmp_path: Path) -> None:
    """Ctrl-C amid the branches loses none that was played."""
    store = tmp_path / "runs.db"
    run = play(store, cheap, days=16)

    def stop(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        akinai.why(run, futures=4, store=str(store), progress=stop)
    played: list[int] = []
    akinai.why(run, futures=4, store=str(store), progress=lambda done, _: played.append(done))
    assert len(played) == 11 - 5


@pytest.mark.slow
def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    """The number of processes changes nothing."""
    explanations: list[Explanation] = []
    for jobs in (1, 2):
        store = tmp_path / f"{jobs}.db"
        explanations.append(
            akinai.why(play(store, "careful", days=14), futures=4, budget=60, jobs=jobs, store=str(store))
        )
    assert explanations[0] == explanations[1]


def test_a_sheet_of_questions_is_explained_entry_by_entry(tmp_path: Path) -> None:
    """In a world without days each answer is replaced; nothing is left to chance, so its worth is exact."""
    store = str(tmp_path / "runs.db")
    run = akinai.run("qa", agent="first", store=store, name="q", seeds=1, settings={"draw": 20})[0]
    explanation = akinai.why(run.id, store=store)
    assert not explanation.by_days
    assert explanation.futures == 0
    assert explanation.cost
    assert all(row.shown and row.ci95 is None for row in explanation.cost)
    answer = next(row for row in explanation.cost if row.kind == "day")
    assert answer.words.endswith(", wrong")
    assert answer.instead.startswith(f"question {answer.first}: ")
    assert answer.instead.endswith(", right")


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    """A name of no player or actor, and too few futures, are refused in a sentence."""
    store = str(tmp_path / "runs.db")
    run = play(Path(store), days=2)
    with pytest.raises(UnknownName, match="reference"):
        akinai.why(run, agent="referenc", store=store)
    with pytest.raises(UnknownName, match="owner"):
        akinai.why(run, actor="ower", store=store)
    with pytest.raises(UsageError, match="at least 4 futures"):
        akinai.why(run, futures=2, store=store)
