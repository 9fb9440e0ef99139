"""The moves that a reply decides: one JSON object a reply, or a list, in whatever form models write it. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move
from akinai.core.replies.arguments import TEXT_KEYS, WRAPPERS, read_call, text_of
from akinai.core.replies.calls import MARKS, NAME_KEYS, Call, Candidate, calls_in, of_only_verb
from akinai.core.replies.context import Standing, imagines_outcomes, in_order, is_final, standing_of
from akinai.core.replies.objects import UnreadableReply, fault_in, unquoted
from akinai.core.replies.thoughts import Parts, split_thoughts

EXPECTED = "expected one JSON object with an action by its name, and its parameters beside it"
"""The form of a reply, as refusals tell it: without quotation marks, which models copy and do not escape."""
MOST_CANDIDATES = 200
"""Objects with an action in one reply. A model in a loop writes thousands, and the words around each are read."""
_PLACEHOLDER = re.compile(r"(?:ACTION|TOOL|VERB|FUNCTION|ITS)?_?NAME|ACTION|TOOL|\.\.\.|…|<.*>|\[.*\]|\{.*\}|string")
_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$|```(?:json)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Decision:
    """The candidates that a reply decides, and every candidate in it."""

    decided: Sequence[Candidate]
    candidates: Sequence[Candidate]


def read_moves(verbs: Verbs, reply: str) -> tuple[Move, ...]:
    """The moves that a reply decides, in order; at least one, an `Unreadable` where it decides none.

    Thoughts decide nothing, and neither do quotations, drafts that are then corrected, examples and declined actions.
    A reply with several different objects is refused; several in a list, or several calls in tags, are carried out in
    order. The first move has the text beside its object, and the thoughts. An `Unreadable` keeps the reply.
    """
    plain = _plain_object(reply)
    if plain is not None:
        move = read_object(verbs, plain, reply)
        if not isinstance(move.action, Unreadable):
            return (move,)
    parts = split_thoughts(reply)
    try:
        moves = _moves(verbs, parts, reply)
    except UnreadableReply as error:
        return (Move(Unreadable.of(reply, f"{error}; {EXPECTED}"), thoughts=parts.thoughts),)
    first, *others = moves
    return (replace(first, thoughts=parts.thoughts), *others)


def read_program_moves(verbs: Verbs, line: str) -> tuple[Move, ...]:
    """The moves in a line that a program wrote: plain JSON objects are read as they stand, anything else as replies."""
    plain = _plain_object(line)
    return read_moves(verbs, line) if plain is None else (read_object(verbs, plain, line),)


def read_move(verbs: Verbs, reply: str) -> Move:
    """The one move of a reply, for callers that take one: a list of several is refused."""
    first, *others = read_moves(verbs, reply)
    if others:
        return Move(
            Unreadable.of(reply, f"the reply holds {len(others) + 1} actions and one is taken here; {EXPECTED}")
        )
    return first


def read_object(verbs: Verbs, fields: Mapping[str, Any], reply: str) -> Move:
    """The action in a parsed object as it stands, and the object's text fields. An `Unreadable` keeps `reply`."""
    key = next((key for key in NAME_KEYS if key in fields), None)
    if key is None and (named := of_only_verb(verbs, fields)):
        key, fields = "action", named
    if key is None:
        return Move(Unreadable.of(reply, f"the object names no action; {EXPECTED}"))
    parameters = {name: value for name, value in fields.items() if name != key}
    own = verbs.parameters(fields[key])
    texts = {name: value for name, value in parameters.items() if name in TEXT_KEYS and name not in own}
    parameters = {name: value for name, value in parameters.items() if name not in texts}
    for wrapper in WRAPPERS:
        if wrapper in parameters and len(parameters) == 1:
            inner = _arguments(parameters[wrapper])
            if isinstance(inner, dict):
                inside = cast("dict[str, Any]", inner)
                texts |= {name: value for name, value in inside.items() if name in TEXT_KEYS and name not in own}
                inner = {name: value for name, value in inside.items() if name in own or name not in TEXT_KEYS}
            return _move(verbs.parse(fields[key], inner, reply), texts)
    return _move(verbs.parse(fields[key], parameters, reply), texts)


def _move(action: Action, texts: Mapping[str, Any]) -> Move:
    return Move(action) if isinstance(action, Unreadable) else Move(action, join_texts(*map(text_of, texts.values())))


def _plain_object(reply: str) -> Mapping[str, Any] | None:
    """The object that is the whole reply, as JSON."""
    if not reply.lstrip().startswith("{"):
        return None
    try:
        value: object = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def _moves(verbs: Verbs, parts: Parts, reply: str) -> Sequence[Move]:
    """The moves in a reply without its thoughts. UnreadableReply says why there are none."""
    text = unquoted(parts.text)
    if not text.strip():
        raise UnreadableReply(
            "the reply is empty"
            if not reply.strip()
            else "the reply ends inside its thoughts"
            if parts.unended
            else "the reply holds nothing but thoughts"
        )
    candidates, others = calls_in(verbs, text)
    if not candidates:
        raise UnreadableReply(
            fault_in(text)
            or ("the object names no action" if others else "the reply holds no JSON object with an action")
        )
    if len(candidates) > MOST_CANDIDATES:
        raise UnreadableReply(f"the reply holds {len(candidates):,} objects with an action; send one or a list")
    decision = _decide(verbs, text, candidates)
    calls = [call for candidate in decision.decided for call in candidate.calls]
    moves = [_call_move(verbs, call, reply if len(calls) == 1 else _call_text(call)) for call in calls]
    if isinstance(moves[0].action, Unreadable):
        return moves
    before, after = _text_beside(text, decision)
    return [replace(moves[0], said=join_texts(before, moves[0].said, after)), *moves[1:]]


def _decide(verbs: Verbs, text: str, candidates: Sequence[Candidate]) -> _Decision:
    """The candidates that decide. UnreadableReply where several differ, and where none is left."""
    standing: list[Candidate] = []
    alternatives = 0
    final: Candidate | None = None
    for number, candidate in enumerate(candidates):
        before = candidates[number - 1].end if number else 0
        after = candidates[number + 1].start if number + 1 < len(candidates) else len(text)
        makes = standing_of(text, candidate.start, candidate.end, before, after)
        if makes is Standing.SET_ASIDE or _is_placeholder(candidate):
            continue
        standing.append(candidate)
        alternatives += makes is Standing.ALTERNATIVE
        final = candidate if number and is_final(text, candidate.start, before) else None
    if len(standing) <= alternatives < 2:
        raise UnreadableReply("the reply quotes, drafts or declines an action and decides on none")
    different = len({_key(verbs, candidate) for candidate in standing}) > 1
    marked = sum(candidate.marked for candidate in standing)
    if not different and marked < 2:
        return _Decision(standing[:1], standing)
    spans = [(candidate.start, candidate.end) for candidate in standing]
    listed = (marked == len(standing) or in_order(text, spans)) and not imagines_outcomes(text, spans)
    if listed and not alternatives:
        return _Decision(standing, standing)
    if final is not None:
        return _Decision([final], [final])
    raise UnreadableReply(
        f"the reply holds {len(standing)} different actions that could be meant; send one object, or a list of several"
    )


def _is_placeholder(candidate: Candidate) -> bool:
    """Whether an object is the prompt's example."""
    names = [next((call.fields[key] for key in NAME_KEYS if key in call.fields), None) for call in candidate.calls]
    return all(isinstance(name, str) and _PLACEHOLDER.fullmatch(name.strip()) for name in names)


def _key(verbs: Verbs, candidate: Candidate) -> str:
    """A text that is the same for candidates that ask for the same."""
    moves = [_call_move(verbs, call, _call_text(call)) for call in candidate.calls]
    return json.dumps([[type(move.action).__name__, move.action.dumped()] for move in moves], sort_keys=True)


def _call_move(verbs: Verbs, call: Call, reply: str) -> Move:
    """The move of one call: as it stands, or else repaired."""
    move = read_object(verbs, call.fields, reply)
    key = next((key for key in NAME_KEYS if key in call.fields), None)
    if isinstance(move.action, Unreadable) and key is not None:
        arguments = {name: value for name, value in call.fields.items() if name != key}
        move = read_call(verbs, call.fields[key], arguments, reply)
    return move if isinstance(move.action, Unreadable) else replace(move, said=join_texts(call.text, move.said))


def _call_text(call: Call) -> str:
    return json.dumps(call.fields, ensure_ascii=False, default=str)


def _text_beside(text: str, decision: _Decision) -> tuple[str, str]:
    """The prose before the first object that decides, and the prose after it, without the objects that decide."""
    spans = sorted((candidate.start, candidate.end) for candidate in decision.candidates)
    after = "".join(
        text[end : following[0] if following else len(text)]
        for (_, end), following in zip(spans, [*spans[1:], None], strict=True)
    )
    return _prose(text[: spans[0][0]]), _prose(after)


def _prose(text: str) -> str:
    return _FENCE.sub("", MARKS.sub("", text)).strip()


def join_texts(*texts: str) -> str:
    """The texts that are not empty, one below the other."""
    return "\n".join(filter(None, texts))


def _arguments(value: object) -> object:
    """The value of a wrapper as an object: JSON text is parsed, null is an empty object."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return value
    return {} if value is None else value
