"""What people see: tables that fit their terminal, and sentences that name the next command."""

import csv
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from akinai import run
from akinai.core.ledger import Genesis
from akinai.core.money import format_cents
from akinai.core.presentation.tables import Column, Grid
from akinai.core.stores import RunHeader
from akinai.report.language import Language, translate_cell
from akinai.report.page.document import Link
from akinai.report.tables.columns import fit_table
from akinai.report.tables.runs import player_label
from akinai.runtime.sync import wait
from akinai.stores import open_store
from command_line import Akinai

MONEY = re.compile(r"-?\$[\d,]+\.\d\d")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a group by the naive player and one by the reference player."""
    store = tmp_path_factory.mktemp("played") / "akinai.db"
    for agent in ("naive", "reference"):
        run("vending", agent=agent, seeds="1-3", days=20, name=agent, store=str(store), jobs=1, preset="classic")
    return store


@pytest.mark.parametrize("words", [(), ("playbook",), ("market",)])
def test_a_name_of_commands_alone_is_a_question(akinai: Akinai, words: tuple[str, ...]) -> None:
    """`akinai` and `akinai playbook` alone list their commands, which is no mistake."""
    answer = akinai(*words)
    assert (answer.code, answer.err) == (0, "")
    assert "Usage: akinai" in answer.out
    assert "COMMAND" in answer.out.upper()


def test_who_played_is_told_with_its_models() -> None:
    """An agent stands with its model, and beside it the sides that have a model of their own; a label alone."""

    def label(agent: str, card: dict[str, Any]) -> str:
        return player_label(RunHeader("run", Genesis("vending@3", 1, {}), {"owner": agent}, 0, card=card))

    groups = {"group_models": {"customers": "openai:small"}}
    assert label("careful", {}) == "careful"
    assert label("chat", {"model": "openai:big", "agent_spec": {}}) == "chat openai:big"
    assert label("careful", {"model": None, "agent_spec": groups}) == "careful, customers openai:small"
    assert label("session", {"client": {"agent": "mine", "model": "x"}}) == "mine x"
    assert label("session", {"client": {"agent": "mine", "model": "x"}, "label": "first"}) == "first"


@pytest.fixture
def groups(played: Path, folder: Path) -> None:
    """The same in the working folder."""
    shutil.copy(played, folder)


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("width", [80, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("analyze", "reference"),
        ("analyze", "naive", "reference"),
        ("analyze", "reference-1"),
        ("compare", "naive", "reference", "--gain", "10"),
        ("diff", "naive-1", "reference-1"),
        ("worlds",),
        ("worlds", "vending"),
        ("run", "--help"),
    ],
    ids=" ".join,
)
def test_every_page_fits_its_terminal(
    akinai: Akinai, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], width: int
) -> None:
    """No line is wider than the terminal, no cell is cut, and no colour code goes into a pipe."""
    monkeypatch.setenv("COLUMNS", str(width))
    answer = akinai(*words)
    assert answer.code == 0
    assert max(len(line) for line in answer.out.splitlines()) <= width
    assert "…" not in answer.out
    assert "\x1b" not in answer.out


@pytest.mark.usefixtures("groups")
def test_a_table_as_csv_is_the_documents(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """--csv prints one table with every column, in dollars and in English, with the numbers of --json."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("AKINAI_LANG", "ja")

    def rows(*words: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(akinai(*words, "--csv").out)))

    groups = akinai("analyze", "naive", "reference", "--json").json["groups"]
    means = {name: group["scores"]["net_worth"]["mean"] / 100 for name, group in groups.items()}
    assert {row["group"]: float(row["mean net worth (dollars)"]) for row in rows("analyze", "naive", "reference")} == (
        pytest.approx(means)
    )
    compared = akinai("compare", "naive", "reference", "--json").json["scores"]["net_worth"]
    first, *others = rows("compare", "naive", "reference")
    assert (first["score"], first["unit"]) == ("net worth", "dollars")
    assert float(first["difference"]) == pytest.approx(compared["difference"] / 100)
    assert float(first["p"]) == pytest.approx(compared["p"])
    assert others
    listed = rows("runs")
    assert [row["run"] for row in listed] == [run["run"] for run in akinai("runs", "--json").json["runs"]]
    assert {row["ending"] for row in listed} == {"horizon"}


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "naive", "reference"),
        ("compare", "naive", "reference", "--gain", "10"),
        ("leaderboard", "naive", "reference"),
    ],
    ids=lambda words: words[0],
)
def test_the_table_in_a_document_is_the_csv(akinai: Akinai, words: tuple[str, ...]) -> None:
    """--json holds the table of --csv cell by cell, every figure a number, amounts in cents where a CSV has dollars."""
    document = akinai(*words, "--json").json
    table = document["table"] if "table" in document else document["boards"][0]["table"]
    heads, *rows = csv.reader(io.StringIO(akinai(*words, "--csv").out))
    if "unit" in heads:
        rows = [[cell for head, cell in zip(heads, row, strict=True) if head != "unit"] for row in rows]
        heads.remove("unit")
    assert [head.partition(" (")[0] for head in heads] == table["heads"]
    assert len(rows) == len(table["rows"]) > 0
    units = [[unit] * len(rows) if isinstance(unit, str) else unit for unit in table["units"]]
    for row, cells, of in zip(table["rows"], rows, zip(*units, strict=True), strict=True):
        for head, value, cell, unit in zip(heads, row, cells, of, strict=True):
            if isinstance(value, int | float):
                parts = 100 if unit == "cents" else 0.01 if head.endswith("(percent)") else 1
                assert float(cell) == pytest.approx(value / parts)
            else:
                assert cell == (value or "")
                assert not MONEY.search(cell)


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_figure_of_a_comparison_has_one_line(
    akinai: Akinai, monkeypatch: pytest.MonkeyPatch, language: Language
) -> None:
    """At a common width no name is broken for a column that matters less, and types of findings are translated too."""
    akinai(
        "run", "vending", "--agent", "idle", "--seeds", "1-3", "--days", "30", "--name", "idle", "--preset", "classic"
    )
    rows = list(csv.DictReader(io.StringIO(akinai("compare", "reference", "idle", "--csv").out)))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("AKINAI_LANG", language)
    lines = akinai("compare", "reference", "idle").out.splitlines()
    names = [translate_cell(row["score"], language) for row in rows]
    assert {"a month", "dollars"} <= {row["unit"] for row in rows}
    assert not [name for name in names if not any(line.startswith(f"{name} ") for line in lines)]
    assert not [name for name in names if language == "ja" and name.isascii()]


def test_a_cell_of_a_csv_is_spelled_and_what_is_absent_is_empty() -> None:
    """A name that a spreadsheet would calculate is marked, an unknown number is an empty cell, a number has its unit
    in the head, and rows of several units have a column for them."""
    names, unknown = Column("group", ["=1+1", "-"], words=True), Column("share", [0.5, None], unit="percent")
    assert Grid([names, unknown]).csv.splitlines() == ["group,share (percent)", "'=1+1,50.0", ","]
    mixed = Column("mean", [-57, 2], unit=["cents", "units"])
    assert Grid([names, mixed]).csv.splitlines() == ["group,unit,mean", "'=1+1,dollars,-0.57", ",units,2"]


def test_an_interval_stands_in_brackets_for_people_and_in_columns_for_programs() -> None:
    """A mean with its interval is one cell on a terminal and three numbers in a CSV and in JSON, in every unit."""
    share = Column("at best", [0.5, None, 1.0], unit="percent", ends=[(0.25, 0.75), None, None])
    cost = Column("cost", [120, -57, None], unit="cents", ends=[None, (-114, 0), None])
    table = Grid([Column("group", ["a", "b", "c"], words=True), share, cost]).in_order([1, 0, 2])
    assert table.rows == [
        ("b", "-", "-$0.57 (-$1.14 to $0.00)"),
        ("a", "50 % (25 to 75 %)", "$1.20"),
        ("c", "100 %", "-"),
    ]
    assert table.csv.splitlines() == [
        'group,at best (percent),"at best, 95 % from (percent)","at best, 95 % to (percent)",'
        'cost (dollars),"cost, 95 % from (dollars)","cost, 95 % to (dollars)"',
        "b,,,,-0.57,-1.14,0.0",
        "a,50.0,25.0,75.0,1.2,,",
        "c,100.0,,,,,",
    ]
    assert table.to_json() == {
        "heads": [
            "group",
            "at best",
            "at best, 95 % from",
            "at best, 95 % to",
            "cost",
            "cost, 95 % from",
            "cost, 95 % to",
        ],
        "units": ["", "share", "share", "share", "cents", "cents", "cents"],
        "rows": [
            ["b", None, None, None, -57, -114, 0],
            ["a", 0.5, 0.25, 0.75, 120, None, None],
            ["c", 1.0, None, None, None, None, None],
        ],
    }
    linked = Link("run 1", "runs/1.html")
    assert Grid([Column("run", [linked, "run 2"], words=True)]).rows[0][0] is linked
    mixed = Grid([Column("mean", [3, 0.5, 0.01], unit=["cents", "", "p"])])
    assert mixed.to_json() == {"heads": ["mean"], "units": [["cents", "", ""]], "rows": [[3], [0.5], [0.01]]}


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_number_is_cut(akinai: Akinai, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Every amount on a page is one of the document's, whole; net worth and its statistics are always there."""
    document = akinai("analyze", "reference", "--json").json
    monkeypatch.setenv("COLUMNS", str(width))
    page = akinai("analyze", "reference").out
    money = {name for name, score in document["runs"][0]["scores"].items() if score["unit"] == "cents"}
    amounts = {format_cents(run["scores"][name]["value"]) for run in document["runs"] for name in money}
    (group,) = document["groups"].values()
    for name in money:
        score = group["scores"][name]
        figures = [score["mean"], score["median"], score["min"], score["max"], *(score["ci95"] or ()), score["mde"]]
        figures += [group["scale"][player][name] for player in ("idle", "reference")]
        amounts |= {format_cents(round(figure)) for figure in figures if figure is not None}
    printed = set(MONEY.findall(page))
    assert printed <= amounts
    worth = document["summary"]["net_worth"]
    always = [worth["mean"], *(worth["ci95"] or ()), *(run["scores"]["net_worth"]["value"] for run in document["runs"])]
    assert {format_cents(round(amount)) for amount in always} <= printed


@pytest.mark.usefixtures("groups")
def test_wide_terminal_shows_all_scores(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is room nothing is left out; where there is not, the page says what."""
    monkeypatch.setenv("COLUMNS", "160")
    assert "not shown" not in akinai("analyze", "reference").out
    monkeypatch.setenv("COLUMNS", "60")
    assert "not shown: " in akinai("analyze", "reference").out


columns = st.lists(
    st.builds(
        Column,
        st.text("abc ", min_size=1, max_size=20).map(str.strip).filter(bool),
        st.lists(st.integers(-(10**9), 10**9).map(format_cents), min_size=3, max_size=3),
        st.booleans(),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=9,
)


def page_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=2000)
    console.print(table)
    return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue] - the StringIO above


def width_of(table: Table) -> int:
    return max(len(line.rstrip()) for line in page_of(table).splitlines() if "not shown: " not in line)


@given(columns, st.integers(30, 130))
def test_columns_are_whole_and_fit(table_columns: list[Column], width: int) -> None:
    """A table shows what it must with every cell whole, what else fits into the width, and says what it left out."""
    must = [column for column in table_columns if not column.drop]
    table = fit_table(table_columns, width)
    page = page_of(table)
    assert all(cell in page for column in must for cell in column.cells)
    assert ("not shown: " in page) == (len(table.columns) < len(table_columns))
    if table.columns:
        assert width_of(table) <= max(width, width_of(fit_table(must, 1)) if must else 0)


@pytest.mark.usefixtures("groups")
def test_pages_name_the_next_command(akinai: Akinai) -> None:
    """After a run the page offers commands, and they work as they stand."""
    page = akinai(
        "run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-2", "--days", "4", "--name", "x"
    ).out
    steps = [line.strip().split()[1:] for line in page.splitlines() if line.startswith("  akinai ")]
    assert len(steps) == 3
    assert [akinai(*step).code for step in steps] == [0, 0, 0]


def test_alone_it_tells_what_it_can_do(akinai: Akinai) -> None:
    """Without words the help is shown, with every command."""
    answer = akinai()
    assert answer.code == 0
    for command in "worlds run resume fork replay verify runs analyze compare diff export".split():
        assert f" {command} " in answer.out
    assert akinai("--version").out.startswith("akinai ")


def test_empty_store_offers_a_first_run(akinai: Akinai) -> None:
    """`runs` of a store without runs says so, with the command that plays one."""

    async def make() -> None:
        await (await open_store("akinai.db")).close()

    wait(make())
    assert akinai("runs").out.startswith("no runs yet\n\nNext:\n  akinai run vending\n")


def test_third_party_world_joins(akinai: Akinai, plugins: object) -> None:
    """A world that another package brings is listed and played as ours are."""
    assert "lemonade@1" in akinai("worlds").out
    page = akinai("worlds", "lemonade").out
    assert all(word in page for word in ("frugal", "make_lemonade", "start_cents", "default"))
    answer = akinai("run", "lemonade", "--days", "3", "--seeds", "1-2", "--json")
    assert (answer.code, [run["days"] for run in answer.json["runs"]]) == (0, [3, 3])


def test_world_page_tells_all_of_vending(akinai: Akinai) -> None:
    """`worlds vending` shows presets, players, verbs, settings with their meaning, and the products to draw from."""
    page = akinai("worlds", "vending").out
    words = "quarter classic paper year idle naive reference script:FILE send_email advance_day demand.footfall catalog.products"
    assert all(word in page for word in words.split())
    assert "Taken from cash at the end of each day." in page
    for product in "iced_tea sparkling_water ginger_ale pretzels egg_sandwich noodle_bowl sushi_box melon_bun".split():
        assert f"\n{product} " in page


def test_each_player_of_a_world_has_a_line_of_its_own(akinai: Akinai) -> None:
    """Nobody has to guess in what `careful` differs from `informed`."""
    for world in akinai("worlds", "--json").json["worlds"]:
        about = [player["about"] for player in world["agents"]]
        assert len(set(about)) == len(about)


def test_help_loads_nothing_heavy() -> None:
    """`--help` waits for no pydantic, no numpy, no world, no store and no event loop."""
    heavy = ("pydantic", "numpy", "sqlite3", "asyncio", "akinai.worlds", "akinai.runtime.config", "akinai.stores")
    script = (
        "import sys\nfrom akinai.cli import main\ntry: main(['--help'])\n"
        f"except SystemExit: print('loaded:', [m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"
