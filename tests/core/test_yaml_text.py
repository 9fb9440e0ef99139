"""YAML of others: every small text is read in little memory, or refused with the place at fault."""

import re
import tracemalloc
from pathlib import Path

import pytest

from akinai.core.errors import UsageError
from akinai.core.untrusted.yaml_text import YamlError, read_yaml
from akinai.learning.playbook.formats import CorruptPlaybook, loads_yaml
from akinai.learning.playbook.sections import read_sections
from akinai.worlds.market.populations.files import read_population
from together import together

LAUGHS = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 8)}]}}\n" for n in range(1, 12))
LONG = f"a: &a {'x' * 9_000}\nb: [{', '.join(['*a'] * 3_000)}]\n"
BOMBS = {
    "aliases": (LAUGHS, "its aliases stand for far more than is written"),
    "merges": (MERGES, "its aliases stand for far more than is written"),
    "a long text many times": (LONG, "its aliases stand for far more than is written"),
    "itself": ("a: &a [*a]\n", "stands for what it is in"),
    "nesting": ("[" * 50_000, "nested deeper than 64 levels"),
    "nesting in blocks": ("- " * 5_000 + "x\n", "nested deeper than 64 levels"),
}


@together(("text", "problem"), BOMBS.values())
def test_small_text_takes_little_memory(text: str, problem: str) -> None:
    """A text that stands for gigabytes, for itself or for a crash of the parser is refused in 20 MB."""
    tracemalloc.start()
    with pytest.raises(YamlError, match=problem):
        read_yaml(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000_000


@together("text", [text for text, _ in BOMBS.values()])
def test_every_reader_is_bounded(text: str) -> None:
    """Populations, playbooks and sections refuse it, each with its own error and the file's name."""
    with pytest.raises(ValueError, match=r"^businesses/b\.yaml, line \d+: "):
        read_population({"businesses/b.yaml": text})
    with pytest.raises(CorruptPlaybook, match=r"p\.yaml at line \d+ column \d+: no YAML here"):
        loads_yaml(text, "p.yaml")
    with pytest.raises(UsageError, match=r"s\.yaml cannot be read: .* at line \d+ column"):
        read_sections(text, "s.yaml")


def test_only_one_module_loads_yaml() -> None:
    """No other module calls a loader by itself."""
    source = Path(read_yaml.__code__.co_filename).parents[2]
    callers = [path.name for path in source.rglob("*.py") if re.search(r"yaml\.\w*load|get_single_", path.read_text())]
    assert callers == ["yaml_text.py"]


def test_aliases_in_measure_are_read() -> None:
    """An anchor that is used a few times, and a merge, are as YAML has them; a time is text, an empty text nothing."""
    document = read_yaml("base: &b {x: 1, y: 2}\nnext:\n  <<: *b\n  x: 3\nlist: [*b, *b]\nat: 2026-01-02\n")
    x_y = {"x": 1, "y": 2}
    assert document.value == {"base": x_y, "next": {"x": 3, "y": 2}, "list": [x_y, x_y], "at": "2026-01-02"}
    assert read_yaml("").value is None


def test_fault_has_its_place() -> None:
    """Line and column of what is no YAML."""
    with pytest.raises(YamlError) as caught:
        read_yaml("a: 1\nb: [\n")
    assert (caught.value.line, caught.value.position) == (3, "line 3 column 1")
