"""Short ways to write what an agent does in the vending world: one function a verb, and marks for the entries that show
a mistake.

Texts may hold the truth of the moment: "I have {cash:*0.04} left" tells a twenty-fifth of the cash (see `truth`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from akinai.core.actions import Action, Unreadable
from akinai.runtime.config import prepare
from akinai.worlds.vending import Vending
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.setup import Setup

NORTHBAY = "orders@northbay-wholesale.com"
GGBEV = "sales@ggbev.com"
FRESHCART = "hello@freshcart-kitchen.com"
VALUEBULK = "trade@valuebulk-snacks.com"
IDENTITY = "Delivery address: Akinai Vending, 88 Harbor Street, Alameda\nPlease charge account AV-20418."


@dataclass(frozen=True, slots=True)
class Act:
    """One action of whoever's turn it is, with what is said beside it."""

    action: Action
    said: str = ""
    code: str | None = None
    """The refusal it must meet; None: it must be accepted."""
    marked: bool = False
    """It belongs to what the case is about."""


Moves = Act | Iterable["Moves"]
Fill = tuple[int, int, str, int]
"""Row, column, product, units."""
Tag = tuple[int, int, int]
"""Row, column, cents."""


def flat(*moves: Moves) -> tuple[Act, ...]:
    """Nested moves in one row."""
    return tuple(act for move in moves for act in ((move,) if isinstance(move, Act) else flat(*move)))


def here(*moves: Moves) -> tuple[Act, ...]:
    """Moves that are what the case is about."""
    return tuple(replace(act, marked=True) for act in flat(*moves))


def refused(code: str, *moves: Moves) -> tuple[Act, ...]:
    """Moves that must each be refused with this code."""
    return tuple(replace(act, code=code) for act in flat(*moves))


def saying(said: str, *moves: Moves) -> tuple[Act, ...]:
    """Moves, with a text beside the first."""
    first, *rest = flat(*moves)
    return (replace(first, said=said), *rest)


def order(supplier: str, **units: int) -> Act:
    return Act(a.PlaceOrder(supplier_id=supplier, items=units))


def letter(to: str, body: str, subject: str = "") -> Act:
    return Act(a.SendEmail(to=to, subject=subject, body=body))


def order_letter(to: str, head: str = "Please send us:", /, **units: int) -> Act:
    goods = "\n".join(f"- {count} units of {product.replace('_', ' ')}" for product, count in units.items())
    return letter(to, f"{head}\n{goods}\n{IDENTITY}", "Order")


def next_day(days: int = 1) -> tuple[Act, ...]:
    return (Act(a.AdvanceDay()),) * days


def until(hour: int) -> Act:
    return Act(a.WaitUntil(hour=hour))


def restock(*fills: Fill) -> Act:
    told = [a.RestockSlot.Fill(row=r, column=c, product_id=product, quantity=n) for r, c, product, n in fills]
    return Act(a.RestockSlot(slots=tuple(told)))


def price(*tags: Tag) -> Act:
    return Act(a.SetPrice(prices=tuple(a.SetPrice.Tag(row=r, column=c, price_cents=cents) for r, c, cents in tags)))


def clear(row: int, column: int) -> Act:
    return Act(a.ClearSlot(row=row, column=column))


def search(query: str) -> Act:
    return Act(a.SearchWeb(query=query))


def note(text: str, *, append: bool = False) -> Act:
    return Act(a.NotepadWrite(text=text, append=append))


def keep(key: str, content: str) -> Act:
    return Act(a.UpdateNotes(key=key, content=content))


def remember(text: str) -> Act:
    return Act(a.AddMemory(text=text))


COLLECT = Act(a.CollectCash())
INVENTORY = Act(a.GetMachineInventory())
BALANCE = Act(a.GetMoneyBalance())
DELIVERIES = Act(a.CheckDeliveries())
STORAGE = Act(a.ListStorage())
INBOX = Act(a.ReadEmail())
NOTEPAD = Act(a.NotepadRead())


def mumble(*texts: str) -> tuple[Act, ...]:
    """Replies in which no action can be read."""
    return tuple(Act(Unreadable.of(text, "the reply holds no action"), code="no_action") for text in texts)


def by_mail_assistant(task: str, *moves: Moves, report: str = "Done.") -> tuple[Act, ...]:
    """A task for the e-mail sub-agent, what it does, and its report."""
    return (Act(a.DelegateEmail(task=task)), *flat(*moves), Act(a.Report(text=report)))


def by_researcher(task: str, *moves: Moves, report: str = "Done.") -> tuple[Act, ...]:
    """The same for the research sub-agent."""
    return (Act(a.DelegateResearch(task=task)), *flat(*moves), Act(a.Report(text=report)))


def by_hands(task: str, *moves: Moves, report: str = "Done.") -> tuple[Act, ...]:
    """The same for the sub-agent at the machine, in the preset `paper`."""
    return (Act(a.DelegatePhysical(task=task)), *flat(*moves), Act(a.Report(text=report)))


@cache
def catalog_setup() -> Setup:
    return Setup.model_validate(prepare(Vending()).setup)


def layout(units: Mapping[str, int]) -> tuple[tuple[Fill, ...], tuple[Tag, ...]]:
    """Fills and list prices that put each product into a slot of its own, as much as fits."""
    setup, fills, tags = catalog_setup(), list[Fill](), list[Tag]()
    taken = {"small": 0, "large": setup.small_slots}
    for product, count in units.items():
        one = setup.catalog.by_id[product]
        row, column = divmod(taken[one.size], setup.columns)
        taken[one.size] += 1
        capacity = setup.small_capacity if one.size == "small" else setup.large_capacity
        fills.append((row, column, product, min(count, capacity)))
        tags.append((row, column, one.reference_cents))
    return tuple(fills), tuple(tags)


def open_shop(**units: int) -> tuple[Act, ...]:
    """Order from Northbay on the first morning, restock after the delivery of day 4, price as everybody does.

    The first small product stands in row 0, column 0, the first large one in row 2, column 0, the others to the right.
    """
    fills, tags = layout(units)
    return flat(order("northbay", **units), next_day(3), until(14), restock(*fills), price(*tags))


def open_shop_by_hands(**units: int) -> tuple[Act, ...]:
    """The same in the preset `paper`: ordered by mail, restocked by the sub-agent at the machine."""
    fills, tags = layout(units)
    return flat(
        order_letter(NORTHBAY, **units),
        next_day(3),
        until(14),
        by_hands("Restock the machine and set list prices.", restock(*fills), price(*tags)),
    )
