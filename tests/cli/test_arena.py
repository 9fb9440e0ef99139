"""An arena: players meet with seats that rotate, the table puts them in order, and the same command goes on."""

import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import akinai
import forked
from akinai.core.errors import AkinaiError, UsageError
from akinai.stores.memory import MemoryStore
from command_line import Akinai
from together import together

PLAYERS = ("reference", "naive", "idle")
SHORT: dict[str, Any] = {"days": 4}


def test_every_player_has_every_seat_once_in_a_round() -> None:
    """Three players of three seats play three games on a seed; of two seats, each pair plays two."""
    result = akinai.arena(PLAYERS, rounds=2, store="memory:", **SHORT)
    assert (result.rounds, result.planned, len(result.runs)) == (2, 2, 6)
    seated = [{n: seat["agent"] for n, seat in run.header.genesis.setup["owners"].items()} for run in result.runs]
    for seed, number in ((1, 0), (2, 1)):
        assert {run.seed for run in result.runs[number::2]} == {seed}
        for seat in ("1", "2", "3"):
            assert sorted(game[seat] for game in seated[number::2]) == sorted(PLAYERS)
    pairs = akinai.arena(PLAYERS, seats=2, store="memory:", **SHORT)
    assert len(pairs.runs) == 6


def test_the_table_says_who_is_ahead(akinai: Akinai) -> None:
    """Who does nothing is last of two, by rating and by money, and programs read the same numbers."""
    answer = akinai("arena", "reference", "idle", "--days", "20", "--json")
    assert answer.code == 0
    first, second = answer.json["standings"]
    assert (first["player"], second["player"]) == ("reference", "idle")
    assert first["rating"]["points"] > 1000 > second["rating"]["points"]
    assert first["rating"]["points"] + second["rating"]["points"] == pytest.approx(2000)
    assert (first["rating"]["ahead"], second["rating"]["ahead"]) == (1, 0)
    assert second["mean"] == 50_000 - 20 * 200
    assert first["rating"]["ci95"] is None  # too few rounds
    text = akinai("arena", "reference", "idle", "--days", "20").out
    assert text.startswith("reference and idle cannot be told apart yet: 1 seed can show no difference")
    assert text.index("reference") < text.index("idle")
    assert "$460.00" in text


def test_the_same_command_goes_on(tmp_path: Path) -> None:
    """More rounds, or rounds after a stop, play what is missing and nothing twice; the table is that of one go."""
    store = str(tmp_path / "akinai.db")
    options: dict[str, Any] = {"name": "a", "store": store, **SHORT}
    one = akinai.arena(PLAYERS[:2], rounds=1, **options)
    first = {run.id: (run.digest, run.header.created_at) for run in one.runs}
    akinai.delete("a-2-1-1", store=store)
    both = akinai.arena(PLAYERS[:2], rounds=2, **options)
    assert {run.id for run in both.runs} == {"a-1-2-1", "a-1-2-2", "a-2-1-1", "a-2-1-2"}
    again = {run.id: (run.digest, run.header.created_at) for run in both.runs}
    assert again["a-1-2-1"] == first["a-1-2-1"]
    assert again["a-2-1-1"][0] == first["a-2-1-1"][0]
    whole = akinai.arena(PLAYERS[:2], rounds=2, store="memory:", **SHORT)
    assert [row.to_json() for row in whole.rows] == [row.to_json() for row in both.rows]
    with pytest.raises(UsageError, match="other settings or by other players"):
        akinai.arena(["reference", "idle"], rounds=1, **options)


@pytest.mark.slow
def test_a_killed_arena_goes_on_to_the_same_table(tmp_path: Path) -> None:
    """Killed while a game is under way: the command again prints what one go prints, and every digest is the same."""
    folders = [tmp_path / "cut", tmp_path / "whole"]
    for folder in folders:
        folder.mkdir()
    words = ("reference", "naive", "idle", "--rounds", "2", "--days", "40", "--name", "a", "--store", "akinai.db")
    command = [sys.executable, "-m", "akinai", "arena", *words, "--jobs", "1"]

    def headers(folder: Path) -> akinai.Runs:
        return akinai.runs(store=str(folder / "akinai.db"), ledgers=False)

    def done() -> int:
        with suppress(AkinaiError):  # until the store is made
            return sum(run.status == "done" for run in headers(folders[0]))
        return 0

    child = forked.Popen(command, cwd=folders[0], stdout=forked.PIPE, stderr=forked.PIPE)
    while child.poll() is None and done() < 2:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert {run.status for run in headers(folders[0])} == {"done", "open"}
    again, whole = (forked.run(command, cwd=folder) for folder in folders)
    assert (again.returncode, again.stdout) == (0, whole.stdout)
    cut, one_go = ({run.id: run.digest for run in headers(folder)} for folder in folders)
    assert len(cut) == 6
    assert cut == one_go


def test_without_a_name_the_players_and_settings_name_an_arena() -> None:
    """So that other players, or another length, never go on with it."""
    store = MemoryStore()
    names = [
        akinai.arena(players, store=store, **{**SHORT, **more}).name
        for players, more in ((PLAYERS[:2], {}), (PLAYERS[1:], {}), (PLAYERS[:2], {"days": 3}), (PLAYERS[:2], {}))
    ]
    assert len({*names}) == 3
    assert names[0] == names[3]


def test_games_of_an_arena_are_analysed_under_the_names_of_who_sat_where() -> None:
    """They have no scale: idle and reference would play nothing, and each game would be as far as reference."""
    store = MemoryStore()
    games = akinai.arena(PLAYERS[:2], store=store, **SHORT)
    found = akinai.analyze(games.name, store=store)
    assert {group.name for group in found.groups} == {", ".join(order) for order in (PLAYERS[:2], PLAYERS[1::-1])}
    assert {group.scale.why_not for group in found.groups} == {
        "its settings say who plays owner_1, so idle and reference would play nothing"
    }


def test_a_round_with_a_game_that_is_not_over_does_not_count(tmp_path: Path) -> None:
    """It is named below the table; one whose player broke is over, since the other played on."""
    script = tmp_path / "two.jsonl"
    script.write_text('{"action": "ADVANCE_DAY"}\n' * 2)
    result = akinai.arena(["idle", f"script:{script}"], store="memory:", **SHORT)
    assert result.rounds == 1
    assert [run.ending for run in result.runs] == ["horizon", "horizon"]


@together(
    ("players", "options", "why"),
    [
        (["idle"], {}, "two players or more"),
        (["idle", "idle"], {}, "there twice"),
        (["idle", "nobody"], {}, "no agent 'nobody'"),
        (["idle", "naive"], {"seats": 3}, "3 seats for 2 players"),
        (["idle", "naive"], {"rounds": 0}, "at least 1"),
        (["idle", "naive"], {"settings": {"owners.2.agent": "idle"}}, "leave the setting 'owners.2.agent' out"),
    ],
)
def test_players_who_cannot_meet_are_refused(players: list[str], options: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        akinai.arena(players, store="memory:", **{**SHORT, **options})


def test_an_estimate_tells_what_a_round_of_models_takes(akinai: Akinai) -> None:
    """The sum over its games; a model has every seat of the street once, and rules ask none."""
    answer = akinai("arena", "openai:small", "reference", "--dry-run", "--json", "--days", "10")
    assert answer.json["messages"] == 2 * 10 * 10
    assert "2 rounds" in akinai("arena", "openai:small", "reference", "--dry-run", "--days", "10", "--rounds", "2").out
    refused = akinai("arena", "naive", "reference", "--dry-run")
    assert (refused.code, "name one among the players" in refused.err) == (2, True)
