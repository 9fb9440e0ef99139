"""Rewrite letters that programs send as one JSON object into the lines that a person would write."""

import json
import re
from typing import Any, cast

_OBJECT = re.compile(r"^\s*(?:```\w*\s*)?(?P<object>\{.*\})\s*(?:```)?\s*$", re.DOTALL)
_KINDS = ("action", "type", "request", "request_type", "intent", "document", "document_type", "message_type")
"""The keys by which an object says what it is."""
_ORDER = re.compile(
    r"purchase|buy|(?:(?:place|submit|create|new|purchase|make|send|re)?[ _-]?order)(?:[ _-](?:request|form))?",
    re.IGNORECASE,
)
_GOODS = ("items", "lines", "products", "order_items", "goods")
_LIMIT = re.compile(r"\"[^\"\n]*(?:max|limit|target|ceiling|budget)[^\"\n]*\" *:", re.IGNORECASE)
"""A key of a price or a sum that an order is not to exceed."""
_NUMBER = re.compile(r"(order|quote)(?:[ _-]?(?:id|no|number|nr|ref))?")
"""A key of the number of an order or a quote."""
_PRODUCT = ("product", "product_id", "item", "name", "sku", "product_name")
_UNITS = ("quantity", "qty", "units", "count")


def listed(text: str) -> str:
    """Rewrite a letter that is one object with a kind: a heading, its goods as a list, and its other words below.

    {"type": "purchase_order", "items": [{"sku": "cola", "qty": 48}]} is "Order:" and "- 48 cola"; {"action": "cancel",
    "order_id": 44} is "Cancel: order 44". Any other letter, and an order of which one of the goods says more than its
    name and its count, stays as it is.
    """
    form = _form(text)
    kinds = [key for key in _KINDS if key in form]
    if not kinds:
        return text
    if not all(_ORDER.fullmatch(str(form[key])) for key in kinds):
        numbers = {key: f"{match[1]} {form[key]}" for key in form if (match := _NUMBER.fullmatch(key))}
        heading = _words(" ".join(str(form[key]) for key in kinds)).capitalize()
        lines = [line for key in form if key not in kinds and key not in numbers for line in _lines(key, form[key])]
        return "\n".join([f"{heading}: {', '.join(numbers.values())}", *lines])
    lists = [cast("list[object]", form[key]) for key in _GOODS if isinstance(form.get(key), list)]
    goods = [_line(item) for item in lists[0]] if len(lists) == 1 else []
    words = [f"{key}: {value}" for key, value in form.items() if isinstance(value, str) and key not in kinds]
    return "\n".join(["Order:", *goods, *words]) if goods and all(goods) else text


def may_order(text: str) -> bool:
    """Whether a letter can order: False for an object of another kind, or one that limits the cost."""
    form = _form(text)
    says = [str(form[key]) for key in _KINDS if key in form]
    return not form or (all(map(_ORDER.fullmatch, says)) and _LIMIT.search(text) is None)


def _form(text: str) -> dict[str, Any]:
    match = _OBJECT.match(text)
    try:
        form: object = json.loads(match["object"]) if match else None
    except ValueError:
        form = None
    return cast("dict[str, Any]", form) if isinstance(form, dict) else {}


def _words(name: str) -> str:
    return re.sub("[_-]", " ", name).lower()


def _lines(key: str, value: object) -> list[str]:
    """The lines for a key and its value; items of a list are lines without the key."""
    if isinstance(value, dict):
        inner = cast("dict[str, object]", value)
        return [line for name, part in inner.items() for line in _lines(name, part)]
    if isinstance(value, list):
        return [_line(item) or _item(item) for item in cast("list[object]", value)]
    return [] if value is None else [f"{_words(key)}: {value}"]


def _item(item: object) -> str:
    """An item of a list as a line; an object gives the name of its goods, and its other values with their keys."""
    if not isinstance(item, dict):
        return str(item)
    part = cast("dict[str, object]", item)
    return "- " + " : ".join(str(value) if key in _PRODUCT else f"{_words(key)} {value}" for key, value in part.items())


def _line(goods: object) -> str:
    """Goods as an item of a list; "" unless they are just a name and a count."""
    if not isinstance(goods, dict):
        return ""
    fields = cast("dict[str, object]", goods)
    names = [fields[key] for key in _PRODUCT if isinstance(fields.get(key), str)]
    counts = [fields[key] for key in _UNITS if type(fields.get(key)) is int]
    return f"- {counts[0]} {names[0]}" if len(names) == len(counts) == 1 and len(fields) == 2 else ""
