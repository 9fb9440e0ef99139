"""Instructions of a person's own for the agents that ask a model."""

from pathlib import Path

import pytest

import akinai
from akinai.agents.chat import instructions, system_prompt
from akinai.core.errors import UsageError
from akinai.testing.endpoint import Endpoint, ScriptResponder, tool_call

SEEN = "You run a vending machine"


def systems(prompt: str | Path | None, agent: str = "chat") -> tuple[akinai.Run, str]:
    """A run of two days, and the system message of its first call."""
    reply = tool_call("advance_day") if agent == "chat" else '{"action": "advance_day"}'
    with Endpoint(ScriptResponder([reply] * 2)) as endpoint:
        run = akinai.run(
            "vending", agent=agent, model="openai:m", base_url=endpoint.openai_url, prompt=prompt, preset="classic",
            days=2,
        )[0]  # fmt: skip
        return run, endpoint.calls[0].request.messages[0].text


def test_a_prompt_stands_in_place_of_the_own_one(tmp_path: Path) -> None:
    """A file, or the text itself, with what the model sees after it or where {situation} is; the card tells them apart."""
    file = tmp_path / "mine.md"
    file.write_text('Be greedy. Never {"action": "pay"}.\n')
    run, system = systems(file)
    assert system.startswith('Be greedy. Never {"action": "pay"}.\n\nYou run a vending machine')
    own, plain = systems(None)
    assert plain.startswith(instructions("tools"))
    assert run.card["prompt"] != own.card["prompt"]
    assert run.digest == own.digest  # the same actions
    _, around = systems("Before.\n{situation}\nAfter.")
    assert around.startswith(f"Before.\n{SEEN}")
    assert around.endswith("\nAfter.")


@pytest.mark.parametrize("agent", ["chat", "structured"])
def test_the_written_prompt_is_the_own_one(tmp_path: Path, agent: str) -> None:
    """What `write_prompt` writes is played as the package's own; a file that is there is left alone."""
    file = akinai.write_prompt(tmp_path / "mine.md", agent)
    assert systems(file, agent)[1] == systems(None, agent)[1]
    with pytest.raises(UsageError, match="cannot be written"):
        akinai.write_prompt(file, agent)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b" \n", "is empty"),
        (b"\x00\x01", "NUL"),
        (b"\xff\xfe\xfa", "UTF-16"),
        (b"Look at {situaton}.", "{situaton}, which stands for nothing"),
        (b"word " * 60_000, "of a window of 30,000"),
    ],
)
def test_an_unfit_prompt_is_refused_before_anything_is_asked(tmp_path: Path, data: bytes, words: str) -> None:
    """Empty, binary, with a placeholder that is none, longer than the window."""
    file = tmp_path / "mine.md"
    file.write_bytes(data)
    with Endpoint(ScriptResponder([])) as endpoint:
        with pytest.raises(UsageError, match=words.replace("{", r"\{")):
            akinai.run("vending", model="openai:m", base_url=endpoint.openai_url, prompt=file, days=1)
        assert not endpoint.calls


def test_a_prompt_for_rules_is_refused(tmp_path: Path) -> None:
    """A player without a model reads no prompt."""
    file = akinai.write_prompt(tmp_path / "mine.md")
    with pytest.raises(UsageError, match="asks no model"):
        akinai.run("vending", agent="idle", prompt=file, days=1)


def test_placeholders_are_filled_once() -> None:
    """What a view holds in braces is no placeholder."""
    assert system_prompt("{actions}|{situation}", "{actions}", "a") == "Actions:\n\na|{actions}"
