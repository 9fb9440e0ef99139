"""ACE's text form of a playbook: `## SECTION`, and one bullet a line. Pure.

    ## STRATEGIES AND HARD RULES
    [shr-00001] helpful=5 harmful=0 :: content
    [shr-00002] content of a bullet without counters

Akinai can read back what it writes: further lines of a content begin with a margin, "  | ", and a section name that
cannot be restored from the usual heading is written as a JSON string, `## "Café-Regeln"`. Text from other programs
keeps its looks: where a text differs from the usual form, the field `ace_text` of its metadata holds its headings and
empty lines, that of a bullet its lines, and `dumps_ace_file` writes them again while their meaning is the same.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pydantic import TypeAdapter

from akinai.learning.playbook.bullets import Bullet, Playbook, Section, id_number, id_problem, name_problem
from akinai.learning.playbook.errors import CorruptPlaybook

MARGIN = "  | "
"""The start of the second and further lines of a content."""

LOOKS = "ace_text"
"""The extra field for the looks of a text where they are not the usual form."""

_ITEM = r"(?:[-*+] +)?"
_BULLET = re.compile(
    rf"{_ITEM}\[([^\s\[\]]+)\] *helpful=([0-9]{{1,9}})[ ,;]*harmful=([0-9]{{1,9}})"
    r"(?:[ ,;]*neutral=([0-9]{1,9}))? *::(?: (.*))?",
    re.DOTALL,
)
# Without counters only an id like "shr-00001" begins a bullet: a line of code may begin with another bracket.
_BARE = re.compile(rf"{_ITEM}\[([^\W\d_][\w-]*-[0-9]+)\](?:[ \t](.*))?", re.DOTALL)
_UNREADABLE = re.compile(rf"{_ITEM}\[[^\s\[\]]+\].*\b(?:helpful|harmful|neutral) *[=:].*")
"""A line that was meant to begin a bullet with counters."""
_TITLE = re.compile(r"#[ \t].*")


def dumps_ace(sections: Iterable[Section]) -> str:
    """Sections in ACE's form, which holds ids, the two counters and contents, and nothing else of a playbook."""
    return "\n".join("".join(f"{line}\n" for line in (heading(s.name), *map(bullet_text, s.bullets))) for s in sections)


def dumps_ace_file(playbook: Playbook) -> str:
    """The playbook in ACE's form. Headings and bullets that have not changed since are written as they were read, in
    their order; new bullets follow the last one of their section."""
    looks = playbook.metadata.get(LOOKS)
    try:
        read = _ADAPTER.validate_python(looks)
    except ValueError:  # it was not read from such a text, or the file was changed by hand
        return dumps_ace(playbook.sections)
    fresh = {section.name: {bullet.id: bullet for bullet in section.bullets} for section in playbook.sections}
    items: list[_Item] = []
    for piece in read.pieces:
        bullet = fresh.get(piece.section, {}).pop(piece.id, None) if piece.id else None
        if piece.section in fresh and (bullet or not piece.id):
            items.append(_Item(_as_read(bullet) if bullet else piece.text, piece.after, piece.section))
        elif items:  # what was removed leaves the empty lines below it
            items[-1].after = max(items[-1].after, piece.after, key=len)
    for section in playbook.sections:
        bullets = [_Item(bullet_text(bullet), "", section.name) for bullet in fresh[section.name].values()]
        last = max((index for index, item in enumerate(items) if item.section == section.name), default=None)
        if last is None:
            if items:
                items[-1].after = items[-1].after or "\n"
            items += [_Item(heading(section.name), "", section.name), *bullets]
        elif bullets:
            bullets[-1].after, items[last].after = items[last].after, ""
            items[last + 1 : last + 1] = bullets
    text = read.start + "".join(f"{item.text}\n{item.after}" for item in items)
    text = text if read.ended else text.removesuffix("\n")
    return read.mark + (text if "\r" in text else text.replace("\n", read.line_end))


@dataclass
class _Item:
    """A heading or a bullet as it is written, with the empty lines below it."""

    text: str
    after: str
    section: str


def heading(name: str) -> str:
    """The line above a section's bullets."""
    usual = name.replace("_", " ").upper()
    return f"## {usual if _section_name(usual) == name else json.dumps(name, ensure_ascii=False)}"


def bullet_text(bullet: Bullet) -> str:
    """A bullet in ACE's form, on one or more lines."""
    content = bullet.content.replace("\n", f"\n{MARGIN}")
    return f"{_usual_head(bullet.id, bullet.helpful, bullet.harmful)}{content}"


def loads_ace(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a text in ACE's form. CorruptPlaybook names a line that is no part of it.

    Lines without a margin after a bullet belong to it, except empty lines at its end. Bullets get no keywords, and
    bullets without counters get counters of 0.
    """
    lines, looks = _lines(text)
    front = _front_end(lines)
    before, pieces = lines[:front], list[_Reading]()
    line_numbers: dict[str, int] = {}
    for number, line in enumerate(lines[front:], front + 1):
        if line.startswith("## "):
            pieces.append(_Reading(_checked_name(line[3:], file, number), [line]))
        elif _UNREADABLE.fullmatch(line) and not _BULLET.fullmatch(line):
            raise CorruptPlaybook(file, f"line {number}", f"counters that cannot be read: {line!r:.80}")
        elif first := _first_line(line):
            _expect_id(first.id, line_numbers, file, number, in_section=bool(pieces))
            pieces.append(_Reading(pieces[-1].section, [line], first))
        elif not line.strip():
            (pieces[-1].after if pieces else before).append(line)
        elif pieces and pieces[-1].first is not None:
            pieces[-1].lines += [*pieces[-1].after, line]
            pieces[-1].after = []
        else:
            raise CorruptPlaybook(file, f"line {number}", f"{line!r:.80} belongs to no bullet")
    bullets: dict[str, list[Bullet]] = {piece.section: [] for piece in pieces}
    for piece in pieces:
        if piece.first is not None:
            bullets[piece.section].append(piece.bullet(piece.first))
    sections = tuple(Section(name, "", tuple(held)) for name, held in bullets.items())
    playbook = Playbook(sections, max(map(id_number, line_numbers), default=0) + 1)
    if dumps_ace_file(playbook) == text:
        return playbook
    looks = replace(looks, start=_ended(before), pieces=[piece.looks for piece in pieces])
    return replace(playbook, metadata={LOOKS: _ADAPTER.dump_python(looks, mode="json")})


def _expect_id(id: str, line_numbers: dict[str, int], file: str, number: int, *, in_section: bool) -> None:
    """CorruptPlaybook for an id above any section, one that cannot be, and one that stands twice."""
    why = ""
    if not in_section:
        why = f"the bullet {id!r} before any '## SECTION'"
    elif problem := id_problem(id):
        why = f"an id that {problem}"
    elif id in line_numbers:
        why = f"the id {id!r}, which line {line_numbers[id]} has"
    if why:
        raise CorruptPlaybook(file, f"line {number}", why)
    line_numbers[id] = number


def is_ace(text: str) -> bool:
    """Whether a text is in ACE's form: a line begins a bullet below a `## SECTION`, or it holds such headings alone."""
    lines = [line for line in _lines(text)[0] if line.strip()]
    bullet = next((number for number, line in enumerate(lines) if _first_line(line)), None)
    if bullet is None:
        return all(line.startswith("## ") for line in lines)
    return any(line.startswith("## ") for line in lines[:bullet])


def _front_end(lines: Sequence[str]) -> int:
    """The number of lines above the first section: front matter, which "---" begins and ends, and titles."""
    end = 0
    if lines and lines[0].strip() == "---":
        end = next((number for number, line in enumerate(lines[1:], 2) if line.strip() == "---"), 0)
    while end < len(lines) and (not lines[end].strip() or _TITLE.fullmatch(lines[end])):
        end += 1
    return end


class _FirstLine(NamedTuple):
    """The fields in the first line of a bullet."""

    id: str
    helpful: int
    harmful: int
    content: str
    neutral: int | None = None
    """None where the line has no such counter."""


def _first_line(line: str) -> _FirstLine | None:
    """A line read as the first line of a bullet; None where it is not one."""
    if match := _BULLET.fullmatch(line):
        neutral = None if match[4] is None else int(match[4])
        return _FirstLine(match[1], int(match[2]), int(match[3]), match[5] or "", neutral)
    if match := _BARE.fullmatch(line):
        return _FirstLine(match[1], 0, 0, match[2] or "")
    return None


def _usual_head(id: str, helpful: int, harmful: int) -> str:
    return f"[{id}] helpful={helpful} harmful={harmful} :: "


class _Piece(NamedTuple):
    """A heading or a bullet of a text."""

    section: str
    after: str
    """The empty lines below it."""
    text: str = ""
    """A heading as it was read; that of a bullet is its own."""
    id: str = ""
    """Of a bullet; empty for a heading."""


@dataclass
class _Looks:
    """The looks of a text: its headings and bullets in their order, and what is around them."""

    pieces: list[_Piece] = field(default_factory=list[_Piece])
    start: str = ""
    """The text above the first heading."""
    mark: str = ""
    line_end: str = "\n"
    ended: bool = True
    """Whether the last line has an end."""


_ADAPTER = TypeAdapter(_Looks)


@dataclass
class _Reading:
    """A heading or a bullet while its lines are being read."""

    section: str
    lines: list[str]
    first: _FirstLine | None = None
    """None for a heading."""
    after: list[str] = field(default_factory=list[str])
    """Empty lines, which belong to a bullet's content when another line follows."""

    @property
    def looks(self) -> _Piece:
        text, id = (self.lines[0], "") if self.first is None else ("", self.first.id)
        return _Piece(self.section, _ended(self.after), text, id)

    def bullet(self, first: _FirstLine) -> Bullet:
        content = "\n".join([first.content, *(line.removeprefix(MARGIN) for line in self.lines[1:])])
        counts = first.helpful, first.harmful, first.neutral or 0
        bullet, text = Bullet(first.id, self.section, content, (), *counts), "\n".join(self.lines)
        return bullet if bullet_text(bullet) == text else replace(bullet, extra={LOOKS: text})


def _as_read(bullet: Bullet) -> str:
    """A bullet as it was read; what has changed since is written in the usual form, after the sign of its list."""
    text = bullet.extra.get(LOOKS)
    if not isinstance(text, str) or (first := _first_line(text.split("\n")[0])) is None:
        return bullet_text(bullet)
    read = _Reading(bullet.section, text.split("\n")).bullet(first)
    counts = (bullet.helpful, bullet.harmful, bullet.neutral if first.neutral is not None else read.neutral)
    if (read.id, read.content, read.helpful, read.harmful, read.neutral) == (bullet.id, bullet.content, *counts):
        return text
    neutral = "" if first.neutral is None else f"neutral={bullet.neutral} "
    sign = match[0] if (match := re.match(_ITEM, text)) else ""
    return sign + bullet_text(bullet).replace(":: ", f"{neutral}:: ", 1)


def _ended(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> tuple[list[str], _Looks]:
    """The lines of a file with line ends of Windows or Unix, and the looks of its ends."""
    looks = _Looks(ended=text.endswith("\n"))
    if text.startswith("\ufeff"):
        text, looks.mark = text[1:], "\ufeff"
    lines = text.removesuffix("\n").split("\n")
    ended = lines if looks.ended else lines[:-1]
    if ended and all(line.endswith("\r") for line in ended) and "\r" not in "".join(line[:-1] for line in ended):
        looks.line_end = "\r\n"
        return [line.removesuffix("\r") for line in lines], looks
    return lines, looks


def _section_name(text: str) -> str:
    """The section of a heading: its words in lower case with underscores, or the value of a JSON string."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return "_".join(text.lower().replace("&", " and ").rstrip(":： ").split())


def _checked_name(text: str, file: str, number: int) -> str:
    name = _section_name(text.strip())
    if why := name_problem(name):
        raise CorruptPlaybook(file, f"line {number}", f"a section whose name {why}")
    return name
