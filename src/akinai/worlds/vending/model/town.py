"""The town that a seed draws: tastes, places, suppliers, events. All of it but the catalogue is hidden from agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, TypeVar

from akinai.core.chance import Chance
from akinai.worlds.vending.model.setup import Catalog, Product, Setup, Supplier
from akinai.worlds.vending.model.terms import CharacterTerms, Drawn, EventKind, Street

T = TypeVar("T")
ONE = 1 << 20
NEVER = 10**6
"""A day that does not come."""

# Quantiles of the normal distribution at (i + 1/2) / 64, in thousandths: the draw of one is a look into this table.
_NORMAL = (
    -2418, -1987, -1762, -1601, -1473, -1366, -1273, -1189, -1113, -1043, -978, -917, -858, -803, -750, -699,
    -650, -602, -556, -511, -467, -424, -381, -339, -298, -257, -217, -177, -138, -98, -59, -20,
    20, 59, 98, 138, 177, 217, 257, 298, 339, 381, 424, 467, 511, 556, 602, 650,
    699, 750, 803, 858, 917, 978, 1043, 1113, 1189, 1273, 1366, 1473, 1601, 1762, 1987, 2418,
)  # fmt: skip
# exp(0.42 x - 0.42^2 / 2) per mille for x from -4 to 4 in quarters: a lognormal taste with mean 1.
_TASTE = (
    171, 190, 211, 234, 260, 288, 320, 356, 395, 439, 488, 542, 602, 668, 742, 824, 916, 1017, 1130, 1255, 1393, 1548,
    1719, 1909, 2121, 2356, 2616, 2906, 3228, 3585, 3982, 4423, 4913,
)  # fmt: skip
_SECOND_WEIGHT = {550: 835}
"""sqrt(1 - r^2) per mille by r, for the usual correlation; other correlations are met within one per cent."""


class Taste(NamedTuple):
    """How a product is liked in this town."""

    base: int
    """Units a day at the price people find right, in Q20."""
    worth_cents: int
    """The price people find right."""
    elasticity_permille: int
    by_period: tuple[int, ...]
    """Per mille, for each stretch of `taste_days`."""
    phase: int
    """Days by which its stretches are shifted."""
    category: str


class Trader(NamedTuple):
    """The hidden side of a supplier."""

    character: str
    terms: CharacterTerms
    accept_permille: int
    gives_permille: int
    patience: int
    review: int
    """In tenths of a star."""
    praise: str
    """A sentence by one of its customers; it need not be typical."""
    opens: int
    closes: int
    """The first day on which it is out of business."""
    news_day: int


class Event(NamedTuple):
    """Days on which more or fewer people come."""

    kind: EventKind
    first: int
    last: int
    news_day: int


@dataclass(frozen=True)
class Town:
    """The goods, tastes, suppliers, places and events that a seed draws."""

    catalog: Catalog
    """The goods and suppliers of this seed."""
    taste_days: int
    """After so many days the taste for a product changes."""
    crowd_permille: int
    """Each day is busier or quieter by up to this."""
    tastes: Mapping[str, Taste]
    traders: Mapping[str, Trader]
    footfall: tuple[int, ...]
    """Customers of each place, per mille of an average place."""
    survey: tuple[int, ...]
    """The footfall as counted, per mille: public, and not exact."""
    events: tuple[Event, ...]

    def event_on(self, day: int) -> Event | None:
        """The event of a day; there is never more than one."""
        return next((event for event in self.events if event.first <= day <= event.last), None)

    def open_suppliers(self, day: int) -> list[str]:
        """Ids of the suppliers that are in business on a day."""
        return [id for id, trader in self.traders.items() if trader.opens <= day < trader.closes]


def draw_town(setup: Setup, root: Chance) -> Town:
    """Draw the town of a seed. Its chance labels differ from those of daily noise."""
    drawn = setup.street.drawn
    return _fixed_town(setup, root) if drawn is None else _drawn_town(setup, drawn, root("town"))


def _fixed_town(setup: Setup, root: Chance) -> Town:
    """The town of a catalogue: its goods and honest suppliers, with tastes and a place drawn around the public ones."""
    catalog, demand = setup.catalog, setup.demand
    tastes: dict[str, Taste] = {}
    for product in catalog.products:
        liking = _around(root("taste", product.id), demand.taste_permille)
        base = product.daily_milliunits * liking * ONE // 1_000_000
        elasticity = product.elasticity_permille
        tastes[product.id] = Taste(base, product.reference_cents, elasticity, (1000,), 0, product.category)
    footfall = (_around(root("place"), demand.place_permille),)
    traders = {supplier.id: _honest_trader(supplier) for supplier in catalog.suppliers}
    return Town(catalog, NEVER, demand.crowd_permille, tastes, traders, footfall, (1000,), ())


def _around(chance: Chance, width_permille: int) -> int:
    return chance.between(1000 - width_permille, 1000 + width_permille)


def _honest_trader(supplier: Supplier) -> Trader:
    """A supplier with the prices and the punctuality of the catalogue, who does not bargain."""
    terms = CharacterTerms(
        ask=(supplier.price_permille, supplier.price_permille),
        accept=(supplier.price_permille, supplier.price_permille),
        late_permille=1000 - supplier.on_time_permille,
        short_permille=0,
        review=50,
        praise="",
    )
    return Trader("honest", terms, supplier.price_permille, 0, 0, terms.review, "", 1, NEVER, NEVER)


def _drawn_town(setup: Setup, drawn: Drawn, chance: Chance) -> Town:
    street, goods = setup.street, _goods(setup.catalog.products, drawn, chance("goods"))
    horizon = setup.last_day or 365
    traders, suppliers = _suppliers(goods, drawn, horizon, street.deliveries.more_days, chance("suppliers"))
    premium = chance("premium").between(*drawn.premium)
    tastes: dict[str, Taste] = {}
    public_products: list[Product] = []
    usual = sum(drawn.premium) // 2
    busy_permille = 1000 + (usual * 1000 // premium - 1000) * drawn.level_permille // 1000
    for product in goods:
        taste = _taste(product, drawn, premium, horizon, chance("taste", product.id))
        popularity = taste.base * chance("known", product.id).between(*drawn.known_demand) >> 20
        tastes[product.id] = taste._replace(base=taste.base * busy_permille // 1000)
        public_products.append(product.model_copy(update={"daily_milliunits": max(popularity, 1)}))
    spans = (street.sites.first, *[street.sites.others] * (len(street.sites.names) - 1))
    footfall = tuple(chance("footfall", index).between(*span) for index, span in enumerate(spans))
    survey = tuple(
        chance("survey", index).between(*street.sites.survey) * visitors // 1000
        for index, visitors in enumerate(footfall)
    )
    catalog = Catalog(products=tuple(public_products), suppliers=tuple(suppliers))
    events = _events(street, horizon, chance("events"))
    return Town(catalog, drawn.taste_days, drawn.crowd_permille, tastes, traders, footfall, survey, events)


def _goods(pool: Sequence[Product], drawn: Drawn, chance: Chance) -> list[Product]:
    picked: list[Product] = []
    for size, count in (("small", drawn.small), ("large", drawn.large)):
        products = [product for product in pool if product.size == size]
        picked += _sample(products, count, chance(size))
    return picked


def _sample(pool: Sequence[T], count: int, chance: Chance) -> list[T]:
    """Draw so many different items, in the order of the draw."""
    left = list(pool)
    return [left.pop(chance(number).below(len(left))) for number in range(count)]


def normal(chance: Chance) -> int:
    """A draw of the normal distribution in thousandths, by table."""
    return _NORMAL[chance.below(64)]


def _taste(product: Product, drawn: Drawn, premium: int, horizon: int, chance: Chance) -> Taste:
    # daily_milliunits / 1000 in Q20, times the drawn factor per mille
    base = product.daily_milliunits * chance("base").between(*drawn.demand) * ONE // 1_000_000
    worth = product.reference_cents * premium * chance("worth").between(*drawn.worth) // 1_000_000
    correlation = drawn.taste_kept_permille
    fresh = _SECOND_WEIGHT.get(correlation, 1000 - correlation * correlation // 2000)
    liking, by_period = normal(chance("like", 0)), list[int]()
    for period in range(1, horizon // drawn.taste_days + 4):
        by_period.append(_lognormal(liking))
        liking = (correlation * liking + fresh * normal(chance("like", period))) // 1000
    phase, elasticity = chance("phase").below(drawn.taste_days), chance("elasticity").between(*drawn.elasticity)
    return Taste(base, worth, elasticity, tuple(by_period), phase, product.category)


def _lognormal(x: int) -> int:
    """The table of tastes at x thousandths, interpolated."""
    step, offset = divmod(min(max(x, -4000), 3999) + 4000, 250)
    low, high = _TASTE[step], _TASTE[step + 1]
    return low + (high - low) * offset // 250


def _suppliers(
    goods: Sequence[Product], drawn: Drawn, horizon: int, more_days: int, chance: Chance
) -> tuple[dict[str, Trader], list[Supplier]]:
    names = _sample(_FIRST_NAMES, len(drawn.suppliers), chance("names"))
    fair = [i for i, kind in enumerate(drawn.suppliers[: drawn.first]) if kind in ("honest", "haggler") and i]
    closing = set(_sample(fair, min(drawn.closing, len(fair)), chance("closing")))
    traders: dict[str, Trader] = {}
    suppliers: list[Supplier] = []
    for index, character in enumerate(drawn.suppliers):
        own, terms = chance(index), drawn.characters[character]
        name = f"{names[index]} {_SECOND_NAMES[own('name').below(len(_SECOND_NAMES))]}"
        id = name.lower().replace(" ", "_")
        share = 950 if index == 0 else own("share").between(*drawn.sells)
        sold = [product for product in goods if own("sells", product.id).below(1000) < share] or [goods[0]]
        closes = own("closes").between(20, max(25, horizon * 4 // 5)) if index in closing else NEVER
        review = terms.review + 45 * normal(own("review")) // 10_000
        traders[id] = Trader(
            character,
            terms,
            own("accept").between(*terms.accept),
            own("gives").between(*drawn.gives),
            own("patience").between(*drawn.patience),
            min(max(review, 10), 50),
            _praise(drawn, terms, own("praise")),
            1 if index < drawn.first else own("opens").between(20, max(30, horizon * 2 // 3)),
            closes,
            closes - own("rumour").between(5, 10),
        )
        suppliers.append(
            Supplier(
                id=id,
                name=name,
                address=f"orders@{id.replace('_', '-')}.com",
                about=_ABOUT[own("about").below(len(_ABOUT))],
                products=tuple(product.id for product in sold),
                price_permille=own("ask").between(*terms.ask),
                lead_days=own("lead").between(*terms.lead) + more_days,
                hour=own("hour").between(10, 17),
                minimum_cents=drawn.minimum_cents[own("minimum").below(len(drawn.minimum_cents))],
                on_time_permille=1000,
                own_permille=tuple(own("price", product.id).between(*drawn.own_price) for product in sold),
                freight_cents=drawn.freight_cents,
            )
        )
    return traders, suppliers


def _praise(drawn: Drawn, terms: CharacterTerms, chance: Chance) -> str:
    """A sentence from a review: half of the time what is typical of the supplier's character, otherwise any."""
    if chance("typical").below(2):
        return terms.praise
    praises = [character.praise for character in drawn.characters.values()]
    return praises[chance("any").below(len(praises))]


def _events(street: Street, horizon: int, chance: Chance) -> tuple[Event, ...]:
    """Events up to the end of the run and some weeks beyond it, so that news near the end names them too."""
    kinds: list[EventKind] = []
    for kind, effect in street.events.kinds.items():
        kinds.extend(repeat(kind, effect.weight))
    events: list[Event] = []
    day = chance("first").between(6, 14)
    while kinds and day < horizon + 14:
        own = chance(len(events))
        kind = kinds[own("kind").below(len(kinds))]
        last = day + street.events.kinds[kind].days - 1
        events.append(Event(kind, day, last, max(1, day - own("notice").between(*street.events.notice))))
        day = last + 1 + own("gap").between(*street.events.gap)
    return tuple(events)


_FIRST_NAMES = (
    "Harbor", "Alder", "Bayview", "Cedar", "Delta", "Eastgate", "Fairmont", "Granite", "Hillside", "Ironwood",
    "Juniper", "Keystone", "Lakeshore", "Marina", "Northfield", "Orchard", "Pinecrest", "Quarry", "Redwood", "Summit",
    "Tidewater", "Union", "Valley", "Westport", "Yarrow", "Amber", "Beacon", "Canyon", "Driftwood", "Elm",
)  # fmt: skip
_SECOND_NAMES = ("Wholesale", "Supply", "Trading", "Foods", "Distribution", "Provisions")
_ABOUT = (
    "Food and drinks for shops and machines.",
    "Wholesale for kiosks, canteens and vending machines.",
    "A family business that delivers in the whole bay area.",
    "Everything that a machine can hold, from one warehouse.",
)
