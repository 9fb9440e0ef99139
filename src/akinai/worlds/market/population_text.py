"""A population as texts in the public YAML format, the same bytes everywhere, whatever YAML library is there."""

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import cast

from akinai.core.canonical import Json
from akinai.worlds.market.setup import Business, Customer, Population

BASELINES = "baseline_utilities.json"
"""Beside the two folders; those who read a population leave it alone."""

_PLAIN = re.compile(r"[A-Za-z]\w*(?:[ -]\w+)*", re.ASCII)
_WORDS = frozenset("y yes n no true false on off null".split())
"""What stands for something else in YAML where it is not quoted."""


def population_texts(people: Population) -> Iterator[tuple[str, str]]:
    """Each file's path in the folder and its text; `read_population` reads the same population back.

    The order within a side is that of the ids, so ids that do not rise come back in another order.
    """
    for folder, side in (("businesses", people.businesses), ("customers", people.customers)):
        for one in side:
            yield f"{folder}/{one.id}.yaml", record_text(one)


def record_text(one: Business | Customer) -> str:
    """One business or customer as YAML."""
    lines: list[str] = []
    for name, value in one.model_dump(mode="json").items():
        if isinstance(value, Mapping):
            table = cast("Mapping[str, object]", value)
            lines.append(f"{name}:" if table else f"{name}: {{}}")
            lines += [f"  {_scalar(key)}: {_scalar(inner)}" for key, inner in table.items()]
        elif isinstance(value, list):
            parts = cast("list[object]", value)
            lines.append(f"{name}:" if parts else f"{name}: []")
            lines += [f"- {_scalar(inner)}" for inner in parts]
        else:
            lines.append(f"{name}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


def baselines_text(told: Mapping[str, Json]) -> str:
    """The baselines as the public sets keep them."""
    return json.dumps(told, indent=2) + "\n"


def _scalar(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            text = format(Decimal(repr(value)), "f")
            return text if "." in text else f"{text}.0"
        case str():
            return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
        case _:
            raise TypeError(f"{type(value).__name__} is nothing that a population holds")


def _quoted(text: str) -> str:
    """In double quotes; what cannot be seen is written by its number."""
    return '"' + "".join(_character(one) for one in text) + '"'


def _character(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    return one if one.isprintable() else f"\\U{ord(one):08X}"
