"""Following a playbook: what each kind of advice changes in a trader's habits and in the owner of one machine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from akinai.core.chance import Chance
from akinai.core.lessons import Advice, of_kind
from akinai.worlds.vending.lessons import advice as kinds
from akinai.worlds.vending.lessons.advice import read_advice
from akinai.worlds.vending.players.beliefs import Product
from akinai.worlds.vending.players.habits import Habits

LEAST_SPREAD = 0.1
"""From this distance between popularity and sales on, tastes are worth learning."""
SAME_MARKET = 0.02
"""The share by which a list price may differ from that in a sentence about the same market."""


def follow(habits: Habits, bullets: Iterable[str]) -> Habits:
    """The habits of a player that reads a playbook; unchanged where nothing in it can be read."""
    playbook = Guide.of(bullets).advice
    for experiment in of_kind(playbook, kinds.Experiment):
        habits = _try_experiment(habits, Chance.of(experiment.number)("habits"))
    for advice in playbook:
        habits = _follow(habits, advice)
    return habits


def _follow(habits: Habits, advice: Advice) -> Habits:
    match advice:
        case kinds.SignAdvice(missed=missed) if missed:
            return replace(habits, every=1, waits=True)
        case kinds.ClaimAdvice(short=short) if short:
            return replace(habits, claims=True)
        case kinds.CustomerAdvice():
            return replace(habits, complaints="pay")
        case kinds.NewsAdvice():
            return replace(habits, reads_news=True)
        case kinds.TrustAdvice(orders=orders, came=came, others_came=others_came) if orders and came < others_came:
            return replace(habits, research=True, trust="learn", suppliers=max(habits.suppliers, 3))
        case kinds.BargainAdvice(off=off) if off > 0:
            return replace(habits, haggles=True)
        case kinds.ShelfAdvice():
            return replace(habits, products=max(habits.products, min(advice.best, 12)))
        case kinds.SiteAdvice() if advice.pays:
            return replace(habits, sites=4)
        case kinds.TasteAdvice(spread=spread) if spread > LEAST_SPREAD:
            return replace(habits, learns_prices=True, explores=True)
        case _:
            return habits


def _try_experiment(habits: Habits, chance: Chance) -> Habits:
    """Other products, suppliers, offers and days, drawn from the number of an experiment."""
    return replace(
        habits,
        products=chance("products").between(5, 12),
        suppliers=chance("suppliers").between(1, 3),
        trust="anyone" if chance("trust").below(2) else habits.trust,
        haggles=bool(chance("haggles").below(2)),
        every=1 + chance("every").below(2),
    )


@dataclass(frozen=True)
class Guide:
    """The advice that the owner of one machine follows."""

    advice: tuple[Advice, ...]

    @staticmethod
    def of(bullets: Iterable[str]) -> "Guide":
        """The advice that can be parsed from bullets."""
        return Guide(tuple(advice for text in bullets if (advice := read_advice(text)) is not None))

    @property
    def experiment(self) -> Chance | None:
        """The chance that an experiment draws from; None where there is no experiment."""
        experiments = of_kind(self.advice, kinds.Experiment)
        return Chance.of(experiments[0].number)("experiment") if experiments else None

    @property
    def prices(self) -> Sequence[kinds.PriceAdvice]:
        """The advice on prices, by expected earnings, the best first, without products that spoil."""
        spoil = {advice.product for advice in of_kind(self.advice, kinds.SpoilAdvice) if advice.wasteful}
        lasting = [advice for advice in of_kind(self.advice, kinds.PriceAdvice) if advice.product not in spoil]
        return sorted(lasting, key=lambda advice: (-advice.earns_cents, advice.product))

    @property
    def costs(self) -> Mapping[str, tuple[int, str]]:
        """The lowest known cost in cents of each product, and the address of its supplier."""
        costs: dict[str, tuple[int, str]] = {}
        for advice in of_kind(self.advice, kinds.SupplierAdvice):
            for product, cents in advice.cost_cents:
                costs[product] = min(costs.get(product, (cents, advice.address)), (cents, advice.address))
        return costs

    def assortment(self, usual: Sequence[str]) -> list[str]:
        """The products to keep: those that should earn most, half of them small; without advice, the usual ones."""
        variety, prices = of_kind(self.advice, kinds.VarietyAdvice), self.prices
        if not prices:
            return list(usual)
        most = variety[0].best if variety else len(usual)
        small = [advice for advice in prices if advice.size == "small"][: (most + 1) // 2]
        large = [advice for advice in prices if advice.size == "large"][: most // 2]
        best = [advice.product for advice in prices if advice in small or advice in large]
        advised = {advice.product for advice in of_kind(self.advice, kinds.PriceAdvice)}
        return (best + [product for product in usual if product not in advised])[: max(most, len(best))]

    def price_cents(self, product: Product) -> int:
        """The price in cents: by the product's own advice where it is about this market, else by the general advice."""
        for advice in of_kind(self.advice, kinds.PriceAdvice):
            if advice.product == product.id:
                if abs(advice.list_cents - product.typical_cents) <= SAME_MARKET * advice.list_cents:
                    return advice.best_cents
                break
        markup = of_kind(self.advice, kinds.MarkupAdvice)
        return 5 * round((markup[0].best if markup else 1.0) * product.typical_cents / 5)

    def units(self, product: str) -> int | None:
        """How many units to have in all; None without advice."""
        return next(
            (advice.units for advice in of_kind(self.advice, kinds.StockAdvice) if advice.product == product), None
        )

    @property
    def visit_days(self) -> int | None:
        visits = of_kind(self.advice, kinds.VisitAdvice)
        return visits[0].every_days if visits else None

    @property
    def keep_cents(self) -> int:
        cash = of_kind(self.advice, kinds.CashAdvice)
        return cash[0].keep_cents if cash else 0

    @property
    def waits(self) -> bool:
        """Whether to be at the machine when goods come."""
        return bool(of_kind(self.advice, kinds.HourAdvice))

    @property
    def last_days(self) -> int:
        """Days before the end in which nothing is ordered."""
        last_orders = of_kind(self.advice, kinds.LastOrderAdvice)
        return last_orders[0].days if last_orders else 0
