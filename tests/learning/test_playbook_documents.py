"""The playbooks that people keep as texts and lists: each form is read or refused, and goes out as it came in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.learning import Bullet, CorruptPlaybook, Playbook, export_playbook, import_playbook
from akinai.learning.playbook.formats import dumps, loads
from akinai.learning.playbook.texts import dumps_text, loads_document

LIST_WITH_COUNTERS = """- [s1] helpful=3 harmful=0 :: Read the supplier's letter before you order.
- [s2] helpful=0 harmful=2 :: Never raise a price twice in a week.
"""
LIST_UNDER_HEADINGS = """## STRATEGIES
* [str-00001] helpful=1 harmful=0 :: Order on Monday.

## PITFALLS
* [pit-00004] helpful=0 harmful=0 :: Snacks melt in July.
"""
COMMAS = """## Hard rules
[hr-00001] helpful=5, harmful=1 neutral=2 :: Check the expiry date.
[hr-00002] helpful=0, harmful=0, neutral=0 :: Pay the fee first.
"""
COMMAS_WITHOUT_A_HEADING = """[a1] helpful=5, harmful=1 neutral=2 :: Check the expiry date.
[a2] helpful=2; harmful=0 :: Pay the fee first.
"""
TITLED = """# Playbook of the north depot
# version 3

## RULES
[r-1] helpful=1 harmful=0 :: Stock water.
"""
TITLED_LIST = """# What we learned

## Prices
- Two dollars is too much for cola.
- Undercut the kiosk.

## Stock

- Keep ten days of water.
"""
FRONT_MATTER = """---
name: depot
tags: [vending, prices]
---

## RULES
[r-1] helpful=1 harmful=0 :: Stock water.
"""
FRONT_MATTER_RULES = """---
description: Rules for the pricing agent
globs: "**/*.py"
alwaysApply: true
---

- Quote prices in cents.
- Say the currency.
"""
CHEATSHEET = """Version: 1.2

SOLUTIONS, IMPLEMENTATION PATTERNS, AND CODE SNIPPETS
<memory_item>
<description>
Solve the game of 24 by trying all pairs. (Reference: Q1, Q7)
</description>
<example>
(8 / 4) * (9 + 3)
</example>
</memory_item>
** Count: 3

GENERAL META-REASONING STRATEGIES
<memory_item>
<description>Restate the question first.</description>
</memory_item>
** Count: 11
"""
CHEATSHEET_MARKDOWN = """## Strategies

<memory_item><description>Ask for quotes by mail.</description></memory_item>

## Mistakes

<memory_item>
<description>
Ordering on credit.
</description>
</memory_item>
Count: 2
"""
NUMBERED = """1. Look at the weather.
2. Order what sold.
   Not what you like.
3. Pay.
"""
NUMBERED_PARENTHESES = """Morning
1) Collect cash.

Evening
1) Refill.
2) Count.
"""
TAGGED = """[preference] The user wants prices in yen.
[fact] The kiosk closes at six.
[preference] Short answers.
"""
TAGGED_ITEMS = """<memory>Water sells out on Fridays.</memory>
<memory>The truck is late on Mondays.</memory>
"""
RULE_FILE = """You are an expert in vending machines.

Always write prices in cents, and never as floats:

```python
price = 150

cost = 90
```

When a test fails, read its message first.
"""
RULE_FILE_LISTS = """# Project guidelines

Keep functions short.

## Style
- Name units in names
  - `fee_cents`, not `fee`
- No globals

Run the tests before you commit.
"""

FORMS = {
    "list with counters": (LIST_WITH_COUNTERS, 2), "list under headings": (LIST_UNDER_HEADINGS, 2),
    "commas": (COMMAS, 2), "commas without a heading": (COMMAS_WITHOUT_A_HEADING, 2),
    "title lines": (TITLED, 1), "titled list": (TITLED_LIST, 3),
    "front matter": (FRONT_MATTER, 1), "front matter of rules": (FRONT_MATTER_RULES, 2),
    "cheatsheet": (CHEATSHEET, 2), "cheatsheet in Markdown": (CHEATSHEET_MARKDOWN, 2),
    "numbered": (NUMBERED, 3), "numbered with parentheses": (NUMBERED_PARENTHESES, 5),
    "tagged": (TAGGED, 3), "tagged items": (TAGGED_ITEMS, 2),
    "rule file": (RULE_FILE, 3), "rule file with lists": (RULE_FILE_LISTS, 4),
}  # fmt: skip


def read(text: str, folder: Path, name: str = "p.md") -> Playbook:
    (folder / name).write_text(text, encoding="utf-8")
    return import_playbook(folder / name)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_people_write_is_read_and_goes_out_as_it_came(form: str, line_end: str, tmp_path: Path) -> None:
    """Every bullet is one, none holds a counter in its text, and an export is the file to the byte, also after JSON."""
    text, count = FORMS[form]
    data = text.replace("\n", line_end).encode()
    (tmp_path / "p.md").write_bytes(data)
    playbook = import_playbook(tmp_path / "p.md")
    assert len(playbook) == count
    assert not any("helpful=" in bullet.content or "memory" in bullet.content for bullet in playbook)
    export_playbook(loads(dumps(playbook)), tmp_path / "out.md")
    assert (tmp_path / "out.md").read_bytes() == data


def test_counters_and_ids_are_those_of_the_text(tmp_path: Path) -> None:
    """In lists, with commas, with a neutral counter, at the end of an item, and as a cheatsheet's count."""
    assert [(b.id, b.helpful, b.harmful) for b in read(LIST_WITH_COUNTERS, tmp_path)] == [("s1", 3, 0), ("s2", 0, 2)]
    for text in (COMMAS, COMMAS_WITHOUT_A_HEADING):
        first = next(iter(read(text, tmp_path)))
        assert (first.helpful, first.harmful, first.neutral, first.content) == (5, 1, 2, "Check the expiry date.")
    assert [b.helpful for b in read(CHEATSHEET, tmp_path)] == [3, 11]
    end = next(iter(read("- Look twice. (helpful: 4, harmful: 1)\n", tmp_path)))
    assert (end.content, end.helpful, end.harmful) == ("Look twice.", 4, 1)


def test_sections_and_contents_are_those_of_the_text(tmp_path: Path) -> None:
    """Headings name sections, indented items and code belong to their bullet, tags go."""
    assert read(TITLED_LIST, tmp_path).section_names == ("Prices", "Stock")
    assert read(CHEATSHEET, tmp_path).section_names == (
        "SOLUTIONS, IMPLEMENTATION PATTERNS, AND CODE SNIPPETS", "GENERAL META-REASONING STRATEGIES",
    )  # fmt: skip
    contents = [bullet.content for bullet in read(RULE_FILE_LISTS, tmp_path)]
    assert contents[1] == "Name units in names\n- `fee_cents`, not `fee`"
    code = "```python\nprice = 150\n\ncost = 90\n```"
    assert [*read(RULE_FILE, tmp_path)][1].content == f"Always write prices in cents, and never as floats:\n\n{code}"
    assert "(8 / 4) * (9 + 3)" in next(iter(read(CHEATSHEET, tmp_path))).content


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("- [s1] helpful=x harmful=0 :: text\n", "line 1"),
        ("## A\n[a-1] helpful=1 harmful=0 :: fine\n- [a-2] helpful=one harmful=0 :: not\n", "line 3"),
        ("- [s1] helpful=1 harmful=0 :: a\n- [s1] helpful=1 harmful=0 :: b\n", "line 2"),
        ("- ok\n- helpful: many, says who\n", "line 2"),
        ("---\nname: x\n- a\n", "line 1"),
        ("<memory_item>\nnever ends\n", "line 1"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_line(text: str, location: str, tmp_path: Path) -> None:
    """A counter that is no number, an id that stands twice, and what has no end: nothing goes into a bullet's text."""
    with pytest.raises(CorruptPlaybook) as caught:
        read(text, tmp_path)
    assert caught.value.location == location


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("commas", "title lines", "front matter")])
def test_a_changed_bullet_is_written_in_its_form(form: str, tmp_path: Path) -> None:
    """A new text and new counters come back when the export is read; the others stay; a new bullet is one more."""
    text, count = FORMS[form]
    playbook = read(text, tmp_path)
    first = next(iter(playbook))
    changed = replace(first, content="Another text.", helpful=first.helpful + (1 if first.uses else 0))
    added = Bullet("new-00099", first.section, "One more.")
    export_playbook(playbook.with_bullets({first.id: changed, added.id: added}), tmp_path / "out.md")
    back = import_playbook(tmp_path / "out.md")
    assert len(back) == count + 1, (tmp_path / "out.md").read_text()
    contents = [bullet.content for bullet in back]
    assert contents.count("One more.") == 1
    assert next(iter(back)).content == "Another text."
    assert next(iter(back)).helpful == changed.helpful
    assert set(contents) - {"One more.", "Another text."} == {b.content for b in playbook} - {first.content}


LISTS = [
    ["Look twice.", "Order on Monday."],
    [{"content": "Look twice.", "helpful": 2, "source": "run 7"}, {"content": "Order.", "helpful": 0}],
    [{"id": "m1", "text": "Look twice.", "category": "stock"}, {"id": "m2", "text": "Order.", "category": "prices"}],
]


@pytest.mark.parametrize("items", LISTS)
def test_flat_lists_in_json_go_out_as_they_came(items: list[object], tmp_path: Path) -> None:
    """Texts, or objects with a text; their further fields stay, and a change is in its field."""
    playbook = read(json.dumps(items), tmp_path, "p.json")
    assert next(iter(playbook)).content == "Look twice."
    export_playbook(loads(dumps(playbook)), tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == items
    first = next(iter(playbook))
    changed = playbook.with_bullets({first.id: replace(first, content="Look once.")})
    export_playbook(changed, tmp_path / "out.json")
    assert "Look once." in (tmp_path / "out.json").read_text()
    assert len(read((tmp_path / "out.json").read_text(), tmp_path, "again.json")) == len(items)


@pytest.mark.parametrize("items", [["fine", 7], [{"content": "fine"}, {"note": "no text"}], [["nested"]]])
def test_an_item_without_a_text_is_refused(items: list[object], tmp_path: Path) -> None:
    """By its place in the list."""
    with pytest.raises(CorruptPlaybook, match=r"\[\d\]"):
        read(json.dumps(items), tmp_path, "p.json")


def test_rule_files_are_read_by_their_names(tmp_path: Path) -> None:
    """`.cursorrules` and `rules.mdc` are texts."""
    assert len(read(RULE_FILE, tmp_path, ".cursorrules")) == 3
    assert len(read(FRONT_MATTER_RULES, tmp_path, "rules.mdc")) == 2


PIECES = st.sampled_from(
    ["- item", "* other", "1. first", "12) twelfth", "  - deeper", "text", "# Title", "## A", "", "  ", "---", "```",
     "<memory_item>x</memory_item>", "** Count: 2", "[tag] remembered", "- [s1] helpful=1 harmful=0 :: y", "\t", "• dot"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]))
def test_any_text_goes_out_to_the_byte(lines: list[str], line_end: str, end: str) -> None:
    """Whatever stands where, the parts are the text, and every line with letters is in a bullet or around one."""
    text = line_end.join(lines) + end
    try:
        playbook = loads_document(text)
    except CorruptPlaybook:
        return
    assert dumps_text(playbook) == text
    assert dumps_text(loads(dumps(playbook))) == text
