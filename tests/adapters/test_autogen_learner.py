"""AutoGen's AssistantAgent as the Generator of the learner, over real HTTP on loopback."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ChatCompletionClient

import akinai
from akinai.adapters.autogen import AutogenGenerator, openai_client
from akinai.core.errors import ModelError
from akinai.core.models import Reply, ToolCall
from akinai.learning import Playbook, Section
from akinai.learning.deltas import Delta, Operation, apply_delta
from akinai.learning.injection import inject_all
from akinai.learning.roles import Retrieved, Trajectory
from akinai.learning.tasks import Assignment
from akinai.runtime.learn_qa import qa_tasks
from akinai.testing.endpoint import Asked, Endpoint, Exchange, Faults, ScriptBrain

CHOICES = ("apple", "stone", "lemon", "plum")


class Pupil:
    """Answers what a bullet says about the question's sign, and the first choice where none does."""

    async def reply(self, asked: Asked) -> Reply:
        text = "\n".join(message.text for message in asked.request.messages)
        sign = re.search(r"Sign of (\w+)\?", text)
        assert sign
        known = re.search(rf"\[(\S+)\] .*:: .*{sign[1]}.* -> (\w+)", text)
        used = [known[1]] if known else []
        return Reply(json.dumps({"reasoning": "", "bullet_ids": used, "answer": known[2] if known else CHOICES[0]}))


def at(endpoint: Endpoint, **options: Any) -> Callable[[], ChatCompletionClient]:
    options = {"max_retries": 0, "timeout": 5.0, **options}
    return lambda: openai_client("test", base_url=endpoint.openai_url, **options)


def given(*texts: str) -> Retrieved:
    """What a task is given of a playbook with these bullets."""
    operations = tuple(Operation("ADD", "concepts", content=text) for text in texts)
    playbook, _ = apply_delta(Playbook((Section("concepts", ""),)), Delta(operations=operations))
    return Retrieved(inject_all(playbook), playbook=playbook)


def task(number: int) -> Assignment:
    return Assignment(f"t{number}", f"Sign of w{number}?", f"w{number}")


async def answered(generator: AutogenGenerator, number: int, *texts: str) -> Trajectory:
    return await generator.generate(task(number), given(*texts))


def input_of(exchange: Exchange) -> int:
    """Tokens that the endpoint was sent, as it told them."""
    reply: Any = exchange.reply
    return reply["usage"]["input"]


def sheet(name: str, count: int, folder: Path) -> str:
    """A file of questions whose answers nobody can guess."""
    rows = [
        {"q_id": f"{name}{n}", "question": f"Sign of w{n}?", "label": n % 4}
        | {f"choice{place}": choice for place, choice in enumerate(CHOICES)}
        for n in range(count)
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)


def test_twenty_questions_are_learned_from_and_answered(tmp_path: Path) -> None:
    """Nobody knows them before; with the bullets in its context the assistant answers all 20."""
    files = {name: sheet(name, 20, tmp_path) for name in ("train", "eval")}
    questions = qa_tasks(files["train"], files["eval"], extra=False)
    assert questions.rules is not None
    with Endpoint(Pupil()) as endpoint:
        roles = replace(questions.rules, generator=AutogenGenerator(at(endpoint)), label="autogen")
        learned = akinai.learn(replace(questions, rules=roles), playbook=tmp_path / "signs.json")
        sent = sum(input_of(exchange) for exchange in endpoint.log)
    assert learned.baseline is not None
    assert learned.judged is not None
    assert (learned.baseline.accuracy, learned.judged.accuracy, learned.label) == (0.25, 1.0, "autogen")
    assert len(endpoint.log) == 60
    spent = (learned.baseline.spent, learned.judged.spent, *(epoch.tally.spent for epoch in learned.epochs))
    assert sum(one.usage.input for one in spent) == sent


async def test_bullets_stand_in_the_context_and_tokens_are_counted() -> None:
    """The request holds the bullets with their ids; the try says which were followed and what it took."""
    with Endpoint(Pupil()) as endpoint:
        told = await answered(AutogenGenerator(at(endpoint)), 1, "w1 -> plum", "w2 -> stone")
        (asked,) = endpoint.asked
        (exchange,) = endpoint.log
    text = asked.request.messages[-1].text
    assert ":: w1 -> plum" in text
    assert ":: w2 -> stone" in text
    assert (told.answer, len(told.used), told.failed) == ("plum", 1, "")
    assert (told.spent.calls, told.spent.usage.input) == (1, input_of(exchange))


async def test_nothing_of_a_task_is_in_the_next() -> None:
    """Each task begins with an empty context, though the assistant is made by the same function."""
    with Endpoint(Pupil()) as endpoint:
        generator = AutogenGenerator(at(endpoint))
        for number in (1, 2, 3):
            await answered(generator, number)
        texts = [[message.text for message in one.request.messages] for one in endpoint.asked]
    assert [len(one) for one in texts] == [1, 1, 1]
    assert [[f"Sign of w{n}?" in one[0] for n in (1, 2, 3)] for one in texts] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


async def test_what_cannot_be_read_is_asked_again_in_the_same_conversation() -> None:
    """The assistant hears why, beside all it said; after three replies the task has failed and raises nothing."""
    good = json.dumps({"reasoning": "seen", "bullet_ids": [], "answer": "plum"})
    with Endpoint(ScriptBrain(["It is a plum.", '{"answer": "pl', good])) as endpoint:
        told = await answered(AutogenGenerator(at(endpoint)), 1)
        last = endpoint.asked[-1].request.messages
    assert (told.answer, told.spent.calls, told.spent.unreadable) == ("plum", 3, 2)
    assert [message.speaker for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert [task(1).text in message.text for message in last] == [True, False, False, False, False]
    with Endpoint(ScriptBrain(["No."] * 3)) as endpoint:
        told = await answered(AutogenGenerator(at(endpoint)), 1)
    assert (told.answer, told.spent.unreadable) == ("", 3)
    assert "no JSON object" in told.failed


async def test_a_broken_model_is_a_typed_error() -> None:
    """What AutoGen's client raises reaches the learner as ModelError."""
    with (
        Endpoint(Pupil(), faults=Faults(schedule={1: "server_error"})) as endpoint,
        pytest.raises(ModelError, match="gave AutoGen no answer: InternalServerError"),
    ):
        await answered(AutogenGenerator(at(endpoint)), 1)


async def test_an_assistant_of_ones_own_uses_its_tools() -> None:
    """Tools that a user brings are AutoGen's business; the tokens of every call are counted."""

    def look_up(word: str) -> str:
        """What the word stands for."""
        return f"{word} is a plum"

    def make(client: ChatCompletionClient) -> AssistantAgent:
        how: dict[str, Any] = {"tools": [look_up], "max_tool_iterations": 3, "system_message": "Look it up."}
        return AssistantAgent("reader", client, **how)

    call = Reply("", (ToolCall("one", "look_up", {"word": "w1"}),))
    with Endpoint(ScriptBrain([call, json.dumps({"answer": "plum"})])) as endpoint:
        told = await answered(AutogenGenerator(at(endpoint), make), 1)
        last = endpoint.asked[-1].request.messages
        sent = sum(input_of(exchange) for exchange in endpoint.log)
    assert told.answer == "plum"
    assert [one.speaker for one in last] == ["system", "user", "assistant", "tool"]
    assert last[-1].text == "w1 is a plum"
    assert told.spent.usage.input == sent
