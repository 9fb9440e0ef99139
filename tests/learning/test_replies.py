"""Laws of reading replies: what a model wrote is read as it stands or refused by name, and nothing is made up."""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playbooks_for_tests import SECTIONS, contents, json_values

from akinai.learning import (
    BulletTag,
    Delta,
    Operation,
    Playbook,
    Refusal,
    UnreadableReply,
    apply_delta,
    object_in,
    read_operations,
    read_tags,
)
from akinai.learning.roles.replies import OPERATIONS
from together import together

GOOD = {"reasoning": "r", "operations": [{"type": "ADD", "section": "rules", "content": 'a } b { "c" ``` [x] \n d'}]}
TEXT = json.dumps(GOOD, ensure_ascii=False)


@together(
    "reply",
    [
        TEXT,
        f"  \n{TEXT}\n ",
        f"```json\n{TEXT}\n```",
        f"```\n{json.dumps(GOOD, indent=2)}\n```",
        f"Here {{is}} what I do, as {{'operations': []}} would not: {TEXT}. Done {{}}.",
        f'<think>{{"operations": []}} would be nothing</think>{TEXT}',
        f'{{"other": 1}} {TEXT} {{"other": {{"operations": []}}}}',
    ],
)
def test_a_reply_is_read_pure_fenced_or_in_prose(reply: str) -> None:
    """The object with all fields is taken; one inside another object is not."""
    assert object_in(reply, OPERATIONS) == GOOD


@given(st.integers(0, len(TEXT) - 1), st.sampled_from(["", "\n", "\n```", " \n```\n"]))
def test_a_truncated_object_is_never_repaired(cut: int, after: str) -> None:
    """However little is missing, there is no object, and no inner one is taken for it."""
    for before in ("", "```json\n", "I do this: "):
        with pytest.raises(UnreadableReply):
            object_in(f"{before}{TEXT[:cut]}{after}", "operations")


def test_a_truncated_object_after_a_whole_one_is_not_passed_over() -> None:
    """A draft that was finished does not stand for the answer that was not."""
    with pytest.raises(UnreadableReply) as caught:
        object_in(f'{{"operations": []}} {TEXT[:-30]}', "operations")
    assert caught.value.truncated
    with pytest.raises(UnreadableReply, match="stops before its end"):
        object_in('{"draft": {"operations": []}, "operations": [{"type"', "operations")


@together("reply", ["", " ", "no object", "{", "[]", '"{}"', "{operations: []}", '{"operations": NaN}', "{" * 9_999])
def test_a_reply_without_the_object_says_so(reply: str) -> None:
    """With what was looked for, and without an exception of another kind."""
    with pytest.raises(UnreadableReply, match=r"answer with one|send it whole"):
        object_in(reply, "operations")


def test_a_raw_line_break_in_a_text_is_read() -> None:
    """Models write them, and they mean only one thing."""
    assert object_in('{"operations": [], "reasoning": "a\nb"}', "operations")["reasoning"] == "a\nb"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(reply: str) -> None:
    """No reply raises anything else."""
    with suppress(UnreadableReply):
        object_in(reply, "operations")


def test_operations_are_read_field_by_field() -> None:
    """Every field lands where it belongs; case and absent fields do not matter."""
    [add, update] = read_operations(
        [
            {
                "type": "add",
                "section": "rules",
                "content": "c",
                "keywords": ["k", " "],
                "bullet_type": "Corrected Error",
            },
            {"type": "UPDATE", "bullet_id": "r-1", "content": "d", "reasoning": "why", "evidence": "run#1", "x": 1},
        ]
    )
    assert add == Operation("ADD", "rules", content="c", keywords=("k",), details={"type": "Corrected Error"})
    assert update == Operation("UPDATE", None, "r-1", "d", reason="why", evidence=("run#1",))


@together(
    ("item", "error"),
    [
        ("ADD x", 'operations[0] is "ADD x"; give an object'),
        ({"content": "x"}, "operations[0].type is missing; give ADD, UPDATE, DELETE"),
        ({"type": "MERGE"}, 'operations[0].type is "MERGE"; give ADD, UPDATE, DELETE'),
        ({"type": "ADD", "content": 5}, "operations[0].content is 5; give a text"),
        ({"type": "ADD", "content": ["x", "y"]}, 'operations[0].content is ["x", "y"]; give a text'),
        ({"type": "ADD", "section": {}}, "operations[0].section is {}; give a text"),
        ({"type": "UPDATE", "bullet_id": 7}, "operations[0].bullet_id is 7; give a text"),
        ({"type": "ADD", "keywords": [1]}, "operations[0].keywords is [1]; give a list of texts"),
        ({"type": "ADD", "keywords": {}}, "operations[0].keywords is {}; give a list of texts"),
    ],
)
def test_a_wrong_type_is_an_error_of_its_field(item: object, error: str) -> None:
    """The field, what stood there and what belongs there; the operation after it is done all the same."""
    good = {"type": "ADD", "section": "rules", "content": "good"}
    operations = read_operations([item, good])  # type: ignore[list-item]
    assert operations[0] == Refusal("operations[0]", "bad_field", error)
    playbook, refusals = apply_delta(Playbook().with_sections(SECTIONS), Delta("d", operations))
    assert ([b.content for b in playbook], [r.text for r in refusals]) == (["good"], [error])


@given(json_values)
def test_any_json_is_read_or_refused(value: object) -> None:
    """Operations and tags of any shape give operations, tags and refusals, never an exception."""
    operations = read_operations(value)  # type: ignore[arg-type]
    apply_delta(Playbook().with_sections(SECTIONS), Delta("", operations))
    read_tags(value)  # type: ignore[arg-type]
    if isinstance(value, list):
        assert len(operations) == len(value)


def test_tags_are_read_field_by_field() -> None:
    """An id and one of three words; anything else is named."""
    assert read_tags([{"id": "a-1", "tag": "Helpful "}, {"id": "a-2", "tag": "good"}, {"tag": "neutral"}, 5]) == (
        BulletTag("a-1", "helpful"),
        Refusal("bullet_tags[1]", "bad_field", 'bullet_tags[1].tag is "good"; give helpful, harmful, neutral'),
        Refusal("bullet_tags[2]", "bad_field", "bullet_tags[2].id is missing; give the id of a bullet"),
        Refusal("bullet_tags[3]", "bad_field", "bullet_tags[3] is 5; give an object"),
    )
    assert read_tags({"a-1": "helpful"})[0].code == "bad_field"  # type: ignore[union-attr]


@given(contents)
def test_content_survives_the_reply(content: str) -> None:
    """Braces, quotes, fences and line breaks in a bullet come through a reply as they were, in a fence or not."""
    reply = json.dumps({"operations": [{"type": "ADD", "section": "rules", "content": content}]}, ensure_ascii=False)
    for text in (reply, f"```json\n{reply}\n```", f"So: {reply} that is all"):
        [operation] = read_operations(object_in(text, "operations")["operations"])
        assert isinstance(operation, Operation)
        assert operation.content == content


@pytest.mark.parametrize(
    "ahead", ["helpful=0 harmful=0 :: ", "[rul-00001] helpful=3 harmful=0 :: helpful=0 harmful=0 :: "]
)
def test_counters_that_a_model_writes_back_are_no_content(ahead: str) -> None:
    """A bullet is shown with its id and counters; a small model gives them back as part of the new content."""
    [operation] = read_operations([{"type": "UPDATE", "bullet_id": "rul-00001", "content": f"{ahead}Use a :: b."}])
    assert isinstance(operation, Operation)
    assert operation.content == "Use a :: b."


def test_no_reply_is_run(tmp_path: Path) -> None:
    """Code in a reply stays text."""
    path = tmp_path / "made"
    code = f"__import__('os').system('touch {path}')"
    for reply in (f'{{"operations": {code}}}', f"{{'operations': [{code}]}}", code):
        with pytest.raises(UnreadableReply):
            object_in(reply, "operations")
    assert not os.path.exists(path)


@given(json_values, st.sampled_from(["{v}", "{{'operations': {v}, }}", '[{{"operations": {v},}},]', "{v} # {{"]))
def test_python_literals_are_read_as_python_reads_them(value: object, around: str) -> None:
    """What Python writes of any JSON value is read back, whatever quotes and escapes it takes."""
    text = f"{{'operations': {value!r}, }}" if around == "{v}" else around.format(v=repr(value))
    if "operations" in text:
        assert object_in(text, "operations")["operations"] == value


@together("cut", range(1, 60, 3))
def test_a_truncated_python_object_is_never_repaired(cut: int) -> None:
    """Python's quotes and trailing commas make nothing whole that is not."""
    text = "{'reasoning': 'it is \\'new\\'', 'operations': [{'type': 'ADD', 'content': \"x\",},], }"
    with pytest.raises(UnreadableReply):
        object_in(text[:-cut], "operations")
