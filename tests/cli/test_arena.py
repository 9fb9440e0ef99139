"""An arena: players meet with seats that rotate, the table puts them in order, and the same command goes on."""

import io
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

import akinai
import forked
from akinai.api.arena import programme
from akinai.core.errors import AkinaiError, UsageError
from akinai.runtime.config.calls import complete_options
from akinai.runtime.options import ArenaOptions
from akinai.stores.memory import MemoryStore
from akinai.testing.endpoint import Endpoint, PlayerResponder
from akinai.worlds.vending import Vending
from command_line import Akinai
from together import together

PLAYERS = ("reference", "naive", "idle")
SHORT: dict[str, Any] = {"days": 4}


def test_every_player_has_every_seat_once_in_a_round() -> None:
    """Three players of three seats play three games on a seed; of two seats, each pair plays two."""
    result = akinai.arena(PLAYERS, rounds=2, store="memory:", **SHORT)
    assert (result.rounds, result.planned, len(result.runs)) == (2, 2, 6)
    seated = [{n: seat["agent"] for n, seat in run.header.genesis.setup["owners"].items()} for run in result.runs]
    for seed, games in ((1, slice(0, 3)), (2, slice(3, 6))):
        assert {run.seed for run in result.runs[games]} == {seed}
        for seat in ("1", "2", "3"):
            assert sorted(game[seat] for game in seated[games]) == sorted(PLAYERS)
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


@together(
    ("players", "more", "why"),
    [
        (["reference", "idle"], {}, "played by reference, naive, not by reference, idle"),
        (PLAYERS, {}, "other players or --seats"),
        (PLAYERS[:2], {"days": 5}, "played with --days 4, not 5"),
        (PLAYERS[:2], {"settings": {"demand.footfall": 40}}, "with --set demand.footfall"),
        (PLAYERS[:2], {"max_actions": 7}, "with --max-actions 0, not 7"),
    ],
)
def test_who_goes_on_in_another_way_is_told_which_option_differs(
    players: list[str], more: dict[str, Any], why: str
) -> None:
    """So that one arena never holds two kinds of games."""
    store = MemoryStore()
    akinai.arena(PLAYERS[:2], store=store, name="a", **SHORT)
    with pytest.raises(UsageError, match=why):
        akinai.arena(players, store=store, name="a", **{**SHORT, **more})


def test_without_a_name_a_key_and_a_limit_name_an_arena_too(tmp_path: Path) -> None:
    """Nothing that decides the play is left out of the digest; what only reaches or paces it is."""
    key = str(tmp_path / "key.json")
    akinai.seal.new(key)
    plain = programme_name()
    assert len({plain, programme_name(key=key), programme_name(max_actions=9), programme_name(days=5)}) == 4
    assert programme_name(rounds=4, jobs=2) == plain
    assert named_by_model() == named_by_model(base_url="http://127.0.0.1:1/v1", round_dollars=0.0, timeout=5.0)
    assert named_by_model() != named_by_model(temperature=0.5)


def programme_name(players: Sequence[str] = PLAYERS[:2], **options: Any) -> str:
    complete = complete_options(ArenaOptions, {**SHORT, **options})
    return programme(players, cast("ArenaOptions", complete), open_models=False).name


def named_by_model(**options: Any) -> str:
    return programme_name(["openai:naive", "listed"], **options)


def test_games_are_planned_round_by_round() -> None:
    """An arena that is stopped midway has rounds that are over: the seats of a seed come before the next seed."""
    complete = cast("ArenaOptions", complete_options(ArenaOptions, {**SHORT, "rounds": 3}))
    headers = programme(PLAYERS, complete).plan()
    assert [header.genesis.seed for header in headers] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [header.created_at for header in headers] == sorted({header.created_at for header in headers})


def test_a_dead_server_leaves_no_round_and_says_why(akinai: Akinai) -> None:
    """No table of nobody, the reason of each game, and the exit code of a failed run."""
    words = (
        "arena",
        "openai:naive",
        "listed",
        "--days",
        "3",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--store",
        "memory:",
    )
    answer = akinai(*words)
    assert (answer.code, answer.out.strip()) == (1, "No round is over yet.")
    assert answer.err.count("connection refused") == 2
    document = akinai(*words, "--json").json
    assert (document["rounds"], document["standings"]) == (0, [])
    assert [game["status"] for game in document["unfinished"]] == ["failed", "failed"]


def test_a_person_who_leaves_leaves_no_round_and_the_arena_goes_on(
    akinai: Akinai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the input closed each game waits for its person; nothing failed, so the code is that of `run`."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    answer = akinai("arena", "listed", "human", "--days", "3", "--store", str(tmp_path / "akinai.db"))
    assert (answer.code, "No round is over yet." in answer.out) == (0, True)
    assert answer.err.count("is not over: it was stopped") == 2
    assert "the same command goes on" in answer.err


def test_more_dollars_for_a_round_go_on_with_its_games(
    akinai: Akinai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round whose money is spent is not lost: the same arena with more, at another address, plays it to its end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    Path("akinai.toml").write_text('[prices."openai:naive"]\ninput_per_million = 1\noutput_per_million = 1\n')
    words = ("arena", "openai:naive", "listed", "--days", "3", "--store", "akinai.db")
    with Endpoint(PlayerResponder(Vending.players["naive"], Vending.verbs)) as endpoint:
        few = akinai(*words, "--round-dollars", "0.02", "--base-url", endpoint.openai_url)
    assert (few.code, "No round is over yet." in few.out) == (0, True)
    assert few.err.count("its part of --round-dollars is spent") == 2
    assert "the same command with a larger --round-dollars goes on" in few.err
    entries = [run.entries for run in runs_in("akinai.db")]
    with Endpoint(PlayerResponder(Vending.players["naive"], Vending.verbs)) as endpoint:
        more = akinai(*words, "--round-dollars", "20", "--base-url", endpoint.openai_url, "--timeout", "9", "--json")
    assert (more.code, more.json["rounds"], more.json["unfinished"]) == (0, 1, [])
    assert all(run.entries > before > 0 for run, before in zip(runs_in("akinai.db"), entries, strict=True))
    assert len(entries) == 2


def runs_in(store: str) -> akinai.Runs:
    return akinai.runs(store=store, ledgers=False)


def test_who_left_the_street_is_in_the_table_and_on_stderr(
    akinai: Akinai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its reason; where nobody left there is no such column. As of `run`, the code is 0: the others played on."""
    monkeypatch.chdir(tmp_path)
    Path("two.jsonl").write_text('{"action": "ADVANCE_DAY"}\n' * 2)
    player = "script:two.jsonl"
    answer = akinai("arena", "idle", player, "--days", "4", "--json")
    assert (answer.code, {row["player"]: row["left"] for row in answer.json["standings"]}) == (
        0,
        {"idle": 0, player: 2},
    )
    assert [(leaving["player"], leaving["seat"], leaving["why"]) for leaving in answer.json["left"]] == [
        (player, "owner_2", "script_over"), (player, "owner_1", "script_over"),
    ]  # fmt: skip
    assert answer.err.count(f"{player} left the game") == 2
    assert "games left" in akinai("arena", "idle", player, "--days", "4").out
    nobody = akinai("arena", "idle", "naive", "--days", "4")
    assert "left" not in nobody.out + nobody.err


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


def test_games_of_models_are_named_by_who_sat_where_alone(
    akinai: Akinai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `analyze` and in what `resume` prints: no list in brackets, and no setting that the names tell."""
    monkeypatch.chdir(tmp_path)
    words = ("openai:naive", "listed", "--days", "3", "--name", "a", "--store", "akinai.db")
    akinai("arena", *words, "--base-url", "http://127.0.0.1:1/v1")
    names = {*akinai("analyze", "a", "--store", "akinai.db", "--json").json["groups"]}
    assert names == {"openai:naive, listed", "listed, openai:naive"}
    resumed = akinai("resume", "a", "--store", "akinai.db").out
    assert "openai:naive, " in resumed
    assert "[" not in resumed


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
    assert answer.json["dollars_a_round"] is None
    assert "2 rounds" in akinai("arena", "openai:small", "reference", "--dry-run", "--days", "10", "--rounds", "2").out
    refused = akinai("arena", "naive", "reference", "--dry-run")
    assert (refused.code, "name one among the players" in refused.err) == (2, True)


def test_an_estimate_says_what_a_round_costs_and_when_its_cap_is_below(
    akinai: Akinai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind of game is named once, however many seats rotate."""
    monkeypatch.chdir(tmp_path)
    Path("akinai.toml").write_text('[prices."openai:a"]\ninput_per_million = 2\noutput_per_million = 8\n')
    words = ("arena", "openai:a", "naive", "listed", "--preset", "arena-sprint", "--rounds", "3", "--dry-run")
    document = akinai(*words, "--json").json
    a_round = document["dollars_a_round"]
    assert a_round == pytest.approx(document["dollars"] / 3)
    low, high = akinai(*words, "--round-dollars", "1").out, akinai(*words, "--round-dollars", "1000").out
    assert low.count("messages of one actor") == 1
    assert f"dollars a round  ${a_round:.2f}" in low
    assert "more than its --round-dollars of $1.00" in low
    assert "more than" not in high


def test_an_arena_of_rules_is_told_how_it_names_a_model(akinai: Akinai) -> None:
    """It has no --model."""
    for flag in ("--window", "--temperature"):
        answer = akinai("arena", "naive", "listed", flag, "9000")
        assert (answer.code, "name one among the players" in answer.err, "--model" in answer.err) == (2, True, False)
