"""What agents may say to a world, as Hypothesis strategies: what fits its verbs, what nearly fits, and garbage."""

import math
import reprlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from akinai.core.actions import Action, Verbs
from akinai.core.canonical import Json
from akinai.core.worlds import World

S = TypeVar("S")
Schema = Mapping[str, Any]
Words = tuple[str, ...]

MOST_ITEMS = 4
"""Of a generated list or object."""
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
"""Up to far beyond what a recursive reader survives."""

PLAIN_JSON: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 1000) | st.floats(-1e6, 1e6) | TEXT,
    lambda inner: st.lists(inner, max_size=MOST_ITEMS) | st.dictionaries(TEXT, inner, max_size=MOST_ITEMS),
    max_leaves=8,
)
ANY_JSON: SearchStrategy[Any] = PLAIN_JSON | AWKWARD_TEXT | AWKWARD_NUMBER | NESTED
"""All that `json.loads` gives, NaN included, and whole numbers longer than it reads."""


@dataclass(frozen=True, slots=True)
class Said:
    """An action as an agent says it, before anybody has read it."""

    name: object
    parameters: object

    def heard(self, verbs: Verbs) -> Action:
        """The action as a world hears it; `Unreadable` when it is none."""
        return verbs.heard(self.name, self.parameters, repr(self))

    def __repr__(self) -> str:
        return f"{self.name if isinstance(self.name, str) else _SHORT.repr(self.name)} {_SHORT.repr(self.parameters)}"


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        return str(x) if abs(x) < 10**40 else f"<{x.bit_length()} bits>"


_SHORT = _Short()
_SHORT.maxdict = _SHORT.maxlist = 8
_SHORT.maxstring = _SHORT.maxother = 120


def moves(
    world: World[S], state: S, actor: str, words: Sequence[str] = (), known: Sequence[Action] = ()
) -> SearchStrategy[Action]:
    """What an actor might do in a state: mostly verbs that its view offers with parameters that fit.

    The rest are verbs that it was not offered, parameters that nearly fit, and replies without an action. `words` are
    texts that mean something in this world, such as its product names; they are used where a text is asked for.
    `known` are actions that make sense, to be repeated and varied.
    """
    offered = world.view(state, actor).verbs or world.verbs.classes
    by_verb: dict[type[Action], list[Action]] = defaultdict(list)
    for action in known:
        if type(action) in offered:
            by_verb[type(action)].append(action)
    return _move(world.verbs, offered, tuple(words), list(by_verb.values()))


@st.composite
def _move(
    draw: DrawFn, verbs: Verbs, offered: Sequence[type[Action]], words: Words, known: Sequence[Sequence[Action]]
) -> Action:
    kinds = ("known", "varied", "varied") if known else ()
    match draw(st.sampled_from(("fitting", *kinds, "fitting", "fitting", "any", "near", "garbage"))):
        case "fitting":
            said = draw(fitting(draw(st.sampled_from(offered)), words))
        case "known":
            return draw(st.sampled_from(draw(st.sampled_from(known))))
        case "varied":
            said = draw(varied(draw(st.sampled_from(draw(st.sampled_from(known)))), words))
        case "any":
            said = draw(fitting(draw(st.sampled_from(verbs.classes)), words))
        case "near":
            said = draw(near(draw(st.sampled_from(offered)), words))
        case _:
            said = draw(garbage(verbs))
    return said.heard(verbs)


def fitting(verb: type[Action], words: Words = ()) -> SearchStrategy[Said]:
    """A verb with parameters as its tool's schema asks for them."""
    return _parameters(verb, words).map(lambda parameters: Said(verb.tool_name(), parameters))


@st.composite
def varied(draw: DrawFn, action: Action, words: Words = ()) -> Said:
    """An action with one of its fields set to something else that fits."""
    given = action.model_dump(mode="json")
    if given:
        name = draw(st.sampled_from(sorted(given)))
        given[name] = draw(_field(type(action), name, words))
    return Said(action.tool_name(), given)


@st.composite
def near(draw: DrawFn, verb: type[Action], words: Words = ()) -> Said:
    """A verb with parameters of which one is missing, is too many, or holds something else."""
    given = dict(draw(_parameters(verb, words)))
    name = draw(st.sampled_from((*given, "extra")))
    if draw(st.booleans()):
        given.pop(name, None)
    else:
        given[name] = draw(ANY_JSON)
    return Said(verb.tool_name(), given)


@lru_cache(maxsize=16)
def garbage(verbs: Verbs) -> SearchStrategy[Said]:
    """Anything at all under the names of the verbs, and names that are none."""
    names = [name for verb in verbs.classes for name in (verb.__name__, verb.tool_name(), *verb.aliases)]
    objects = st.dictionaries(TEXT | AWKWARD_TEXT, ANY_JSON, max_size=MOST_ITEMS)
    return st.builds(Said, st.sampled_from(names) | ANY_JSON, objects | ANY_JSON)


@lru_cache(maxsize=512)
def _parameters(verb: type[Action], words: Words) -> SearchStrategy[dict[str, Any]]:
    schema: Schema = verb.tool()["parameters"]
    return _object(schema, schema.get("$defs", {}), words)


@lru_cache(maxsize=2048)
def _field(verb: type[Action], name: str, words: Words) -> SearchStrategy[Any]:
    schema: Schema = verb.model_json_schema()
    return _value(schema["properties"][name], schema.get("$defs", {}), words)


def _value(schema: Schema, defs: Schema, words: Words) -> SearchStrategy[Any]:
    """Values that a JSON Schema describes, as far as pydantic writes schemas."""
    if "$ref" in schema:
        inner = defs[schema["$ref"].rpartition("/")[2]]
        return st.deferred(lambda: _value(inner, defs, words))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return st.one_of([_value(one, defs, words) for one in schema[several]])
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
        {name: one for name, one in fields.items() if name in required},
        optional={name: one for name, one in fields.items() if name not in required},
    )
    more = schema.get("additionalProperties")
    if not isinstance(more, Mapping):
        return fixed
    keys = _text(schema.get("propertyNames", {}), words)
    low, high = schema.get("minProperties", 0), schema.get("maxProperties", MOST_ITEMS)
    others = st.dictionaries(keys, _value(more, defs, words), min_size=low, max_size=max(low, min(high, MOST_ITEMS)))
    return st.builds(lambda these, those: {**those, **these}, fixed, others)


def _array(schema: Schema, defs: Schema, words: Words) -> SearchStrategy[list[Any]]:
    if "prefixItems" in schema:
        return st.tuples(*(_value(one, defs, words) for one in schema["prefixItems"])).map(list)
    low, high = schema.get("minItems", 0), schema.get("maxItems", MOST_ITEMS)
    unique_by = repr if schema.get("uniqueItems") else None
    items = _value(schema.get("items", {}), defs, words)
    return st.lists(items, min_size=low, max_size=max(low, min(high, MOST_ITEMS)), unique_by=unique_by)


def _text(schema: Schema, words: Words) -> SearchStrategy[str]:
    if "pattern" in schema:
        return st.from_regex(schema["pattern"])
    if schema.get("format") == "date":
        return st.dates().map(str)
    low, high = schema.get("minLength", 0), schema.get("maxLength", 200)
    free = st.text(
        st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=low, max_size=min(high, 40)
    )
    meant = [word for word in words if low <= len(word) <= high]
    return st.sampled_from(meant) | st.sampled_from(meant) | free if meant else free


def _whole(schema: Schema) -> SearchStrategy[int]:
    """Whole numbers within the bounds, small ones oftener: few worlds sell a hundred thousand of anything."""
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1001) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", max(low, 0) + 100_001) - 1)
    return st.integers(low, min(high, low + _SMALL)) | st.integers(low, high)


def _number(schema: Schema) -> SearchStrategy[float]:
    """Numbers within the bounds, those with two decimals oftener: they may be money."""
    low, high = schema.get("minimum", 0), schema.get("maximum", 1000)
    return st.integers(math.ceil(low * 100), math.floor(high * 100)).map(lambda n: n / 100) | st.floats(low, high)
