"""Populations of any size: their structure, their files, their yardsticks, and what players make of them."""

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trading import POPULATIONS, needs_populations

import akinai
from akinai.core.chance import Chance
from akinai.core.errors import UsageError
from akinai.runtime.export.generate import generate_files
from akinai.worlds.market import Market
from akinai.worlds.market.model.setup import Business, Customer, Population, PopulationSettings, read_setup
from akinai.worlds.market.populations.baselines import baselines, best_cents, options_by_customer
from akinai.worlds.market.populations.files import population_texts, read_population, record_text
from akinai.worlds.market.populations.generated import POOL, STYLES, generate, suitable
from akinai.worlds.market.populations.words import WORDS
from akinai.worlds.market.rules.members import population

SETTINGS = [PopulationSettings(kind=kind, language=language) for kind, language in WORDS]
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
PRICES = st.floats(0, 1e9) | st.integers(0, 10**9)


def welfare(agent: str, **setup: object) -> int | float:
    (run,) = akinai.run("market", agent=agent, settings=setup, seeds=int(str(setup.pop("seed", 1))))
    assert run.header.error is None
    return next(score.value for score in run.scores if score.name == "welfare")


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda item: f"{item.kind}-{item.language}")
def test_each_customer_has_three_menu_matches_and_two_full_ones(settings: PopulationSettings) -> None:
    """The structure of the public sets, in any kind and language: one to three items, one or two needs, 3 and 2."""
    people = generate(Chance.of(5), 40, 120, settings)
    options = options_by_customer(people)
    assert {len(mine) for mine in options} == {3}
    assert {sum(item.suits for item in mine) for mine in options} == {2}
    assert {len(customer.menu_features) for customer in people.customers} == {1, 2, 3}
    assert {len(customer.amenity_features) for customer in people.customers} == {1, 2}
    assert {len(business.amenity_features) for business in people.businesses} == {10}
    assert all(11 <= len(business.menu_features) <= 18 for business in people.businesses)
    assert set(Counter(business.progenitor_customer for business in people.businesses).values()) == {3}
    for customer in people.customers:
        assert all(text in customer.request for text in (*customer.menu_features, *customer.amenity_features))


@given(st.integers(0, 2**63 - 1), st.integers(1, 12), st.integers(0, 40), st.sampled_from(SETTINGS))
def test_any_size_keeps_the_share_of_full_matches(
    seed: int, customers: int, businesses: int, settings: PopulationSettings
) -> None:
    """However many there are, a customer's own businesses match its menu and two in three match in full; each gain is
    above zero."""
    people = generate(Chance.of(seed), customers, businesses, settings)
    own = Counter(business.progenitor_customer for business in people.businesses)
    for customer, mine in zip(people.customers, options_by_customer(people), strict=True):
        assert len(mine) == own[customer.id]
        assert sum(item.suits for item in mine) == (suitable(len(mine)) if mine else 0)
        assert all(item.utility_cents > 0 for item in mine if item.suits)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda item: f"{item.kind}-{item.language}")
def test_no_item_is_part_of_another(settings: PopulationSettings) -> None:
    """A request that names an item names no other one by the way."""
    words = WORDS[settings.kind, settings.language]
    assert [len(set(part)) for part in words.parts] == [20, 20, 20]
    assert 8 * POOL < 20**3 // 2
    assert STYLES == 8
    names = [words.item.format(*part) for part in itertools.product(*words.parts)]
    item_names = set(names)
    longest = max(map(len, names))
    for name in names[::11]:
        pieces = {name[i:j] for i in range(len(name)) for j in range(i + 1, min(len(name), i + longest) + 1)}
        assert pieces & item_names == {name}


@pytest.mark.parametrize("seed", [3, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda item: f"{item.kind}-{item.language}")
def test_careful_reaches_the_best_possible_and_nobody_exceeds_it(settings: PopulationSettings, seed: int) -> None:
    """The yardstick is tight, in any kind and language; other players come to less or the same."""
    setup = {"customers": 4, "population": settings.model_dump(), "seed": seed}
    genesis = akinai.run("market", settings={"customers": 4, "population": settings.model_dump()}, seeds=seed)[
        0
    ].ledger.genesis
    best = best_cents(population(read_setup(genesis.setup), genesis))
    came = {name: welfare(name, **setup) for name in Market.players}
    assert came["careful"] == best == max(came.values())
    assert came["first"] < best


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**63 - 1), st.integers(1, 7), st.integers(0, 25), st.sampled_from(SETTINGS), st.booleans())
def test_the_best_possible_bounds_every_market(
    seed: int, customers: int, businesses: int, settings: PopulationSettings, identical: bool
) -> None:
    """The same law for any size, seed and kind, also where there is nobody to buy from."""
    settings = settings.model_copy(update={"identical": identical})
    setup = {"customers": customers, "businesses": businesses, "population": settings.model_dump()}
    people = generate(Chance.of(seed), customers, businesses, settings)
    for name in Market.players:
        (run,) = akinai.run("market", agent=name, settings=setup, seeds=seed)
        assert run.header.error is None
        people = population(read_setup(run.ledger.genesis.setup), run.ledger.genesis)
        came = next(score.value for score in run.scores if score.name == "welfare")
        assert came == best_cents(people) if name == "careful" else came <= best_cents(people)


def test_a_written_population_is_the_one_that_a_market_makes(tmp_path: Path) -> None:
    """From files or made on the way, one seed, size and kind is one population, and the run has the same entries."""
    generate_files("market", tmp_path / "ja", customers=3, businesses=8, seed=7, language="ja", kind="contractors")
    settings = {"customers": 3, "businesses": 8, "population": {"kind": "contractors", "language": "ja"}}
    first, other = (
        akinai.run("market", seeds=7, settings=setup)[0] for setup in ({"data": str(tmp_path / "ja")}, settings)
    )
    assert [entry.outcome for entry in first.ledger.entries] == [entry.outcome for entry in other.ledger.entries]
    assert len(first.ledger.entries) > 20


def read_back(people: Population) -> Population:
    return Population.model_validate(read_population(dict(population_texts(people))))


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda item: f"{item.kind}-{item.language}")
def test_what_was_written_is_read_back(settings: PopulationSettings) -> None:
    """Reading the files gives the population, in its order."""
    people = generate(Chance.of(3), 10, 31, settings)
    assert read_back(people) == people


@given(TEXTS, TEXTS, st.dictionaries(TEXTS, PRICES, max_size=4), st.lists(TEXTS, max_size=3))
def test_any_text_and_price_survives_the_writing(
    name: str, request: str, menu: dict[str, float], needs: list[str]
) -> None:
    """Colons, quotes, line ends, what YAML takes for numbers or answers: text is read back as it was."""
    buyer = Customer(id="a", name=name, request=request, menu_features=menu, amenity_features=tuple(needs))
    seller = Business(
        id="b",
        name=name,
        description=request,
        rating=4,
        menu_features=menu,
        amenity_features=dict.fromkeys(needs, True),
    )
    people = Population(customers=(buyer,), businesses=(seller,))
    assert read_back(people) == people


@pytest.mark.slow
def test_the_files_are_these_bytes_in_every_process(tmp_path: Path) -> None:
    """A hash seed, a locale or a process changes no byte: written twice, and known by a digest."""
    generate_files("market", tmp_path / "one", customers=4, businesses=12, seed=3, language="ja")
    code = f"from akinai.runtime.export.generate import generate_files as w; w('market', {str(tmp_path / 'two')!r}, customers=4, businesses=12, seed=3, language='ja')"
    around = {**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", code], check=True, env=around)
    first, two = (
        {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == two
    assert len(first) == 17
    from hashlib import sha256

    digest = sha256(b"".join(first[name] for name in sorted(first))).hexdigest()
    assert digest[:16] == "1f61d7732ce50623"


def test_a_record_reads_as_the_public_files_do() -> None:
    """Field order and layout of the public format, for human eyes."""
    buyer = Customer(
        id="customer_0001",
        name="Ann",
        request="Tea?",
        menu_features={"No": 2, "Tea": 0.5},
        amenity_features=("生演奏",),
    )
    assert record_text(buyer).splitlines() == [
        "id: customer_0001",
        "name: Ann",
        'request: "Tea?"',
        "menu_features:",
        '  "No": 2',
        "  Tea: 0.5",
        "amenity_features:",
        '- "生演奏"',
    ]


@needs_populations
@pytest.mark.parametrize("size", ["3x9", "10x30", "33x99"])
def test_baselines_agree_with_the_published_ones(size: str) -> None:
    """Cheapest and best possible equal the published figures to the cent; the medians are inside sampling error."""
    home = POPULATIONS / size
    texts = {path.relative_to(home).as_posix(): path.read_text() for path in sorted(home.rglob("*.yaml"))}
    document = baselines(Population.model_validate(read_population(texts)), Chance.of(1)).to_json()
    published = json.loads((home / "baseline_utilities.json").read_text())
    for name in ("pick_cheapest_baseline", "pick_optimal_baseline"):
        assert document[name]["constant"] == round(published[name]["constant"], 2)
    for name in ("pick_any_baseline", "pick_any_with_amenities_baseline"):
        assert document[name].keys() == published[name].keys()
        wide = published[name]["q3"] - published[name]["q1"]
        assert abs(document[name]["median"] - published[name]["median"]) < 0.6 * wide


def test_an_empty_market_has_baselines_of_nothing() -> None:
    """Nobody to choose and nothing to choose from is 0 and no crash."""
    for customers, businesses in ((0, 0), (0, 3), (2, 0)):
        yardsticks = baselines(generate(Chance.of(1), customers, businesses), Chance.of(1))
        assert (yardsticks.pick_optimal_cents, yardsticks.pick_cheapest_cents, yardsticks.pick_any.max) == (0, 0, 0)


def test_identical_offers_differ_in_their_id_alone() -> None:
    """What experiments on order and latency want: nothing but the id tells a customer's businesses apart."""
    people = generate(Chance.of(1), 2, 6, PopulationSettings(identical=True))
    for turn in (0, 1):
        first, *twins = (business.model_copy(update={"id": ""}) for business in people.businesses[turn::2])
        assert twins == [first, first]
    assert all(item.suits for mine in options_by_customer(people) for item in mine)


def test_words_that_run_out_come_in_another_edition() -> None:
    """Beyond four thousand customers each still has an item that nobody else wants."""
    people = generate(Chance.of(1), 4_100, 0)
    firsts = [next(iter(customer.menu_features)) for customer in people.customers]
    assert len(set(firsts)) == 4_100


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kind": "cars"}, "kind"),
        ({"language": "fr"}, "language"),
        ({"customers": -1}, "at least one customer, not -1"),
        ({"businesses": 10**6}, "businesses: input should be less"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_made_is_told(tmp_path: Path, options: dict[str, object], why: str) -> None:
    """A bad word or number is named, and no folder appears."""
    with pytest.raises(UsageError, match=why):
        generate_files("market", tmp_path / "new", **({"customers": 1, "businesses": 3} | options))  # type: ignore[arg-type]
    assert not (tmp_path / "new").exists()


def test_a_folder_with_a_population_is_left_alone(tmp_path: Path) -> None:
    """Two populations are not mixed in one folder."""
    generate_files("market", tmp_path, customers=1, businesses=3)
    with pytest.raises(UsageError, match="new or empty"):
        generate_files("market", tmp_path, customers=1, businesses=3)
