"""`akinai learn qa --model`: the three roles over a real wire, with broken replies, a budget, and a kill."""

import asyncio
import json
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from colours_by_wire import CURATOR, GENERATOR, REFLECTOR, Pupil, role_of, write_questions

import forked
from akinai.core.models import Reply
from akinai.testing.endpoint import Endpoint, Faults, ModelCall, Refused
from command_line import Akinai

pytestmark = pytest.mark.needs_qa

pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")


@pytest.fixture
def files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is learned is what is judged: a model that learns by heart has all of it right."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return write_questions()


def words(files: list[str], endpoint: Endpoint, *more: str, playbook: str = "p.json") -> list[str]:
    where = ["--model", "openai:test", "--base-url", endpoint.openai_url, "--playbook", playbook, "--json"]
    return ["learn", "qa", *files, *where, *more]


BROKEN = [
    "",
    "I do not know.",
    '{"answer": "apple", "key_insight": "x", "operations": [{"type": "ADD", "section": "conc',
    '{"answer": ["apple", "plum"], "key_insight": 5, "operations": "ADD"}',
    '```json\n{"answer": "", "key_insight": "", "operations": 5}\n```',
    '[1, 2, {"answer"]',
]


@pytest.mark.parametrize("times", [0, 2])
def test_a_model_learns_over_the_wire_whatever_it_says_first(akinai: Akinai, files: list[str], times: int) -> None:
    """What cannot be read is asked for again, in each role; the playbook then answers all that nobody knew before."""
    with Endpoint(Pupil(BROKEN, times)) as endpoint:
        answer = akinai(*words(files, endpoint))
        log = endpoint.log
    assert answer.code == 0, answer.err
    document = answer.json
    assert (document["baseline_accuracy"]["value"], document["accuracy"]["value"], document["playbook_size"]) == (
        0,
        1,
        3,
    )
    assert (document["failed"], document["card"]["roles"]) == (0, "openai:test")
    calls = [json.loads(line) for line in Path("p.calls.jsonl").read_text().splitlines()]
    assert len(calls) == len(log)
    assert document["spent"]["unreadable"] == times / (times + 1) * len(calls)
    assert {call["role"] for call in calls} == {GENERATOR, REFLECTOR, CURATOR}
    assert all(call["reply"]["usage"]["input"] > 0 and call["reply"]["latency_s"] > 0 for call in calls)
    assert document["spent"]["input"] == sum(call["reply"]["usage"]["input"] for call in calls)


def test_a_model_that_is_never_readable_is_told_of(akinai: Akinai, files: list[str]) -> None:
    """Three unreadable replies give a task up: it counts as wrong, nothing is learned, and people are told how many."""
    never_stop = ("--set", "unreadable_limit=0")
    with Endpoint(Pupil(BROKEN, 9)) as endpoint:
        document = akinai(*words(files, endpoint, *never_stop)).json
        page = akinai(*[word for word in words(files, endpoint, *never_stop) if word != "--json"])
    assert (document["accuracy"]["value"], document["failed"], document["playbook_size"]) == (0, 3, 0)
    assert "tasks without a readable answer" in page.out
    (epoch,) = document["training"]
    assert (epoch["failed"], epoch["given_up"], epoch["learned"]) == (3, 3, 0)
    assert set(epoch["unreadable"]) == {"empty", "no_object", "truncated", "bad_field"}
    assert sum(epoch["unreadable"].values()) == 18
    assert "unreadable replies (no_object), epoch 1" in page.out


class CutOff(Pupil):
    """Answers nothing but the beginning of an object, as a model does whose limit of tokens is too low."""

    async def reply(self, call: ModelCall) -> Reply:
        return Reply('{"reasoning": "Let me think about this for a', finish="length")


def test_unreadable_replies_stop_a_learning_that_can_be_resumed(akinai: Akinai, files: list[str]) -> None:
    """After so many in a row the learning stops with code 1, says why, that the replies were cut off and how to go on;
    the same command resumes it."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    with Endpoint(CutOff()) as endpoint:
        answer = akinai(*words(files, endpoint, "--set", "unreadable_limit=5", "--checkpoint", "c.db"))
        assert len(endpoint.log) == 5
    assert (answer.code, answer.json["ending"]) == (1, "unreadable")
    for words_of_it in ("5 replies in a row", "cut off", "raise --reply-tokens", "the same command resumes it"):
        assert words_of_it in answer.err
    assert answer.json["stopped"]
    with Endpoint(Pupil()) as endpoint:
        answer = akinai(*words(files, endpoint, "--set", "unreadable_limit=5", "--checkpoint", "c.db"))
    assert (answer.code, answer.json["accuracy"]["value"], answer.json["playbook_size"]) == (0, 1, 3)


class CutReflector(Pupil):
    """Answers and curates, and is always cut off when it reflects."""

    async def reply(self, call: ModelCall) -> Reply:
        if role_of(call) == REFLECTOR:
            return Reply('{"reasoning": "Let me think', finish="length")
        return await super().reply(call)


def test_a_role_that_is_never_readable_stops_a_learning(akinai: Akinai, files: list[str]) -> None:
    """The readable replies of another role do not hide it: each role's unreadable replies are counted by themselves."""
    with Endpoint(CutReflector()) as endpoint:
        answer = akinai(*words(files, endpoint, "--set", "unreadable_limit=5"))
    assert (answer.code, answer.json["ending"]) == (1, "unreadable")
    assert "5 replies of the reflector in a row" in answer.err
    assert "5 of them were cut off" in answer.err


class Misnaming(Pupil):
    """Curates into a section whose name is nearly right, and corrects it when it is asked again."""

    def reply_fields(self, role: str, task: str, whole: str) -> dict[str, object]:
        fields = super().reply_fields(role, task, whole)
        if role == CURATOR:
            for operation in fields["operations"]:  # type: ignore[attr-defined]
                operation["section"] = "concept_list"
        return fields

    async def reply(self, call: ModelCall) -> Reply:
        last = call.request.messages[-1].text
        if "concept_list" in last and role_of(call) == CURATOR:
            return Reply((await super().reply(call)).text.replace("concept_list", "concepts"))
        return await super().reply(call)


def test_a_near_name_is_asked_for_again(akinai: Akinai, files: list[str]) -> None:
    """Nothing is lost to a misspelt section: the Curator is shown the refusal once, and the document counts it."""
    with Endpoint(Misnaming()) as endpoint:
        document = akinai(*words(files, endpoint)).json
    calls = [json.loads(line)["role"] for line in Path("p.calls.jsonl").read_text().splitlines()]
    (epoch,), curations = document["training"], calls.count(CURATOR)
    assert (epoch["learned"], epoch["refused"], epoch["asked_again"], curations) == (3, {}, 3, 6)


def test_a_spent_budget_ends_a_learning_and_keeps_what_was_learned(akinai: Akinai, files: list[str]) -> None:
    """`--max-tokens` ends it between two calls with code 1; the bullets of before are in the playbook."""
    with Endpoint(Pupil()) as endpoint:
        assert akinai(*words(files, endpoint, playbook="whole.json")).code == 0
        calls = [json.loads(line) for line in Path("whole.calls.jsonl").read_text().splitlines()]
        second = [index for index, call in enumerate(calls) if call["role"] == CURATOR][1]
        usages = [call["reply"]["usage"] for call in calls[:second]]
        tokens = sum(usage["input"] + usage["output"] for usage in usages)
        answer = akinai(*words(files, endpoint, "--max-tokens", str(tokens)))
    assert (answer.code, answer.json["ending"], answer.json["accuracy"]) == (1, "budget", None)
    assert "ended early: budget" in answer.err
    assert len(json.loads(Path("p.json").read_text())["sections"][0]["bullets"]) == 1
    assert len(Path("p.calls.jsonl").read_text().splitlines()) == second


class Hanging(Pupil):
    """Does not answer the Curator's second request while it is told to hang."""

    def __init__(self) -> None:
        super().__init__()
        self.curated = 0
        self.hangs = True
        self.hanging = threading.Event()

    async def reply(self, call: ModelCall) -> Reply:
        if role_of(call) == CURATOR:
            self.curated += 1
            if self.hangs and self.curated == 2:
                self.hanging.set()
                await asyncio.sleep(60)
        return await super().reply(call)


@pytest.mark.slow
def test_killed_in_the_curator_the_same_command_goes_on(akinai: Akinai, files: list[str]) -> None:
    """kill -9 while the Curator thinks: with --checkpoint the same command asks nobody else again and learns all."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    with Endpoint(Pupil()) as endpoint:
        whole = akinai(*words(files, endpoint, playbook="whole.json")).json
        uninterrupted = Counter(call.body_sha256 for call in endpoint.log)
    brain = Hanging()
    with Endpoint(brain) as endpoint:
        command = [sys.executable, "-m", "akinai", *words(files, endpoint, "--checkpoint", "learn.db")]
        killed = forked.Popen(command)
        assert brain.hanging.wait(60)
        killed.kill()
        killed.wait()
        brain.hangs = False
        done = forked.run(command)
        requests = Counter(call.body_sha256 for call in endpoint.log if not call.gone)
    assert done.returncode == 0, done.stderr
    assert requests == uninterrupted
    assert brain.curated == 4
    for name in ("accuracy", "playbook_size", "improvement_rate", "spent"):
        assert json.loads(done.stdout)[name] == whole[name]


def test_untidy_replies_are_read_or_counted(akinai: Akinai, files: list[str]) -> None:
    """Every reply in a shape that models write: each is read, or stands in the document with its reason."""
    with Endpoint(Pupil(), faults=Faults(rate=1.0, kinds=("untidy",))) as endpoint:
        document = akinai(*words(files, endpoint)).json
        sent = len(endpoint.log)
    spent, (epoch,) = document["spent"], document["training"]
    assert (spent["calls"], sum(spent["reasons"].values())) == (sent, spent["unreadable"])
    assert set(spent["reasons"]) <= {"several", "length", "no_object"}
    assert spent["unreadable"] < sent / 2
    assert epoch["learned"] + sum(epoch["refused"].values()) + epoch["given_up"] + epoch["failed"] >= 3
    assert document["playbook_size"] == epoch["learned"]


class Schooled(Pupil):
    """Writes down which schemas it was sent, and refuses them where it is told to, as older servers do."""

    def __init__(self, *, refuses: bool) -> None:
        super().__init__()
        self.refuses = refuses
        self.schemas: list[tuple[str, bool]] = []

    async def reply(self, call: ModelCall) -> Reply:
        schema = call.request.schema
        if schema is not None and self.refuses:
            raise Refused("response_format is not supported")
        if schema is not None:
            key = {CURATOR: "operations", REFLECTOR: "key_insight", GENERATOR: "answer"}[role_of(call)]
            assert key in schema["properties"]  # type: ignore[operator]
        self.schemas.append((role_of(call), schema is not None))
        return await super().reply(call)


@pytest.mark.parametrize(
    ("refuses", "structured"),
    [(True, True), *(pytest.param(False, asked, marks=pytest.mark.slow) for asked in (False, True))],
)
def test_structured_output_is_asked_for_and_done_without(
    akinai: Akinai, files: list[str], refuses: bool, structured: bool
) -> None:
    """Each role sends its schema; a server that refuses it is asked without it, once for all; a setting turns it off."""
    with Endpoint(brain := Schooled(refuses=refuses)) as endpoint:
        answer = akinai(*words(files, endpoint, *([] if structured else ["--set", "structured=false"])))
        refusals = [call for call in endpoint.log if call.status == 400]
    assert (answer.code, answer.json["accuracy"]["value"]) == (0, 1), answer.err
    assert {sent for _, sent in brain.schemas} == {structured and not refuses}
    assert {role for role, _ in brain.schemas} == {GENERATOR, REFLECTOR, CURATOR}
    assert bool(refusals) == refuses
    assert len(refusals) <= 3  # the judged tasks are asked at the same time
