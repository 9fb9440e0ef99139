"""Texts that settings add to the tasks of players: who reads none is told so, and a transcript of calls shows them."""

import pytest

from akinai.testing.endpoint import Endpoint, ScriptResponder, tool_call
from akinai.worlds.vending.model.setup import FRAMINGS
from command_line import Akinai

STREET = ("run", "vending", "--preset", "arena", "--days", "1")
NOTICE = "nobody here reads the setting framing"


@pytest.mark.parametrize(
    ("words", "notice"),
    [
        (("--agent", "naive", "--set", "framing=profit"), f"{NOTICE}: "),
        (("--agent", "naive", "--sweep", "framing=plain,profit,rank"), f"{NOTICE}: "),
        (("--agent", "naive", "--set", "owners.2.framing=rank"), "nobody here reads the setting owners.2.framing: "),
        (("--agent", "naive", "--set", "framing=plain"), ""),
        (("--agent", "naive"), ""),
        (("--agent", "stdio:cat", "--set", "framing=profit", "--dry-run"), ""),
        (("--agent", "stdio:cat", "--set", "owners.2.framing=rank", "--set", "owners.2.agent=naive", "--dry-run"),
         "nobody here reads the setting owners.2.framing: "),
        (("--agent", "naive", "--set", "framing=rank", "--set", "owners.2.model=openai:m", "--dry-run"), ""),
    ],
)  # fmt: skip
def test_a_text_that_nobody_reads_is_one_line_on_stderr(akinai: Akinai, words: tuple[str, ...], notice: str) -> None:
    """Players by rules read no task; a program and a model do."""
    notices = [line for line in akinai(*STREET, *words).err.splitlines() if "nobody here reads" in line]
    assert len(notices) == bool(notice)
    assert all(notice in line for line in notices)


def test_a_single_owner_by_rules_is_told_too(akinai: Akinai) -> None:
    assert NOTICE in akinai("run", "vending", "--days", "1", "--set", "framing=honest").err


def test_an_arena_and_a_sweep_are_told_of_what_no_game_reads(akinai: Akinai) -> None:
    """Who reads it in one game of several has something to read."""
    words = ("idle", "naive", "--rounds", "1", "--days", "1", "--set", "framing=rank")
    assert akinai("arena", *words).err.count(NOTICE) == 1
    sweep = ("--agent", "naive", "--set", "framing=rank", "--sweep", "owners.2.agent=idle,stdio:cat", "--dry-run")
    assert NOTICE not in akinai(*STREET, *sweep).err


def test_calls_show_what_was_added_to_the_task(akinai: Akinai) -> None:
    """The prompt is cut after some lines, and the framing below them is not."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    with Endpoint(ScriptResponder([tool_call("advance_day")] * 2)) as endpoint:
        model = ("--model", "openai:test", "--base-url", f"{endpoint.url}/v1", "--set", "framing=profit")
        answer = akinai("run", "vending", "--days", "2", *model, "--name", "a")
    assert NOTICE not in answer.err
    text = akinai("show", "a-1", "--calls").out
    assert "more lines" in text
    assert FRAMINGS["profit"] in " ".join(text.split())
