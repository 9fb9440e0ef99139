"""What a model still sees: never a call without its result, never more than fits, and the same for many calls."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from akinai.agents.chat import REPEATED, STRIDE, ChatAgent, ChatOptions, Memory, Window, estimated_tokens, prompt
from akinai.core.agents import Move, View
from akinai.core.errors import ContextLimit
from akinai.core.ledger import Outcome
from akinai.core.models import Message, Reply, Request, ToolCall
from akinai.worlds.vending import Vending

VERBS = tuple(verb for verb in Vending.verbs.classes if verb.tool_name() in ("notepad_read", "wait_until"))


def exchange(n: int, calls: int, words: int) -> list[Message]:
    """A reply with so many calls, and their results."""
    tool_calls = tuple(ToolCall(f"{n}-{i}", "look", {}) for i in range(calls))
    answers = [Message("tool", "word " * words, call_id=call.id) for call in tool_calls] or [Message("user", "go on")]
    return [Message("assistant", f"reply {n}", tool_calls), *answers]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60)), min_size=1, max_size=60), st.integers(100, 2000))
def test_calls_and_results_stay_together_and_the_newest_stay(shapes: list[tuple[int, int]], limit: int) -> None:
    """However a conversation grows, the window begins with a reply, holds whole exchanges, and ends with the newest."""
    window, dropped = Window(limit), list[Message]()
    messages: list[Message] = []
    for n, (calls, words) in enumerate(shapes):
        for message in exchange(n, calls, words):
            window.add(message)
            messages.append(message)
        dropped += window.overflow()
        remaining = list(window.messages)
        assert dropped + remaining == messages
        assert remaining[0].speaker == "assistant"
        call_ids = {call.id for message in remaining for call in message.calls}
        assert call_ids == {message.call_id for message in remaining if message.call_id}
        if len([message for message in remaining if message.speaker == "assistant"]) > 1:
            assert sum(map(estimated_tokens, remaining)) <= limit


def test_the_window_is_cut_in_strides() -> None:
    """A full window gives up a quarter at once, so that most calls see an unchanged beginning."""
    window, cuts = Window(1000), 0
    for n in range(200):
        for message in exchange(n, 1, 20):
            window.add(message)
        cuts += bool(window.overflow())
    exchange_tokens = sum(map(estimated_tokens, exchange(9, 1, 20)))
    assert cuts <= 200 * exchange_tokens / (1000 * STRIDE) + 1
    assert cuts < 200 / 3


def test_room_is_kept_for_what_never_leaves() -> None:
    """What is reserved for the system's message is not filled by the conversation."""
    window = Window(1000)
    for n in range(50):
        for message in exchange(n, 1, 20):
            window.add(message)
        window.overflow(reserved=700)
        assert sum(map(estimated_tokens, window.messages)) <= 300


def test_japanese_counts_more_than_a_quarter() -> None:
    """A letter of Japanese is about a token; four letters of English are one."""
    assert estimated_tokens(Message("user", "a" * 400)) == 104
    assert estimated_tokens(Message("user", "牛乳" * 200)) == 404


WAIT, LOOK = '{"action": "WAIT_UNTIL", "hour": 15}', '{"action": "NOTEPAD_READ"}'
Protocol = Literal["tools", "json"]
Turn = tuple[Outcome, str]
"""The outcome of a move, and the news before it."""


class Player:
    """A model that gives these replies in turn; a prompt of more tokens than `most` is too long for its server."""

    def __init__(self, replies: Iterable[Reply], most: int = 10**9) -> None:
        self._replies, self._most = iter(replies), most
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        if request.messages[-1].text == prompt("summary"):
            return Reply("Tea sells.")
        if sum(map(estimated_tokens, request.messages)) > self._most:
            raise ContextLimit("too long")
        self.requests.append(request)
        return next(self._replies)


async def play(model: Player, options: ChatOptions, turns: Sequence[Turn], past: Sequence[Move] = ()) -> list[Move]:
    """The moves of an agent in these turns, of which it takes over those of the past."""
    agent, last, moves = ChatAgent(model, Vending.verbs, options), None, list[Move]()
    for number, (outcome, news) in enumerate(turns):
        view = View("a street", VERBS, news=news)
        if number < len(past):
            await agent.remember(view, last, past[number])
        moves.append(past[number] if number < len(past) else await agent.act(view, last))
        last = outcome
    return moves


async def conversation(replies: Sequence[str], outcomes: Sequence[str], news: Mapping[int, str]) -> list[str]:
    """What a model is sent last, after its replies got these outcomes, with news before some of its replies."""
    model = Player(map(Reply, replies))
    got = [Outcome.refused("no_action", text) if text == "no" else Outcome(text) for text in (*outcomes, "")]
    await play(model, ChatOptions("json"), [(outcome, news.get(n, "")) for n, outcome in enumerate(got)])
    return [message.text for message in model.requests[-1].messages[2:]]


async def test_an_exchange_that_repeats_stands_once() -> None:
    """Equal actions with equal outcomes in a row are one exchange with their number; others stay as they were."""
    sent = await conversation([WAIT, LOOK, LOOK, f"Again.\n{LOOK}", WAIT, WAIT, ""], ["a", "b", "b", "b", "c", "d"], {})
    assert sent == [WAIT, "a", LOOK, f"b\n\n{REPEATED.format(times=3)}", WAIT, "c", WAIT, "d"]
    unread = await conversation(["hm", "hm?", LOOK, ""], ["no", "no", "b"], {})
    assert len(unread) == 4
    assert unread[0] == "hm"
    assert REPEATED.format(times=2) in unread[1]


async def test_what_happened_between_keeps_exchanges_apart() -> None:
    """News between two equal exchanges, and a reply with two moves, are never dropped."""
    sent = await conversation([LOOK, LOOK, ""], ["b", "b"], {1: "A letter came."})
    assert sent == [LOOK, "b", "A letter came.", LOOK, "b"]


WORDY = Outcome("Tea sells well this week. " * 12)
GOOD: list[tuple[str, dict[str, int]]] = [("notepad_read", {}), ("wait_until", {"hour": 15})]
Shape = tuple[list[tuple[str, dict[str, int]]], str]
"""The calls of a reply, and the text beside them; without a call it is unreadable."""


def shapes(calls: Sequence[tuple[str, dict[str, int]]], most: int) -> st.SearchStrategy[list[Shape]]:
    """Replies of up to so many of these calls."""
    replies = st.tuples(st.lists(st.sampled_from(calls), max_size=most), st.sampled_from(["hm", "I look."]))
    return st.lists(replies, min_size=1, max_size=3)


TURNS = st.lists(
    st.tuples(st.sampled_from([Outcome("Tea."), WORDY, WORDY]), st.sampled_from(["", "", "", "A letter.", "A bill."])),
    min_size=9,
    max_size=25,
)


def replies_of(shapes: Iterable[Shape], protocol: Protocol) -> Iterable[Reply]:
    """Replies of these shapes in the words of a protocol, again and again, each with ids of its own."""
    for number, (calls, text) in enumerate(cycle(shapes)):
        objects = [{"action": name.upper(), "reasoning": text, **fields} for name, fields in calls]
        if protocol == "tools":
            yield Reply(text, tuple(ToolCall(f"{number}-{i}", *call) for i, call in enumerate(calls)))
        else:
            yield Reply(json.dumps(objects[0] if len(objects) == 1 else objects) if objects else text)


def by_place(request: Request) -> list[Message]:
    """The messages of a request, whose calls are named by their places. AssertionError unless results follow calls."""
    messages, waiting = list[Message](), list[str]()
    for place, message in enumerate(request.messages):
        assert waiting[:1] == ([message.call_id] if message.speaker == "tool" else [])
        waiting = [*waiting[1:], *(call.id for call in message.calls)]
        calls = tuple(replace(call, id=f"{place}-{n}") for n, call in enumerate(message.calls))
        messages.append(replace(message, calls=calls, call_id=""))
    assert not waiting
    return messages


WINDOWS, CUTS = st.integers(100, 900), st.integers(0, 9)


@given(
    shapes([*GOOD, ("wait_until", {"hour": 99})], 3),
    TURNS,
    CUTS,
    WINDOWS,
    st.sampled_from(["tools", "json"]),
    st.sampled_from(["trim", "summary"]),
)
async def test_results_follow_their_calls(
    shapes: list[Shape], turns: list[Turn], cut: int, window: int, protocol: Protocol, memory: Memory
) -> None:
    """Whatever a model replies and is told, in a small window, after a limit of its server, and after a takeover. Where
    no tools are offered, no call stays."""
    past: list[Move] = []
    for _ in range(2):
        model = Player(replies_of(shapes, "tools"), most=600)
        past = (await play(model, ChatOptions(protocol, memory, window, "Play."), turns, past))[:cut]
        for request in model.requests:
            by_place(request)


@given(shapes(GOOD, 1), TURNS, CUTS, WINDOWS, st.sampled_from(["tools", "json"]))
async def test_a_conversation_that_is_taken_over_is_the_same(
    shapes: list[Shape], turns: list[Turn], cut: int, window: int, protocol: Protocol
) -> None:
    """Replies of one action are told as they were: the requests after them are those without a takeover."""
    options = ChatOptions(protocol, "trim", window, "Play.")
    model, other = (Player(islice(replies_of(shapes, protocol), first, None)) for first in (0, cut))
    moves = await play(model, options, turns)
    await play(other, options, turns, moves[:cut])
    assert list(map(by_place, other.requests)) == list(map(by_place, model.requests[cut:]))
