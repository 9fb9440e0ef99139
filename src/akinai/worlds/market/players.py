"""Players without a model: four customers, and a business that reads requests and proposes from its menu.

They know what the market tells them and nothing else.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Plan, Role, Routine
from akinai.core.chance import absorb, word
from akinai.core.ledger import Outcome
from akinai.worlds.market import actions as a
from akinai.worlds.market import hearing
from akinai.worlds.market.advised import advised
from akinai.worlds.market.gates import NOT_YET
from akinai.worlds.market.hearing import Letter, Myself
from akinai.worlds.market.tastes import CAREFUL, CHEAPEST, FIRST, ON_A_PAGE, STRICT_BUDGET, Taste

AT_A_TIME = 50
"""Messages that a business reads at once."""
CENT = Decimal("0.01")

Lookup = Generator[Action, Outcome, list[str]]
Gathering = Generator[Action, Outcome, "Gathered"]
Reading = Generator[Action, Outcome, list[Letter]]
Paying = Generator[Action, Outcome, None]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a customer has to choose from."""

    offers: list[Letter]
    """Proposals that it would pay, in the order of arrival."""
    last: int
    """The index of the last message that it read."""


def customer(me: Routine, taste: Taste) -> Plan:
    """Searches by item names, asks, compares what is proposed, pays one, and leaves."""
    myself = hearing.myself(me.view)
    if a.Register in me.view.verbs:
        yield a.Register()
    asked = yield from look_around(myself, taste)
    for business in asked:
        yield _say(myself, business, _request(myself))
    gathered = yield from gather(myself, taste, len(asked))
    yield from settle(myself, taste, gathered)
    while True:
        yield a.Leave()


def look_around(myself: Myself, taste: Taste) -> Lookup:
    """The businesses to ask, best match first."""
    query, found, number = ", ".join(sorted(myself.prices)), list[str](), 1
    while True:
        heard = yield a.Search(query=query, search_algorithm=taste.algorithm, limit=ON_A_PAGE, page=number)
        results, pages = hearing.page(heard)
        found += [one.id for one in results if taste.asks(myself, one)]
        number += 1
        if number > (min(pages, taste.pages) if taste.pages else pages):
            return found


def gather(myself: Myself, taste: Taste, asked: int) -> Gathering:
    """The proposals that it would pay."""
    offers, answered, last = list[Letter](), set[str](), 0
    while len(answered) < asked:
        yield a.Wait(seconds=taste.patience_s)
        mail = yield from opened(last)
        if not mail:
            break
        last = mail[-1].index
        answered |= {letter.sender for letter in mail}
        for letter in mail:
            if _takes(myself, taste, letter):
                offers.append(letter)
        if taste.enough and len(offers) >= taste.enough:
            break
    return Gathered(offers, last)


def opened(last: int) -> Reading:
    """The mail behind an index; where some of it is sealed, it waits and reads again."""
    while True:
        heard = yield a.FetchMessages(after_index=last)
        if (sealed_s := hearing.sealed_s(heard)) is None:
            return hearing.letters(heard)
        yield a.Wait(seconds=sealed_s)


def settle(myself: Myself, taste: Taste, gathered: Gathered) -> Paying:
    """Pays the best, or the first; before a gate that is shut it waits, and chooses anew among all it has by then."""
    offers: list[Letter] = gathered.offers
    last = gathered.last
    while offers:
        chosen = min(offers, key=lambda letter: _worst(myself, letter)) if taste.enough != 1 else offers[0]
        assert isinstance(chosen.message, a.OrderProposal)
        heard = yield _send(myself, chosen.sender, a.Payment(proposal_message_id=chosen.message.id))
        if heard.ok:
            return
        if heard.code != NOT_YET:
            offers = [letter for letter in offers if letter != chosen]
            continue
        opens_s = hearing.seconds(heard)
        yield a.Wait(seconds=taste.patience_s if opens_s is None else opens_s)
        mail = yield from opened(last)
        if not mail and opens_s is None:
            return
        last = mail[-1].index if mail else last
        offers = [*offers, *(one for one in mail if _takes(myself, taste, one))]


def business(me: Routine) -> Plan:
    """Answers each request with what its menu holds of it, at menu prices; confirms each payment once."""
    myself = hearing.myself(me.view)
    if a.Register in me.view.verbs:
        yield a.Register()
    pending, made, last = dict[str, a.OrderProposal](), 0, 0
    while True:
        yield a.Wait()
        more = True
        while more:
            heard = yield a.FetchMessages(after_index=last, limit=AT_A_TIME)
            more = hearing.has_more(heard)
            for letter in hearing.letters(heard):
                last = letter.index
                match letter.message:
                    case a.Text():
                        orders = hearing.orders_in(letter.message.content, myself.prices)
                        if not orders:
                            yield _say(myself, letter.sender, "Sorry, nothing of that is on our menu.")
                            continue
                        made += 1
                        proposal = _proposal(myself, f"{myself.id}-{made}", orders)
                        pending[proposal.id] = proposal
                        yield _send(myself, letter.sender, proposal)
                    case a.Payment():
                        if paid := pending.pop(letter.message.proposal_message_id, None):
                            yield _say(myself, letter.sender, _confirmation(paid))
                    case a.OrderProposal():
                        continue


def _proposal(myself: Myself, id: str, orders: Mapping[str, int]) -> a.OrderProposal:
    items = [
        a.Item(id=item, item_name=item, quantity=count, unit_price=float(myself.prices[item]))
        for item, count in orders.items()
    ]
    total = sum((count * myself.prices[item] for item, count in orders.items()), Decimal(0))
    return a.OrderProposal(id=id, items=items, total_price=float(total))


def _confirmation(paid: a.OrderProposal) -> str:
    total = hearing.total(paid).quantize(CENT)
    return f"Payment received! Your order for ${total} is confirmed. Order ID: {paid.id}. Thank you for your business!"


def _request(myself: Myself) -> str:
    wanted = ", ".join(f"1 x {item}" for item in sorted(myself.prices))
    needs = f" I also need: {', '.join(sorted(myself.needs))}." if myself.needs else ""
    return f"Hello, I would like to order {wanted}.{needs} Please send me a proposal."


def _say(myself: Myself, to: str, text: str) -> a.SendMessage:
    return _send(myself, to, a.Text(content=text))


def _send(myself: Myself, to: str, message: a.Message) -> a.SendMessage:
    return a.SendMessage(from_agent_id=myself.id, to_agent_id=to, message=message)


def _takes(myself: Myself, taste: Taste, letter: Letter) -> bool:
    return isinstance(letter.message, a.OrderProposal) and taste.takes(myself, letter.message)


def _worst(myself: Myself, letter: Letter) -> tuple[Decimal, int]:
    """Its price; of two at one price, neither the first nor the better known, but as names and price fall together."""
    assert isinstance(letter.message, a.OrderProposal)
    price = hearing.total(letter.message)
    return price, absorb(absorb(word(myself.id), word(letter.sender)), word(str(price)))


def _player(taste: Taste, told: str) -> AgentFactory:
    """The factory of a player: customers by their taste, businesses by their menu."""

    def factory(_: Role) -> Agent:
        return _routine(taste)

    factory.__doc__ = told
    return factory


def _routine(taste: Taste) -> Routine:
    def plan(me: Routine) -> Plan:
        yield from business(me) if hearing.myself(me.view).sells else customer(me, taste)

    return Routine(plan)


def first_player(role: Role) -> Agent:
    """Asks the first page of results, and takes the first proposal that comes; with a playbook, what it tells."""
    return _routine(advised(FIRST, role))


PLAYERS: Mapping[str, AgentFactory] = {
    "careful": _player(CAREFUL, "Asks all who have everything, and buys the cheapest that is worth it."),
    "strict_budget": _player(STRICT_BUDGET, "The same, and pays no more than the sum of what it is willing to pay."),
    "cheapest": _player(CHEAPEST, "Asks all who have the items, and buys the cheapest, whatever the place is like."),
    "first": first_player,
}
"""The first is the world's default."""
