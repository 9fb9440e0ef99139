"""The site: built without a warning, every link leads somewhere, and no page asks another machine for anything."""

import subprocess
import sys
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest

import akinai

ROOT = Path(__file__).parents[1]
STEPS = ("start", "generate", "evaluate", "reflect", "curate", "gate", "apply", "refine", "select")
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser loads by itself."""


class Page(HTMLParser):
    """The links, loaded addresses and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADING and LOADING[tag] in values and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values[LOADING[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site that was built strictly."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    words = (sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", folder)
    built = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> Mapping[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_link_and_anchor_leads_somewhere(pages: Mapping[Path, Page]) -> None:
    """Within the site; addresses elsewhere are not tried."""
    dead: list[str] = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else {parts.fragment}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in anchors | {"__comments"}):
                dead.append(f"{path.name}: {link}")
    assert not dead


@pytest.mark.slow
def test_no_page_asks_another_machine_for_anything(pages: Mapping[Path, Page]) -> None:
    """Fonts, scripts, styles and pictures are all in the folder."""
    outside = {link for page in pages.values() for link in page.loaded if urlsplit(link).netloc}
    assert not outside


@pytest.mark.slow
def test_reference_has_every_name_and_llms_txt_every_page(site: Path) -> None:
    """Public functions, commands and worlds, from the code."""
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert not [name for name in akinai.COMMANDS if f">{name}<" not in python and f".{name}" not in python]
    commands = Page((site / "reference" / "commands.html").read_text(encoding="utf-8")).anchors
    assert {f"akinai-{name}" for name in akinai.COMMANDS} <= commands
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    assert "](reference/vending.html)" in listed
    assert all((site / line.split("](")[1][:-1]).exists() for line in listed.splitlines() if line.startswith("- ["))


@pytest.mark.parametrize("page", ["learner.md", "ja/learner.md"])
def test_a_diagram_is_a_table_of_its_steps(page: str) -> None:
    """On the site, which asks nobody for the script that draws: every arrow is a row, and no source is left."""
    pytest.importorskip("mkdocs")
    hooks = run_path(str(ROOT / "docs" / "_site" / "hooks.py"))
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = hooks["on_page_markdown"](text, SimpleNamespace(file=SimpleNamespace(src_uri=page)))
    assert "mermaid" not in shown
    assert "graph TD" not in shown
    rows = [line for line in shown.splitlines() if line.startswith(tuple(f"| {step} |" for step in STEPS))]
    assert {"| start |  | generate |", "| evaluate | failure | reflect |"} <= {*rows}
    assert len(rows) == sum("->" in line and line.endswith(";") for line in text.splitlines())


@pytest.mark.slow
def test_japanese_pages_are_japanese_to_a_browser(site: Path) -> None:
    """They say their language, sentences have no space at a line's end of the source, and code keeps its lines."""
    page = (site / "ja" / "quickstart.html").read_text(encoding="utf-8")
    assert '<html lang="ja"' in page
    assert "報告書を書きます。ここから先の" in page
    assert "akinai worlds\nakinai worlds vending" in page
    assert '<html lang="en"' in (site / "quickstart.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_types_of_parameters_are_on_the_page_of_a_world(site: Path) -> None:
    """Braces are text there, not attributes of the cell."""
    assert "{name: whole number}" in unescape((site / "reference" / "vending.html").read_text(encoding="utf-8"))
