"""Ctrl-C during `akinai learn`: it says what is kept and the command that goes on, and that command goes on."""

import asyncio
import os
import re
import shlex
import signal
import time
from collections.abc import Coroutine
from pathlib import Path
from threading import Thread

import pytest
from colours_by_wire import CURATOR, Pupil, role_of, write_questions

from akinai.core.models import Reply
from akinai.learning.playbook.file import PlaybookFile
from akinai.testing.endpoint import Endpoint, ModelCall
from command_line import Akinai

COMMAND = re.compile(r"'(akinai learn .*)'")
WORDS = (
    "learn",
    "vending",
    "--preset",
    "classic",
    "--seeds",
    "1",
    "--eval-seeds",
    "101-300",
    "--days",
    "30",
    "--playbook",
    "p.json",
    "--fresh",
)


def stop_when_there(path: Path) -> None:
    """Press Ctrl-C once a file is there."""
    while not path.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(
    ("language", "stopped"),
    [("en", "stopped; p.json holds {count} bullets"), ("ja", "停止した。p.json に残っているもの: 項目 {count} 件")],
)
def test_rules_that_are_stopped_name_the_command(
    akinai: Akinai, folder: Path, language: str, stopped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the language of the reader, without the flag that would begin anew."""
    monkeypatch.setenv("AKINAI_LANG", language)
    Thread(target=stop_when_there, args=(folder / "p.json",), daemon=True).start()
    answer = akinai(*WORDS)
    assert (answer.code, answer.out) == (130, "")
    count = len(PlaybookFile(folder / "p.json").load())
    assert stopped.format(count=count) in answer.err
    assert f"'{shlex.join(['akinai', *WORDS[:-1]])}'" in answer.err


@pytest.mark.parametrize("moment", ["world_tasks", "world_roles"])
@pytest.mark.parametrize(
    ("language", "stopped"),
    [
        ("en", "stopped before anything was learned; nothing was kept or changed\nakinai: begin again with '{again}'"),
        ("ja", "何も学習しないうちに停止した。残ったものも変わったものもない\nakinai: もう一度始めるには '{again}'"),
    ],
    ids=["en", "ja"],
)
def test_before_anything_is_learned_the_command_that_begins_again_is_named(
    akinai: Akinai, folder: Path, language: str, stopped: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word for word, with --fresh, since the playbook is as it was."""
    monkeypatch.setenv("AKINAI_LANG", language)
    PlaybookFile(folder / "p.json").begin((), reason="")
    before = (folder / "p.json").read_bytes()

    def press(*_: object, **__: object) -> Coroutine[None, None, None]:
        os.kill(os.getpid(), signal.SIGINT)
        return asyncio.sleep(9)

    monkeypatch.setattr(f"akinai.runtime.learn.learner.{moment}", press)
    answer = akinai(*WORDS)
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.endswith(f"akinai: {stopped.format(again=shlex.join(['akinai', *WORDS]))}\n")
    assert (folder / "p.json").read_bytes() == before


class Stopped(Pupil):
    """Ctrl-C is pressed while it answers the curator for the second time."""

    curated = 0

    async def reply(self, call: ModelCall) -> Reply:
        self.curated += role_of(call) == CURATOR
        if self.curated == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return await super().reply(call)


@pytest.mark.needs_qa
def test_a_model_goes_on_where_it_was_stopped(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a checkpoint the command that is named learns the rest, and asks nothing that was learned again."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    pupil = Stopped()
    with Endpoint(pupil) as endpoint:
        words = ("learn", "qa", *write_questions(), "--model", "openai:test", "--base-url", endpoint.openai_url)
        answer = akinai(*words, "--playbook", "p.json", "--checkpoint", "c.db", "--jobs", "1", "--json")
        assert (answer.code, answer.out) == (130, "")
        assert "stopped; p.json holds 1 bullet\n" in answer.err
        command = COMMAND.search(answer.err)
        assert command
        again = akinai(*shlex.split(command[1])[1:])
    assert (again.code, again.json["playbook_size"], again.json["accuracy"]["value"]) == (0, 3, 1)
    assert pupil.curated in (3, 4)
