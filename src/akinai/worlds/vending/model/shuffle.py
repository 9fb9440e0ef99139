"""Another catalogue of the same goods, drawn by a number."""

from collections.abc import Mapping
from typing import Any

from akinai.core.chance import Chance


def randomise(products: list[dict[str, Any]], suppliers: list[dict[str, Any]], number: int) -> Mapping[str, Any]:
    """Another catalogue of the same goods, drawn by its number; all seeds of a run share it.

    Prices change by up to 35 %, unit costs by 15 % on top of that, and demand by 30 %. Elasticities are 0.8 to 2.0,
    lead times 1 to 7 days, and suppliers charge 85 to 105 % of the wholesale price.
    """
    draw = Chance.of(number)("catalog")
    return {
        "products": [_product(product, draw(str(product.get("id", "")))) for product in products],
        "suppliers": [_supplier(supplier, draw(str(supplier.get("id", "")))) for supplier in suppliers],
    }


def _product(table: dict[str, Any], draw: Chance) -> dict[str, Any]:
    price = draw("price").between(650, 1350)
    cost = price * draw("cost").between(850, 1150) // 1000
    return {
        **table,
        "reference_cents": max(5, 5 * (int(table["reference_cents"]) * price // 5000)),
        "wholesale_cents": max(1, int(table["wholesale_cents"]) * cost // 1000),
        "daily_milliunits": int(table["daily_milliunits"]) * draw("demand").between(700, 1300) // 1000,
        "elasticity_permille": draw("elasticity").between(800, 2000),
    }


def _supplier(table: dict[str, Any], draw: Chance) -> dict[str, Any]:
    return {
        **table,
        "price_permille": draw("supplier price").between(850, 1050),
        "lead_days": draw("lead").between(1, 7),
    }
