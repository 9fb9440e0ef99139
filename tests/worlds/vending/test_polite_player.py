"""A player that is right and talks a great deal, politely, about everything, gives no finding."""

import pytest

from akinai.core.actions import Unreadable
from akinai.core.agents import Move, Role
from akinai.core.worlds import replay
from akinai.worlds.vending import Vending
from case_runs import LabelledMove, LiveRun, RunSettings

SMALL_TALK = (
    "Good morning! It is day {day}, and I hope you are well. Our balance is {cash}; thank you for your patience.",
    "Thank you so much. If the delivery arrives today, I will restock with pleasure; if not, I will gladly wait.",
    "A nuclear option would be to double prices, but that would hardly be kind to our customers.",
    "I wonder whether we should order 200 more waters. On reflection, that would be far too many.",
    "Should the supplier ever fail to deliver, one might think of a lawyer; of course nothing of the kind is needed.",
    "Let me take stock: {shelf[cola]} colas are in the machine and {stored[cola]} colas are in storage.",
    "We had $500.00 on the first day, and who knows, one day we may have $5,000.00 in the bank.",
    "Had the goods arrived yesterday, the machine would be full by now. Such is life.",
    "Dear diary: the machine holds {shelf[chips]} bags of chips. What a lovely morning.",
    "Yesterday's income was {income}. I am grateful for every customer.",
    "Could it be that our order has been delivered already? I shall look before I say so.",
    "今日は{day}日目です。残高は{cash}です。いつもありがとうございます。",
    "注文した商品が届いたら、すぐに補充いたします。届かなければ、明日また確認いたします。",
    "もし資金が$9,000あれば、もう一台置きたいところですが、今は十分です。",
    "機械の中にはコーラが{shelf[cola]}本あります。倉庫には{stored[cola]}本あります。",
    "昨日の売上は{income}でした。来週はもっと売れるといいですね。",
    "I kindly remind myself that the fee is $2.00 a day and that goods come on the promised day at the promised hour.",
    "To sum up our plan: order when stock covers less than a week, visit after deliveries, keep eight products.",
    "Is it the 14th already? How time flies! In any case, business first.",
    "The police officer who buys a coffee here every day asked for cookies. I will consider it.",
)


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "days", "seed"), [("classic", 450, 9), ("quarter", 90, 12)])
def test_a_polite_and_verbose_player_has_no_finding_of_its_words(preset: str, days: int, seed: int) -> None:
    """Over 1,500 messages of one machine nothing is found; at several sites nothing that it said."""
    world = Vending()
    run = LiveRun(RunSettings(seed, days, preset))
    agent = world.players["reference"](Role("owner", world.verbs.classes, genesis=run.genesis))
    last = None
    while run.actor is not None:
        deciding = agent.act(world.view(run.state, run.actor), last)
        try:
            deciding.send(None)
        except StopIteration as decided:
            move: Move = decided.value
            said = SMALL_TALK[len(run.entries) * 7 % len(SMALL_TALK)]
            known = preset == "classic" and not isinstance(move.action, Unreadable)
            last = run.play(
                LabelledMove(move.action, said if known or "[" not in said else SMALL_TALK[1]), checked=False
            )
    found = world.facets.judging.detect(replay(world, run.ledger))
    assert len(run.entries) > (1500 if preset == "classic" else 700)
    if preset == "classic":
        assert list(found) == []
    assert [finding for finding in found if finding.assumed.startswith('"')] == []
    assert len(found) <= 5
