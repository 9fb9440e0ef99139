"""Players without a model: four customers, each of which sells as `sellers` does where it plays a business.

They know nothing but what the market tells them.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Plan, Role, Routine
from akinai.core.chance import absorb, word
from akinai.core.ledger import Outcome
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.players import observations
from akinai.worlds.market.players.observations import OwnProfile, ReceivedMessage
from akinai.worlds.market.players.policies import (
    CAREFUL,
    CHEAPEST,
    FIRST,
    ON_A_PAGE,
    STRICT_BUDGET,
    Policy,
    guided_policy,
)
from akinai.worlds.market.players.resumable import ResumableRoutine
from akinai.worlds.market.players.sellers import guided_manner, say, sell, send
from akinai.worlds.market.rules.gates import NOT_YET

Lookup = Generator[Action, Outcome, list[str]]
Gathering = Generator[Action, Outcome, "Collected"]
Reading = Generator[Action, Outcome, list[ReceivedMessage]]
Paying = Generator[Action, Outcome, None]


@dataclass(frozen=True, slots=True)
class Collected:
    """The proposals that a customer can choose from."""

    offers: list[ReceivedMessage]
    """Proposals that it would pay, in the order of arrival."""
    last: int
    """The index of the last message that it read."""


def customer(me: ResumableRoutine, policy: Policy) -> Plan:
    """Searches by item names, asks, compares what is proposed, pays one, and leaves."""
    own, written = observations.own_profile(me.view), frozenset(me.past.written)
    if a.Register in me.view.verbs:
        yield a.Register()
    if not me.past.paid:
        businesses = yield from search_businesses(own, policy)
        for business in businesses:
            if business not in written:
                yield say(own, business, _request(own))
        collected = yield from collect_offers(own, policy, businesses, takes_over=bool(written))
        yield from pay_best(own, policy, collected)
    while True:
        yield a.Leave()


def search_businesses(own: OwnProfile, policy: Policy) -> Lookup:
    """The businesses to ask, best match first."""
    query, ids, number = ", ".join(sorted(own.prices)), list[str](), 1
    while True:
        outcome = yield a.Search(query=query, search_algorithm=policy.algorithm, limit=ON_A_PAGE, page=number)
        results, pages = observations.results_page(outcome)
        ids += [result.id for result in results if policy.asks(own, result)]
        number += 1
        if number > (min(pages, policy.pages) if policy.pages else pages):
            return ids


def collect_offers(
    own: OwnProfile, policy: Policy, businesses: Sequence[str], *, takes_over: bool = False
) -> Gathering:
    """The proposals that it would pay. A player that takes over reads its mail first, and only from `businesses`."""
    offers, answered, last, waits = list[ReceivedMessage](), set[str](), 0, not takes_over
    vain = 2 if takes_over else 1  # whoever takes over may have read the mail already that ends its first wait
    while len(answered) < len(businesses):
        if waits:
            yield a.Wait(seconds=policy.patience_s)
        mail = yield from read_mail(last)
        vain -= waits and not mail
        if not vain:
            break
        last, waits = mail[-1].index if mail else last, True
        mail = [received for received in mail if not takes_over or received.sender in businesses]
        answered |= {received.sender for received in mail}
        for received in mail:
            if _takes(own, policy, received):
                offers.append(received)
        if policy.enough and len(offers) >= policy.enough:
            break
    return Collected(offers, last)


def read_mail(last: int) -> Reading:
    """The mail after an index; where some of it is sealed, it waits and reads again."""
    while True:
        outcome = yield a.FetchMessages(after_index=last)
        if (sealed_s := observations.sealed_s(outcome)) is None:
            return observations.messages_in(outcome)
        yield a.Wait(seconds=sealed_s)


def pay_best(own: OwnProfile, policy: Policy, collected: Collected) -> Paying:
    """Pays the best, or the first; before a gate that is shut it waits, and chooses anew among all it has by then."""
    offers: list[ReceivedMessage] = collected.offers
    last = collected.last
    while offers:
        best = min(offers, key=lambda received: _price_and_tie(own, received)) if policy.enough != 1 else offers[0]
        assert isinstance(best.message, a.OrderProposal)
        outcome = yield send(own, best.sender, a.Payment(proposal_message_id=best.message.id))
        if outcome.ok:
            return
        if outcome.code != NOT_YET:
            offers = [received for received in offers if received != best]
            continue
        opens_s = observations.seconds_to_wait(outcome)
        yield a.Wait(seconds=policy.patience_s if opens_s is None else opens_s)
        mail = yield from read_mail(last)
        if not mail and opens_s is None:
            return
        last = mail[-1].index if mail else last
        offers = [*offers, *(received for received in mail if _takes(own, policy, received))]


def _request(own: OwnProfile) -> str:
    items = ", ".join(f"1 x {item}" for item in sorted(own.prices))
    needs = f" I also need: {', '.join(sorted(own.needs))}." if own.needs else ""
    return f"Hello, I would like to order {items}.{needs} Please send me a proposal."


def _takes(own: OwnProfile, policy: Policy, received: ReceivedMessage) -> bool:
    return isinstance(received.message, a.OrderProposal) and policy.takes(own, received.message)


def _price_and_tie(own: OwnProfile, received: ReceivedMessage) -> tuple[Decimal, int]:
    """A sort key: the price; equal prices in an order drawn from names and price, which favours no seller."""
    assert isinstance(received.message, a.OrderProposal)
    price = observations.total(received.message)
    return price, absorb(absorb(word(own.id), word(received.sender)), word(str(price)))


def _player(policy: Policy, description: str) -> AgentFactory:
    """The factory of a player: customers by their policy, businesses by their menu and the playbook."""

    def factory(role: Role) -> Agent:
        return _routine(policy, role)

    factory.__doc__ = description
    return factory


def _routine(policy: Policy, role: Role) -> Routine:
    def plan(me: Routine) -> Plan:
        assert isinstance(me, ResumableRoutine)
        sells = observations.own_profile(me.view).sells
        yield from sell(me, guided_manner(role)) if sells else customer(me, policy)

    return ResumableRoutine(plan)


def first_player(role: Role) -> Agent:
    """Asks the first page of results, and takes the first proposal that comes; with a playbook, what it tells."""
    return _routine(guided_policy(FIRST, role), role)


PLAYERS: Mapping[str, AgentFactory] = {
    "careful": _player(CAREFUL, "Asks all who have everything, and buys the cheapest that is worth it."),
    "strict_budget": _player(STRICT_BUDGET, "The same, and pays no more than the sum of what it is willing to pay."),
    "cheapest": _player(CHEAPEST, "Asks all who have the items, and buys the cheapest, whatever the place is like."),
    "first": first_player,
}
"""The first is the world's default."""
