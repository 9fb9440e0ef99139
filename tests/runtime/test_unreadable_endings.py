"""A run whose agents wrote no readable actions ends as `unreadable`: counted beside every mean, and in none."""

from pathlib import Path

import pytest

import akinai
from akinai.agents.protocols import CUT_NUDGE, NUDGE, ToolCallProtocol
from akinai.core.actions import Unreadable
from akinai.core.agents import Agent, Move, Role, View, said_beside, split_said
from akinai.core.ledger import Outcome
from akinai.core.models import Reply, ToolCall
from akinai.report.page.html import page
from akinai.report.page.leaderboard import as_page
from akinai.runtime.runs.unreadable import advice, unread_sentence
from akinai.worlds.vending.model.actions import AdvanceDay
from akinai.worlds.vending.world import Vending

NO_CALL = Unreadable.of("Good morning.", NUDGE)


class Doing:
    """Does some actions over and over; every unreadable reply is in other words."""

    def __init__(self, *actions: akinai.Action) -> None:
        self._actions, self._count = actions, 0

    async def act(self, view: View, last: Outcome | None) -> Move:
        action = self._actions[self._count % len(self._actions)]
        self._count += 1
        if isinstance(action, Unreadable):
            action = Unreadable.of(f"{action.text} {self._count}", action.why, action.code)
        return Move(action)


def play(*actions: akinai.Action, max_actions: int = 100) -> akinai.Run:
    return akinai.run("vending", agent=lambda _: Doing(*actions), days=30, max_actions=max_actions, preset="classic")[0]


def test_replies_without_an_action_in_a_row_end_a_run_as_unreadable() -> None:
    """Whatever their words; the run card says whose they are and why they were refused."""
    run = play(NO_CALL)
    assert (run.status, run.ending, run.state, run.entries) == ("done", "unreadable", "unreadable", 20)
    assert run.card["unreadable"] == {"actor": "owner", "replies": 20, "entries": 20, "why": NUDGE}
    assert unread_sentence(run.header).startswith(
        'no action could be read in 20 of 20 entries, replies of owner ("your reply called no tool'
    )


@pytest.mark.parametrize(
    ("actions", "ending"),
    [
        ((NO_CALL, NO_CALL, AdvanceDay()), "unreadable"),
        ((NO_CALL, AdvanceDay()), "message_cap"),
        ((Unreadable.of("{}", "set_price: a price is above 0", "bad_parameters"),), "message_cap"),
    ],
)
def test_a_limit_ends_a_run_as_unreadable_where_most_could_not_be_read(
    actions: tuple[akinai.Action, ...], ending: str
) -> None:
    """More than half of its entries; an action with bad parameters was read."""
    assert play(*actions, max_actions=12).ending == ending


def test_an_ending_of_the_world_stands() -> None:
    """What was unreadable on the way to the horizon is a cost of the player."""
    run = akinai.run("vending", agent=lambda _: Doing(NO_CALL, NO_CALL, AdvanceDay()), days=3, preset="classic")[0]
    assert (run.ending, run.value("net_worth") is None) == ("horizon", False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Six runs of a player that is unreadable on two seeds, and six of another."""
    store = str(tmp_path_factory.mktemp("unreadable") / "a.db")
    seeds = iter(range(1, 7))

    def mumbler(_: Role) -> Agent:
        return Doing(NO_CALL) if next(seeds) in (2, 5) else Doing(AdvanceDay())

    akinai.run("vending", agent=mumbler, seeds="1-6", days=5, preset="classic", store=store, name="mumbler")
    akinai.run("vending", agent="naive", seeds="1-6", days=5, preset="classic", store=store, name="naive")
    return store


def test_an_unreadable_run_is_in_no_mean_and_counted_beside_it(store: str) -> None:
    """In the summary, the frame's values, the group and its figures; its own page still has what its ledger holds."""
    runs = akinai.runs("mumbler", store=store)
    summary = runs.summary()["net_worth"]
    assert (summary.n, summary.failed, summary.mean) == (4, 2, 49_000)
    assert [run.seed for run in runs.unreadable] == [2, 5]
    assert runs[1].score("net_worth") == 50_000
    assert runs[1].value("net_worth") is None
    (group,) = akinai.analyze("mumbler", store=store, scale=False).groups
    assert (group.states, group.endings, group.days) == (
        {"done": 4, "unreadable": 2},
        {"horizon": 4, "unreadable": 2},
        20,
    )
    assert group.scores["net_worth"].summary == summary
    assert group.advice == advice(runs[1].header)
    assert "tool_format_degradation" not in group.findings


def test_a_comparison_loses_the_pairs_of_unreadable_runs_and_says_so(store: str) -> None:
    """Four of six pairs; the seeds are named."""
    compared = akinai.compare("naive", "mumbler", store=store)
    paired = compared.scores["net_worth"].paired
    assert paired is not None
    assert (paired.pairs, paired.failed_b, compared.unreadable) == (4, 2, (2, 5))


def test_a_leaderboard_counts_unreadable_runs(store: str, tmp_path: Path) -> None:
    """In a column of their own; the check of the board holds."""
    board = akinai.leaderboard("mumbler", "naive", output=tmp_path / "board", store=store)
    rows = {row.agent: row for row in board.boards[0].rows}
    assert (rows["mumbler"].unreadable, rows["mumbler"].mean, rows["naive"].unreadable) == (2, 49_000, 0)
    assert [run.score is None for run in rows["mumbler"].runs] == [False, True, False, False, True, False]
    assert "Unreadable runs are in no mean" in page(as_page(board.boards))
    assert akinai.check_leaderboard(tmp_path / "board") == []


def test_an_unreadable_run_is_verified_and_resumed(tmp_path: Path) -> None:
    """A resume goes on, and ends again at the first reply that cannot be read."""
    store, script = str(tmp_path / "a.db"), tmp_path / "prose.txt"
    script.write_text("".join(f'"Day {day}."\n' for day in range(30)), encoding="utf-8")
    run = akinai.run("vending", agent=f"script:{script}", name="prose", preset="classic", store=store)[0]
    assert (run.ending, run.entries) == ("unreadable", 20)
    assert akinai.verify("prose", store=store)["prose-1"].ok
    resumed = akinai.resume("prose", store=store)[0]
    assert (resumed.ending, resumed.entries) == ("unreadable", 21)
    assert "21 of 21 entries" in unread_sentence(resumed.header)


def test_a_cut_reply_says_that_it_was_cut() -> None:
    """With and without a call whose arguments end in the middle; a whole call counts."""
    verbs = Vending().verbs
    for reply in (
        Reply("I think", finish="length"),
        Reply("", (ToolCall("1", "search_web", '{"query": "s'),), finish="length"),
    ):
        (requested,) = ToolCallProtocol().read_moves(verbs, reply)
        assert isinstance(requested.move.action, Unreadable)
        assert (requested.move.action.why, requested.move.action.code) == (CUT_NUDGE, "no_action")
    (requested,) = ToolCallProtocol().read_moves(verbs, Reply("", (ToolCall("1", "advance_day", {}),), finish="length"))
    assert isinstance(requested.move.action, AdvanceDay)


def test_thoughts_stand_marked_and_capped_before_the_text() -> None:
    """Of long thoughts the end; the text beside the action always has room."""
    said = said_beside(Move(AdvanceDay(), "I wait.", "x" * 5_000 + " so I wait"))
    assert said.startswith("<think>\n...xxx")
    assert said.endswith("x so I wait\n</think>\nI wait.")
    assert len(said) < 1_100
    assert split_said(said) == ("I wait.", said[8 : -len("\n</think>\nI wait.")])
    assert split_said("I said </think> aloud") == ("I said </think> aloud", "")
