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
from akinai.learning.playbook.deltas import Delta, Operation, apply_delta
from akinai.learning.roles.protocols import Retrieved, Trajectory
from akinai.learning.roles.tasks import Assignment
from akinai.learning.search.injection import inject_all
from akinai.runtime.learn.data_sets import find_data_set
from akinai.testing.endpoint import Endpoint, Exchange, Faults, ModelCall, ScriptResponder

CHOICES = ("apple", "stone", "lemon", "plum")


class Pupil:
    """Answers by the bullet about the question's sign, or with the first choice when there is none."""

    async def reply(self, call: ModelCall) -> Reply:
        text = "\n".join(message.text for message in call.request.messages)
        sign = re.search(r"Sign of (\w+)\?", text)
        assert sign
        match = re.search(rf"\[(\S+)\] .*:: .*{sign[1]}.* -> (\w+)", text)
        used = [match[1]] if match else []
        return Reply(json.dumps({"reasoning": "", "bullet_ids": used, "answer": match[2] if match else CHOICES[0]}))


def at(endpoint: Endpoint, **options: Any) -> Callable[[], ChatCompletionClient]:
    options = {"max_retries": 0, "timeout": 5.0, **options}
    return lambda: openai_client("test", base_url=endpoint.openai_url, **options)


def retrieved(*texts: str) -> Retrieved:
    """A task's retrieved bullets from a playbook with these texts."""
    operations = tuple(Operation("ADD", "concepts", content=text) for text in texts)
    playbook, _ = apply_delta(Playbook((Section("concepts", ""),)), Delta(operations=operations))
    return Retrieved(inject_all(playbook), playbook=playbook)


def task(number: int) -> Assignment:
    return Assignment(f"t{number}", f"Sign of w{number}?", f"w{number}")


async def answered(generator: AutogenGenerator, number: int, *texts: str) -> Trajectory:
    return await generator.generate(task(number), retrieved(*texts))


def input_of(exchange: Exchange) -> int:
    """Input tokens as the endpoint reported them."""
    reply: Any = exchange.reply
    return reply["usage"]["input"]


def sheet(name: str, count: int, folder: Path) -> str:
    """A file of questions whose answers cannot be guessed."""
    rows = [
        {"q_id": f"{name}{n}", "question": f"Sign of w{n}?", "label": n % 4}
        | {f"choice{number}": choice for number, choice in enumerate(CHOICES)}
        for n in range(count)
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)


def test_twenty_questions_are_learned_from_and_answered(tmp_path: Path) -> None:
    """Without bullets the assistant only guesses; with them in its context it answers all 20."""
    files = {name: sheet(name, 20, tmp_path) for name in ("train", "eval")}
    questions = find_data_set("qa", {"data": files["train"], "eval": files["eval"], "extra": False})
    assert questions.rules is not None
    with Endpoint(Pupil()) as endpoint:
        roles = replace(questions.rules, generator=AutogenGenerator(at(endpoint)), label="autogen")
        learned = akinai.learn(replace(questions, rules=roles), playbook=tmp_path / "signs.json")
        sent = sum(input_of(exchange) for exchange in endpoint.log)
    assert learned.baseline is not None
    assert learned.judged is not None
    assert (learned.baseline.accuracy, learned.judged.accuracy, learned.label) == (0.25, 1.0, "autogen")
    control = learned.control
    assert control is not None
    assert len(endpoint.log) == 80
    spent = (
        learned.baseline.usage,
        learned.judged.usage,
        control.usage,
        *(epoch.counts.usage for epoch in learned.epochs),
    )
    assert sum(usage.tokens.input for usage in spent) == sent


async def test_bullets_are_in_the_context_and_tokens_are_counted() -> None:
    """The request holds the bullets with their ids; the trajectory names the used bullets and counts tokens."""
    with Endpoint(Pupil()) as endpoint:
        trajectory = await answered(AutogenGenerator(at(endpoint)), 1, "w1 -> plum", "w2 -> stone")
        (call,) = endpoint.calls
        (exchange,) = endpoint.log
    text = call.request.messages[-1].text
    assert ":: w1 -> plum" in text
    assert ":: w2 -> stone" in text
    assert (trajectory.answer, len(trajectory.used), trajectory.failed) == ("plum", 1, "")
    assert (trajectory.usage.calls, trajectory.usage.tokens.input) == (1, input_of(exchange))


async def test_nothing_of_a_task_is_in_the_next() -> None:
    """Each task begins with an empty context, although one function makes all assistants."""
    with Endpoint(Pupil()) as endpoint:
        generator = AutogenGenerator(at(endpoint))
        for number in (1, 2, 3):
            await answered(generator, number)
        texts = [[message.text for message in call.request.messages] for call in endpoint.calls]
    assert [len(messages) for messages in texts] == [1, 1, 1]
    assert [[f"Sign of w{n}?" in messages[0] for n in (1, 2, 3)] for messages in texts] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


async def test_an_unreadable_answer_is_asked_again_in_the_same_conversation() -> None:
    """The assistant gets the reason in its conversation; after three replies the task fails without an exception."""
    good = json.dumps({"reasoning": "seen", "bullet_ids": [], "answer": "plum"})
    with Endpoint(ScriptResponder(["It is a plum.", '{"answer": "pl', good])) as endpoint:
        trajectory = await answered(AutogenGenerator(at(endpoint)), 1)
        last = endpoint.calls[-1].request.messages
    assert (trajectory.answer, trajectory.usage.calls, trajectory.usage.unreadable) == ("plum", 3, 2)
    assert [message.speaker for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert [task(1).text in message.text for message in last] == [True, False, False, False, False]
    with Endpoint(ScriptResponder(["No."] * 3)) as endpoint:
        trajectory = await answered(AutogenGenerator(at(endpoint)), 1)
    assert (trajectory.answer, trajectory.usage.unreadable) == ("", 3)
    assert "no JSON object" in trajectory.failed


async def test_a_broken_model_is_a_typed_error() -> None:
    """An exception of AutoGen's client reaches the learner as ModelError."""
    with (
        Endpoint(Pupil(), faults=Faults(schedule={1: "server_error"})) as endpoint,
        pytest.raises(ModelError, match="gave AutoGen no answer: InternalServerError"),
    ):
        await answered(AutogenGenerator(at(endpoint)), 1)


async def test_a_custom_assistant_uses_its_tools() -> None:
    """AutoGen calls the assistant's own tools; the tokens of every call are counted."""

    def look_up(word: str) -> str:
        """The meaning of the word."""
        return f"{word} is a plum"

    def make(client: ChatCompletionClient) -> AssistantAgent:
        options: dict[str, Any] = {"tools": [look_up], "max_tool_iterations": 3, "system_message": "Look it up."}
        return AssistantAgent("reader", client, **options)

    call = Reply("", (ToolCall("call_1", "look_up", {"word": "w1"}),))
    with Endpoint(ScriptResponder([call, json.dumps({"answer": "plum"})])) as endpoint:
        trajectory = await answered(AutogenGenerator(at(endpoint), make), 1)
        last = endpoint.calls[-1].request.messages
        sent = sum(input_of(exchange) for exchange in endpoint.log)
    assert trajectory.answer == "plum"
    assert [message.speaker for message in last] == ["system", "user", "assistant", "tool"]
    assert last[-1].text == "w1 is a plum"
    assert trajectory.usage.tokens.input == sent
