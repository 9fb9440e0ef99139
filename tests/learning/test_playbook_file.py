"""Laws of a playbook on disk: every change is in the journal, can be looked back at and undone, and none is lost."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playbooks_for_tests import SECTIONS, Clock, add, begun, contents_of, playbooks, tag

from akinai.core.errors import UnknownName, UsageError
from akinai.learning import (
    CorruptPlaybook,
    Delta,
    Edit,
    Operation,
    Playbook,
    PlaybookError,
    PlaybookFile,
    Section,
    dedup,
    difference,
    prune,
)
from akinai.learning.playbook.formats import dumps, loads


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.json"


def reopened(file: PlaybookFile) -> PlaybookFile:
    """Another process's view of it."""
    return PlaybookFile(file.path, now=Clock())


def test_load_and_save_without_a_change_gives_the_same_bytes(path: Path) -> None:
    """Whoever wrote the file and however it is laid out, saving what was loaded touches neither it nor the journal."""
    stored = {
        "sections": [{"name": "s", "bullets": [{"id": "s-1", "content": "c", "mine": [1.0, {"é": None}]}]}],
        "x": 1,
    }
    for text in (json.dumps(stored), json.dumps({"playbook": stored}, indent=4), dumps(loads(json.dumps(stored)))):
        path.write_text(text)
        file = PlaybookFile(path)
        for _ in range(2):
            file.change("import", Edit)
            file.begin([Section("s")])
            file.commit(Delta("d"))
        assert path.read_text() == text
        assert PlaybookFile(path).load() == loads(text)
        path.with_name("p.journal.jsonl").unlink()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(playbooks())
def test_unknown_fields_survive_a_change(tmp_path: Path, playbook: Playbook) -> None:
    """A change to one bullet leaves every field that is not ours where it was, at each level of the file."""
    file = begun(tmp_path / "p.json")
    before = file.change("import", lambda _: Edit(playbook.with_sections(SECTIONS))).playbook
    after = file.commit(add("new")).playbook
    assert reopened(file).load() == after
    assert [b for b in after if b.id in before] == list(before)
    assert (after.extra, after.metadata, after.around) == (before.extra, before.metadata, before.around)
    (tmp_path / "p.json").unlink()
    (tmp_path / "p.journal.jsonl").unlink()


def test_the_journal_holds_every_delta_with_its_reason_and_evidence(path: Path) -> None:
    """Each line says when, what, why, on which evidence, what was asked word for word, and what was refused."""
    file = begun(path)
    addition = Operation("ADD", "rules", content="buy 牛乳", reason="sold out", evidence=("r#4",))
    file.commit(Delta("d1", (addition, Operation("DELETE", None, "x")), reason="week 1", evidence=("r#1 -> r#9",)))
    file.commit(tag("q1", ("rul-00001", "helpful"), id="d2"))
    begin, first, second = reopened(file).history()
    assert (begin.kind, begin.n, first.n, first.id, first.kind) == ("begin", 1, 2, "d1", "delta")
    assert (first.at, first.reason, first.evidence) == ("2025-01-31T09:00:02Z", "week 1", ("r#1 -> r#9",))
    assert first.delta["operations"] == [
        {"type": "ADD", "section": "rules", "content": "buy 牛乳", "reasoning": "sold out", "evidence": ["r#4"]},
        {"type": "DELETE", "bullet_id": "x"},
    ]
    assert [refusal["code"] for refusal in first.refused] == ["unknown_bullet"]
    assert [bullet.content for bullet in first.put] == ["buy 牛乳"]
    assert second.counted == (("q1", "rul-00001"),)
    assert "牛乳" in path.with_name("p.journal.jsonl").read_text(encoding="utf-8")


def test_a_delta_is_applied_once_by_any_process(path: Path) -> None:
    """The same id from another process, or after a crash of this one, does nothing and says so."""
    file = begun(path)
    assert not file.commit(add("x", id="d")).repeated
    for other in (file, reopened(file)):
        saved = other.commit(add("x", id="d"))
        assert (saved.repeated, len(saved.playbook), saved.n) == (True, 1, 2)
    assert len(file.history()) == 2
    assert len(file.commit(add("x")).playbook) == 2


def test_a_task_counts_once_across_deltas_and_processes(path: Path) -> None:
    """The journal remembers which task has moved which counter."""
    file = begun(path, "x")
    file.commit(tag("q1", ("rul-00001", "helpful")))
    saved = reopened(file).commit(tag("q1", ("rul-00001", "harmful")))
    assert [refusal.code for refusal in saved.refusals] == ["already_counted"]
    assert (saved.playbook["rul-00001"].helpful, saved.playbook["rul-00001"].harmful) == (1, 0)


def test_any_two_points_can_be_compared_and_gone_back_to(path: Path) -> None:
    """`at` gives the playbook of each point, `diff` what lies between, and a rollback is a change like any other."""
    file = begun(path, "one", "two")
    file.commit(Delta("d", (Operation("DELETE", None, "rul-00001"), Operation("UPDATE", None, "rul-00002", "zwei"))))
    assert [contents_of(file.at(n)) for n in range(4)] == [[], [], ["one", "two"], ["zwei"]]
    between = file.diff(2, 3)
    assert [bullet.id for bullet in between.removed] == ["rul-00001"]
    assert [(old.content, new.content) for old, new in between.changed] == [("two", "zwei")]
    assert [bullet.content for bullet in file.diff(3, 2).added] == ["one"]
    saved = file.rollback(2, reason="worse")
    assert (saved.n, contents_of(saved.playbook), reopened(file).load()) == (4, ["one", "two"], saved.playbook)
    assert (file.history()[-1].kind, file.history()[-1].to, file.history()[-1].reason) == ("rollback", 2, "worse")
    assert contents_of(file.rollback(3).playbook) == ["zwei"]
    for n in (-1, 6):
        with pytest.raises(UsageError, match="points 0 to 5"):
            file.rollback(n)
    assert contents_of(file.rollback(0).playbook) == []


def test_what_was_rolled_back_can_be_learned_again(path: Path) -> None:
    """Its delta ids and its tasks count as new, but its bullet ids are used up."""
    file = begun(path, "one")
    file.commit(add("two", id="d"))
    file.commit(tag("q1", ("rul-00002", "helpful"), id="t"))
    file.rollback(2)
    saved = reopened(file).commit(add("two", id="d"))
    assert (saved.repeated, [bullet.id for bullet in saved.playbook]) == (False, ["rul-00001", "rul-00003"])
    assert file.commit(tag("q1", ("rul-00003", "helpful"), id="t")).refusals == ()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(playbooks(), min_size=1, max_size=5), st.data())
def test_every_point_comes_back_as_it_was(tmp_path: Path, states: list[Playbook], data: st.DataObject) -> None:
    """Whatever the playbook became, order and unknown fields included, `at` and `rollback` give each point again."""
    file = begun(tmp_path / "p.json")
    points: dict[int, Playbook] = {}
    for state in states:
        saved = file.change("import", lambda _, state=state: Edit(state))
        points[saved.n] = saved.playbook
    assert {n: file.at(n) for n in points} == points
    n = data.draw(st.sampled_from(sorted(points)))
    back = file.rollback(n).playbook
    assert difference(back, points[n]).empty
    assert replace(back, updated_at="", next_id=1) == replace(points[n], updated_at="", next_id=1)
    for name in ("p.json", "p.journal.jsonl"):
        (tmp_path / name).unlink()


def test_pruned_bullets_can_be_restored(path: Path) -> None:
    """A removal of any kind is undone bullet by bullet: id, counters and sources as they were, its section with it."""
    file = begun(path, "good", "bad")
    for n in range(8):
        file.commit(tag(f"q{n}", ("rul-00002", "harmful")))
    before = file.load()["rul-00002"]
    pruned = file.change("prune", prune)
    assert contents_of(pruned.playbook) == ["good"]
    change = file.history()[-1]
    assert (change.kind, change.removed_ids, change.reason) == ("prune", ("rul-00002",), "1 bullets seldom right")
    assert change.evidence == ("rul-00002: right 0% of 8 times, at most 31% with 95 % confidence",)
    file.change("import", lambda playbook: Edit(replace(playbook, sections=())))
    restored = reopened(file).restore(["rul-00002"], reason="too early")
    assert restored.playbook["rul-00002"] == before
    with pytest.raises(UsageError, match="leave it out"):
        file.restore(["rul-00002"])
    with pytest.raises(UnknownName, match=r"did you mean 'rul-0000[12]'"):
        file.restore(["rul-00001", "rul-00003"])
    assert "rul-00001" not in file.load()


def test_a_dedup_is_one_change_that_can_be_rolled_back(path: Path) -> None:
    """Its evidence names what became what."""
    file = begun(path, "Buy milk.", "buy  ＭＩＬＫ")
    saved = file.change("dedup", dedup)
    assert len(saved.playbook) == 1
    assert file.history()[-1].evidence == ("rul-00001 takes in rul-00002",)
    assert file.change("dedup", dedup).n == saved.n
    assert len(file.rollback(saved.n - 1).playbook) == 2


def test_ids_never_repeat_on_disk(path: Path) -> None:
    """After a delete, a rollback, a reload, and even when somebody lowers next_id in the file by hand."""
    file = begun(path, "one", "two")
    file.commit(Delta("", (Operation("DELETE", None, "rul-00002"),)))
    file.rollback(1)
    assert file.load().next_id == 3
    path.write_text(path.read_text().replace('"next_id": 3', '"next_id": 1'))
    reopened(file).commit(Delta("nothing"))
    assert [b.id for b in reopened(file).commit(add("three")).playbook] == ["rul-00003"]


def test_an_edit_by_hand_becomes_a_change(path: Path) -> None:
    """What was changed outside Akinai is kept, and the journal can go back to before it."""
    file = begun(path, "one")
    path.write_text(path.read_text().replace('"one"', '"eins"'))
    saved = reopened(file).commit(add("two"))
    assert contents_of(saved.playbook) == ["eins", "two"]
    assert [change.kind for change in file.history()] == ["begin", "delta", "edit", "delta"]
    assert contents_of(file.rollback(2).playbook) == ["one"]


def test_a_playbook_that_came_without_a_journal_gets_one(path: Path) -> None:
    """An initial playbook is the journal's first change, so that nothing of it can be lost."""
    path.write_text('{"sections": [{"name": "rules", "bullets": [{"id": "shr-7", "content": "first"}]}]}')
    saved = PlaybookFile(path).commit(add("second"))
    assert [bullet.id for bullet in saved.playbook] == ["shr-7", "rul-00008"]
    assert contents_of(PlaybookFile(path).at(1)) == ["first"]


def test_a_missing_playbook_is_a_users_mistake(path: Path) -> None:
    """Reading and changing say so and make nothing; beginning and importing make it."""
    file = PlaybookFile(path.parent / "folder" / "p.json")
    for attempt in (file.load, lambda: file.commit(add("x")), lambda: file.rollback(0), file.recover):
        with pytest.raises(UsageError, match="no playbook"):
            attempt()
    assert list(path.parent.iterdir()) == []
    assert file.begin(SECTIONS).playbook.section_names == ("rules", "料理のコツ", "api-usage")
    assert file.begin([Section("more", "m")]).playbook.section_names[-1] == "more"
    assert [change.kind for change in file.history()] == ["begin", "sections"]


@pytest.mark.parametrize("cut", [0, 1, 40, 200, -3])
def test_a_corrupt_file_is_named_kept_and_recovered(path: Path, cut: int) -> None:
    """Loading and changing name the place and offer the journal's last good state; recovering keeps the broken file."""
    file = begun(path, "one", "two")
    good = file.load()
    broken = path.read_bytes()[:cut]
    path.write_bytes(broken)
    for attempt in (file.load, lambda: reopened(file).commit(add("x"))):
        with pytest.raises(CorruptPlaybook, match=r"p\.json at line \d+ column \d+: .*change 2 of .*: recover it"):
            attempt()
    assert path.read_bytes() == broken
    recovered = reopened(file).recover()
    assert recovered.playbook == good
    assert [copy.read_bytes() for copy in recovered.copies] == [broken]
    assert [copy.name for copy in recovered.copies] == ["p.json.corrupt-1"]
    assert contents_of(reopened(file).commit(add("three")).playbook) == ["one", "two", "three"]
    assert reopened(file).recover().copies == ()


def test_a_playbook_that_is_gone_is_not_begun_anew_in_silence(path: Path) -> None:
    """With its journal still there a change is refused, and recovering brings it back."""
    file = begun(path, "one")
    path.unlink()
    with pytest.raises(PlaybookError, match="its journal has 2 changes; recover it"):
        reopened(file).commit(add("x"))
    assert contents_of(reopened(file).recover().playbook) == ["one"]
    assert contents_of(reopened(file).load()) == ["one"]


@pytest.mark.parametrize("broken", [b"{]\n", b'{"n": 7}\n', b'{"n": 3, "kind": "delta", "patch": 5}\n', b"\xff\n"])
def test_a_corrupt_journal_is_named_kept_and_goes_on(path: Path, broken: bytes) -> None:
    """A line that cannot be read is named; recovering keeps the old journal and goes on from the playbook."""
    file = begun(path, "one")
    journal = path.with_name("p.journal.jsonl")
    file.commit(add("two"))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], broken]))
    for attempt in (file.history, lambda: reopened(file).commit(add("x"))):
        with pytest.raises(CorruptPlaybook, match=r"p\.journal\.jsonl at line 3"):
            attempt()
    assert contents_of(reopened(file).load()) == ["one", "two"]
    recovered = reopened(file).recover()
    assert [copy.name for copy in recovered.copies] == ["p.journal.jsonl.corrupt-1"]
    assert contents_of(recovered.playbook) == ["one", "two"]
    assert [change.kind for change in file.history()] == ["begin", "delta", "recover"]
    assert contents_of(reopened(file).commit(add("three")).playbook) == ["one", "two", "three"]


def test_nothing_to_recover_from_is_said(path: Path) -> None:
    """A broken file without a journal stays as it is."""
    path.write_text("{")
    with pytest.raises(CorruptPlaybook, match="mend that place"):
        PlaybookFile(path).load()
    with pytest.raises(PlaybookError, match="no journal to recover from"):
        PlaybookFile(path).recover()
    assert path.read_text() == "{"


def test_a_linked_playbook_stays_a_link(tmp_path: Path, path: Path) -> None:
    """Both names lead to one playbook, one journal and one lock."""
    begun(path, "one")
    link = tmp_path / "link.json"
    link.symlink_to(path)
    PlaybookFile(link).commit(add("two"))
    assert link.is_symlink()
    assert contents_of(PlaybookFile(path).load()) == ["one", "two"]
    assert {p.name for p in tmp_path.iterdir()} == {".p.lock", "p.json", "p.journal.jsonl", "link.json"}


def test_refused_texts_do_not_stop_the_journal(path: Path) -> None:
    """Half a surrogate pair in a refused operation or a reason is told with a mark in its place; the rest is saved."""
    file = begun(path)
    bad = Operation("ADD", "rules", content="half \ud83d", reason="\ud83d\0")
    saved = file.commit(Delta("d", (bad, Operation("ADD", "rules", content="good")), reason="\udc00"))
    assert ([r.code for r in saved.refusals], contents_of(saved.playbook)) == (["bad_text"], ["good"])
    assert re.search("half \N{REPLACEMENT CHARACTER}", json.dumps(file.history()[-1].delta, ensure_ascii=False))
    assert reopened(file).commit(Delta("d")).repeated
