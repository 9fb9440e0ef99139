"""A playbook as its readers see it."""

from pathlib import Path

import akinai
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.deltas import BulletTag, Delta, Operation, Tagging
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.playbook.patches import difference as compare
from akinai.views.playbook import Source, playbook_view, sources_of


def test_a_bullet_says_what_taught_it_and_how_it_came_about(tmp_path: Path) -> None:
    """Runs with their entries, tasks without; added, counted and changed by the lines of the journal."""
    file = PlaybookFile(tmp_path / "b.json")
    akinai.playbook.add(file.path, "Buy gum.", section="pricing", reason="by hand")
    id = file.load().sections[0].bullets[0].id
    file.commit(Delta("d1", taggings=(Tagging("task", (id,), (BulletTag(id, "helpful"),)),)))
    file.commit(Delta("d2", (Operation("UPDATE", bullet_id=id, content="Buy no gum."),), reason="it lost money"))
    view = playbook_view("b", file.load(), file.history())
    (bullet,) = view.bullets(view.playbook.sections[0])
    verbs = [change.verbs[id] for change in view.changes(bullet)]
    assert (bullet.helpful, verbs) == (1, ["added", "counted", "changed"])
    assert view.history[0].change.reason == "it lost money"
    assert view.history[0].count("changed") == 1
    learned = Bullet("x", "pricing", "t", source_trajectory="run-1#37 -> run-1#66; task:9; run-2#5")
    assert sources_of(learned) == (Source("run-1", (37, 66)), Source("task:9"), Source("run-2", (5,)))


def test_two_playbooks_are_compared_by_their_words() -> None:
    """Whatever the ids."""
    first = Playbook((Section("s", "", (Bullet("a-1", "s", "One."), Bullet("a-2", "s", "Two."))),))
    second = Playbook((Section("s", "", (Bullet("b-9", "s", "Two.", helpful=3), Bullet("b-8", "s", "Three."))),))
    difference = compare(first, second, by_content=True)
    assert [bullet.content for bullet in difference.added] == ["Three."]
    assert [bullet.content for bullet in difference.removed] == ["One."]
    assert [(old.id, new.id) for old, new in difference.changed] == [("a-2", "b-9")]
