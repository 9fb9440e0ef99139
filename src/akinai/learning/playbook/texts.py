"""Playbooks as texts: ACE's form, and the lists, numbered lists, rules in paragraphs and tagged memories that people
keep. Pure.

    ## STRATEGIES AND HARD RULES                     ACE's form: sections, and one bullet a line
    [shr-00001] helpful=5 harmful=0 :: content
    [shr-00002] content of a bullet without counters

    # Rules                                          a document: each list item, each tagged item
    - Look at the neighbours' prices first.          and each other paragraph is a bullet
    1. [s2] helpful=3 harmful=0 :: Then set yours.
    <memory_item><description>Ask for a quote in writing.</description></memory_item>
    ** Count: 4

What Akinai writes is ACE's form, and can be read back: further lines of a content begin with a margin, "  | ", and a
section name that cannot be restored from the usual heading is a JSON string, `## "Café-Regeln"`. Other texts keep their
looks: the metadata holds what is around the bullets, a bullet its own text, and `dumps_text` writes what has not
changed to the byte. A counter that cannot be read is refused.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from pydantic import TypeAdapter

from akinai.learning.playbook.bullets import Bullet, Playbook, Section, bullet_id, id_number, id_problem, name_problem
from akinai.learning.playbook.errors import CorruptPlaybook
from akinai.learning.playbook.tables import UNNAMED

Form: TypeAlias = Literal["ace_text", "document"]
"""A form of text: the field of the metadata that holds its looks, and the field of a bullet with its own text."""
MARGIN = "  | "
"""The start of the second and further lines of a content in ACE's form."""

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
_MARKER = re.compile(r"[ ]{0,3}(?:[-*+•・‣]|\d{1,4}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*")
_RULE = re.compile(r"[ ]{0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*")
_FENCE = re.compile(r"[ ]*(`{3,}|~{3,})")
_COUNTER = r"(?:helpful|harmful|neutral)[ ]*[=:][ ]*[0-9]{1,9}"
_COUNTERS = rf"{_COUNTER}(?:[ ]*(?:[,;][ ]*)?{_COUNTER})*"
_LEADING = re.compile(rf"\[([^\s\[\]]+)\][ ]*(?:({_COUNTERS})[ ]*)?::[ ]*")
_AHEAD = re.compile(rf"(?:(?:\[[^\s\[\]]+\][ ]*)?{_COUNTERS}[ ]*::[ ]*)*")
_TRAILING = re.compile(rf"(?<! )[ ]*[\[(]({_COUNTERS})[\])][ ]*$")
_ONE_COUNTER = re.compile(r"(helpful|harmful|neutral)[ ]*[=:][ ]*([0-9]{1,9})")
_LIKE_A_COUNTER = re.compile(r"\b(?:helpful|harmful)[ ]*[=:]", re.IGNORECASE)
_TAGGED = re.compile(r"\[([^\[\]\n]{1,40})\](?!\()[ :]+")
_ITEM_OPEN = re.compile(r"[ ]*<(memory_item|memory|item|lesson|rule|bullet)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z_]+(?:\s[^>]*)?>")
_COUNT_LINE = re.compile(r"[ ]*(?:\*\*[ ]*)?Count[ ]*:(?:\*\*)?[ ]*([0-9]{1,9})[ ]*(?:\*\*)?[ ]*", re.IGNORECASE)
_FIELD_LINE = re.compile(r"[ ]*(?:Version|Updated|Date)[ ]*:.{0,80}", re.IGNORECASE)


def dumps_ace(sections: Iterable[Section]) -> str:
    """Sections in ACE's form, which holds ids, the two counters and contents, and nothing else of a playbook."""
    return "\n".join("".join(f"{line}\n" for line in (heading(s.name), *map(bullet_text, s.bullets))) for s in sections)


def heading(name: str) -> str:
    """The line above a section's bullets."""
    usual = name.replace("_", " ").upper()
    return f"## {usual if _section_name(usual) == name else json.dumps(name, ensure_ascii=False)}"


def without_counters(text: str) -> str:
    """A content without the id and counters that ACE's form writes ahead of it: small models write them back."""
    ahead = _AHEAD.match(text)
    return text[ahead.end() :] if ahead else text


def bullet_text(bullet: Bullet) -> str:
    """A bullet in ACE's form, on one or more lines."""
    content = bullet.content.replace("\n", f"\n{MARGIN}")
    return f"[{bullet.id}] helpful={bullet.helpful} harmful={bullet.harmful} :: {content}"


class _Read(NamedTuple):
    """The meaning of a bullet's text."""

    id: str
    """Empty where the text has none."""
    content: str
    counts: Mapping[str, int]
    """The counters that the text has, by name."""
    tags: tuple[str, ...] = ()
    """The tag in brackets before its content."""


@dataclass
class _Piece:
    """A bullet, or a line around the bullets."""

    section: str
    after: str = ""
    """The empty lines below it."""
    text: str = ""
    """In the looks, that of a line alone: a bullet has its own."""
    id: str = ""
    """Of a bullet; empty for a line."""
    number: int = 0
    """The line at which a bullet begins while a text is read, from 1; 0 for a line around the bullets."""


@dataclass
class _Looks:
    """The looks of a text: its pieces in their order, and what is around them."""

    pieces: list[_Piece] = field(default_factory=list[_Piece])
    start: str = ""
    """The text above the first piece."""
    mark: str = ""
    line_end: str = "\n"
    ended: bool = True
    """Whether the last line has an end."""


_ADAPTER = TypeAdapter(_Looks)


def loads_ace(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a text in ACE's form. CorruptPlaybook names a line that is no part of it.

    Lines without a margin after a bullet belong to it, except empty lines at its end. Bullets get no keywords, and
    bullets without counters get counters of 0.
    """
    lines, looks = _lines(text)
    front = _front_end(lines)
    looks.start, pieces = "".join(f"{line}\n" for line in lines[:front]), list[_Piece]()
    for number, line in enumerate(lines[front:], front + 1):
        if line.startswith("## "):
            pieces.append(_Piece(_checked_name(_section_name(line[3:].strip()), file, number), text=line))
        elif _UNREADABLE.fullmatch(line) and not _BULLET.fullmatch(line):
            raise CorruptPlaybook(file, f"line {number}", f"counters that cannot be read: {line!r:.80}")
        elif first := _first_line(line):
            if not pieces:
                raise CorruptPlaybook(file, f"line {number}", f"the bullet {first.id!r} before any '## SECTION'")
            pieces.append(_Piece(pieces[-1].section, text=line, number=number))
        elif not line.strip():
            _leave(line, pieces, looks)
        elif pieces and pieces[-1].number:
            pieces[-1].text += f"\n{pieces[-1].after}{line}"
            pieces[-1].after = ""
        else:
            raise CorruptPlaybook(file, f"line {number}", f"{line!r:.80} belongs to no bullet")
    return _playbook_of(text, pieces, looks, "ace_text", file)


def loads_document(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a text that people keep as one. Every list item, tagged item and other paragraph is a bullet,
    and headings begin sections.

    CorruptPlaybook names the line at fault: front matter or an item without an end, an id that stands twice, a counter
    that cannot be read.
    """
    lines, looks = _lines(text)
    return _playbook_of(text, _Scanner(file, lines, looks).scan(), looks, "document", file)


def _leave(line: str, pieces: Sequence[_Piece], looks: _Looks) -> None:
    """Note an empty line below the last piece, or above the first."""
    if pieces:
        pieces[-1].after += f"{line}\n"
    else:
        looks.start += f"{line}\n"


def _playbook_of(text: str, pieces: Sequence[_Piece], looks: _Looks, form: Form, file: str) -> Playbook:
    reads = {piece.number: _READERS[form](piece.text, file, piece.number) for piece in pieces if piece.number}
    lines: dict[str, int] = {}
    for number, read in reads.items():
        if read.id and (problem := id_problem(read.id)):
            raise CorruptPlaybook(file, f"line {number}", f"an id that {problem}")
        if read.id in lines:
            raise CorruptPlaybook(file, f"line {number}", f"the id {read.id!r}, which line {lines[read.id]} has")
        if read.id:
            lines[read.id] = number
    highest = max(map(id_number, lines), default=0)
    sections: dict[str, list[Bullet]] = {}
    for piece in pieces:
        read, id = reads.get(piece.number), ""
        if read is not None:
            id = read.id
            while not id or (id in lines and not read.id):
                highest += 1
                id = bullet_id(piece.section, highest)
            helpful, harmful, neutral = (read.counts.get(name, 0) for name in ("helpful", "harmful", "neutral"))
            bullet = Bullet(id, piece.section, read.content, read.tags, helpful, harmful, neutral)
            if form == "document" or bullet_text(bullet) != piece.text:
                bullet = replace(bullet, extra={form: piece.text})
            sections.setdefault(piece.section, []).append(bullet)
        elif form == "ace_text":
            sections.setdefault(piece.section, [])
        looks.pieces.append(_Piece(piece.section, piece.after, "" if id else piece.text, id))
    playbook = Playbook(tuple(Section(name, "", tuple(held)) for name, held in sections.items()), highest + 1)
    if dumps_ace(playbook.sections) == text:
        return playbook
    held = _ADAPTER.dump_python(looks, mode="json", exclude={"pieces": {"__all__": {"number"}}})
    return replace(playbook, metadata={form: held})


def dumps_text(playbook: Playbook) -> str:
    """The playbook as the text that it was read from, or in ACE's form.

    Lines and bullets that have not changed since are written as they were read, in their order. Counters are written
    where the bullet had some. New bullets follow the last one of their section, in its form.
    """
    read = _looks_of(playbook)
    if read is None:  # it was not read from a text, or the file was changed by hand
        return dumps_ace(playbook.sections)
    looks, form = read
    fresh = {section.name: {bullet.id: bullet for bullet in section.bullets} for section in playbook.sections}
    items: list[_Piece] = []
    like = "" if form == "ace_text" else "- "
    for piece in looks.pieces:
        bullet = fresh.get(piece.section, {}).pop(piece.id, None) if piece.id else None
        if bullet is not None:
            items.append(replace(piece, text=_written(bullet, form)))
            like = str(bullet.extra.get(form) or like) if form == "document" else like
        elif not piece.id and (form == "document" or piece.section in fresh):
            items.append(piece)
        elif items:  # what was removed leaves the empty lines below it
            items[-1].after = max(items[-1].after, piece.after, key=len)
    for section in playbook.sections:
        bullets = [_Piece(section.name, "", _new_text(like, bullet)) for bullet in fresh[section.name].values()]
        _insert(items, section.name, bullets, gap="\n" if like and not _is_line(like) else "")
    text = looks.start + "".join(f"{item.text}\n{item.after}" for item in items)
    text = text if looks.ended else text.removesuffix("\n")
    return looks.mark + (text if "\r" in text else text.replace("\n", looks.line_end))


def _insert(items: list[_Piece], section: str, bullets: Sequence[_Piece], *, gap: str) -> None:
    """Put new bullets after the last item of their section, with `gap` between them."""
    last = max((index for index, item in enumerate(items) if item.section == section), default=None)
    if last is None:
        if items:
            items[-1].after = items[-1].after or "\n"
        items += [_Piece(section, gap, heading(section)), *bullets]
    elif bullets:
        after, items[last].after = items[last].after, gap
        items[last + 1 : last + 1] = bullets
        bullets[-1].after = after
    for bullet in bullets[:-1]:
        bullet.after = gap


def _looks_of(playbook: Playbook) -> tuple[_Looks, Form] | None:
    for form in _READERS:
        try:
            return _ADAPTER.validate_python(playbook.metadata.get(form)), form
        except ValueError:
            continue
    return None


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


def _first_line(line: str) -> _Read | None:
    """A line read as the first line of a bullet in ACE's form; None where it is not one."""
    if match := _BULLET.fullmatch(line):
        counts = {"helpful": int(match[2]), "harmful": int(match[3])}
        return _Read(match[1], match[5] or "", counts if match[4] is None else {**counts, "neutral": int(match[4])})
    if match := _BARE.fullmatch(line):
        return _Read(match[1], match[2] or "", {"helpful": 0, "harmful": 0})
    return None


def _read_ace(text: str, file: str, number: int) -> _Read:
    first, *further = text.split("\n")
    read = _first_line(first)
    if read is None:
        raise CorruptPlaybook(file, f"line {number}", f"{first!r:.80} begins no bullet")
    return read._replace(content="\n".join([read.content, *(line.removeprefix(MARGIN) for line in further)]))


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
    """The section of ACE's heading: its words in lower case with underscores, or the value of a JSON string."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return "_".join(text.lower().replace("&", " and ").rstrip(":： ").split())


def _checked_name(name: str, file: str, number: int) -> str:
    if why := name_problem(name):
        raise CorruptPlaybook(file, f"line {number}", f"a section whose name {why}")
    return name


@dataclass
class _Scanner:
    """The pieces of a document while they are being read. Together with the start of its looks they are its lines."""

    file: str
    lines: Sequence[str]
    looks: _Looks
    at: int = 0
    section: str = UNNAMED
    pieces: list[_Piece] = field(default_factory=list[_Piece])

    def scan(self) -> list[_Piece]:
        self._front_matter()
        items = any(_ITEM_OPEN.match(line) for line in self.lines)
        while self.at < len(self.lines):
            line = self._text_at(self.at)
            if not line.strip():
                _leave(self.lines[self.at], self.pieces, self.looks)
                self.at += 1
            elif _RULE.fullmatch(line) or (items and _FIELD_LINE.fullmatch(line)):
                self._take(self.at + 1, is_bullet=False)
            elif match := _HEADING.fullmatch(line):
                self._begin(match[1])
            elif _ITEM_OPEN.match(line):
                self._take(self._tagged_end())
            elif items and not _MARKER.match(line) and self._is_alone():
                self._begin(line)
            elif _MARKER.match(line):
                self._take(self._item_end())
            else:
                self._take(self._paragraph_end())
        return self.pieces

    def _front_matter(self) -> None:
        if self.lines[0].strip() == "---":
            end = next((n for n, line in enumerate(self.lines[1:], 2) if line.strip() in ("---", "...")), None)
            if end is None:
                raise CorruptPlaybook(self.file, "line 1", "front matter that '---' does not end")
            self.looks.start = "".join(f"{line}\n" for line in self.lines[:end])
            self.at = end

    def _take(self, end: int, *, is_bullet: bool = True) -> None:
        text, number = "\n".join(self.lines[self.at : end]), self.at + 1 if is_bullet else 0
        self.pieces.append(_Piece(self.section, text=text, number=number))
        self.at = end

    def _begin(self, heading: str) -> None:
        """Begin a section. A name that cannot be one is refused by its line."""
        name = " ".join(heading.strip().strip("*").rstrip(":：").split()) or UNNAMED
        self.section = _checked_name(name, self.file, self.at + 1)
        self._take(self.at + 1, is_bullet=False)

    def _is_alone(self) -> bool:
        """Whether empty lines, or the ends of the text, are around the line."""
        return (
            len(self.lines[self.at].strip()) <= 80
            and not self._text_at(self.at - 1)
            and (not self._text_at(self.at + 1) or bool(_ITEM_OPEN.match(self._text_at(self.at + 1))))
        )

    def _text_at(self, index: int) -> str:
        return self.lines[index].strip("\r") if 0 <= index < len(self.lines) else ""

    def _tagged_end(self) -> int:
        """The end of a tagged item, with the line that counts its uses."""
        match = _ITEM_OPEN.match(self.lines[self.at])
        assert match
        closing = f"</{match[1].lower()}>"
        for end in range(self.at, len(self.lines)):
            if closing in self.lines[end].lower():
                following = next((n for n in range(end + 1, len(self.lines)) if self.lines[n].strip()), None)
                if following is not None and _COUNT_LINE.fullmatch(self._text_at(following)):
                    return following + 1
                return end + 1
        raise CorruptPlaybook(self.file, f"line {self.at + 1}", f"an item that {closing} does not end")

    def _item_end(self) -> int:
        """The end of a list item: further lines are indented, or follow it directly; indented items belong to it."""
        indent = len(self.lines[self.at]) - len(self.lines[self.at].lstrip(" "))

        def is_over(end: int, line: str) -> bool:
            deeper = len(line) - len(line.lstrip(" \t")) > indent
            follows = bool(self._text_at(end - 1).strip())
            return bool(line.strip()) and not deeper and (not follows or self._begins(line))

        return self._end(self.at + 1, is_over)

    def _paragraph_end(self) -> int:
        """The end of a paragraph, with the code below it. Where lines begin with a tag in brackets, each of them is a
        paragraph."""
        tagged = bool(_TAGGED.match(self.lines[self.at]))

        def is_over(end: int, line: str) -> bool:
            if not line.strip():
                return not _FENCE.match(next((other for other in self.lines[end:] if other.strip()), ""))
            return end > self.at and (self._begins(line) or (tagged and bool(_TAGGED.match(line))))

        return self._end(self.at, is_over)

    def _end(self, start: int, is_over: Callable[[int, str], bool]) -> int:
        """The line from `start` on at which a bullet is over, outside of fences, without the empty lines before it."""
        end, fence = start, ""
        while end < len(self.lines):
            line = self._text_at(end)
            if mark := _FENCE.match(line):
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            elif not fence and is_over(end, line):
                break
            end += 1
        while end > self.at + 1 and not self._text_at(end - 1).strip():
            end -= 1
        return end

    def _begins(self, line: str) -> bool:
        return bool(_MARKER.match(line) or _HEADING.fullmatch(line) or _ITEM_OPEN.match(line) or _RULE.fullmatch(line))


def _read_part(text: str, file: str, line: int) -> _Read:
    """The id, the content and the counters of a document's bullet."""
    if _ITEM_OPEN.match(text):
        return _read_tagged(text)
    text = text.removesuffix("\r")
    marker = _MARKER.match(text)
    body = text[marker.end() :] if marker else text
    id, counts = "", dict[str, int]()
    if leading := _LEADING.match(body):
        id, counts, body = leading[1], _counts(leading[2] or ""), body[leading.end() :]
    tags: tuple[str, ...] = ()
    if not id and not marker and (tag := _TAGGED.match(body)):
        tags, body = (tag[1].strip(),), body[tag.end() :]
    if not id and (trailing := _TRAILING.search(body)):
        counts, body = _counts(trailing[1]), body[: trailing.start()]
    if _LIKE_A_COUNTER.search(body.split("\n")[0]):
        raise CorruptPlaybook(
            file, f"line {line}", "counters that cannot be read; write '[id] helpful=3 harmful=0 :: text'"
        )
    return _Read(id, _dedented(body), counts, tags)


_READERS: Mapping[Form, Callable[[str, str, int], _Read]] = {"ace_text": _read_ace, "document": _read_part}
"""The reader of a bullet's text: its meaning, or CorruptPlaybook with the file and the line."""


def _read_tagged(text: str) -> _Read:
    """A tagged item: its text without the tags; the count of its uses is that of tasks that it helped."""
    lines = text.splitlines()
    counted = _COUNT_LINE.fullmatch(lines[-1])
    inner = "\n".join(lines[:-1] if counted else lines)
    content = "\n".join(line.strip() for line in _TAG.sub("\n", inner).splitlines() if line.strip())
    return _Read("", content, {"helpful": int(counted[1])} if counted else {})


def _counts(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in _ONE_COUNTER.findall(text)}


def _dedented(body: str) -> str:
    """The text of an item with the indentation of its further lines taken off."""
    first, *further = body.split("\n")
    margins = [len(line) - len(line.lstrip(" ")) for line in further if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([first.rstrip(), *(line[margin:].rstrip() for line in further)]).strip("\n")


def _written(bullet: Bullet, form: Form) -> str:
    """A bullet as it was read, with its content and its counters of now."""
    text = bullet.extra.get(form)
    try:
        read = _READERS[form](text, "", 0) if isinstance(text, str) else None
    except CorruptPlaybook:
        read = None
    if read is None or not isinstance(text, str):
        return bullet_text(bullet) if form == "ace_text" else _new_text("- ", bullet)
    counts = {name: getattr(bullet, name) for name in read.counts}
    if read.content == bullet.content and counts == read.counts and read.id in ("", bullet.id):
        return text
    if form == "ace_text":
        numbers = " ".join(f"{name}={count}" for name, count in counts.items())
        sign = match[0] if (match := re.match(_ITEM, text)) else ""
        return f"{sign}[{bullet.id}] {numbers} :: " + bullet.content.replace("\n", f"\n{MARGIN}")
    return _in_form(text, bullet, _marker_of(text), tuple(counts))


def _in_form(like: str, bullet: Bullet, marker: str, names: Sequence[str]) -> str:
    """A bullet in the form of a document's text, behind a marker, with its counters of these names."""
    if match := _ITEM_OPEN.match(like):
        count = f"\n** Count: {bullet.helpful}" if names else ""
        return f"{match[0]}\n<description>\n{bullet.content}\n</description>\n</{match[1]}>{count}"
    numbers = " ".join(f"{name}={getattr(bullet, name)}" for name in names)
    head, tail = marker, ""
    if _LEADING.match(like[len(_marker_of(like)) :]):
        head += f"[{bullet.id}] {numbers}{' ' if numbers else ''}:: "
    elif names:
        tail = f" ({numbers})"
    return head + bullet.content.replace("\n", "\n" + " " * len(marker)) + tail


def _marker_of(text: str) -> str:
    """The sign of a list's item, or the tag of a paragraph, before a bullet's content; empty for none."""
    marker = _MARKER.match(text) or (None if _LEADING.match(text) else _TAGGED.match(text))
    return marker[0] if marker else ""


def _is_line(like: str) -> bool:
    """Whether a bullet in the form of this text needs no empty line around it."""
    return not _ITEM_OPEN.match(like) and bool(_marker_of(like) or _LEADING.match(like))


def _new_text(like: str, bullet: Bullet) -> str:
    """A new bullet in the form of another one's text; in ACE's form where that is empty."""
    if not like:
        return bullet_text(bullet)
    marker = _marker_of(like)
    names = ("helpful", "harmful") if _LEADING.match(like[len(marker) :]) else ()
    return _in_form(like, bullet, re.sub(r"^\d+", lambda number: str(int(number[0]) + 1), marker), names)
