"""The best playbook, not the last: judged on held-out tasks as it grows, and what was judged is not asked again."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from learners_for_tests import Rules, codes, contents, data_set, make_job

import akinai
from akinai.core.errors import UsageError
from akinai.core.lessons import Lesson
from akinai.learning.loop.loop import learn
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.protocols import Curation, Insights, Roles
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Task


class Spoiling:
    """A Curator that adds, call by call, what helps the held-out task, and later what misleads it."""

    def __init__(self, *texts: str) -> None:
        self.texts, self.calls = texts, 0

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        text = self.texts[min(self.calls, len(self.texts) - 1)]
        self.calls += 1
        lesson = Insights("x", lessons=(Lesson("facts", text, about="item9"),), sources=("t#1",))
        return await LessonCurator().curate([lesson], playbook)


GOOD, BAD = "The code of item9 is code9", "The code of item9 is wrong"
HELD_OUT: Sequence[Task] = codes(9, 9)


async def test_the_best_playbook_is_kept_and_the_last_is_not(tmp_path: Path) -> None:
    """After each epoch the held-out task judges; the end is the best of all, the beginning's among them."""
    rules = Rules()
    roles = Roles(rules, rules, Spoiling(GOOD, BAD))
    job = make_job(tmp_path, codes(1, 1), roles, epochs=3, keep_best=True, held_out=HELD_OUT, dedup=False)
    state = await learn(job)
    assert [(s.epoch, s.score) for s in state.selected] == [(0, 0), (1, 1), (2, 0), (3, 0)]
    assert contents(job.playbook.load()) == [GOOD]
    assert "the best on held-out tasks" in job.playbook.history()[-1].reason


async def test_learning_that_only_harms_ends_where_it_began(tmp_path: Path) -> None:
    """An equal score does not replace an earlier playbook."""
    rules = Rules()
    job = make_job(
        tmp_path, codes(1, 1), Roles(rules, rules, Spoiling(BAD)), keep_best=True, held_out=HELD_OUT, dedup=False
    )
    await learn(job)
    assert contents(job.playbook.load()) == []


async def test_learning_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    """With patience 2 two judgements without a better playbook end it, in the middle of an epoch too, which is
    closed and reported."""
    rules = Rules()
    options = {"keep_best": True, "select_every": 1, "patience": 2, "held_out": HELD_OUT, "dedup": False, "epochs": 5}
    job = make_job(tmp_path, codes(1, 8), Roles(rules, rules, Spoiling(GOOD, BAD)), **options)
    state = await learn(job)
    assert (state.over, len(state.epochs), state.epochs[0].counts.tasks) == (True, 1, 3)
    assert contents(job.playbook.load()) == [GOOD]


async def test_a_judged_playbook_is_not_judged_again(tmp_path: Path) -> None:
    """The gate remembers: of n deltas the held-out task is asked n + 1 times and not 2 n."""
    rules = Rules()
    job = make_job(tmp_path, codes(1, 4), Roles(rules, rules, LessonCurator()), gate=True, held_out=HELD_OUT)
    await learn(job)
    judged = [assignment.id for assignment, *_ in rules.attempts if assignment.id == "t9"]
    assert len(judged) == 4 + 1


def test_held_out_tasks_are_taken_from_training_and_count_as_seen(tmp_path: Path) -> None:
    """`keep_best` with `held_out=N` holds out the last training tasks; without any it is refused."""
    tasks = data_set(codes(1, 6), codes(7, 8))
    learned = akinai.learn(tasks, playbook=tmp_path / "p.json", keep_best=True, epochs=2, settings={"held_out": 2})
    document = learned.to_json()
    assert [tried["best"] for tried in document["selected"]].count(True) == 1
    assert learned.epochs[0].counts.tasks == 4
    with pytest.raises(UsageError, match="the best playbook was asked for"):
        akinai.learn(tasks, playbook=tmp_path / "q.json", keep_best=True)


@pytest.mark.parametrize("crash_at", [1, 2, 3])
def test_a_crash_after_a_judgement_changes_nothing(tmp_path: Path, crash_at: int) -> None:
    """Resumed from its checkpoint, a learning chooses the same playbook as one that was not cut off."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")

    class Crash(Exception):
        pass

    def learned(name: str, stop: int = -1) -> list[str]:
        seen: list[str] = []

        def watch(step: str, state: object) -> None:
            seen.append(step)
            if seen.count("select") == stop:
                raise Crash

        rules = Rules()
        tasks = data_set(codes(1, 4), codes(7, 8), Roles(rules, rules, LessonCurator()))
        options = {"held_out": 2, "select_every": 1, "batch": 1}
        result = akinai.learn(
            tasks, playbook=tmp_path / f"{name}.json", keep_best=True, epochs=2, settings=options,
            checkpoint=str(tmp_path / f"{name}.db"), watch=watch,
        )  # fmt: skip
        return [*contents(result.playbook), *(f"{s.epoch}.{s.tasks}: {s.score}" for s in result.selected)]

    whole = learned("whole")
    with pytest.raises(Crash):
        learned("cut", crash_at)
    assert learned("cut") == whole
