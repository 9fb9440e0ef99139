"""akinai.why of a market: the decision of one participant that cost most, in words, by the welfare or its own gain."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai import worlds
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.errors import UnknownName
from akinai.core.ledger import Outcome
from akinai.core.worlds import replay
from akinai.report.why.tables import reading_sentences
from akinai.runtime.why import study
from akinai.runtime.why.explanation import Explanation
from akinai.runtime.why.joint import JointBranches
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.players.customers import PLAYERS
from akinai.worlds.market.players.observations import ReceivedMessage, messages_in, total

SELLING = {"businesses.agent": "same", "customers.agent": "careful"}
Offers = list[ReceivedMessage]


class Planted:
    """The careful player of an actor, whose messages are changed."""

    def __init__(self, role: Role, change: Callable[[a.SendMessage, Offers], a.SendMessage | a.Wait]) -> None:
        self.inner, self.change, self.offers = PLAYERS["careful"](role), change, Offers()

    async def act(self, view: View, last: Outcome | None) -> Move:
        if last is not None and last.data:
            self.offers += [mail for mail in messages_in(last) if isinstance(mail.message, a.OrderProposal)]
        move = await self.inner.act(view, last)
        return Move(self.change(move.action, self.offers)) if isinstance(move.action, a.SendMessage) else move


def planted(actor: str, change: Callable[[a.SendMessage, Offers], a.SendMessage | a.Wait]) -> AgentFactory:
    """A factory that changes the messages of one actor."""

    def factory(role: Role) -> Agent:
        return Planted(role, change) if role.actor == actor else PLAYERS["careful"](role)

    return factory


def dearest(action: a.SendMessage, offers: Offers) -> a.SendMessage:
    """Pays the dearest offer, whatever it would have paid."""
    if not isinstance(action.message, a.Payment):
        return action
    worst = max(offers, key=lambda mail: total(mail.message))  # pyright: ignore[reportArgumentType]
    assert isinstance(worst.message, a.OrderProposal)
    return a.SendMessage(to_agent_id=worst.sender, message=a.Payment(proposal_message_id=worst.message.id))


def doubled(action: a.SendMessage, _: Offers) -> a.SendMessage:
    """Asks twice the price."""
    if not isinstance(action.message, a.OrderProposal):
        return action
    items = [item.model_copy(update={"unit_price": 2 * item.unit_price}) for item in action.message.items]
    message = action.message.model_copy(update={"items": items, "total_price": 2 * action.message.total_price})
    return action.model_copy(update={"message": message})


def silent(action: a.SendMessage, _: Offers) -> a.SendMessage | a.Wait:
    """Waits for more mail in place of every proposal."""
    return a.Wait() if isinstance(action.message, a.OrderProposal) else action


def reworded(action: a.SendMessage, _: Offers) -> a.SendMessage:
    """Asks in a few more words."""
    if not isinstance(action.message, a.Text):
        return action
    return action.model_copy(update={"message": a.Text(content=f"{action.message.content} Thank you.")})


def played(store: Path, agent: str | AgentFactory, **settings: Any) -> str:
    """A market of two customers and six businesses in a store; its id."""
    run = akinai.run("market", agent=agent, seeds=1, store=str(store), settings=settings)[0]
    assert run.status == "done", run.reason
    return run.id


def explained(store: Path, agent: str | AgentFactory, actor: str | None = None, **settings: Any) -> Explanation:
    return akinai.why(played(store, agent, **settings), actor=actor, store=str(store))


def test_a_customer_that_pays_the_dearest_offer_is_named(tmp_path: Path) -> None:
    """Its payment is the only row, worth what it paid above the cheapest offer, which is named beside it."""
    explanation = explained(tmp_path / "a.db", planted("customer_0002", dearest))
    assert len(explanation.cost) == 1
    assert not explanation.made
    row = explanation.cost[0]
    assert row.words.startswith("Ines Drummond paid Orchard Kitchen $27.78")
    assert row.instead == "Ines Drummond paid Kettle House $25.32"
    assert (row.made, row.ci95, explanation.value - (explanation.player_value or 0)) == (-246, None, -246)
    assert "one future" in " ".join(reading_sentences(explanation))


@pytest.mark.parametrize("mistake", [doubled, silent])
def test_the_offer_that_lost_a_business_its_deal_is_named(tmp_path: Path, mistake: Any) -> None:
    """By the business's own profit, the first row is its offer at twice the price, or the wait in place of one."""
    seller, store = "business_0006", tmp_path / "a.db"
    own = akinai.why(played(store, "careful", **SELLING), actor=seller, store=str(store))
    assert own.headline == "profit"
    assert own.value > 0
    assert (own.parted, own.cost, own.made) == (0, (), ())
    explanation = explained(store, planted(seller, mistake), seller, **SELLING)
    assert (explanation.value, explanation.player_value) == (0, own.value)
    row = explanation.cost[0]
    assert row.made == -own.value
    assert "Kettle House proposed to Ines Drummond" in (row.instead if mistake is silent else row.words)


def test_everybody_is_at_once_without_a_clock(tmp_path: Path) -> None:
    """Under the wall clock the rest is played an action a second: the same payment is found."""
    store = tmp_path / "a.db"
    explanation = explained(store, planted("customer_0002", dearest), clock="wall")
    assert [row.words for row in explanation.cost] == ["Ines Drummond paid Orchard Kitchen $27.78"]
    assert explanation.cost[0].made == -246


def test_a_player_told_of_another_past_goes_on_from_it(tmp_path: Path) -> None:
    """Where the careful player takes over from one that asks in other words, nobody is asked or offered twice."""
    store = tmp_path / "a.db"
    run = akinai.runs(played(store, planted("customer_0002", reworded)), store=str(store))[0]
    world = worlds.load(run.world)
    crowd = JointBranches(world, replay(world, run.ledger), "careful")
    for index in (20, 25, 30, 35):
        actions = [step.turn for step in (*crowd.steps[:index], *asyncio.run(crowd.play_on(index)))]
        sent = [(turn.actor, turn.action) for turn in actions if isinstance(turn.action, a.SendMessage)]
        written = [(actor, action.to_agent_id, action.message.type) for actor, action in sent]
        assert len(set(written)) == len(written)


def test_branches_between_equal_values_are_spared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halving a long record finds what playing all of it finds, with fewer branches."""
    explanations: list[Explanation] = []
    for index, most in enumerate((64, 2)):
        monkeypatch.setattr(study, "ALL_PLAYED", most)
        explanations.append(
            explained(tmp_path / f"{index}.db", "cheapest", None, **{"customers.count": 3, "businesses.count": 9})
        )
    whole, halved = explanations
    assert whole.cost
    assert (halved.cost, halved.made) == (whole.cost, whole.made)
    assert halved.branches < whole.branches


def test_an_actor_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A name of nobody is answered with the closest."""
    store = tmp_path / "a.db"
    run = played(store, "careful")
    with pytest.raises(UnknownName, match="customer_0001"):
        akinai.why(run, actor="customer_001", store=str(store))
