"""Profiles: how a ledger keeps the order of a menu, and the views of a profile for others and for the agent itself.

Canonical JSON sorts the keys of an object, so a ledger holds a menu as a list of [item, price] pairs. Everywhere else a
menu is an object whose keys are in the order in which its owner wrote them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeGuard, cast

from akinai.core.canonical import Json, settled

MENU = "menu_features"

Role = Literal["business", "customer", ""]
"""The role in an agent's profile. An agent whose profile names none may sell and buy."""
ROLES: tuple[Literal["business", "customer"], ...] = ("business", "customer")
Profile: TypeAlias = Mapping[str, Any]
"""{"id", "metadata": {"type"}, "business" or "customer": {...}}, as on the wire."""


def role_of(profile: Profile) -> Role:
    """The role that a profile's metadata names, otherwise the one whose data it holds."""
    metadata = profile.get("metadata")
    named = cast("Profile", metadata).get("type") if isinstance(metadata, Mapping) else None
    if named == "business" or named == "customer":
        return named
    return "business" if "business" in profile else "customer" if "customer" in profile else ""


def pairs_of(menu: object) -> object:
    """A menu as a list of [item, price] pairs; any other value as it is."""
    return [[item, price] for item, price in cast("Profile", menu).items()] if isinstance(menu, Mapping) else menu


def menu_of(pairs: object) -> object:
    """A list of [item, price] pairs as a menu; a value that is no such list, or names an item twice, as it is."""
    if not isinstance(pairs, Sequence) or isinstance(pairs, str):
        return pairs
    menu: dict[str, Any] = {}
    for pair in cast("Sequence[object]", pairs):
        item, price = pair if _is_pair(pair) else (None, None)
        if not isinstance(item, str) or item in menu:
            return cast("object", pairs)
        menu[item] = price
    return menu


def _is_pair(value: object) -> TypeGuard[tuple[object, Any]]:
    return isinstance(value, list | tuple) and len(cast("Sequence[object]", value)) == 2


def with_pairs(profile: object) -> object:
    """A profile with its menus as lists of pairs, the form of a ledger."""
    return _convert_menus(profile, pairs_of)


def with_menus(profile: Profile) -> Profile:
    """A profile of a ledger with its menus as objects."""
    return cast("Profile", _convert_menus(profile, menu_of))


def _convert_menus(profile: object, convert: Callable[[object], object]) -> object:
    if not isinstance(profile, Mapping):
        return profile
    converted = dict(cast("Profile", profile))
    for role in ROLES:
        data = data_of(converted, role)
        if MENU in data:
            converted[role] = {**data, MENU: convert(data[MENU])}
    return converted


def view_json(data: Mapping[str, Json]) -> str:
    """The JSON of an agent's own data for its view: canonical, except that menus keep their order."""
    return json.dumps(_sorted(settled(data)), ensure_ascii=False, separators=(",", ":"))


def _sorted(value: Json, *, as_is: bool = False) -> Json:
    if isinstance(value, Mapping):
        keys = value.keys() if as_is else sorted(value)
        return {key: _sorted(value[key], as_is=key == MENU) for key in keys}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_sorted(item) for item in value]
    return value


def data_of(profile: Profile, role: Role) -> Profile:
    """The data of a role in a profile; empty where there is none."""
    data = profile.get(role) if role else None
    return cast("Profile", data) if isinstance(data, Mapping) else {}


def public_business(id: str, profile: Profile) -> Profile:
    """A business's data with every field of the public model, neutral where it is missing or has another type."""
    data = data_of(profile, "business")
    return {
        "type": "business",
        "id": id,
        "name": _text(data, "name"),
        "description": _text(data, "description"),
        "rating": _number(data, "rating", 0),
        "progenitor_customer": _text(data, "progenitor_customer"),
        MENU: prices_in(data),
        "amenity_features": {name: has for name, has in _table(data, "amenity_features") if isinstance(has, bool)},
        "min_price_factor": _number(data, "min_price_factor", 1.0),
    }


def public_customer(id: str, profile: Profile) -> Profile:
    """A customer's data with every field of the public model, neutral where it is missing or has another type."""
    data = data_of(profile, "customer")
    needs = data.get("amenity_features")
    listed = cast("Sequence[object]", needs) if isinstance(needs, Sequence) and not isinstance(needs, str) else ()
    return {
        "type": "customer",
        "id": id,
        "name": _text(data, "name"),
        "request": _text(data, "request"),
        MENU: prices_in(data),
        "amenity_features": [need for need in listed if isinstance(need, str)],
    }


def public_profile(id: str, profile: Profile) -> Profile:
    """A whole profile in the form of the public models. Its other fields are kept."""
    complete: dict[str, Any] = {**profile, "id": id, "metadata": dict(_table(profile, "metadata"))}
    role = role_of(profile)
    if role:
        fields = public_business(id, profile) if role == "business" else public_customer(id, profile)
        complete[role] = {**data_of(profile, role), **fields}
    return complete


def prices_in(data: Profile) -> dict[str, float]:
    """The items of a menu whose price is a number, in the menu's order."""
    return {item: price for item, price in _table(data, MENU) if _is_number(price)}


def _table(data: Profile, field: str) -> Sequence[tuple[str, Any]]:
    value = data.get(field)
    return tuple(cast("Profile", value).items()) if isinstance(value, Mapping) else ()


def _text(data: Profile, field: str) -> str:
    value = data.get(field)
    return value if isinstance(value, str) else ""


def _number(data: Profile, field: str, neutral: float) -> float:
    value = data.get(field)
    return value if _is_number(value) else neutral


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
