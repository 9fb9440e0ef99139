"""The corpus of replies is read as an honest reader would, and nothing is done that a reply does not decide."""

import json
from pathlib import Path
from typing import Any

from akinai.core.actions import Action, Unreadable
from akinai.core.agents import Move
from akinai.core.replies.moves import read_moves
from akinai.worlds.vending import Vending
from together import together

VERBS = Vending.verbs
SEVERAL = "different actions that could be meant"
REPLIES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "seen.jsonl").read_text(encoding="utf-8").splitlines()
]
MISSES = {
    "seen-046": "a list of all actions with a question is refused as several different ones, and not as none",
}
"""Replies that are refused for another reason than an honest reader's. None of them does anything."""


def expected_actions(expect: dict[str, Any]) -> list[Action]:
    """The decisions of a reply, as the world parses them."""
    return [
        VERBS.settled(VERBS.parse(decision["action"], decision["parameters"], ""))
        for decision in expect.get("decisions", ())
    ]


def actions_in(moves: tuple[Move, ...]) -> list[Action]:
    """The actions that are done."""
    return [VERBS.settled(move.action) for move in moves if not isinstance(move.action, Unreadable)]


@together("case", REPLIES)
def test_a_reply_is_read_as_an_honest_reader_would(case: dict[str, Any]) -> None:
    """The decisions are done in order; one of several is asked for; nothing is done where nothing is decided."""
    moves = read_moves(VERBS, case["reply"])
    assert actions_in(moves) == expected_actions(case["expect"])
    if "decisions" not in case["expect"] and case["id"] not in MISSES:
        assert isinstance(moves[0].action, Unreadable)
        assert (SEVERAL in moves[0].action.why) == ("ask" in case["expect"])


@together("case", [case for case in REPLIES if "thought" in case])
def test_thoughts_are_kept_apart(case: dict[str, Any]) -> None:
    """A thought stands beside the move, and not in its text."""
    move = read_moves(VERBS, case["reply"])[0]
    assert case["thought"] in move.thoughts
    assert case["thought"] not in move.said


@together("case", [case for case in REPLIES if "said" in case])
def test_what_is_said_beside_a_decision_is_kept(case: dict[str, Any]) -> None:
    """The prose of a reply that decides is its move's text; a reply that is refused is kept whole."""
    move = read_moves(VERBS, case["reply"])[0]
    assert case["said"] in (move.action.text if isinstance(move.action, Unreadable) else move.said)
