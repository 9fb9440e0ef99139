"""Voice: the words in which a person reads and types what an actor is given and gives.

Actions and ledgers know nothing of it: a model reads ids, rows and columns where a person reads names and slots.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from akinai.core.canonical import Json
from akinai.core.presentation.transcript import Block

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
TIME = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
WHOLE = r"(?<![\w@./-])({})(?![\w@/-]|\.\w)"
"""An id that is no part of an address or a longer word."""
ITEM = r"(?:(?m:^)|(?<=[,;:-] )|(?<=\d )|(?<=for )|(?<=sells )|(?<= is )|(?<='))(?:{})(?=[,;:.']|(?m:$)| x?\d| [$(])"
"""An id that is also a word, where it stands in a list, with a number, or in quotes."""


@dataclass(frozen=True)
class Voice:
    """How a person who plays an actor reads its texts, and what it may type."""

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """By id, the names of participants and goods; a person reads them, and may type them, in place of the ids."""
    spots: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    """Names that stand for several values at once, such as "A2" for a row and a column."""
    brief: tuple[Block, ...] = ()
    """The briefing of a person; empty where the text of the view is one."""
    rewrite: Callable[[str], str] = str
    """What else changes in a text, before names take the place of ids."""

    def tell(self, text: str, labels: Mapping[str, str] | None = None) -> str:
        """A text of the world in words for a person. `labels` take the place of the names of actions."""
        text = TIME.sub(_when, self.rewrite(text))
        if self._named:
            text = self._named.sub(self._name_in, text)
        return _labelled(text, labels) if labels else text

    def _name_in(self, match: re.Match[str]) -> str:
        return f"{match[1]}{' (' if match[2] == ', ' else ''}" if match[1] else self.names[match[3]]

    @cached_property
    def _named(self) -> re.Pattern[str] | None:
        """A name with its id behind it in brackets or before it, or an id; one that is also a word only as an item."""
        if not self.names:
            return None
        both = "|".join(rf"{re.escape(name)}(?= \({re.escape(id)}(?:\)|, ))" for id, name in self.names.items())
        words = "|".join(re.escape(id) for id in self.names if not re.search(r"[_\d]", id))
        ids = "|".join(re.escape(id) for id in self.names if re.search(r"[_\d]", id))
        ids = "|".join(filter(None, (ids, words and ITEM.format(words))))
        behind = "|".join(map(re.escape, self.names))
        return re.compile(rf"({both}) \((?:{behind})(\)|, )|{WHOLE.format(ids)}")


def _when(match: re.Match[str]) -> str:
    return f"{int(match[3])} {MONTHS[int(match[2]) - 1]}, {match[4]}"


def _labelled(text: str, labels: Mapping[str, str]) -> str:
    """The text with labels for names of actions: in quotes, and those that are no words everywhere."""
    names = "|".join(name if "_" in name else rf"(?<=\u201c){name}(?=\u201d)" for name in labels)
    return re.sub(rf"\u201c?{WHOLE.format(names)}\u201d?", lambda match: f"\u201c{labels[match[1]]}\u201d", text)
