"""Laws of the playbook that a person names: any form, a path or a name, and the tables of other programs."""

import json
from pathlib import Path

import pytest

from akinai.core.errors import UnknownName, UsageError
from akinai.learning import Bullet, Playbook, PlaybookFile, Section, export_playbook
from akinai.learning.playbook.formats import dumps, loads
from akinai.learning.playbook.opening import PLAYBOOKS, playbook_path, read_playbook

SKILLBOOK = {
    "skills": {
        "stock-1": {
            "id": "stock-1",
            "section": "stock",
            "content": "Write it down.",
            "helpful": 3,
            "evidence": "day 9",
        },
        "prices-2": {"section": "prices", "content": "Raise it.", "helpful": 1, "neutral": 2},
    },
    "sections": {"stock": ["stock-1", "gone-7"], "prices": ["prices-2"]},
    "next_id": 2,
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("ending", [".json", ".yaml", ".yml", ".txt", ".md"])
def test_every_form_is_read_by_its_path(ending: str) -> None:
    """The bullets of a playbook are the same in each form that `export` writes."""
    playbook = Playbook((Section("s", "", (Bullet("s-00001", "s", "Sell coke.", ("coke",), 2),)),))
    export_playbook(playbook, f"p{ending}")
    assert [(bullet.id, bullet.content, bullet.helpful) for bullet in read_playbook(f"p{ending}")] == [
        ("s-00001", "Sell coke.", 2)
    ]


def test_a_name_is_a_file_in_the_folder_of_playbooks() -> None:
    """A name without an ending is looked up there, unless a file of that name is here."""
    assert playbook_path("mine") == PLAYBOOKS / "mine.json"
    Path("mine").write_text("")
    assert playbook_path("mine") == Path("mine")
    with pytest.raises(UnknownName, match="no playbook 'other'"):
        read_playbook("other")


@pytest.mark.parametrize("text", ["{}", '{"something": "else"}', '{"sections": []}'])
def test_what_is_no_playbook_is_refused(text: str) -> None:
    """Nothing is played as if with a playbook, and nothing is served as one."""
    Path("p.json").write_text(text)
    for empty in (False, True):
        with pytest.raises(UsageError, match=r"^'p\.json' holds no section and no bullet; name a file"):
            read_playbook("p.json", empty=empty)


def test_a_playbook_without_bullets_can_be_served_and_not_followed() -> None:
    """It is a playbook, but there is nothing in it to play by."""
    PlaybookFile("p.json").begin([Section("s")])
    assert read_playbook("p.json", empty=True).section_names == ("s",)
    with pytest.raises(UsageError, match="holds no bullet"):
        read_playbook("p.json")


def test_a_change_of_yaml_writes_yaml() -> None:
    """A file keeps the form that its ending names, and its journal beside it."""
    file = PlaybookFile("p.yaml")
    file.begin([Section("s", "What sells.")])
    assert Path("p.yaml").read_text().startswith("schema: 1\n")
    assert PlaybookFile("p.yaml").load() == file.load()
    assert [change.kind for change in PlaybookFile("p.yaml").history()] == ["begin"]


def test_text_is_read_and_never_changed() -> None:
    """ACE's text cannot hold all that a change writes."""
    Path("p.md").write_text("## S\n[s-00001] helpful=1 harmful=0 :: Sell coke.\n")
    with pytest.raises(UsageError, match="cannot hold all that a change writes"):
        PlaybookFile("p.md").begin([Section("t")])
    assert len(read_playbook("p.md")) == 1


def test_a_table_of_bullets_by_ids_is_read() -> None:
    """Each bullet is in its section with its counters; an id of a bullet that is gone is no bullet."""
    playbook = loads(json.dumps(SKILLBOOK))
    assert [(b.id, b.section, b.content, b.helpful, b.neutral) for b in playbook] == [
        ("stock-1", "stock", "Write it down.", 3, 0),
        ("prices-2", "prices", "Raise it.", 1, 2),
    ]
    assert playbook["stock-1"].extra["evidence"] == "day 9"
    assert loads(dumps(playbook)) == playbook


@pytest.mark.parametrize(
    "document",
    [
        {"sections": {"s": ["Sell coke.", "Buy low."]}},
        {"bullets": [{"content": "Sell coke."}, {"content": "Buy low."}]},
        {"sections": [{"name": "s", "bullets": [{"id": "a-1", "content": "Sell coke."}]}], "bullets": ["Buy low."]},
        {"sections": [{"name": "s", "skills": {"a-1": {"content": "Sell coke."}, "a-2": {"content": "Buy low."}}}]},
        {"playbook": {"bullets": {"a-1": {"content": "Sell coke."}, "a-2": {"content": "Buy low."}}}},
    ],
)
def test_nothing_that_looks_like_a_bullet_is_dropped(document: object) -> None:
    """Texts, lists and tables of bullets are all read, wherever they are."""
    assert sorted(bullet.content for bullet in loads(json.dumps(document))) == ["Buy low.", "Sell coke."]
