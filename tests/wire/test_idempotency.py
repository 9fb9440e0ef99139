"""An idempotency key stands for one message: repeats are answered, anything else under it is refused."""

import asyncio
from collections import Counter
from typing import Any

from wire_server import ServeConfig, Wire, wire_to

KEYED = {"metadata": {"idempotency_key": "k"}}


async def expect_mismatch(wire: Wire, sender: str, to: str, message: Any) -> None:
    """HTTP 200 with `is_error`: nothing was sent, and the answer says so."""
    answer = await wire.act(sender, "SendMessage", {"to_agent_id": to, "message": message, **KEYED})
    assert answer["is_error"]
    assert answer["content"]["code"] == answer["metadata"]["error"]["code"] == "idempotency_mismatch"
    assert "idempotency_key" in answer["content"]["message"]


async def test_a_key_with_another_body_is_refused_also_after_a_restart(store_address: str) -> None:
    """Another text, proposal or recipient under a used key is no success; the first message is still repeated."""
    config = ServeConfig(run="r", store=store_address, port=0)
    payment = {"type": "payment", "proposal_message_id": "p"}
    async with wire_to(config) as wire:
        for id, kind in (("b", "business"), ("e", "business"), ("c", "customer")):
            await wire.register(id, kind)
        await wire.propose("b", "c", "p")
        await wire.propose("b", "c", "q")
        first = await wire.pay("c", "b", "p", **KEYED)
        assert not first["is_error"]
        await expect_mismatch(wire, "c", "b", {"type": "payment", "proposal_message_id": "q"})
    async with wire_to(config) as wire:
        assert await wire.pay("c", "b", "p", **KEYED) == first
        await expect_mismatch(wire, "c", "b", {"type": "payment", "proposal_message_id": "q"})
        await expect_mismatch(wire, "c", "b", {"type": "text", "content": "hello"})
        await expect_mismatch(wire, "c", "e", payment)
        assert [mail["message"]["proposal_message_id"] for mail in await wire.mail("b")] == ["p"]
        assert not (await wire.pay("c", "b", "q"))["is_error"]


async def test_of_different_bodies_at_once_one_is_done(store_address: str) -> None:
    """Forty requests of four bodies under one key, at two servers: ten are answered as done, the others refused."""
    config = ServeConfig(run="r", store=store_address, port=0)
    async with wire_to(config) as wire, wire_to(config) as second:
        await wire.register("b", "business")
        await wire.register("c")
        requests = [(wire, second)[n % 2].text("c", "b", f"body {n % 4}", **KEYED) for n in range(40)]
        answers = await asyncio.gather(*requests)
        codes = Counter(answer["content"].get("code", "sent") for answer in answers)
        assert codes == {"sent": 10, "idempotency_mismatch": 30}
        (mail,) = await wire.mail("b")
        assert {answer["content"]["message"]["content"] for answer in answers if not answer["is_error"]} == {
            mail["message"]["content"]
        }
