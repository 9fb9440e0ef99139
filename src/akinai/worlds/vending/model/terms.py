"""The terms of a street: what differs between presets, each matter in a table of its own."""

from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from akinai.worlds.vending.model.verb import unless

Permille = Annotated[int, Field(ge=0, le=10_000)]
Share = Annotated[int, Field(ge=0, le=1000)]
Cents = Annotated[int, Field(ge=0, le=100_000_000)]
Days = Annotated[int, Field(ge=0, le=100_000)]
Minute = Annotated[int, Field(ge=0, le=600)]
Span = tuple[int, int]
"""The least and the greatest value of a uniform draw, both included."""

Character = Literal["honest", "haggler", "gouger", "cheat", "slow"]
EventKind = Literal["festival", "heat", "works", "holiday"]
ShockKind = Literal["supplier_fails", "bad_delivery", "complaints", "price_war", "nothing"]
FIRST_SHOCK_DAY = 15


class Terms(BaseModel):
    """The base of settings: frozen, and without fields of other names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Block(Terms):
    """Customers who come together: they are booked at their hour, from the stock and the prices of that moment."""

    hour: Annotated[int, Field(ge=8, le=23)]
    share_permille: Share


class Counter(Terms):
    """How customers pay and when."""

    blocks: tuple[Block, ...] = (
        Block(hour=8, share_permille=340),
        Block(hour=13, share_permille=360),
        Block(hour=18, share_permille=300),
    )
    card_permille: Share = 500
    """The part that is paid by card, which reaches the bank the next morning."""
    box_cents: Cents = 22_000
    """At this much cash in its box a machine takes cards only."""
    full_box_permille: Share = 500
    """The part of the customers who buy nonetheless."""

    @cached_property
    def minutes(self) -> tuple[int, ...]:
        """The minutes of the day at which blocks of customers come."""
        return tuple(block.hour * 60 for block in self.blocks)

    @property
    def hours(self) -> str:
        """The same in words: "08:00, 13:00, 18:00"."""
        return ", ".join(f"{block.hour:02d}:00" for block in self.blocks)


class CharacterTerms(Terms):
    """What suppliers of a character ask, accept and deliver; prices per mille of the trade price."""

    ask: Span
    accept: Span
    """The lowest price that bargaining reaches."""
    lead: Span = (2, 4)
    late_permille: Share = 100
    late_days: Span = (1, 3)
    lost_permille: Share = 0
    """How many orders never come."""
    short_permille: Share = 280
    """How many of the others lack a part of every line."""
    short_part: tuple[Share, Share] = (200, 600)
    """That part, per mille."""
    pays_claims_permille: Share = 1000
    review: int
    """The mean of its reviews, in tenths of a star."""
    praise: str


def _characters() -> dict[Character, CharacterTerms]:
    fair, firm, dear = "Fair once you bargain.", "Says a price and keeps to it.", "Good goods, and they know it."
    return {
        "honest": CharacterTerms(ask=(1120, 1240), accept=(1000, 1060), review=43, praise=firm),
        "haggler": CharacterTerms(ask=(1150, 1380), accept=(690, 790), review=41, praise=fair),
        "gouger": CharacterTerms(ask=(1500, 1900), accept=(1300, 1400), review=37, praise=dear),
        "cheat": CharacterTerms(
            ask=(700, 860), accept=(680, 680), late_permille=350, lost_permille=300, short_permille=857,
            short_part=(250, 600), pays_claims_permille=200, review=27,
            praise="Nobody beats these prices! Count your boxes.",
        ),
        "slow": CharacterTerms(
            ask=(960, 1020), accept=(900, 900), lead=(6, 9), late_permille=450, late_days=(1, 6), review=33,
            praise="Cheap, if you have the time.",
        ),
    }  # fmt: skip


class Drawn(Terms):
    """What each seed draws: goods out of the catalogue, suppliers, tastes, and how good places are. Per mille."""

    small: Annotated[int, Field(ge=1, le=50)] = 8
    large: Annotated[int, Field(ge=1, le=50)] = 8
    demand: Span = (800, 1250)
    known_demand: Span = (700, 1300)
    """The popularity that the web names, around the true one."""
    premium: Span = (850, 1350)
    """What customers of this town pay over the typical price."""
    worth: Span = (500, 1700)
    """The same for each product."""
    elasticity: Span = (1400, 2800)
    crowd_permille: Annotated[int, Field(ge=0, le=900)] = 250
    taste_days: Annotated[int, Field(ge=1)] = 52
    """After so many days the taste for a product changes."""
    taste_kept_permille: Share = 550
    """The correlation of two tastes in a row."""
    suppliers: Annotated[tuple[Character, ...], Field(min_length=1, max_length=30)] = (
        "honest", "honest", "haggler", "haggler", "haggler", "haggler", "gouger", "cheat", "cheat", "slow",
        "cheat", "haggler", "honest",
    )  # fmt: skip
    first: Annotated[int, Field(ge=1)] = 10
    """How many of them are in business on the first day."""
    closing: Annotated[int, Field(ge=0, le=4)] = 1
    """How many suppliers go out of business during the run."""
    sells: Span = (550, 850)
    """How much of the goods a supplier sells; the first sells 950."""
    own_price: Span = (960, 1040)
    """How a supplier's price for a product differs from its others."""
    minimum_cents: tuple[int, ...] = (2000, 3000, 4000)
    freight_cents: Cents = 200
    patience: Span = (3, 5)
    """Offers that a supplier answers before its last word."""
    gives: Span = (300, 550)
    """How much of the distance to an offer it gives."""
    rival_permille: Share = 150
    """How much more it gives where a rival's lower price is named."""
    level_permille: Share = 500
    """How far a town that pays less has more customers: 0 not at all, 1000 in proportion."""
    talk_days: Days = 30
    """For how long an agreed price holds."""
    characters: dict[Character, CharacterTerms] = Field(default_factory=_characters)


class Deliveries(Terms):
    """Goods must be signed for at the storage, counted and claimed."""

    signed: bool = unless(True)
    """Whether it is so. Otherwise goods are put into storage whoever is there, and an order can be changed until the
    evening before its delivery."""
    depot_cents: Cents = 1200
    depot_permille: Share = 70
    """Of the goods' price."""
    depot_days: Days = 2
    """After so many days at the depot goods go back."""
    back_permille: Share = 400
    """What is paid back for goods that went back from the depot."""
    claim_days: Days = 4
    more_days: Days = unless(0)
    """Days that every delivery takes longer than its supplier's character says."""
    moved_permille: Share = 450
    """How many deliveries come at another hour of their day, as a letter of that morning says."""
    over_permille: Share = unless(0)
    """How many of the deliveries that lack nothing bring a box too many, which nobody bills: one line twice."""


class Storage(Terms):
    """Storage that is limited and costs."""

    units: Annotated[int, Field(ge=1)] = 360
    units_a_site: Annotated[int, Field(ge=0)] = 140
    """More units for each further site."""
    night_cents: Cents = 1
    """For a unit and night."""
    overflow_permille: Share = 600
    """What is paid back for goods that found no room."""
    jobber_permille: Share = 200
    """What a jobber pays, of the trade price; goods that are left at the end are worth it too."""


class Customers(Terms):
    """Customers who complain and remember. Goodwill, a factor of demand at a site, in millionths."""

    complaints_permille: Share = 14
    """Letters for each thousand units sold."""
    answer_days: Days = 3
    refund_days: Days = 5
    paid_ppm: int = 1_000
    refused_ppm: int = 13_000
    ignored_ppm: int = 13_000
    often_ppm: int = 200
    """Lost besides, for each other complaint of the last `often_days` that was refused or left without an answer."""
    often_days: Days = 28
    broken_promise_ppm: int = 20_000
    unserved_ppm: int = 22_000
    """Lost a day in which nobody is served, less what is forgiven."""
    forgiven_permille: Share = 200
    back_permille: Share = 45
    """Of what is missing, a day."""
    least_ppm: int = 350_000


class Rent(Terms):
    """Rent of a site: due at intervals, and never taken by itself."""

    cents: Cents = 8500
    """For a site of average footfall; half of it moves with the footfall that was counted."""
    every_days: Annotated[int, Field(ge=2)] = 28
    late_permille: Permille = 1000
    """Added to a rent that is paid late."""
    sealed_days: Annotated[int, Field(ge=1)] = unless(1)
    """Days after which a rent that is not paid has the machine sealed."""
    unsealed_days: Annotated[int, Field(ge=1)] = 2
    """Mornings from a late payment to the opening of a sealed machine."""
    lost_days: Days = 21
    defer_cents: Cents = 1000
    """For deferring a rent, once."""
    defer_days: Days = 7


class Pitch(Terms):
    """From a day on, another site can be taken."""

    day: Annotated[int, Field(ge=1)]
    cents: Cents


class Sites(Terms):
    """Sites, each with a machine: the first, and those that can be taken later. Per mille."""

    names: tuple[Annotated[str, StringConstraints(min_length=1, max_length=40)], ...] = (
        "Bay Street", "Mission Street", "Ferry Square", "Park Avenue",
    )  # fmt: skip
    first: Span = (900, 1100)
    others: Span = (650, 950)
    survey: Span = (820, 1180)
    """The footfall that was counted, around the true one."""
    pitches: tuple[Pitch, ...] = (
        Pitch(day=32, cents=60_000),
        Pitch(day=95, cents=110_000),
        Pitch(day=150, cents=160_000),
    )


class Effect(Terms):
    """What an event does for how long. Per mille of demand; `categories` go before `demand_permille`."""

    days: Annotated[int, Field(ge=1)]
    demand_permille: Permille
    categories: dict[str, Permille] = {}
    worth_permille: Permille = 1000
    """What people pay."""
    weight: Annotated[int, Field(ge=0)] = 1
    """How often it comes."""

    @property
    def says(self) -> str:
        """What the news says of it."""
        times = [f"{name} {factor / 1000:g} times" for name, factor in self.categories.items()]
        rest = f"{self.demand_permille / 1000:g} times"
        people = f"Sales: {', '.join((*times, f'all else {rest}'))}." if times else f"{rest} the people."
        pays = f" They pay {self.worth_permille / 10 - 100:g}% more." if self.worth_permille != 1000 else ""
        return f"{people}{pays}"

    def permille_of(self, category: str) -> int:
        """The demand for goods of a category while it lasts, per mille of that of other days."""
        return self.categories.get(category, self.demand_permille)


def _effects() -> dict[EventKind, Effect]:
    return {
        "festival": Effect(days=3, demand_permille=2500, worth_permille=1250, weight=2),
        "heat": Effect(days=5, demand_permille=950, categories={"drink": 2700, "dairy": 1700}),
        "works": Effect(days=7, demand_permille=450),
        "holiday": Effect(days=4, demand_permille=300),
    }


class Events(Terms):
    """Events that the news announces."""

    gap: Span = (3, 8)
    """Days from one to the next."""
    notice: Span = (4, 9)
    """Days from the news to the event."""
    kinds: dict[EventKind, Effect] = Field(default_factory=_effects)


class Errands(Terms):
    """How long the tools of such a business take, in minutes."""

    mail: Minute = 10
    letter: Minute = 15
    price_lists: Minute = 10
    news: Minute = 20
    search: Minute = 45
    pay: Minute = 5
    travel: Minute = 25
    slot: Minute = 3
    """For each product that is moved at a machine."""
    collect: Minute = 5
    prices: Minute = 10
    count: Minute = 10
    fetch: Minute = 75
    contract: Minute = 60
    rivals: Minute = unless(25)


Goal = Literal["bank_balance", "net_worth"]


class Street(Terms):
    """All terms of a street; a table that is not given has its defaults."""

    goal: Goal = unless("bank_balance")
    """The headline of the scores."""
    drawn: Drawn | None = Drawn()
    """Without it goods, suppliers and prices are those of the catalogue, and suppliers are honest."""
    counter: Counter = Counter()
    deliveries: Deliveries = Deliveries()
    storage: Storage = Storage()
    customers: Customers = Customers()
    rent: Rent = Rent()
    sites: Sites = Sites()
    events: Events = Events()
    errands: Errands | None = Errands()
    """Without them the one machine is at hand, slot by slot, and tools take the time of `Setup.minutes`."""

    @property
    def alone(self) -> bool:
        """Whether there is a single site, which then needs no name."""
        return len(self.sites.names) == 1


UNLIMITED = 10**8
SINGLE = Street(
    goal="net_worth",
    drawn=None,
    counter=Counter(card_permille=0, box_cents=UNLIMITED),
    deliveries=Deliveries(signed=False, moved_permille=0),
    storage=Storage(units=UNLIMITED, night_cents=0, jobber_permille=0),
    customers=Customers(complaints_permille=0, unserved_ppm=0),
    rent=Rent(cents=0, every_days=UNLIMITED),
    sites=Sites(names=("Harbor Street",), pitches=()),
    events=Events(kinds={}),
    errands=None,
)
"""A machine is a street of one site, on which nobody pays by card, complains, delivers short or wants rent."""


class Shock(Terms):
    """A misfortune that is planted on a day, for every owner of the street."""

    kind: ShockKind
    """`supplier_fails`: the supplier from whom owners bought for most money goes out of business, and what was prepaid
    is lost. `bad_delivery`: what comes in the next seven days lacks two thirds of every line. `complaints`: for three
    days 400 letters come for each thousand units sold. `price_war`: for fourteen days a kiosk beside each machine
    sells the same at 60 % of what people find right. `nothing`: the control, from which the same scores are read."""
    day: Annotated[int, Field(ge=FIRST_SHOCK_DAY)]
    """The owner's day on the morning of which it comes. Recovery is measured against the fourteen days before it."""


class Counterfactual(Terms):
    """Another future: from the day after `after` on, daily noise is drawn with `salt`; hidden parameters stay."""

    after: Annotated[int, Field(ge=0)]
    salt: int
