"""The same game at every door: the reference's actions give the native digest, with the chat agent's tools and prompt.

Doors whose package is in an environment of its own are tested there, by the same file.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

import doors
from akinai.runtime.seal import new_key

PAGE = Path(__file__).parents[2] / "docs" / "design" / "seats.md"
ADAPTER = os.environ.get("AKINAI_ADAPTER", "")
QUICK = {
    "session", "LangChain's tools", "OpenAI's loop", "Anthropic's loop", "Gymnasium", "PettingZoo", "AutoGen's tools"
}  # fmt: skip
"""Doors without a server of their own."""

pytestmark = [  # Inspect's own: it uses an old name of tenacity's, and leaves streams to the garbage collector
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def here() -> list[tuple[str, str]]:
    """The doors of this environment, each with every game."""
    names = [name for name, door in doors.DOORS.items() if door.adapter == ADAPTER and doors.is_installed(door)]
    return [(name, game) for name in names for game in doors.GAMES]


@pytest.mark.parametrize(
    ("name", "game"),
    [pytest.param(*case, marks=[] if case[0] in QUICK else [pytest.mark.slow]) for case in here()],
)
def test_the_same_actions_give_the_native_digest(name: str, game: str) -> None:
    """And what was offered is what Akinai's own chat agent is offered: each tool with its words and parameters, and the
    system prompt."""
    played = doors.DOORS[name].play(doors.GAMES[game])
    with doors.opened(doors.GAMES[game]) as session:
        tools, prompt = doors.own(session)
        first = {tool["name"] for tool in session.tools()}
    native = doors.reference(doors.GAMES[game])
    assert [entry.data for entry in played.run.ledger.entries] == [entry.data for entry in native.ledger.entries]
    if game != "qa":  # which has no time of its own: digests hold that of the machine
        assert played.run.digest == native.digest
    if not doors.DOORS[name].lists_all and session.world.name.startswith("vending"):
        assert {*tools} - first == ({"report"} if game != "vending sprint" else set())  # which has no sub-agents
        tools = {name: tools[name] for name in first}
    assert played.tools == tools
    assert played.prompt == prompt


SEALING = ("session", "MCP over stdio", "MCP over HTTP", "HTTP sessions", "A2A")
"""Doors that take a key."""


SEALED_HERE = [name for name in SEALING if (name, "qa") in here()]

if SEALED_HERE:

    @pytest.mark.slow
    @pytest.mark.parametrize("game", ["vending classic", "market"])
    @pytest.mark.parametrize("name", SEALED_HERE)
    def test_a_sealed_game_is_the_game_of_its_seed(name: str, game: str, tmp_path: Path) -> None:
        """Played through a door with a key, number 1 has the digest and the scores of the seed that the key gives it."""
        key = new_key(tmp_path / "key.json")
        sealed = replace(doors.GAMES[game], key=str(key.path))
        played, native = doors.DOORS[name].play(sealed).run, doors.reference(sealed)
        assert (played.header.sealed, native.header.sealed) == (key.sealed(1), None)
        assert (played.digest, played.scores) == (native.digest, native.scores)
        assert played.digest != doors.reference(doors.GAMES[game]).digest


def test_the_page_has_every_door_and_game() -> None:
    """A row a door and a column a game, with what this file asserts."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    head = next(line for line in lines if line.startswith("| door | vending"))
    rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in lines[lines.index(head) + 2 :] if line.startswith("| ")]
    assert re.split(r"\s*\|\s*", head.strip("| ")) == ["door", *doors.GAMES, "tools", "prompt"]
    assert {row[0]: row[1:] for row in rows[: len(doors.DOORS)]} == {
        name: ["equal"] * (len(doors.GAMES) + 2) for name in doors.DOORS
    }
