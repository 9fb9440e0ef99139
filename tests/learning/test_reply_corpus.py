"""Replies as models write them, with what each says or why it cannot be read: `replies/corpus.txt`, and a quarter of them in
`replies/held_out.txt`, which was set aside while the reading was made."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learners_for_tests import Scripted

from akinai.learning import BulletTag, Operation, Playbook, Section, inject_all
from akinai.learning.roles.model import ModelCurator, ModelGenerator, ModelReflector, RunReflector
from akinai.learning.roles.protocols import Evaluation, ModelUsage, Retrieved, Trajectory
from akinai.learning.roles.rules import evidence
from akinai.learning.roles.tasks import Task
from akinai.learning.roles.templates import PromptTemplates
from akinai.testing.endpoint.faults import UNTIDY_SHAPES
from together import together

FOLDER = Path(__file__).parent / "replies"
TASK = Task("t", "?", "!")
RUN = Trajectory("t", "lost", details={"run": "run", "entries": 60})
BOOK = Playbook((Section("rules"),))


@dataclass(frozen=True)
class Sample:
    """A reply with its label: what it says, or the code of the reason why it cannot be read."""

    shape: str
    role: str
    label: str
    reply: str


def samples(name: str) -> list[Sample]:
    parts = re.split(r"^=== (.*)\n", (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    labelled = [
        (head.split(" | "), reply.removesuffix("\n")) for head, reply in zip(parts[::2], parts[1::2], strict=True)
    ]
    return [Sample(*head, reply) for head, reply in labelled]


CORPUS, HELD_OUT = samples("corpus"), samples("held_out")


async def read(sample: Sample) -> tuple[dict[str, Any], ModelUsage]:
    """What the role makes of a reply."""
    model, prompts, retrieved = Scripted(sample.reply), PromptTemplates(), Retrieved(inject_all(BOOK), BOOK)
    match sample.role:
        case "generator":
            tried = await ModelGenerator(model, prompts, tries=1).generate(TASK.assignment, retrieved)
            fields = {"answer": tried.answer, "actions": [*tried.actions], "used": [*tried.used]}
            return {name: value for name, value in fields.items() if value}, tried.usage
        case "curator":
            curation = await ModelCurator(model, prompts, tries=1).curate([], BOOK)
            done = [o for o in curation.delta.operations if isinstance(o, Operation)]
            return {"operations": [[o.type, o.section, o.content] for o in done]}, curation.usage
        case _:
            role = (RunReflector if sample.role == "run" else ModelReflector)(model, prompts, tries=1)
            insights = await role.reflect(TASK, RUN, Evaluation(False, 0.0), retrieved)
            tags = {tag.id: tag.tag for tag in insights.tags if isinstance(tag, BulletTag)}
            return {"key_insight": insights.key_insight, "tags": tags}, insights.usage


def agrees(sample: Sample, fields: dict[str, Any], usage: ModelUsage) -> bool:
    if sample.label.startswith("!"):
        return dict(usage.reasons) == {sample.label[1:]: 1}
    label = json.loads(sample.label)
    if sample.role == "run":
        lines = [f"{text} [{evidence('run', sorted(entries))}]" for text, entries in label["insights"]]
        label = {"key_insight": "\n".join(lines)}
    return usage.unreadable == 0 and all(fields.get(name) == value for name, value in label.items())


@together("sample", CORPUS)
async def test_a_reply_is_read_as_its_label_says(sample: Sample) -> None:
    """Whatever stands around the object and however it is written, it is read, or refused with the right reason."""
    fields, usage = await read(sample)
    assert agrees(sample, fields, usage), (fields, dict(usage.reasons))


async def test_replies_that_were_set_aside_are_read_too() -> None:
    """At least nine in ten of the replies that the reading was not made for, and none is read as something else."""
    results = [(sample, *await read(sample)) for sample in HELD_OUT]
    wrong = [sample for sample, fields, usage in results if not agrees(sample, fields, usage)]
    misread = [sample for sample, _, usage in results if sample in wrong and not usage.unreadable]
    assert len(wrong) <= len(HELD_OUT) / 10, Counter(sample.shape for sample in wrong)
    assert not misread


def test_the_corpus_is_what_it_says() -> None:
    """At least 120 replies of 20 shapes, a quarter of them set aside."""
    assert len(CORPUS) + len(HELD_OUT) >= 120
    assert len({sample.shape for sample in CORPUS}) >= 20
    assert len(HELD_OUT) * 4 == len(CORPUS) + len(HELD_OUT)


FIELDS = {
    "generator": ({"reasoning": "r", "bullet_ids": [], "answer": "it's \"x\""}, {"answer": "it's \"x\""}),
    "reflector": (
        {"reasoning": "r", "error_identification": "e", "root_cause_analysis": "c", "correct_approach": "a",
         "bullet_tags": [], "key_insight": "Look twice."},
        {"key_insight": "Look twice."},
    ),
    "curator": (
        {"reasoning": "r", "operations": [{"type": "ADD", "section": "rules", "content": "a } b\nc"}]},
        {"operations": [["ADD", "rules", "a } b\nc"]]},
    ),
}  # fmt: skip


@together("role", FIELDS)
@together("shape", UNTIDY_SHAPES)
async def test_the_shapes_of_the_test_endpoint_are_read_or_refused(shape: str, role: str) -> None:
    """Each of the 20 shapes gives what the object says, or the reason why it cannot be read."""
    fields, says = FIELDS[role]
    refused = {"truncated": "!truncated", "two_answers": "!several", "refusal": "!no_object"}
    sample = Sample(shape, role, refused.get(shape, json.dumps(says)), UNTIDY_SHAPES[shape](dict(fields)))
    content, usage = await read(sample)
    assert agrees(sample, content, usage), (sample.reply, content, dict(usage.reasons))
