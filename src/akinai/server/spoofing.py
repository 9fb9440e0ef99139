"""Agent ids that deceive: with characters that do not show, or that look like another agent's (Unicode UTS #39)."""

import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import import_module

MAX_CHARACTERS = 500
_HIDDEN = {
    "Cc": "a control character",
    "Cf": "an invisible character",
    "Cs": "half a surrogate pair",
    "Co": "a character without a meaning",
    "Cn": "a character without a meaning",
    "Zl": "a line break",
    "Zp": "a line break",
}
"""Kinds of hidden characters by Unicode's general category; Cf has the bidirectional controls and most joiners."""
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Characters that show nothing, besides those of the categories above: fillers, joiners, variation selectors."""


def fault_in(id: str) -> str | None:
    """Why an id cannot be an agent's, as the end of a sentence; None for one that can."""
    if not id:
        return "is empty"
    if len(id) > MAX_CHARACTERS:
        return f"has more than {MAX_CHARACTERS} characters"
    for position, letter in enumerate(id, 1):
        hidden = "an invisible character" if letter in _INVISIBLE else _HIDDEN.get(unicodedata.category(letter))
        if hidden:
            return f"holds {hidden}, U+{ord(letter):04X}, in place {position}; leave it out"
    if id != id.strip():
        return "begins or ends with a space"
    if (normal := unicodedata.normalize("NFKC", id)) != id:
        return f"is not in the form NFKC; write {normal!r:.100}"
    return None


def skeleton(id: str) -> str:
    """The same text for all ids that look alike.

    Each letter is its prototype of Unicode's table of confusables, in small letters, and i is l: who reads a name in a
    hurry, as models do, takes `Alice` and `al1ce` for `alice` as much as `rn` for `m`.
    """
    prototypes, text = _prototypes(), id
    for _ in range(3):  # a prototype's small letter may have another prototype
        text = unicodedata.normalize("NFD", text.casefold())
        text = "".join(prototypes.get(letter, letter) for letter in text).casefold().replace("i", "l")
    return unicodedata.normalize("NFD", text)


@cache
def _prototypes() -> Mapping[str, str]:
    """The prototype of each letter. The package lists a prototype's look-alikes, and for each of them the prototype."""
    table: Mapping[str, list[dict[str, str]]] = import_module("confusable_homoglyphs.confusables").confusables_data
    alike = {_bare(letter): [_bare(other["c"]) for other in look_alikes] for letter, look_alikes in table.items()}
    prototype_of: dict[str, str] = {}
    for letter, look_alikes in alike.items():
        if len(letter) == 1 and len(look_alikes) == 1:
            (prototype,) = look_alikes
            mutual = alike.get(prototype) == [letter]
            prototype_of[letter] = min(letter, prototype) if mutual and len(prototype) == 1 else prototype
    return prototype_of


def _bare(text: str) -> str:
    return text.replace("\u200e", "")  # which the package's table puts round text that is written right to left
