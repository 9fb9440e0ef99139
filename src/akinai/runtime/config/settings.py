"""Settings in layers: a world's defaults, its preset, `akinai.toml`, the environment and, last, the command.

`akinai.toml` holds the program's own settings at its top and a world's in a table of its name; the environment has them
as `AKINAI_STORE` and `AKINAI_VENDING__DEMAND__FOOTFALL`.
"""

import copy
import json
import marshal
import os
import sys
import tomllib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from akinai import worlds
from akinai.core.actions import complaint
from akinai.core.canonical import Json, bad_text, canonical, short_digest
from akinai.core.errors import UnknownName, UsageError, why_unreadable
from akinai.core.untrusted.documents import MOST_RECORD_BYTES, DocumentError, parse_toml
from akinai.core.untrusted.spelling import short_repr
from akinai.core.worlds import World
from akinai.files import read_named

SETTINGS_FILE = "akinai.toml"
DEFAULT_PRESET = "default"
DEFAULT_STORE = "akinai.db"
COMMAND = "the command"
MAPPING = "a table of settings"
"""What faults call an object with names in settings."""
OWN_SETTINGS = (
    "a2a", "agent", "analyze", "arena", "compare", "fork", "game", "jobs", "learn", "mcp", "model", "open", "play",
    "preset", "prices", "report", "resume", "run", "serve", "store", "studio", "why",
)  # fmt: skip
"""The keys of `akinai.toml` that are settings of the program, not of a world. Those that `runtime/options.py` declares
are repeated, since it imports from here; a test compares them."""

Table = dict[str, Any]
Settings = Mapping[str, Any] | Sequence[str] | None
"""Settings by dotted name, {"demand.footfall": 40} or ["demand.footfall=40"]."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked setup of a world, with the preset that the run card names."""

    setup: Mapping[str, Json]
    preset: str
    preset_sha256: str
    """Hash of the canonical setup without its days: it identifies the preset with the settings over it."""
    read: tuple[str, ...] = ()
    """What was read from files that a person named, a clause for each kind: "12 customers from people"."""


def prepare(
    world: World[Any],
    *,
    preset: str | None = None,
    days: int | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    thinks: bool = False,
) -> Prepared:
    """The setup of a run from all layers; `settings` come last, {"demand.footfall": 40} or ["demand.footfall=40"].

    Where a model plays (`thinks`, or a group's `model` setting), the world's `model_settings` replace its defaults.
    Raises UsageError that names the setting at fault and, where it is not the caller's, the layer.
    """
    base = world.name.partition("@")[0]
    preset_name = resolve_preset(world, setting("preset", preset, DEFAULT_PRESET))
    with named_source("preset", preset):
        table, folder = _load_preset(world, preset_name)
    layers = {
        f"the preset {preset_name!r}": copy.deepcopy(table),
        SETTINGS_FILE: expect_table(settings_file().get(base, {}), f"[{base}] in {SETTINGS_FILE}"),
        "the environment": environment(base, world.setup),
    }
    for layer in list(layers.values())[1:]:
        merge(table, copy.deepcopy(layer))
    overrides: Table = {}
    named = settings.items() if isinstance(settings, Mapping) else (named_value(text, world.setup) for text in settings)
    if days is not None and "days" not in world.setup.model_fields:
        raise UsageError(f"{world.name} has no days; --days belongs to worlds that run for days")
    for name, value in [*named, *([("days", days)] if days is not None else [])]:
        if name == "days" and days is not None and value != days:
            raise UsageError(f"the days are asked to be {days}, and the setting 'days' to be {value!r}; leave one out")
        for target in (table, overrides):
            assign(target, name, value, world.setup)
    layers[COMMAND] = overrides
    if thinks or any(
        isinstance(side := table.get(name), dict) and "model" in side for name in world.facets.sides.groups
    ):
        table = merged(world.facets.sides.model_settings, table)
    read = _read_files(world, table, folder)
    try:
        setup = check_setup(world, table, layers)
    except UsageError as error:
        raise _missing_in(world, preset_name, error) or error from error.__cause__
    without_days = {name: value for name, value in setup.items() if name != "days"}
    return Prepared(setup, preset_name, short_digest(without_days), read)


def _missing_in(world: World[Any], preset: str, error: UsageError) -> UsageError | None:
    """The error about a setting that a preset in a file lacks, where that is the first fault."""
    cause = error.__cause__
    if isinstance(error, UnknownName) or not isinstance(cause, ValidationError) or not preset.endswith(".toml"):
        return None
    fault = cause.errors()[0]
    path = [str(step) for step in fault["loc"]]
    if fault["type"] != "missing" or len(path) != 1:
        return None
    base = world.facets.files.default_preset
    return UsageError(f'the preset {preset!r} leaves out {path[0]}; give it, or begin with a preset: base = "{base}"')


def resolve_preset(world: World[Any], name: str) -> str:
    """A preset's own name: `default` stands for the world's default preset."""
    return world.facets.files.default_preset if name == DEFAULT_PRESET else name


def preset_setup(world: World[Any], preset: str) -> Mapping[str, Json]:
    """The setup of a preset alone, whatever this machine's settings are. UsageError for one that is not known."""
    table, folder = _load_preset(world, resolve_preset(world, preset))
    _read_files(world, table, folder)
    return check_setup(world, table)


def check_setup(
    world: World[Any], table: Mapping[str, Any], layers: Mapping[str, Mapping[str, Any]] | None = None
) -> Mapping[str, Json]:
    """The setup with every default filled in. UsageError says what does not fit, with close matches for names.

    `layers` are the tables that were merged, by name: an error names the layer that holds the setting at fault.
    """
    try:
        setup = _validated(world.setup, table).model_dump(mode="json")
    except ValidationError as error:
        raise misfit_error(world.setup, world.name, error, layers) from error
    try:
        canonical(setup).encode()
    except ValueError as error:
        path, why = next(_unkept_in(setup, ()), ((), str(error)))
        where = ".".join(path) or "one of them"
        raise UsageError(
            f"the settings of {world.name} hold what no ledger keeps{_layer_words(path, layers or {})}: {where} {why}; "
            "give plain text"
        ) from error
    return setup


def _validated(model: type[BaseModel], table: Mapping[str, Any]) -> BaseModel:
    """The setup of a table. The last ones are cached, since most runs have the settings of another."""
    try:
        return _setup_of(
            model, marshal.dumps(cast("Any", table), 2)
        )  # which keeps the order and the types of plain values
    except (TypeError, ValueError):  # no plain values, or no setup; what is wrong is said of the table itself
        return model.model_validate(table)


@lru_cache(maxsize=32)
def _setup_of(model: type[BaseModel], table: bytes) -> BaseModel:
    return model.model_validate(marshal.loads(table))


def _unkept_in(value: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of texts that no store can keep, each with the reason."""
    if isinstance(value, str):
        if why := bad_text(value):
            yield path, why
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _unkept_in(item, (*path, name))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from _unkept_in(item, (*path, str(index)))


def misfit_error(
    model: type[BaseModel], owner: str, error: ValidationError, layers: Mapping[str, Mapping[str, Any]] | None = None
) -> UsageError:
    """The error about settings of `owner` that do not fit a model: a name that it has not, or else the first fault."""
    for mistake in error.errors():
        path = [str(step) for step in mistake["loc"]]
        if mistake["type"] == "extra_forbidden":
            names = [".".join([*path[:-1], name]) for name in _field_names(model, path[:-1])]
            return UnknownName("setting", ".".join(path), names, f"of {owner}{_layer_words(path, layers or {})}")
    path = [str(step) for step in error.errors()[0]["loc"]]
    words = _layer_words(path, layers or {})
    return UsageError(f"the settings of {owner} do not fit{words}: {complaint(error, MAPPING)}")


def _layer_words(path: Sequence[str], layers: Mapping[str, Mapping[str, Any]]) -> str:
    """Words that name the highest layer that sets a path; empty for the caller's own settings."""
    for name, layer in reversed(list(layers.items())):
        inner: Any = layer
        for step in path:
            inner = cast("Table", inner).get(step, layers) if isinstance(inner, dict) else layers
        if path and inner is not layers:
            return "" if name == COMMAND else f", in {name}"
    return ""


def presets(world: World[Any]) -> list[str]:
    """The names of a world's presets, the default first: a world that brings none has that alone, unchanged."""
    folder = _world_folder(world) / "presets"
    names = (
        [path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")]
        if folder.is_dir()
        else []
    )
    default = world.facets.files.default_preset
    return [default, *sorted({*names} - {default})]


def preset_text(world: World[Any], name: str) -> str:
    """The TOML of one of a world's own presets; empty for the default of a world that brings none."""
    file = _world_folder(world) / "presets" / f"{name}.toml"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def settings_file(folder: Path | None = None) -> Table:
    """`akinai.toml` of the working folder, empty when there is none. UnknownName for a key that has no effect."""
    path = (folder or Path.cwd()) / SETTINGS_FILE
    if not os.path.lexists(path):
        return {}
    table, keys = _read_toml(path), [*OWN_SETTINGS, *worlds.names()]
    tables = [cast("Table", value) for name, value in table.items() if name in OWN_SETTINGS and isinstance(value, dict)]
    if any("key" in place for place in (table, *tables)):
        raise UsageError(
            f"{SETTINGS_FILE} names a key, and every program in this folder can read it; take it out, and name the "
            "file on the command line (--key FILE)"
        )
    for name in table:
        if name not in keys:
            raise UnknownName("setting", name, keys, f"in {SETTINGS_FILE}; a world's settings stand in its table")
    return table


def setting(name: str, flag: str | None, default: str) -> str:
    """One setting of the program itself: the flag, else AKINAI_NAME, else `akinai.toml`, else the default."""
    return flag or os.environ.get(f"AKINAI_{name.upper()}") or _text_setting(settings_file(), name) or default


def source_of(name: str, flag: object) -> str:
    """The source of a program setting: AKINAI_NAME or `akinai.toml`; empty if the caller gave it."""
    if flag:
        return ""
    if os.environ.get(f"AKINAI_{name.upper()}"):
        return f"AKINAI_{name.upper()} in the environment"
    return f"{name} in {SETTINGS_FILE}" if _text_setting(settings_file(), name) else ""


@contextmanager
def named_source(name: str, flag: object) -> Generator[None]:
    """Prefix a UsageError about a setting with the setting's source, unless the caller gave it."""
    try:
        yield
    except UsageError as error:
        if source := source_of(name, flag):
            raise UsageError(f"{source}: {error}") from error
        raise


def environment(base: str, model: type[BaseModel]) -> Table:
    """A world's settings in the environment: AKINAI_VENDING__FEE_CENTS, AKINAI_VENDING__DEMAND__FOOTFALL."""
    table: Table = {}
    start = f"AKINAI_{base.upper()}__"
    for variable, text in os.environ.items():
        if variable.startswith(start):
            path = variable.removeprefix(start).lower().replace("__", ".")
            try:
                name, value = named_value(f"{path}={text}", model)
                assign(table, name, value, model)
            except UsageError as error:
                raise UsageError(f"{variable}: {error}") from error
    return table


def named_value(text: str, model: type[BaseModel]) -> tuple[str, Any]:
    """The name and the value in "demand.footfall=40". Values are JSON where they parse, but text for a text setting."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not all(name.split(".")):
        raise UsageError(f"--set wants name=value, not {text!r}")
    return name, value if _type_at(model, name.split(".")) is str else _parse_value(value)


def assign(table: Table, name: str, value: Any, model: type[BaseModel]) -> None:
    """Set one dotted name in a table. UnknownName when its first step is no setting."""
    path = name.split(".")
    if path[0] not in model.model_fields:
        tables = [f"{table}.{path[-1]}" for table in model.model_fields if path[-1] in _field_names(model, [table])]
        raise UnknownName("setting", path[0], [*model.model_fields, *tables])
    for depth, step in enumerate(path[:-1], 1):
        inner = table.setdefault(step, {})
        if not isinstance(inner, dict):
            inner = table[step] = _expand_short_form(inner, _type_at(model, path[:depth]))
        table = cast("Table", inner)
    table[path[-1]] = value


def _expand_short_form(short: object, model: object) -> Table:
    """The table for a setting in its short form: a value that its model expands, or a file's name."""
    if holder := _model_in(model):
        with suppress(ValidationError):
            return holder.model_validate(short).model_dump(mode="json", exclude_unset=True)
    return {"file": short} if isinstance(short, str) else {}


def merge(table: Table, over: Mapping[str, Any]) -> None:
    """Lay one table over another, inner tables item by item."""
    for name, value in over.items():
        old = table.get(name)
        if isinstance(old, dict) and isinstance(value, Mapping):
            merge(cast("Table", old), cast("Mapping[str, Any]", value))
        else:
            table[name] = value


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Table:
    """A new table: one laid over another."""
    table = copy.deepcopy(dict(under))
    merge(table, over)
    return table


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_parsed = lru_cache(maxsize=32)(tomllib.loads)
"""The tables of the last presets, which nobody may change."""


def _load_preset(world: World[Any], name: str) -> tuple[Table, Traversable]:
    """A preset of the world by name, or a TOML file by path; and the folder that its files are relative to."""
    if not name.endswith(".toml"):
        return _load_named(world, name), _world_folder(world)
    own, folder = _read_preset_file(world, name)
    if (base := own.pop("base", None)) is None:
        return own, folder
    names = presets(world)
    if base not in (*names, DEFAULT_PRESET):
        raise UnknownName("preset", str(base), names, f"of {world.name}, the base of {name!r}")
    for setting_name in own.keys() & world.facets.files.readers.keys():
        own[setting_name] = _from_folder(own[setting_name], folder)
    return merged(_load_named(world, resolve_preset(world, base)), own), _world_folder(world)


def _read_preset_file(world: World[Any], name: str) -> tuple[Table, Path]:
    """A person's own preset as its file has it, and the folder of the file."""
    path = Path(name).expanduser()
    if path.is_dir():
        raise UsageError(f"the preset {name!r} is a folder; name a file, or one of {', '.join(presets(world))}")
    if not os.path.lexists(path):
        raise UsageError(f"no preset file {name!r}; {world.name} has the presets {', '.join(presets(world))}")
    return _read_toml(path), path.parent


def _from_folder(value: object, folder: Path) -> object:
    """A setting whose file is in a folder, with its path from here; another as it is."""
    if isinstance(value, dict):
        table = cast("Table", value)
        return {**table, "file": _from_folder(table["file"], folder)} if "file" in table else table
    if not isinstance(value, str) or os.path.lexists(Path(value).expanduser()) or not _file_exists(value, folder):
        return value
    return str(folder / value)


def _load_named(world: World[Any], name: str) -> Table:
    """A preset of the world over those that it begins with."""
    names, tables, base = presets(world), dict[str, Table](), cast("Any", name)
    while base is not None:
        if base not in names:
            raise UnknownName("preset", str(base), names, f"of {world.name}; or a path ending in .toml")
        if base in tables:
            raise UsageError(f"the preset {base!r} begins with itself: {', '.join((*tables, base))}; take out one base")
        tables[base] = copy.deepcopy(_parsed(preset_text(world, base)))
        base = tables[base].pop("base", None)
    return reduce(merged, reversed(tables.values()))


def _world_folder(world: World[Any]) -> Traversable:
    """The folder of a world's presets and files: that of its class, or of the first base class that has presets."""
    own = type(world)
    folders = [_module_folder(cls) for cls in own.__mro__ if cls is own or World in cls.__mro__[1:]]
    return next((folder for folder in folders if (folder / "presets").is_dir()), folders[0])


def _module_folder(cls: type) -> Traversable:
    """The package of a class, or the folder of a class in a single module."""
    module = sys.modules[cls.__module__]
    return files(module) if hasattr(module, "__path__") else Path(getattr(module, "__file__", None) or "").parent


def _read_files(world: World[Any], table: Table, folder: Traversable) -> tuple[str, ...]:
    """Replace settings that name files by the files' contents, overlaid with the setting's other keys.

    Returns what was read from files outside the package.
    """
    counts: list[str] = []
    for name, reader in world.facets.files.readers.items():
        file_setting = table.get(name)
        if isinstance(file_setting, str):
            if name in world.facets.files.inline and not _file_exists(file_setting, folder):
                continue
            file_setting = {"file": file_setting}
        if isinstance(file_setting, dict) and _is_empty(cast("Table", file_setting)):  # a list may say: nobody
            raise UsageError(f"{name} is set and holds nothing; name a file, or leave it out")
        if not isinstance(file_setting, dict) or "file" not in file_setting:
            continue
        over = cast("Table", file_setting)
        file = str(over.pop("file"))
        playbook = name in world.facets.files.playbooks
        own = folder == _world_folder(world) and not os.path.lexists(Path(file).expanduser())
        texts = _playbook_text(file, folder) if playbook else dict(_read_texts(name, file, folder))
        try:
            read = _read_own(reader, tuple(texts.items())) if own else reader(texts)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name} {file!r} cannot be read: {why_unreadable(error)}") from error
        if not own:
            counts += _counts(read, file, world.facets.files.kinds.get(name, name))
        if over:
            read = json.loads(json.dumps(read))
            if not isinstance(read, dict):
                raise UsageError(f"{name} is read whole from {file!r}; leave out {name}.{next(iter(over))}")
            merge(cast("Table", read), over)
        table[name] = read
    return tuple(counts)


@lru_cache(maxsize=8)
def _read_own(reader: Callable[[Mapping[str, str]], Json], texts: tuple[tuple[str, str], ...]) -> Json:
    """What a reader makes of a world's own file, once for all runs: nobody changes it."""
    return reader(dict(texts))


def _is_empty(value: object) -> bool:
    """Whether a value from JSON holds nothing, or only such values."""
    if isinstance(value, Mapping):
        return all(map(_is_empty, cast("Mapping[str, object]", value).values()))
    return isinstance(value, list) and not value


def _counts(read: Json, file: str, kind: str) -> list[str]:
    """The number of things that were read from a file, of each kind where it holds several."""
    lists = read if isinstance(read, Mapping) else {kind: read}
    return [f"{len(value):,} {kind} from {file}" for kind, value in lists.items() if isinstance(value, list)]


def _playbook_text(name: str, folder: Traversable) -> dict[str, str]:
    """The playbook of a path, of a name, or of a file in the folder, as its JSON. UsageError as in `read_playbook`."""
    from akinai.learning.playbook.formats import dumps
    from akinai.learning.playbook.opening import read_playbook

    beside = folder / name
    if isinstance(beside, Path) and beside.is_file() and not Path(name).expanduser().exists():
        return {"playbook.json": dumps(read_playbook(beside))}
    return {"playbook.json": dumps(read_playbook(name))}


def _file_exists(file: str, folder: Traversable) -> bool:
    """Whether a file or folder has this name; False for text that cannot be a file name."""
    try:
        return os.path.lexists(Path(file).expanduser()) or (folder / file).is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _read_texts(setting: str, file: str, folder: Traversable) -> Iterable[tuple[str, str]]:
    """The texts of a file, or of a folder by relative path; a name is looked up in the working folder first."""
    from akinai.runtime.config.records import file_lines

    own = Path(file).expanduser()
    path: Traversable = own if os.path.lexists(own) else folder / file
    if not isinstance(path, Path):
        if not path.is_file():
            raise UsageError(f"the setting {setting} names {file!r}, which is no file or folder")
        yield path.name, path.read_text(encoding="utf-8")
    elif path.is_dir():
        for inner in sorted(path.rglob("*")):
            if not inner.is_dir() and not inner.name.startswith("."):
                relative = inner.relative_to(path).as_posix()
                yield relative, read_named(inner, repr(f"{file}/{relative}"), most_bytes=MOST_RECORD_BYTES)
    elif os.path.lexists(path):
        yield file_lines(path, f"{setting} {file!r}")
    else:
        raise UsageError(f"the setting {setting} names {file!r}, which is no file or folder")


def _read_toml(path: Path) -> Table:
    try:
        return parse_toml(read_named(path))
    except DocumentError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error


def expect_table(value: object, where: str) -> Table:
    """The value as a table. UsageError, naming `where`, for another value."""
    if not isinstance(value, dict):
        raise UsageError(f"{where} should be a table, not {short_repr(value)}")
    return cast("Table", value)


def _text_setting(table: Table, name: str) -> str | None:
    value = table.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise UsageError(f"{name} in {SETTINGS_FILE} should be text or a number, not {short_repr(value)}")
    return None if value is None else str(value)


def _field_names(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The field names of the model at a path inside a model, empty where the path leads out of models."""
    inner = _model_in(_type_at(model, path) if path else model)
    return [] if inner is None else list(inner.model_fields)


def _type_at(model: type[BaseModel], path: Sequence[str]) -> object:
    """The type of the field at a path inside a model, None where the path leads out of models."""
    inner: object = model
    for step in path:
        holder = _model_in(inner)
        if get_origin(inner) is dict:
            inner = get_args(inner)[1]
        elif holder is None or step not in holder.model_fields:
            return None
        else:
            inner = holder.model_fields[step].annotation
    return inner


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model of a type `Model` or `Model | None`; None for any other type."""
    choices = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
    for choice in (annotation, *choices):
        if isinstance(choice, type) and issubclass(choice, BaseModel):
            return choice
    return None
