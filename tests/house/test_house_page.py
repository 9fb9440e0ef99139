"""docs/design/house.md leads where it says: every file is there, every name is in its file, every layer is the linter's."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "house.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "akinai"
CODE = re.compile(r"`([a-z_/]+(?:\.py|/))(?:: (\w+))?`")


def test_every_place_on_the_page_is_there() -> None:
    """A file or folder of the page exists, and a name after it is defined in that file."""
    places = [entry for entry in CODE.findall(PAGE) if not entry[0].startswith("tests/")]
    assert len(places) > 30
    for path, name in places:
        paths = [SOURCE / path, *SOURCE.glob(f"*/{path}"), *SOURCE.glob(f"*/*/{path}")]
        paths = [part for part in paths if part.exists()]
        assert paths, path
        if name:
            tree = ast.parse(paths[0].read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if hasattr(node, "name")}, f"{path}: {name}"


def test_the_picture_has_the_layers_of_the_linter() -> None:
    """The rooms of the picture are those of the contract, from top to bottom."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [re.findall(r"(?<!\()akinai\.(\w+)", layer) for layer in linter["contracts"][0]["layers"]]
    drawn = re.findall(r'font-weight="600"[^>]*>([^<]+)<', (ROOT / "docs" / "images" / "house.svg").read_text())
    optional = {"server", "adapters", "testing"}
    assert [set(text.split(" · ")) for text in drawn] == [
        {*rooms, *(optional if "testing" in rooms else ())} for rooms in layers if rooms
    ]
