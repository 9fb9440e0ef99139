"""The loop: generate, evaluate, reflect, curate, gate, apply, refine, as plain functions from state to state.

`follows` says which step comes next; `learn` runs them one after the other, and `graph` makes LangGraph nodes of the
same functions. A step that is repeated after a crash does no harm: a delta is applied once, by its id.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from akinai.core.canonical import bad_text, canonical
from akinai.core.errors import UsageError
from akinai.learning.deltas import Delta, apply_delta
from akinai.learning.loop_judging import Breaker, answered, judge, side_by_side
from akinai.learning.loop_records import Attempt, EpochReport, GateCheck, Plan, State, StepName, Tally
from akinai.learning.loop_shelf import Shelf
from akinai.learning.playbook_file import PlaybookFile
from akinai.learning.refine import dedup, prune
from akinai.learning.roles import Curation, Evaluation, Evaluator, Insights, Roles
from akinai.learning.tasks import Task

Step: TypeAlias = "Callable[[Course, State], Awaitable[State]]"
Watch: TypeAlias = Callable[[StepName, State], None]
"""Is told each step when it is done."""


@dataclass(frozen=True)
class Course:
    """What is learned, by whom, into which playbook. UsageError for tasks whose ids cannot stand.

    The held-out tasks are asked by the gate alone: neither Reflector nor Curator is ever handed one.
    """

    train: Sequence[Task]
    roles: Roles
    evaluator: Evaluator
    playbook: PlaybookFile
    shelf: Shelf
    plan: Plan = field(default_factory=Plan)
    held_out: Sequence[Task] = ()
    breaker: Breaker = field(default_factory=Breaker)

    def __post_init__(self) -> None:
        expect_ids(self.train)
        expect_ids(self.held_out)
        if self.plan.gate and not self.held_out:
            raise UsageError("the gate was asked for and there are no held-out tasks; name some, or leave it out")
        if self.plan.gate and (shared := {task.id for task in self.train} & {task.id for task in self.held_out}):
            raise UsageError(f"task {min(shared)!r} is both trained on and held out; let it be one of them")

    @cached_property
    def by_id(self) -> Mapping[str, Task]:
        return {task.id: task for task in self.train}

    @cached_property
    def fingerprint(self) -> str:
        """Of the tasks, the plan and who plays: a state goes on only where all are the same."""
        told = [asdict(self.plan), self.roles.label, [[task.id, task.text, task.truth] for task in self.train]]
        return hashlib.sha256(canonical(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def batch(self, state: State) -> Sequence[Task]:
        """The tasks of the batch under way."""
        return self.train[state.done : state.done + self.plan.batch]


def expect_ids(tasks: Sequence[Task]) -> None:
    """UsageError unless every task has an id of its own that a playbook's journal can keep."""
    counts = Counter(task.id for task in tasks)
    for id, count in counts.items():
        if count > 1 or not id or bad_text(id):
            why = f"stands {count} times" if count > 1 else (bad_text(id) or "is empty")
            raise UsageError(f"the task id {id[:100]!r} {why}; give each task an id of its own")


def begin(course: Course) -> State:
    """Where a new learning starts; its name is the point of the journal that the playbook stands at."""
    changes = course.playbook.history()
    return State(f"learn-{changes[-1].n if changes else 0}", course=course.fingerprint, over=not course.train)


def going_on(course: Course, state: State) -> State:
    """The state, if it is one of this course; else UsageError."""
    if state.course != course.fingerprint:
        raise UsageError(
            f"{state.session!r} was begun with other tasks, roles or a plan other than now; "
            "go on with those, or begin anew"
        )
    return state


async def learn(course: Course, state: State | None = None, watch: Watch | None = None) -> State:
    """Run the loop to its end, from the beginning or from any state. ModelError when the model stays broken."""
    state = going_on(course, state) if state else begin(course)
    step: StepName | None = None if state.over else "generate"
    while step:
        state = await STEPS[step](course, state)
        if watch:
            watch(step, state)
        step = follows(course, step, state)
    return state


async def generate(course: Course, state: State) -> State:
    """A try at each task of the batch that wants one: all at first, later those that a reflection was made for."""
    attempts = state.attempts or tuple(Attempt(task.id) for task in course.batch(state))
    playbook = course.playbook.load()
    given_tokens: list[int] = []

    async def tried(attempt: Attempt) -> Attempt:
        if not attempt.wants_try():
            return attempt
        task = course.by_id[attempt.task_id]
        given = course.shelf.retrieve(playbook, task.assignment.query)
        name = f"{state.session}/{state.epoch}/{len(attempt.tries) + 1}"
        trajectory, broken = await answered(course.roles.generator, task, given, course.breaker, attempt.told, name)
        given_tokens.append(course.shelf.tokens_of(given, trajectory.injected))
        return attempt.with_try(trajectory, broken=broken)

    done = tuple(await side_by_side([tried(attempt) for attempt in attempts]))
    if state.attempts:
        return replace(state, attempts=done)
    whole = len(done) * course.shelf.tokens_of_all(playbook)
    tokens = Tally(injected_tokens=sum(given_tokens), whole_tokens=whole)
    return replace(state, attempts=done, tally=state.tally + tokens)


async def evaluate(course: Course, state: State) -> State:
    """Judge every try that is not judged yet."""

    async def judged(attempt: Attempt) -> Attempt:
        if attempt.last.evaluation is not None:
            return attempt
        trajectory = attempt.last.trajectory
        if trajectory.failed:
            return attempt.judged(Evaluation(False, 0.0, f"no answer: {trajectory.failed}"))
        return attempt.judged(await course.evaluator.evaluate(course.by_id[attempt.task_id], trajectory))

    return replace(state, attempts=tuple([await judged(attempt) for attempt in state.attempts]))


async def reflect(course: Course, state: State) -> State:
    """A round of reflection on each task of the batch that wants one."""
    playbook = course.playbook.load()

    async def reflected(attempt: Attempt) -> Attempt:
        if not attempt.wants_reflection(course.plan):
            return attempt
        task, last = course.by_id[attempt.task_id], attempt.last
        assert last.evaluation is not None
        given = course.shelf.again(playbook, last.trajectory.injected)
        role = course.roles.reflector
        insights = await course.breaker.guard(
            lambda: role.reflect(task, last.trajectory, last.evaluation or Evaluation(False, 0.0), given, attempt.told),
            lambda error: Insights(task.id, failed=f"the model is broken: {error}"),
        )
        sources = insights.sources or (last.trajectory.source or task.evidence,)
        return attempt.with_insights(replace(insights, sources=sources))

    return replace(state, attempts=tuple(await side_by_side([reflected(one) for one in state.attempts])))


async def curate(course: Course, state: State) -> State:
    """Turn what was found into operations on the playbook, which is not changed yet."""
    insights = [one for attempt in state.attempts for one in attempt.told]
    playbook = course.playbook.load()
    curation = await course.breaker.guard(
        lambda: course.roles.curator.curate(insights, playbook),
        lambda error: Curation(Delta(), failed=f"the model is broken: {error}"),
    )
    evidence = curation.delta.evidence or tuple(dict.fromkeys(source for one in insights for source in one.sources))
    return replace(state, curation=replace(curation, delta=replace(curation.delta, evidence=evidence)))


async def gate(course: Course, state: State) -> State:
    """Ask the held-out tasks, with the operations and without them."""
    assert state.curation is not None
    before = course.playbook.load()
    after, _ = apply_delta(before, replace(state.curation.delta, id="", taggings=()))
    without = await judge(course.held_out, before, course.roles.generator, course.evaluator, course.shelf.another())
    with_it = await judge(course.held_out, after, course.roles.generator, course.evaluator, course.shelf.another())
    pairs = [(without.scores[id], with_it.scores[id]) for id in without.scores]
    wins, losses = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    check = GateCheck(without.mean, with_it.mean, wins, losses, without.spent + with_it.spent)
    return replace(state, gate=check)


async def apply(course: Course, state: State) -> State:
    """Commit the operations and the tags of the batch as one delta, count it, and go on to the next batch."""
    delta = _delta(state)
    learned, refused = 0, 0
    if delta.operations or any(tagging.tags for tagging in delta.taggings):
        refusals = _commit(course.playbook, delta)
        refused_operations = sum(place.startswith("operations") for place in refusals)
        learned, refused = len(delta.operations) - refused_operations, len(refusals)
    marks = "".join("1" if attempt.right_at_once else "0" for attempt in state.attempts)
    worth = tuple(attempt.score_at_once for attempt in state.attempts)
    return replace(
        state,
        tally=state.tally + _tally(state) + Tally(learned=learned, refused=refused),
        marks=state.marks + marks,
        worth=(*state.worth, *worth),
        done=state.done + len(state.attempts),
        attempts=(),
        curation=None,
        gate=None,
    )


async def refine(course: Course, state: State) -> State:
    """Close an epoch: merge duplicates, leave out what misleads where the plan says so, and report."""
    if course.plan.dedup:
        course.playbook.change("dedup", dedup)
    if course.plan.prune:
        course.playbook.change("prune", prune)
    playbook = course.playbook.load()
    before = state.epochs[-1] if state.epochs else None
    size, tokens = len(playbook), course.shelf.tokens_of_all(playbook)
    report = EpochReport(state.epoch, state.tally, size, tokens, None, None)
    if before:
        points = report.accuracy - before.accuracy
        relative = points / before.accuracy if before.accuracy else None
        report = replace(report, improvement=relative, points=100 * points)
    return replace(
        state,
        epoch=state.epoch + 1,
        done=0,
        tally=Tally(),
        epochs=(*state.epochs, report),
        marks=state.marks if course.plan.online else "",
        worth=state.worth if course.plan.online else (),
        over=state.epoch >= course.plan.epochs,
    )


STEPS: Mapping[StepName, Step] = {
    "generate": generate,
    "evaluate": evaluate,
    "reflect": reflect,
    "curate": curate,
    "gate": gate,
    "apply": apply,
    "refine": refine,
}


def follows(course: Course, step: StepName, state: State) -> StepName | None:
    """The step after this one; None when all is learned."""
    match step:
        case "generate":
            return "evaluate"
        case "evaluate" | "reflect":
            return _after_judging(course.plan, state.attempts)
        case "curate":
            asked = state.curation is not None and bool(state.curation.delta.operations)
            return "gate" if course.plan.gate and asked else "apply"
        case "gate":
            return "apply"
        case "apply":
            return "generate" if state.done < len(course.train) else "refine"
        case "refine":
            return None if state.over else "generate"


def _after_judging(plan: Plan, attempts: Sequence[Attempt]) -> StepName:
    """Success goes straight on; failure is reflected on and tried anew; what was found goes to the Curator."""
    if plan.new_tries and any(attempt.wants_try() for attempt in attempts):
        return "generate"
    if any(attempt.wants_reflection(plan) for attempt in attempts):
        return "reflect"
    return "curate" if any(attempt.told for attempt in attempts) else "apply"


def _delta(state: State) -> Delta:
    """What the batch asks of the playbook."""
    delta = state.curation.delta if state.curation else Delta()
    if state.gate and not state.gate.passed:
        why = f"the held-out tasks went from {state.gate.before:.3f} to {state.gate.after:.3f}; operations left out"
        delta = replace(delta, operations=(), reason=f"{delta.reason}; {why}" if delta.reason else why)
    name = f"{state.session}/{state.epoch}"
    taggings = [attempt.tagging(f"{name}/{attempt.task_id}") for attempt in state.attempts]
    told = tuple(tagging for tagging in taggings if tagging.tags)
    evidence = delta.evidence if delta.operations else ()
    return replace(delta, id=state.delta_id, taggings=told, evidence=evidence)


def _commit(file: PlaybookFile, delta: Delta) -> Sequence[str]:
    """The places of the delta that were refused, now or when it was applied before a crash."""
    saved = file.commit(delta)
    if not saved.repeated:
        return [refusal.place for refusal in saved.refusals]
    change = next(change for change in file.history() if change.id == delta.id)
    return [str(refusal["place"]) for refusal in change.refused]


def _tally(state: State) -> Tally:
    """The counts of the batch under way."""
    attempts, curation, check = state.attempts, state.curation, state.gate
    spent = sum((attempt.spent for attempt in attempts), start=Tally().spent)
    spent = spent + (curation.spent if curation else Tally().spent) + (check.spent if check else Tally().spent)
    given_up = sum(bool(one.failed) for attempt in attempts for one in attempt.insights)
    return Tally(
        tasks=len(attempts),
        right=sum(attempt.right_at_once for attempt in attempts),
        failed=sum(bool(attempt.tries[0].trajectory.failed) for attempt in attempts),
        new_tries=sum(len(attempt.tries) - 1 for attempt in attempts),
        righted=sum(attempt.solved and not attempt.right_at_once for attempt in attempts),
        given_up=given_up + bool(curation and curation.failed),
        gated=len(curation.delta.operations) if curation and check and not check.passed else 0,
        spent=spent,
    )
