"""The docs are true: every command and every Python example in them runs, and every link leads somewhere."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

import forked
from akinai.testing.endpoint import Endpoint, world_responder

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "README.ja.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLAYED = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "compare-models",
            "credit",
            "did-my-change-help",
            "inspect",
            "learning-to-do-business",
            "market",
            "market-analysis",
            "publish",
            "quickstart",
            "report",
            "scores",
            "show",
        )
    ),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
TYPED = re.compile(r"(?<=`)akinai [^`]+(?=`)")
"""A command within a line."""
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def named(page: Path) -> str:
    return page.name


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(page: Path) -> list[str]:
    """The commands of a page in their order: those in blocks without a language, and in README those in table rows."""
    found: list[str] = []
    for part in re.split(r"^(```\w*\n.*?^```)$", page.read_text(encoding="utf-8"), flags=re.M | re.S):
        lines = part.splitlines()
        if part.startswith("```\n"):
            found += [line for line in lines if line.startswith("akinai ")]
        elif page.name.startswith("README"):
            found += [typed for line in lines if line.startswith("|") for typed in TYPED.findall(line)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", PLAYED, ids=named)
def test_every_command_of_a_page_runs_in_order(page: Path, tmp_path: Path) -> None:
    """A reader who types a page's commands one after the other meets no error. A rule-based player answers for models."""
    (tmp_path / "replies.jsonl").write_text(
        '{"action": "SEARCH_WEB", "query": "wholesale"}\n{"action": "ADVANCE_DAY"}\n'
    )
    typed = commands(page)
    assert typed
    with Endpoint(world_responder("vending", "naive")) as endpoint:
        env = os.environ | {"OPENAI_BASE_URL": endpoint.openai_url, "OPENAI_API_KEY": "none"}
        for line in typed:
            words = shlex.split(line, comments=True)[1:]
            done = forked.run([sys.executable, "-m", "akinai", *words], cwd=tmp_path, env=env)
            assert done.returncode == 0, f"{line}\n{done.stderr}"


PASTED = [
    page
    for page in (
        *PLAYED,
        *(ROOT / "docs" / f"{name}.md" for name in ("gymnasium", "mcp", "own-task", "session", "write-an-agent")),
    )
    if blocks(page, "python")
]


@pytest.mark.parametrize("page", PASTED, ids=named)
def test_every_python_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who pastes a page's Python meets no error."""
    monkeypatch.chdir(tmp_path)
    for text in blocks(page, "python"):
        exec(compile(text, page.name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    """A relative link names a file that is there."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    """A path in code letters, from the root of the project."""
    named = re.findall(r"`((?:src|tests|examples|bench|docs)/[\w./-]+)`", page.read_text(encoding="utf-8"))
    assert not [path for path in named if not (ROOT / path).exists()]


def plain(code: str) -> str:
    """Code without indentation and blank lines, since an excerpt begins at the margin."""
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())


def test_the_tutorials_code_is_the_examples_code() -> None:
    """What the page shows of the lemonade stand stands so in its file, or in the tests that run the laws."""
    files = (ROOT / "examples" / "lemonade.py", ROOT / "tests" / "laws" / "test_worlds.py")
    source = plain("\n".join(file.read_text(encoding="utf-8") for file in files))
    shown = blocks(ROOT / "docs" / "write-a-world.md", "python")
    parts = [part.strip("\n") for text in shown for part in text.split("\n\n\n") if "akinai.run(" not in part]
    assert len(parts) > 8
    assert not [part for part in parts if plain(part) not in source]


TRANSLATED = {
    ROOT / "README.ja.md": ROOT / "README.md",
    **{page: ROOT / "docs" / page.name for page in sorted((ROOT / "docs" / "ja").glob("*.md"))},
}
HEADING = re.compile(r"^#+ ", re.M)


def figures(text: str) -> list[list[str]]:
    """The numbers of each row of a table, in any order."""
    return [sorted(re.findall(r"\d+(?:[.,]\d+)*", line)) for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("page", TRANSLATED, ids=named)
def test_japanese_pages_keep_in_step(page: Path) -> None:
    """As many headings of each level, the same blocks of code and commands, and tables of the same figures."""
    original = TRANSLATED[page].read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    assert BLOCK.findall(text) == BLOCK.findall(original)
    assert HEADING.findall(BLOCK.sub("", text)) == HEADING.findall(BLOCK.sub("", original))
    assert commands(page) == commands(TRANSLATED[page])
    assert figures(text) == figures(original)
    assert re.search("[ぁ-ん]", text)
