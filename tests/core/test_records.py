"""Record: frozen dataclasses that are copied with changes."""

from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from akinai.core.worlds import Record


@dataclass(frozen=True)
class Shop(Record):
    cash: int
    stock: tuple[str, ...] = ()
    open: bool = False


def test_moved_is_replace() -> None:
    """A copy has the changes, shares the rest, and leaves the first as it was; it is frozen like it."""
    shop = Shop(3, ("cola",))
    copy = shop.moved(cash=5, open=True)
    assert copy == replace(shop, cash=5, open=True) == Shop(5, ("cola",), True)
    assert shop == Shop(3, ("cola",)) == shop.moved()
    assert copy.stock is shop.stock
    assert hash(copy) == hash(Shop(5, ("cola",), True))
    with pytest.raises(FrozenInstanceError):
        copy.cash = 7  # pyright: ignore[reportAttributeAccessIssue] - it is what the law is about
