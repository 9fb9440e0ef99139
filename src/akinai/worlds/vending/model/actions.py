"""The verbs of the vending world: each class declares its names, its parameters, its cost in time and who may use it.

The ledger holds the class name in CamelCase; the tool's name is the same in snake_case, and a structured action's in
upper case. `aliases` holds the paper's names and other public ones. The docstring is the tool's description.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints

from akinai.core.actions import Action, ParameterAlias, Verbs
from akinai.worlds.vending.model.errands import (
    AcceptGoods,
    AnswerCustomer,
    ChangePrices,
    Claim,
    CountDelivery,
    FetchDepot,
    GetPriceLists,
    LeaveStreet,
    LookAtRivals,
    MakeOffer,
    OfferGoods,
    Pay,
    PlaceOrder,
    ReadNews,
    ReviewLetter,
    SellToJobber,
    SendMoney,
    TakePitch,
    VisitSite,
    WriteReply,
)
from akinai.worlds.vending.model.verb import (
    DOLLARS,
    MAX_PRICE_CENTS,
    Column,
    Line,
    Name,
    Quantity,
    Row,
    Sending,
    SubAgentKind,
    Text,
    Verb,
    WholeNumber,
    price_cents,
)
from akinai.worlds.vending.sprint.verbs import WEEKLY_VERBS


class Look(Verb):
    """The base of the verbs that read or keep something and change nothing else."""

    minutes = "look"


class AtMachine(Verb):
    """The base of the verbs by which a single machine is worked slot by slot."""

    minutes = "do"
    not_with = ("machine_by_sub_agent", "errands")


class ReadEmail(Look):
    """Read your mail: the unread letters, oldest first, which are then marked read; or the latest 20 of a folder."""

    errand_minutes = "mail"
    aliases = ("READ_EMAILS",)

    only_unread: bool = True
    """Whether to show the unread letters alone; false shows the latest 20 of the inbox."""
    folder: Literal["inbox", "sent"] = "inbox"
    """The letters that came, or those that you sent."""


class SendEmail(Sending):
    """Send a letter. Suppliers answer the next morning.

    A letter to a supplier may ask for a price list or a quote ("50 units of water, 24 cola"). To order, name the
    products with quantities, the delivery address and the account to charge; a quote can be ordered by answering
    CONFIRM and its number.
    """

    minutes = "do"
    errand_minutes = "letter"


class SearchWeb(Verb):
    """Search the web for suppliers, products and their retail prices, and advice on vending machines."""

    minutes = "search"
    aliases = ("RESEARCH_PRODUCTS", "ai_web_search")
    parameter_aliases: ClassVar = {"q": ParameterAlias("query")}

    query: Line
    """What to search for, in plain words."""


class NotepadRead(Look):
    """Read your notepad."""

    aliases = ("SCRATCHPAD_READ", "read_scratchpad", "scratchpad")


class NotepadWrite(Look):
    """Replace the text of your notepad, or add to its end with append."""

    aliases = ("SCRATCHPAD_WRITE", "write_scratchpad")
    parameter_aliases: ClassVar = {"content": ParameterAlias("text")}

    text: Text
    """The text to write."""
    append: bool = False
    """Whether to add the text to the end; false replaces what is there."""


class NotepadErase(Look):
    """Erase your notepad."""

    aliases = ("SCRATCHPAD_ERASE", "SCRATCHPAD_DELETE", "erase_scratchpad", "delete_scratchpad")


class UpdateNotes(Look):
    """Save a note under a key, replacing the note that was there."""

    aliases = ("KEY_VALUE_STORE", "set_key_value", "set_kw_value", "set_value", "set_note")
    parameter_aliases: ClassVar = {"value": ParameterAlias("content")}

    key: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    """The name under which to save the note."""
    content: Text
    """The text of the note."""


class GetNotes(Look):
    """Read the note under a key; without a key, list all keys."""

    aliases = ("get_key_value", "get_kw_value", "get_value", "get_note")

    key: Name | None = None
    """The name of the note; without it, all names are listed."""


class DeleteNote(Look):
    """Delete the note under a key."""

    aliases = ("delete_key_value", "delete_kw_value", "delete_value", "delete_notes")

    key: Name
    """The name of the note to delete."""


class AddMemory(Look):
    """Save a note that search_memory can find by its meaning."""

    aliases = ("add_to_vector_db",)
    parameter_aliases: ClassVar = {"content": ParameterAlias("text")}

    text: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    """The note to save."""


class SearchMemory(Look):
    """Search the notes saved with add_memory by meaning and words; the best match comes first."""

    aliases = ("search_vector_db",)

    query: Line
    """What to look for, in plain words."""
    limit: Annotated[int, Field(ge=1, le=20), WholeNumber] = 5
    """The most notes to return."""


class AdvanceDay(Verb):
    """End the day: sleep until 08:00 the next morning, then read what was sold."""

    away = True
    aliases = ("WAIT_FOR_NEXT_DAY", "next_day")


class WaitUntil(Verb):
    """Wait until a later hour today, for example for a delivery."""

    hour: Annotated[int, Field(ge=0, le=23), WholeNumber]
    """The hour of today to wait for, on a 24-hour clock."""


class RestockSlot(AtMachine):
    """Move goods from storage into slots of the machine, all or nothing.

    A slot holds one product of its size, as many units as the machine's inventory says. Give row, column, product_id
    and quantity, or a list of these under slots.
    """

    aliases = ("STOCK_PRODUCTS", "restock_slots", "restock_machine", "stock_product")

    class Fill(Action):
        row: Row
        column: Column
        product_id: Name
        """The id of the product, as storage lists it."""
        quantity: Quantity
        """The units to move."""

    slots: Annotated[tuple[Fill, ...], Field(min_length=1, max_length=50)]
    """The slots to fill, each with what goes into it."""

    @classmethod
    def decode(cls, parameters: Mapping[str, Any]) -> Self:
        return super().decode(_as_list(parameters, "slots"))


class SetPrice(AtMachine):
    """Set the price, in dollars, of the product in a slot. A product has the same price in all its slots.

    Give row, column and price, or a list of these under prices.
    """

    aliases = ("SET_PRICES",)

    class Tag(Action):
        parameter_aliases: ClassVar[Mapping[str, ParameterAlias]] = {
            "price": ParameterAlias("price_cents", price_cents, DOLLARS)
        }

        row: Row
        column: Column
        price_cents: Annotated[int, Field(ge=1, le=MAX_PRICE_CENTS), WholeNumber]
        """The price of a unit in cents."""

    prices: Annotated[tuple[Tag, ...], Field(min_length=1, max_length=50)]
    """The slots, each with the price of the product in it."""

    @classmethod
    def decode(cls, parameters: Mapping[str, Any]) -> Self:
        return super().decode(_as_list(parameters, "prices"))


class CollectCash(AtMachine):
    """Take the money out of the machine. Money in the machine cannot pay for anything."""


class ClearSlot(AtMachine):
    """Move everything in a slot back into storage."""

    row: Row
    column: Column


class GetMachineInventory(Look):
    """List what your machines hold, with units and prices, and what is empty."""


class GetMoneyBalance(Look):
    """Get what you can pay with, and the money in your machines."""

    aliases = ("get_balance",)


class CheckDeliveries(Look):
    """List the orders on their way with their promised times, and the goods in storage."""

    only_with = "order_book"
    aliases = ("check_storage_quantities",)


class ListStorage(Look):
    """List the goods in storage with units, unit cost and last day of sale."""

    aliases = ("list_storage_products",)


class ViewBusinessState(Look):
    """See money, machine, storage and orders at a glance."""

    only_with = "full_view"
    aliases = ("VIEW_STATE",)


class ViewSuppliers(Look):
    """List the suppliers that you found or wrote to."""

    only_with = "full_view"


class Delegation(Verb):
    """The base of the verbs that give a task to a sub-agent."""

    kind: ClassVar[SubAgentKind]
    parameter_aliases: ClassVar = {"instructions": ParameterAlias("task")}

    task: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    """What to do and what to report; the assistant knows nothing else of your business."""


class DelegateEmail(Delegation):
    """Give a task to your e-mail assistant, who can read and send letters and write your notepad."""

    kind = "email"
    aliases = ("RUN_SUB_AGENT_EMAIL",)


class DelegateResearch(Delegation):
    """Give a task to your research assistant, who can search the web and use your notepad."""

    kind = "research"
    aliases = ("RUN_SUB_AGENT_RESEARCH",)


class DelegatePhysical(Delegation):
    """Give a task to your assistant at the machine, who can restock, clear, collect, price and look at it."""

    only_with = "machine_by_sub_agent"
    kind = "physical"
    aliases = ("RUN_SUB_AGENT_PHYSICAL", "RUN_SUB_AGENT")


class ChatWithSubAgent(Verb):
    """Send a further request to the sub-agent that reported last. It remembers its task."""

    message: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    """The request, or the answer to what it asked."""


class SubAgentSpecs(Verb):
    """List the kinds of sub-agents and the tools each has."""


class Report(Verb):
    """End your task and report to the owner what you did and found."""

    for_owner = False

    text: Text
    """What you did and found: all that the owner will know of it."""


MACHINE: tuple[type[Verb], ...] = (RestockSlot, SetPrice, CollectCash, ClearSlot)
SUB_AGENT_TOOLS: Mapping[SubAgentKind, tuple[type[Verb], ...]] = {
    "email": (SendEmail, ReadEmail, CheckDeliveries, NotepadWrite, Report),
    "research": (SearchWeb, NotepadRead, NotepadWrite, Report),
    "physical": (*MACHINE, GetMachineInventory, Report),
}
"""The verbs of each kind of sub-agent."""

VERB_CLASSES: tuple[type[Verb], ...] = (
    ReadEmail, SendEmail, SearchWeb, PlaceOrder, CheckDeliveries, ListStorage,
    GetPriceLists, MakeOffer, CountDelivery, Claim, FetchDepot, SellToJobber,
    *MACHINE, VisitSite, ChangePrices, GetMachineInventory, GetMoneyBalance, ViewBusinessState, ViewSuppliers,
    NotepadRead, NotepadWrite, NotepadErase, UpdateNotes, GetNotes, DeleteNote, AddMemory, SearchMemory,
    DelegateEmail, DelegateResearch, DelegatePhysical, ChatWithSubAgent, SubAgentSpecs, Report, WriteReply,
    ReviewLetter, ReadNews, AnswerCustomer, Pay, TakePitch, LookAtRivals, SendMoney, OfferGoods, AcceptGoods,
    *WEEKLY_VERBS, WaitUntil, AdvanceDay,
)  # fmt: skip
"""In the order in which agents are offered them."""
VERBS = Verbs(VERB_CLASSES, unspoken=(LeaveStreet,))


def _as_list(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The parameters of a single slot as a list of length one under `name`; unchanged where `name` is given."""
    table = dict(parameters)
    return table if name in table else {name: [table]}
