"""What a model still sees: never a call without its result, never more than fits, and the same for many calls."""

from hypothesis import given
from hypothesis import strategies as st

from akinai.agents.chat import STRIDE, Window, estimated_tokens
from akinai.core.models import Message, ToolCall


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
