"""Laws of saving: killed at any byte, beside other processes, on a disk that fails, the playbook is whole."""

import errno
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from playbooks_for_tests import SECTIONS, add, begun, contents_of

import forked
from akinai.learning import Delta, PlaybookError, PlaybookFile
from akinai.learning.playbook.atomic import locked, write_atomically
from akinai.learning.playbook.errors import PlaybookBusy
from akinai.learning.playbook.formats import loads

WRITER = """
import sys
from akinai.learning import Delta, Operation, PlaybookFile
path, name, count = sys.argv[1:]
file = PlaybookFile(path)
for number in range(int(count)):
    file.commit(Delta(f"{name}-{number}", (Operation("ADD", "rules", content=f"{name} {number} " + "あ" * 500),)))
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> "forked.Popen":
    """Another process that adds bullets one by one and says each number once it is saved."""
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return forked.Popen(command, stdout=forked.PIPE, text=True)


@pytest.mark.slow
def test_two_processes_add_a_hundred_bullets_each(tmp_path: Path) -> None:
    """All 200 are there, each once, under ids of their own; a reader meanwhile sees one version."""
    path = tmp_path / "p.json"
    begun(path)
    writers = [writer(path, name, 100) for name in ("a", "b")]
    seen = 0
    while any(process.poll() is None for process in writers):
        playbook = PlaybookFile(path).load()
        assert len(playbook) >= seen
        assert playbook.next_id == len(playbook) + 1
        seen = len(playbook)
    assert [process.wait() for process in writers] == [0, 0]
    playbook = PlaybookFile(path).load()
    assert sorted(bullet.content.rstrip("あ ") for bullet in playbook) == sorted(
        f"{x} {n}" for x in "ab" for n in range(100)
    )
    assert len({bullet.id for bullet in playbook}) == 200
    assert len(PlaybookFile(path).history()) == 201
    for process in writers:
        assert process.stdout
        process.stdout.close()


@pytest.mark.slow
def test_kill_at_random_moments_loses_nothing_that_was_saved(tmp_path: Path) -> None:
    """Killed with SIGKILL while saving, again and again: the file is whole, holds all that was answered, goes on."""
    path, chance = tmp_path / "p.json", random.Random(20250131)
    begun(path)
    for turn in range(5):
        process = writer(path, f"t{turn}", 10_000)
        assert process.stdout
        answered = int(process.stdout.readline())
        time.sleep(chance.random() / 5)
        process.send_signal(signal.SIGKILL)
        answered = int((process.stdout.read().split("\n")[:-1] or [answered])[-1])
        process.stdout.close()
        process.wait()
        contents = {bullet.content.rstrip("あ ") for bullet in PlaybookFile(path).load()}
        assert {f"t{turn} {n}" for n in range(answered + 1)} <= contents
        saved = PlaybookFile(path).commit(Delta(f"t{turn}-{answered}"))
        assert saved.repeated
        assert contents <= {bullet.content.rstrip("あ ") for bullet in saved.playbook}
        assert PlaybookFile(path).load() == PlaybookFile(path).at(saved.n) == saved.playbook
    ids = [bullet.id for bullet in PlaybookFile(path).load()]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 31])
def test_killed_at_any_byte_it_is_the_old_or_the_new(tmp_path: Path, step: int) -> None:
    """Every state that a save can leave on disk, byte for byte, reads as the old or the new playbook, and goes on."""
    path = tmp_path / "p.json"
    journal, temporary = tmp_path / "p.journal.jsonl", tmp_path / ".p.json.saving"
    file = begun(path, "old")
    old_file, old_journal = path.read_bytes(), journal.read_bytes()
    file.commit(add("new", id="d"))
    new_file, new_journal = path.read_bytes(), journal.read_bytes()
    line = new_journal[len(old_journal) :]
    left_behind = [
        *((new_file[:n], old_journal, old_file) for n in range(0, len(new_file), 7 * step)),
        *((new_file, old_journal + line[:n], old_file) for n in (*range(0, len(line), step), len(line) - 1, len(line))),
        (None, new_journal, new_file),
    ]
    for half, lines, data in left_behind:
        path.write_bytes(data)
        journal.write_bytes(lines)
        if half is not None:
            temporary.write_bytes(half)
        assert contents_of(PlaybookFile(path).load()) in (["old"], ["old", "new"])
        saved = PlaybookFile(path, now=lambda: "t").commit(add("new", id="d"))
        assert saved.repeated == (lines == new_journal)
        assert contents_of(PlaybookFile(path).load()) == ["old", "new"]
        assert [b.id for b in PlaybookFile(path).commit(add("more")).playbook][-1] == "rul-00003"
        temporary.unlink(missing_ok=True)


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 31])
def test_killed_before_there_is_a_file_it_begins_again(tmp_path: Path, step: int) -> None:
    """The very first save can be cut off anywhere as well."""
    path, journal = tmp_path / "p.json", tmp_path / "p.journal.jsonl"
    begun(path)
    line = journal.read_bytes()
    for n in (*range(0, len(line), step), len(line) - 1, len(line)):
        path.unlink()
        journal.write_bytes(line[:n])
        file = PlaybookFile(path)
        file.begin(SECTIONS)
        assert file.load().section_names == tuple(section.name for section in SECTIONS)
        assert len(file.history()) == 1
        assert contents_of(PlaybookFile(path).commit(add("x")).playbook) == ["x"]


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["prepare", "sync", "move"])
def test_a_save_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """On a disk that is full at any step, file and journal keep their bytes, the error says so, the next save works."""
    path = tmp_path / "p.json"
    file = begun(path, "old")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with monkeypatch.context() as broken:
        if step == "prepare":
            broken.setattr(os, "fsync", full_disk)
        elif step == "sync":
            synced: list[int] = []
            broken.setattr(os, "fsync", lambda handle: full_disk() if synced else synced.append(handle))
        else:
            broken.setattr(os, "replace", full_disk)
        for _ in range(2):
            with pytest.raises(PlaybookError, match="it is as it was"):
                file.commit(add("new", id="d"))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert not file.commit(add("new", id="d")).repeated
    assert contents_of(PlaybookFile(path).load()) == ["old", "new"]
    assert len(file.history()) == 3


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """While one file is written over and over, every look gives one of its whole contents."""
    path = tmp_path / "p.json"
    versions = [json.dumps({"x": letter * 50_000}).encode() for letter in "ab"]
    write_atomically(path, versions[0])
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for version in versions:
                write_atomically(path, version)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(300):
            assert path.read_bytes() in versions
    finally:
        stop.set()
        thread.join()


def test_one_holds_the_lock_and_others_are_told(tmp_path: Path) -> None:
    """Who cannot have it in time hears what to do; it is free again afterwards, also after an error."""
    path = tmp_path / "lock"
    with locked(path, 1), pytest.raises(PlaybookBusy, match="try again"), locked(path, 0.02):
        pass
    with pytest.raises(RuntimeError), locked(path, 1):
        raise RuntimeError
    with locked(path, 0):
        pass


def test_a_busy_playbook_is_not_changed(tmp_path: Path) -> None:
    """A change that cannot have the lock in time does nothing; reading needs no lock."""
    path = tmp_path / "p.json"
    begun(path, "old")
    hasty = PlaybookFile(path, lock_timeout_s=0.02)
    with locked(tmp_path / ".p.lock", 1), pytest.raises(PlaybookBusy):
        hasty.commit(add("new"))
    assert contents_of(hasty.load()) == ["old"]
    assert contents_of(hasty.commit(add("new")).playbook) == ["old", "new"]
    assert loads(path.read_text()) == hasty.load()


def test_permissions_of_the_file_are_kept(tmp_path: Path) -> None:
    """A playbook that others may not read stays so after a save."""
    path = tmp_path / "p.json"
    file = begun(path)
    path.chmod(0o600)
    file.commit(add("x"))
    assert path.stat().st_mode & 0o777 == 0o600
