"""Learning without right answers, and judging without learning: what is asked, and what is never sent."""

import json
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.core.models import Reply
from akinai.learning import DataSet, Task
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.testing.endpoint import Endpoint, ModelCall

pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")


class Blind:
    """Answers each task with the next of its guesses, and writes down what it is told; keeps all requests."""

    def __init__(self, *guesses: str) -> None:
        self.guesses, self.requests = guesses, list[tuple[str, str]]()

    async def reply(self, call: ModelCall) -> Reply:
        text = "\n".join(message.text for message in call.request.messages)
        role = "curator" if '"operations"' in text else "reflector" if '"key_insight"' in text else "generator"
        self.requests.append((role, text))
        return Reply(json.dumps(self.fields(role)))

    def fields(self, role: str) -> dict[str, Any]:
        if role == "curator":
            return {"operations": [{"type": "ADD", "section": "domain_knowledge", "content": "Guess again."}]}
        if role == "reflector":
            return {"key_insight": "It was a guess.", "bullet_tags": []}
        number = sum(role_asked == "generator" for role_asked, _ in self.requests) - 1
        return {"bullet_ids": [], "answer": self.guesses[number % len(self.guesses)]}

    def of(self, role: str) -> list[str]:
        return [text for role_asked, text in self.requests if role_asked == role]


def secrets(**splits: int) -> DataSet:
    """Tasks whose answers stand nowhere but in their truth."""

    def load(split: str) -> list[Task]:
        return [
            Task(f"{split}{n}", f"Which word is {split} {n}?", f"canary-{split}-{n}")
            for n in range(splits.get(split, 0))
        ]

    return DataSet("secrets", load)


def learn(brain: Blind, data: DataSet, folder: Path, **more: Any) -> Any:
    with Endpoint(brain) as endpoint:
        model = ModelChoice("openai:test", endpoint.openai_url)
        return akinai.learn(data, model=model, playbook=folder / "p.json", **more)


@pytest.mark.parametrize("feedback", ["outcome", "consistency"])
def test_without_the_truth_no_answer_is_ever_sent(feedback: str, tmp_path: Path) -> None:
    """No request over the wire holds a right answer, and nothing on disk does; the Reflector is told what happened."""
    brain = Blind("apple", "pear", "plum")
    settings = {"feedback": feedback, "consistency_tries": 3}
    learned = learn(brain, secrets(train=2, validation=1), tmp_path, no_truth=True, settings=settings)
    assert brain.of("reflector")
    assert not [text for _, text in brain.requests if "canary" in text]
    assert not [path for path in tmp_path.iterdir() if b"canary" in path.read_bytes()]
    expected = "not right: answered 'apple'" if feedback == "outcome" else "whether any is right is not known"
    assert expected in brain.of("reflector")[0]
    assert learned.judged.accuracy == 0


def test_agreement_takes_the_place_of_the_truth(tmp_path: Path) -> None:
    """What most attempts say counts as right in training; what few say is reflected on, with the counts."""
    brain = Blind("apple", "pear", "plum")
    settings = {"feedback": "consistency", "consistency_tries": 3, "rounds": 1, "new_tries": False}
    learned = learn(brain, secrets(train=1, validation=1), tmp_path, no_truth=True, settings=settings)
    (text,) = brain.of("reflector")
    assert "3 attempts answered 'apple' 1 times, 'pear' 1 times, 'plum' 1 times" in text
    assert (learned.epochs[0].counts.right, len(brain.of("generator"))) == (0, 3 + 2)
    agreeing = Blind("apple")
    learned = learn(agreeing, secrets(train=1, validation=1), tmp_path / "b", no_truth=True, settings=settings)
    assert (learned.epochs[0].counts.right, agreeing.of("reflector"), learned.judged.accuracy) == (1, [], 0)


def test_with_the_truth_the_reflector_sees_it(tmp_path: Path) -> None:
    """The witness of the law above: the same requests do hold the answer where it is not forbidden."""
    learn(brain := Blind("apple"), secrets(train=1), tmp_path)
    assert any("canary-train-0" in text for text in brain.of("reflector"))


def test_judging_only_asks_no_reflector(tmp_path: Path) -> None:
    """The playbook stays as it is to the byte, the Generator alone is asked, and test tasks are judged too."""
    data = secrets(train=2, validation=2, test=3)
    learn(Blind("apple"), data, tmp_path)
    before = (tmp_path / "p.json").read_bytes()
    judged = learn(brain := Blind("canary-test-0"), data, tmp_path, judge_only=True)
    assert {role for role, _ in brain.requests} == {"generator"}
    assert len(brain.requests) == 2 * (2 + 3)
    assert (tmp_path / "p.json").read_bytes() == before
    document = judged.to_json()
    assert (document["judge_only"], document["epochs"], document["accuracy"]["n"]) == (True, 0, 2)
    assert (document["test"]["accuracy"]["n"], document["test"]["accuracy"]["value"]) == (3, pytest.approx(1 / 3))
    assert document["test"]["clean_accuracy"]["n"] == 3


def test_the_test_split_is_judged_after_a_learning(tmp_path: Path) -> None:
    """Once, beside the validation tasks; alone, where there are no others."""
    learned = learn(Blind("canary-test-0"), secrets(train=1, validation=1, test=2), tmp_path)
    assert (learned.split, learned.judged.accuracy, learned.test.judged.accuracy) == ("validation", 0, 0.5)
    alone = learn(Blind("canary-test-0"), secrets(train=1, test=2), tmp_path / "b")
    assert (alone.split, alone.judged.accuracy, alone.test) == ("test", 0.5, None)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"judge_only": True}, "no playbook"),
        ({"judge_only": True, "epochs": 2}, "epochs cannot be used"),
        ({"no_truth": True, "online": True, "settings": {"feedback": "consistency"}}, "leave one out"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], why: str, tmp_path: Path) -> None:
    """Before anything is written or asked."""
    with pytest.raises(UsageError, match=why):
        learn(brain := Blind("x"), secrets(train=1, validation=1), tmp_path, **more)
    assert not list(tmp_path.iterdir())
    assert not brain.requests
