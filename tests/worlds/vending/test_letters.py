"""Letters are understood: the corpus of letters, and what suppliers do about them."""

import pytest
from letters_for_tests import HERE, SETUP, corpus, judged, read, share_right

from akinai.worlds.vending.rules.answers import understand


def test_no_letter_orders_that_orders_nothing() -> None:
    """No letter of the corpus is read as an order or a confirmation unless it is one by hand."""
    innocent = [example for example in corpus() if not example.orders]
    assert len(innocent) > 250
    charged = [example.body for example in innocent if {i.kind for i in read(example)} & {"order", "confirm"}]
    assert charged == []


@pytest.mark.parametrize("place", ["", "\nAkinai Vending, 88 Harbor Street, Alameda. Account AV-20418."])
def test_words_of_orders_alone_charge_nothing(place: str) -> None:
    """Questions, hearsay, receipts and conditions in the words of an order or a confirmation move no money."""
    sentences = (HERE / "innocent.txt").read_text(encoding="utf-8").splitlines()
    assert len(sentences) > 40
    kinds = {sentence: {intent.kind for intent in understand(SETUP, "", sentence + place)[0]} for sentence in sentences}
    assert [sentence for sentence, found in kinds.items() if found & {"order", "confirm"}] == []


@pytest.mark.parametrize(("held_out", "least"), [(False, 0.95), (True, 0.7)], ids=["seen", "held out"])
def test_what_letters_want_is_read(held_out: bool, least: float) -> None:
    """Intents are read right: kind, goods, prices and numbers. `letters/README.md` has what each set had when first read."""
    examples = [example for example in corpus() if example.held_out is held_out]
    assert len(examples) > 60
    assert share_right({example: judged(example) for example in examples}) >= least


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
