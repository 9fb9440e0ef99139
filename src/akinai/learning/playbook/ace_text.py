"""ACE's text form of a playbook: `## SECTION`, and one bullet a line. Pure.

    ## STRATEGIES AND HARD RULES
    [shr-00001] helpful=5 harmful=0 :: content

The form can be read back: further lines of a content begin with a margin, "  | ", and a section name that cannot be
restored from the usual heading is written as a JSON string, `## "Café-Regeln"`.
"""

import json
import re
from collections.abc import Iterable

from akinai.learning.playbook.bullets import Bullet, Playbook, Section, id_number, id_problem, name_problem
from akinai.learning.playbook.errors import CorruptPlaybook

MARGIN = "  | "
"""The start of the second and further lines of a content."""

_BULLET = re.compile(r"\[([^\s\[\]]+)\] *helpful=([0-9]{1,9}) *harmful=([0-9]{1,9}) *::(?: (.*))?", re.DOTALL)


def dumps_ace(sections: Iterable[Section]) -> str:
    """Sections in ACE's form, which holds ids, the two counters and contents, and nothing else of a playbook."""
    return "\n".join("".join(f"{line}\n" for line in (heading(s.name), *map(bullet_text, s.bullets))) for s in sections)


def heading(name: str) -> str:
    """The line above a section's bullets."""
    usual = name.replace("_", " ").upper()
    return f"## {usual if _section_name(usual) == name else json.dumps(name, ensure_ascii=False)}"


def bullet_text(bullet: Bullet) -> str:
    """A bullet in ACE's form, on one or more lines."""
    content = bullet.content.replace("\n", f"\n{MARGIN}")
    return f"[{bullet.id}] helpful={bullet.helpful} harmful={bullet.harmful} :: {content}"


def loads_ace(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a text in ACE's form. CorruptPlaybook names a line that belongs nowhere.

    Lines without a margin after a bullet belong to it, but for empty lines at its end. Bullets get no keywords.
    """
    sections: dict[str, list[_BulletReader]] = {}
    current: list[_BulletReader] | None = None
    numbers: dict[str, int] = {}
    for number, line in enumerate(_lines(text), 1):
        if line.startswith("## "):
            current = sections.setdefault(_checked_name(line[3:], file, number), [])
        elif match := _BULLET.fullmatch(line):
            id = match[1]
            if current is None:
                raise CorruptPlaybook(file, f"line {number}", f"the bullet {id!r} before any '## SECTION'")
            if why := id_problem(id):
                raise CorruptPlaybook(file, f"line {number}", f"an id that {why}")
            if id in numbers:
                raise CorruptPlaybook(file, f"line {number}", f"the id {id!r}, which line {numbers[id]} has already")
            numbers[id] = number
            current.append(_BulletReader(id, int(match[2]), int(match[3]), match[4] or ""))
        elif current:
            current[-1].take(line)
        elif line.strip():
            raise CorruptPlaybook(file, f"line {number}", f"{line!r:.80} belongs to no bullet")
    made = tuple(Section(name, "", tuple(read.bullet(name) for read in found)) for name, found in sections.items())
    return Playbook(made, max(map(id_number, numbers), default=0) + 1)


class _BulletReader:
    """A bullet while its lines are being read."""

    def __init__(self, id: str, helpful: int, harmful: int, first: str) -> None:
        self.id, self.helpful, self.harmful = id, helpful, harmful
        self._lines = [first]
        self._empty = 0

    def take(self, line: str) -> None:
        """Add the next line to the content. Empty lines are added when another line follows."""
        if not line.strip() and not line.startswith(MARGIN):
            self._empty += 1
            return
        self._lines += [""] * self._empty
        self._empty = 0
        self._lines.append(line.removeprefix(MARGIN))

    def bullet(self, section: str) -> Bullet:
        return Bullet(self.id, section, "\n".join(self._lines), (), self.helpful, self.harmful)


def _lines(text: str) -> list[str]:
    """The lines of a file, with line ends of Windows or Unix."""
    lines = text.removeprefix("\ufeff").removesuffix("\n").split("\n")
    if len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1]):
        return [line.removesuffix("\r") for line in lines]
    return lines


def _section_name(text: str) -> str:
    """The section of a heading: its words in lower case with underscores, or the value of a JSON string."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return "_".join(text.lower().replace("&", " and ").split())


def _checked_name(text: str, file: str, number: int) -> str:
    name = _section_name(text.strip())
    if why := name_problem(name):
        raise CorruptPlaybook(file, f"line {number}", f"a section whose name {why}")
    return name
