"""Laws of ACE's text form: whatever a playbook holds comes back, and what ACE itself writes is read."""

import pytest
from hypothesis import given
from playbooks_for_tests import NASTY, contents, few, names, playbooks

from akinai.learning import Bullet, CorruptPlaybook, Playbook, Section, dumps_ace, loads_ace

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


@few
@given(playbooks())
def test_ids_counters_and_contents_come_back(playbook: Playbook) -> None:
    """Sections, ids, both counters and contents are equal after writing and reading, in their order."""
    back = loads_ace(dumps_ace(playbook.sections))
    assert [s.name for s in back.sections] == [s.name for s in playbook.sections]
    assert [(b.id, b.section, b.content, b.helpful, b.harmful) for b in back] == [
        (b.id, b.section, b.content, b.helpful, b.harmful) for b in playbook
    ]


@few
@given(names, contents, contents)
def test_any_content_comes_back_between_others(name: str, first: str, second: str) -> None:
    """Content that looks like a heading, a bullet, a margin or an empty line stays the content of its own bullet."""
    section = Section(name, "", (Bullet("a-1", name, first), Bullet("b-2", name, second)))
    assert [b.content for b in loads_ace(dumps_ace([section, Section("next")]))] == [first, second]


@pytest.mark.parametrize("content", NASTY)
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


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("# Title\n", "line 1"),
        ("## A\nsomething\n", "line 2"),
        ("[a-1] helpful=0 harmful=0 :: x\n", "line 1"),
        ("## A\n[a-1] helpful=0 harmful=0 :: x\n\n## B\n[a-1] helpful=0 harmful=0 :: y\n", "line 5"),
        ("## \n", "line 1"),
    ],
)
def test_a_line_without_a_place_is_named(text: str, place: str) -> None:
    """Nothing is dropped in silence: a line that belongs to no bullet, or an id that stands twice, is refused."""
    with pytest.raises(CorruptPlaybook) as caught:
        loads_ace(text)
    assert caught.value.place == place
