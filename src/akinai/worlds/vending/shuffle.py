"""Another catalogue of the same goods: other prices, costs, demand, elasticities and lead times, by labelled chance."""

from collections.abc import Mapping
from typing import Any

from akinai.core.chance import Chance


def shuffled(products: list[dict[str, Any]], suppliers: list[dict[str, Any]], number: int) -> Mapping[str, Any]:
    """The catalogue that a number stands for; every seed of a run has the same.

    Prices move by up to 35 %, costs a unit beside them by 15 %, demand by 30 %; elasticities are 0.8 to 2.0, lead times
    1 to 7 days, and suppliers charge 85 to 105 % of the wholesale price.
    """
    draw = Chance.of(number)("catalog")
    return {
        "products": [_product(one, draw(str(one.get("id", "")))) for one in products],
        "suppliers": [_supplier(one, draw(str(one.get("id", "")))) for one in suppliers],
    }


def _product(one: dict[str, Any], draw: Chance) -> dict[str, Any]:
    price = draw("price").between(650, 1350)
    cost = price * draw("cost").between(850, 1150) // 1000
    return {
        **one,
        "reference_cents": max(5, 5 * (int(one["reference_cents"]) * price // 5000)),
        "wholesale_cents": max(1, int(one["wholesale_cents"]) * cost // 1000),
        "daily_milliunits": int(one["daily_milliunits"]) * draw("demand").between(700, 1300) // 1000,
        "elasticity_permille": draw("elasticity").between(800, 2000),
    }


def _supplier(one: dict[str, Any], draw: Chance) -> dict[str, Any]:
    return {
        **one,
        "price_permille": draw("supplier price").between(850, 1050),
        "lead_days": draw("lead").between(1, 7),
    }
