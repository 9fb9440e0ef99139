"""The documents that programs rely on."""

import json
import sqlite3
from contextlib import closing

import pytest

from command_line import Akinai, Answer

SCORES = [
    "net_worth", "bank_balance", "cash", "machine_cash", "stock_at_cost", "in_transit_at_cost", "units_sold",
    "days_until_sales_stop",
    "stockout_days", "fees_missed", "messages",
]  # fmt: skip
RUN_KEYS = {"run", "world", "preset", "agent", "seed", "status", "ending", "days", "entries", "digest", "scores"}
CARD_KEYS = {
    "akinai",
    "python",
    "world",
    "preset",
    "preset_sha256",
    "agent",
    "model",
    "sampling",
    "playbook",
    "digests",
}


def played(akinai: Akinai) -> Answer:
    return akinai(
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "naive",
        "--seeds",
        "1-2",
        "--days",
        "9",
        "--name",
        "a",
        "--json",
    )


def assert_shape(answer: Answer, runs: list[str]) -> None:
    """The shape that every command that prints runs has."""
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("\n") == 1
    document = answer.json
    assert {"runs", "summary", "card"} <= document.keys()
    assert [run["run"] for run in document["runs"]] == runs
    for run in document["runs"]:
        assert run.keys() >= RUN_KEYS
        assert list(run["scores"]) == SCORES
        assert all(score.keys() <= {"value", "unit", "better", "because"} for score in run["scores"].values())
        assert run["scores"]["net_worth"]["unit"] == "cents"
        assert len(run["digest"]) == 64
    assert list(document["summary"]) == SCORES
    for summary in document["summary"].values():
        assert summary.keys() >= {"n", "failed", "mean", "median", "min", "max", "ci95"}
    assert document["card"].keys() >= CARD_KEYS
    assert document["card"]["digests"] == {run["run"]: run["digest"] for run in document["runs"]}


def test_run_prints_one_document(akinai: Akinai) -> None:
    """`run --json` prints runs, summary and card, and nothing else."""
    answer = played(akinai)
    assert_shape(answer, ["a-1", "a-2"])
    first = answer.json["runs"][0]
    assert (first["world"], first["preset"], first["agent"], first["seed"]) == ("vending@3", "classic", "naive", 1)
    assert (first["status"], first["ending"], first["days"]) == ("done", "horizon", 9)
    worth = answer.json["summary"]["net_worth"]
    assert worth["n"] == 2
    assert worth["failed"] == 0
    low, high = worth["ci95"] or (worth["min"], worth["max"])  # none where both runs end alike
    assert low <= worth["min"] <= worth["mean"] <= worth["max"] <= high


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (("resume", "a"), ["a-1", "a-2"]),
        (("replay", "a-2"), ["a-2"]),
        (("analyze", "a-2", "a"), ["a-2", "a-1"]),
        (("fork", "a-1", "--at-day", "3"), ["a-1-fork-1"]),
        (("fork", "a", "--after", "12", "--agent", "idle"), ["a-fork-1-1", "a-fork-1-2"]),
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_scores_prints_the_same_shape(
    akinai: Akinai, words: tuple[str, ...], runs: list[str]
) -> None:
    """resume, fork, replay and analyze print what run prints."""
    played(akinai)
    assert_shape(akinai(*words, "--json"), runs)


def test_a_listing_folds_no_ledger(akinai: Akinai) -> None:
    """`runs --json` prints what headers hold, of the runs that were chosen, even where no entry can be read."""
    scored = played(akinai).json["runs"]
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--name", "b")
    with closing(sqlite3.connect("akinai.db")) as connection, connection:
        connection.execute("UPDATE actions SET data = '{}'")
    listed = akinai("runs", "--group", "a", "--status", "done", "--json").json["runs"]
    shared = ("run", "world", "preset", "agent", "seed", "status", "ending", "entries", "digest", "group")
    assert [{name: run[name] for name in shared} for run in listed] == [
        {name: run[name] for name in shared} for run in scored
    ]
    assert [run["run"] for run in akinai("runs", "--limit", "2", "--json").json["runs"]] == ["a-2", "b-1"]
    page = akinai("runs", "--limit", "1").out
    assert ("b-1" in page, "a-2" in page) == (True, False)
    assert "no such runs" in akinai("runs", "--status", "failed").out


def test_scores_of_a_record_are_those_of_the_run(akinai: Akinai) -> None:
    """Whatever command reads a run, it scores it alike."""
    runs = played(akinai).json["runs"]
    assert akinai("replay", "a", "--json").json["runs"] == runs
    analysed = akinai("analyze", "a", "--json").json["runs"]
    assert [run | old for run, old in zip(analysed, runs, strict=True)] == analysed


def test_analyze_tells_agents_apart(akinai: Akinai) -> None:
    """With several agents `analyze` has a group for each, beside the summary over all."""
    played(akinai)
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-3", "--days", "9", "--name", "b")
    document = akinai("analyze", "a", "b", "--json").json
    assert {name: group["n"] for name, group in document["groups"].items()} == {"naive": 2, "idle": 3}
    assert document["groups"]["idle"]["scores"]["net_worth"]["mean"] == 50_000 - 9 * 200
    assert document["summary"]["net_worth"]["n"] == 5


def test_compare_pairs_by_seed(akinai: Akinai) -> None:
    """`compare A B --json` gives B less A for every score, and the seeds that a gain of so many dollars would need."""
    played(akinai)
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-3", "--days", "9", "--name", "b")
    document = akinai("compare", "b", "a", "--gain", "$25", "--json").json
    assert document["a"].items() >= {"name": "b", "agents": ["idle"], "runs": ["b-1", "b-2", "b-3"]}.items()
    assert list(document["scores"]) == SCORES
    messages = document["scores"]["messages"]
    assert messages.keys() >= {
        "pairs",
        "difference",
        "ci95",
        "wins",
        "losses",
        "ties",
        "mde",
        "unit",
        "better",
        "winner",
    }
    assert (messages["pairs"], messages["wins"], messages["losses"], messages["only_a"]) == (2, None, None, 1)
    assert messages["difference"] > 0
    assert document["scores"]["net_worth"]["seeds_needed"] >= 2
    assert set(document["card"]["digests"]) == {"a-1", "a-2", "b-1", "b-2", "b-3"}


def test_diff_tells_entry_and_days(akinai: Akinai) -> None:
    """`diff A B --json` names the first entry that differs and tells every day of both."""
    played(akinai)
    akinai("fork", "a-1", "--at-day", "4", "--agent", "idle", "--name", "lazy")
    document = akinai("diff", "a-1", "lazy", "--json").json
    shared = document["entry"] - 1
    lines = [akinai("export", run).out.splitlines() for run in ("a-1", "lazy")]
    digests = [[json.loads(line)["digest"] for line in of_run] for of_run in lines]
    assert digests[0][:shared] == digests[1][:shared]
    assert digests[0][shared] != digests[1][shared]
    assert document["at"]["a"]["digest"] == digests[0][shared]
    assert [day["day"] for day in document["days"]] == list(range(1, 10))
    assert document["days"][0]["a"] == document["days"][0]["b"]
    assert document["end"]["a"] != document["end"]["b"]
    assert akinai("diff", "lazy", "lazy", "--json").json["entry"] is None


def test_seeds_differ_before_anyone_acts(akinai: Akinai) -> None:
    """Runs of two seeds part at entry 0, the genesis."""
    played(akinai)
    document = akinai("diff", "a-1", "a-2", "--json").json
    assert (document["entry"], document["at"]["a"]["seed"], document["at"]["b"]["seed"]) == (0, 1, 2)


def test_worlds_are_told_to_programs(akinai: Akinai) -> None:
    """`worlds --json` lists worlds with actors, presets, agents, actions and settings."""
    (vending,) = [world for world in akinai("worlds", "--json").json["worlds"] if world["world"] == "vending@3"]
    assert vending == akinai("worlds", "vending", "--json").json
    assert vending["actors"] == ["owner"]
    assert {row["name"] for row in vending["presets"]} == {
        "quarter",
        "arena",
        "arena-sprint",
        "classic",
        "paper",
        "sprint",
        "year",
    }
    assert {row["name"] for row in vending["agents"]} >= {"idle", "naive", "reference", "script:FILE"}
    assert {row["name"]: row["default"] for row in vending["settings"]}["demand.footfall"] == 10_000
    assert len(vending["lists"]["catalog.products"]) == 60


def test_text_beyond_ascii_survives(akinai: Akinai) -> None:
    """Japanese text in a setting comes out as it went in."""
    akinai(
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "idle",
        "--days",
        "1",
        "--name",
        "商い",
        "--set",
        "account=口座",
        "--json",
    )
    assert akinai("runs", "--json").json["runs"][0]["run"] == "商い-1"
