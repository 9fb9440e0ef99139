"""Prompts: files with named places, filled in one pass, so that braces in what goes in are nothing but text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Message

LANGUAGES = ("en", "ja")
DEFAULT_PLACE = "before_task"

_PLACE = re.compile(r"\{\{(\w+)(?:@(\w+))?\}\}")
USER = "\n=== user ===\n"
"""Between the system's message and the user's."""


@dataclass(frozen=True)
class PromptTemplates:
    """The prompts of one language, and where the bullets go in. UsageError for a language that is not there.

    A prompt is a file: the system's message, a line `=== user ===`, the user's message. `{{task}}` is replaced by the
    task. `{{bullets@before_task}}` is one of the places where the Generator's bullets can stand: `bullets_at` names the
    one that is used, and the others stay empty.
    """

    language: str = "en"
    folder: Path | None = None
    """Files of one's own, `generator.md` and so on; those that are not there are the packaged ones."""
    bullets_at: str = DEFAULT_PLACE

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise UnknownName("language of prompts", self.language, LANGUAGES)
        if self.folder is not None and not self.folder.is_dir():
            raise UsageError(f"no folder {str(self.folder)!r} for prompts; make it, or leave it out")
        places = {found[2] for found in _PLACE.finditer(self.text("generator")) if found[1] == "bullets"}
        if self.bullets_at not in places:
            raise UnknownName("place for bullets", self.bullets_at, filter(None, places), "in the generator's prompt")

    def text(self, name: str) -> str:
        """A prompt as its file has it."""
        own = self.folder / f"{name}.md" if self.folder else None
        packaged = files("akinai.learning") / "prompts" / self.language / f"{name}.md"
        return (own if own and own.is_file() else packaged).read_text(encoding="utf-8").strip()

    def messages(self, name: str, values: Mapping[str, str]) -> tuple[Message, ...]:
        """A prompt with its places filled in; one without `=== user ===` is the user's message alone.

        UnknownName for a place that nothing fills.
        """
        system, line, user = self._with_one_place(self.text(name)).partition(USER)
        said = [Message("system", _filled(system, values)), Message("user", _filled(user, values))]
        return tuple(one for one in said if one.text) if line else (Message("user", _filled(system, values)),)

    def filled(self, name: str, **values: str) -> str:
        """A prompt that is one text."""
        return _filled(self.text(name), values)

    def _with_one_place(self, text: str) -> str:
        """The text with the place for bullets that is used, and without the others."""

        def kept(found: re.Match[str]) -> str:
            return "" if found[2] not in (None, self.bullets_at) else f"{{{{{found[1]}}}}}"

        return _PLACE.sub(kept, text)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """One pass: what goes in is never looked at again. A line whose places are all empty goes."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise UnknownName("place in a prompt", found[1], values)
        return values[found[1]]

    lines: list[str] = []
    for line in text.split("\n"):
        told = _PLACE.sub(value, line)
        if told or (not line and lines and lines[-1]):
            lines.append(told)
    return "\n".join(lines).strip()
