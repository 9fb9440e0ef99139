"""Lesson: what a record teaches whoever plays next, as a world says it without a model."""

from collections.abc import Mapping
from dataclasses import dataclass

from akinai.core.canonical import Json


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing learned from one ledger, worded so that a person, a model and a rule-based player can follow it."""

    section: str
    """Of the playbook, by its name."""
    content: str
    """The sentence. Its numbers are estimated from that ledger."""
    keywords: tuple[str, ...] = ()
    """Words by which it should be found beside those of the content; none: the learner picks some."""
    about: str = ""
    """What it is about: "price of cola". A later lesson of the same section about the same thing changes the bullet
    that the earlier one made; empty makes a bullet of its own."""
    entries: tuple[int, ...] = ()
    """Numbers of the entries that show it, in rising order."""

    def to_json(self) -> Mapping[str, Json]:
        return {
            "section": self.section,
            "content": self.content,
            "keywords": list(self.keywords),
            "about": self.about,
            "entries": list(self.entries),
        }
