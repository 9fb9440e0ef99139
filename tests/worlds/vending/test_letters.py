"""Letters are understood: the corpus of letters, and what suppliers do about them."""

import hashlib

import pytest
from letters_for_tests import HERE, SETUP, corpus, judged, read, share_right

from akinai.worlds.vending.letters.meaning import kinds, roles
from akinai.worlds.vending.letters.meaning.kinds import CHARGING, KINDS, kinds_of, rows_of
from akinai.worlds.vending.letters.meaning.roles import ROLES, Row
from akinai.worlds.vending.letters.scan import scan
from akinai.worlds.vending.letters.text import clauses
from akinai.worlds.vending.rules.answers import understand

EVERY = [8, pytest.param(1, marks=pytest.mark.slow)]
"""Every eighth letter, or all."""


@pytest.mark.parametrize("every", EVERY)
def test_no_letter_orders_that_orders_nothing(every: int) -> None:
    """No letter is read as an order or a confirmation unless it is one by hand."""
    innocent = [example for example in corpus()[::every] if not example.orders and not example.held_out]
    assert len(innocent) > 9000 // every
    charged = [example.body for example in innocent if {i.kind for i in read(example)} & set(CHARGING)]
    assert charged == []


@pytest.mark.parametrize("place", ["", "\nAkinai Vending, 88 Harbor Street, Alameda. Account AV-20418."])
def test_words_of_orders_alone_charge_nothing(place: str) -> None:
    """Questions, hearsay, receipts and conditions in the words of an order or a confirmation move no money."""
    lines = (HERE / "innocent.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line.partition("| ")[2] for line in lines]
    assert len(sentences) > 40
    kinds = {sentence: {intent.kind for intent in understand(SETUP, "", sentence + place)[0]} for sentence in sentences}
    assert [sentence for sentence, found in kinds.items() if found & set(CHARGING)] == []


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize(("held_out", "least"), [(False, 0.92), (True, 0.9)], ids=["seen", "held out"])
def test_what_letters_want_is_read(every: int, held_out: bool, least: float) -> None:
    """Intents are read right: kind, goods, prices and numbers. `letters/README.md` has what each set had when first read."""
    examples = [example for example in corpus() if example.held_out is held_out][::every]
    assert len(examples) > 200 // every
    assert share_right({example: judged(example) for example in examples}) >= least


def test_the_networks_add_whole_numbers() -> None:
    """Scores are whole numbers and the same on every machine; a letter is read alike alone and beside others."""
    names = SETUP.catalog.good_names
    said = list(clauses("Thank you for the water.\nPlease send us:\n- Cola: 48\nWhen does it come?", names))
    of_kinds, _ = kinds.scores_of(rows_of("order", said), kinds.weights())
    rows = [Row((), "none", subject=True), Row(scan("Of 24 cola from 311 only 20 came.", names), "claim")]
    of_roles = roles.scores(rows, roles.numbers(rows), roles.weights())
    digests: list[str] = []
    for table in (of_kinds, of_roles):
        assert (table == table.round()).all()
        assert abs(table).max() < 2**40
        digest = hashlib.sha256(" ".join(str(int(score)) for row in table for score in row).encode()).hexdigest()
        digests.append(digest[:16])
    assert (of_kinds.shape, of_roles.shape) == ((5, len(KINDS)), (3, len(ROLES) + 1))
    assert digests == ["640bf9185ef9c1a8", "03e8f84920920b59"]


def test_rows_of_goods_are_of_one_kind() -> None:
    """Rows of a list that hold goods alone are judged together: none of them is ordered while another is not."""
    said = list(clauses("- Water: 48\n- Cola: 24\n- Chips: 12\nAkinai Vending", SETUP.catalog.good_names))
    assert len(set(kinds_of("24 cola, 48 water", said)[1][:3])) == 1


@pytest.mark.parametrize(
    ("letter", "units"),
    [
        ("Cola sells well. Please send another 50 cans.", {"cola": 50}),
        ("Right, energy drinks it is: eighteen of them. Charge the account.", {"energy_drink": 18}),
        ("Cola and water sell well. Please send another 50 cans.", {}),
        ("Please send us a dozen water and twenty-four cola.", {"water": 12, "cola": 24}),
    ],
)
def test_a_bare_quantity_means_the_goods_spoken_of_last(letter: str, units: dict[str, int]) -> None:
    """A quantity without goods is of the product named last; of two products it is of neither."""
    assert dict(understand(SETUP, "", letter)[0][0].items.units) == units
