"""What the site shows beside the pages of this folder: README and changelog as pages, the reference, and llms.txt."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from mkdocs.structure.files import File, Files

import akinai
from akinai import worlds
from akinai.cli.app import PANELS, app
from akinai.runtime.describe import describe

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "README.ja.md": "ja/index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "LICENSE": "files/LICENSE.txt",
    "docs/_site/site.css": "site.css",
}
"""Files of the project, by their path, and where they are in the site."""
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
JAPANESE = "ja/"
"""The folder of the pages in Japanese."""
WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
BROKEN = re.compile(
    rf"(?<={WIDE})\n *(?={WIDE})|(?<=[、。）：；])\n *(?=[`\[A-Za-z]|\d(?!\d*\.))|(?<=[^\s。])\n *(?=[（「、。])"
)
"""A line's end within a Japanese sentence, which a browser would show as a space."""
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
NODE = re.compile(r"^\s*(\w+)\(", re.M)
EDGE = re.compile(r"^\s*(\w+) -(?:->|\. &nbsp;(.+?)&nbsp; \.->) (\w+);$", re.M)
"""A step of a diagram, when it is left, and the next step."""
GENERATED = "files"
"""The folder of the site for source files that pages link to."""


def on_files(files: Files, config: Any) -> Files:
    """Add README and the like, the reference, and every source file that a page links to."""
    texts = {
        target: (ROOT / name).read_text(encoding="utf-8") for name, target in PAGES.items() if (ROOT / name).exists()
    }
    texts |= {"reference/commands.md": commands_page(), "reference/python.md": python_page()}
    texts |= {f"reference/{name}.md": world_page(name) for name in worlds.names()}
    linked = {source for file in files.documentation_pages() for source in sources(file)}
    texts |= {f"{GENERATED}/{source}.txt": (ROOT / source).read_text(encoding="utf-8") for source in linked}
    for target, text in texts.items():
        files.append(File.generated(config, target, content=text))
    return files


def sources(file: File) -> Iterator[str]:
    """Paths from the project's root of files outside the docs that a page links to."""
    page = posixpath.join("docs", file.src_uri)
    for target in LINK.findall(file.content_string):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if not path.startswith("docs/") and path not in PAGES and (ROOT / path).is_file():
            yield path


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links at where their targets are in the site."""
    shown = page.file.src_uri
    origin = next((name for name, target in PAGES.items() if target == shown), posixpath.join("docs", shown))

    def target(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), found[1]))
        if path in PAGES:
            path = PAGES[path]
        elif path.startswith("docs/"):
            path = path.removeprefix("docs/")
        elif (ROOT / path).is_file():
            path = f"{GENERATED}/{path}.txt"
        else:
            return found[1]
        return posixpath.relpath(path, posixpath.dirname(shown) or ".")

    heads = ("段階", "条件", "次") if shown.startswith(JAPANESE) else ("step", "when", "next")
    text = DIAGRAM.sub(lambda found: table(heads, transitions(found[1])), LINK.sub(target, markdown))
    return unbroken(text) if shown.startswith(JAPANESE) else text


def transitions(diagram: str) -> list[tuple[str, ...]]:
    """The arrows of a Mermaid graph, by step. To draw it a browser would need a script from elsewhere."""
    steps = NODE.findall(diagram)
    arrows = sorted(EDGE.findall(diagram), key=lambda arrow: steps.index(arrow[0]))
    return [(begin.strip("_"), when, end.strip("_")) for begin, when, end in arrows]


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Say of a Japanese page that it is Japanese, so that a browser takes Japanese glyphs."""
    return output.replace('lang="en"', 'lang="ja"', 1) if page.file.src_uri.startswith(JAPANESE) else output


def unbroken(text: str) -> str:
    """Japanese sentences on one line each; code as it is."""
    return "".join(part if part.startswith("```") else BROKEN.sub("", part) for part in FENCED.split(text))


def commands_page() -> str:
    """Every command with its help, arguments and options."""
    group: Any = typer.main.get_command(app)
    parts = ["# Commands", "What `akinai --help` and `akinai COMMAND --help` print."]
    for panel in PANELS:
        parts.append(f"## {panel}")
        for name, command in group.commands.items():
            if command.rich_help_panel == panel:
                parts += command_parts(f"akinai {name}", command)
    return "\n\n".join(parts) + "\n"


def command_parts(name: str, command: Any) -> Iterator[str]:
    """A command with its options; of a group its own command, if it has one, and its commands."""
    yield f"### {name}"
    yield plain(command.help or "")
    if not hasattr(command, "list_commands"):
        yield from options(command)
        return
    if default := getattr(command, "default", None):
        yield from options(command.get_command(None, default))
    for child in command.list_commands(None):
        yield from command_parts(f"{name} {child}", command.get_command(None, child))


def options(command: Any) -> Iterator[str]:
    """The table of a command's arguments and options, if it has any."""
    rows: list[tuple[str, ...]] = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        words = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar or parameter.name]
        value = [parameter.metavar] if parameter.param_type_name == "option" and parameter.metavar else []
        rows.append((f"`{' '.join([', '.join(words), *value])}`", plain(getattr(parameter, "help", None) or "")))
    if rows:
        yield table(("option", "what it does"), rows)


def plain(help: str) -> str:
    """Help without the backslashes of its markup."""
    return help.replace("\\[", "[")


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def python_page() -> str:
    """Every public name, from its docstring."""
    parts = ["# Python", "Every command is a function of `akinai` with the same name, options and defaults."]
    modules = {**akinai.COMMANDS, **akinai._HOME}  # pyright: ignore[reportPrivateUsage] - where the names are defined
    for name in akinai.__all__:
        if name in ("report", "studio", "worlds"):
            parts.append(f"::: akinai.{modules[name]}.{name}")
        elif name in akinai.COMMAND_GROUPS:
            parts.append(f"::: akinai.{akinai.COMMAND_GROUPS[name]}")
        else:
            parts.append(f"::: akinai.{modules[name]}.{name}")
    return "\n\n".join(parts) + "\n"


def world_page(name: str) -> str:
    """Presets, players, actions, settings, scores and findings of a world."""
    world = worlds.load(name)
    info = describe(world)
    parts = [f"# {info.world}", info.about, f"Who acts: {info.who}."]
    parts += ["## Presets", table(("preset", "about"), [(f"`{item.name}`", item.about) for item in info.presets])]
    parts += ["## Players", table(("player", "about"), [(f"`{item.name}`", item.about) for item in info.agents])]
    actions = [
        (
            f"`{item.name}`",
            ", ".join(f"`{key}`: {kind}" for key, kind in item.parameters.items()).replace("{", "&#123;"),
            item.about,
        )
        for item in info.actions
    ]
    parts += ["## Actions", table(("action", "parameters", "about"), actions)]
    days = 2 if any(item.name == "days" for item in info.settings) else None
    run = akinai.run(name, seeds=1, days=days)[0]
    better = {"higher": "higher is better", "lower": "lower is better", None: ""}
    scores = [(f"`{item.name}`", item.unit, better[item.better]) for item in run.scores]
    parts += ["## Scores", table(("score", "unit", ""), scores)]
    titles = world.facets.presentation.finding_titles
    if titles:
        parts += ["## Findings", table(("finding", "title"), [(f"`{key}`", title) for key, title in titles.items()])]
    settings = [(f"`{item.name}`", f"`{str(item.default)[:60]}`", item.about) for item in info.settings]
    parts += ["## Settings", table(("setting", "default", "about"), settings)]
    return "\n\n".join(parts) + "\n"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cell(text).replace('<', '&lt;') for text in row)} |" for row in rows)])


PLACED: list[tuple[str, str]] = []
"""Titles and addresses of the pages in the order of the navigation."""


def on_nav(nav: Any, config: Any, files: Files) -> Any:
    PLACED[:] = [(page.title or page.file.name, page.url) for page in nav.pages]
    return nav


def on_post_build(config: Any) -> None:
    """Write llms.txt: what this is, and every page with its address."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", "", "## Pages", ""]
    lines += [f"- [{title}]({url})" for title, url in PLACED]
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
