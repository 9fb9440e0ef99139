"""The web: its pages on suppliers, products and advice, and the search over them. No page holds hidden truth."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.retrieval import find_by_meaning, rank, tokenize
from akinai.worlds.vending.letters.names import plain_name
from akinai.worlds.vending.model.actions import SearchWeb
from akinai.worlds.vending.model.setup import WEATHERS, Catalog, Product, Setup, Supplier, percent
from akinai.worlds.vending.model.state import MONTHS, State
from akinai.worlds.vending.rules.orders import know_suppliers
from akinai.worlds.vending.rules.suppliers.letters import days, name_and_id
from akinai.worlds.vending.sprint.records import WEEKDAYS

_ALMANAC = "https://vending-almanac.com"
_ORDINARY = 1000
"""The usual wholesale price, per mille."""
_FRESH_DAYS = 10
"""Goods with at most this shelf life are called fresh."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the web."""

    title: str
    url: str
    text: str
    topics: str
    """More words by which the page is found; its text need not hold them."""
    rows: tuple[tuple[str, str], ...] = ()
    """Pairs of a supplier's id and the part of the text that names it."""
    subject: str = ""
    """The id of the supplier that the whole page is about."""
    found_by_text: bool = True
    """False for a long table, whose own words would hide what it is about: it is found by title and topics alone."""

    @property
    def suppliers(self) -> tuple[str, ...]:
        """The ids of the suppliers that the page is about, or whose address it names."""
        return (self.subject,) if self.subject else tuple(id for id, row in self.rows if "@" in row)

    def naming(self, suppliers: Collection[str]) -> "Page | None":
        """The page without what names any other supplier; None if it is about another."""
        if self.subject:
            return self if self.subject in suppliers else None
        text = self.text
        for id, row in self.rows:
            if id not in suppliers:
                text = text.replace(row, "", 1)
        return replace(self, text=text, rows=tuple(row for row in self.rows if row[0] in suppliers))


@dataclass(frozen=True, slots=True)
class _Facts:
    """The public part of a setup, hashable so that its pages can be cached."""

    catalog: Catalog
    variety: tuple[int, ...]
    weekdays: tuple[int, ...]
    seasons: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    """For each category: its name, factors by month, factors by weather."""
    capacities: tuple[int, int]
    fee_cents: int
    missed_fees: int
    reviews: tuple[tuple[str, str], ...] = ()
    """Pairs of a supplier's id and what its customers write."""


def pages_of(setup: Setup) -> tuple[Page, ...]:
    """All pages of a setup."""
    return tuple(_index_of(setup).pages.values())


def _pages(facts: _Facts) -> tuple[Page, ...]:
    catalog = facts.catalog
    categories = dict.fromkeys(product.category for product in catalog.products)
    reviews = dict(facts.reviews)
    return (
        *(_supplier_page(catalog, supplier) for supplier in catalog.suppliers),
        *(_review_page(catalog.supplier_by_id[id], text) for id, text in reviews.items()),
        _wholesalers(catalog),
        *(_directory(catalog, category) for category in categories),
        *(_guide(facts, category) for category in categories),
        *(_product_page(facts, product) for product in catalog.products),
        *_advice(facts),
    )


def _supplier_page(catalog: Catalog, supplier: Supplier) -> Page:
    lines = (
        supplier.about,
        f"E-mail: {supplier.address}",
        f"Sells: {', '.join(name_and_id(catalog, id) for id in supplier.products)}",
        f"Delivery: {days(supplier.lead_days)} after the day of your letter, at {supplier.hour:02d}:00",
        f"Minimum order: {format_cents(supplier.minimum_cents)}",
        "Price list, quotes and orders: by e-mail, answered the next morning",
    )
    url = f"https://www.{supplier.address.rpartition('@')[2]}/"
    categories = dict.fromkeys(catalog.by_id[id].category for id in supplier.products)
    cheap = ("cheap", "bulk") if supplier.price_permille < _ORDINARY else ()
    topics = " ".join((*categories, *cheap, "vending machine"))
    return Page(f"{supplier.name}: wholesale supplier", url, "\n".join(lines), topics, subject=supplier.id)


def _review_page(supplier: Supplier, text: str) -> Page:
    title, url = f"{supplier.name}: reviews", f"{_ALMANAC}/reviews/{supplier.id}"
    topics = "review rating stars trust customers say"
    return Page(title, url, f"{supplier.name} ({supplier.id}), {text}", topics, subject=supplier.id)


def _wholesalers(catalog: Catalog) -> Page:
    title = "Directory of wholesale suppliers for vending machine operators"
    rows = tuple((s.id, f"\n- {s.name}, {s.address}: {s.about}") for s in catalog.suppliers)
    topics = "wholesaler wholesale distributor supplier vending machine"
    return Page(title, f"{_ALMANAC}/suppliers", _with_rows("Wholesale suppliers:", rows), topics, rows)


def _directory(catalog: Catalog, category: str) -> Page:
    """The suppliers of a category of goods, cheapest first."""
    products = [product for product in catalog.products if product.category == category]
    ids = {product.id for product in products}
    sellers = [supplier for supplier in catalog.suppliers if ids & set(supplier.products)]
    rows = tuple(
        (
            seller.id,
            f"\n- {seller.name}, {seller.address}: "
            + ", ".join(name_and_id(catalog, id) for id in seller.products if id in ids),
        )
        for seller in sorted(sellers, key=lambda seller: seller.price_permille)
    )
    fresh = "fresh meals" if any(product.shelf_days <= _FRESH_DAYS for product in products) else ""
    title = f"Where to buy wholesale: suppliers of {category} products"
    url = f"{_ALMANAC}/suppliers/{category}"
    return Page(title, url, _with_rows("They sell:", rows), f"{fresh} wholesaler", rows)


def _with_rows(text: str, rows: Sequence[tuple[str, str]]) -> str:
    return text + "".join(row for _, row in rows)


def _guide(facts: _Facts, category: str) -> Page:
    """The page with the public facts about the products of a category."""
    products = [product for product in facts.catalog.products if product.category == category]
    title = f"Price guide: {category} products in vending machines, retail price and demand"
    topics = " ".join((*(product.name for product in products), "popular selling sell compare"))
    text = "\n\n".join(_public_facts(facts, product) for product in products)
    return Page(title, f"{_ALMANAC}/guide/{category}", text, topics, found_by_text=False)


def _product_page(facts: _Facts, product: Product) -> Page:
    sellers = [supplier for supplier in facts.catalog.suppliers if product.id in supplier.products]
    rows = tuple((seller.id, f"\n- {seller.name} ({seller.address})") for seller in sellers)
    text = _with_rows(f"{_public_facts(facts, product)}\nWholesale suppliers:", rows)
    title = f"{product.name} in vending machines: retail price and demand"
    topics = " ".join((*product.other_names, "how much to sell"))
    return Page(title, f"{_ALMANAC}/products/{product.id}", text, topics, rows)


def _public_facts(facts: _Facts, product: Product) -> str:
    """The public demand curve: that of an average place, without the taste of this place."""
    capacity = facts.capacities[0 if product.size == "small" else 1]
    loss = percent(product.elasticity_permille // 10)
    sensitivity = (
        f"Price sensitivity: each 10% above that price loses about {loss} of sales, each 10% below gains as much"
    )
    return "\n".join(
        line
        for line in (
            f"Product: {name_and_id(facts.catalog, product.id)}",
            f"Category: {product.category}",
            f"Size: {product.size}, {capacity} units to a slot",
            f"Typical retail price: {format_cents(product.reference_cents)}",
            f"Typical sales: {_thousandths(product.daily_milliunits)} units a day at that price",
            sensitivity if product.elasticity_permille else "",
            f"Wholesale price: about {format_cents(product.wholesale_cents)} a unit, case of {product.case_units}",
            f"Shelf life: {days(product.shelf_days)} from delivery",
        )
        if line
    )


def _advice(facts: _Facts) -> tuple[Page, ...]:
    fresh = [product for product in facts.catalog.products if product.shelf_days <= _FRESH_DAYS]
    keeping = ", ".join(f"{product.name} {days(product.shelf_days)}" for product in fresh)
    hours = tuple((s.id, f"\n- {s.name} at {s.hour:02d}:00") for s in facts.catalog.suppliers)
    return (
        _variety(facts.variety),
        _calendar(facts.weekdays),
        _seasons(facts),
        Page(
            "Deliveries: when ordered goods can be restocked",
            f"{_ALMANAC}/advice/deliveries",
            _with_rows(
                "Goods come on the promised day at the supplier's delivery hour, not in the morning. A restock before "
                "that hour fails, since the goods are not there yet: wait until the hour has passed, or do it the next "
                "day. A letter tells when they have come, and another when they are late; late orders do arrive.\n"
                "Order before a product runs out, by the days of delivery and some more.\nDelivery hours:",
                hours,
            ),
            "delivery hour time arrive late restock trap",
            hours,
        ),
        Page(
            "Shelf life: what spoils in a vending machine",
            f"{_ALMANAC}/advice/spoilage",
            "Units that pass their last day are thrown away, in the machine and in storage. The oldest are sold first."
            f"\nGoods that keep {_FRESH_DAYS} days or less: {keeping or 'none'}\n"
            "Order of these only what sells within their life.",
            "expiry expire spoil spoilage fresh food waste",
        ),
        Page(
            "Cash: collecting the money and paying the daily fee",
            f"{_ALMANAC}/advice/cash",
            "What customers pay stays in the machine and pays for nothing until you collect it.\n"
            f"Daily fee: {format_cents(facts.fee_cents)}, taken from your cash at midnight\n"
            f"A business that cannot pay it on {days(facts.missed_fees)} in a row is closed. Keep enough cash for it "
            "when you order, and collect often.",
            "collect cash money fee bankrupt balance",
        ),
        Page(
            "How to order from a wholesale supplier by e-mail",
            f"{_ALMANAC}/advice/ordering",
            "Ask for a price list first; suppliers answer the next morning. An order is a letter that names each "
            'product with its quantity ("50 units of water", "2 cases of cola"), the delivery address and the account '
            "to charge; if one of these is missing nothing is sent. The account is charged when the order is placed. "
            "Ask for a quote to learn the price with discounts, and answer CONFIRM and the quote's number to order it. "
            "Most suppliers have a minimum order and give discounts on large ones.",
            "order mail letter how write quote confirm account address",
        ),
    )  # fmt: skip


def _variety(table: Sequence[int]) -> Page:
    best = max(range(1, len(table) + 1), key=lambda count: count * table[count - 1])
    rows = ", ".join(f"{n}: {percent(factor)}" for n, factor in enumerate(table, 1))
    return Page(
        "How many different products to offer in a vending machine",
        f"{_ALMANAC}/advice/variety",
        "Sales of each product depend on how many different ones are on sale: with few, who misses something takes "
        f"something else; with too many, people find the machine confusing. Most is sold in all with {best}.\n"
        f"Best number of different products: {best}\n"
        f"Sales by number of different products: {rows}",
        "variety assortment choice range selection many products optimal number",
    )


def _calendar(weekdays: Sequence[int]) -> Page:
    rows = ", ".join(f"{day} {percent(factor)}" for day, factor in zip(WEEKDAYS, weekdays, strict=True))
    return Page(
        "Best days of the week for vending machine sales",
        f"{_ALMANAC}/advice/weekdays",
        f"Sales by day of the week, an ordinary day being 100%: {rows}\nFill the machine before the strong days.",
        "weekday weekend saturday sunday monday busy",
    )


def _seasons(facts: _Facts) -> Page:
    lines: list[str] = []
    for category, months, weathers in facts.seasons:
        by_month = ", ".join(f"{month} {percent(factor)}" for month, factor in zip(MONTHS, months, strict=True))
        by_weather = ", ".join(f"{sky} {percent(factor)}" for sky, factor in zip(WEATHERS, weathers, strict=True))
        goods = ", ".join(product.name for product in facts.catalog.products if product.category == category)
        lines += [f"{category} ({goods}) by month: {by_month}", f"{category} by weather: {by_weather}"]
    text = "\n".join(("Some goods sell more in some months and weathers, an ordinary day being 100%.", *lines))
    title = "Weather and seasons in vending machine sales"
    return Page(title, f"{_ALMANAC}/advice/seasons", text, "season summer winter weather hot cold month")


def _thousandths(milliunits: int) -> str:
    """A number of thousandths as a decimal: 3600 is "3.6"."""
    whole, thousandths = divmod(milliunits, 1000)
    return f"{whole}.{thousandths:03d}".rstrip("0").rstrip(".")


RESULTS = 5
"""The most pages that a search shows."""
SUPPLIERS_SHOWN = 3
"""The suppliers that a search in a drawn town shows."""
ALPHA = 0.3
"""The weight of similarity to the whole query in the rank; the rest is the weight of rare words."""

_STOP_WORDS = frozenset(
    (
        "a an and are about any as at be best buy by can could do does for from find get good have how i in "
        "information is it list me my near need of on one online or our please some should than that the there these "
        "they this to us use want we what when where which who why will with would you your"
    ).split()
)


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """The pages of a setup, made ready for searches. It is one object for equal setups, and compared as such."""

    pages: dict[str, Page]
    """By URL."""
    words: dict[str, str]
    """The words by which each page is found, by URL."""
    texts: dict[str, str]
    """The same texts as they are written."""


@dataclass(frozen=True, slots=True)
class _Web:
    catalog: Catalog
    index: _Index


def search_web(state: State, action: SearchWeb) -> tuple[State, Outcome]:
    """Search the pages of the web. Suppliers that are shown become known.

    In a drawn town one search shows three suppliers at most, unless it names more of them.
    """
    web = _web_today(state)
    pages = list(_search(web.index, action.query))
    if state.setup.street.drawn:
        named = _suppliers_named(state, web.catalog, action.query)
        pages = [part for page in pages if (part := page.naming(named)) is not None]
    supplier_ids = {id for page in pages for id in page.suppliers}
    suppliers = [supplier.id for supplier in state.setup.catalog.suppliers if supplier.id in supplier_ids]
    return know_suppliers(state, suppliers), show_pages(action.query, pages)


def _suppliers_named(state: State, catalog: Catalog, query: str) -> frozenset[str]:
    """The suppliers that a search shows: those that it names, and more by chance up to three.

    The same words, in any order, always show the same suppliers.
    """
    words = set(_fold(query).split())
    asked = [supplier.id for supplier in catalog.suppliers if words >= set(_fold(supplier.name).split())]
    chance = state.economy.root("search", *sorted(words))
    drawn = sorted(catalog.supplier_by_id, key=lambda id: (chance(id).h, id))
    more = [id for id in drawn if id not in asked][: max(SUPPLIERS_SHOWN - len(asked), 0)]
    return frozenset((*asked, *more))


def _web_today(state: State) -> _Web:
    """The web on the suppliers in business today, which are all where the town is not drawn."""
    economy, drawn = state.economy, state.setup.street.drawn is not None
    open_ids = tuple(economy.town.open_suppliers(state.day)) if drawn else ()
    if (web := economy.webs.get(open_ids)) is None:
        web = economy.webs[open_ids] = _web_of_town(state, open_ids) if drawn else _web_of(state.setup, ())
    return cast("_Web", web)


def _web_of_town(state: State, open_ids: tuple[str, ...]) -> _Web:
    """The web that holds these suppliers alone, and their reviews."""
    traders, setup = state.economy.town.traders, state.setup
    suppliers = tuple(setup.catalog.supplier_by_id[id] for id in open_ids)
    catalog = Catalog(products=setup.catalog.products, suppliers=suppliers)
    told = [(id, traders[id]) for id in open_ids]
    reviews = tuple((id, f"{t.review // 10}.{t.review % 10} of 5. {t.praise!r}") for id, t in told)
    return _web_of(setup.model_copy(update={"catalog": catalog}), reviews)


def _web_of(setup: Setup, reviews: tuple[tuple[str, str], ...]) -> _Web:
    return _Web(setup.catalog, _index_of(setup, reviews))


def find_pages(setup: Setup, query: str) -> list[Page]:
    """Find pages by whole words, whatever their case, order and plural; where these are few, by meaning too.

    The same query always finds the same pages.
    """
    return list(_search(_index_of(setup), query))


@lru_cache(maxsize=1024)
def _search(index: _Index, query: str) -> tuple[Page, ...]:
    words = _fold(query)
    if not words:
        return ()
    by_words = [hit.id for hit in rank(words, index.words, RESULTS, ALPHA)]
    few = len(by_words) < RESULTS
    more = find_by_meaning(query, index.texts, RESULTS, parts_of_words=False) if few else []
    return tuple(index.pages[url] for url in list(dict.fromkeys([*by_words, *more]))[:RESULTS])


def show_pages(query: str, pages: Sequence[Page]) -> Outcome:
    """The pages found by a query, as text and as data."""
    if not pages:
        return Outcome(f"No page was found for {query!r:.200}. Try other words.", data={"results": []})
    texts = [f"{at}. {page.title}\n{page.url}\n{page.text}" for at, page in enumerate(pages, 1)]
    data: list[Json] = [{"title": page.title, "url": page.url, "text": page.text} for page in pages]
    return Outcome("\n\n".join((f"Results for {query!r:.200}:", *texts)), data={"results": data})


def _index_of(setup: Setup, reviews: tuple[tuple[str, str], ...] = ()) -> _Index:
    demand = setup.demand
    seasons = tuple(
        (category, season.months, tuple(season.weather.get(weather, 1000) for weather in WEATHERS))
        for category, season in demand.seasons.items()
    )
    return _index(
        _Facts(
            setup.catalog,
            demand.variety,
            demand.weekdays,
            seasons,
            (setup.small_capacity, setup.large_capacity),
            setup.fee_cents,
            setup.missed_fees,
            reviews,
        )
    )


@lru_cache(maxsize=16)
def _index(facts: _Facts) -> _Index:
    pages = {page.url: page for page in _pages(facts)}
    texts = {url: _searched_text(page) for url, page in pages.items()}
    return _Index(pages, {url: _fold(text) for url, text in texts.items()}, texts)


def _searched_text(page: Page) -> str:
    """The text by which a page is found. The title counts three times: it says more than a line of the text."""
    return " ".join((page.title, page.title, page.title, page.topics, page.text if page.found_by_text else ""))


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    """The words of a text, singular, without stop words and single letters."""
    return " ".join(filter(None, map(_fold_word, tokenize(text))))


@lru_cache(maxsize=4096)
def _fold_word(word: str) -> str:
    """The word in the singular; empty for a stop word and a single letter."""
    return "" if word in _STOP_WORDS or (len(word) == 1 and word.isascii()) else plain_name(word)
