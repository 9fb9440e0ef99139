"""Action: one thing an actor asks a world to do. Each verb is a class; its docstring is the tool's description."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from akinai.core.canonical import Json, bad_text_in, canonical, keepable, unfit_in
from akinai.core.errors import UnknownName
from akinai.core.untrusted.spelling import short_repr

UnreadableCode = Literal["no_action", "bad_parameters", "bad_text"]

UNREADABLE_TEXT_LIMIT = 4096
"""Characters of an unreadable reply that the ledger keeps."""
_PLAIN = frozenset({str, int, bool, type(None)})
"""The types of values that the ledger gives back as they are."""


@dataclass(frozen=True, slots=True)
class ParameterAlias:
    """Another way to give a field: under another name, possibly in another unit ("1.75" dollars for `price_cents`)."""

    field: str
    decode: Callable[[object], Json] | None = None
    """Converts the given value to the field's. ValueError says what is wrong with it. None: the value is the same."""
    schema: Mapping[str, Json] | None = None
    """JSON Schema of the given value, shown to models in place of the field's. None hides this alias from them."""


class Action(BaseModel):
    """The base of all verbs. The ledger keeps the fields; agents may give them under `parameter_aliases`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names of the verb, in any case."""
    parameter_aliases: ClassVar[Mapping[str, ParameterAlias]] = {}
    example: ClassVar[Mapping[str, Json]] = {}
    """Parameters as an agent may write them, told behind the docstring. Small models copy an example to the letter."""

    @classmethod
    def tool_name(cls) -> str:
        """The verb in snake_case: what a model calls."""
        return _snake_case(cls.__name__)

    @classmethod
    def description(cls, *, named: bool = False) -> str:
        """The docstring, and the example where there is one; `named` writes it as a reply of JSON, with the name."""
        text = inspect.cleandoc(cls.__doc__ or "")
        if not cls.example:
            return text
        name = {"action": cls.tool_name().upper()} if named else {}
        return f"{text}\n\nFor example: {json.dumps({**name, **cls.example}, ensure_ascii=False)}"

    @classmethod
    def decode(cls, parameters: Mapping[str, Any]) -> Self:
        """The action with parameters as an agent wrote them. Raises ValueError or ValidationError."""
        fields = dict(parameters)
        for name, alias in cls.parameter_aliases.items():
            if name in fields:
                value = fields.pop(name)
                if alias.field in fields:
                    raise ValueError(f"{alias.field!r} was given twice: also as {name!r}")
                fields[alias.field] = alias.decode(value) if alias.decode else value
        for name, part in _spelled_parts(cls).items():
            if name in fields:
                fields[name] = _decoded_parts(fields[name], part)
        return cls.model_validate(fields)

    def dumped(self) -> dict[str, Json]:
        """The fields as the ledger keeps them."""
        return self.__pydantic_serializer__.to_python(self, mode="json") if self.__dict__ else {}

    def encode(self) -> dict[str, Json]:
        """The parameters as an agent would write them, nested actions included; `decode` reads them back.

        Fields at their default are left out. A field whose alias cannot express its value is written under its own
        name, which `decode` always accepts.
        """
        fields = cast("dict[str, Json]", self.model_dump(mode="json", exclude_defaults=True))
        aliases = self.parameter_aliases.items()
        aliases_by_field = {alias.field: (name, alias) for name, alias in aliases if alias.schema is not None}
        parameters: dict[str, Json] = {}
        for field, dumped in fields.items():
            value = _encoded(getattr(self, field), dumped)
            name, alias = aliases_by_field.get(field, (field, None))
            spelling = None if alias is None else _spelling(alias, value)
            parameters[field if spelling is None else name] = value if spelling is None else spelling
        return parameters

    @classmethod
    def tool(cls, *, inline: bool = False) -> dict[str, Any]:
        """The verb as a tool for a model: name, description and the JSON Schema of its parameters.

        The string under a field is the description of its parameter. `inline` writes every definition where it is used,
        for readers that know no `$ref`; there a definition that contains itself is cut to any value.
        """
        return _copied(_tool(cls, inline))

    @classmethod
    def parameters_schema(cls) -> dict[str, Any]:
        """The JSON Schema of the parameters as agents give them; a verb may override it to show itself otherwise."""
        schema = cls.model_json_schema()
        properties: dict[str, Any] = dict(schema.get("properties", {}))
        required: list[str] = list(schema.get("required", []))
        for name, alias in cls.parameter_aliases.items():
            if alias.schema is not None and alias.field in properties:
                about = {key: text for key, text in properties[alias.field].items() if key == "description"}
                properties = {name if key == alias.field else key: value for key, value in properties.items()}
                properties[name] = {**about, **alias.schema}
                required = [name if key == alias.field else key for key in required]
        parameters: dict[str, Any] = {"type": "object", "properties": _plain(properties), "required": required}
        if "$defs" in schema:
            parameters["$defs"] = _plain(schema["$defs"])
            parameters["$defs"] |= {part.__name__: part.parameters_schema() for part in _spelled_parts(cls).values()}
        return parameters


class Unreadable(Action):
    """A reply in which no action could be read. It is refused and counts as an action."""

    text: str
    """The reply, cut at 4,096 characters; characters that no store can keep are replaced."""
    sha256: str
    """SHA-256 in hex of the whole reply in UTF-8."""
    code: UnreadableCode = "no_action"
    why: str = "the reply holds no action"

    @staticmethod
    def of(reply: str, why: str, code: UnreadableCode = "no_action") -> "Unreadable":
        """The unreadable action of a whole reply, refused for the reason `why`."""
        sha256 = hashlib.sha256(reply.encode("utf-8", "surrogatepass")).hexdigest()
        return Unreadable(text=keepable(reply[:UNREADABLE_TEXT_LIMIT]), sha256=sha256, code=code, why=keepable(why))


def _actions_in(annotation: Any) -> list[type[Action]]:
    """The classes of actions within a type."""
    if isinstance(annotation, type) and issubclass(annotation, Action):
        return [annotation]
    return [action for inner in get_args(annotation) for action in _actions_in(inner)]


@lru_cache(maxsize=1024)
def _spelled_parts(cls: type[Action]) -> Mapping[str, type[Action]]:
    """The actions within an action whose parameters have other spellings too, by field."""
    parts = [(name, part) for name, field in cls.model_fields.items() for part in _actions_in(field.annotation)]
    return {name: part for name, part in parts if part.parameter_aliases}


def _decoded_parts(value: object, part: type[Action]) -> object:
    """The actions within an action, each decoded; what is no object is left to the validation of the whole."""
    if isinstance(value, list | tuple):
        return [_decoded_parts(item, part) for item in cast("Sequence[object]", value)]
    return part.decode(cast("dict[str, Any]", value)) if isinstance(value, dict) else value


class Verbs:
    """The verbs of a world, found by any of their spellings."""

    def __init__(self, classes: Sequence[type[Action]], unspoken: Sequence[type[Action]] = ()) -> None:
        """`unspoken` verbs are read from ledgers alone: they are done for an actor, and no agent can name them."""
        self.classes = self.offered = tuple(classes)
        self._unspoken = {cls.__name__: cls for cls in (*unspoken, Unreadable)}
        self._by_name: dict[str, type[Action]] = {}
        for cls in self.classes:
            for name in (cls.__name__, cls.tool_name(), *cls.aliases):
                if self._by_name.setdefault(_folded(name), cls) is not cls:
                    raise ValueError(f"two actions answer to {name!r}: {cls.__name__} and another")

    def offering(self, classes: Sequence[type[Action]]) -> "Verbs":
        """The same verbs, read and found as ever, of which an agent is offered these alone: refusals name no others."""
        narrowed = copy(self)
        narrowed.offered = tuple(classes)
        return narrowed

    @property
    def only(self) -> type[Action] | None:
        """The verb that an agent is offered, where it is offered one."""
        return self.offered[0] if len(self.offered) == 1 else None

    def find(self, name: str) -> type[Action]:
        """The class with this name or alias, in any case and spelling. UnknownName when there is none."""
        try:
            return self._by_name[_folded(name)]
        except KeyError:
            raise UnknownName("action", name, (cls.tool_name() for cls in self.offered)) from None

    def parameters(self, name: object) -> frozenset[str]:
        """The parameters of the action of this name, aliases included; none for an unknown name."""
        cls = self._by_name.get(_folded(name)) if isinstance(name, str) else None
        return frozenset((*cls.model_fields, *cls.parameter_aliases)) if cls else frozenset()

    def recorded(self, name: str, parameters: Mapping[str, Json]) -> Action:
        """The action that the ledger holds under a class name and fields. UnknownName for an unknown class."""
        cls = self._unspoken.get(name) or self._by_name.get(_folded(name))
        if cls is None:
            raise UnknownName("action", name, (cls.__name__ for cls in self.classes))
        return cls.model_validate(parameters) if parameters else _bare(cls)

    def settled(self, action: Action) -> Action:
        """The action as the ledger will give it back (sorted keys, whole floats as integers): worlds see no other form.

        UnknownName for an action of another world.
        """
        parameters = action.dumped()
        if _PLAIN.issuperset(map(type, parameters.values())):
            return action
        return self.recorded(type(action).__name__, json.loads(canonical(parameters)))

    def parse(self, name: object, parameters: object, reply: str) -> Action:
        """The action of a name and parameters as an agent wrote them; an `Unreadable` with a reason when it is none.

        `reply` is the text that both came in; an `Unreadable` keeps it.
        """
        if not isinstance(name, str):
            return Unreadable.of(reply, f"the name of the action should be text, not a {type(name).__name__}")
        try:
            cls = self.find(name)
        except UnknownName as error:
            return Unreadable.of(reply, str(error)[:600])
        if not isinstance(parameters, Mapping):
            return Unreadable.of(reply, f"parameters of {cls.tool_name()} should be an object", "bad_parameters")
        values = cast("Mapping[str, Any]", parameters)
        if why := unfit_in(values):
            return Unreadable.of(reply, f"{cls.tool_name()}: a parameter {why}", "bad_parameters")
        if why := bad_text_in(values):
            return Unreadable.of(reply, f"{cls.tool_name()}: a parameter {why}", "bad_text")
        try:
            return cls.decode(values)
        except ValidationError as error:
            why = f"{cls.tool_name()}: {complaint(error)}"
            if any(fault["type"] == "extra_forbidden" for fault in error.errors(include_url=False)):
                why += f"; it takes {', '.join(cls.tool()['parameters']['properties']) or 'no parameters'}"
            return Unreadable.of(reply, why, "bad_parameters")
        except (ValueError, TypeError, RecursionError, OverflowError) as error:
            return Unreadable.of(reply, f"{cls.tool_name()}: {str(error)[:300]}", "bad_parameters")


_COUNT = re.compile(r"\w+ should have (at (?:least|most) \d+ items?) after validation, not .*")
_MAPPING = re.compile(r"a valid dictionary(?: or instance of \w+)?")
"""Words of the validating library, for an object that is too short or too long and for one that is none."""


def complaint(error: ValidationError, mapping: str = "an object of names and values") -> str:
    """A validation error in a sentence: where, what is wrong and what was found, for at most three faults.

    `mapping` is what an object with names is called where it is written.
    """
    faults: list[str] = []
    for fault in error.errors(include_url=False, include_context=False)[:3]:
        where = ".".join(str(step) for step in fault["loc"][:8])[:120]
        input_text = "" if fault["type"] == "missing" else short_repr(fault["input"])
        words = _MAPPING.sub(mapping, _COUNT.sub(r"give \1", fault["msg"]))
        if fault["type"] == "value_error":  # a rule of ours, which says what would fit
            words = words.removeprefix("Value error, ")
            faults.append(f"{where} {input_text}: {words}" if where else words)
        else:
            words = f"{words[:1].lower()}{words[1:]}"
            faults.append(f"{where or 'the whole'}: {words}{input_text and f', not {input_text}'}")
    return "; ".join(faults)


@lru_cache(maxsize=1024)
def _bare(cls: type[Action]) -> Action:
    """The action without parameters. It is frozen, so that all who ask for it may share it."""
    return cls.model_validate({})


@lru_cache(maxsize=1024)
def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


@lru_cache(maxsize=1024)
def _tool(cls: type[Action], inline: bool) -> dict[str, Any]:
    parameters = cls.parameters_schema()
    if inline:
        defs = parameters.pop("$defs", {})
        parameters = _inlined(parameters, defs, ())
    return {"name": cls.tool_name(), "description": cls.description(), "parameters": parameters}


def _copied(value: Any) -> Any:
    """A copy of JSON data: the cached tool stays as it is, whatever a caller does to its own."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in cast("dict[str, Any]", value).items()}
    return [_copied(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _inlined(value: Any, defs: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """A schema with its definitions in place of the references to them; what stands beside a reference wins."""
    if isinstance(value, list):
        return [_inlined(item, defs, inside) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    schema = cast("dict[str, Any]", value)
    if not isinstance(reference := schema.get("$ref"), str):
        return {key: _inlined(item, defs, inside) for key, item in schema.items()}
    name = reference.rpartition("/")[2]
    beside = {key: _inlined(item, defs, inside) for key, item in schema.items() if key != "$ref"}
    return beside if name in inside else {**_inlined(defs[name], defs, (*inside, name)), **beside}


def _plain(value: Any) -> Any:
    """A JSON Schema without titles, which cost tokens and say nothing, and without OpenAPI's discriminator."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {key: _plain(item) for key, item in items.items() if not _added(key, item)}
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value


def _added(key: str, item: Any) -> bool:
    return (key == "title" and isinstance(item, str)) or (key == "discriminator" and "propertyName" in item)


def _encoded(value: object, dumped: Json) -> Json:
    """The JSON of a value, with the actions inside it encoded."""
    if isinstance(value, Action):
        return value.encode()
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Json]", dumped)
        return {str(key): _encoded(item, table[str(key)]) for key, item in cast("Mapping[Any, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = zip(cast("Sequence[object]", value), cast("list[Json]", dumped), strict=True)
        return [_encoded(*pair) for pair in items]
    return dumped


def _spelling(alias: ParameterAlias, value: Json) -> Json:
    """A spelling that the alias decodes to the value: tried as it is, in hundredths, and as text. None if none fits."""
    hundredths: list[Json] = [value / 100, f"{value / 100:.2f}"] if isinstance(value, int) else []
    if isinstance(value, Mapping):
        hundredths = [{key: item / 100 for key, item in value.items() if isinstance(item, int)}]
    for spelling in (value, *hundredths, str(value)):
        try:
            if (alias.decode(spelling) if alias.decode else spelling) == value:
                return spelling
        except (ValueError, TypeError):
            continue
    return None
