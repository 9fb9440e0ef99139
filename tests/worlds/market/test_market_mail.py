"""Mailboxes: who reads what, in which order, at which cost."""

import hashlib
import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trading import Desk, business, customer

from akinai.core.canonical import canonical
from akinai.core.worlds import read_turn
from akinai.worlds.market.model.actions import FetchMessages
from akinai.worlds.market.rules.mail import render_fetch


def indexes(fetched: Any) -> list[int]:
    return [message["index"] for message in fetched["messages"]]


@pytest.fixture
def five() -> Desk:
    """Ann has five messages, the second and the fourth from the diner, a second apart."""
    desk = Desk([business(), business("diner")])
    for number in range(5):
        desk.at += 1
        desk.say("diner" if number % 2 else "grill", "ann", f"message {number}")
    return desk


def test_pages_of_a_mailbox(five: Desk) -> None:
    """Limit 3 of 5 gives three and more; offset 3 then gives two and no more; past the end there is nothing."""
    everything = five.hears("ann", FetchMessages())
    first = five.hears("ann", FetchMessages(limit=3))
    second = five.hears("ann", FetchMessages(limit=3, offset=3))
    beyond = five.hears("ann", FetchMessages(offset=9, limit=1))
    assert [len(indexes(item)) for item in (everything, first, second, beyond)] == [5, 3, 2, 0]
    assert [item["has_more"] for item in (everything, first, second, beyond)] == [False, True, False, False]
    assert indexes(first) + indexes(second) == indexes(everything)
    assert all(item < two for item, two in pairwise(indexes(everything)))


def test_fetching_again_gives_the_same(five: Desk) -> None:
    """Reading takes nothing out of the box."""
    assert five.hears("ann", FetchMessages()) == five.hears("ann", FetchMessages())


def test_mail_is_filtered_by_sender_index_and_time(five: Desk) -> None:
    """A fetch gives what is from one sender, behind an index, or later than a time, each counted from the oldest."""
    all_of_it = indexes(five.hears("ann", FetchMessages()))
    assert indexes(five.hears("ann", FetchMessages(from_agent_id="diner"))) == [all_of_it[1], all_of_it[3]]
    assert indexes(five.hears("ann", FetchMessages(after_index=all_of_it[2]))) == all_of_it[3:]
    assert indexes(five.hears("ann", FetchMessages(after_index=-1))) == all_of_it
    third = five.hears("ann", FetchMessages())["messages"][2]["created_at"]
    assert indexes(five.hears("ann", FetchMessages(after=third))) == all_of_it[3:]
    both = FetchMessages(from_agent_id="diner", after_index=all_of_it[1], limit=1)
    assert indexes(five.hears("ann", both)) == [all_of_it[3]]
    assert five.act("ann", FetchMessages(after="yesterday")).code == "bad_time"


def test_an_entry_of_a_fetch_stays_small(five: Desk) -> None:
    """What is kept of a fetch is a count, two indexes and a digest; the digest is that of what was told."""
    short = five.act("ann", FetchMessages())
    for _ in range(50):
        five.say("grill", "ann", "x" * 1000)
    long = five.act("ann", FetchMessages())
    assert (short.data["count"], long.data["count"]) == (5, 55)
    assert set(long.data) == {"count", "has_more", "first", "last", "digest"}
    assert len(five.entries[-1].text) < len(five.entries[-52].text) + 20
    assert long.data["digest"] != short.data["digest"]
    fetched = five.hears("ann", FetchMessages())["messages"]
    assert long.data["digest"] == hashlib.sha256(canonical(fetched).encode()).hexdigest()


def test_nobody_reads_what_is_not_its_own(five: Desk) -> None:
    """An agent gets its own mail and no other's."""
    assert indexes(five.hears("grill", FetchMessages())) == []


@given(st.lists(st.tuples(st.sampled_from(("w1", "w2", "w3", "read")), st.integers(1, 4)), max_size=60))
def test_a_reader_behind_its_index_misses_nothing(moves: list[tuple[str, int]]) -> None:
    """However reading and writing alternate, who asks for what is behind its last index gets every message once."""
    desk = Desk([business("w1"), business("w2"), business("w3")])
    sent: list[str] = []
    got: list[str] = []
    last = 0

    def read(limit: int | None) -> None:
        nonlocal last
        fetched = desk.hears("ann", FetchMessages(after_index=last, limit=limit))
        got.extend(item["message"]["content"] for item in fetched["messages"])
        last = max([last, *indexes(fetched)])

    for name, number in moves:
        if name == "read":
            read(number)
        else:
            sent.append(f"{name} {len(sent)}")
            desk.say(name, "ann", sent[-1])
    read(None)
    assert got == sent


def lines_of(act: Callable[[], object]) -> int:
    """Lines of Python that ran."""
    count = 0

    def trace(_: FrameType, event: str, __: object) -> Any:
        nonlocal count
        count += event in ("line", "call")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.slow
def test_an_idle_poll_costs_the_same_in_a_full_market() -> None:
    """Asking for what is behind the last index runs as much code after 8,000 stored messages as after 80."""
    costs: list[int] = []
    desk, sent = Desk([business()], [customer(), customer("bob")]), 0
    for size in (80, 8_000):
        while sent < size:
            desk.say("grill", "ann" if sent % 2 else "bob", "hi")
            sent += 1
        poll = FetchMessages(after_index=len(desk.entries))
        costs.append(lines_of(lambda poll=poll: desk.act("ann", poll)))
        assert desk.entries[-1].outcome.data == {"count": 0, "has_more": False}
    assert costs[1] <= costs[0] + 60  # seven more halvings of the box


def test_what_a_fetch_selected_is_shown_by_any_state(five: Desk) -> None:
    """The state after a fetch has its mail ready for that fetch alone; without it the same is shown."""
    five.act("ann", FetchMessages(limit=2))
    first = read_turn(five.world, five.entries[-1])
    outcome = five.act("ann", FetchMessages(after_index=five.entries[-3].seq))
    last = five.state.fetched
    assert last is not None
    assert [mail.message.model_dump()["content"] for mail in last.mails] == ["message 4"]
    for turn in (first, last.turn):
        action = turn.action
        assert isinstance(action, FetchMessages)
        text = render_fetch(five.state, turn, action, outcome).text
        assert text == render_fetch(five.state.moved(fetched=None), turn, action, outcome).text
        assert ("message 4" in text) == (turn is last.turn)
