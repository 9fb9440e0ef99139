"""Laws of a playbook as JSON, YAML and patches: what is written comes back, and what cannot be read is named."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playbooks_for_tests import NASTY, begun, playbooks

from akinai.core.errors import UsageError
from akinai.learning import (
    Bullet,
    CorruptPlaybook,
    NewerPlaybook,
    Playbook,
    Section,
    difference,
    dumps_ace,
    export_playbook,
    import_playbook,
)
from akinai.learning.playbook.formats import dumps, dumps_yaml, from_json, loads, loads_file, loads_yaml, to_json
from akinai.learning.playbook.patches import apply_patch, make_patch
from together import together

EXAMPLE = """{"schema": 1,
"metadata": {"created_at": "2025-01-31T09:00:00Z", "updated_at": "2025-02-01T09:00:00Z", "next_id": 12},
"sections": [
  {"name": "strategies_and_hard_rules", "bullets": [
    {"id": "shr-00001", "section": "strategies_and_hard_rules", "content": "牛乳を買う", \
"searchable_text": "牛乳を買う 牛乳", "keywords": ["牛乳"], "helpful": 5, "harmful": 0, \
"source_trajectory": "run#1 -> run#9"}
  ]}
]}
"""


@given(playbooks())
def test_json_comes_back_as_it_was(playbook: Playbook) -> None:
    """A playbook is equal after writing and reading, unknown fields at every level included, and so are its bytes."""
    text = dumps(playbook)
    assert loads(text) == playbook
    assert dumps(loads(text)) == text
    assert from_json(to_json(playbook)) == playbook
    assert json.loads(text) == json.loads(json.dumps(to_json(playbook)))


@given(playbooks())
def test_yaml_comes_back_as_it_was(playbook: Playbook) -> None:
    """The same through YAML, whatever the texts hold."""
    assert loads_yaml(dumps_yaml(playbook)) == playbook


@given(playbooks(), playbooks())
def test_a_patch_makes_one_playbook_of_another(before: Playbook, after: Playbook) -> None:
    """For any two playbooks the patch between them, through JSON, turns the first into the second."""
    patch = json.loads(json.dumps(make_patch(before, after)))
    assert apply_patch(before, patch) == after
    assert make_patch(before, before) == {}
    assert difference(before, before).empty


@given(playbooks(), st.randoms(use_true_random=False))
def test_a_patch_keeps_the_order_of_bullets_and_sections(before: Playbook, shuffled: random.Random) -> None:
    """Bullets that only changed places, also between sections, are where they were put."""
    bullets = list(before)
    sections = list(before.sections)
    shuffled.shuffle(bullets)
    shuffled.shuffle(sections)
    share = len(bullets) // len(sections) + 1 if sections else 1
    groups = [bullets[n : n + share] for n in range(0, share * len(sections), share)]
    moved = [
        replace(section, bullets=tuple(replace(bullet, section=section.name) for bullet in group))
        for section, group in zip(sections, groups, strict=True)
    ]
    after = replace(before, sections=tuple(moved))
    assert apply_patch(before, json.loads(json.dumps(make_patch(before, after)))) == after


def test_the_documented_file_is_read_and_written_byte_for_byte() -> None:
    """The example of the schema is what we write: letters as letters, a bullet a line."""
    playbook = loads(EXAMPLE)
    assert dumps(playbook) == EXAMPLE
    assert (playbook.next_id, next(iter(playbook)).searchable_text) == (12, "牛乳を買う 牛乳")


def test_a_root_key_playbook_is_read_and_kept() -> None:
    """A file with `playbook:` around it is read, in JSON and YAML, and is written with it again."""
    inner = json.loads(EXAMPLE)
    wrapped = loads(json.dumps({"note": "x", "playbook": inner}))
    assert (list(wrapped), wrapped.around) == (list(loads(EXAMPLE)), {"note": "x"})
    assert json.loads(dumps(wrapped))["playbook"]["metadata"] == inner["metadata"]
    assert loads_yaml(dumps_yaml(wrapped)) == wrapped


def test_letters_are_not_escaped() -> None:
    """Japanese and emoji stand in the file as themselves."""
    playbook = Playbook((Section("料理", "🛒", (Bullet("b-1", "料理", "".join(NASTY)),)),), 2)
    for text in (dumps(playbook), dumps_yaml(playbook)):
        assert "料理" in text
        assert "改行" in text
    assert "🛒" in dumps(playbook)


@pytest.mark.parametrize("schema", [2, 99])
def test_a_newer_schema_is_refused_clearly(schema: int) -> None:
    """The message says what was found, what can be read and what to do, in both forms and around the root key."""
    stored = json.loads(EXAMPLE) | {"schema": schema}
    for text in (json.dumps(stored), json.dumps({"playbook": stored}), json.dumps({"schema": schema, "playbook": {}})):
        for read in (loads, loads_yaml):
            with pytest.raises(NewerPlaybook, match=f"has schema {schema} and this Akinai reads up to 1: upgrade"):
                read(text, "p.json")


@together(
    ("text", "location"),
    [
        ("", "line 1 column 1"),
        ('{"schema": 1,\n"sections": [}', "line 2 column 14"),
        (EXAMPLE[:-40], "line 5 column"),
        ("[]", "the root"),
        ('{"schema": "1"}', "schema"),
        ('{"schema": true}', "schema"),
        ('{"metadata": []}', "metadata"),
        ('{"metadata": {"next_id": "12"}}', "metadata.next_id"),
        ('{"sections": {}}', "sections"),
        ('{"sections": [[]]}', "sections[0]"),
        ('{"sections": [{"name": ""}]}', "sections[0].name"),
        ('{"sections": [{"bullets": []}]}', "sections[0].name"),
        ('{"sections": [{"name": "a"}, {"name": "a"}]}', "sections[1]"),
        ('{"sections": [{"name": "a", "bullets": [{"content": "x"}]}]}', "sections[0].bullets[0].id"),
        ('{"sections": [{"name": "a", "bullets": [{"id": "x y", "content": ""}]}]}', "sections[0].bullets[0].id"),
        ('{"sections": [{"name": "a", "bullets": [{"id": "x"}]}]}', "sections[0].bullets[0].content"),
        ('{"sections": [{"name": "a", "bullets": [{"id": "x", "content": "", "helpful": -1}]}]}', "bullets[0].helpful"),
        (
            '{"sections": [{"name": "a", "bullets": [{"id": "x", "content": "", "helpful": 1.0}]}]}',
            "bullets[0].helpful",
        ),
        (
            '{"sections": [{"name": "a", "bullets": [{"id": "x", "content": "", "keywords": [1]}]}]}',
            "bullets[0].keywords",
        ),
        (
            '{"sections": [{"name": "a", "bullets": [{"id": "x", "content": ""}, {"id": "x", "content": ""}]}]}',
            "sections[0].bullets[1]",
        ),
        ('{"x": NaN}', "a number"),
        ('{"x": 1e999}', "a number"),
        ('{"x": "\\u0000"}', "one of its texts"),
        ('{"x": "\\ud83d"}', "one of its texts"),
        ('{"x": ' + "[" * 100_000, "a value"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, location: str) -> None:
    """A line and column where the JSON breaks off, or the field that holds something else than it should."""
    with pytest.raises(CorruptPlaybook) as caught:
        loads(text, "p.json")
    assert location in caught.value.location
    assert str(caught.value).startswith(f"p.json at {caught.value.location}: ")


@together(
    ("text", "location"),
    [
        ("a: [", "line "),
        ("sections:\n - name: [x\n", "line 3 column 1"),
        ("sections: [{name: 5}]", "sections[0].name"),
        ("1: x", "one of its values"),
        ("x: .nan", "one of its values"),
        ("x: !!binary aGVsbG8=", "one of its values"),
        ("x: !!python/object/apply:os.system ['true']", "line 1 column 4"),
        ('x: "\\ud83d"', ""),  # libyaml says where, PyYAML's own reader lets it through to us
    ],
)
def test_yaml_that_cannot_be_read_is_named_with_its_place(text: str, location: str) -> None:
    """The same for YAML, and what JSON could not hold is refused; nothing in it is run."""
    with pytest.raises(CorruptPlaybook) as caught:
        loads_yaml(text, "p.yaml")
    assert location in caught.value.location


def test_a_time_in_yaml_stays_a_text() -> None:
    """An unquoted time is not turned into something that the file could not hold."""
    assert loads_yaml("metadata: {created_at: 2025-01-31T09:00:00Z}").created_at == "2025-01-31T09:00:00Z"


def test_bytes_that_are_no_text_are_named() -> None:
    """A byte that is not UTF-8 is named by its number; a byte order mark is passed over."""
    with pytest.raises(CorruptPlaybook, match="byte 3"):
        loads_file(b"abc\xff", "p.json", ".json")
    assert loads_file(b"\xef\xbb\xbf{}", "p.json", ".json") == Playbook()


@pytest.mark.parametrize("ending", ["json", "yaml", "yml", "txt", "md"])
def test_a_playbook_is_carried_away_in_the_form_of_the_ending(tmp_path: Path, ending: str) -> None:
    """Ids, counters and contents come back in every form, the whole playbook in JSON and YAML."""
    playbook = begun(tmp_path / "p.json", *NASTY).load()
    path = tmp_path / "away" / f"p.{ending}"
    export_playbook(playbook, path)
    back = import_playbook(path)
    assert dumps_ace(back.sections) == dumps_ace(playbook.sections)
    assert all(bullet.keywords for bullet in back if any(map(str.isalnum, bullet.content)))
    if ending in ("json", "yaml", "yml"):
        assert back == playbook


def test_an_unknown_ending_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    """With the endings that would do."""
    with pytest.raises(UsageError, match=r"end it in one of \.json"):
        export_playbook(Playbook(), tmp_path / "p.pickle")
    with pytest.raises(UsageError, match="no file"):
        import_playbook(tmp_path / "p.json")
    assert list(tmp_path.iterdir()) == []
