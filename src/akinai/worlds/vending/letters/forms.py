"""Letters that programs send as one object in JSON, as the lines that a person would write."""

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
    """A letter that is one object and says what it is: that, its goods as a list, and its other words below.

    {"type": "purchase_order", "items": [{"sku": "cola", "qty": 48}]} is "Order:" and "- 48 cola"; {"action": "cancel",
    "order_id": 44} is "Cancel: order 44". Any other letter, and an order of which one of the goods says more than its
    name and its count, stays as it is.
    """
    form = _form(text)
    kinds = [key for key in _KINDS if key in form]
    if not kinds:
        return text
    if not all(_ORDER.fullmatch(str(form[key])) for key in kinds):
        numbers = {key: f"{found[1]} {form[key]}" for key in form if (found := _NUMBER.fullmatch(key))}
        said = _words(" ".join(str(form[key]) for key in kinds)).capitalize()
        rest = [line for key in form if key not in kinds and key not in numbers for line in _lines(key, form[key])]
        return "\n".join([f"{said}: {', '.join(numbers.values())}", *rest])
    lists = [cast("list[object]", form[key]) for key in _GOODS if isinstance(form.get(key), list)]
    goods = [_line(each) for each in lists[0]] if len(lists) == 1 else []
    words = [f"{key}: {said}" for key, said in form.items() if isinstance(said, str) and key not in kinds]
    return "\n".join(["Order:", *goods, *words]) if goods and all(goods) else text


def may_order(text: str) -> bool:
    """Whether a letter is no object that says it is anything but an order, or that sets a limit to what it costs."""
    form = _form(text)
    says = [str(form[key]) for key in _KINDS if key in form]
    return not form or (all(map(_ORDER.fullmatch, says)) and _LIMIT.search(text) is None)


def _form(text: str) -> dict[str, Any]:
    found = _OBJECT.match(text)
    try:
        form: object = json.loads(found["object"]) if found else None
    except ValueError:
        form = None
    return cast("dict[str, Any]", form) if isinstance(form, dict) else {}


def _words(name: str) -> str:
    return re.sub("[_-]", " ", name).lower()


def _lines(key: str, said: object) -> list[str]:
    """What an object says under a key, line by line; the parts of a list without the key."""
    if isinstance(said, dict):
        inner = cast("dict[str, object]", said)
        return [line for name, each in inner.items() for line in _lines(name, each)]
    if isinstance(said, list):
        return [_line(each) or _item(each) for each in cast("list[object]", said)]
    return [] if said is None else [f"{_words(key)}: {said}"]


def _item(said: object) -> str:
    """A part of a list; of an object the name of its goods and, with its key, whatever else it says."""
    if not isinstance(said, dict):
        return str(said)
    part = cast("dict[str, object]", said)
    return "- " + " : ".join(str(each) if key in _PRODUCT else f"{_words(key)} {each}" for key, each in part.items())


def _line(goods: object) -> str:
    """One of the goods as an item of a list; empty where it is more, or less, than a name and a count."""
    if not isinstance(goods, dict):
        return ""
    said = cast("dict[str, object]", goods)
    names = [said[key] for key in _PRODUCT if isinstance(said.get(key), str)]
    counts = [said[key] for key in _UNITS if type(said.get(key)) is int]
    return f"- {counts[0]} {names[0]}" if len(names) == len(counts) == 1 and len(said) == 2 else ""
