"""Populations from files, and made by chance."""

from pathlib import Path

import pytest
from trading import POPULATIONS, needs_populations

import akinai
from akinai.core.chance import Chance
from akinai.core.errors import UsageError
from akinai.runtime.config.settings import prepare
from akinai.worlds.market import Market
from akinai.worlds.market.populations.files import read_population
from akinai.worlds.market.populations.generated import generate
from together import together

CUSTOMER = """id: ann
name: Ann
request: Tea, please.
menu_features:
  Tea: 3.5
amenity_features:
- Free Wifi
"""
BUSINESS = """id: grill
name: Grill
description: >-
  Hot food
  and tea.
rating: 4
menu_features:
  Tea: 2
  "it's 100%": 1.25
amenity_features:
  Free Wifi: true
min_price_factor: 0.8
"""


def folder(path: Path, **files: str) -> Path:
    for name, text in {"businesses/grill.yaml": BUSINESS, "customers/ann.yaml": CUSTOMER, **files}.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_a_folder_becomes_the_setup(tmp_path: Path) -> None:
    """`data=FOLDER` puts the population itself into the setup, so that a ledger needs no file; other files are left."""
    setup = prepare(Market(), settings=[f"data={folder(tmp_path, **{'baseline.json': '{'})}"]).setup
    assert setup["data"]["businesses"][0]["menu_features"] == [["Tea", 2], ["it's 100%", 1.25]]
    assert setup["data"]["customers"][0]["amenity_features"] == ["Free Wifi"]
    (run,) = akinai.run("market", settings={"data": str(tmp_path)})
    assert [(score.name, score.value) for score in run.scores][:1] == [("welfare", 500)]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("businesses/b.yaml", BUSINESS.replace("Tea: 2", "Tea: two"), "businesses/b.yaml, line 8, menu_features.Tea"),
        ("businesses/b.yaml", BUSINESS.replace("rating: 4\n", ""), "businesses/b.yaml, line 1, rating: field required"),
        ("businesses/b.yaml", BUSINESS.replace("Tea: 2", "Tea: -2"), "line 8, menu_features.Tea"),
        ("customers/c.yaml", CUSTOMER.replace("- Free", "- [Free"), "customers/c.yaml, line "),
        ("customers/c.yaml", CUSTOMER + "colour: red\n", "line 8, colour: extra inputs are not permitted, not 'red'"),
        ("customers/c.yaml", "", "customers/c.yaml, line 1, the whole file"),
        ("customers/c.yaml", CUSTOMER, "two agents have the id 'ann'"),
    ],
)
def test_a_bad_file_is_named_with_line_and_field(tmp_path: Path, name: str, text: str, where: str) -> None:
    """Whoever wrote a wrong file is told where it is wrong."""
    with pytest.raises(UsageError) as error:
        prepare(Market(), settings={"data": str(folder(tmp_path, **{name: text}))})
    assert where in str(error.value)
    assert "validation error" not in str(error.value)


def test_a_folder_without_a_population_is_refused(tmp_path: Path) -> None:
    """A folder that holds neither side is no population."""
    (tmp_path / "other.txt").write_text("x")
    with pytest.raises(UsageError, match=r"businesses/\*\.yaml"):
        prepare(Market(), settings={"data": str(tmp_path)})


@together(
    ("settings", "why"),
    [
        (["customers=x"], "customers"),
        (["customers=-1"], "customers.count"),
        (["businesses.agent=cheepest"], "businesses.agent"),
        (["clock=sun"], "clock"),
        (["open=true"], "wall clock"),
        (["latency.low_ms=9", "latency.high_ms=8"], "low_ms 9 is above high_ms 8"),
        (["custommers=3"], "did you mean 'customers'"),
    ],
)
def test_bad_settings_are_told(settings: list[str], why: str) -> None:
    """A setting that does not fit is named."""
    with pytest.raises(UsageError) as error:
        prepare(Market(), settings=settings)
    assert why in str(error.value)


def test_data_and_counts_contradict(tmp_path: Path) -> None:
    """Who gives a population does not say how large one to make."""
    with pytest.raises(UsageError, match="leave their counts out"):
        prepare(Market(), settings={"data": str(folder(tmp_path)), "customers": 3})


def test_a_made_population_is_of_its_seed() -> None:
    """The same seed makes the same population, another seed another; a larger one holds the smaller one's customers."""
    first, again, other = (generate(Chance.of(seed), 3, 9) for seed in (1, 1, 2))
    assert first == again != other
    assert generate(Chance.of(1), 5, 15).customers[:3] == first.customers
    assert (len(first.customers), len(first.businesses)) == (3, 9)
    assert all(
        buyer.menu_features.keys() <= seller.menu_features.keys()
        for buyer, seller in zip(first.customers, first.businesses, strict=False)
    )


@needs_populations
@pytest.mark.parametrize("size", ["3x9", "10x30", "33x99"])
def test_public_populations_are_read_as_they_are(size: str) -> None:
    """Every file of the public populations is read, whole."""
    texts = {
        path.relative_to(POPULATIONS / size).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((POPULATIONS / size).rglob("*"))
        if path.is_file()
    }
    data = read_population(texts)
    customers, businesses = map(int, size.split("x"))
    assert (len(data["customers"]), len(data["businesses"])) == (customers, businesses)
