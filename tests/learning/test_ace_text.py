"""Laws of ACE's text form: whatever a playbook holds comes back, and what ACE itself writes is read."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playbooks_for_tests import NASTY, contents, names, playbooks

from akinai.core.errors import UsageError
from akinai.learning import (
    Bullet,
    CorruptPlaybook,
    Delta,
    Operation,
    Playbook,
    Section,
    apply_delta,
    dedup,
    dumps_ace,
    export_playbook,
    import_playbook,
    loads_ace,
)
from akinai.learning.playbook.texts import dumps_text
from together import together

DATA = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")) / "playbooks"
RELEASED = """## STRATEGIES AND HARD RULES
[shr-00001] Always look at the API's specification first.

[shr-00007] Many APIs return "pages":
while page := next_page():
    [i for i in page]

## APIs TO USE FOR SPECIFIC INFORMATION
[api-00004] helpful=2 harmful=0 :: Use the "phone" app for friends.


## TROUBLESHOOTING AND PITFALLS:

## OTHERS
[misc-00003]  Access tokens expire."""
"""The shapes of released playbooks: no counters, colons and mixed case, empty lines anywhere, no line end at the end."""

ACES_OWN = """
## STRATEGIES & HARD RULES
[shr-00001] helpful=5 harmful=0 :: Always log in first.
[shr-00002] helpful=0 harmful=2 :: Page through results:
while True:
    page = next_page()

    if not page: break

## API-USAGE
[api-00007] helpful=1 harmful=1 ::  two spaces

## OTHERS

"""


@given(playbooks())
def test_ids_counters_and_contents_come_back(playbook: Playbook) -> None:
    """Sections, ids, both counters and contents are equal after writing and reading, in their order."""
    back = loads_ace(dumps_ace(playbook.sections))
    assert [s.name for s in back.sections] == [s.name for s in playbook.sections]
    assert [(b.id, b.section, b.content, b.helpful, b.harmful) for b in back] == [
        (b.id, b.section, b.content, b.helpful, b.harmful) for b in playbook
    ]


@given(names, contents, contents)
def test_any_content_comes_back_between_others(name: str, first: str, second: str) -> None:
    """Content that looks like a heading, a bullet, a margin or an empty line stays the content of its own bullet."""
    section = Section(name, "", (Bullet("a-1", name, first), Bullet("b-2", name, second)))
    assert [b.content for b in loads_ace(dumps_ace([section, Section("next")]))] == [first, second]


@together("content", NASTY)
def test_what_the_checks_name_comes_back(content: str) -> None:
    """Newlines, quotes, braces, `::`, `]`, `## `, emoji and 10,000 characters."""
    section = Section("rules", "", (Bullet("r-1", "rules", content), Bullet("r-2", "rules", content)))
    assert [bullet.content for bullet in loads_ace(dumps_ace([section]))] == [content, content]


def test_the_form_is_aces() -> None:
    """A heading in capitals and a bullet a line, as ACE prints them."""
    bullet = Bullet("shr-00001", "strategies_and_hard_rules", "content", (), 5, 0)
    text = dumps_ace([Section("strategies_and_hard_rules", "", (bullet,))])
    assert text == "## STRATEGIES AND HARD RULES\n[shr-00001] helpful=5 harmful=0 :: content\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_aces_own_files_are_read(line_end: str) -> None:
    """Its headings become names, code below a bullet belongs to it, and empty lines between bullets do not."""
    playbook = loads_ace(ACES_OWN.replace("\n", line_end))
    assert [s.name for s in playbook.sections] == ["strategies_and_hard_rules", "api-usage", "others"]
    assert [b.content for b in playbook] == [
        "Always log in first.",
        "Page through results:\nwhile True:\n    page = next_page()\n\n    if not page: break",
        " two spaces",
    ]
    assert [(b.id, b.helpful, b.harmful) for b in playbook][1:] == [("shr-00002", 0, 2), ("api-00007", 1, 1)]
    assert playbook.next_id == 8


@together(
    ("text", "location"),
    [
        ("Title\n", "line 1"),
        ("## A\n# late title\n", "line 2"),
        ("## A\nsomething\n", "line 2"),
        ("[a-1] helpful=0 harmful=0 :: x\n", "line 1"),
        ("## A\n[a-1] helpful=0 harmful=0 :: x\n\n## B\n[a-1] helpful=0 harmful=0 :: y\n", "line 5"),
        ("## \n", "line 1"),
    ],
)
def test_a_line_without_a_place_is_named(text: str, location: str) -> None:
    """Nothing is dropped in silence: a line that belongs to no bullet, or an id that stands twice, is refused."""
    with pytest.raises(CorruptPlaybook) as caught:
        loads_ace(text)
    assert caught.value.location == location


def test_released_playbooks_are_read() -> None:
    """Bullets without counters have counted nothing; headings with colons and in mixed case become names."""
    playbook = loads_ace(RELEASED)
    assert playbook.section_names == (
        "strategies_and_hard_rules",
        "apis_to_use_for_specific_information",
        "troubleshooting_and_pitfalls",
        "others",
    )
    assert [(b.id, b.uses) for b in playbook] == [
        ("shr-00001", 0),
        ("shr-00007", 0),
        ("api-00004", 2),
        ("misc-00003", 0),
    ]
    assert playbook["shr-00007"].content.splitlines()[2] == "    [i for i in page]"


LINES = st.sampled_from(
    [
        *RELEASED.split("\n"),
        *("", "  ", "## API-USAGE", "## Tips & Tricks:", '## "Café-Regeln"', "  | margin", "plain", "\t"),
        *("[x-1] helpful=1 harmful=0 ::", "[x-2]  helpful=1  harmful=0:: y", "[x-3]", "[x-4]\ttab", "[x-5] helpful=1"),
    ]
)


@given(st.lists(LINES, max_size=9), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]), st.booleans())
def test_what_others_wrote_goes_out_to_the_byte(lines: list[str], line_end: str, end: str, mark: bool) -> None:
    """A text that can be read is written again as it was, also after its playbook went through a file."""
    text = ("\ufeff" if mark else "") + ("\n".join(["## A", *lines]) + end).replace("\n", line_end)
    try:
        playbook = loads_ace(text)
    except CorruptPlaybook:
        return
    assert dumps_text(playbook) == text


def test_a_heading_that_stands_twice_stays_where_it_is() -> None:
    """Both parts are one section; a bullet that is added comes after its last, and the others stay in their places."""
    text = "## TIPS\n[t-1] a\n\n## OTHERS\n[o-1] b\n\n## Tips:\n\n[t-2] c\n\n## OTHERS\n"
    playbook = loads_ace(text)
    assert [(section.name, len(section.bullets)) for section in playbook.sections] == [("tips", 2), ("others", 1)]
    assert dumps_text(playbook) == text
    more = apply_delta(playbook, Delta("d", (Operation("ADD", section="tips", content="d"),)))[0]
    assert dumps_text(more) == text.replace("[t-2] c\n", f"[t-2] c\n[{[*more][2].id}] helpful=0 harmful=0 :: d\n")


def test_only_what_changed_looks_different(tmp_path: Path) -> None:
    """After a merge, an update and a count, the lines of all other bullets are as they were."""
    file = tmp_path / "released.txt"
    file.write_bytes(RELEASED.replace("expire.", "expire.\n[misc-00004] Access tokens expire").encode())
    playbook = dedup(import_playbook(file)).playbook
    export_playbook(playbook, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == RELEASED
    counted = playbook.with_bullets({"shr-00001": replace(playbook["shr-00001"], helpful=1)})
    assert "\n[shr-00001] helpful=1 harmful=0 :: Always look" in dumps_text(counted)


@pytest.mark.parametrize(
    "name", ["TROUBLESHOOTING AND PITFALLS:", "Troubleshooting & pitfalls", "troubleshooting-and_pitfalls"]
)
def test_a_section_is_found_by_its_letters(name: str) -> None:
    """An operation, a lookup and a data set's section may write a name with another case and punctuation."""
    playbook = loads_ace(RELEASED)
    after, refusals = apply_delta(playbook, Delta(operations=(Operation("ADD", name, content="Wait and try again."),)))
    assert not refusals
    assert [bullet.content for bullet in after.section(name).bullets] == ["Wait and try again."]
    assert playbook.with_sections([Section(name, "What went wrong.")]).section_names == playbook.section_names


def test_two_sections_that_both_match_are_neither() -> None:
    """A name that fits two sections is refused."""
    playbook = Playbook((Section("hard_rules"), Section("hard-rules")))
    assert apply_delta(playbook, Delta(operations=(Operation("ADD", "Hard Rules", content="x"),)))[1]


@pytest.mark.parametrize("name", ["empty.txt", "empty.json", "empty.yaml"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    """A file of nothing but white space is no playbook."""
    (tmp_path / name).write_text(" \n\n")
    with pytest.raises(UsageError, match="is empty"):
        import_playbook(tmp_path / name)


@pytest.mark.skipif(not DATA.is_dir(), reason="the released playbooks are not here")
@pytest.mark.parametrize("name", ["appworld_initial_playbook", "appworld_offline_trained_no_gt_playbook"])
def test_released_files_go_round(tmp_path: Path, name: str) -> None:
    """Both released files are imported, and come out to the byte, by way of the playbook's own file too."""
    playbook = import_playbook(DATA / f"{name}.txt")
    export_playbook(playbook, tmp_path / "own.json")
    export_playbook(import_playbook(tmp_path / "own.json"), tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == (DATA / f"{name}.txt").read_bytes()
