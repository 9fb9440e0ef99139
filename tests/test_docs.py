"""The docs are true: every command and every Python example in them runs, and every link leads somewhere."""

import json
import os
import re
import shlex
import sys
import tomllib
from functools import cache
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
import typer

import forked
from akinai.cli.app import app
from akinai.runtime.config.calls import complete_options
from akinai.runtime.config.settings import settings_file
from akinai.runtime.learn.settings import learn_settings
from akinai.runtime.options import CALLS
from akinai.testing.endpoint import Endpoint, world_responder
from akinai.testing.endpoint.__main__ import make_parser
from together import together

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
            "own-task",
            "publish",
            "quickstart",
            "report",
            "scores",
            "show",
        )
    ),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(
    r"^(?:(?!`).)*`([\w-]+\.(?:jsonl|toml|csv|py))`[^\n]*\n(?:[^`\n][^\n]*\n)*\n```\w+\n(.*?)^```$", re.M | re.S
)
"""A block that a paragraph before it calls a file."""
TYPED = re.compile(r"(?<=`)akinai [^`]+(?=`)")
"""A command within a line."""
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


EVERY = together("page", PAGES)


def named(page: Path) -> str:
    return page.name


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def write_files(page: Path, folder: Path) -> None:
    """Write the files of a page, as its reader does."""
    for name, text in FILE.findall(page.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")


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


def in_short(line: str) -> list[str]:
    """The words of a command after `akinai`. Six seeds of a month stand for ten of a quarter, and runs are played in one
    process where it may be chosen: the machine's other cores have tests of their own."""
    words = shlex.split(line.replace("--seeds 1-10", "--seeds 1-6 --days 30"), comments=True)[1:]
    has_jobs = any("--jobs" in parameter.opts for parameter in top().commands[words[0]].params)
    return [*words, "--jobs", "1"] if has_jobs else words


@pytest.mark.slow
@pytest.mark.parametrize("page", PLAYED, ids=named)
def test_every_command_of_a_page_runs_in_order(page: Path, tmp_path: Path) -> None:
    """A reader who types a page's commands one after the other meets no error. A rule-based player answers for models,
    and 40 branches stand for the 600 that `why` plays."""
    write_files(page, tmp_path)
    typed = commands(page)
    assert typed
    with Endpoint(world_responder("vending", "naive")) as endpoint:
        env = os.environ | {
            "OPENAI_BASE_URL": endpoint.openai_url,
            "OPENAI_API_KEY": "none",
            "AKINAI_WHY__BUDGET": "40",
        }
        for line in typed:
            done = forked.run([sys.executable, "-m", "akinai", *in_short(line)], cwd=tmp_path, env=env)
            assert done.returncode == 0, f"{line}\n{done.stderr}"


LONG = ("gymnasium", "mcp")
"""Pages whose examples take seconds."""
PASTED = [
    page
    for page in (
        *PLAYED,
        *(ROOT / "docs" / f"{name}.md" for name in ("arena", "gymnasium", "mcp", "session", "write-an-agent")),
    )
    if blocks(page, "python")
]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page.stem in LONG)) for page in PASTED], ids=named
)
def test_every_python_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who pastes a page's Python meets no error."""
    monkeypatch.chdir(tmp_path)
    for text in blocks(page, "python"):
        exec(compile(text, page.name, "exec"), {"__name__": "__main__"})


COMMAND = re.compile(r"^ *(?:\$ )?(?:\w+=\S+ )*(akinai \S.*?)(?: &)?$")
"""A command in a block, after variables of its environment."""
CHECKED_BY_OTHERS = {
    "nginx": "tests/wire/test_behind_nginx.py",
    "mermaid": "tests/learning/test_graph.py",
    "sql": "tests/stores/test_stores_page.py",
}
"""The test that runs the blocks of a language."""


@cache
def top() -> Any:
    """The command line."""
    return typer.main.get_command(app)


def expect_parsed(words: list[str]) -> None:
    """Read a command as the command line does, and do nothing. Raises what it refuses."""
    command = top()
    context, name = None, "akinai"
    while hasattr(command, "commands") and words:
        default = getattr(command, "default", None)
        words = [default, *words] if default and words[0] not in command.commands else words
        context = command.make_context(name, words, parent=context)
        name, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
    command.make_context(name, words, parent=context)


@EVERY
def test_every_block_is_read_as_it_will_be(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its language: commands by the options that there are, settings by the calls that take them, Python by Python,
    JSON by JSON; other languages have a test of their own."""
    monkeypatch.chdir(tmp_path)
    Path("akinai.toml").unlink(missing_ok=True)
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python" and not text.startswith("# src/"):  # whose excerpts tests/house puts in their places
            compile(f"async def excerpt():\n{indent(dedent(text), '    ')}", page.name, "exec")
        elif language == "json":
            documents = text.splitlines() if text.startswith(('{"action', '{"country')) else [text]
            assert all(isinstance(json.loads(document), dict) for document in documents)
        elif language == "toml" and text.startswith("[project"):
            assert tomllib.loads(text)["project"]
        elif language == "toml":
            Path("akinai.toml").write_text(text, encoding="utf-8")
            assert settings_file() == tomllib.loads(text)
            learn_settings({})
            for record in CALLS.values():
                complete_options(record, {})
        elif language in CHECKED_BY_OTHERS:
            assert language in (ROOT / CHECKED_BY_OTHERS[language]).read_text(encoding="utf-8")
        elif language != "python":
            assert language in ("", "sh", "bash", "console", "text")
            for line in text.replace("\\\n", " ").splitlines():
                plain_line = re.sub(r"\$\w+", "1", line)
                if match := COMMAND.match(plain_line):
                    expect_parsed(shlex.split(match[1], comments=True)[1:])
                elif "python -m akinai.testing.endpoint" in line:
                    make_parser().parse_args(shlex.split(line.partition("akinai.testing.endpoint")[2], comments=True))


@EVERY
def test_every_command_within_a_line_has_its_flags(page: Path) -> None:
    """A command that a sentence names is there, with the flags that it shows."""
    for typed in re.findall(r"`akinai ([^`]+)`", BLOCK.sub("", page.read_text(encoding="utf-8"))):
        command = top()
        words = [word for word in typed.split() if not word.startswith("-")]
        while hasattr(command, "commands") and words and (inner := command.get_command(None, words[0])):
            command, words = inner, words[1:]
        default = getattr(command, "default", None)
        parameters = [*command.params, *(command.commands[default].params if default else ())]
        flags = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
        assert not {*re.findall(r"(?<!\S)--?[a-z][\w-]*", typed)} - flags - {"--help"}, typed
        assert not hasattr(command, "commands") or not words or words[0].isupper() or default, typed


@EVERY
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    """A relative link names a file that is there."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@EVERY
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


@together("page", TRANSLATED)
def test_japanese_pages_keep_in_step(page: Path) -> None:
    """As many headings of each level, the same blocks of code and commands, and tables of the same figures."""
    original = TRANSLATED[page].read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    assert BLOCK.findall(text) == BLOCK.findall(original)
    assert HEADING.findall(BLOCK.sub("", text)) == HEADING.findall(BLOCK.sub("", original))
    assert commands(page) == commands(TRANSLATED[page])
    assert figures(text) == figures(original)
    assert re.search("[ぁ-ん]", text)
