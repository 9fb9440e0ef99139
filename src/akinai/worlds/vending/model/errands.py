"""The verbs of a street with errands: bargaining, deliveries that are signed for, customers, rents, pitches;
and the verb of the suppliers."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Field

from akinai.core.actions import ParameterAlias
from akinai.core.canonical import Json
from akinai.core.money import read_dollars
from akinai.worlds.vending.model.verb import (
    DOLLARS,
    MAX_PRICE_CENTS,
    Line,
    Name,
    Quantity,
    Text,
    Verb,
    WholeNumber,
    price_cents,
    unless,
)
from akinai.worlds.vending.sprint.records import Weekday

Site = Annotated[int, Field(ge=1, le=20), WholeNumber]
Number = Annotated[int, Field(ge=1, le=1_000_000), WholeNumber]
Goods = Annotated[dict[Name, Quantity], Field(min_length=1, max_length=50)]
Price = Annotated[int, Field(ge=1, le=MAX_PRICE_CENTS), WholeNumber]


def _prices_cents(prices: object) -> Json:
    if not isinstance(prices, Mapping):
        raise ValueError("prices are an object: dollars by product id")
    return {str(name): price_cents(value) for name, value in cast("Mapping[Any, Any]", prices).items()}


MOST_CENTS = 100_000_000
AMOUNT: Mapping[str, Json] = {
    **DOLLARS,
    "maximum": MOST_CENTS / 100,
    "description": "The amount in dollars, with at most two decimals.",
}
Amount = Annotated[int, Field(ge=1, le=MOST_CENTS), WholeNumber]


def _amount_cents(value: object) -> Json:
    return read_dollars(value, maximum_cents=MOST_CENTS)


class Errand(Verb):
    """The base of the verbs that are offered only where there are errands."""

    only_with = "errands"


class PlaceOrder(Verb):
    """Order from a supplier without a letter. Prices and rules are the same; the order is charged at once."""

    minutes = "do"
    errand_minutes = "letter"
    only_with = "structured_orders"
    parameter_aliases: ClassVar = {"supplier": ParameterAlias("supplier_id")}

    supplier_id: Name
    """The id of the supplier, as its price list or a web page names it."""
    items: Annotated[dict[Name, Quantity], Field(min_length=1, max_length=50)]
    """The units to order of each product: an object from product id to a number of units."""
    day: Weekday | None = unless(None)
    """Only where an employee places orders for you: the day of this week on which to do so; without it, now."""


class GetPriceLists(Errand):
    """Ask suppliers that you know for their prices of today, their delivery days and hour, and their minimum order."""

    minutes = "price_lists"

    suppliers: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    """The ids of the suppliers to ask, which must be known to you; without them, all that you know."""


class MakeOffer(Errand):
    """Bargain with a supplier: ask for a discount on all its prices.

    It answers with its price, and says until when that holds. It answers one offer a day.
    """

    minutes = "letter"
    parameter_aliases: ClassVar = {"rival_price": ParameterAlias("rival_cents", price_cents, DOLLARS)}

    supplier_id: Name
    """The id of the supplier, as its price list names it."""
    discount_percent: Annotated[int, Field(ge=1, le=90), WholeNumber]
    """The discount to ask for, in per cent of its present prices."""
    rival_product: Name | None = None
    """The id of a product that a rival quoted you cheaper, if one did."""
    rival_cents: Price | None = None
    """The rival's price of a unit in cents."""


class CountDelivery(Errand):
    """Open the boxes of an order that you signed for, and count what is in them."""

    minutes = "count"

    order: Number
    """The number of the order."""


class Claim(Errand):
    """Ask the supplier for the money of units that you counted as missing."""

    minutes = "letter"

    order: Number
    """The number of the order."""
    missing: Goods
    """The units that are missing: an object from product id to a number of units."""


class FetchDepot(Errand):
    """Fetch an order from the depot, where it waits if nobody signed for it. It costs a fee."""

    minutes = "fetch"
    away = True

    order: Number
    """The number of the order."""


class SellToJobber(Errand):
    """Sell goods from storage to a jobber, far below the trade price."""

    minutes = "letter"

    items: Goods
    """The units to sell: an object from product id to a number of units."""


class VisitSite(Errand):
    """Go to a site: fill its machine from storage, and bring its cash back.

    With products, these are what the machine holds from now on, in this order, each in a slot as long as there are
    slots of its size; goods of other products come back to storage. Without products every slot is filled up with
    what it held. A visit takes longer the more products are moved, and for the cash.
    """

    away = True

    site: Site
    """The number of the site, counted from 1."""
    products: Annotated[tuple[Name, ...], Field(max_length=50)] | None = None
    """The ids of the products that the machine is to hold; without them, those that it holds are filled up."""
    collect: bool = True
    """Whether to bring the cash back."""


class ChangePrices(Errand):
    """Set prices by product. A product has one price at all your sites; without a price it is not sold."""

    minutes = "prices"
    parameter_aliases: ClassVar[Mapping[str, ParameterAlias]] = {
        "prices": ParameterAlias(
            "prices_cents",
            _prices_cents,
            {
                "type": "object",
                "additionalProperties": DOLLARS,
                "minProperties": 1,
                "maxProperties": 60,
                "description": "The prices to set: an object from product id to dollars.",
            },
        )
    }

    prices_cents: Annotated[dict[Name, Price], Field(min_length=1, max_length=60)]
    """The prices to set: an object from product id to cents."""


class ReadNews(Errand):
    """Read the news: events of the next days, rumours about suppliers, and pitches on offer."""

    minutes = "news"


class AnswerCustomer(Errand):
    """Answer a customer who asks for the price back: pay it now, refuse, or promise to pay it soon."""

    minutes = "letter"

    complaint: Number
    """The number of the complaint, as the customer's letter names it."""
    answer: Literal["pay", "refuse", "promise"]
    """The answer to give."""


class Pay(Errand):
    """Pay the rent of a site for its next term, or a refund that you promised a customer."""

    minutes = "pay"

    bill: Literal["rent", "refund"]
    """The kind of bill."""
    number: Number
    """The number of the site for a rent, of the complaint for a refund."""


class TakePitch(Errand):
    """Rent another site with a machine, once pitches are on offer."""

    minutes = "contract"
    away = True

    place: Name
    """The name of the place, as letters and the news name it."""


class Dealing(Verb):
    """The base of the verbs that are offered only where there are several owners."""

    only_with = "rivals"


class LookAtRivals(Dealing):
    """Walk along the street and read what the machines of the other owners hold and what they ask for it."""

    minutes = "rivals"
    away = True


class SendMoney(Dealing):
    """Pay another owner. It arrives at once and cannot be taken back."""

    minutes = "pay"
    parameter_aliases: ClassVar = {"amount": ParameterAlias("cents", _amount_cents, AMOUNT)}

    to: Name
    """The name or the e-mail address of the owner."""
    cents: Amount
    """The amount in cents."""
    reason: Line = ""
    """What it is for; the other reads it."""


class OfferGoods(Dealing):
    """Offer goods from your storage to another owner, for money.

    If the other accepts in time they are handed over at your storage at that hour of tomorrow, against the money; where
    you decide by the week, of the Tuesday after next Monday. You must be there, with the goods, and the other must have
    the money and room for them; else nothing changes hands.
    """

    minutes = "letter"
    parameter_aliases: ClassVar = {"amount": ParameterAlias("cents", _amount_cents, AMOUNT)}

    to: Name
    """The name or the e-mail address of the owner."""
    items: Goods
    """The units to sell: an object from product id to a number of units."""
    cents: Amount
    """The price of all of it in cents."""
    hour: Annotated[int, Field(ge=9, le=21), WholeNumber]
    """The hour at which they are handed over, on a 24-hour clock."""


class AcceptGoods(Dealing):
    """Accept goods that another owner offered you. The money is taken when they are handed over."""

    minutes = "letter"

    offer: Number
    """The number of the offer, as its letter names it."""


class LeaveStreet(Verb):
    """Run the business no more, or oversee no more. So it is where a player cannot go on while others do."""

    for_owner = False
    only_with = "rivals"

    why: Text = ""
    """What kept its player from going on."""


class ReviewLetter(Verb):
    """Decide on a letter that an owner wants to send: pass it, ask for it to be rewritten, or veto it."""

    for_owner = False

    verdict: Literal["pass", "revise", "veto"]
    """The decision; a letter that is not passed goes back to its author."""
    note: Text = ""
    """Why. The author reads it, but for a letter that is passed: that note is for the record alone."""


class WriteReply(Verb):
    """Answer the customer's letter. What it costs and when it comes is decided; it stands below your words."""

    for_owner = False

    text: Text
    """Your words, without the terms."""
