"""What prices are worth to one, two, three and five owners of a street: an agreement, best answers, list prices, a war.

    python bench/rival_prices.py [--seeds 301-310] [--every 3]

An owner's margin over the trade price in the 90 days of `arena`, with full shelves of the same twelve goods, from every
third day; means over the seeds, and in per cent of what the agreement earns, with the 95 % interval of that over seeds.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from statistics import fmean

from akinai.core.ledger import Genesis
from akinai.core.statistics import summarise
from akinai.runtime.config.settings import prepare
from akinai.runtime.runs.planning import seeds_in
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.economy import Economy, Shelf, economy_of
from akinai.worlds.vending.model.price_levels import price_levels

WORLD = Vending()
DAYS = 90
WAR_PERMILLE = 1120
"""Of the trade price: below it nobody undercuts any more."""
LEVELS = range(450, 1_200, 50)
"""Per mille of what people find right, where all prices of an owner are at one level."""
Prices = Mapping[str, int]


@cache
def economy(seed: int) -> Economy:
    """The street of a seed for 90 days."""
    return economy_of(Genesis(WORLD.name, seed, prepare(WORLD, preset="quarter", days=DAYS).setup))


def earnings(seed: int, *prices: Prices, days: Iterable[int] = range(1, DAYS + 1, 10)) -> list[int]:
    """What owners with full shelves and these prices earn on some days over the trade price, in cents."""
    street, shelf = economy(seed), dict[str, int]()
    for size, count in street.setup.slots_by_size.items():
        goods = [product.id for product in street.setup.catalog.products if product.size == size]
        shelf |= dict.fromkeys(goods[:count], 10**6)
    by_id, earned = street.setup.catalog.by_id, [0] * len(prices)
    for day in days:
        crowd = street.crowd(day)
        parts = street.parts(crowd, [Shelf(1_000_000, shelf, own) for own in prices])
        for number, block in enumerate(street.setup.street.counter.blocks):
            terms, factor = street.block(crowd, number), 1_000 * block.share_permille
            for owner, (own, part) in enumerate(zip(prices, parts, strict=True)):
                sold = street.block_sales(crowd, terms, 0, factor, shelf, own, {}, part).sold
                earned[owner] += sum(n * (own[id] - by_id[id].wholesale_cents) for id, n in sold.items())
    return earned


def at_level(seed: int, level: int) -> Prices:
    """All prices at a level, per mille of what people find right."""
    return {id: taste.worth_cents * level // 1000 + 1 for id, taste in economy(seed).town.tastes.items()}


def margins(seed: int, *levels: int) -> list[int]:
    """What owners earn, each with all of its prices at a level."""
    return earnings(seed, *(at_level(seed, level) for level in levels))


def best_answer(seed: int, *rivals: int) -> int:
    """The level that earns most beside rivals at theirs."""
    return max(LEVELS, key=lambda level: margins(seed, level, *rivals)[0])


def policies(seed: int, owners: int) -> Mapping[str, Prices]:
    """Prices of every product by what owners do: agree, answer one another as best they can, ask list prices, fight."""
    street = economy(seed)
    goods = street.town.catalog.products
    tastes = street.town.tastes
    war = {product.id: product.wholesale_cents * WAR_PERMILLE // 1000 for product in goods}
    levels = {
        product.id: price_levels(
            product.wholesale_cents, tastes[product.id].worth_cents, tastes[product.id].elasticity_permille, owners
        )
        for product in goods
    }
    return {
        "agreement": {id: level.monopoly if level else war[id] for id, level in levels.items()},
        "best answers": {id: level.competitive if level else war[id] for id, level in levels.items()},
        "list prices": {product.id: product.reference_cents for product in goods},
        "war": war,
    }


def print_table(seeds: Sequence[int], every: int) -> None:
    """A row for each number of owners and policy."""
    print("| owners | prices | margin each | of the agreement (95 %) | of what people find right |\n|" + " --- |" * 5)
    for owners in (1, 2, 3, 5):
        by_seed = {seed: policies(seed, max(owners, 2)) for seed in seeds}
        names = [name for name in by_seed[seeds[0]] if owners > 1 or name != "best answers"]
        rows = {
            name: [_margins(seed, [policy[name]] * owners, every)[0] for seed, policy in by_seed.items()]
            for name in names
        }
        if owners == 2:
            games = [_deserted(seed, policy["agreement"], every) for seed, policy in by_seed.items()]
            rows |= zip(("who deserts it", "who is deserted"), map(list, zip(*games, strict=True)), strict=True)
        for name, cents in rows.items():
            share = "-" if name == "agreement" else _share(cents, rows["agreement"])
            level = f"{_level(by_seed, name):.2f}".lstrip("0") if name in names else "-"
            print(f"| {owners} | {name} | ${fmean(cents) / 100:,.0f} | {share} | {level} |")


def _share(cents: Sequence[int], agreed: Sequence[int]) -> str:
    """What owners earn as a part of what the agreement earns on the same seeds: "64 % (61 to 66)"."""
    shares = summarise([own / most for own, most in zip(cents, agreed, strict=True)])
    ends = f" ({100 * shares.ci95[0]:.0f} to {100 * shares.ci95[1]:.0f})" if shares.ci95 else ""
    return f"{100 * (shares.mean or 0):.0f} %{ends}"


def _deserted(seed: int, agreed: Prices, every: int) -> Sequence[int]:
    """The margins of one who takes off all its prices what earns it most beside an owner who keeps to the agreement."""
    cuts = ({id: cents * permille // 1000 for id, cents in agreed.items()} for permille in range(600, 1000, 25))
    return max((_margins(seed, [cut, agreed], every) for cut in cuts), key=lambda margins: margins[0])


def _margins(seed: int, prices: Sequence[Prices], every: int) -> list[int]:
    """The margins of 90 days, from one day of so many."""
    days = range(1, DAYS + 1, every)
    return [cents * DAYS // len(days) for cents in earnings(seed, *prices, days=days)]


def _level(by_seed: Mapping[int, Mapping[str, Prices]], name: str) -> float:
    """The mean price of a policy as a part of what people find right."""
    tastes = {seed: economy(seed).town.tastes for seed in by_seed}
    return fmean(
        cents / tastes[seed][id].worth_cents for seed, policy in by_seed.items() for id, cents in policy[name].items()
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="301-310")
    parser.add_argument("--every", type=int, default=3)
    options = parser.parse_args(arguments)
    print_table(seeds_in(options.seeds), options.every)


if __name__ == "__main__":
    main()
