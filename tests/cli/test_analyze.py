"""`akinai analyze` and `akinai compare` as people and programs meet them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from command_line import Akinai

DOCS = Path(__file__).parents[2] / "docs"
GROUP_KEYS = {
    "world", "agent", "preset", "model", "sampling", "playbook", "settings", "runs", "n", "seeds", "states", "copies",
    "label", "prompt", "program", "offered", "endings", "days", "scores", "findings", "coherence", "usage", "scale",
}  # fmt: skip
SCORE_KEYS = {
    "unit",
    "n",
    "failed",
    "mean",
    "median",
    "sd",
    "min",
    "max",
    "ci95",
    "mean_of_done",
    "mde",
    "share",
}


def edit(statement: str) -> None:
    with closing(sqlite3.connect("akinai.db")) as connection, connection:
        connection.execute(statement)


def play(akinai: Akinai, name: str, agent: str = "idle", seeds: str = "1-3", *more: str) -> None:
    words = (
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        agent,
        "--seeds",
        seeds,
        "--days",
        "9",
        "--name",
        name,
        *more,
    )
    assert akinai(*words).code == 0


def test_document_has_groups_with_all_their_figures(akinai: Akinai) -> None:
    """`analyze --json` tells runs, groups, the summary over all, and the card; an idle machine by hand."""
    play(akinai, "a")
    answer = akinai("analyze", "a", "--json")
    assert (answer.code, answer.err, answer.out.count("\n")) == (0, "", 1)
    document = answer.json
    assert document.keys() == {"runs", "summary", "groups", "standings", "table", "card"}
    group = document["groups"]["idle"]
    assert group.keys() == GROUP_KEYS
    assert (group["n"], group["states"], group["endings"], group["days"]) == (3, {"done": 3}, {"horizon": 3}, 27)
    worth = group["scores"]["net_worth"]
    assert worth.keys() == SCORE_KEYS | {"better"}
    assert (worth["mean"], worth["ci95"], worth["share"]) == (50_000 - 9 * 200, None, 0)
    assert group["scale"]["seeds"] == [1, 2, 3]
    (first, *_) = document["runs"]
    assert {"findings", "coherence"} <= first.keys()
    assert first["findings"].keys() == {"types", "severities", "list"}
    assert "series" not in first
    assert document["card"]["digests"].keys() == {"a-1", "a-2", "a-3"}


def test_days_are_in_the_document_where_asked_for(akinai: Akinai) -> None:
    """`--by-day` adds the days of every run."""
    play(akinai, "a", seeds="1")
    (run,) = akinai("analyze", "a", "--by-day", "--json").json["runs"]
    assert run["series"]["days"] == list(range(1, 10))
    assert run["series"]["facts"]["cash_cents"][:2] == [49_800, 49_600]


def test_groups_stand_side_by_side(akinai: Akinai) -> None:
    """Several groups open with a table of them, and settings that set them apart are in their names."""
    play(akinai, "a")
    play(akinai, "b", "idle", "1-2", "--set", "fee_cents=300")
    answer = akinai("analyze", "a", "b")
    assert answer.out.startswith("Nothing can be told apart yet: 2 seeds can show no difference, 6 can.")
    assert "\n\nGroups of runs that were played alike" in answer.out
    assert "\nidle fee_cents=200  " in answer.out
    assert "\nidle fee_cents=300  " in answer.out
    assert "$482.00" in answer.out
    assert "$473.00" in answer.out
    assert "akinai compare a b" in answer.out


def test_page_of_many_runs_lists_none_of_them(akinai: Akinai) -> None:
    """Above twenty runs a page has their figures, and no row for each."""
    play(akinai, "a", seeds="1-21")
    page = akinai("analyze", "a", "--no-scale").out
    assert page.startswith("idle: net worth $482.00 on average of 21 seeds.")
    assert "\nidle: 21 runs, also measured" in page
    assert "a-7" not in page
    assert "All ended: 21 horizon." in page


def test_scale_says_on_which_seeds_it_stands(akinai: Akinai) -> None:
    """The share of the way names its seeds and those that were played for it; `--no-scale` plays nothing."""
    play(akinai, "a", seeds="1-2")
    assert "0 % of the way from idle ($482.00) to reference (" in akinai("analyze", "a").out
    assert "on seeds 1-2 (played for this on 1-2)." in akinai("analyze", "a").out
    play(akinai, "r", agent="reference", seeds="1-2")
    assert "on seeds 1-2.\n" in akinai("analyze", "a", "r").out
    assert "of the way" not in akinai("analyze", "a", "--no-scale").out
    assert len(akinai("runs", "--json").json["runs"]) == 4


@pytest.mark.usefixtures("plugins")
def test_failed_runs_are_told_with_what_they_do_to_the_mean(akinai: Akinai) -> None:
    """A page says how many failed, that they count as they stand, and the mean without them."""
    words = (
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "breaking:cloudy",
        "--seeds",
        "1-4",
        "--days",
        "2",
        "--name",
        "a",
    )
    assert akinai(*words).code == 1
    group = akinai("analyze", "a", "--json").json["groups"]["breaking:cloudy"]
    done, failed = group["states"]["done"], group["states"]["failed"]
    page = " ".join(akinai("analyze", "a").out.split())
    assert f"{done} done, {failed} failed. What failed or is not over counts as it stands" in page
    assert "without it the mean net worth is $496.00." in page


def test_damaged_runs_stop_nothing(akinai: Akinai) -> None:
    """A damaged record and a damaged header are one sentence each, counted, and everything else is there; exit code 1."""
    play(akinai, "a", seeds="1-3")
    edit("UPDATE actions SET data = '{}' WHERE seq = 2 AND run_id = 'a-1'")
    edit("UPDATE runs SET genesis = '{' WHERE run_id = 'a-2'")
    answer = akinai("analyze", "a")
    assert answer.code == 1
    assert "idle: 3 runs" in answer.out
    assert "1 done, 2 damaged. What is unreadable or damaged is in no figure." in answer.out
    first, second = answer.err.splitlines()
    assert first.startswith("akinai: run a-1 cannot be scored: entry 2: ")
    assert second.startswith("akinai: run a-2 cannot be scored: the header of run 'a-2' is damaged")
    document = akinai("analyze", "a", "--json").json
    assert document["groups"]["idle"]["states"] == {"done": 1, "damaged": 2}
    assert document["summary"]["net_worth"]["n"] == 1


def test_damaged_header_leaves_other_commands_alone(akinai: Akinai) -> None:
    """Beside a run whose header is damaged others are listed, played, analysed; the damaged one is named when asked for."""
    play(akinai, "a", seeds="1-2")
    edit("UPDATE runs SET genesis = '{' WHERE run_id = 'a-2'")
    assert akinai("runs").code == 0
    listed = akinai("runs", "--json").json["runs"]
    assert [(run["run"], bool(run["world"])) for run in listed] == [("a-1", True), ("a-2", False)]
    assert akinai("analyze", "a-1").code == 0
    play(akinai, "b", seeds="2")
    for command in ("resume", "replay", "export"):
        answer = akinai(command, "a-2")
        assert (answer.code, answer.out) == (1, "")
        assert "header of run 'a-2'" in answer.err
    verdicts = akinai("verify", "a", "--json").json["runs"]
    assert (verdicts["a-1"]["ok"], verdicts["a-2"]["ok"], verdicts["a-2"]["entry"]) == (True, False, 0)


def test_findings_of_a_run_are_shown_by_day(akinai: Akinai, folder: Path) -> None:
    """The page of one run has its findings, as a timeline and one by one, and how well the thread was kept."""
    lines = [json.dumps({"action": "RESTOCK_SLOT", "slots": []})] * 8 + ['"no action at all"'] * 4
    (folder / "bad.jsonl").write_text("\n".join([*lines, '{"action": "ADVANCE_DAY"}']) + "\n")
    play(akinai, "s", agent="script:bad.jsonl", seeds="1")
    document = akinai("analyze", "s", "--json").json["runs"][0]
    types = document["findings"]["types"]
    assert types
    assert sum(types.values()) == len(document["findings"]["list"])
    page = akinai("analyze", "s").out
    assert "how the thread was kept" in page
    assert "a mark is a day" in page
    for name in types:
        assert name.replace("_", " ") in page


def test_compare_page_names_what_is_in_no_figure(akinai: Akinai) -> None:
    """Seeds that one side alone played are named, and what sets the two apart is said."""
    play(akinai, "a", seeds="1-3")
    play(akinai, "b", "idle", "2-5", "--set", "fee_cents=250")
    page = akinai("compare", "a", "b", "--gain", "5").out
    assert page.startswith("a and b cannot be told apart yet: 2 seeds can show no difference, 6 can.")
    assert "\n\nb against a: 2 pairs by seed" in page
    assert page.count("Also measured") == 1
    assert "-$4.50" in page
    assert "the gain" in page
    assert "Only a played seed 1, in no figure here." in page
    assert "Only b played seeds 4-5, in no figure here." in page
    assert "a has fee_cents=200; b has fee_cents=250." in page
    document = akinai("compare", "a", "b", "--json").json
    assert document["seeds"]["common"] == [2, 3]
    assert document["scores"]["net_worth"]["difference"] == -450


def test_compare_without_common_seeds_says_so(akinai: Akinai) -> None:
    """No seed in common: means are compared, and the page does not speak of pairs."""
    play(akinai, "a", agent="naive", seeds="1-3")
    play(akinai, "b", seeds="4-6")
    answer = akinai("compare", "a", "b")
    assert answer.code == 0
    assert "\n\nb against a: no seed in common, 3 runs against 3" in answer.out
    assert "losses" not in answer.out
    document = akinai("compare", "a", "b", "--json").json
    assert (document["paired"], document["seeds"]["common"]) == (False, [])
    assert document["scores"]["net_worth"].keys() >= {"n_a", "n_b", "difference", "ci95", "mde"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("analyze", "b"), "no run 'b'"),
        (("analyze", "a", "--jobs", "0"), "jobs is a whole number of at least 1"),
        (("analyze",), "missing argument"),
        (("compare", "a", "b"), "no run 'b'"),
        (("compare", "a", "a"), "'a' against itself"),
        (("compare", "a-1", "a-2", "--gain", "-3"), "--gain wants an amount above 0"),
    ],
)
def test_bad_words_are_told(akinai: Akinai, words: tuple[str, ...], sentence: str) -> None:
    """What cannot be analysed as asked is one sentence and exit code 2."""
    play(akinai, "a", seeds="1-2")
    answer = akinai(*words)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


@pytest.mark.slow
def test_runs_that_repeat_themselves_show_in_every_table(akinai: Akinai, folder: Path) -> None:
    """Of a player that repeats itself to no effect: the list of runs, their analysis, comparison and report."""
    (folder / "bad.txt").write_text('{"action": "WAIT_UNTIL", "hour": 0}\n' * 9, encoding="utf-8")
    play(akinai, "loops", f"script:{folder / 'bad.txt'}", "1-2", "--max-repeats", "3")
    play(akinai, "good", seeds="1-2")
    assert akinai("runs").out.count("stuck") == 2
    assert "All ended: 2 stuck." in akinai("analyze", "loops").out
    edit("UPDATE runs SET status = 'failed', ending = NULL WHERE run_id = 'loops-2'")
    assert "Endings: 1 stuck." in " ".join(akinai("analyze", "loops").out.split())
    edit("UPDATE runs SET status = 'done', ending = 'stuck' WHERE run_id = 'loops-2'")
    assert "Endings: loops 2 stuck; good 2 horizon." in akinai("compare", "loops", "good").out
    assert "Endings: loops 2 stuck; loops-1 1 stuck." in akinai("compare", "loops", "loops-1").out
    assert "Endings" not in akinai("compare", "good", "good-1").out
    assert akinai("compare", "loops", "good", "--json").json["a"]["endings"] == {"stuck": 2}
    akinai("report", "loops", "good", "--output", "page")
    for page in ("report.html", "report.md"):
        assert (folder / "page" / page).read_text(encoding="utf-8").count("stuck") >= 3


@pytest.mark.slow
def test_the_scale_that_the_docs_quote_is_so(akinai: Akinai) -> None:
    """`bargainer` on seeds 1 and 2 of the quarter, word by word, on the page about scores in both languages."""
    assert akinai("run", "vending", "--agent", "bargainer", "--seeds", "1-2", "--name", "mine").code == 0
    answer = " ".join(akinai("analyze", "mine").out.split())
    for page in (DOCS / "scores.md", DOCS / "ja" / "scores.md"):
        quote = [line[2:] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("> ")]
        assert " ".join(quote) in answer
