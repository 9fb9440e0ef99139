"""ACE's text form of a playbook: `## SECTION`, and one bullet a line. Pure.

    ## STRATEGIES AND HARD RULES
    [shr-00001] helpful=5 harmful=0 :: content
    [shr-00002] content of a bullet without counters

Akinai can read back what it writes: further lines of a content begin with a margin, "  | ", and a section name that
cannot be restored from the usual heading is written as a JSON string, `## "Café-Regeln"`. Text from other programs
keeps its looks: whatever differs from the usual form is stored in the field `ace_text` of the file, the section or the
bullet, and `dumps_ace_file` writes it again as long as its meaning has not changed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pydantic import TypeAdapter

from akinai.core.canonical import Json
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

_BARE_HEADING = TypeAdapter(tuple[str, int, str | None])
"""A repeated heading with no bullet below it: the line, the index of its block, the empty lines that followed."""


def dumps_ace(sections: Iterable[Section]) -> str:
    """Sections in ACE's form, which holds ids, the two counters and contents, and nothing else of a playbook."""
    return "\n".join("".join(f"{line}\n" for line in (heading(s.name), *map(bullet_text, s.bullets))) for s in sections)


def dumps_ace_file(playbook: Playbook) -> str:
    """The playbook in ACE's form. Headings and bullets that have not changed since are written as they were read."""
    looks = _looks(playbook.metadata)
    items = [item for block in _in_order(playbook.sections) for item in block.items]
    if items:  # the usual form has no empty line at the end
        items[-1] = _Item(items[-1].text, items[-1].after or "", "")
    text = looks.get("start", "") + "".join(f"{item.text}\n{item.following}" for item in items)
    if looks.get("end") == "":
        text = text.removesuffix("\n")
    line_end = "\n" if "\r" in text else looks.get("line_end", "\n")
    return looks.get("mark", "") + text.replace("\n", line_end)


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
    blocks: list[_BlockReader] = []
    current: _BlockReader | None = None
    line_numbers: dict[str, int] = {}
    before: list[str] = []
    for number, line in enumerate(lines, 1):
        if number <= front:
            before.append(line)
        elif line.startswith("## "):
            current = _BlockReader(_checked_name(line[3:], file, number), line)
            blocks.append(current)
        elif _UNREADABLE.fullmatch(line) and not _BULLET.fullmatch(line):
            raise CorruptPlaybook(file, f"line {number}", f"counters that cannot be read: {line!r:.80}")
        elif first := _first_line(line):
            if current is None:
                raise CorruptPlaybook(file, f"line {number}", f"the bullet {first.id!r} before any '## SECTION'")
            if why := id_problem(first.id):
                raise CorruptPlaybook(file, f"line {number}", f"an id that {why}")
            if first.id in line_numbers:
                raise CorruptPlaybook(
                    file, f"line {number}", f"the id {first.id!r}, which line {line_numbers[first.id]} has"
                )
            line_numbers[first.id] = number
            current.bullets.append(_BulletReader(first, line))
        elif current is not None and current.take(line):
            pass
        elif line.strip():
            raise CorruptPlaybook(file, f"line {number}", f"{line!r:.80} belongs to no bullet")
        else:
            before.append(line)
    if before:
        looks["start"] = "".join(f"{line}\n" for line in before)
    return Playbook(
        tuple(_sections(blocks)),
        max(map(id_number, line_numbers), default=0) + 1,
        metadata=_extra(looks),
    )


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


@dataclass
class _BulletReader:
    """A bullet while its lines are being read."""

    first: _FirstLine
    line: str
    further: list[str] = field(default_factory=list[str])
    empty: list[str] = field(default_factory=list[str])
    """Empty lines, which belong to the content when another line follows."""

    def take(self, line: str) -> bool:
        if not line.strip() and not line.startswith(MARGIN):
            self.empty.append(line)
        else:
            self.further += [*self.empty, line]
            self.empty = []
        return True

    def bullet(self, section: str, usually_after: str) -> Bullet:
        first = self.first
        looks: dict[str, Json] = {}
        head = self.line.removesuffix(first.content)
        if head != _usual_head(first.id, first.helpful, first.harmful):
            looks["head"] = head
        marked = {line.startswith(MARGIN) for line in self.further}
        if marked == {False}:
            looks["margin"] = ""
        elif len(marked) > 1:
            looks["further"] = "\n".join(self.further)
        if (after := _ended(self.empty)) != usually_after:
            looks["after"] = after
        content = "\n".join([first.content, *(line.removeprefix(MARGIN) for line in self.further)])
        neutral = first.neutral or 0
        return Bullet(first.id, section, content, (), first.helpful, first.harmful, neutral, extra=_extra(looks))


@dataclass
class _BlockReader:
    """A heading and the bullets below it while they are being read: a section, or a further part of it."""

    name: str
    line: str
    bullets: list[_BulletReader] = field(default_factory=list[_BulletReader])
    empty: list[str] = field(default_factory=list[str])
    """Empty lines between the heading and the first bullet."""

    def take(self, line: str) -> bool:
        """Add a line that begins neither section nor bullet. False where it does not belong to this block."""
        if self.bullets:
            return self.bullets[-1].take(line)
        if line.strip():
            return False
        self.empty.append(line)
        return True

    def section(self, *, last: bool) -> Section:
        """The block as a section. Usually an empty line follows it, unless it is the `last` in the file."""
        end, looks = "" if last else "\n", dict[str, Json]()
        if self.line != heading(self.name):
            looks["heading"] = self.line
        if (after := _ended(self.empty)) != ("" if self.bullets else end):
            looks["after"] = after
        read = [bullet.bullet(self.name, "") for bullet in self.bullets[:-1]]
        read += [bullet.bullet(self.name, end) for bullet in self.bullets[-1:]]
        return Section(self.name, "", tuple(read), _extra(looks))


def _sections(blocks: Sequence[_BlockReader]) -> Iterator[Section]:
    """The sections. A repeated heading and the index of its block are stored in the first bullet below it, or in the
    section where no bullet is below it."""
    repeated = len({block.name for block in blocks}) < len(blocks)
    merged: dict[str, Section] = {}
    for index, block in enumerate(blocks):
        section = block.section(last=index == len(blocks) - 1)
        looks = {**_looks(section.extra), **({"place": str(index)} if repeated else {})}
        earlier = merged.get(block.name)
        if earlier is None:
            merged[block.name] = replace(section, extra=_extra(looks))
        elif section.bullets:
            first, *further = section.bullets
            after = {"heading_after": looks["after"]} if "after" in looks else {}
            first_looks = {**_looks(first.extra), **after, "heading": block.line, "place": str(index)}
            first = replace(first, extra=_extra(first_looks))
            merged[block.name] = replace(earlier, bullets=(*earlier.bullets, first, *further))
        else:
            bare = json.dumps([block.line, index, looks.get("after")])
            section_looks = _looks(earlier.extra)
            section_looks["bare"] = f"{section_looks.get('bare', '')}{bare}\n"
            merged[block.name] = replace(earlier, extra=_extra(section_looks))
    yield from merged.values()


def _extra(looks: Mapping[str, Json]) -> dict[str, Json]:
    return {LOOKS: {**looks}} if looks else {}


@dataclass(frozen=True, slots=True)
class _Item:
    """A heading or a bullet with the empty lines that follow it."""

    text: str
    after: str | None
    """The empty lines as they were read; None for the usual ones."""
    usually: str
    """The empty lines that usually follow."""

    @property
    def following(self) -> str:
        return self.usually if self.after is None else self.after


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading with the bullets below it. A section has one block for each time that its heading was in the text."""

    index: int | None
    """The index of the block in the text; None where no heading was repeated."""
    items: Sequence[_Item]


def _in_order(sections: Iterable[Section]) -> Iterator[_Block]:
    """The blocks of all sections in the order in which they were read; a new one follows the section before it."""
    blocks: list[tuple[int, _Block]] = []
    for block in (block for section in sections for block in _blocks(section)):
        blocks.append((block.index if block.index is not None else blocks[-1][0] if blocks else -1, block))
    yield from (block for _, block in sorted(blocks, key=lambda indexed: indexed[0]))


def _blocks(section: Section) -> Iterator[_Block]:
    looks = _looks(section.extra)
    line = looks.get("heading", "")
    items = [_Item(line if _is_heading(line, section.name) else heading(section.name), looks.get("after"), "")]
    for bullet in section.bullets:
        of_bullet = _looks(bullet.extra)
        if _is_heading(line := of_bullet.get("heading", ""), section.name):
            yield _block(looks, items)
            looks, items = of_bullet, [_Item(line, of_bullet.get("heading_after"), "")]
        items.append(_Item(_bullet_as_read(bullet), of_bullet.get("after"), ""))
    yield _block(looks, items)
    for bare in _looks(section.extra).get("bare", "").splitlines():
        try:
            line, index, after = _BARE_HEADING.validate_json(bare)
        except ValueError:  # the file was changed by hand
            continue
        if _is_heading(line, section.name):
            yield _Block(index, (_Item(line, after, "\n"),))


def _block(looks: Mapping[str, str], items: Sequence[_Item]) -> _Block:
    index = looks.get("place", "")
    last = _Item(items[-1].text, items[-1].after, "\n")
    return _Block(int(index) if index.isdecimal() else None, (*items[:-1], last))


def _is_heading(line: str, name: str) -> bool:
    """Whether a line is read as the heading of the section of this name."""
    return line.startswith("## ") and "\n" not in line and _section_name(line[3:].strip()) == name


def _bullet_as_read(bullet: Bullet) -> str:
    looks = _looks(bullet.extra)
    first, *further = bullet.content.split("\n")
    line = looks.get("head", "") + first
    read = _first_line(line)
    neutral = None if read is None or read.neutral is None else bullet.neutral
    if read != _FirstLine(bullet.id, bullet.helpful, bullet.harmful, first, neutral):
        item = match[0] if (match := re.match(_ITEM, looks.get("head", ""))) else ""
        count = "" if neutral is None else f"neutral={neutral} "
        line = item + _usual_head(bullet.id, bullet.helpful, bullet.harmful).replace(":: ", f"{count}:: ") + first
    written = looks["further"].split("\n") if "further" in looks else further if "margin" in looks else []
    if [item.removeprefix(MARGIN) for item in written] != further or not _is_read_as_one(written):
        written = [MARGIN + text for text in further]
    return "\n".join([line, *written])


def _is_read_as_one(lines: Sequence[str]) -> bool:
    """Whether lines after a bullet's first are all read as its further lines."""
    plain = [line for line in lines if not line.startswith(MARGIN)]
    ended = not lines or lines[-1].startswith(MARGIN) or bool(lines[-1].strip())
    return ended and not any(map(_begins, plain))


def _begins(line: str) -> bool:
    """Whether a line without a margin would not be read as a further line of a content."""
    return line.startswith("## ") or _first_line(line) is not None


def _looks(fields: Mapping[str, Json]) -> dict[str, str]:
    looks = fields.get(LOOKS)
    return {k: v for k, v in looks.items() if isinstance(v, str)} if isinstance(looks, Mapping) else {}


def _ended(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> tuple[list[str], dict[str, Json]]:
    """The lines of a file with line ends of Windows or Unix, and its looks where they are not the usual form."""
    looks: dict[str, Json] = {}
    if text.startswith("\ufeff"):
        text, looks["mark"] = text[1:], "\ufeff"
    if not text.endswith("\n"):
        looks["end"] = ""
    lines = text.removesuffix("\n").split("\n")
    ended = lines if text.endswith("\n") else lines[:-1]
    if ended and all(line.endswith("\r") for line in ended) and "\r" not in "".join(line[:-1] for line in ended):
        looks["line_end"] = "\r\n"
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
