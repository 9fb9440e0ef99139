"""Settings: a world's defaults, then its preset, `akinai.toml`, the environment, and what the command says last."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from akinai.core.actions import complaint
from akinai.core.canonical import Json, canonical
from akinai.core.errors import UnknownName, UsageError
from akinai.core.worlds import World

SETTINGS_FILE = "akinai.toml"
DEFAULT_PRESET = "default"

Table = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A world's setup, checked, with what the run card says of it."""

    setup: Mapping[str, Json]
    preset: str
    preset_sha256: str
    """Of the canonical setup without the days that the command asked for: what the preset and settings amount to."""


def prepare(
    world: World[Any], *, preset: str | None = None, days: int | None = None, sets: Sequence[str] = ()
) -> Prepared:
    """The setup of a run from all layers. Raises UsageError that names the layer and the setting at fault."""
    base = world.name.partition("@")[0]
    own = settings_file()
    chosen = preset or _text(own.get("preset")) or DEFAULT_PRESET
    table, where = _preset(world, chosen)
    merge(table, _table(own.get(base, {}), f"[{base}] in {SETTINGS_FILE}"))
    for one in sets:
        assign(table, one, world.setup)
    if days is not None:
        if "days" not in world.setup.model_fields:
            raise UsageError(f"{world.name} has no days; --days belongs to worlds that run for days")
        table["days"] = days
    _read_files(world, table, where)
    setup = checked(world, table)
    without_days = {name: value for name, value in setup.items() if name != "days"}
    return Prepared(setup, chosen, hashlib.sha256(canonical(without_days).encode()).hexdigest()[:16])


def checked(world: World[Any], table: Mapping[str, Any]) -> Mapping[str, Json]:
    """The setup with every default filled in. UsageError says what does not fit, with close matches for names."""
    try:
        return world.setup.model_validate(table).model_dump(mode="json")
    except ValidationError as error:
        for one in error.errors():
            if one["type"] == "extra_forbidden":
                path = [str(step) for step in one["loc"]]
                known = _fields_at(world.setup, path[:-1])
                raise UnknownName(
                    "setting", ".".join(path), [".".join([*path[:-1], name]) for name in known], f"of {world.name}"
                ) from error
        raise UsageError(f"the settings of {world.name} do not fit: {complaint(error)}") from error


def presets(world: World[Any]) -> list[str]:
    """The names of a world's presets."""
    folder = _folder(world) / "presets"
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))


def settings_file(folder: Path | None = None) -> Table:
    """`akinai.toml` of the working folder, empty when there is none."""
    path = (folder or Path.cwd()) / SETTINGS_FILE
    return _toml(path) if path.is_file() else {}


def setting(name: str, flag: str | None, default: str) -> str:
    """One setting of the program itself: the flag, else AKINAI_NAME, else `akinai.toml`, else the default."""
    return flag or os.environ.get(f"AKINAI_{name.upper()}") or _text(settings_file().get(name)) or default


def assign(table: Table, text: str, model: type[BaseModel]) -> None:
    """Set one dotted name in a table: "demand.footfall=40". Values are JSON where they parse, else text."""
    name, equals, value = text.partition("=")
    path = name.strip().split(".")
    if not equals or not all(path):
        raise UsageError(f"--set wants name=value, not {text!r}")
    known = model.model_fields
    if path[0] not in known:
        raise UnknownName("setting", path[0], known)
    for step in path[:-1]:
        inner = table.setdefault(step, {})
        if not isinstance(inner, dict):
            inner = table[step] = {"file": inner} if isinstance(inner, str) else {}
        table = cast("Table", inner)
    table[path[-1]] = _value(value.strip())


def merge(table: Table, over: Mapping[str, Any]) -> None:
    """Lay one table over another, inner tables item by item."""
    for name, value in over.items():
        old = table.get(name)
        if isinstance(old, dict) and isinstance(value, Mapping):
            merge(cast("Table", old), cast("Mapping[str, Any]", value))
        else:
            table[name] = value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _preset(world: World[Any], name: str) -> tuple[Table, Traversable]:
    """A preset of the world by name, or a TOML file by path; and the folder that its files are relative to."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"no preset file {name!r}")
        return _toml(path), path.parent
    known = presets(world)
    if name not in known:
        raise UnknownName("preset", name, known, f"of {world.name}; or a path ending in .toml")
    folder = _folder(world)
    return tomllib.loads((folder / "presets" / f"{name}.toml").read_text(encoding="utf-8")), folder


def _folder(world: World[Any]) -> Traversable:
    return files(type(world).__module__)


def _read_files(world: World[Any], table: Table, where: Traversable) -> None:
    """Replace the settings that name files by what is in them; what else the setting holds goes over it."""
    for name, reader in world.files.items():
        given = table.get(name)
        if isinstance(given, str):
            given = {"file": given}
        if not isinstance(given, dict) or "file" not in given:
            continue
        over = cast("Table", given)
        file = str(over.pop("file"))
        texts = dict(_texts(file, where))
        try:
            read = reader(texts)
        except ValueError as error:
            raise UsageError(f"{name} {file!r} cannot be read: {error}") from error
        if over:
            read = json.loads(json.dumps(read))
            merge(cast("Table", read), over)
        table[name] = read


def _texts(file: str, where: Traversable) -> Iterable[tuple[str, str]]:
    """The texts of a file, or of a folder by relative path; a name is looked up in the working folder first."""
    own = Path(file).expanduser()
    path: Traversable = own if own.exists() else where / file
    try:
        if path.is_file():
            yield path.name, path.read_text(encoding="utf-8")
        elif isinstance(path, Path) and path.is_dir():
            for one in sorted(path.rglob("*")):
                if one.is_file() and not one.name.startswith("."):
                    yield one.relative_to(path).as_posix(), one.read_text(encoding="utf-8")
        else:
            raise UsageError(f"no file or folder {file!r}")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file!r} cannot be read: {error}") from error


def _toml(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error


def _table(value: object, where: str) -> Table:
    if not isinstance(value, dict):
        raise UsageError(f"{where} should be a table")
    return cast("Table", value)


def _text(value: object) -> str | None:
    return str(value) if value is not None else None


def _fields_at(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The field names of the model at a path inside a model, empty where the path leads out of models."""
    for step in path:
        field = model.model_fields.get(step)
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return list(model.model_fields)
