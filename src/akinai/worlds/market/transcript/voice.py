"""How a person reads and types what a participant is given: names of shops, a profile as a card, times as dates."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.presentation.transcript import Block, Passage, Sheet
from akinai.core.presentation.voice import Voice
from akinai.worlds.market.model.profiles import MENU, menu_of
from akinai.worlds.market.model.state import Member, State
from akinai.worlds.market.model.units import dollars
from akinai.worlds.market.rules.gates import describe_gates

CUSTOMER = (
    "You are a customer in a market. You want everything on your card, one of each, in one order from one business "
    "that has all that you need there. The amount beside an item is what you would pay for it. All of it together is "
    "worth twice the sum to you, less what you pay; an order that lacks something is worth nothing, and still costs "
    "what you pay.",
    "How to buy: enter the market, search, and read the menus; write to each business that has what you need, and say "
    "which items you want; wait a minute; read your messages; compare the proposals, and pay one. A payment is final, "
    "and only a payment buys anything; then you are done. Leave if nobody has what you want at a price that is worth "
    "it.",
)
BUSINESS = (
    "You run a business in a market, and are measured by the money that customers pay you. Everybody sees the prices "
    "on your menu; only you know the share of them below which you do not want to sell.",
    "How to sell: enter the market, wait for mail, read it, and answer each request with a proposal of items on your "
    "menu, or say that you do not have what is wanted. Customers ask several businesses and pay one. Wait whenever "
    "there is nothing to do.",
)
REWRITTEN = {
    re.compile(r"^\[\d+\] from ", re.MULTILINE): "From ",
    re.compile(r"\bto_agent_id (.+) not found"): r"There is nobody called \1 here",
    re.compile(r"; call register first"): "; enter the market first",
    re.compile(r"\border proposal "): "proposal ",
    re.compile(r"^proposal \S+-\d+(?=: )", re.MULTILINE): "Proposal",
}


def voice_of(state: State, actor: str) -> Voice:
    """The voice of a participant."""
    members = {id: member.name for id, member in state.members.items() if member.name and member.name != id}
    same = Counter(members.values())
    names = {id: name if same[name] == 1 else f"{name} ({id})" for id, name in members.items()}
    doubled = re.compile("|".join(re.escape(f"{id}: {name}") for id, name in members.items()) or "(?!)")

    def rewrite(text: str) -> str:
        text = doubled.sub(lambda match: match[0].partition(": ")[2], text)
        for pattern, words in REWRITTEN.items():
            text = pattern.sub(words, text)
        return text

    member = state.members.get(actor)
    return Voice(names, brief=() if member is None else _brief(state, member), rewrite=rewrite)


def _brief(state: State, member: Member) -> tuple[Block, ...]:
    paragraphs = {"customer": CUSTOMER, "business": BUSINESS}.get(member.role, ())
    if not paragraphs:
        return ()
    rules = " ".join(describe_gates(state.setup.gates))
    text = "\n\n".join([*paragraphs, *([rules] if rules else [])])
    return (Passage("briefing", text), _card(member))


def _card(member: Member) -> Sheet:
    """A profile: what a customer would pay, or the menu of a business, and what either has or needs."""
    menu = cast("Mapping[str, Any]", menu_of(member.data.get(MENU)) or {})
    amenities = cast("Mapping[str, bool] | list[str]", member.data.get("amenity_features") or [])
    had = [name for name in amenities if not isinstance(amenities, Mapping) or amenities[name]]
    rows: list[tuple[Json, ...]] = [(item, int(dollars(price) * 100)) for item, price in menu.items()]
    if member.role == "customer":
        heads, note = {"you want": "", "you would pay": "cents"}, "The place needs to have: {}."
    else:
        heads, note = {"your menu": "", "price": "cents"}, "You have: {}."
    lowest = member.data.get("min_price_factor")
    least = f" You sell from {float(lowest):.0%} of these prices." if isinstance(lowest, int | float) else ""
    words = (note.format(", ".join(had)) if had else "") + least
    return Sheet("profile", heads, tuple(rows), member.name or member.id, note=words)
