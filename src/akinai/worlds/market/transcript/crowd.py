"""The participants of a market and their conversations, with every proposal as its customer sees it."""

from collections.abc import Mapping

from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Crowd, Figure, Person, Proposal, Talk, TalkState, Utterance
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import MarketOutcome, ValuedDeal
from akinai.worlds.market.analysis.scores import buyers, welfare_cents
from akinai.worlds.market.analysis.trades import Pair, Trade, trades
from akinai.worlds.market.analysis.welfare import amenities, attainable_welfare, needed_amenities
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Member, State
from akinai.worlds.market.model.units import dollars, prices, total_cents
from akinai.worlds.market.rules.mail import describe_message

NEARLY_ALL = 0.995
ORDER: Mapping[TalkState, int] = {"paid": 0, "offered": 1, "asked": 2}


def crowd_of(steps: Steps[State]) -> Crowd:
    """All participants and their conversations."""
    state, proposals = steps.final, _proposals(steps)
    bought = {buyer.id: (buyer.utility_cents, buyer.paid_cents) for buyer in buyers(state)}
    people = tuple(_person(member, bought) for _, member in sorted(state.members.items()))
    talks = sorted(_talks(steps, proposals), key=lambda talk: (ORDER[talk.state], talk.buyer, talk.utterances[0].entry))
    return Crowd(people, tuple(talks), _verdict(state, proposals))


def _person(member: Member, bought: Mapping[str, tuple[int, int]]) -> Person:
    about = member.data.get("request" if member.role == "customer" else "description")
    wants = tuple((item, round(float(price) * 100)) for item, price in prices(member.data).items())
    needs = needed_amenities(member) if member.role == "customer" else amenities(member)
    if member.role == "customer":
        utility, paid = bought.get(member.id, (0, 0))
        figures = (
            Figure("utility_cents", "better off by", utility, "cents"),
            Figure("paid_cents", "paid", paid, "cents"),
        )
    else:
        figures = (Figure("revenue_cents", "revenue", member.received_cents, "cents"),)
    text = about if isinstance(about, str) else ""
    return Person(member.id, member.name or member.id, member.role, text, wants, tuple(sorted(needs)), figures)


def _proposals(steps: Steps[State]) -> Mapping[int, Proposal]:
    """The proposals by entry."""
    market = steps.derive(MarketOutcome.of)
    deals_by_entry: dict[int, ValuedDeal] = {deal.offer.index: deal for deal in market.deals}
    by_customer: dict[str, list[Trade]] = {}
    all_trades = steps.derive(trades)
    for trade in all_trades:
        by_customer.setdefault(trade.offer.customer, []).append(trade)
    return {
        trade.offer.index: _proposal(trade, rank, len(customer_trades), deals_by_entry.get(trade.offer.index))
        for customer_trades in by_customer.values()
        for rank, trade in enumerate(customer_trades, 1)
    }


def _proposal(trade: Trade, rank: int, of: int, deal: ValuedDeal | None) -> Proposal:
    offer, proposal = trade.offer, trade.offer.proposal
    lines = tuple((item.item_name, item.quantity, round(dollars(item.unit_price) * 100)) for item in proposal.items)
    total = total_cents(proposal)
    fits, surplus = (deal.fits, deal.utility_cents) if deal else (False, -total)
    status, ids = trade.customer_status, (offer.business, offer.customer)
    return Proposal(trade.id, offer.index, *ids, lines, total, rank, of, status, fits, surplus)


def _talks(steps: Steps[State], proposals: Mapping[int, Proposal]) -> list[Talk]:
    utterances_by_pair: dict[Pair, list[Utterance]] = {}
    customers = {id for id, member in steps.final.members.items() if member.role == "customer"}
    for step in steps:
        action = step.turn.action
        if not isinstance(action, a.SendMessage) or not step.outcome.ok or step.after is step.before:
            continue
        sender, to = step.turn.actor, action.to_agent_id
        pair = (sender, to) if sender in customers else (to, sender)
        utterances_by_pair.setdefault(pair, []).append(
            _utterance(step.entry.seq, step.entry.at, sender, action.message, proposals)
        )
    talks: list[Talk] = []
    for (buyer, seller), utterances in utterances_by_pair.items():
        offered = tuple(proposals[utterance.entry] for utterance in utterances if utterance.entry in proposals)
        kinds = {utterance.kind for utterance in utterances}
        state: TalkState = "paid" if "payment" in kinds else "offered" if offered else "asked"
        talks.append(Talk(buyer, seller, state, tuple(utterances), offered))
    return talks


def _utterance(seq: int, at: int, sender: str, message: a.Message, proposals: Mapping[int, Proposal]) -> Utterance:
    match message:
        case a.Text():
            return Utterance(seq, at, sender, "text", message.content)
        case a.OrderProposal():
            deal = proposals[seq].deal if seq in proposals else message.id
            return Utterance(seq, at, sender, "proposal", describe_message(message), deal)
        case a.Payment():
            return Utterance(seq, at, sender, "payment", message.payment_message or "", message.proposal_message_id)


def _verdict(state: State, proposals: Mapping[int, Proposal]) -> str:
    """The number of buyers, and their gain together."""
    customers = buyers(state)
    if not customers:
        return ""
    paid, met = sum(buyer.paid_cents > 0 for buyer in customers), sum(buyer.needs_met for buyer in customers)
    satisfied = "all of them" if met == paid else f"{met} of them" if met else "none of them"
    text = f"{paid} of {len(customers)} customers bought" + (f", {satisfied} what they came for. " if paid else ". ")
    welfare, best = welfare_cents(state), attainable_welfare(state.members.values()).best_possible
    if best and welfare >= best * NEARLY_ALL:
        return f"{text}Together they are {format_cents(welfare)} better off: all there was to be had."
    side = "better" if welfare >= 0 else "worse"
    text += f"Together they are {format_cents(abs(welfare))} {side} off, where {format_cents(best)} was to be had"
    accepted = [proposal for proposal in proposals.values() if proposal.status == "accepted"]
    first = sum(proposal.rank == 1 for proposal in accepted)
    blind = len(accepted) > 1 and first > 0.8 * len(accepted)
    return f"{text}; {first} of {len(accepted)} paid the first proposal that came." if blind else f"{text}."
