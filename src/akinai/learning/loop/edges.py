"""The edges of the loop: which step follows which, and when. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from akinai.learning.loop.job import Job, Node
from akinai.learning.loop.state import LoopConfig, LoopState, StepName, TaskProgress

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
    node = _node(job, step)
    own = EDGES[_base(job, step)]
    inserted = _inserted(job, step)
    if inserted is not None:
        return {inserted.name: inserted.name}
    jumps = {} if node is None else {name: name for name in node.may_go_to}
    return {**own, **jumps}


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
