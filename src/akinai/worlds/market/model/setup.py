"""The setup of a market: its population or how large one to generate, its clock, its rules and its treatments.

A ledger keeps treatments only where they were set, so a market without them is what it was before there were any.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from akinai.core.errors import UnknownName
from akinai.core.facets import ModelName
from akinai.core.untrusted.documents import split_names
from akinai.worlds.market.model.actions import Dollars, Id
from akinai.worlds.market.model.profiles import menu_of, pairs_of
from akinai.worlds.market.populations.words import Kind, Language

Whole = Annotated[int, Field(ge=0, le=1_000_000)]


class _Treatment(BaseModel, frozen=True):
    model_config = ConfigDict(extra="forbid")


class _Named(_Treatment, frozen=True):
    """A treatment whose bare name stands for its `kind`."""

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, setting: Any) -> Any:
        return {"kind": setting} if isinstance(setting, str) else setting


class PopulationSettings(_Named, frozen=True):
    """The population that is made where there is no data. A bare name stands for its kind."""

    kind: Kind = "restaurants"
    language: Language = "en"
    identical: bool = False
    """All businesses that are made for a customer have one menu, one price and all that it needs."""


class Searching(_Treatment, frozen=True):
    """What a search shows."""

    limit: Whole = 0
    """Results of a search on all its pages together, the set that is considered; 0 is all."""


class Gates(_Treatment, frozen=True):
    """Rules that a deal has to pass beside those of every market."""

    proposals: Whole = 0
    """Businesses whose proposals a customer has before it may pay; 0 and 1 ask for none beside the one paid."""
    quote_window_s: Whole = 0
    """Seconds from the first proposal that a customer gets until it may pay; 0 lets it pay at once."""
    posted_prices: bool = False
    """A proposal holds items of the menu at the prices of the menu, and their sum."""
    sealed_bids: bool = False
    """A business makes one proposal to a customer, final and closed until the quote window is over, and none later."""

    @model_validator(mode="after")
    def _bids_close(self) -> "Gates":
        if self.sealed_bids and not self.quote_window_s:
            raise ValueError("sealed bids are opened when the quote window closes: set gates.quote_window_s too")
        return self


Appeal = Literal["none", "authority", "social_proof", "loss_aversion", "injection", "strong_injection"]


class Manipulation(_Named, frozen=True):
    """A text that sellers put into their description. A bare name stands for its kind."""

    kind: Appeal = "none"
    sellers: Literal["one", "one_each", "all"] = "one"
    """Who uses it: the first business, the first that was made for each customer, or everybody."""
    language: Language | None = None
    """Of the text; null is the population's."""


Milliseconds = Annotated[int, Field(ge=0, le=86_400_000)]
Turns = Annotated[int, Field(ge=0)]
Size = Annotated[int, Field(ge=0, le=100_000)]

Agent = Literal["same", "rules", "careful", "strict_budget", "cheapest", "first"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Menu = Annotated[Mapping[str, Dollars], BeforeValidator(menu_of), PlainSerializer(pairs_of, when_used="json")]
"""Amounts by item, in the order of the file. As JSON it is a list of pairs, which a ledger keeps in that order."""


class Business(_Record):
    """A business of the population, with the field names of the public files."""

    id: Id
    name: str
    description: str
    rating: float
    menu_features: Menu
    """Item name to price."""
    amenity_features: Mapping[str, bool]
    min_price_factor: Annotated[float, Field(ge=0)] = 1.0
    """Share of the menu price under which it does not sell; its own secret."""
    progenitor_customer: str = ""
    """The customer that the public generator made it for; nobody is told."""


class Customer(_Record):
    """A customer of the population, with the field names of the public files."""

    id: Id
    name: str
    request: str
    """What it wants, in words."""
    menu_features: Menu
    """Item name to willingness to pay."""
    amenity_features: tuple[str, ...]
    """What a business must have."""


class Population(_Record):
    """Who is in the market from the start."""

    businesses: tuple[Business, ...] = ()
    """The selling side of a population; `--set data=FOLDER` reads both from files."""
    customers: tuple[Customer, ...] = ()
    """The buying side."""

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids: set[str] = set()
        for member in (*self.businesses, *self.customers):
            if member.id in ids:
                raise ValueError(f"two agents have the id {member.id!r}; give each its own")
            ids.add(member.id)
        return self


class _Group(_Record):
    """One side of the market. A bare number stands for its count."""

    @model_validator(mode="before")
    @classmethod
    def _bare_number(cls, setting: Any) -> Any:
        return {"count": setting} if isinstance(setting, int) and not isinstance(setting, bool) else setting


class Customers(_Group):
    """The buying side."""

    count: Size | None = None
    """How many are made where there is no data; null is 2, in an open market 0."""
    agent: Agent = "same"
    """Who plays it: a player, or "same" for the agent that the run is asked to be played by."""
    model: ModelName | None = None
    """A model of its own that plays it, such as "openai:NAME"; it goes before the agent."""
    purchases: Turns = 1
    """Payments after which a customer is done; 0 never."""
    max_turns: Turns = 100
    """Actions after which a customer is done; 0 never."""


class Businesses(_Group):
    """The selling side."""

    count: Size | None = None
    """How many are made where there is no data; null is 3 for each customer."""
    agent: Agent = "rules"
    """Who plays it; "rules" reads requests and proposes from the menu."""
    model: ModelName | None = None
    """A model of its own that plays it; it goes before the agent."""
    max_turns: Turns = 0
    """Actions after which a business is done; 0 never."""


class Latency(_Record):
    """How long agents take for an action in virtual time."""

    low_ms: Milliseconds = 500
    """The least that is drawn."""
    high_ms: Milliseconds = 3_000
    """The most."""
    customers_ms: Milliseconds | None = None
    """A fixed time for customers, as a treatment; None draws between low and high."""
    businesses_ms: Milliseconds | None = None
    """The same for businesses."""
    agents: Mapping[str, Milliseconds] = {}
    """A fixed time for single agents, by id; it goes before the others."""

    @model_validator(mode="after")
    def _low_is_low(self) -> Self:
        if self.low_ms > self.high_ms:
            raise ValueError(f"low_ms {self.low_ms} is above high_ms {self.high_ms}")
        return self


Sentence = Annotated[str, Field(max_length=20_000)]


TREATMENTS = frozenset({"population", "search", "gates", "manipulation", "treated", "playbook", "agent_share"})
"""Settings that only experiments touch."""


class Setup(_Record):
    """`Genesis.setup` of a market."""

    data: Population = Population()
    """A folder of the public format on the command line; empty for one that is made by chance."""
    customers: Customers = Customers()
    """How many customers there are, and who plays them."""
    businesses: Businesses = Businesses()
    """How many businesses there are, and who plays them."""
    clock: Literal["virtual", "wall"] = "virtual"
    """Virtual: one agent acts at a time, in simulated time; wall, the default where a model plays: all act at once."""
    open: bool = False
    """Anybody may register, and change its profile; a closed market holds its population alone."""
    policy: Literal["default", "strict"] = "default"
    """Strict refuses totals that are not the sum of their items, and expiry times that are no times."""
    fee_permille: Annotated[int, Field(ge=0, le=1_000)] = 0
    """What the platform keeps of each payment, thousandths of it; customers pay the same, sellers get less."""
    latency: Latency = Latency()
    """How long actions take in virtual time."""
    start_date: date = date(2026, 4, 1)
    """Of virtual time, midnight UTC."""
    time_limit_s: Annotated[int, Field(ge=0, le=10**9)] = 0
    """Virtual seconds after which the market closes; 0 never."""
    max_messages: Turns = 0
    """Entries of one actor, refused ones too, after which the run ends; 0 is no cap."""
    population: PopulationSettings = PopulationSettings()
    """How a population is made by chance."""
    search: Searching = Searching()
    """How businesses are found."""
    gates: Gates = Gates()
    """Rules that a deal has to pass beside those of every market."""
    manipulation: Manipulation = Manipulation()
    """A text that sellers put into their description."""
    treated: Annotated[tuple[Id, ...], BeforeValidator(split_names)] = ()
    """Ids of the businesses that count as treated, with commas between them or in a file, one a line; a manipulation is
    theirs, whatever its sellers say."""

    playbook: tuple[Sentence, ...] = ()
    """Sentences that the customers and businesses follow which the run's agent does not play; a playbook's file on the
    command line."""

    agent_share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Where the run's agent plays the businesses, the share of them that it plays, drawn by chance; the others go by
    their rules."""

    @model_serializer(mode="wrap")
    def _with_what_was_set(self, dump: SerializerFunctionWrapHandler, _: SerializationInfo) -> dict[str, Any]:
        """The setup as a ledger keeps it: treatments only where somebody set them."""
        dumped = cast("dict[str, Any]", dump(self))
        return {
            name: value for name, value in dumped.items() if name not in TREATMENTS or name in self.model_fields_set
        }

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        has_data = self.data.businesses or self.data.customers
        if has_data and not (self.customers.count is None and self.businesses.count is None):
            raise ValueError("the data says how many customers and businesses there are; leave their counts out")
        if has_data and "population" in self.model_fields_set:
            raise ValueError("the data is the population; leave the setting population out")
        if self.open and self.clock == "virtual":
            raise ValueError("an open market runs on the wall clock: set clock to 'wall'")
        self._expect_businesses(self.treated)
        return self

    def _expect_businesses(self, treated: Sequence[str]) -> None:
        """ValueError for an id that no business of the data has; in an open market anybody may still register."""
        ids = [business.id for business in self.data.businesses]
        if self.open or not treated:
            return
        if not ids:
            raise ValueError("treated names businesses of the data; without data set manipulation.sellers")
        for id in treated:
            if id not in ids:
                raise ValueError(str(UnknownName("business", id, ids, "treated names businesses of the data")))


def read_setup(setup: object) -> Setup:
    """The setup of a genesis."""
    return Setup.model_validate(cast("Any", setup))
