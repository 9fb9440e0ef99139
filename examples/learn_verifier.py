"""A step of one's own in the loop: a verifier takes back answers that no bullet which was used bears out."""

import sys
from dataclasses import replace
from pathlib import Path

import akinai
from akinai.learning import DataSet, Section
from akinai.learning.loop.job import Job, Node
from akinai.learning.loop.state import LoopState, TaskProgress
from akinai.learning.roles.protocols import Roles
from akinai.learning.roles.rules import LessonCurator
from own_task import Remember, load


async def verify(job: Job, state: LoopState) -> LoopState:
    playbook = job.playbook.load()

    def verified(progress: TaskProgress) -> TaskProgress:
        done, question = progress.last.trajectory, job.by_id[progress.task_id].text
        if any(f"{question} is {done.answer}" == playbook[id].content for id in done.used):
            return progress
        taken_back = replace(done, answer="", failed="no bullet bears it out")
        return replace(progress, attempts=(*progress.attempts[:-1], replace(progress.last, trajectory=taken_back)))

    batch = tuple(verified(progress) for progress in state.batch)
    count = sum(bool(progress.last.trajectory.failed) for progress in batch)
    return replace(state, batch=batch, notes={"taken_back": state.notes.get("taken_back", 0) + count})


if __name__ == "__main__":
    capitals = DataSet(
        "capitals", load, sections=(Section("capitals"),), rules=Roles(Remember(), Remember(), LessonCurator())
    )
    folder = Path(*sys.argv[1:2])
    last: list[LoopState] = []
    learned = akinai.learn(
        capitals,
        epochs=2,
        playbook=folder / "verified.json",
        fresh=True,
        nodes=[Node("verify", verify, after="generate")],
        settings={"batch": 2},
        watch=lambda step, state: last.append(state),
        checkpoint=str(folder / "learn.db"),
    )
    print(*(f"{epoch.counts.failed} without an answer" for epoch in learned.epochs), last[-1].notes, sep="\n")
