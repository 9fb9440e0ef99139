"""Digests of the code that plays: of a program's files, or of a class or function with what it names."""

import ast
import hashlib
import inspect
import os
import site
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from akinai.agents.stdio import command_words
from akinai.core.canonical import Json, short_digest

MOST_FILES = 1_000
"""Limit on the files of a program that are hashed; of a larger folder the first by name are."""
_VALUES = (str, int, float, bool, type(None), list, tuple, dict)
_LIBRARY = tuple(
    os.path.realpath(folder)
    for folder in (
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        str(Path(__file__).parents[2]),
    )
)
"""Folders of the standard library, of installed packages and of Akinai."""


def command_digest(agent: str) -> str:
    """The digest of the files of `stdio:COMMAND` or `script:FILE`, with the local modules that Python files import.

    Empty for any other agent. A program on the PATH and what `python -m` runs count by name alone.
    """
    kind, _, argument = agent.partition(":")
    if kind not in ("stdio", "script") or not argument.strip():
        return ""
    words = command_words(argument) if kind == "stdio" else [argument]
    named = [
        Path(word).expanduser() for number, word in enumerate(words) if kind == "script" or number or os.sep in word
    ]
    files = {path: _sha256(path) for path in _files(named) if not str(path).startswith(_LIBRARY)}
    return short_digest([kind, *words, [[str(path.name), digest] for path, digest in sorted(files.items())]])


def object_digest(agent: Any) -> str:
    """The digest of a class, function or callable: its source, and of the names in it those that are not a library's.

    Empty where the source is not known, as of what was typed at a prompt of Python.
    """
    sources: dict[str, str] = {}
    _collect(agent, sources)
    return short_digest(sorted(sources.items())) if any(sources.values()) else ""


def _files(named: Iterable[Path]) -> Iterator[Path]:
    """The files that are named or stand in named folders, and the local modules that Python files import."""
    waiting, seen = [path.resolve() for path in named if path.exists()], set[Path]()
    while waiting and len(seen) < MOST_FILES:
        path = waiting.pop()
        if path.is_dir():
            waiting += sorted((file for file in path.rglob("*.py") if file.is_file()), reverse=True)
        elif path.is_file() and path not in seen:
            seen.add(path)
            yield path
            waiting += _imported(path) if path.suffix == ".py" else []


def _imported(path: Path) -> list[Path]:
    """The modules beside a Python file that it imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module} if node.module else {alias.name for alias in node.names}
    steps = [path.parent.joinpath(*name.split(".")) for name in names]
    modules = [module for step in steps for module in (step.with_suffix(".py"), step / "__init__.py")]
    return [module.resolve() for module in modules if module.is_file()]


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _collect(value: Any, sources: dict[str, str], name: str = "agent") -> None:
    """Add the source of a value, and of the values that it names, unless a library defines it."""
    if isinstance(value, _VALUES):
        with suppress(TypeError, ValueError):  # where it holds other objects
            sources[name] = short_digest(cast("Json", value))
        return
    if isinstance(value, ModuleType) or not callable(value):
        return
    made = value if isinstance(value, type | FunctionType) else type(value)
    key = f"{made.__module__}.{made.__qualname__}"
    if key in sources or _is_library(made):
        return
    try:
        sources[key] = inspect.getsource(made)
    except (OSError, TypeError):
        sources[key] = ""
    attributes: Mapping[str, Any] = {} if made is value else getattr(value, "__dict__", {})
    bases: Sequence[Any] = made.__bases__ if isinstance(made, type) else ()
    for part_name, part in (*attributes.items(), *(("", base) for base in bases), *_named_in(made)):
        _collect(part, sources, f"{key}.{part_name}")


def _named_in(made: "type | FunctionType") -> Iterator[tuple[str, Any]]:
    """The values that a function, or a class's functions, look up outside themselves, by name."""
    functions = [made] if isinstance(made, FunctionType) else vars(made).values()
    for function in functions:
        if isinstance(function, FunctionType):
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
                with suppress(ValueError):  # not bound yet
                    yield name, cell.cell_contents
            for name in sorted(_names(function.__code__) & function.__globals__.keys()):
                yield name, function.__globals__[name]


def _names(code: CodeType) -> set[str]:
    """The names that code and the functions inside it look up."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names}.union(*map(_names, inner))


def _is_library(made: Any) -> bool:
    """Whether the standard library, an installed package or Akinai defines it."""
    try:
        file = inspect.getsourcefile(made)
    except TypeError:
        return True  # built in
    except OSError:
        return False  # typed at a prompt
    return file is not None and os.path.realpath(file).startswith(_LIBRARY)
