"""A trader's memory."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from akinai.worlds.vending.players.beliefs import Calendar, Effect, Outlook, Product, Sales
from akinai.worlds.vending.players.observations import Offer


@dataclass(slots=True)
class OpenOrder:
    """An order that has not come, as noted when it was placed."""

    supplier: str
    units: dict[str, int]
    cost_cents: int
    sent: int
    promised: int
    """The promised day."""
    hour: int


@dataclass(slots=True)
class Bargain:
    """A talk with a supplier."""

    until: int
    done: bool = False


@dataclass
class Memory:
    """All that a trader knows; forgetting everything is beginning with a new one."""

    products: dict[str, Product] = field(default_factory=dict[str, Product])
    calendar: Calendar = field(default_factory=Calendar)
    offers: dict[str, Offer] = field(default_factory=dict[str, Offer])
    ratings: dict[str, float] = field(default_factory=dict[str, float])
    trust: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    """By supplier: deliveries, and the part of what was paid that came, summed."""
    bargains: dict[str, Bargain] = field(default_factory=dict[str, Bargain])
    sales: defaultdict[str, Sales] = field(default_factory=lambda: defaultdict[str, Sales](Sales))
    open: dict[int, OpenOrder] = field(default_factory=dict[int, OpenOrder])
    site_factors: dict[int, float] = field(default_factory=dict[int, float])
    """By site: its customers, as a multiple of those of an average place."""
    dues: dict[int, int] = field(default_factory=dict[int, int])
    """By site: the day until which the rent is to be paid."""
    variety: tuple[float, ...] = ()
    """The factor on sales by number of different products, from one, as the web says."""
    events: list[tuple[int, int, Effect]] = field(default_factory=list[tuple[int, int, Effect]])
    """First and last days of events, and what they do."""
    assigned: dict[str, str] = field(default_factory=dict[str, str])
    """By product, the supplier that it is bought from."""
    costs: dict[str, float] = field(default_factory=dict[str, float])
    rates: dict[str, float] = field(default_factory=dict[str, float])
    """Expected units a day at an average site with full variety, by product at its price."""
    supplier_searches: int = 0
    """Searches for suppliers so far."""
    next_review: int = 0
    fresh: bool = True
    """Whether nothing was remembered when this day began."""
    _by_day: dict[int, Effect] = field(default_factory=dict[int, Effect])
    """The events by day, as far as `_dated` of them are known."""
    _dated: int = 0
    _outlook: Outlook | None = None
    """The outlook that was asked for last."""

    def trust_more(self, supplier: str, part: float) -> None:
        """Note the part of a paid order that came."""
        count, good = self.trust.get(supplier, (0, 0.0))
        self.trust[supplier] = (count + 1, good + part)

    def value_of(self, supplier: str, units: Mapping[str, int]) -> int:
        """The price of goods by a supplier's list."""
        offer = self.offers.get(supplier)
        return sum(count * (offer.prices.get(id, 0) if offer else 0) for id, count in units.items())

    def variety_of(self, count: int) -> float:
        """The factor on sales with so many different products on sale; 1 while it is not known."""
        return self.variety[min(count, len(self.variety)) - 1] if count and self.variety else 1.0

    def event_on(self, day: int) -> Effect | None:
        """The event of a day, as far as it is known."""
        return self.events_by_day().get(day)

    def events_by_day(self) -> Mapping[int, Effect]:
        """The events as far as they are known."""
        if len(self.events) != self._dated:
            self._dated = len(self.events)
            self._by_day = {
                day: effect for first, last, effect in reversed(self.events) for day in range(first, last + 1)
            }
        return self._by_day

    def outlook(self, day: int) -> Outlook:
        """The outlook after a day, given the known events."""
        events, outlook = self.events_by_day(), self._outlook
        if outlook is None or outlook.day != day or outlook.events is not events:
            outlook = self._outlook = Outlook(events, day)
        return outlook
