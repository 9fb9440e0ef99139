"""Hypothesis strategies for the actions that agents may send: fitting, nearly fitting, and garbage."""

import math
import reprlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from akinai.core.actions import Action, Verbs
from akinai.core.canonical import Json
from akinai.core.worlds import World

S = TypeVar("S")
Schema = Mapping[str, Any]
Words = tuple[str, ...]

MOST_ITEMS = 4
"""Maximum length of a generated list or object."""
_SMALL = 12

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
AWKWARD_TEXT = st.sampled_from(
    ("", " ", "\0", "\ud83d", "nan", "-1", "1e400", "null", "x" * 5000, "9" * 4000, "商い 😀", "'; --")
)
AWKWARD_NUMBER = st.sampled_from(
    (math.nan, math.inf, -math.inf, -1, 0, 1.5, -0.0, 1e308, 10**18, -(10**18), 2**63, 10**300, 10**4000, 10**6000)
)


def _nested(depth: int, key: str | None) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


NESTED = st.builds(_nested, st.sampled_from((3, 63, 64, 65, 250, 900, 5000)), st.sampled_from((None, "a")))
"""Nested far beyond the depth that a recursive parser survives."""

PLAIN_JSON: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 1000) | st.floats(-1e6, 1e6) | TEXT,
    lambda inner: st.lists(inner, max_size=MOST_ITEMS) | st.dictionaries(TEXT, inner, max_size=MOST_ITEMS),
    max_leaves=8,
)
ANY_JSON: SearchStrategy[Any] = PLAIN_JSON | AWKWARD_TEXT | AWKWARD_NUMBER | NESTED
"""All values that `json.loads` returns, NaN included, and integers longer than it parses."""


@dataclass(frozen=True, slots=True)
class RawAction:
    """An action as an agent sends it, before it is parsed."""

    name: object
    parameters: object

    def parse(self, verbs: Verbs) -> Action:
        """The action as a world gets it; `Unreadable` for anything else."""
        return verbs.parse(self.name, self.parameters, repr(self))

    def __repr__(self) -> str:
        return f"{self.name if isinstance(self.name, str) else _SHORT.repr(self.name)} {_SHORT.repr(self.parameters)}"


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        return str(x) if abs(x) < 10**40 else f"<{x.bit_length()} bits>"


_SHORT = _Short()
_SHORT.maxdict = _SHORT.maxlist = 8
_SHORT.maxstring = _SHORT.maxother = 120


def moves(
    world: World[S], state: S, actor: str, words: Sequence[str] = (), samples: Sequence[Action] = ()
) -> SearchStrategy[Action]:
    """Actions of an actor in a state: mostly verbs that its view offers, with fitting parameters.

    The others are verbs that are not offered, parameters that nearly fit, and replies without an action. `words` are
    texts with a meaning in this world, such as product names; they are used as text parameters. `samples` are sensible
    actions, which are repeated and varied.
    """
    offered = world.view(state, actor).verbs or world.verbs.classes
    by_verb: dict[type[Action], list[Action]] = defaultdict(list)
    for action in samples:
        if type(action) in offered:
            by_verb[type(action)].append(action)
    return _move(world.verbs, offered, tuple(words), list(by_verb.values()))


@st.composite
def _move(
    draw: DrawFn, verbs: Verbs, offered: Sequence[type[Action]], words: Words, samples: Sequence[Sequence[Action]]
) -> Action:
    kinds = ("known", "varied", "varied") if samples else ()
    match draw(st.sampled_from(("fitting", *kinds, "fitting", "fitting", "any", "near", "garbage"))):
        case "fitting":
            raw = draw(fitting(draw(st.sampled_from(offered)), words))
        case "known":
            return draw(st.sampled_from(draw(st.sampled_from(samples))))
        case "varied":
            raw = draw(varied(draw(st.sampled_from(draw(st.sampled_from(samples)))), words))
        case "any":
            raw = draw(fitting(draw(st.sampled_from(verbs.classes)), words))
        case "near":
            raw = draw(near(draw(st.sampled_from(offered)), words))
        case _:
            raw = draw(garbage(verbs))
    return raw.parse(verbs)


@lru_cache(maxsize=512)
def fitting(verb: type[Action], words: Words = ()) -> SearchStrategy[RawAction]:
    """A verb with parameters that satisfy its tool's schema."""
    return _parameters(verb, words).map(lambda parameters: RawAction(verb.tool_name(), parameters))


@st.composite
def varied(draw: DrawFn, action: Action, words: Words = ()) -> RawAction:
    """An action with a field changed to another fitting value."""
    parameters = action.model_dump(mode="json")
    if parameters:
        name = draw(st.sampled_from(sorted(parameters)))
        parameters[name] = draw(_field(type(action), name, words))
    return RawAction(action.tool_name(), parameters)


@st.composite
def near(draw: DrawFn, verb: type[Action], words: Words = ()) -> RawAction:
    """A verb with a parameter missing, superfluous or of another type."""
    parameters = dict(draw(_parameters(verb, words)))
    name = draw(st.sampled_from((*parameters, "extra")))
    if draw(st.booleans()):
        parameters.pop(name, None)
    else:
        parameters[name] = draw(ANY_JSON)
    return RawAction(verb.tool_name(), parameters)


@lru_cache(maxsize=16)
def garbage(verbs: Verbs) -> SearchStrategy[RawAction]:
    """Anything at all, under the names of verbs and under other names."""
    names = [name for verb in verbs.classes for name in (verb.__name__, verb.tool_name(), *verb.aliases)]
    objects = st.dictionaries(TEXT | AWKWARD_TEXT, ANY_JSON, max_size=MOST_ITEMS)
    return st.builds(RawAction, st.sampled_from(names) | ANY_JSON, objects | ANY_JSON)


@lru_cache(maxsize=512)
def _parameters(verb: type[Action], words: Words) -> SearchStrategy[dict[str, Any]]:
    schema: Schema = verb.tool()["parameters"]
    return _object(schema, schema.get("$defs", {}), words)


@lru_cache(maxsize=2048)
def _field(verb: type[Action], name: str, words: Words) -> SearchStrategy[Any]:
    schema: Schema = verb.model_json_schema()
    return _value(schema["properties"][name], schema.get("$defs", {}), words)


def _value(schema: Schema, defs: Schema, words: Words) -> SearchStrategy[Any]:
    """Values that satisfy a JSON Schema, as far as pydantic writes schemas."""
    if "$ref" in schema:
        inner = defs[schema["$ref"].rpartition("/")[2]]
        return st.deferred(lambda: _value(inner, defs, words))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return st.one_of([_value(option, defs, words) for option in schema[key]])
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return st.one_of([_of_kind(kind, schema, defs, words) for kind in kinds]) if kinds else PLAIN_JSON


def _of_kind(kind: str, schema: Schema, defs: Schema, words: Words) -> SearchStrategy[Any]:
    match kind:
        case "object":
            return _object(schema, defs, words)
        case "array":
            return _array(schema, defs, words)
        case "string":
            return _text(schema, words)
        case "integer":
            return _whole(schema)
        case "number":
            return _number(schema)
        case "boolean":
            return st.booleans()
        case _:
            return st.none()


def _object(schema: Schema, defs: Schema, words: Words) -> SearchStrategy[dict[str, Any]]:
    required = schema.get("required", ())
    fields = {name: _value(inner, defs, words) for name, inner in schema.get("properties", {}).items()}
    fixed = st.fixed_dictionaries(
        {name: field for name, field in fields.items() if name in required},
        optional={name: field for name, field in fields.items() if name not in required},
    )
    more = schema.get("additionalProperties")
    if not isinstance(more, Mapping):
        return fixed
    keys = _text(schema.get("propertyNames", {}), words)
    low, high = schema.get("minProperties", 0), schema.get("maxProperties", MOST_ITEMS)
    values = _value(cast("Schema", more), defs, words)
    extra = st.dictionaries(keys, values, min_size=low, max_size=max(low, min(high, MOST_ITEMS)))
    return st.builds(_merge, fixed, extra)


def _merge(named: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    return {**extra, **named}


def _array(schema: Schema, defs: Schema, words: Words) -> SearchStrategy[list[Any]]:
    if "prefixItems" in schema:
        fields = [_value(item, defs, words) for item in schema["prefixItems"]]
        rows: SearchStrategy[tuple[Any, ...]] = st.tuples(*fields)
        return rows.map(list)
    low, high = schema.get("minItems", 0), schema.get("maxItems", MOST_ITEMS)
    unique_by: Callable[[Any], str] | None = repr if schema.get("uniqueItems") else None
    items = _value(schema.get("items", {}), defs, words)
    return st.lists(items, min_size=low, max_size=max(low, min(high, MOST_ITEMS)), unique_by=unique_by)


def _text(schema: Schema, words: Words) -> SearchStrategy[str]:
    if "pattern" in schema:
        return st.from_regex(str(schema["pattern"]))
    if schema.get("format") == "date":
        return st.dates().map(str)
    low, high = schema.get("minLength", 0), schema.get("maxLength", 200)
    free = st.text(
        st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=low, max_size=min(high, 40)
    )
    matching = [word for word in words if low <= len(word) <= high]
    return st.sampled_from(matching) | st.sampled_from(matching) | free if matching else free


def _whole(schema: Schema) -> SearchStrategy[int]:
    """Integers within the bounds. Small numbers come more often: few worlds sell a hundred thousand of anything."""
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1001) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", max(low, 0) + 100_001) - 1)
    return st.integers(low, min(high, low + _SMALL)) | st.integers(low, high)


def _number(schema: Schema) -> SearchStrategy[float]:
    """Numbers within the bounds. Those with two decimals come more often: they may be money."""
    low, high = schema.get("minimum", 0), schema.get("maximum", 1000)
    return st.integers(math.ceil(low * 100), math.floor(high * 100)).map(lambda n: n / 100) | st.floats(low, high)
