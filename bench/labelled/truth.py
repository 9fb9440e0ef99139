"""What is true of a business at a moment, to be written into texts, exactly or off by a factor.

`{cash}` is "$260.00", `{cash:*0.04}` a twenty-fifth of it, `{cash:~}` in whole dollars; `{stored[water]:+10}` ten units
more than storage holds. `{till}` is the money in the machine, `{shelf[x]}` units in the machine, `{owned[x]}` in both,
`{coming[x]}` on the way, `{day}` today.
"""

from collections.abc import Callable

from akinai.core.actions import Action, Unreadable
from akinai.core.money import format_cents
from akinai.worlds.vending.state import State


class Count(int):
    """A number that texts may bend: `*2`, `+10`, `-3`."""

    def __format__(self, spec: str) -> str:
        return str(round(bent(self, spec)))


class Cents(int):
    """Money in cents that texts may bend by a factor; `~` tells whole dollars."""

    def __format__(self, spec: str) -> str:
        whole, cents = spec.endswith("~"), round(bent(self, spec.removesuffix("~")))
        return f"${round(cents / 100)}" if whole else format_cents(cents)


def bent(value: int, spec: str) -> float:
    match spec[:1]:
        case "":
            return value
        case "*":
            return value * float(spec[1:])
        case "+":
            return value + float(spec[1:])
        case "-":
            return value - float(spec[1:])
        case _:
            raise ValueError(f"{spec!r} bends no number; write *2, +10 or -3")


class _ByProduct(dict[str, Count]):
    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, product: str) -> Count:
        return Count(self._count(product))


def told(text: str, state: State) -> str:
    """A text with the truth of a state written in."""
    if "{" not in text:
        return text

    def stored(product: str) -> int:
        return sum(lot.units for lot in state.storage.get(product, ()))

    def shelf(product: str) -> int:
        return sum(slot.units for slot in state.slots if slot is not None and slot.product == product)

    def coming(product: str) -> int:
        return sum(line.units for order in state.orders for line in order.lines if line.product == product)

    return text.format(
        cash=Cents(state.cash_cents),
        till=Cents(state.machine_cents),
        day=Count(state.day),
        stored=_ByProduct(stored),
        shelf=_ByProduct(shelf),
        owned=_ByProduct(lambda product: stored(product) + shelf(product)),
        coming=_ByProduct(coming),
    )


def written(action: Action, state: State) -> Action:
    """An action with the truth written into its texts."""
    if isinstance(action, Unreadable):
        return action
    texts = {name: value for name, value in action.model_dump().items() if isinstance(value, str) and "{" in value}
    return action.model_copy(update={name: told(value, state) for name, value in texts.items()})
