"""A data set that can be learned by heart, rules that learn it, and a brain that does the same behind a model's wire."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from akinai.core.errors import ModelError
from akinai.core.lessons import Lesson
from akinai.core.models import Reply, Request, Usage
from akinai.learning import DataSet, Playbook, PlaybookFile, Section
from akinai.learning.loop.job import Job
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import LoopConfig
from akinai.learning.roles.protocols import Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.rules import AnswerEvaluator, LessonCurator
from akinai.learning.roles.tasks import Assignment, Task, exact
from akinai.testing.endpoint import ModelCall

FACTS = (Section("facts", "What belongs to what."),)
AT = "2025-01-01T00:00:00Z"


def codes(first: int, last: int) -> list[Task]:
    """Tasks whose answers nobody can guess."""
    return [Task(f"t{n}", f"What is the code of item{n}?", f"code{n}") for n in range(first, last + 1)]


def fact(task: Task) -> str:
    return f"The code of item{task.id[1:]} is {task.truth}"


@dataclass
class Rules:
    """Generator and Reflector that know what the bullets say, and record their attempts."""

    attempts: list[Any] = field(default_factory=list)
    """Everything that a Generator was handed."""
    reflected: list[str] = field(default_factory=list)
    """The tasks that were reflected on."""

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        self.attempts.append((assignment, retrieved, tuple(reflections)))
        subject = assignment.text.removeprefix("What is the ").removesuffix("?")
        for bullet in retrieved.bullets:
            if f"{subject} is " in bullet.content:
                return Trajectory(assignment.id, bullet.content.rpartition(" is ")[2], used=(bullet.id,))
        return Trajectory(assignment.id, "unknown")

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        self.reflected.append(task.id)
        return Insights(task.id, lessons=(Lesson("facts", fact(task), about=task.id),))


def roles(rules: Rules | None = None) -> Roles:
    rules = rules or Rules()
    return Roles(rules, rules, LessonCurator())


def data_set(train: Sequence[Task], validation: Sequence[Task] = (), rules: Roles | None = None) -> DataSet:
    by_split = {"train": train, "validation": validation}
    return DataSet("codes", lambda split: by_split.get(split, ()), sections=FACTS, rules=rules or roles())


def playbook_file(folder: Path, name: str = "codes") -> PlaybookFile:
    """A new playbook whose clock stands still."""
    file = PlaybookFile(folder / f"{name}.json", now=lambda: AT)
    file.begin(FACTS)
    return file


def make_job(folder: Path, train: Sequence[Task], played_by: Roles | None = None, **config: Any) -> Job:
    held_out = config.pop("held_out", ())
    loop_config = LoopConfig(**{"batch": 1, "new_tries": False, **config})
    return Job(
        train,
        played_by or roles(),
        AnswerEvaluator(exact),
        playbook_file(folder),
        PlaybookRetriever(loop_config),
        loop_config,
        held_out,
    )


def contents(playbook: Playbook) -> list[str]:
    return [bullet.content for bullet in playbook]


class Scripted:
    """A model that gives replies in order; an error among them is raised."""

    def __init__(self, *replies: str | ModelError) -> None:
        self._replies = list(replies)
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, ModelError):
            raise reply
        return Reply(reply, usage=Usage(10, 3))


def prompt_of(request: Request) -> str:
    return "\n\n".join(message.text for message in request.messages)


class CodesBrain:
    """Plays all three roles from their prompts alone, as a model would."""

    async def reply(self, call: ModelCall) -> Reply:
        text = prompt_of(call.request)
        if "You solve tasks" in text:
            return Reply(json.dumps(self._answer(text)))
        if "You explain why" in text:
            return Reply("Let me think.\n```json\n" + json.dumps(self._insight(text)) + "\n```")
        return Reply("Here is what I would change:\n" + json.dumps(self._operations(text)) + "\nThat is all.")

    def _answer(self, text: str) -> dict[str, Any]:
        item = re.search(r"Task:\nWhat is the code of (item\d+)\?", text)
        assert item
        bullet = re.search(rf"\[(\S+)\] helpful=\d+ harmful=\d+ :: The code of {item[1]} is (\S+)", text)
        if bullet:
            return {"reasoning": "a bullet says so", "bullet_ids": [bullet[1]], "answer": bullet[2]}
        insight = re.search(rf"Insight: The code of {item[1]} is (\S+)", text)
        return {"reasoning": "a guess", "bullet_ids": [], "answer": insight[1] if insight else "unknown"}

    def _insight(self, text: str) -> dict[str, Any]:
        item, truth = re.search(r"code of (item\d+)\?", text), re.search(r"Right answer:\n(\S+)", text)
        assert item
        assert truth
        return {
            "reasoning": "it was not known",
            "error_identification": "the answer was a guess",
            "root_cause_analysis": "no bullet says it",
            "correct_approach": "look it up",
            "key_insight": f"The code of {item[1]} is {truth[1]}",
            "bullet_tags": [{"id": id, "tag": "neutral"} for id in re.findall(r"^\[(\S+)\] helpful", text, re.M)],
        }

    def _operations(self, text: str) -> dict[str, Any]:
        facts = dict.fromkeys(re.findall(r"Insight: (The code of item\d+ is \S+)", text))
        return {
            "reasoning": "new facts",
            "operations": [{"type": "ADD", "section": "facts", "content": fact} for fact in facts],
        }
