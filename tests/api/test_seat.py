"""A seat: whose turn it is, and what an action is answered with."""

import pytest

import akinai
from akinai import worlds
from akinai.api.seat import Seat, own_actors
from akinai.core.agents import Move
from akinai.core.errors import EndRun, UsageError


async def test_an_answer_is_text_for_models_and_data_for_programs() -> None:
    """Done, refused, impossible and after the end: each has its document, and a reward only where an action was taken."""
    async with await akinai.aopen("vending", days=1, preset="classic") as session:
        seat = Seat(session)
        look = seat.look()
        assert (look.text, look.document, look.metadata) == (session.view().text, {"ok": True, "done": False}, None)
        assert seat.prompt().endswith(look.text)
        done = await seat.act("get_money_balance")
        assert list(done.document) == ["ok", "code", "data", "done"]
        assert done.metadata == {"akinai/reward": session.reward}
        refused = await seat.take(seat.read('{"action": "sell_kidney"}'))
        assert refused.text.startswith("Refused (no_action): ")
        assert (refused.ok, refused.code, refused.document["code"]) == (False, "no_action", "no_action")
        no_json = {"item": object()}
        failed = await seat.settle(seat.act("set_price", no_json), errors=True)
        assert failed.document == {"ok": False, "code": "failed", "done": False}
        with pytest.raises(UsageError, match="no JSON"):
            await seat.settle(seat.act("set_price", no_json))
        last = await seat.act("advance_day")
        assert (last.done, last.text.endswith("\n\nThe run is over: horizon.")) == (True, True)
        over = await seat.settle(seat.act("advance_day"))
        assert (over, seat.look().text) == (seat.over(), over.text)
        assert over.document == {"ok": False, "code": "over", "done": True}
        with pytest.raises(EndRun):
            await seat.act("advance_day")


async def test_a_seat_is_an_actor_with_its_sub_agents_or_all_that_are_held() -> None:
    """It plays, waits for and lists its own; the turn of a sub-agent is told with its view."""
    async with await akinai.aopen("vending", preset="classic") as session:
        owner, everybody = Seat(session, "owner"), Seat(session)
        assert own_actors(session) == ["owner"]
        assert (owner.wait, everybody.wait) == ("own", True)
        task = session.world.verbs.parse("delegate_research", {"task": "Find water."}, "")
        delegated = await owner.take(Move(task))
        assert owner.on_turn() == everybody.on_turn() == "owner/research-1"
        assert delegated.text.endswith(f"You act for owner/research-1 now.\n\n{session.view().text}")
        assert owner.plays("owner/research-1")
        assert not owner.plays("rival")
        assert everybody.plays("rival")
        assert [entry.actor for entry in await Seat(session, "rival").entries()] == []
        assert [entry.actor for entry in await owner.entries()] == ["owner"]


@pytest.mark.parametrize("world", ["vending", "market"])
def test_tools_are_all_that_the_seat_can_use(world: str) -> None:
    """Those of its sub-agents included, whatever is offered now; their schemas hold no reference."""
    hold = ["customers"] if world == "market" else None
    preset = "classic" if world == "vending" else None
    with akinai.open(world, hold=hold, preset=preset) as session:
        seat = Seat(session)
        names = [tool["name"] for tool in seat.tools()]
        every_name = [verb.tool_name() for verb in worlds.load(world).verbs.classes]
        assert names == [name for name in every_name if name in names]
        if world == "vending":
            assert {"get_price_lists", "take_pitch", "write_reply"} <= {*every_name} - {*names}
            assert {"restock_slot", "report", "advance_day"} <= {*names}  # the physical sub-agent's, and the owner's
        assert "$ref" not in str(seat.tools())
        assert set(seat.offered()) <= {tool["name"] for tool in seat.tools()}
