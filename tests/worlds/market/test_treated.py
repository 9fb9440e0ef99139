"""Treatments by data: businesses of a population that are named as treated, and the share of purchases that they get."""

from pathlib import Path
from typing import Any

import pytest
from keeping import Shell
from trading import business, customer

import akinai
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.runtime.config.settings import prepare
from akinai.worlds.market import Market
from akinai.worlds.market.model.setup import Population
from akinai.worlds.market.populations.files import population_texts
from akinai.worlds.market.populations.manipulation import TEXTS

SHOPS = ("shop1", "shop2", "shop3")
DATA = {"businesses": [business(id) for id in SHOPS], "customers": [customer(id) for id in ("ann", "bob", "eve")]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a population in the public format, whose second shop praises itself."""
    monkeypatch.chdir(tmp_path)
    for name, text in population_texts(Population.model_validate(DATA)):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def setup(*words: str) -> Any:
    return prepare(Market(), settings=["data=data", *words]).setup


@pytest.mark.usefixtures("folder")
def test_a_folder_has_a_treated_share(shell: Shell) -> None:
    """Named on the command line, the sellers of a folder give the share that a manipulation of ours gives."""
    words = ("run", "market", "--set", "data=data", "--agent", "first", "--seeds", "1-3")
    shell(*words, "--name", "by-id", "--set", "treated=shop2,shop3")
    shell(*words, "--name", "plain")
    by_id, plain = shell.figures("by-id"), shell.figures("plain")
    assert "treated_share" not in plain
    rows = shell.analyzed("by-id")["runs"][0]["tables"]["payments_by_business"]
    bought = {row["business"]: row["payments"] for row in rows}
    assert by_id["treated_share"] == pytest.approx((bought["shop2"] + bought["shop3"]) / 3)
    assert by_id["treated_by_chance"] > 0
    assert "treated share" in shell("analyze", "by-id", "plain")


def test_ids_come_from_a_file(folder: Path) -> None:
    """One a line or with commas; remarks and repetitions are left out. In Python a list will do."""
    (folder / "ids.txt").write_text("shop3  # the proud one\n\nshop1, shop3\n")
    assert setup("treated=ids.txt")["treated"] == ["shop3", "shop1"]
    assert setup("treated.file=ids.txt")["treated"] == ["shop3", "shop1"]
    assert setup("treated=shop3, shop1,shop3")["treated"] == ["shop3", "shop1"]
    (run,) = akinai.run("market", settings={"data": "data", "treated": ["shop2"]})
    assert run.ledger.genesis.setup["treated"] == ["shop2"]


@pytest.mark.usefixtures("folder")
def test_a_treatment_that_is_not_set_is_not_in_the_setup() -> None:
    """A market without it has the genesis that it had before."""
    assert "treated" not in setup()


@pytest.mark.usefixtures("folder")
def test_a_manipulation_is_of_the_treated() -> None:
    """With a kind of manipulation the named sellers use its text, and nobody else."""
    genesis_setup = setup("treated=shop2", "manipulation=authority")
    state = Market().begin(Genesis("market@2", 1, genesis_setup))
    added = TEXTS["en"]["authority"].partition("}")[2][:40]
    users = [id for id in SHOPS if added in state.members[id].profile["business"]["description"]]
    assert users == ["shop2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("data=data", "treated=shop4"), "no business 'shop4'"),
        (("data=data", "treated=shop"), "did you mean"),
        (("treated=shop1",), "treated names businesses of the data"),
        (("data=data", "treated.file=no.txt"), "no file or folder"),
        (("data=data", "treated.file=empty.txt"), "there is no id in it"),
        (("data=data", "treated.file=ids.txt", "treated.kind=x"), "leave out treated.kind"),
        (("data=data", "treated=[1]"), "treated"),
        (("data=data", 'treated={"a":1}'), "treated"),
    ],
)
def test_a_bad_name_is_refused(folder: Path, words: tuple[str, ...], message: str) -> None:
    """One line that says what is wrong."""
    (folder / "empty.txt").write_text("# nobody\n")
    (folder / "ids.txt").write_text("shop1\n")
    with pytest.raises(UsageError, match=message) as raised:
        prepare(Market(), settings=[*words])
    assert "\n" not in str(raised.value)
