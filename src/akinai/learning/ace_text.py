"""ACE's text form of a playbook: `## SECTION`, and a bullet a line. Pure.

    ## STRATEGIES AND HARD RULES
    [shr-00001] helpful=5 harmful=0 :: content

Written so that everything comes back: further lines of a content begin with a margin, "  | ", and a section whose name
the heading's usual spelling would not give back stands as JSON text, `## "Café-Regeln"`.
"""

import json
import re
from collections.abc import Iterable

from akinai.learning.errors import CorruptPlaybook
from akinai.learning.playbook import Bullet, Playbook, Section, number_of, unfit_id, unfit_name

MARGIN = "  | "
"""What the second and further lines of a content begin with."""

_BULLET = re.compile(r"\[([^\s\[\]]+)\] *helpful=([0-9]{1,9}) *harmful=([0-9]{1,9}) *::(?: (.*))?", re.DOTALL)


def dumps_ace(sections: Iterable[Section]) -> str:
    """Sections in ACE's form. It holds ids, both counters and contents; the rest of a playbook it has no place for."""
    return "\n".join("".join(f"{line}\n" for line in (heading(s.name), *map(bullet_text, s.bullets))) for s in sections)


def heading(name: str) -> str:
    """The line above a section's bullets."""
    usual = name.replace("_", " ").upper()
    return f"## {usual if _section_name(usual) == name else json.dumps(name, ensure_ascii=False)}"


def bullet_text(bullet: Bullet) -> str:
    """A bullet in ACE's form, one line or more."""
    content = bullet.content.replace("\n", f"\n{MARGIN}")
    return f"[{bullet.id}] helpful={bullet.helpful} harmful={bullet.harmful} :: {content}"


def loads_ace(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in ACE's form, ours or ACE's own; CorruptPlaybook names a line that has no place in it.

    Lines without a margin that follow a bullet belong to it as they are, empty ones at its end do not. Keywords are
    left to whoever adds the bullets to a playbook.
    """
    sections: dict[str, list[_Read]] = {}
    current: list[_Read] | None = None
    numbers: dict[str, int] = {}
    for number, line in enumerate(_lines(text), 1):
        if line.startswith("## "):
            current = sections.setdefault(_checked_name(line[3:], file, number), [])
        elif match := _BULLET.fullmatch(line):
            id = match[1]
            if current is None:
                raise CorruptPlaybook(file, f"line {number}", f"the bullet {id!r} before any '## SECTION'")
            if why := unfit_id(id):
                raise CorruptPlaybook(file, f"line {number}", f"an id that {why}")
            if id in numbers:
                raise CorruptPlaybook(file, f"line {number}", f"the id {id!r}, which line {numbers[id]} has already")
            numbers[id] = number
            current.append(_Read(id, int(match[2]), int(match[3]), match[4] or ""))
        elif current:
            current[-1].take(line)
        elif line.strip():
            raise CorruptPlaybook(file, f"line {number}", f"{line!r:.80} belongs to no bullet")
    made = tuple(Section(name, "", tuple(read.bullet(name) for read in found)) for name, found in sections.items())
    return Playbook(made, max(map(number_of, numbers), default=0) + 1)


class _Read:
    """A bullet while its lines are being read."""

    def __init__(self, id: str, helpful: int, harmful: int, first: str) -> None:
        self.id, self.helpful, self.harmful = id, helpful, harmful
        self._lines = [first]
        self._empty = 0

    def take(self, line: str) -> None:
        """Take the next line as one of the content's. Empty ones wait until another follows."""
        if not line.strip() and not line.startswith(MARGIN):
            self._empty += 1
            return
        self._lines += [""] * self._empty
        self._empty = 0
        self._lines.append(line.removeprefix(MARGIN))

    def bullet(self, section: str) -> Bullet:
        return Bullet(self.id, section, "\n".join(self._lines), (), self.helpful, self.harmful)


def _lines(text: str) -> list[str]:
    """The lines of a file, however they end: written on Windows, every one ends with CR LF."""
    lines = text.removeprefix("\ufeff").removesuffix("\n").split("\n")
    if len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1]):
        return [line.removesuffix("\r") for line in lines]
    return lines


def _section_name(text: str) -> str:
    """The section that a heading names: ACE's words in lower case with underscores, or exactly what JSON text says."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return "_".join(text.lower().replace("&", " and ").split())


def _checked_name(text: str, file: str, number: int) -> str:
    name = _section_name(text.strip())
    if why := unfit_name(name):
        raise CorruptPlaybook(file, f"line {number}", f"a section whose name {why}")
    return name
