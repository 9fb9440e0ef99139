"""The verbs that only a business of weekly decisions has."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import BeforeValidator, Field, StringConstraints

from akinai.core.actions import Action, ParameterAlias
from akinai.core.canonical import Json
from akinai.core.money import read_dollars
from akinai.worlds.vending.model.errands import Claim, MakeOffer, Number, Pay, PlaceOrder, Price, Site
from akinai.worlds.vending.model.verb import DOLLARS, Name, Sending, Verb, price_cents
from akinai.worlds.vending.sprint.records import Weekday

NOTES_LIMIT = 1200
"""The most characters of the page of notes, which every report repeats."""


def _several(value: object) -> object:
    """A single number where several may be given."""
    return (value,) if isinstance(value, int | str) else value


Numbers = Annotated[tuple[Number, ...], Field(max_length=200), BeforeValidator(_several)]


class Weekly(Verb):
    """The base of the verbs that only a business of weekly decisions has."""

    only_with = "weekly"


class AnswerCustomers(Weekly):
    """Answer customers who ask for the price back: pay some now, refuse others, or promise to pay soon.

    What cannot be done is told complaint by complaint.
    """

    pay: Numbers = ()
    """The numbers of the complaints to pay now."""
    refuse: Numbers = ()
    """The numbers of the complaints to refuse."""
    promise: Numbers = ()
    """The numbers of the complaints to promise money for; it is then to be paid with pay."""


class SendLetter(Sending, Weekly):
    """Send a letter. The answer comes the next morning, and stands in the week's report."""


class ReadLetter(Weekly):
    """Read a letter of a report in full."""

    number: Number
    """The number of the letter, as the report lists it."""


class WriteNotes(Weekly):
    """Write your page of notes, in place of what it held. Every report ends with it; nothing else is kept for you."""

    parameter_aliases: ClassVar = {"notes": ParameterAlias("text")}

    text: Annotated[str, StringConstraints(max_length=NOTES_LIMIT)]
    """The whole page."""


class SitePlan(Action):
    """The products of a site."""

    site: Site
    """The number of the site, counted from 1."""
    products: Annotated[tuple[Name, ...], Field(max_length=50)]
    """The ids of the products that the machine is to hold; one that is named twice gets two slots."""


class PriceFrom(Action):
    """A product's price at all sites."""

    parameter_aliases: ClassVar[Mapping[str, ParameterAlias]] = {
        "dollars": ParameterAlias("price_cents", price_cents, DOLLARS),
        "from": ParameterAlias("from_day", None, {"enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]}),
    }

    product: Name
    """The id of the product."""
    price_cents: Price
    """The price of a unit in cents."""
    from_day: Weekday = "Mon"
    """The day of this week from which it holds; without it, today."""


def as_rows(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Sites and prices that are written as an object, from site to products and from product to dollars, as rows."""
    rows: dict[str, Any] = {}
    for name, key, value in (("sites", "site", "products"), ("prices", "product", "dollars")):
        if isinstance(table := parameters.get(name), dict) and key not in table:
            rows[name] = [{key: id, value: item} for id, item in cast("dict[str, Any]", table).items()]
    return rows


class SetPlan(Weekly):
    """Change the employee's standing instructions. What is not named stays as it was.

    The employee fills the machines from the storage, and keeps an old product in its slot until the new one is there.
    """

    sites: Annotated[tuple[SitePlan, ...], Field(max_length=20)] = ()
    """What the machines are to hold, site by site."""
    prices: Annotated[tuple[PriceFrom, ...], Field(max_length=100)] = ()
    """Prices, each for all sites; a product without a price is not sold."""
    visit: Annotated[tuple[Weekday, ...], Field(max_length=7)] | None = None
    """The days on which the employee goes to the machines."""
    depot: Literal["fetch", "leave"] | None = None
    """Whether the employee fetches goods from the depot, for a fee, or leaves them there."""

    @classmethod
    def decode(cls, parameters: Mapping[str, Any]) -> Self:
        return super().decode({**parameters, **as_rows(parameters)})


class CloseWeek(Weekly):
    """End the week: the employee works by your instructions until the next Monday, and you get the week's report."""


Rows = Annotated[tuple[dict[str, Any], ...], Field(max_length=200)]


_ROWS = ("orders", "prices", "sites", "offers", "claims", "payments")


class Week(Weekly):
    """Decide a whole week in one object, and end it.

    All fields may be left out. They are carried out in the order in which they are listed here; what is refused is told
    in a line each, and the rest is done all the same. Then the week ends, and its report comes back.
    """

    example = {
        "orders": [{"supplier_id": "sunrise_wholesale", "items": {"rye_crackers": 40, "oat_milk": 24}}],
        "prices": [{"product": "rye_crackers", "dollars": 1.8}, {"product": "oat_milk", "dollars": 2.2}],
        "sites": [{"site": 1, "products": ["rye_crackers", "oat_milk"]}],
        "answers": {"pay": [3]},
        "payments": [{"bill": "rent", "number": 1}],
    }

    orders: Rows = ()
    prices: Rows = ()
    sites: Rows = ()
    offers: Rows = ()
    claims: Rows = ()
    answers: dict[str, Any] = {}
    payments: Rows = ()
    notes: str | None = None

    @classmethod
    def decode(cls, parameters: Mapping[str, Any]) -> Self:
        tables = [name for name in _ROWS if isinstance(parameters.get(name), dict)]
        rows: dict[str, Any] = {name: [parameters[name]] if parameters[name] else [] for name in tables}
        rows |= {"answers": {}} if parameters.get("answers") == [] else {}
        own = {name: value for name, value in parameters.items() if value or name in cls.model_fields}
        return super().decode({**own, **rows, **as_rows(parameters)})

    @classmethod
    def parameters_schema(cls) -> dict[str, Any]:
        def rows(verb: type[Action], text: str) -> dict[str, Any]:
            return {"type": "array", "description": text, "items": _bare(verb.tool(inline=True)["parameters"])}

        answers = _bare(AnswerCustomers.tool(inline=True)["parameters"])
        properties = {
            "orders": rows(
                PlaceOrder, "Goods to buy: the supplier, units by product, and a day of the week if not today."
            ),
            "prices": rows(PriceFrom, "Prices at all sites, from today or from a day of the week."),
            "sites": rows(SitePlan, "The products in a site's machine; one that is named twice gets two slots."),
            "offers": rows(
                MakeOffer, "Discounts to ask a supplier for; what a rival asks for a product may support one."
            ),
            "claims": rows(Claim, "Units that did not come with an order, to have their price back."),
            "answers": {**answers, "description": "Numbers of complaints to pay, to refuse, or to promise money for."},
            "payments": rows(Pay, "Rents and promised refunds to pay, by their numbers."),
            "notes": {"type": "string", "description": "The page of notes, in place of what it held."},
        }
        return {"type": "object", "properties": properties, "required": []}


def _bare(schema: Any) -> Any:
    """A schema without limits and defaults, which the tools of its parts have."""
    if isinstance(schema, list):
        return [_bare(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    table = cast("dict[str, Any]", schema)
    bare: dict[str, Any] = {
        key: _bare(value) for key, value in table.items() if not key.startswith(("min", "max", "default"))
    }
    kinds: list[dict[str, Any]] = [kind for kind in bare.pop("anyOf", []) if kind != {"type": "null"}]
    return bare | kinds[0] if kinds else bare


def _cents(value: object) -> Json:
    """Cents of a balance, which may be above any price. Raises ValueError."""
    return read_dollars(value, maximum_cents=10**11)


class Bounds(Action):
    """A balance as expected."""

    parameter_aliases: ClassVar[Mapping[str, ParameterAlias]] = {
        name: ParameterAlias(f"{name}_cents", _cents, {"type": "number", "minimum": 0, "description": text})
        for name, text in (
            ("low", "Dollars; one time in ten it is below."),
            ("middle", "Dollars; as likely above as below."),
            ("high", "Dollars; one time in ten it is above."),
        )
    }

    low_cents: Annotated[int, Field(ge=0)]
    middle_cents: Annotated[int, Field(ge=0)]
    high_cents: Annotated[int, Field(ge=0)]


class Forecast(Weekly):
    """Say what you expect your bank balance to be next Monday and at the end, each with the bounds within which it is
    four times in five. It changes nothing but scores of its own."""

    only_with = "forecast"

    next_week: Bounds
    """The balance in the next report."""
    year_end: Bounds
    """The balance that counts, at the end."""


WEEKLY_VERBS: tuple[type[Verb], ...] = (
    AnswerCustomers, SendLetter, ReadLetter, WriteNotes, SetPlan, CloseWeek, Week, Forecast,
)  # fmt: skip
