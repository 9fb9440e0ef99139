"""Deduplication of a released playbook, against near duplicates that were labelled by reading."""

import hashlib
import os
import tomllib
from pathlib import Path

import pytest

from akinai.learning import Playbook, dedup
from akinai.learning.playbook.texts import dumps_text, loads_ace
from akinai.learning.search.dedup import differ_in_substance
from together import together

DATA = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")) / "playbooks"
LABELS = tomllib.loads(Path(__file__).with_name("near_duplicates.toml").read_text(encoding="utf-8"))["same"]


@pytest.fixture(scope="module")
def released() -> tuple[str, Playbook]:
    path = DATA / "appworld_offline_trained_no_gt_playbook.txt"
    if not path.is_file():
        pytest.skip(f"{path} is not here; AKINAI_DATA names the folder with the released playbooks")
    text = path.read_text(encoding="utf-8")
    return text, loads_ace(text)


def test_near_duplicates_of_a_released_playbook_are_found(released: tuple[str, Playbook]) -> None:
    """Of the labelled redundant bullets at least 70 % are merged, and of the merges at least 90 % are labelled."""
    _, playbook = released
    for same in LABELS:
        assert {id: hashlib.sha256(playbook[id].content.encode()).hexdigest()[:12] for id in same} == same
    set_of = {id: number for number, same in enumerate(LABELS) for id in same}
    merges = [(merge.kept, id) for merge in dedup(playbook).merges for id in merge.merged]
    right = sum(survivor in set_of and set_of[survivor] == set_of.get(id) for survivor, id in merges)
    precision, recall = right / len(merges), right / sum(len(same) - 1 for same in LABELS)
    assert precision >= 0.9, (precision, recall)
    assert recall >= 0.7, (precision, recall)


def test_the_export_is_unchanged_but_for_what_was_merged(released: tuple[str, Playbook]) -> None:
    """The text without the lines of merged bullets, to the byte; a second deduplication changes nothing."""
    text, playbook = released
    refined = dedup(playbook)
    gone = {id for merge in refined.merges for id in merge.merged}
    left = [line for line in text.split("\n") if line[1:].partition("]")[0] not in gone]
    exported = [line for line in dumps_text(refined.playbook).split("\n") if line]
    assert exported == [line for line in left if line]
    assert not dedup(refined.playbook).merges


LESSON = (
    "For every task about {what} always read the documentation of the interface before the first call, then collect "
    "all pages of the result, keep the ids in a set, and check the number of items before you write {tail}"
)


@together(
    ("a", "b", "differ"),
    [
        (("songs", "anything"), ("playlists", "anything at all"), False),
        (("songs (e.g. the most played)", "it"), ("songs (e.g. the least played)", "it"), False),
        (("the oldest song", "it"), ("the newest song", "it"), True),
        (("songs", "20 of them"), ("songs", "30 of them"), True),
        (("songs", "it"), ("songs", "it, and never twice"), True),
        (("songs of Alpha", "it"), ("songs of Beta", "it"), True),
        (("`show_song`", "it"), ("`show_album`", "it"), True),
        (("songs", "it"), ("songs", "it with `show_song`"), False),
    ],
)
def test_long_texts_differ_in_substance_or_in_wording(a: tuple[str, str], b: tuple[str, str], differ: bool) -> None:
    """Examples in brackets, wording and more detail on one side are wording; numbers, names, opposites are not."""
    texts = [LESSON.format(what=subject, tail=tail) for subject, tail in (a, b)]
    assert differ_in_substance(*texts) is differ
    assert differ_in_substance(*reversed(texts)) is differ
