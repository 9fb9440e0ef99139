"""Letters are understood: the corpus of letters, and what suppliers do about them."""

from letters_for_tests import corpus, judged, read, share_right

SEEN = [example for example in corpus() if not example.held_out]


def test_no_letter_orders_that_orders_nothing() -> None:
    """No letter of the corpus is read as an order or a confirmation unless it is one by hand."""
    assert [
        example.body
        for example in SEEN
        if not example.orders and {i.kind for i in read(example)} & {"order", "confirm"}
    ] == []


def test_what_letters_want_is_read() -> None:
    """At least 95 per cent of the intents are read right: kind, goods, prices and numbers."""
    assert share_right({example: judged(example) for example in SEEN}) >= 0.95
