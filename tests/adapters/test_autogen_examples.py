"""The examples and the commands for AutoGen, as a reader types them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import akinai
from akinai import worlds
from akinai.core.models import Reply
from akinai.testing.endpoint import Asked, Endpoint, PlayerBrain

ROOT = Path(__file__).parents[2]


class Trusting:
    """Answers the first choice that a bullet leads to."""

    async def reply(self, asked: Asked) -> Reply:
        text = asked.request.messages[-1].text
        choices = re.findall(r"^\d+\. (.+)$", text, re.MULTILINE)
        taught = re.findall(r":: .* -> (.+)$", text, re.MULTILINE)
        return Reply(json.dumps({"answer": next((one for one in taught if one in choices), choices[0])}))


def ran(folder: Path, *words: str, endpoint: Endpoint | None = None) -> str:
    """What a command of Python prints."""
    where = {"OPENAI_BASE_URL": endpoint.openai_url} if endpoint else {}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **where})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_player_needs_no_key(tmp_path: Path) -> None:
    """Ten days over a wire on this machine, by an assistant with words of its own: the reference's ledger."""
    whole = akinai.run("vending", agent="reference", days=10)[0]
    told = ran(tmp_path, "-W", "error", str(ROOT / "examples" / "autogen_player.py"))
    assert f"ledger {whole.ledger.digest[:12]}" in told


def test_the_example_learner_learns(tmp_path: Path) -> None:
    """The assistant knows more with the playbook than without it."""
    with Endpoint(Trusting()) as endpoint:
        words = ["-W", "error", str(ROOT / "examples" / "autogen_learner.py"), "test", str(tmp_path)]
        told = ran(tmp_path, *words, endpoint=endpoint)
    found = re.fullmatch(r"(\d+)% without a playbook, (\d+)% with it\n", told)
    assert found
    assert int(found[2]) > int(found[1])


def test_the_pages_python_runs(tmp_path: Path) -> None:
    """A reader who pastes what `docs/autogen.md` shows meets no error."""
    page = (ROOT / "docs" / "autogen.md").read_text(encoding="utf-8")
    playing, learning = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    vending = worlds.load("vending")
    with Endpoint(PlayerBrain(vending.players["reference"], vending.verbs)) as endpoint:
        assert ran(tmp_path, "-c", playing, endpoint=endpoint).startswith("None horizon ")
    with Endpoint(Trusting()) as endpoint:
        assert ran(tmp_path, "-c", learning, endpoint=endpoint)


def test_the_command_line_plays_by_name(tmp_path: Path) -> None:
    """`akinai run --agent autogen:MODEL` plays, keeps and shows a run as that of any agent; the world's list names it."""
    vending = worlds.load("vending")
    with Endpoint(PlayerBrain(vending.players["reference"], vending.verbs)) as endpoint:
        words = ["run", "vending", "--agent", "autogen:test", "--days", "3", "--name", "shop", "--json"]
        told = json.loads(ran(tmp_path, "-m", "akinai", *words, endpoint=endpoint))
    (run,) = akinai.runs("shop", store=str(tmp_path / "akinai.db"))
    assert (run.ending, run.header.agents) == ("horizon", {"owner": "autogen:test"})
    assert told
    assert "autogen" in ran(tmp_path, "-m", "akinai", "worlds", "vending")
