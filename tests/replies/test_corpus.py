"""The corpus of raw replies keeps the form that README.md promises; what the reader makes of them is tested with the reader."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from akinai.core.actions import Unreadable
from akinai.worlds.vending import Vending
from together import together

HERE = Path(__file__).parent
DOUBTFUL = ("thought", "draft", "quotation", "injection", "declined", "refusal", "example", "reasoning_unmarked")
"""Beginnings of the kinds in which something stands that decides nothing."""


def replies(file_name: str) -> list[dict[str, Any]]:
    """The lines of one file of the corpus."""
    return [json.loads(line) for line in (HERE / file_name).read_text("utf-8").splitlines()]


CORPUS = {name: replies(name) for name in ("seen.jsonl", "set_aside.jsonl")}
EVERY = [row for rows in CORPUS.values() for row in rows]


def test_corpus_has_its_size():
    """At least 140 replies to write the reader by, and exactly sixty to judge it by, none of them twice."""
    assert len(CORPUS["seen.jsonl"]) >= 140
    assert len(CORPUS["set_aside.jsonl"]) == 60
    assert len({row["id"] for row in EVERY}) == len({row["reply"].strip() for row in EVERY}) == len(EVERY)


@pytest.mark.parametrize("name", CORPUS)
def test_corpus_is_mixed(name: str):
    """Each file has six families or more, and a third of it holds thoughts, drafts, injections or refusals."""
    rows = CORPUS[name]
    assert len({row["family"] for row in rows}) >= 6
    doubtful = [row for row in rows if row["kind"].startswith(DOUBTFUL) or "thought" in row]
    assert len(doubtful) * 3 >= len(rows)
    assert {key for row in rows for key in row["expect"]} == {"decisions", "ask", "nothing"}


@together("row", EVERY)
def test_reply_has_its_form(row: dict[str, Any]):
    """A line has the keys of README.md, its fragments are in the reply, and its decisions are actions of the world."""
    required = {"id", "family", "kind", "world", "reply", "expect"}
    assert required <= set(row) <= required | {"said", "thought"}
    assert row["world"] == "vending"
    assert all(re.fullmatch("[a-z][a-z_]*", row[key]) for key in ("family", "kind"))
    assert all(row[key] and row[key] in row["reply"] for key in ("said", "thought") if key in row)
    if "decisions" not in row["expect"]:
        assert row["expect"] in ({"ask": "several"}, {"nothing": True})
        return
    assert set(row["expect"]) == {"decisions"}
    assert row["expect"]["decisions"]
    for decision in row["expect"]["decisions"]:
        assert set(decision) == {"action", "parameters"}
        action = Vending.verbs.parse(decision["action"], decision["parameters"], row["reply"])
        assert not isinstance(action, Unreadable), action
        assert action.tool_name() == decision["action"]


def test_set_aside_is_unchanged():
    """The sixty set aside are the bytes whose hash README.md holds since before the reader."""
    digest = hashlib.sha256((HERE / "set_aside.jsonl").read_bytes()).hexdigest()
    assert re.findall(r"`([0-9a-f]{64})`", (HERE / "README.md").read_text("utf-8")) == [digest]
