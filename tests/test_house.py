"""The laws of the house: what holds of every file, read from its syntax."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import grimp

from together import together

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "bench", "examples")

VAGUE_NAMES = frozenset(
    "found place known said each shown kept made wanted chosen given asked told heard one some others rest what who".split()
)
"""Names that say nothing about the thing that they hold; the field's noun for it does."""
MOST_VAGUE = 5.0
"""Vague names in 1,000 lines of the package and the benchmarks; in well-named packages there are 0 to 0.8."""
DEAD_NAMES = frozenset({"BULLET_TYPES", "HIERARCHICAL_LEVELS", "SPLITS", "READING"})
MOST_MODULES = 16
MOST_LINES_OF_A_FUNCTION = 60

WORLDS = ("market", "qa", "vending")
MAY_NAME_A_WORLD = (
    "src/akinai/server/",  # the market's public wire
    "src/akinai/testing/endpoint/__main__.py",
    "src/akinai/testing/endpoint/market.py",  # players of the market behind a model endpoint
    "src/akinai/testing/endpoint/responders.py",
)
"""The exceptions, all of them; entry points in pyproject.toml are the other place where a world is named."""


@cache
def files() -> Mapping[str, ast.Module]:
    """The syntax of every Python file, by its path from the root."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


@cache
def nodes(tree: ast.AST) -> Sequence[ast.AST]:
    """All nodes of a file that hold something, walked through once for all laws."""
    return [node for node in ast.walk(tree) if node._fields]


@cache
def names_in(tree: ast.AST) -> Sequence[tuple[int, str]]:
    """Every identifier that a file writes, with its line: variables, arguments, attributes, definitions, keywords."""
    return [*_names(tree)]


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in nodes(tree):
        line: int = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield line, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield line, name
            case ast.keyword(arg=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield line, name
            case ast.alias(name=name, asname=other):
                yield line, other or name
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield line, name
            case ast.MatchClass(kwd_attrs=names) | ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from ((line, name) for name in names)
            case _:
                pass


def vague_names(path: str, tree: ast.Module) -> Iterator[str]:
    """The vague identifiers of a file. Some are public: options (`rest`), ledger keys (`said`), members of facets."""
    yield from (f"line {line}: {name}" for line, name in names_in(tree) if name.strip("_") in VAGUE_NAMES)


def vagueness(trees: Mapping[str, ast.Module], lines: int) -> float:
    """Vague identifiers in 1,000 lines."""
    return 1_000 * sum(len([*vague_names(path, tree)]) for path, tree in trees.items()) / lines


def dead_names(path: str, tree: ast.Module) -> Iterator[str]:
    """Public names that nothing used do not come back."""
    yield from (f"line {line}: {name}" for line, name in names_in(tree) if name in DEAD_NAMES)


def long_functions(path: str, tree: ast.Module) -> Iterator[str]:
    """No function has more than 60 lines, its docstring aside."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            if lines > MOST_LINES_OF_A_FUNCTION:
                yield f"line {node.lineno}: {node.name} has {lines} lines"


def named_worlds(path: str, tree: ast.Module) -> Iterator[str]:
    """Nothing outside `worlds/<name>/` imports a concrete world or holds its name as a value."""
    if not path.startswith("src/") or path.startswith(MAY_NAME_A_WORLD):
        return
    others = [world for world in WORLDS if not path.startswith(f"src/akinai/worlds/{world}/")]
    packages = tuple(f"akinai.worlds.{world}." for world in others)
    values = tuple(f"{world}@" for world in others) + packages
    for node in nodes(tree):
        modules: list[str] = []
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                modules = [f"{module}.", *(f"{module}.{name.name}." for name in names)]
            case ast.Import(names=names):
                modules = [f"{name.name}." for name in names]
            case ast.Constant(value=str(text)) if text in others or text.startswith(values):
                yield f"line {node.lineno}: {text!r:.40}"
            case _:
                pass
        if named := [module for module in modules if module.startswith(packages)]:
            yield f"line {getattr(node, 'lineno', 0)}: imports {named[0]}"


@cache
def names_of(module: str) -> frozenset[str]:
    """What can be imported from a module of the package: what its file binds anywhere, and the modules in its folder."""
    path = f"src/{module.replace('.', '/')}"
    tree = files().get(f"{path}.py") or files().get(f"{path}/__init__.py")
    if tree is None:
        return frozenset()
    inside = {
        name.removeprefix(f"{path}/").partition("/")[0].removesuffix(".py")
        for name in files()
        if name.startswith(f"{path}/")
    }
    return frozenset({name for _, name in names_in(tree)} | inside)


def imports_of_nothing(path: str, tree: ast.Module) -> Iterator[str]:
    """What is imported from the package is there: a name that went is gone from every file, in functions too."""
    for node in nodes(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("akinai.") and not node.level:
                gone = [name.name for name in names if name.name not in names_of(module)]
                yield from (f"line {node.lineno}: {module} has no {name}" for name in gone)
            case _:
                pass


Law = Callable[[str, ast.Module], Iterator[str]]
LAWS: tuple[Law, ...] = (dead_names, long_functions, named_worlds, imports_of_nothing)


def crowded_folders() -> Mapping[str, str]:
    """No folder of the source has more than 16 modules."""
    folders = [Path(path).parent.as_posix() for path in files() if not path.endswith("__init__.py")]
    counted = {folder: folders.count(folder) for folder in sorted(set(folders)) if folder.startswith("src")}
    return {folder: f"{count} modules" for folder, count in counted.items() if count > MOST_MODULES}


def import_cycles() -> Mapping[str, str]:
    """No module imports itself through others; imports inside functions and for types alone count."""
    graph = grimp.build_graph("akinai", exclude_type_checking_imports=False, cache_dir=None)
    edges = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}
    circles = [circle for circle in strongly_connected(edges) if len(circle) > 1 or circle[0] in edges[circle[0]]]
    return {module: ", ".join(circle) for circle in circles for module in circle}


def strongly_connected(edges: Mapping[str, list[str]]) -> list[list[str]]:
    """The strongly connected components of a graph, each sorted (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges[node]:
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in edges:
        if node not in index:
            visit(node)
    return found


def few_vague_names() -> Mapping[str, str]:
    """Fewer than 5 vague identifiers in 1,000 lines of source and benchmarks."""
    trees = {path: tree for path, tree in files().items() if path.startswith(("src/", "bench/"))}
    lines = sum((ROOT / path).read_text(encoding="utf-8").count("\n") for path in trees)
    vague = vagueness(trees, lines)
    return {} if vague < MOST_VAGUE else {"source and benchmarks": f"{vague:.1f}"}


WHOLE: tuple[Callable[[], Mapping[str, str]], ...] = (crowded_folders, import_cycles, few_vague_names)
"""Laws about all files together."""


def test_the_house_keeps_its_laws() -> None:
    """No file breaks a law; what breaks it is named with its line. One test judges all, since each reads every file."""
    broken = [(law, path, "; ".join(law(path, tree))) for path, tree in files().items() for law in LAWS]
    broken += [(law, path, fault) for law in WHOLE for path, fault in law().items()]
    for cached in (files, nodes, names_in, names_of):
        cached.cache_clear()
    faults = [f"{law.__doc__}\n    {path}: {fault}" for law, path, fault in broken if fault]
    assert not faults, "\n".join(faults)


def test_vague_names_are_counted() -> None:
    """Six of them in a thousand lines are too many, four are not."""
    trees = [{"src/x.py": ast.parse("found = place\n" * times)} for times in (2, 3)]
    assert [vagueness(tree, 1_000) for tree in trees] == [4.0, 6.0]


@together(
    "source",
    [
        "told = 1",
        "def f(one): ...",
        "f(heard=1)",
        "x.some",
        "def told(): ...",
        "for _one in (): ...",
        "import a as some",
        "match x:\n    case [*told]: ...",
        "match x:\n    case C(heard=1): ...",
    ],
)
def test_a_vague_name_is_found(source: str) -> None:
    """Wherever an identifier may be written."""
    assert list(vague_names("src/x.py", ast.parse(source)))


@together(
    "source",
    [
        "from akinai.worlds.vending import Vending",
        "import akinai.worlds.qa.data",
        "from akinai.worlds import market",
        "def f():\n    from akinai.worlds.market.model import setup",
        "if name == 'vending': ...",
        "world = 'market@2'",
    ],
)
def test_a_named_world_is_found(source: str) -> None:
    """By import and by name; inside its own folder a world may be named."""
    assert list(named_worlds("src/akinai/report/x.py", ast.parse(source)))
    assert not list(named_worlds("src/akinai/server/market.py", ast.parse(source)))


def test_a_world_may_name_itself_only() -> None:
    """A world does not import another."""
    tree = ast.parse("from akinai.worlds.vending import Vending")
    assert not list(named_worlds("src/akinai/worlds/vending/x.py", tree))
    assert list(named_worlds("src/akinai/worlds/market/x.py", tree))


def test_a_long_function_is_found() -> None:
    """Sixty lines pass, sixty-one do not."""
    assert not list(long_functions("x.py", ast.parse("def f():\n" + "    x = 1\n" * 59)))
    assert list(long_functions("x.py", ast.parse("def f():\n" + "    x = 1\n" * 60)))


def test_a_cycle_is_found() -> None:
    """Also a long one; a chain is none."""
    edges = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a", "e"], "e": []}
    assert sorted(strongly_connected(edges)) == [["a", "b", "c"], ["d"], ["e"]]
