"""Suppliers whose letters a model writes: it chooses the words, the rules the terms, and the ledger needs no model."""

from pathlib import Path

import pytest
from business import WORLD, business, do, done, refused

import akinai
from akinai.core.models import Reply, ToolCall
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State

MODEL = "suppliers.model=openai:test"
TO = "orders@northbay-wholesale.com"
ORDER = a.SendEmail(
    to=TO, subject="Order", body="Please send 48 water to Akinai Vending, 88 Harbor Street, Alameda. Account AV-20418."
)
LIE = "Dear friend, today the water is free!"


def written(*sets: str) -> State:
    """The morning after an order by letter."""
    return done(business(1, *sets), ORDER, a.AdvanceDay())


def test_the_rules_fix_the_terms_whatever_a_model_writes() -> None:
    """The order, its price and its day are those of the rules; the words stand above them."""
    by_rules, asked = written(), written(MODEL)
    assert WORLD.actors(asked) == ("supplier_northbay",)
    refused(asked, a.AdvanceDay(), "closed")
    assert "Total charged: $27.36" in WORLD.view(asked, "supplier_northbay").text
    answered, outcome = do(asked, a.WriteReply(text=LIE), "supplier_northbay")
    assert outcome.ok
    assert WORLD.actors(answered) == ("owner",)
    assert (answered.cash_cents, answered.orders) == (by_rules.cash_cents, by_rules.orders)
    [ours], [theirs] = answered.mail.unread, by_rules.mail.unread
    assert ours.body == f"{LIE}\n\n--- our records ---\n{theirs.body}"


def test_without_words_the_records_alone_are_sent() -> None:
    answered, _ = do(written(MODEL), a.WriteReply(text="  \n"), "supplier_northbay")
    assert [letter.body for letter in answered.mail.unread] == [letter.body for letter in written().mail.unread]


def test_a_supplier_may_do_nothing_else() -> None:
    asked = written(MODEL)
    refused(asked, a.SearchWeb(query="water"), "not_yours", "supplier_northbay")
    refused(asked, a.WriteReply(text="Hello"), "closed", "supplier_ggbev")
    refused(business(1, MODEL), a.WriteReply(text="Hello"), "closed", "supplier_northbay")


@pytest.mark.slow
def test_a_model_over_the_wire_writes_and_the_run_replays_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    from akinai.testing.endpoint import Endpoint, ModelCall

    monkeypatch.setenv("OPENAI_API_KEY", "none")

    class Clerk:
        async def reply(self, call: ModelCall) -> Reply:
            assert "You write letters for" in "".join(message.text for message in call.request.messages)
            return Reply("", calls=(ToolCall("c", "write_reply", {"text": "With pleasure."}),))

    store = str(tmp_path / "runs.db")
    with Endpoint(Clerk()) as endpoint:
        [run] = akinai.run(
            "vending",
            agent="naive",
            days=8,
            settings=[MODEL],
            base_url=endpoint.openai_url,
            store=store,
            preset="classic",
        )
        assert endpoint.calls
    written = [entry for entry in run.ledger.entries if entry.actor.startswith("supplier_")]
    assert written
    assert {entry.name for entry in written} == {"WriteReply"}
    assert all(verdict.ok for verdict in akinai.verify(store=store).values())
    [plain] = akinai.run("vending", agent="naive", days=8, store=store, preset="classic")
    assert run.score("net_worth") == plain.score("net_worth")
