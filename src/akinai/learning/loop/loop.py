"""The loop: generate, evaluate, reflect, curate, gate, apply, refine and select, as functions from state to state, and
the edges between them.

`follower` names the next step; `learn` runs the steps in turn, and `graph` makes LangGraph nodes of the same functions.
Repeating a step after a crash is harmless: a delta is applied once, by its id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from akinai.core.canonical import short_digest
from akinai.learning.loop.evaluation import attempt_task, judge
from akinai.learning.loop.job import Job, Node, Step, Watch, begin, check_resumable
from akinai.learning.loop.state import (
    EpochCounts,
    EpochReport,
    GateCheck,
    HeldOutScores,
    LoopConfig,
    LoopState,
    Selected,
    StepName,
    TaskProgress,
)
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.deltas import Delta, Refusal, apply_delta
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.roles.protocols import Curation, Evaluation, Insights, ModelUsage
from akinai.learning.roles.tasks import Progress
from akinai.learning.search.dedup import dedup, prune
from akinai.learning.search.injection import inject_all
from akinai.together import gather_or_cancel


async def learn(job: Job, state: LoopState | None = None, watch: Watch | None = None) -> LoopState:
    """Run the loop to its end, from the beginning or from any state. ModelError when the model stays broken."""
    state = check_resumable(job, state) if state else begin(job)
    functions, step = steps(job), None if state.over else "generate"
    while step:
        state = await functions[step](job, state)
        if watch:
            watch(step, state)
        step = follower(job, step, state)
    return state


async def generate(job: Job, state: LoopState) -> LoopState:
    """Attempt the tasks of the batch: all of them at first, later those that were reflected on."""
    batch = state.batch or tuple(TaskProgress(task.id) for task in job.batch(state))
    playbook = job.playbook.load()

    async def attempted(progress: TaskProgress) -> TaskProgress:
        if not progress.wants_attempt():
            return progress
        task = job.by_id[progress.task_id]
        name = f"{state.learning_id}/{state.epoch}/{len(progress.attempts) + 1}"
        reflections = progress.readable_insights
        generator, retriever = job.roles.generator, job.retriever
        attempt = await attempt_task(generator, task, playbook, retriever, job.breaker, reflections, name)
        return replace(progress, attempts=(*progress.attempts, attempt))

    done = tuple(await gather_or_cancel([attempted(progress) for progress in batch]))
    if state.batch:
        return replace(state, batch=done)
    whole_tokens = len(done) * inject_all(playbook).tokens
    injected_tokens = sum(progress.last.injected_tokens for progress in done)
    tokens = EpochCounts(injected_tokens=injected_tokens, whole_tokens=whole_tokens)
    return replace(state, batch=done, counts=state.counts + tokens)


async def evaluate(job: Job, state: LoopState) -> LoopState:
    """Evaluate every attempt that is not evaluated yet."""

    async def evaluated(progress: TaskProgress) -> TaskProgress:
        if progress.last.evaluation is not None:
            return progress
        trajectory = progress.last.trajectory
        if trajectory.failed:
            return progress.with_evaluation(Evaluation(False, 0.0, f"no answer: {trajectory.failed}"))
        return progress.with_evaluation(await job.evaluator.evaluate(job.by_id[progress.task_id], trajectory))

    return replace(state, batch=tuple([await evaluated(progress) for progress in state.batch]))


async def reflect(job: Job, state: LoopState) -> LoopState:
    """Reflect once on each task of the batch that needs it."""
    playbook = job.playbook.load()

    async def reflected(progress: TaskProgress) -> TaskProgress:
        evaluation = progress.last.evaluation
        if evaluation is None or not progress.wants_reflection(job.config):
            return progress
        task, trajectory = job.by_id[progress.task_id], progress.last.trajectory
        number = state.done + state.batch.index(progress) + 1
        position = Progress(state.epoch, job.config.epochs, number, len(job.train))
        task = replace(task, truth="" if job.config.no_truth else task.truth, progress=position)
        retrieved = job.retriever.by_ids(playbook, trajectory.injected)
        earlier = progress.readable_insights
        insights = await job.breaker.guard(
            lambda: job.roles.reflector.reflect(task, trajectory, evaluation, retrieved, earlier),
            lambda error: Insights(task.id, failed=f"the model is broken: {error}"),
        )
        sources = insights.sources or (trajectory.source or task.evidence,)
        insights = replace(insights, sources=sources, task_text=task.text, progress=task.progress)
        return replace(progress, insights=(*progress.insights, insights))

    return replace(state, batch=tuple(await gather_or_cancel([reflected(progress) for progress in state.batch])))


async def curate(job: Job, state: LoopState) -> LoopState:
    """Turn the insights into operations. The playbook is not changed yet."""
    batch_insights = [insights for progress in state.batch for insights in progress.readable_insights]
    playbook = job.playbook.load()
    curation = await job.breaker.guard(
        lambda: job.roles.curator.curate(batch_insights, playbook),
        lambda error: Curation(Delta(), failed=f"the model is broken: {error}"),
    )
    sources = dict.fromkeys(source for insights in batch_insights for source in insights.sources)
    evidence = curation.delta.evidence or tuple(sources)
    return replace(state, curation=replace(curation, delta=replace(curation.delta, evidence=evidence)))


async def gate(job: Job, state: LoopState) -> LoopState:
    """Ask the held-out tasks without the operations and with them."""
    assert state.curation is not None
    before = job.playbook.load()
    after, _ = apply_delta(before, replace(state.curation.delta, id="", taggings=()))
    without, usage = await _held_out_scores(job, state, before)
    with_operations, more = await _held_out_scores(job, state, after)
    check = GateCheck(without.mean, with_operations.mean, usage + more)
    return replace(state, gate=check, judged=with_operations if check.passed else without)


async def _held_out_scores(job: Job, state: LoopState, playbook: Playbook) -> tuple[HeldOutScores, ModelUsage]:
    """The scores of the held-out tasks with a playbook. Nothing is asked if it was the last to be judged."""
    texts = [[bullet.id, bullet.content] for bullet in playbook]
    digest = short_digest(texts)
    if state.judged and state.judged.digest == digest:
        return state.judged, ModelUsage()
    result = await judge(job.held_out, playbook, job.roles.generator, job.evaluator, job.retriever.fresh())
    return HeldOutScores(digest, result.scores), result.usage


async def select(job: Job, state: LoopState) -> LoopState:
    """Judge the playbook on the held-out tasks; at the end of the learning bring back the best.

    A later playbook has to be better, not just as good.
    """
    judgements = list(state.selected)
    if not judgements:
        start = int(state.learning_id.rpartition("-")[2])
        scores, usage = await _held_out_scores(job, state, job.playbook.at(start))
        judgements.append(Selected(start, 0, 0, scores.mean, usage))
    point, playbook = job.playbook.history()[-1].n, job.playbook.load()
    scores, usage = await _held_out_scores(job, state, playbook)
    epoch = state.epoch - 1 if state.epoch_closed else state.epoch
    judgements.append(Selected(point, epoch, len(job.train) if state.epoch_closed else state.done, scores.mean, usage))
    state = replace(state, selected=tuple(judgements), judged=scores, epoch_closed=False)
    assert state.best is not None
    since = len(judgements) - 1 - judgements.index(state.best)
    tired = bool(job.config.patience) and since >= job.config.patience
    over = state.over or (tired and state.done == 0)
    if over and since:
        job.playbook.rollback(state.best.point, reason=f"the best on held-out tasks: {state.best.score:.3f}")
    return replace(state, stopping=tired, over=over)


async def apply(job: Job, state: LoopState) -> LoopState:
    """Commit the operations and the tags of the batch as one delta, count them, and move to the next batch."""
    delta = _delta(state)
    changed = EpochCounts()
    if delta.operations or any(tagging.tags for tagging in delta.taggings):
        refusals = _commit(job.playbook, delta)
        applied = len(delta.operations) - sum(refusal.place.startswith("operations") for refusal in refusals)
        codes = Counter(refusal.code for refusal in refusals)
        changed = EpochCounts(applied=applied, refusals=dict(sorted(codes.items())))
    return replace(
        state,
        counts=state.counts + _batch_counts(state) + changed,
        first_right=(*state.first_right, *(progress.first_right for progress in state.batch)),
        first_scores=(*state.first_scores, *(progress.first_score for progress in state.batch)),
        done=state.done + len(state.batch),
        batch=(),
        curation=None,
        gate=None,
    )


async def refine(job: Job, state: LoopState) -> LoopState:
    """Close an epoch: refine the playbook."""
    if job.config.dedup:
        job.playbook.change("dedup", partial(dedup, embedder=job.embedder))
    if job.config.prune:
        job.playbook.change("prune", prune)
    for refiner in job.refiners:
        job.playbook.change("refine", refiner)
    before = state.epochs[-1].accuracy if state.epochs else None
    return replace(
        state,
        epoch=state.epoch + 1,
        done=0,
        counts=EpochCounts(),
        epochs=(*state.epochs, EpochReport(state.epoch, state.counts, before)),
        first_right=state.first_right if job.config.online else (),
        first_scores=state.first_scores if job.config.online else (),
        over=state.epoch >= job.config.epochs or state.stopping,
        epoch_closed=True,
    )


STEPS: Mapping[StepName, Step] = {
    "generate": generate,
    "evaluate": evaluate,
    "reflect": reflect,
    "curate": curate,
    "gate": gate,
    "apply": apply,
    "refine": refine,
    "select": select,
}


def steps(job: Job) -> Mapping[str, Step]:
    """The steps of a job, its own nodes included."""
    return {**STEPS, **{node.name: node.step for node in job.nodes}}


OVER = "over"

EDGES: Mapping[StepName, Mapping[str, StepName | None]] = {
    "generate": {"tried": "evaluate"},
    "evaluate": {"failure": "reflect", "success": "apply", "learned": "curate"},
    "reflect": {"new try": "generate", "another round": "reflect", "insights": "curate", "nothing found": "apply"},
    "curate": {"to be checked": "gate", "delta": "apply"},
    "gate": {"checked": "apply"},
    "apply": {"next batch": "generate", "to be judged": "select", "epoch done": "refine"},
    "refine": {"next epoch": "generate", "to be judged": "select", OVER: None},
    "select": {"go on": "generate", "no better": "refine", OVER: None},
}
"""The steps that may follow each step, by the name of the edge; `next_step` chooses one."""


def edges(job: Job, step: str) -> Mapping[str, str | None]:
    """The steps that may follow a step of this job, by the name of the edge; None is the end."""
    if (inserted := _inserted(job, step)) is not None:
        return {inserted.name: inserted.name}
    node = _node(job, step)
    return {**EDGES[_base(job, step)], **{name: name for name in (node.may_go_to if node else ())}}


def follower(job: Job, step: str, state: LoopState) -> str | None:
    """The step after this one, nodes of the job's own included; None at the end of the last epoch."""
    if (inserted := _inserted(job, step)) is not None:
        return inserted.name
    node = _node(job, step)
    if node is not None and node.route is not None and (target := node.route(job, state)) is not None:
        return target
    return next_step(job, _base(job, step), state)


def _node(job: Job, step: str) -> Node | None:
    return next((node for node in job.nodes if node.name == step), None)


def _inserted(job: Job, step: str) -> Node | None:
    """The node that was put after a step."""
    return next((node for node in job.nodes if node.after == step), None)


def _base(job: Job, step: str) -> StepName:
    """The loop's own step whose edges a node takes over."""
    while (node := _node(job, step)) is not None:
        step = node.after
    return cast("StepName", step)


def next_step(job: Job, step: StepName, state: LoopState) -> StepName | None:
    """The step after this one; None at the end of the last epoch."""
    match step:
        case "generate":
            return "evaluate"
        case "evaluate" | "reflect":
            return _after_evaluation(job.config, state.batch)
        case "curate":
            has_operations = state.curation is not None and bool(state.curation.delta.operations)
            return "gate" if job.config.gate and has_operations else "apply"
        case "gate":
            return "apply"
        case "apply":
            if state.done >= len(job.train):
                return "refine"
            return "select" if _is_due(job.config, state) else "generate"
        case "refine":
            return "select" if job.config.keep_best else _next_epoch(state)
        case "select":
            return "refine" if state.stopping and not state.over else _next_epoch(state)


def _is_due(config: LoopConfig, state: LoopState) -> bool:
    """Whether the playbook is judged between two batches of an epoch."""
    if not (config.keep_best and config.select_every):
        return False
    last = next((s.tasks for s in reversed(state.selected) if s.epoch == state.epoch), 0)
    return state.done - last >= config.select_every


def _next_epoch(state: LoopState) -> StepName | None:
    return None if state.over else "generate"


def _after_evaluation(config: LoopConfig, batch: Sequence[TaskProgress]) -> StepName:
    """Success is applied; failure is reflected on and attempted again; insights go to the Curator."""
    if config.new_tries and any(progress.wants_attempt() for progress in batch):
        return "generate"
    if any(progress.wants_reflection(config) for progress in batch):
        return "reflect"
    return "curate" if any(progress.readable_insights for progress in batch) else "apply"


def _delta(state: LoopState) -> Delta:
    """The delta of the current batch, without the operations that the gate rejected."""
    delta = state.curation.delta if state.curation else Delta()
    if state.gate and not state.gate.passed:
        why = f"the held-out tasks went from {state.gate.before:.3f} to {state.gate.after:.3f}; operations left out"
        delta = replace(delta, operations=(), reason=f"{delta.reason}; {why}" if delta.reason else why)
    name = f"{state.learning_id}/{state.epoch}"
    taggings = [progress.tagging(f"{name}/{progress.task_id}") for progress in state.batch]
    evidence = delta.evidence if delta.operations else ()
    tagged = tuple(tagging for tagging in taggings if tagging.tags)
    return replace(delta, id=state.delta_id, taggings=tagged, evidence=evidence)


def _commit(file: PlaybookFile, delta: Delta) -> Sequence[Refusal]:
    """The parts of the delta that were refused, now or when it was applied before a crash."""
    saved = file.commit(delta)
    if not saved.repeated:
        return saved.refusals
    change = next(change for change in file.history() if change.id == delta.id)
    return [Refusal(*(str(refusal[name]) for name in ("place", "code", "text"))) for refusal in change.refused]


def _batch_counts(state: LoopState) -> EpochCounts:
    """The counts of the current batch."""
    batch, curation, check = state.batch, state.curation, state.gate
    usage = sum((progress.usage for progress in batch), ModelUsage())
    usage = usage + (curation.usage if curation else ModelUsage()) + (check.usage if check else ModelUsage())
    given_up = sum(bool(insights.failed) for progress in batch for insights in progress.insights)
    return EpochCounts(
        tasks=len(batch),
        right=sum(progress.first_right for progress in batch),
        failed=sum(bool(progress.attempts[0].trajectory.failed) for progress in batch),
        given_up=given_up + bool(curation and curation.failed),
        asked_again=curation.asked_again if curation else 0,
        gated=len(curation.delta.operations) if curation and check and not check.passed else 0,
        usage=usage,
    )
