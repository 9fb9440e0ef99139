"""The pure rooms touch nothing outside: read from the syntax of every file. This is the one place that holds it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import akinai
from together import together

ROOT = Path(akinai.__file__).parent
ROOMS = ("core", "retrieval", "worlds")

BANNED_MODULES = frozenset(
    "asyncio builtins concurrent contextvars ctypes glob http importlib io locale logging mmap multiprocessing os "
    "pathlib pickle platform queue random sched secrets select selectors shelve shutil signal socket sqlite3 ssl "
    "subprocess sys tempfile threading time urllib uuid warnings zoneinfo "
    "httpx requests langchain_core langgraph fastapi psycopg typer rich akinai.plugins".split()
)
"""Files, clocks, chance, other processes, the network, the machine; and modules with state for a whole process."""
BANNED_CALLS = frozenset("open print input eval exec compile __import__ breakpoint globals id hash".split())
"""Built-ins that reach outside, or give another answer in another process."""
FILE_METHODS = frozenset(
    "read_text write_text read_bytes write_bytes iterdir rglob mkdir unlink "
    "fromfile tofile memmap loadtxt savetxt genfromtxt savez".split()
)
CLOCK_METHODS = frozenset("now utcnow today fromtimestamp utcfromtimestamp".split())
SEEDED = frozenset({"default_rng", "Generator"})
"""NumPy's chance is allowed from an explicit seed only."""

ALLOWED = {"worlds/__init__.py": frozenset({"akinai.plugins"})}
"""Exceptions by file: worlds are found through entry points."""


JUDGED = (ast.Import, ast.ImportFrom, ast.Call, ast.Attribute, ast.Global)
"""The parts of a program that can reach outside."""


def impurities(source: str, allowed: frozenset[str] = frozenset()) -> Iterator[str]:
    """Each thing in a module that no pure module may do, as "line N: fault"."""
    tree = ast.parse(source)
    clocks = {"datetime", "date", *aliases_of(tree, "datetime")}
    numpy = {"numpy", *aliases_of(tree, "numpy")}
    for node in ast.walk(tree):
        if not isinstance(node, JUDGED):
            continue
        for fault in (*_imports(node, allowed), *_calls(node, clocks), *_chance(node, numpy)):
            yield f"line {getattr(node, 'lineno', 0)}: {fault}"


def aliases_of(tree: ast.Module, module: str) -> set[str]:
    """The names under which a file knows a module and what it imports from it."""
    return {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
        if module in (name.name, getattr(node, "module", None))
    }


def _imports(node: ast.AST, allowed: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"imports {name.name}" for name in names if _banned(name.name, allowed))
        case ast.ImportFrom(module=str(module), level=0) if _banned(module, allowed):
            yield f"imports from {module}"
        case _:
            return


def _banned(module: str, allowed: frozenset[str]) -> bool:
    return not BANNED_MODULES.isdisjoint({module, module.partition(".")[0]}) and module not in allowed


def _calls(node: ast.AST, clocks: set[str]) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in BANNED_CALLS:
            yield f"calls {name}"
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in FILE_METHODS:
            yield f"calls .{attr}()"
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=attr) if (
            attr in CLOCK_METHODS and owner in clocks
        ):
            yield f"reads {owner}.{attr}"
        case ast.Global(names=names):
            yield f"writes to the global {', '.join(names)}"
        case _:
            return


def _chance(node: ast.AST, numpy: set[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"imports {name.name}" for name in names if name.name.startswith("numpy.random"))
        case ast.ImportFrom(module=str(module)) if module.startswith("numpy.random"):
            yield f"imports from {module}"
        case ast.ImportFrom(module="numpy", names=names) if any(name.name == "random" for name in names):
            yield "imports numpy.random"
        case ast.Call(func=ast.Attribute(attr="default_rng"), args=[] | [ast.Constant(value=None)], keywords=[]):
            yield "calls default_rng without a seed"
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr="random"), attr=attr):
            if name in numpy and attr not in SEEDED:
                yield f"uses numpy.random.{attr}"
        case _:
            return


def impure_modules(root: Path) -> Iterator[str]:
    """Every fault in the pure rooms under a package's folder, as "room/module.py: line N: fault"."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            for fault in impurities(path.read_text(encoding="utf-8"), ALLOWED.get(name, frozenset())):
                yield f"{name}: {fault}"


def test_pure_rooms_touch_nothing_outside() -> None:
    """No module of core, retrieval or worlds opens a file, reads a clock, draws unlabelled chance or calls out."""
    assert list(impure_modules(ROOT)) == []


@pytest.mark.parametrize("room", ["core", "retrieval", "worlds/vending/rules"])
def test_a_planted_module_is_found(tmp_path: Path, room: str) -> None:
    """A module that draws its own chance is named, however deep it is."""
    (tmp_path / room).mkdir(parents=True)
    (tmp_path / room / "planted.py").write_text("def draw():\n    import random\n    return random.random()\n")
    assert list(impure_modules(tmp_path)) == [f"{room}/planted.py: line 2: imports random"]


@together(
    "source",
    [
        "import random",
        "import os.path as p",
        "import io",
        "import socket",
        "import secrets",
        "from pathlib import Path",
        "from threading import Lock",
        "from time import monotonic",
        "from builtins import open as read",
        "def f():\n    import asyncio",
        "from importlib.metadata import entry_points",
        "from akinai.plugins import plugins",
        "text = open('catalog.toml').read()",
        "def f(path):\n    return path.read_text()",
        "def f(path):\n    path.write_bytes(b'')",
        "from datetime import datetime\nstart = datetime.now()",
        "import datetime\nstart = datetime.datetime.utcnow()",
        "from datetime import date as d\nday = d.today()",
        "import datetime as dt\nread = dt.datetime.now",
        "from uuid import uuid4",
        "import numpy as np\nrng = np.random.default_rng()",
        "import numpy as np\nrng = np.random.default_rng(None)",
        "import numpy as np\nx = np.random.normal()",
        "import numpy as n\nx = n.random.normal()",
        "import numpy as np\nx = np.fromfile('x')",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy\nnumpy.random.seed(1)",
        "order = sorted(words, key=hash(1))",
        "count = 0\ndef f():\n    global count\n    count += 1",
        "print('sold')",
    ],
)
def test_impure_code_is_found(source: str) -> None:
    """Each of these is refused."""
    assert list(impurities(source)), f"{source!r} was taken for pure"


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import UTC, date, datetime\nat = datetime.combine(date(2026, 4, 1), datetime.min.time(), UTC)",
        "import numpy as np\nrng = np.random.default_rng(7)",
        "from akinai.core.chance import Chance\nrain = Chance.of(1)('sky', 3).uniform()",
        "minute = world.now(state)",
        "def open_stand():\n    return 1\nopen_stand()",
    ],
)
def test_pure_code_passes(source: str) -> None:
    """Dates as values, seeded generators and labelled chance are arithmetic."""
    assert not list(impurities(source))
