"""Texts that people keep as playbooks: lists, numbered lists, paragraphs of rules, tagged memory items. Pure.

    ---
    description: house rules
    ---
    # Rules
    ## Prices
    - Look at the neighbours' prices first.
    1. [s2] helpful=3 harmful=0 :: Then set yours.
    <memory_item><description>Ask for a quote in writing.</description></memory_item>
    ** Count: 4

Each list item, each tagged item and each other paragraph is a bullet; headings begin sections. Front matter, titles and
headings are kept in the playbook's metadata, and a bullet keeps its text as it was read, so that `dumps_document`
writes what has not changed to the byte. A counter that cannot be read is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from akinai.core.canonical import Json
from akinai.learning.playbook.bullets import Bullet, Playbook, Section, bullet_id, id_number, id_problem, name_problem
from akinai.learning.playbook.errors import CorruptPlaybook

DOCUMENT = "document"
"""The field of the metadata that holds the text around the bullets, and that of a bullet that holds its own text."""
UNNAMED = "general"
"""The section of bullets above any heading."""

_MARKER = re.compile(r"[ ]{0,3}(?:[-*+•・‣]|\d{1,4}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*")
_RULE = re.compile(r"[ ]{0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*")
_FENCE = re.compile(r"[ ]*(`{3,}|~{3,})")
_COUNTER = r"(?:helpful|harmful|neutral)[ ]*[=:][ ]*[0-9]{1,9}"
_COUNTERS = rf"{_COUNTER}(?:[ ]*[,;]?[ ]*{_COUNTER})*"
_LEADING = re.compile(rf"\[([^\s\[\]]+)\][ ]*(?:({_COUNTERS})[ ]*)?::[ ]*")
_TRAILING = re.compile(rf"[ ]*[\[(]({_COUNTERS})[\])][ ]*$")
_ONE_COUNTER = re.compile(r"(helpful|harmful|neutral)[ ]*[=:][ ]*([0-9]{1,9})")
_LIKE_A_COUNTER = re.compile(r"\b(?:helpful|harmful)[ ]*[=:]", re.IGNORECASE)
_TAGGED = re.compile(r"\[([^\[\]\n]{1,40})\](?!\()[ :]+")
_ITEM_OPEN = re.compile(r"[ ]*<(memory_item|memory|item|lesson|rule|bullet)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z_]+(?:\s[^>]*)?>")
_COUNT_LINE = re.compile(r"[ ]*(?:\*\*[ ]*)?Count[ ]*:(?:\*\*)?[ ]*([0-9]{1,9})[ ]*(?:\*\*)?[ ]*", re.IGNORECASE)
_FIELD_LINE = re.compile(r"[ ]*(?:Version|Updated|Date)[ ]*:.{0,80}", re.IGNORECASE)


class _Read(NamedTuple):
    """The meaning of a bullet's text."""

    id: str
    content: str
    counts: Mapping[str, int]
    tags: tuple[str, ...] = ()
    """The tag in brackets before its content."""


@dataclass
class _Part:
    """A piece of the text: a bullet, or what is around the bullets."""

    text: str
    is_bullet: bool = False
    section: str = ""
    number: int = 0
    """The line at which it begins, from 1."""


@dataclass
class _Scanner:
    """The parts of a text while they are being read. Together they are the text."""

    file: str
    lines: Sequence[str]
    """Each with its line end."""
    at: int = 0
    section: str = UNNAMED
    parts: list[_Part] = field(default_factory=list[_Part])

    def scan(self) -> list[_Part]:
        self._front_matter()
        items = any(_ITEM_OPEN.match(line) for line in self.lines)
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip("\r\n")
            if not line.strip() or _RULE.fullmatch(line) or (items and _FIELD_LINE.fullmatch(line)):
                self._around(1)
            elif match := _HEADING.fullmatch(line):
                self._begin(match[1])
            elif _ITEM_OPEN.match(line):
                self._bullet(self._tagged_end())
            elif items and not _MARKER.match(line) and self._is_alone():
                self._begin(line)
            elif _MARKER.match(line):
                self._bullet(self._item_end())
            else:
                self._bullet(self._paragraph_end())
        return self.parts

    def _front_matter(self) -> None:
        if self.lines and self.lines[0].strip() == "---":
            end = next((n for n, line in enumerate(self.lines[1:], 2) if line.strip() in ("---", "...")), None)
            if end is None:
                raise CorruptPlaybook(self.file, "line 1", "front matter that '---' does not end")
            self._around(end)

    def _around(self, count: int) -> None:
        text = "".join(self.lines[self.at : self.at + count])
        self.parts.append(_Part(text, section=self.section, number=self.at + 1))
        self.at += count

    def _begin(self, heading: str) -> None:
        """Begin a section. A name that cannot be one is refused by its line."""
        name = " ".join(heading.strip().strip("*").rstrip(":：").split()) or UNNAMED
        if why := name_problem(name):
            raise CorruptPlaybook(self.file, f"line {self.at + 1}", f"a heading whose name {why}")
        self.section = name
        self._around(1)

    def _bullet(self, end: int) -> None:
        """The lines up to `end` as a bullet; its last line end belongs to what is around it."""
        text = "".join(self.lines[self.at : end])
        body = text.rstrip("\r\n")
        self.parts.append(_Part(body, True, self.section, self.at + 1))
        if len(text) > len(body):
            self.parts.append(_Part(text[len(body) :], section=self.section, number=end))
        self.at = end

    def _is_alone(self) -> bool:
        """Whether empty lines, or the ends of the text, are around the line."""
        return (
            len(self.lines[self.at].strip()) <= 80
            and not self._text_at(self.at - 1)
            and (not self._text_at(self.at + 1) or bool(_ITEM_OPEN.match(self._text_at(self.at + 1))))
        )

    def _text_at(self, index: int) -> str:
        return self.lines[index].strip("\r\n") if 0 <= index < len(self.lines) else ""

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
        end, indent = self.at + 1, len(self.lines[self.at]) - len(self.lines[self.at].lstrip(" "))
        fence = ""
        while end < len(self.lines):
            line = self._text_at(end)
            if mark := _FENCE.match(line):
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            elif not fence and line.strip():
                deeper = len(line) - len(line.lstrip(" \t")) > indent
                follows = bool(self._text_at(end - 1).strip())
                if not deeper and (not follows or self._begins(line)):
                    break
            end += 1
        return self._without_empty_lines(end)

    def _paragraph_end(self) -> int:
        """The end of a paragraph, with the code below it. Where lines begin with a tag in brackets, each of them is a
        paragraph."""
        end, fence = self.at, ""
        tagged = bool(_TAGGED.match(self.lines[self.at]))
        while end < len(self.lines):
            line = self._text_at(end)
            if mark := _FENCE.match(line):
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            elif not fence and end > self.at:
                following = next((other for other in self.lines[end:] if other.strip()), "")
                is_over = not line.strip() and not _FENCE.match(following)
                if is_over or self._begins(line) or (tagged and _TAGGED.match(line)):
                    break
            end += 1
        return self._without_empty_lines(end)

    def _begins(self, line: str) -> bool:
        return bool(_MARKER.match(line) or _HEADING.fullmatch(line) or _ITEM_OPEN.match(line) or _RULE.fullmatch(line))

    def _without_empty_lines(self, end: int) -> int:
        while end > self.at + 1 and not self._text_at(end - 1).strip():
            end -= 1
        return end


def loads_document(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a text that people keep as one. Every list item, tagged item and other paragraph is a bullet.

    CorruptPlaybook names the line at fault: front matter or an item without an end, an id that stands twice, a counter
    that cannot be read.
    """
    parts = _Scanner(file, text.splitlines(keepends=True)).scan()
    reads = [(part, _read(part.text, file, part.number)) for part in parts if part.is_bullet]
    lines: dict[str, int] = {}
    for part, read in reads:
        if read.id in lines:
            raise CorruptPlaybook(file, f"line {part.number}", f"the id {read.id!r}, which line {lines[read.id]} has")
        if read.id:
            lines[read.id] = part.number
    number = max(map(id_number, lines), default=0)
    sections: dict[str, list[Bullet]] = {}
    skeleton: list[Json] = []
    contents = iter(reads)
    for part in parts:
        if not part.is_bullet:
            skeleton.append(part.text)
            continue
        _, read = next(contents)
        id = read.id
        while not id or (id in lines and not read.id):
            number += 1
            id = bullet_id(part.section, number)
        counts = [read.counts.get(name, 0) for name in ("helpful", "harmful", "neutral")]
        extra: dict[str, Json] = {DOCUMENT: part.text}
        bullet = Bullet(id, part.section, read.content, read.tags, counts[0], counts[1], counts[2], extra=extra)
        sections.setdefault(part.section, []).append(bullet)
        skeleton.append({"id": id, "section": part.section})
    made = tuple(Section(name, "", tuple(bullets)) for name, bullets in sections.items())
    return Playbook(made, number + 1, metadata={DOCUMENT: skeleton} if skeleton else {})


def dumps_document(playbook: Playbook) -> str | None:
    """The playbook as the text that it was read from; None for one that was not.

    Bullets that have not changed are written as they were read. Counters are written where the bullet had some. New
    bullets follow the last one of their section, in its form.
    """
    skeleton = playbook.metadata.get(DOCUMENT)
    if not isinstance(skeleton, list | tuple):
        return None
    parts = [part for part in cast("Sequence[Json]", skeleton) if isinstance(part, str | Mapping)]
    placed = {str(part["id"]) for part in parts if isinstance(part, Mapping)}
    fresh = {section.name: [b for b in section.bullets if b.id not in placed] for section in playbook.sections}
    last = {str(part["section"]): number for number, part in enumerate(parts) if isinstance(part, Mapping)}
    texts: list[str] = []
    form = "- "
    for number, part in enumerate(parts):
        if isinstance(part, str):
            texts.append(part)
            continue
        bullet = playbook.by_id.get(str(part["id"]))
        if bullet is not None:
            texts.append(_written(bullet))
            form = str(bullet.extra.get(DOCUMENT) or form)
        if last[str(part["section"])] == number:
            texts += [_new_text(form, added) for added in fresh.pop(str(part["section"]), ())]
    text = "".join(texts)
    for name, bullets in fresh.items():
        if bullets:
            text += ("" if text.endswith("\n") else "\n") + f"\n## {name}\n"
            text += "".join(f"{_new_text(form, bullet).lstrip()}\n" for bullet in bullets)
    return text


def _read(text: str, file: str, line: int) -> _Read:
    """The id, the content and the counters of a bullet's text."""
    if _ITEM_OPEN.match(text):
        return _read_tagged(text)
    marker = _MARKER.match(text)
    body = text[marker.end() :] if marker else text
    id, counts = "", dict[str, int]()
    if leading := _LEADING.match(body):
        id, counts, body = leading[1], _counts(leading[2] or ""), body[leading.end() :]
        if why := id_problem(id):
            raise CorruptPlaybook(file, f"line {line}", f"an id that {why}")
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
    first, *further = body.splitlines() or [""]
    margins = [len(line) - len(line.lstrip(" ")) for line in further if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([first.rstrip(), *(line[margin:].rstrip() for line in further)]).strip("\n")


def _written(bullet: Bullet) -> str:
    """A bullet as it was read, with its content and its counters of now."""
    text = str(bullet.extra.get(DOCUMENT) or "")
    if not text:
        return _new_text("- ", bullet).lstrip("\n")
    read = _read(text, "", 0)
    same_counts = all(getattr(bullet, name) == count for name, count in read.counts.items())
    if read.content == bullet.content and same_counts:
        return text
    if _ITEM_OPEN.match(text):
        return _tagged_text(text, bullet, counted=bool(read.counts))
    marker = _marker_of(text)
    head, body = marker, text[len(marker) :]
    numbers = " ".join(f"{name}={getattr(bullet, name)}" for name in read.counts)
    tail = ""
    if _LEADING.match(body):
        head += f"[{bullet.id}] {numbers}{' ' if numbers else ''}:: "
    elif read.counts:
        tail = f" ({numbers})"
    return head + _indented(bullet.content, marker) + tail


def _marker_of(text: str) -> str:
    """The sign of a list's item, or the tag of a paragraph, before a bullet's content; empty for none."""
    marker = _MARKER.match(text) or (None if _LEADING.match(text) else _TAGGED.match(text))
    return marker[0] if marker else ""


def _indented(content: str, marker: str) -> str:
    return content.replace("\n", "\n" + " " * len(marker))


def _tagged_text(text: str, bullet: Bullet, *, counted: bool) -> str:
    match = _ITEM_OPEN.match(text)
    assert match
    count = f"\n** Count: {bullet.helpful}" if counted else ""
    return f"{match[0]}\n<description>\n{bullet.content}\n</description>\n</{match[1]}>{count}"


def _new_text(form: str, bullet: Bullet) -> str:
    """A new bullet in the form of another one's text, on a line of its own."""
    if _ITEM_OPEN.match(form):
        return f"\n\n{_tagged_text(form, bullet, counted=False)}"
    marker = _marker_of(form)
    if not marker and not _LEADING.match(form):
        return f"\n\n{bullet.content}"
    sign = re.sub(r"^\d+", lambda number: str(int(number[0]) + 1), marker)
    leading = _LEADING.match(form[len(marker) :])
    ahead = f"[{bullet.id}] helpful={bullet.helpful} harmful={bullet.harmful} :: " if leading else ""
    return f"\n{sign}{ahead}{_indented(bullet.content, sign)}"
