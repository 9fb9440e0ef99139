"""The verbs of the market, with the names and fields of the public wire.

Numbers are kept as they were sent; rules read them as decimals. The server alone knows what the wire adds around a verb
(`type`, the envelope).
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from akinai.core.actions import Action, Verbs
from akinai.core.canonical import Json
from akinai.worlds.market.model.profiles import with_pairs

MOST_DOLLARS = 10**9
MOST_UNITS = 10**6
DAY_SECONDS = 86_400


def _number(value: object) -> object:
    """A number as it was sent. ValueError for true and false."""
    if isinstance(value, bool):
        raise ValueError("a number is expected")
    return value


_Plain = BeforeValidator(_number)
Count = Annotated[int, Field(ge=1), _Plain]
Units = Annotated[int, Field(ge=1, le=MOST_UNITS), _Plain]
Dollars = Annotated[
    Annotated[int, Field(ge=0, le=MOST_DOLLARS)] | Annotated[float, Field(ge=0, le=MOST_DOLLARS, allow_inf_nan=False)],
    _Plain,
]
Seconds = Annotated[
    Annotated[int, Field(ge=0, le=30 * DAY_SECONDS)] | Annotated[float, Field(ge=0, le=30 * DAY_SECONDS)], _Plain
]
Id = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class _Part(BaseModel):
    """A part of a message; what else a client puts into it is left out, as the public system does."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True)

    def dumped(self) -> dict[str, Json]:
        """The fields as JSON."""
        return self.__pydantic_serializer__.to_python(self, mode="json")


class Item(_Part):
    """A line of a proposal."""

    id: str = ""
    """The seller's own id of the item, where it has one."""
    item_name: str
    """The item, as the seller's menu names it."""
    quantity: Units
    """The units offered."""
    unit_price: Dollars
    """The price of a unit in dollars."""

    @model_validator(mode="before")
    @classmethod
    def _by_either_name(cls, fields: Any) -> Any:
        """The line {"name", "quantity", "unit_price"} of the marketplace document means the same."""
        if isinstance(fields, Mapping) and "item_name" not in fields and "name" in fields:
            line = dict(cast("Mapping[str, Any]", fields))
            return {**line, "item_name": line.pop("name")}
        return cast("Any", fields)


class Text(_Part):
    """Plain words."""

    type: Literal["text"] = "text"
    """Says that the message is a text."""
    content: str
    """The words to send."""


class OrderProposal(_Part):
    """An offer of items at a total price. Only a business makes one, each under an id that it has not used before."""

    type: Literal["order_proposal"] = "order_proposal"
    """Says that the message is a proposal."""
    id: Id
    """A new id of your own, by which the customer pays."""
    items: Annotated[list[Item], Field(min_length=1, max_length=200)]
    """The items offered, each with its quantity and price."""
    total_price: Dollars
    """The price of everything together in dollars."""
    special_instructions: str | None = None
    """A note to the customer."""
    estimated_delivery: str | None = None
    """When the order would arrive, in plain words."""
    expiry_time: str | None = None
    """When the offer ends, in ISO 8601; without a zone it is UTC."""


class Payment(_Part):
    """Pays a proposal, whole and once. Only the customer it was made to can."""

    type: Literal["payment"] = "payment"
    """Says that the message is a payment."""
    proposal_message_id: Id
    """The id of the proposal."""
    payment_method: str | None = None
    """How you pay, in plain words."""
    delivery_address: str | None = None
    """Where the order goes."""
    payment_message: str | None = None
    """A note to the business."""


Message: TypeAlias = Annotated[Text | OrderProposal | Payment, Field(discriminator="type")]


class MarketVerb(Action):
    """A verb of the market, with its place on the public wire and among the tools of models."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    unshown: ClassVar[frozenset[str]] = frozenset()
    """Fields of the wire that are not shown to models."""
    on_wire: ClassVar[Literal["listed", "unlisted", "own route"]] = "listed"
    """How the public wire takes the verb: by `/actions/execute`, listed in its protocol or not, or by its own route."""
    enters: ClassVar[bool] = False
    """Whether the verb is offered before an actor has registered; in a closed market it is not offered after."""

    @classmethod
    def parameters_schema(cls) -> dict[str, Any]:
        parameters = super().parameters_schema()
        properties = {name: schema for name, schema in parameters["properties"].items() if name not in cls.unshown}
        for part in parameters.get("$defs", {}).values():
            if "const" in part["properties"].get("type", {}):  # what tells the kinds of messages apart
                part["required"] = ["type", *(name for name in part["required"] if name != "type")]
        return {**parameters, "properties": properties}


class Register(MarketVerb):
    """Enter the market. Do this first, once, without parameters: your profile is known."""

    enters = True
    unshown = frozenset({"profile"})
    on_wire = "own route"

    profile: Annotated[dict[str, Any] | None, BeforeValidator(with_pairs)] = None
    """For an agent outside the run's population: {"id", "metadata": {"type"}, "business" or "customer": {...}}.

    A menu in it is kept as a list of [item, price] pairs, in its order.
    """


TELLING_FIELDS = {"content": "text", "items": "order_proposal", "proposal_message_id": "payment"}
"""Kinds of messages by the field that they alone have."""


def _with_type(message: Any) -> Any:
    """A message with the type that it leaves out, where its fields tell it; anything else as it is."""
    if isinstance(message, str) and not message.lstrip().startswith("{"):
        return {"type": "text", "content": message}
    if not isinstance(message, Mapping) or "type" in message:
        return cast("Any", message)
    fields = cast("Mapping[str, Any]", message)
    kinds = [kind for field, kind in TELLING_FIELDS.items() if field in fields]
    return {**fields, "type": kinds[0]} if len(kinds) == 1 else fields


class SendMessage(MarketVerb):
    """Send a message to one agent: a text, an order_proposal (businesses) or a payment (customers).

    A payment names the proposal's id in proposal_message_id, pays its total, and is final.
    """

    unshown = frozenset({"from_agent_id", "created_at", "metadata"})

    to_agent_id: str
    """The id of the agent to write to, as a search or a message gave it."""
    message: Message
    """The message: a text, an order_proposal or a payment."""
    from_agent_id: str | None = None
    """The sender, who may leave it out; another name than the sender's is refused."""
    created_at: str | None = None
    """When the sender says it was made. The market goes by its own clock."""
    metadata: dict[str, Any] = Field(default_factory=dict, json_schema_extra={"default": {}})
    """`idempotency_key`: the same message under the same key is sent once; another message under it is refused."""

    @classmethod
    def decode(cls, parameters: Mapping[str, Any]) -> Self:
        """Plain words are a text, and a message without a type is of the kind of its fields, as models write them."""
        sent = {"message": _with_type(parameters["message"])} if "message" in parameters else {}
        return super().decode({**parameters, **sent})

    def encode(self) -> dict[str, Json]:
        # The type is every kind's default, and what tells them apart.
        parameters = super().encode()
        return {**parameters, "message": {"type": self.message.type, **cast("dict[str, Json]", parameters["message"])}}


class FetchMessages(MarketVerb):
    """Read your messages, oldest first. With after_index, only those after the last index you have seen."""

    unshown = frozenset({"after", "offset"})

    from_agent_id: str | None = None
    """Only messages of this sender."""
    limit: Count | None = None
    """The most messages to return."""
    offset: Annotated[int, Field(ge=0), _Plain] | None = None
    """How many matching messages to skip."""
    after: str | None = None
    """Only messages that came after this time, ISO 8601."""
    after_index: Annotated[int, _Plain] | None = None
    """Only messages with a larger index."""


class Constraints(_Part):
    """What a business must have to be found by the search `filtered`."""

    rating_threshold: float | None = None
    """The lowest rating."""
    amenity_features: list[str] | None = None
    """Amenities that the business must offer, all of them."""
    menu_items: list[str] | None = None
    """Items that must be on its menu, all of them."""


Algorithm = Literal["simple", "lexical", "filtered", "optimal", "rnr"]


class Search(MarketVerb):
    """Search for businesses by words, such as the names of items. Results come in pages.

    lexical ranks by shared sequences of letters, simple by rating, rnr by words and meaning; filtered returns only
    businesses that meet the constraints; optimal returns businesses that have everything you are looking for.
    """

    query: Annotated[str, StringConstraints(max_length=10_000)] = ""
    """What you are looking for, such as the names of items."""
    search_algorithm: Algorithm = "lexical"
    """How results are found and ranked."""
    constraints: Constraints | None = None
    """What a business must have; only the algorithm filtered reads it."""
    limit: Count = 10
    """Results on a page."""
    page: Count = 1
    """The page of the results, counted from 1."""


class Wait(MarketVerb):
    """Do nothing until new mail comes, or until the given seconds have passed.

    Set seconds unless a reply is certain: without them you may wait indefinitely.
    """

    on_wire = "unlisted"

    seconds: Seconds | None = None
    """The longest time to wait, in seconds; without it you wait for mail alone."""


class Leave(MarketVerb):
    """Leave the market for good. You are done."""

    on_wire = "unlisted"

    reason: Annotated[str, StringConstraints(max_length=2_000)] = ""
    """Why you leave, in a sentence."""


CLASSES: tuple[type[MarketVerb], ...] = tuple(MarketVerb.__subclasses__())
"""Every verb above, in the order in which it is written."""
VERBS = Verbs(CLASSES)
