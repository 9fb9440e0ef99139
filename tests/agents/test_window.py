"""What a model still sees: never a call without its result, never more than fits, and the same for many calls."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from akinai.agents.chat import REPEATED, STRIDE, ChatAgent, ChatOptions, Window, estimated_tokens
from akinai.core.agents import View
from akinai.core.ledger import Outcome
from akinai.core.models import Message, Reply, Request, ToolCall
from akinai.worlds.vending import Vending


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


async def conversation(replies: Sequence[str], outcomes: Sequence[str], news: Mapping[int, str]) -> list[str]:
    """What a model is sent last, after its replies got these outcomes, with news before some of its replies."""
    requests: list[Request] = []

    class Asker:
        async def ask(self, request: Request) -> Reply:
            requests.append(request)
            return Reply(replies[len(requests) - 1])

    agent, last = ChatAgent(Asker(), Vending.verbs, ChatOptions("json")), None
    for number, text in enumerate(outcomes):
        await agent.act(View("a street", Vending.verbs.classes, news=news.get(number, "")), last)
        last = Outcome.refused("no_action", text) if text == "no" else Outcome(text)
    await agent.act(View("a street", Vending.verbs.classes), last)
    return [message.text for message in requests[-1].messages[2:]]


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
