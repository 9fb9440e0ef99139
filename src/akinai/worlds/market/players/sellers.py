"""How businesses without a model sell: they read requests, propose from their menu, and confirm payments.

With a playbook a business follows the sentences on selling; each changes one habit, by the sentence's own numbers.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Decimal

from akinai.core.agents import Plan, Role
from akinai.core.chance import Chance
from akinai.core.lessons import Advice
from akinai.worlds.market.lessons.selling.advice import (
    PartsAdvice,
    SellingExperiment,
    SpeedAdvice,
    UndercutAdvice,
    WordingAdvice,
    read_selling_advice,
)
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.players import observations
from akinai.worlds.market.players.observations import FoundBusiness, OwnProfile, ReceivedMessage
from akinai.worlds.market.players.resumable import ResumableRoutine

AT_A_TIME = 50
"""Messages that a business reads at once."""
OPENING_S, MOST_READ = 5, 10_000
"""Seconds after which all rivals have registered, and the maximum of them whose menus a business reads."""
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Manner:
    """The habits of a business."""

    whole_only: bool = False
    """Propose an order only with every item of it."""
    proposes_first: bool = False
    """Propose before texts are written, the largest orders first."""
    names_amenities: bool = False
    undercuts: bool = False
    """Read the menus of all rivals at the beginning, and ask a cent less for an order than the cheapest of those that
    have it with the same amenities, as far as the floor allows."""


def guided_manner(role: Role) -> Manner:
    """The manner that the bullets of a role ask for; the plain one without readable bullets."""
    advice = [parsed for text in role.bullets if (parsed := read_selling_advice(text)) is not None]
    manner = Manner()
    for sentence in advice:
        if isinstance(sentence, SellingExperiment):
            return experimental_manner(Chance.of(sentence.number)("experiment", role.actor))
        manner = follow(manner, sentence)
    return manner


def follow(manner: Manner, advice: Advice) -> Manner:
    """A manner with one sentence followed."""
    match advice:
        case PartsAdvice():
            return replace(manner, whole_only=bool(advice.checks))
        case SpeedAdvice():
            return replace(manner, proposes_first=advice.checks)
        case WordingAdvice():
            return replace(manner, names_amenities=advice.checks)
        case UndercutAdvice():
            return replace(manner, undercuts=advice.checks)
        case _:
            return manner


def experimental_manner(draw: Chance) -> Manner:
    """A manner for an experiment: each habit is drawn on its own."""
    return Manner(*(draw(label).below(2) == 1 for label in ("whole", "order", "words", "price")))


def sell(me: ResumableRoutine, manner: Manner) -> Plan:
    """Answers each request with the items of it that are on its menu; confirms each payment once."""
    own, answered = observations.own_profile(me.view), dict(me.past.written)
    if a.Register in me.view.verbs:
        yield a.Register()
    seller, last = Seller(own, manner, dict(me.past.proposed), proposal_count=me.past.proposal_count), 0
    waits = not (answered or me.past.read)
    if manner.undercuts:
        if waits:
            yield a.Wait(seconds=OPENING_S)
        seller.rivals = observations.results_page((yield a.Search(search_algorithm="simple", limit=MOST_READ)))[0]
    while True:
        if waits:
            yield a.Wait()
        more = waits = True
        while more:
            outcome = yield a.FetchMessages(after_index=last, limit=AT_A_TIME)
            more = observations.has_more(outcome)
            mail = observations.messages_in(outcome)
            last = mail[-1].index if mail else last
            mail = [received for received in mail if received.index > answered.get(received.sender, 0)]
            for answer in seller.answers(mail):  # noqa: UP028 - a list takes no outcomes
                yield answer


@dataclass
class Seller:
    """A business that answers its mail."""

    own: OwnProfile
    manner: Manner
    pending: dict[str, a.OrderProposal] = field(default_factory=dict[str, a.OrderProposal])
    rivals: Sequence[FoundBusiness] = ()
    """The businesses whose prices it undercuts."""
    proposal_count: int = 0

    def answers(self, mail: Sequence[ReceivedMessage]) -> Sequence[a.SendMessage]:
        """The answers to some messages, in the order in which they are sent."""
        answers = [answer for received in mail for answer in self._answer(received)]
        return sorted(answers, key=_urgency) if self.manner.proposes_first else answers

    def _answer(self, received: ReceivedMessage) -> Iterator[a.SendMessage]:
        own = self.own
        match received.message:
            case a.Text():
                request = received.message.content
                orders = observations.orders_in(request, own.prices)
                if not orders:
                    yield say(own, received.sender, "Sorry, nothing of that is on our menu.")
                elif self.manner.whole_only and observations.lacks_items(request, own.prices):
                    yield say(own, received.sender, "Sorry, we do not have all of that.")
                else:
                    yield send(own, received.sender, self._proposal(orders, request))
            case a.Payment():
                if paid := self.pending.pop(received.message.proposal_message_id, None):
                    yield say(own, received.sender, _confirmation(paid))
            case a.OrderProposal():
                pass

    def _proposal(self, orders: Mapping[str, int], request: str) -> a.OrderProposal:
        """A proposal of the ordered items, which are on the menu."""
        self.proposal_count += 1
        amenities = sorted(name for name in self.own.has if name.lower() in request.lower())
        prices = self.prices(orders, frozenset(amenities))
        items = [
            a.Item(id=item, item_name=item, quantity=count, unit_price=float(prices[item]))
            for item, count in orders.items()
        ]
        note = f"We have {', '.join(amenities)}." if amenities and self.manner.names_amenities else None
        id, total = f"{self.own.id}-{self.proposal_count}", _total(orders, prices)
        proposal = a.OrderProposal(id=id, items=items, total_price=float(total), special_instructions=note)
        self.pending[id] = proposal
        return proposal

    def prices(self, orders: Mapping[str, int], amenities: Set[str]) -> Mapping[str, Decimal]:
        """The menu's prices, or lower ones at which the order costs less than at the cheapest rival that has it."""
        menu, floor = self.own.prices, self.own.floor
        able_rivals = (rival for rival in self.rivals if rival.id != self.own.id and rival.amenities >= amenities)
        rival_totals = [_total(orders, rival.prices) for rival in able_rivals if rival.items >= orders.keys()]
        listed = _total(orders, menu)
        if not listed or not rival_totals or min(rival_totals) > listed:
            return menu
        share = (min(rival_totals) - CENT) / listed
        lower = {item: (menu[item] * share).quantize(CENT, ROUND_FLOOR) for item in orders}
        return lower if _total(orders, lower) >= floor * listed else menu


def _total(orders: Mapping[str, int], prices: Mapping[str, Decimal]) -> Decimal:
    return sum((count * prices[item] for item, count in orders.items()), Decimal(0))


def _urgency(answer: a.SendMessage) -> tuple[bool, float]:
    """A sort key: proposals before texts, the dearest first."""
    message = answer.message
    return (False, -float(message.total_price)) if isinstance(message, a.OrderProposal) else (True, 0.0)


def _confirmation(paid: a.OrderProposal) -> str:
    total = observations.total(paid).quantize(CENT)
    return f"Payment received! Your order for ${total} is confirmed. Order ID: {paid.id}. Thank you for your business!"


def say(own: OwnProfile, to: str, text: str) -> a.SendMessage:
    """The action that writes a text to another agent."""
    return send(own, to, a.Text(content=text))


def send(own: OwnProfile, to: str, message: a.Message) -> a.SendMessage:
    """The action that sends a message to another agent."""
    return a.SendMessage(from_agent_id=own.id, to_agent_id=to, message=message)
