"""Describes worlds: their presets, agents, actions, settings, and the lists of records that they start from."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeGuard, cast

from pydantic import BaseModel

from akinai import worlds as installed
from akinai.core.actions import Action
from akinai.core.canonical import Json, JsonRecord
from akinai.core.ledger import Genesis
from akinai.core.worlds import World
from akinai.runtime.config.settings import prepare, preset_text, presets
from akinai.runtime.play.agent_registry import BUILT_IN, agent_plugins

OF_EVERY_WORLD = {
    "script:FILE": "Replies from a file, one JSON line each.",
    "stdio:COMMAND": "A program that is told what there is to see and answers, one JSON line each.",
    "human": "You, at the terminal.",
    "chat": "A model, by tool calls.",
    "structured": "A model, by one JSON object a reply.",
    "autogen": "An AutoGen assistant, as autogen:MODEL (extra `autogen`).",
}


@dataclass(frozen=True, slots=True)
class Described:
    """A preset or an agent with a line about it."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """An action, as the tool of a model."""

    name: str
    parameters: Mapping[str, str]
    """The type of each parameter by name, with "?" after the name of an optional one."""
    about: str


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """A setting and its default."""

    name: str
    """Dotted, as `--set` takes it."""
    default: Json
    about: str


@dataclass(frozen=True, slots=True)
class WorldInfo(JsonRecord):
    """The description of a world, as `akinai worlds WORLD` shows it."""

    world: str
    about: str
    who: str
    """The actors, in a few words."""
    actors: Sequence[str]
    """The actors that may act first."""
    presets: Sequence[Described]
    agents: Sequence[Described]
    """The first is the default."""
    actions: Sequence[ActionInfo]
    settings: Sequence[SettingInfo]
    lists: Mapping[str, Sequence[Mapping[str, Json]]]
    """The lists of records in the default setup, by dotted name such as "catalog.products"."""


def worlds(world: str | None = None) -> WorldInfo | Sequence[WorldInfo]:
    """One world by name, or all installed worlds. UnknownName with close matches for an unknown name."""
    if world is not None:
        return describe(installed.load(world))
    return [describe(installed.load(name)) for name in installed.names()]


def describe(world: World[Any]) -> WorldInfo:
    """The description of a world, with the values of its default preset."""
    setup = prepare(world).setup
    state = world.begin(Genesis(world.name, 1, setup))
    players = [Described(name, _line(factory.__doc__)) for name, factory in world.players.items()]
    return WorldInfo(
        world=world.name,
        about=_line(getattr(inspect.getmodule(type(world)), "__doc__", "")) or _line(type(world).__doc__),
        who=world.facets.sides.who or ", ".join(world.actors(state)),
        actors=list(world.actors(state)),
        presets=[Described(name, _comment(preset_text(world, name))) for name in presets(world)],
        agents=[*players, *(Described(name, OF_EVERY_WORLD.get(name, "")) for name in (*BUILT_IN, *agent_plugins()))],
        actions=[_action(verb) for verb in world.verbs.classes],
        settings=list(_settings(world.setup, setup)),
        lists=dict(_lists({name: setup[name] for name in world.facets.files.readers if name in setup})),
    )


def _line(doc: str | None) -> str:
    """The first sentence or line of a docstring."""
    return inspect.cleandoc(doc or "").partition("\n\n")[0].replace("\n", " ")


def _comment(toml: str) -> str:
    """The comment at the top of a TOML file."""
    lines: list[str] = []
    for line in toml.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return " ".join(lines)


def _action(verb: type[Action]) -> ActionInfo:
    tool = verb.tool()
    schema = tool["parameters"]
    parameters = {
        name if name in schema["required"] else f"{name}?": _type(field, schema)
        for name, field in schema["properties"].items()
    }
    return ActionInfo(tool["name"], parameters, _line(tool["description"]))


def _type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """A JSON Schema in a few words."""
    if "$ref" in schema:
        return _type(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "enum" in schema:
        return "|".join(json.dumps(value) for value in schema["enum"])
    if several := schema.get("anyOf"):
        return "|".join(dict.fromkeys(_type(option, root) for option in several if option.get("type") != "null"))
    if schema.get("type") == "array":
        return f"[{_type(schema.get('items', {}), root)}]"
    if schema.get("type") == "object" and "properties" in schema:
        return "{" + ", ".join(schema["properties"]) + "}"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"{{name: {_type(cast('Mapping[str, Any]', inner), root)}}}" if isinstance(inner, dict) else "object"
    kind = str(schema.get("type", "anything"))
    return {"string": "text", "integer": "whole number", "boolean": "true|false"}.get(kind, kind)


def _settings(model: type[BaseModel], setup: Mapping[str, Json], above: str = "") -> Iterator[SettingInfo]:
    notes = field_notes(model)
    for name, field in model.model_fields.items():
        value, path, inner = setup.get(name), f"{above}{name}", field.annotation
        match value:
            case Mapping() if _is_model(inner) and not any(_records(item) for item in value.values()):
                yield from _settings(inner, value, f"{path}.")
            case _:
                yield SettingInfo(path, value, notes.get(name, ""))


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _lists(tables: Mapping[str, Json], above: str = "") -> Iterator[tuple[str, Sequence[Mapping[str, Json]]]]:
    for name, value in tables.items():
        if _records(value):
            yield f"{above}{name}", cast("Sequence[Mapping[str, Json]]", value)
        elif isinstance(value, Mapping):
            yield from _lists(value, f"{above}{name}.")


def _records(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


@cache
def field_notes(model: type[BaseModel]) -> dict[str, str]:
    """The first sentence of the string under each field, as the source has it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    except (OSError, TypeError, SyntaxError):  # no source to read, as in a notebook
        return {}
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: _line(below.value.value)
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr)
        if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }
