"""The pure rooms touch nothing outside: shown on the syntax of every file, beside import-linter and ruff."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import akinai

ROOT = Path(akinai.__file__).parent
ROOMS = ("core", "retrieval", "worlds")

BANNED_MODULES = frozenset(
    "asyncio concurrent contextvars ctypes glob http importlib io locale logging mmap multiprocessing os pathlib "
    "pickle platform queue random sched secrets select selectors shelve shutil signal socket sqlite3 ssl subprocess "
    "sys tempfile threading time urllib uuid warnings zoneinfo "
    "httpx requests langchain_core langgraph fastapi psycopg typer rich".split()
)
"""Files, clocks, chance, other processes, the network, the machine; and whatever holds state for a whole process."""
BANNED_CALLS = frozenset("open print input eval exec compile __import__ breakpoint globals id hash".split())
"""Built-ins that reach outside, or give another answer in another process."""
FILE_METHODS = frozenset("read_text write_text read_bytes write_bytes iterdir rglob mkdir unlink".split())
CLOCK_METHODS = frozenset("now utcnow today fromtimestamp utcfromtimestamp".split())
SEEDED = ("default_rng", "Generator")

ALLOWED = {
    "worlds/__init__.py": frozenset({"importlib.metadata"}),
}
"""By name: worlds are found through entry points."""
NOTHING: frozenset[str] = frozenset()


def impure(source: str, allowed: frozenset[str] = NOTHING) -> Iterator[str]:
    """What a module does that no pure one may, each as "line N: what"."""
    tree = ast.parse(source)
    clocks = {"datetime", "date"} | {
        one.asname or one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
        if "datetime" in (one.name, getattr(node, "module", None))
    }
    for node in ast.walk(tree):
        for what in (*_imports(node, allowed), *_calls(node, clocks), *_chance(node)):
            yield f"line {getattr(node, 'lineno', 0)}: {what}"


def _imports(node: ast.AST, allowed: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"imports {one.name}" for one in names if _banned(one.name, allowed))
        case ast.ImportFrom(module=str(module), level=0) if _banned(module, allowed):
            yield f"imports from {module}"
        case _:
            return


def _banned(module: str, allowed: frozenset[str]) -> bool:
    return module.partition(".")[0] in BANNED_MODULES and module not in allowed


def _calls(node: ast.AST, clocks: set[str]) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in BANNED_CALLS:
            yield f"calls {name}"
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in FILE_METHODS:
            yield f"calls .{attr}()"
        case ast.Attribute(value=ast.Name(id=of) | ast.Attribute(attr=of), attr=attr) if (
            attr in CLOCK_METHODS and of in clocks
        ):
            yield f"reads {of}.{attr}"
        case ast.Global(names=names):
            yield f"writes to the global {', '.join(names)}"
        case _:
            return


def _chance(node: ast.AST) -> Iterator[str]:
    """NumPy's chance is allowed from an explicit seed only."""
    match node:
        case ast.Import(names=names):
            yield from (f"imports {one.name}" for one in names if one.name.startswith("numpy.random"))
        case ast.ImportFrom(module=str(module)) if module.startswith("numpy.random"):
            yield f"imports from {module}"
        case ast.ImportFrom(module="numpy", names=names) if any(one.name == "random" for one in names):
            yield "imports numpy.random"
        case ast.Call(func=ast.Attribute(attr="default_rng"), args=[] | [ast.Constant(value=None)], keywords=[]):
            yield "calls default_rng without a seed"
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"), attr=attr):
            if attr not in SEEDED:
                yield f"uses numpy.random.{attr}"
        case _:
            return


@pytest.mark.parametrize("path", sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")), ids=str)
def test_pure_rooms_touch_nothing_outside(path: Path) -> None:
    """No module of core, retrieval or worlds opens a file, reads a clock, draws unlabelled chance or calls out."""
    name = path.relative_to(ROOT).as_posix()
    faults = list(impure(path.read_text(encoding="utf-8"), ALLOWED.get(name, NOTHING)))
    assert not faults, f"{name}: {'; '.join(faults)}"


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import os.path as p",
        "from time import monotonic",
        "def f():\n    import asyncio",
        "from importlib.metadata import entry_points",
        "text = open('catalog.toml').read()",
        "def f(path):\n    return path.read_text()",
        "from datetime import datetime\nstart = datetime.now()",
        "import datetime\nstart = datetime.datetime.utcnow()",
        "from datetime import date as d\nday = d.today()",
        "import datetime as dt\nread = dt.datetime.now",
        "from uuid import uuid4",
        "import numpy as np\nrng = np.random.default_rng()",
        "import numpy as np\nrng = np.random.default_rng(None)",
        "import numpy as np\nx = np.random.normal()",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy\nnumpy.random.seed(1)",
        "order = sorted(words, key=hash(1))",
        "count = 0\ndef f():\n    global count\n    count += 1",
        "print('sold')",
    ],
)
def test_impure_code_is_found(source: str) -> None:
    """The check bites: each of these is refused."""
    assert list(impure(source)), f"{source!r} was taken for pure"


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
    assert not list(impure(source))
