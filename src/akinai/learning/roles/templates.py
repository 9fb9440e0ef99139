"""Prompts: files with placeholders, which are filled in one pass, so that braces in a value are plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Message
from akinai.files import read_named

LANGUAGES = ("en", "ja")
SMALL = "small"
"""The name of the packaged prompts, in English, for models that write one sentence better than many fields."""
DEFAULT_PLACE = "before_task"

_PLACEHOLDER = re.compile(r"\{\{(\w+)(?:@(\w+))?\}\}")
USER = "\n=== user ===\n"
"""The line between the system message and the user message."""


def prompts_folder(name: str) -> Path | None:
    """The folder that `prompts` names: one's own, or that of the packaged ones for small models; None for no name."""
    if name == SMALL and not Path(name).is_dir():
        return Path(str(files("akinai.learning.roles") / "prompts" / SMALL))
    return Path(name) if name else None


@dataclass(frozen=True)
class PromptTemplates:
    """The prompts of one language, and the place of the bullets in them. UsageError for an unknown language.

    A prompt is a file: the system message, a line `=== user ===`, the user message. `{{task}}` is replaced by the task.
    `{{bullets@before_task}}` is one of the places for the Generator's bullets: `bullets_at` names the place that is
    used, and the others stay empty.
    """

    language: str = "en"
    folder: Path | None = None
    """A folder with prompts that replace the packaged ones of the same name, such as `generator.md`."""
    bullets_at: str = DEFAULT_PLACE

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise UnknownName("language of prompts", self.language, LANGUAGES)
        if self.folder is not None and not self.folder.is_dir():
            raise UsageError(f"no folder {str(self.folder)!r} for prompts; make it, name {SMALL!r}, or leave it out")
        self._expect_prompts()
        places = {match[2] for match in _PLACEHOLDER.finditer(self.text("generator")) if match[1] == "bullets"}
        if self.bullets_at not in places:
            raise UnknownName("place for bullets", self.bullets_at, filter(None, places), "in the generator's prompt")

    def _expect_prompts(self) -> None:
        """UsageError unless the own folder holds prompts of known names alone."""
        if self.folder is None:
            return
        own, names = sorted(path.stem for path in self.folder.glob("*.md")), self.names()
        if unknown := next((name for name in own if name not in names), None):
            raise UnknownName("prompt", unknown, names, f"in {str(self.folder)!r}")
        if not own:
            raise UsageError(f"{str(self.folder)!r} holds no prompt; name a folder with {names[0]}.md or another in it")

    def text(self, name: str) -> str:
        """The text of a prompt file."""
        own = self.folder / f"{name}.md" if self.folder else None
        if own and own.exists():
            return read_named(own).strip()
        packaged = files("akinai.learning.roles") / "prompts" / self.language / f"{name}.md"
        return packaged.read_text(encoding="utf-8").strip()

    def names(self) -> list[str]:
        """The names of all packaged prompts of the language."""
        packaged = files("akinai.learning.roles") / "prompts" / self.language
        return sorted(file.name.removesuffix(".md") for file in packaged.iterdir() if file.name.endswith(".md"))

    def messages(self, name: str, values: Mapping[str, str]) -> tuple[Message, ...]:
        """A prompt with its placeholders filled in. A prompt without `=== user ===` is a user message alone.

        UnknownName for a placeholder without a value.
        """
        system, line, user = self._with_one_place(self.text(name)).partition(USER)
        if not line:
            return (Message("user", _filled(system, values)),)
        messages = (Message("system", _filled(system, values)), Message("user", _filled(user, values)))
        return tuple(message for message in messages if message.text)

    def filled(self, name: str, **values: str) -> str:
        """A prompt of a single text with its placeholders filled in."""
        return _filled(self.text(name), values)

    def _with_one_place(self, text: str) -> str:
        """The text with the chosen place for bullets, and without the other places for them."""

        def replacement(match: re.Match[str]) -> str:
            return "" if match[2] not in (None, self.bullets_at) else f"{{{{{match[1]}}}}}"

        return _PLACEHOLDER.sub(replacement, text)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in all placeholders in one pass. Values are not scanned for placeholders. Lines that become empty go."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UnknownName("place in a prompt", match[1], values)
        return values[match[1]]

    lines: list[str] = []
    for line in text.split("\n"):
        filled = _PLACEHOLDER.sub(value, line)
        if filled or (not line and lines and lines[-1]):
            lines.append(filled)
    return "\n".join(lines).strip()
