"""Action: one thing an actor asks a world to do. A class per verb; its docstring is what an agent reads of the tool."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from akinai.core.canonical import Json, bad_text_in, canonical, keepable, unfit_in
from akinai.core.errors import UnknownName

UnreadableCode = Literal["no_action", "bad_parameters", "bad_text"]

UNREADABLE_TEXT_LIMIT = 4096
"""Characters of an unreadable reply that the ledger keeps."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """How agents say a field: under another name, maybe in another unit ("1.75" dollars for `price_cents`)."""

    field: str
    read: Callable[[object], Json] | None = None
    """What turns the spoken value into the field's; ValueError says what was wrong with it. None: it is the same."""
    schema: Mapping[str, Json] | None = None
    """JSON Schema of the spoken value, shown to models in place of the field's; None hides this spelling."""


class Action(BaseModel):
    """The base of all verbs. Fields are what the ledger keeps; `spoken` is how agents may say them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names of the verb, in any case."""
    spoken: ClassVar[Mapping[str, Spoken]] = {}

    @classmethod
    def tool_name(cls) -> str:
        """The verb in snake_case: what a model calls."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def hear(cls, said: Mapping[str, Any]) -> Self:
        """Read parameters as an agent wrote them. Raises ValueError or ValidationError."""
        fields = dict(said)
        for name, how in cls.spoken.items():
            if name in fields:
                value = fields.pop(name)
                if how.field in fields:
                    raise ValueError(f"{how.field!r} was given twice: also as {name!r}")
                fields[how.field] = how.read(value) if how.read else value
        return cls.model_validate(fields)

    def say(self) -> dict[str, Json]:
        """The parameters as `hear` reads them: the inverse of hearing, dollars for cents, nested actions alike.

        Fields at their default are left out. Where no spelling is found that reads back as the value, the field stands
        under its own name, which is always heard.
        """
        kept = cast("dict[str, Json]", self.model_dump(mode="json", exclude_defaults=True))
        shown = {how.field: (name, how) for name, how in self.spoken.items() if how.schema is not None}
        said: dict[str, Json] = {}
        for field, dumped in kept.items():
            value = _said(getattr(self, field), dumped)
            name, how = shown.get(field, (field, None))
            spelling = None if how is None else _spelling(how, value)
            said[field if spelling is None else name] = value if spelling is None else spelling
        return said

    @classmethod
    def tool(cls) -> dict[str, Any]:
        """The verb as a tool for a model: name, description and the JSON Schema of its spoken parameters."""
        schema = cls.model_json_schema()
        properties: dict[str, Any] = dict(schema.get("properties", {}))
        required: list[str] = list(schema.get("required", []))
        for name, how in cls.spoken.items():
            if how.schema is not None and how.field in properties:
                properties = {name if key == how.field else key: value for key, value in properties.items()}
                properties[name] = dict(how.schema)
                required = [name if key == how.field else key for key in required]
        parameters: dict[str, Any] = {"type": "object", "properties": _untitled(properties), "required": required}
        if "$defs" in schema:
            parameters["$defs"] = _untitled(schema["$defs"])
        return {"name": cls.tool_name(), "description": inspect.cleandoc(cls.__doc__ or ""), "parameters": parameters}


class Unreadable(Action):
    """A reply in which no action could be read. It is refused and counts as a message."""

    text: str
    """The reply as it came, cut at 4,096 characters, with characters that no store keeps replaced."""
    sha256: str
    """Of the whole reply in UTF-8."""
    code: UnreadableCode = "no_action"
    why: str = "the reply holds no action"

    @staticmethod
    def of(reply: str, why: str, code: UnreadableCode = "no_action") -> "Unreadable":
        """A whole reply that is refused for the reason `why`."""
        sha256 = hashlib.sha256(reply.encode("utf-8", "surrogatepass")).hexdigest()
        return Unreadable(text=keepable(reply[:UNREADABLE_TEXT_LIMIT]), sha256=sha256, code=code, why=keepable(why))


class Verbs:
    """The verbs of a world under all their spellings."""

    def __init__(self, classes: Sequence[type[Action]]) -> None:
        self.classes = tuple(classes)
        self._by_name: dict[str, type[Action]] = {}
        for cls in self.classes:
            for name in (cls.__name__, cls.tool_name(), *cls.aliases):
                if self._by_name.setdefault(_folded(name), cls) is not cls:
                    raise ValueError(f"two actions answer to {name!r}: {cls.__name__} and another")

    def find(self, name: str) -> type[Action]:
        """The class that answers to `name` in any case and spelling; UnknownName when none does."""
        try:
            return self._by_name[_folded(name)]
        except KeyError:
            raise UnknownName("action", name, (cls.tool_name() for cls in self.classes)) from None

    def recorded(self, name: str, parameters: Mapping[str, Json]) -> Action:
        """An action as the ledger holds it."""
        cls = Unreadable if name == Unreadable.__name__ else self._by_name.get(_folded(name))
        if cls is None:
            raise UnknownName("action", name, (cls.__name__ for cls in self.classes))
        return cls.model_validate(parameters)

    def settled(self, action: Action) -> Action:
        """The action as the ledger gives it back, keys in their order and whole floats whole: worlds see no other.

        UnknownName for an action of another world.
        """
        parameters = action.model_dump(mode="json")
        if all(isinstance(value, str | int | None) for value in parameters.values()):
            return action
        return self.recorded(type(action).__name__, json.loads(canonical(parameters)))

    def heard(self, name: object, parameters: object, reply: str) -> Action:
        """An action as an agent said it; an `Unreadable` with a plain reason when it cannot be read as one."""
        if not isinstance(name, str):
            return Unreadable.of(reply, f"the name of the action should be text, not a {type(name).__name__}")
        try:
            cls = self.find(name)
        except UnknownName as error:
            return Unreadable.of(reply, str(error)[:600])
        if not isinstance(parameters, Mapping):
            return Unreadable.of(reply, f"parameters of {cls.tool_name()} should be an object", "bad_parameters")
        given = cast("Mapping[str, Any]", parameters)
        if why := unfit_in(given):
            return Unreadable.of(reply, f"{cls.tool_name()}: a parameter {why}", "bad_parameters")
        if why := bad_text_in(given):
            return Unreadable.of(reply, f"{cls.tool_name()}: a parameter {why}", "bad_text")
        try:
            return cls.hear(given)
        except ValidationError as error:
            return Unreadable.of(reply, f"{cls.tool_name()}: {complaint(error)}", "bad_parameters")
        except (ValueError, TypeError, RecursionError, OverflowError) as error:
            return Unreadable.of(reply, f"{cls.tool_name()}: {str(error)[:300]}", "bad_parameters")


def complaint(error: ValidationError) -> str:
    """A validation error as one sentence: where, what was found, what is expected; at most three of them."""
    told: list[str] = []
    for one in error.errors(include_url=False, include_context=False)[:3]:
        where = ".".join(str(step) for step in one["loc"][:8])[:120] or "the whole"
        found = "" if one["type"] == "missing" else f", not {one['input']!r:.60}"
        told.append(f"{where}: {one['msg'][:1].lower()}{one['msg'][1:]}{found}")
    return "; ".join(told)


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _untitled(value: Any) -> Any:
    """A JSON Schema without the titles that pydantic puts on every field: they cost tokens and say nothing."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {key: _untitled(item) for key, item in items.items() if key != "title" or not isinstance(item, str)}
    if isinstance(value, list):
        return [_untitled(item) for item in cast("list[Any]", value)]
    return value


def _said(value: object, dumped: Json) -> Json:
    """The JSON of a value, with the actions inside it as they are spoken."""
    if isinstance(value, Action):
        return value.say()
    if isinstance(value, Mapping):
        told = cast("Mapping[str, Json]", dumped)
        return {str(key): _said(item, told[str(key)]) for key, item in cast("Mapping[Any, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = zip(cast("Sequence[object]", value), cast("list[Json]", dumped), strict=True)
        return [_said(*pair) for pair in items]
    return dumped


def _spelling(how: Spoken, value: Json) -> Json:
    """A spelling that is heard as the value, found by trying: as it is, as hundredths, as text. None when none is."""
    hundredths: list[Json] = [value / 100, f"{value / 100:.2f}"] if isinstance(value, int) else []
    for spelling in (value, *hundredths, str(value)):
        try:
            if (how.read(spelling) if how.read else spelling) == value:
                return spelling
        except (ValueError, TypeError):
            continue
    return None
