"""An upper bound on earnings: each day's margin of a seer who sells anything, always in stock, at any price.

A relaxation of the vending world's rules for one seed. It knows every draw, buys each unit at the lowest price that any
supplier ever charges, and has the best variety whatever it sells; footfall, capacities and lead times do not bind.
"""

from collections.abc import Mapping
from functools import lru_cache

from akinai.core.chance import absorb, word
from akinai.worlds.vending.model.economy import Economy, noisy, price_effect
from akinai.worlds.vending.model.setup import Catalog, Product, Setup
from akinai.worlds.vending.rules.orders import unit_cents


@lru_cache(maxsize=16)
def cheapest_cents(catalog: Catalog) -> Mapping[str, int]:
    """The lowest price at which a unit of each product can be bought, by any supplier's best discount."""
    return {
        product.id: min(
            unit_cents(supplier, product, off)
            for supplier in catalog.suppliers
            if product.id in supplier.products
            for off in (0, *(tier.off_permille for tier in supplier.bulk))
        )
        for product in catalog.products
    }


def best_margin_cents(economy: Economy, day: int, product: Product, cost: int) -> int:
    """The most that a product can earn on a day above its cost, in cents a unit, over all prices."""
    crowd, variety, blocks = economy.crowd(day), max(economy.setup.demand.variety), economy.setup.street.counter.blocks
    whole = crowd.means[product.id] * economy.town.footfall[0] * variety // 1_000_000
    usual = [whole * block.share_permille // 1000 + 1 for block in blocks]
    labels = [absorb(absorb(absorb(crowd.label, number), 0), word(product.id)) for number in range(len(blocks))]
    reference, elasticity, best, price = product.reference_cents, product.elasticity_permille, 0, cost
    while (effect := price_effect(reference, elasticity, price)) > 0 and price <= 100_000:
        demand = sum(noisy(mean * effect >> 20, label) for mean, label in zip(usual, labels, strict=True))
        best = max(best, demand * (price - cost))
        price += 1
    return best


def ceiling_cents(economy: Economy, day: int) -> int:
    """The most that a day can earn above cost: in every slot another product, the best ones at the best prices."""
    setup, products, costs = economy.setup, economy.setup.catalog.products, cheapest_cents(economy.setup.catalog)
    best = 0
    for size, slots in (("small", setup.small_slots), ("large", setup.large_rows * setup.columns)):
        fitting = [product for product in products if product.size == size]
        margins = [best_margin_cents(economy, day, product, costs[product.id]) for product in fitting]
        best += sum(sorted(margins, reverse=True)[:slots])
    return best


def ceiling_of_run_cents(setup: Setup, seed: int, days: int) -> int:
    """Net worth that no player of the seed can pass after so many days, fees paid or not."""
    economy = Economy.of(setup, seed)
    return setup.start_cents + sum(ceiling_cents(economy, day) for day in range(1, days + 1))


def main() -> None:
    import akinai

    for seed in range(1, 6):
        (run,) = akinai.run("vending", agent="reference", seeds=seed, days=90, preset="classic")
        setup = Setup.model_validate(run.ledger.genesis.setup)
        ceiling, worth = ceiling_of_run_cents(setup, seed, 90), run.score("net_worth")
        print(f"seed {seed}, 90 days: reference ${worth / 100:,.2f}, {worth / ceiling:.2f} of ${ceiling / 100:,.2f}")


if __name__ == "__main__":
    main()
