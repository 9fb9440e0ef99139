"""The public names of the adapters, checked without their frameworks."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("akinai.adapters.autogen", "akinai.adapters.lightning")


@pytest.mark.parametrize("name", PACKAGES)
def test_no_public_name_is_hidden_by_a_module(name: str) -> None:
    """Importing a submodule sets it as an attribute of its package, so no public name may be a submodule's."""
    assert [public for public in import_module(name).__all__ if find_spec(f"{name}.{public}")] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_documented_imports_are_public(name: str) -> None:
    """Every name that the documentation or an example imports from an adapter is in its `__all__`."""
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.py")]
    imports = re.compile(rf"^from {re.escape(name)} import (.+)$", re.M)
    names = {
        imported
        for page in pages
        for line in imports.findall(page.read_text(encoding="utf-8"))
        for imported in line.split(", ")
    }
    assert names
    assert names <= set(import_module(name).__all__)
