"""Laws of the loop: what is learned, in which order, from what alone; how it is counted."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from learners_for_tests import (
    FACTS,
    CodesBrain,
    Rules,
    codes,
    contents,
    data_set,
    fact,
    make_job,
    prompt_of,
    roles,
)

import akinai
from akinai.core.errors import ModelError, UsageError
from akinai.core.lessons import Lesson
from akinai.learning import Delta, Operation, apply_delta
from akinai.learning.loop.evaluation import Breaker, judge
from akinai.learning.loop.job import begin
from akinai.learning.loop.loop import STEPS, learn, next_step
from akinai.learning.loop.state import MOST_ROUNDS, LoopState, StepName
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.deltas import BulletTag, Refusal
from akinai.learning.roles.protocols import Curation, Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Assignment, Task
from akinai.runtime.learn.settings import learn_settings
from akinai.testing.endpoint import Endpoint, ModelCall, ScriptResponder

CANARY = "zq-canary-7731"


async def test_what_is_learned_in_one_epoch_is_known_in_the_next(tmp_path: Path) -> None:
    """Twenty unknown facts: nothing right in the first epoch, everything in the second, by bullets that say so."""
    job = make_job(tmp_path, codes(1, 20), epochs=3)
    state = await learn(job)
    assert [epoch.accuracy for epoch in state.epochs] == [0.0, 1.0, 1.0]
    assert [epoch.improvement for epoch in state.epochs] == [None, None, 0.0]
    assert [epoch.points for epoch in state.epochs] == [None, 100.0, 0.0]
    assert [epoch.counts.applied for epoch in state.epochs] == [20, 0, 0]
    assert sorted(contents(job.playbook.load())) == sorted(fact(task) for task in codes(1, 20))
    assert {bullet.helpful for bullet in job.playbook.load()} == {2}
    assert {bullet.source_trajectory for bullet in job.playbook.load()} == {f"t{n}" for n in range(1, 21)}


async def test_the_improvement_rate_is_relative_and_in_points(tmp_path: Path) -> None:
    """From 2 of 4 to 4 of 4: the rate is (1 - 0.5) / 0.5 = 1, and 50 points."""
    job = make_job(tmp_path, codes(1, 4), epochs=2)
    added = (Operation("ADD", "facts", content=fact(task)) for task in codes(1, 2))
    job.playbook.commit(Delta("known", tuple(added)))
    first, second = (await learn(job)).epochs
    assert (first.accuracy, second.accuracy, second.improvement, second.points) == (0.5, 1.0, 1.0, 50.0)
    assert (len(job.playbook.load()), second.counts.tasks) == (4, 4)


async def test_online_each_task_is_scored_before_anything_is_learned_from_it(tmp_path: Path) -> None:
    """Of a fact that comes twice, the first is not known and the second is; within a batch neither helps the other."""
    twice = [*codes(1, 3), *(replace(task, id=f"{task.id}-again") for task in codes(1, 3))]
    learned = await learn(make_job(tmp_path / "a", twice, online=True, batch=1))
    assert learned.first_right == (False,) * 3 + (True,) * 3
    learned = await learn(make_job(tmp_path / "b", twice, online=True, batch=6))
    assert learned.first_right == (False,) * 6


class Refining(Rules):
    """Gets a task right on the n-th try, and counts its rounds."""

    def __init__(self, right_at: int) -> None:
        super().__init__()
        self.right_at = right_at
        self.tries: list[int] = []

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        self.tries.append(len(reflections))
        right = len(reflections) + 1 >= self.right_at
        return Trajectory(assignment.id, f"code{assignment.id[1:]}" if right else "unknown")


@pytest.mark.parametrize(
    ("right_at", "rounds", "tries", "reflections"),
    [(1, 5, 1, 0), (2, 5, 2, 1), (3, 5, 3, 2), (9, 5, 6, 5), (9, 1, 2, 1), (9, 0, 1, 0)],
)
async def test_a_failure_is_reflected_on_and_tried_anew_until_it_is_right(
    tmp_path: Path, right_at: int, rounds: int, tries: int, reflections: int
) -> None:
    """Each round is a reflection with what the rounds before found, and a new try; the first try alone counts."""
    rules = Refining(right_at)
    job = make_job(tmp_path, codes(1, 1), roles(rules), rounds=rounds, new_tries=True)
    (epoch,) = (await learn(job)).epochs
    assert rules.tries == list(range(tries))
    assert len(rules.reflected) == reflections
    assert epoch.accuracy == (1.0 if right_at == 1 else 0.0)


@pytest.mark.parametrize("wrong", [{"rounds": MOST_ROUNDS + 1}, {"rounds": -1}, {"epochs": 0}, {"batch": -1},
                                   {"online": True, "epochs": 2}])  # fmt: skip
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    """More than five rounds, no epoch, a batch below none, online learning in epochs: each is refused."""
    with pytest.raises(UsageError, match=r"do not fit|leave"):
        learn_settings(wrong)


class Tagging(Refining):
    """Tags in every round, also what was never injected."""

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        tags = [BulletTag(id, "harmful") for id in (*trajectory.injected, *trajectory.injected, "fac-00099")]
        return Insights(task.id, key_insight="x", tags=tuple(tags))


async def test_a_task_moves_a_counter_by_one_whatever_its_rounds(tmp_path: Path) -> None:
    """Five rounds that each tag a bullet twice count once; a bullet that was not injected is refused and counted."""
    rules = Tagging(9)
    job = make_job(tmp_path, codes(1, 1), Roles(rules, rules, LessonCurator()), rounds=5, new_tries=True)
    job.playbook.commit(Delta("old", (Operation("ADD", "facts", content="The code of item1 is wrong"),
                                      Operation("ADD", "facts", content="something quite different"))))  # fmt: skip
    (epoch,) = (await learn(job)).epochs
    bullet, other = job.playbook.load()
    assert (bullet.harmful, bullet.helpful, bullet.neutral) == (1, 0, 0)
    assert other.uses == 0
    assert epoch.counts.refusals == {"not_injected": 1}
    (refusal,) = job.playbook.history()[-1].refused
    assert refusal["code"] == "not_injected"


class Canaries(Rules):
    """Fails loudly when it is shown a canary it must not see."""

    async def reflect(self, task: Task, trajectory: Trajectory, evaluation: Evaluation, retrieved: Retrieved,
                      earlier: Sequence[Insights] = ()) -> Insights:  # fmt: skip
        assert CANARY not in repr((task, trajectory, evaluation, retrieved, earlier))
        return await super().reflect(task, trajectory, evaluation, retrieved, earlier)


class Watchful(LessonCurator):
    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        assert CANARY not in repr((insights, playbook))
        return await super().curate(insights, playbook)


def test_nothing_of_a_judged_task_reaches_reflector_curator_or_playbook(tmp_path: Path) -> None:
    """A canary in id, text, truth and data of the validation and held-out tasks stands nowhere after two epochs."""
    canaries = [Task(f"{CANARY}-{n}", f"What is {CANARY}?", CANARY, data=CANARY, source=CANARY) for n in range(3)]
    held_out = [replace(task, id=f"{task.id}-held") for task in canaries]
    rules = Canaries()
    base = data_set(codes(1, 6), canaries, Roles(rules, rules, Watchful()))
    sets = {"train": codes(1, 6), "validation": canaries, "held_out": held_out}
    learned = akinai.learn(
        replace(base, load=lambda split: sets.get(split, ())),
        playbook=tmp_path / "p.json",
        settings={"epochs": 2, "batch": 2, "gate": True},
    )
    assert learned.judged
    assert learned.judged.accuracy == 0.0
    assert any(CANARY in attempt[0].text for attempt in rules.attempts), "the canaries were asked"
    for attempt in rules.attempts:
        assert not hasattr(attempt[0], "truth")
    for file in tmp_path.iterdir():
        assert CANARY.encode() not in file.read_bytes()


class Adding:
    """A Curator that adds one retrieved text each time."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        return Curation(Delta(operations=(Operation("ADD", "facts", content=self.text),)))


@pytest.mark.parametrize(
    ("text", "passed"),
    [("The code of item9 is nonsense", False), ("a harmless remark", True), (fact(codes(8, 8)[0]), True)],
)
async def test_the_gate_keeps_what_the_held_out_tasks_do_no_worse_with(tmp_path: Path, text: str, passed: bool) -> None:
    """A delta that makes a held-out task wrong is left out with the reason in the journal; a neutral one stays."""
    rules = Rules()
    held_out = [Task("h9", "What is the code of item9?", "code9"), Task("h8", "What is the code of item8?", "code8")]
    job = make_job(tmp_path, codes(1, 1), Roles(rules, rules, Adding(text)), gate=True, held_out=held_out, top_k=1)
    job.playbook.commit(Delta("old", (Operation("ADD", "facts", content="zz The code of item9 is code9"),)))
    (epoch,) = (await learn(job)).epochs
    assert (text in contents(job.playbook.load())) is passed
    assert (epoch.counts.applied, epoch.counts.gated) == ((1, 0) if passed else (0, 1))


async def test_a_refused_operation_is_counted_and_the_rest_is_done(tmp_path: Path) -> None:
    """Of five operations the one that names no section of the playbook is refused, and four are applied."""

    class Five:
        async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
            sections = ["facts", "facts", "fakts", "facts", "facts"]
            operations = tuple(Operation("ADD", name, content=f"{n}: {name}") for n, name in enumerate(sections))
            return Curation(Delta(operations=operations))

    rules = Rules()
    job = make_job(tmp_path, codes(1, 1), Roles(rules, rules, Five()), dedup=False)
    (epoch,) = (await learn(job)).epochs
    assert (epoch.counts.applied, epoch.counts.refusals, len(job.playbook.load())) == (4, {"unknown_section": 1}, 4)


class Breaking(Rules):
    """Has no answer to some tasks: unreadable, or the model broke."""

    async def generate(self, assignment: Assignment, retrieved: Retrieved,
                       reflections: Sequence[Insights] = ()) -> Trajectory:  # fmt: skip
        if assignment.id == "t2":
            return Trajectory(assignment.id, failed="no JSON object")
        if assignment.id == "t3":
            raise ModelError("it is down")
        if assignment.id == "t4":
            return Trajectory(assignment.id, "  ")
        return await super().generate(assignment, retrieved, reflections)


async def test_failed_and_empty_answers_stay_in_the_denominator(tmp_path: Path) -> None:
    """Unreadable, broken and empty answers are tasks that were not done; a broken model is not reflected on."""
    rules = Breaking()
    job = make_job(tmp_path, codes(1, 5), roles(rules), batch=5)
    job.playbook.commit(Delta("old", (Operation("ADD", "facts", content=fact(codes(1, 1)[0])),)))
    (epoch,) = (await learn(job)).epochs
    assert (epoch.counts.tasks, epoch.counts.right, epoch.counts.failed, epoch.accuracy) == (5, 1, 2, 0.2)
    assert rules.reflected == ["t2", "t4", "t5"]
    judged = await judge(codes(1, 5), job.playbook.load(), rules, job.evaluator, job.retriever)
    assert (judged.failed, len(judged.right), judged.accuracy) == (2, 5, 0.4)


async def test_a_model_that_stays_broken_stops_the_learning(tmp_path: Path) -> None:
    """Three broken calls in a row raise, and nothing of them is in the playbook; single ones are failures."""

    class Down(Rules):
        async def generate(self, assignment: Assignment, retrieved: Retrieved,
                           reflections: Sequence[Insights] = ()) -> Trajectory:  # fmt: skip
            raise ModelError("it is down")

    job = make_job(tmp_path, codes(1, 5), roles(Down()), batch=1)
    with pytest.raises(ModelError, match="it is down"):
        await learn(job)
    guard = Breaker(limit=3)

    async def fails() -> str:
        raise ModelError("once")

    async def works() -> str:
        return "ok"

    results = [await guard.guard(call, lambda _: "failed") for call in (fails, fails, works, fails, fails)]
    assert results == ["failed", "failed", "ok", "failed", "failed"]


async def test_every_step_can_be_repeated_after_a_crash(tmp_path: Path) -> None:
    """Running each step twice from the same written state gives the playbook and the figures of running it once."""

    async def run(folder: Path, times: int) -> tuple[bytes, LoopState]:
        job = make_job(folder, codes(1, 6), epochs=2, batch=2, rounds=2, new_tries=True)
        step: StepName | None = "generate"
        state = begin(job)
        while step:
            before = state.to_json()
            for _ in range(times):
                state = await STEPS[step](job, LoopState.from_json(before))
            step = next_step(job, step, state)
        return job.playbook.path.read_bytes(), state

    once, twice = await run(tmp_path / "a", 1), await run(tmp_path / "b", 2)
    assert once == twice


async def test_another_job_cannot_go_on_from_a_state(tmp_path: Path) -> None:
    """Other tasks, roles or another plan are refused: their figures would be mixed."""
    state = begin(make_job(tmp_path / "a", codes(1, 3)))
    for other in (make_job(tmp_path / "b", codes(1, 4)), make_job(tmp_path / "c", codes(1, 3), batch=3),
                  make_job(tmp_path / "d", codes(1, 3), replace(roles(), label="model"))):  # fmt: skip
        with pytest.raises(UsageError, match="begin anew"):
            await learn(other, state)


async def test_lessons_about_the_same_thing_become_one_bullet(tmp_path: Path) -> None:
    """In one batch or in two, the later lesson changes the bullet by the merge; its id and counters stay."""

    def joined(content: str, lesson: Lesson) -> str:
        return f"{content} {lesson.content}"

    curator = LessonCurator(joined)
    counts = [
        Insights("t", lessons=(Lesson("facts", text, (text,), about="price"),), sources=(f"r#{n}",))
        for n, text in enumerate("abc")
    ]
    book = Playbook().with_sections(FACTS)
    book, refused = apply_delta(book, (await curator.curate(counts[:2], book)).delta)
    assert not refused
    book, refused = apply_delta(book, (await curator.curate(counts[2:], book)).delta)
    (bullet,) = book
    assert (bullet.content, bullet.keywords, bullet.source_trajectory) == ("a b c", ("a", "b", "c"), "r#0; r#1; r#2")
    assert not (await LessonCurator().curate([Insights("t", lessons=(Lesson("facts", "a b c", about="price"),))], book)).delta.operations  # fmt: skip


async def test_tokens_are_counted_injected_and_whole(tmp_path: Path) -> None:
    """What tasks were retrieved is less than the playbook when that is large, and all of it when `whole` is asked."""
    facts = tuple(Operation("ADD", "facts", content=fact(task)) for task in codes(1, 60))
    tallies = []
    for name, whole in (("part", False), ("whole", True)):
        job = make_job(tmp_path / name, codes(1, 4), whole=whole, top_k=3)
        job.playbook.commit(Delta("old", facts))
        tallies.append((await learn(job)).epochs[0].counts)
    part, all_of_it = tallies
    assert part.whole_tokens == all_of_it.whole_tokens == all_of_it.injected_tokens
    assert 0 < part.injected_tokens < part.whole_tokens / 5


def test_a_model_learns_over_a_real_wire(tmp_path: Path) -> None:
    """Generator, Reflector and Curator over HTTP and LangChain: learned by heart, judged with and without, counted."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    with Endpoint(CodesBrain()) as endpoint:
        learned = akinai.learn(
            data_set(codes(1, 4), codes(3, 6)),
            playbook=tmp_path / "p.json",
            model="openai:test",
            base_url=endpoint.openai_url,
            epochs=2,
        )
        log = endpoint.log
    assert learned.label == "openai:test"
    assert [epoch.accuracy for epoch in learned.epochs] == [0.0, 1.0]
    assert sorted(contents(learned.playbook)) == sorted(fact(task) for task in codes(1, 4))
    assert (learned.judged and learned.judged.accuracy, learned.baseline and learned.baseline.accuracy) == (0.5, 0.0)
    assert learned.gain
    assert (learned.gain.wins, learned.gain.losses, learned.gain.difference) == (2, 0, 0.5)
    calls = sum(epoch.counts.usage.calls for epoch in learned.epochs)
    assert calls == len(log) - 12  # judged with, without, and with permuted bullets
    assert calls == 4 * 4 + 4
    assert learned.epochs[0].counts.usage.tokens.input > 0


def test_a_model_that_babbles_is_counted_and_teaches_nothing(tmp_path: Path) -> None:
    """Replies that hold no object, over the wire: failed tasks, no delta, every reply counted as unreadable."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    with Endpoint(ScriptResponder(["I think so."] * 90)) as endpoint:
        learned = akinai.learn(
            data_set(codes(1, 2)),
            playbook=tmp_path / "p.json",
            model="openai:test",
            base_url=endpoint.openai_url,
            baseline=False,
        )
    (epoch,) = learned.epochs
    assert (epoch.counts.failed, epoch.accuracy, len(learned.playbook)) == (2, 0.0, 0)
    assert epoch.counts.given_up == 2
    assert epoch.counts.usage.unreadable == epoch.counts.usage.calls == 2 * 3 * 2


def test_a_spent_budget_ends_the_learning_cleanly(tmp_path: Path) -> None:
    """When the tokens are used up the learning ends as `budget`, with what was learned until then in the playbook."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    with Endpoint(CodesBrain()) as endpoint:
        learned = akinai.learn(
            data_set(codes(1, 9)),
            playbook=tmp_path / "p.json",
            model="openai:test",
            base_url=endpoint.openai_url,
            max_tokens=6_000,
        )
    assert learned.ending == "budget"
    assert 0 < len(learned.playbook) < 9
    assert learned.to_json()["ending"] == "budget"


def test_the_generators_prompt_never_holds_the_truth_of_a_first_try(tmp_path: Path) -> None:
    """Over the wire: the first request for each task does not contain its answer."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    seen: list[ModelCall] = []

    class Noting(CodesBrain):
        async def reply(self, call: ModelCall) -> Any:
            seen.append(call)
            return await super().reply(call)

    with Endpoint(Noting()) as endpoint:
        akinai.learn(data_set(codes(1, 3)), playbook=tmp_path / "p.json", model="openai:test",
                     base_url=endpoint.openai_url, baseline=False)  # fmt: skip
    firsts = [prompt_of(job.request) for job in seen if "You solve tasks" in prompt_of(job.request)]
    for task in codes(1, 3):
        first = next(text for text in firsts if task.text in text)
        assert task.truth not in first


def test_a_state_is_the_same_after_it_was_written(tmp_path: Path) -> None:
    """JSON gives back every part of a state: tries, refusals among tags and operations, lessons, curation."""
    job = make_job(tmp_path, codes(1, 2))
    state = begin(job)
    state = replace(
        state,
        curation=Curation(Delta("d", (Operation("ADD", "facts", content="c"), Refusal("operations[1]", "x", "y")))),
    )
    assert LoopState.from_json(state.to_json()) == state
