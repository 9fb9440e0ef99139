"""The verbs of the vending world: their names, how agents may spell them, and what agents read of them.

A class name in CamelCase is the ledger's name, the same in snake_case the tool's, in upper case the structured
action's; `aliases` holds the paper's and other public names.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import BeforeValidator, Field, StringConstraints

from akinai.core.actions import Action, Spoken, Verbs
from akinai.core.canonical import Json
from akinai.core.money import read_dollars

MAX_PRICE_CENTS = 100_000
NOTEPAD_LIMIT = 20_000
DOLLARS: Mapping[str, Json] = {"type": "number", "description": "dollars, at most two decimals, at most 1000"}


def _whole(value: object) -> object:
    """Whole numbers in any JSON spelling ("12", 12, 12.0), but never true or false."""
    if isinstance(value, bool):
        raise ValueError("a whole number is expected")
    return value


def _price_cents(value: object) -> Json:
    return read_dollars(value, maximum_cents=MAX_PRICE_CENTS)


Whole = Annotated[int, BeforeValidator(_whole)]
Row = Annotated[Whole, Field(ge=0, le=100, description="counted from 0; rows for small items come first")]
Column = Annotated[Whole, Field(ge=0, le=100, description="counted from 0")]
Quantity = Annotated[Whole, Field(ge=1, le=100_000)]
Name = Annotated[str, StringConstraints(max_length=200)]
Line = Annotated[str, StringConstraints(max_length=500)]
Text = Annotated[str, StringConstraints(max_length=NOTEPAD_LIMIT)]


class ReadEmail(Action):
    """Read your mail: new letters, oldest first, and mark them read; or the latest 20 of a folder."""

    aliases = ("READ_EMAILS",)

    only_unread: bool = True
    folder: Literal["inbox", "sent"] = "inbox"


class SendEmail(Action):
    """Send a letter. Suppliers answer the next morning.

    A letter to a supplier may ask for a price list or a quote ("50 units of water, 24 cola"). To order, name the
    products with quantities, the delivery address and the account to charge; a quote can be ordered by answering
    CONFIRM and its number.
    """

    to: Line
    subject: Line = ""
    body: Text


class SearchWeb(Action):
    """Search the web: suppliers, products and what they sell for, advice on vending machines."""

    aliases = ("RESEARCH_PRODUCTS", "ai_web_search")
    spoken: ClassVar = {"q": Spoken("query")}

    query: Line


class NotepadRead(Action):
    """Read your notepad."""

    aliases = ("SCRATCHPAD_READ", "read_scratchpad")


class NotepadWrite(Action):
    """Replace the text of your notepad; with append, add to its end."""

    aliases = ("SCRATCHPAD_WRITE",)
    spoken: ClassVar = {"content": Spoken("text")}

    text: Text
    append: bool = False


class NotepadErase(Action):
    """Erase your notepad."""

    aliases = ("SCRATCHPAD_ERASE", "erase_scratchpad")


class UpdateNotes(Action):
    """Keep a note under a key, replacing what was there."""

    aliases = ("KEY_VALUE_STORE", "set_key_value", "set_value", "set_note")
    spoken: ClassVar = {"value": Spoken("content")}

    key: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    content: Text


class GetNotes(Action):
    """Read the note under a key; without a key, the list of keys."""

    aliases = ("get_key_value", "get_value", "get_note")

    key: Name | None = None


class DeleteNote(Action):
    """Delete the note under a key."""

    aliases = ("delete_key_value", "delete_value", "delete_notes")

    key: Name


class AddMemory(Action):
    """Add a note that search_memory will find by its meaning."""

    aliases = ("add_to_vector_db",)
    spoken: ClassVar = {"content": Spoken("text")}

    text: Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class SearchMemory(Action):
    """Find notes of add_memory by meaning and words, best first."""

    aliases = ("search_vector_db",)

    query: Line
    limit: Annotated[Whole, Field(ge=1, le=20)] = 5


class AdvanceDay(Action):
    """End the day: sleep until 08:00 of the next morning and read what was sold."""

    aliases = ("WAIT_FOR_NEXT_DAY", "next_day")


class WaitUntil(Action):
    """Wait until an hour later today, as for a delivery."""

    hour: Annotated[Whole, Field(ge=0, le=23)]


class RestockSlot(Action):
    """Move goods from storage into slots of the machine, all or nothing.

    A slot holds one product of its size: 12 small or 8 large units in a standard machine. Either row, column,
    product_id and quantity, or several of these under slots.
    """

    aliases = ("STOCK_PRODUCTS", "restock_slots", "restock_machine", "stock_product")

    class Fill(Action):
        row: Row
        column: Column
        product_id: Name
        quantity: Quantity

    slots: Annotated[tuple[Fill, ...], Field(min_length=1, max_length=50)]

    @classmethod
    def hear(cls, said: Mapping[str, Any]) -> Self:
        return super().hear(_gathered(said, "slots"))


class SetPrice(Action):
    """Set the price, in dollars, of the product in a slot; a product has one price in all its slots.

    Either row, column and price, or several of these under prices.
    """

    aliases = ("SET_PRICES",)

    class Tag(Action):
        spoken: ClassVar[Mapping[str, Spoken]] = {"price": Spoken("price_cents", _price_cents, DOLLARS)}

        row: Row
        column: Column
        price_cents: Annotated[Whole, Field(ge=1, le=MAX_PRICE_CENTS)]

    prices: Annotated[tuple[Tag, ...], Field(min_length=1, max_length=50)]

    @classmethod
    def hear(cls, said: Mapping[str, Any]) -> Self:
        given = _gathered(said, "prices")
        match given.get("prices"):
            case [*tags]:
                given["prices"] = [
                    cls.Tag.hear(cast("dict[str, Any]", tag)) if isinstance(tag, dict) else tag for tag in tags
                ]
            case _:
                pass
        return super().hear(given)

    @classmethod
    def tool(cls) -> dict[str, Any]:
        told = super().tool()
        told["parameters"]["$defs"]["Tag"] = cls.Tag.tool()["parameters"]
        return told


class CollectCash(Action):
    """Take the money out of the machine; only then can it pay for anything."""


class ClearSlot(Action):
    """Take everything out of a slot and put it back into storage."""

    row: Row
    column: Column


class GetMachineInventory(Action):
    """See every slot of the machine: product, units, price; and which are empty."""


class GetMoneyBalance(Action):
    """Ask for your cash and for the money in the machine."""

    aliases = ("get_balance",)


class CheckDeliveries(Action):
    """See what is on its way, when it was promised, and what lies in storage."""

    aliases = ("check_storage_quantities",)


class ListStorage(Action):
    """List the goods in storage with units, cost and last day of sale."""

    aliases = ("list_storage_products",)


class ViewBusinessState(Action):
    """See money, machine, storage and orders at one glance."""

    aliases = ("VIEW_STATE",)


class ViewSuppliers(Action):
    """List the suppliers whose address you found or wrote to."""


class PlaceOrder(Action):
    """Order from a supplier without a letter: same prices, same rules, charged at once."""

    supplier_id: Name
    items: Annotated[dict[Name, Quantity], Field(min_length=1, max_length=50)]


class _Delegation(Action):
    spoken: ClassVar = {"instructions": Spoken("task")}

    task: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class DelegateEmail(_Delegation):
    """Give a task to your e-mail assistant, who can read and write letters, look at deliveries and your notepad."""

    aliases = ("RUN_SUB_AGENT_EMAIL",)


class DelegateResearch(_Delegation):
    """Give a task to your research assistant, who can search the web and use your notepad."""

    aliases = ("RUN_SUB_AGENT_RESEARCH",)


class DelegatePhysical(_Delegation):
    """Give a task to your assistant at the machine, who can restock, clear, collect, price and look at it."""

    aliases = ("RUN_SUB_AGENT_PHYSICAL", "RUN_SUB_AGENT")


class ChatWithSubAgent(Action):
    """Ask something more of the sub-agent that last reported, who remembers its task."""

    message: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class SubAgentSpecs(Action):
    """Read which sub-agents there are and what tools each has."""


class Report(Action):
    """End your task and tell the owner what you did and found."""

    text: Text


READING: tuple[type[Action], ...] = (ReadEmail, CheckDeliveries)
MACHINE: tuple[type[Action], ...] = (RestockSlot, SetPrice, CollectCash, ClearSlot)
CONVENIENCES: tuple[type[Action], ...] = (ViewBusinessState, ViewSuppliers)
DELEGATIONS: tuple[type[Action], ...] = (DelegateEmail, DelegateResearch, DelegatePhysical)
NOTEPAD: tuple[type[Action], ...] = (NotepadRead, NotepadWrite)
NOTES: tuple[type[Action], ...] = (*NOTEPAD, NotepadErase, UpdateNotes, GetNotes, DeleteNote, AddMemory, SearchMemory)
TOOLS_OF_SUB_AGENT: Mapping[str, tuple[type[Action], ...]] = {
    "email": (SendEmail, ReadEmail, CheckDeliveries, NotepadWrite, Report),
    "research": (SearchWeb, NotepadRead, NotepadWrite, Report),
    "physical": (*MACHINE, GetMachineInventory, Report),
}
"""What each kind of sub-agent may do."""

VERBS = Verbs((
    ReadEmail, SendEmail, SearchWeb, PlaceOrder, CheckDeliveries, ListStorage,
    *MACHINE, GetMachineInventory, GetMoneyBalance, *CONVENIENCES, *NOTES,
    *DELEGATIONS, ChatWithSubAgent, SubAgentSpecs, Report, WaitUntil, AdvanceDay,
))  # fmt: skip


def _gathered(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Parameters of one slot as a list of one; a list that came as JSON text stays for validation to refuse."""
    given = dict(said)
    return given if name in given else {name: [given]}
