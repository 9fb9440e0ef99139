"""A market player behind the wire: it reads in texts, as a model does, what the players in process read in data."""

import re
from collections.abc import Mapping
from typing import Any

from akinai.core.agents import Agent, Move, Role, View
from akinai.core.ledger import Outcome
from akinai.testing.endpoint import PlayerBrain
from akinai.worlds.market import Market

_PAGE = re.compile(r"\d+ found(?:; page \d+ of (\d+))?\.")
_FOUND = re.compile(r"- (\S+): .*\n  Menu: (.*)\n  Amenities: (.*)")
_LETTER = re.compile(r"^\[(\d+)\] from (\S+): (.*)$", re.MULTILINE)
_PROPOSAL = re.compile(r"order proposal (\S+): (.*)\. Total \$([\d.]+)")
_ITEM = re.compile(r"(\d+) x (.*) at \$([\d.]+)")
_PAYMENT = re.compile(r"payment of proposal (\S+)")


def brain(player: str = "careful") -> PlayerBrain:
    """Plays a player of the market, customer or business, in each conversation."""
    factory = Market.players[player]
    return PlayerBrain(lambda role: _Reader(factory(role)), Market.verbs)


class _Reader:
    def __init__(self, player: Agent) -> None:
        self._player = player

    async def act(self, view: View, heard: Outcome | None) -> Move:
        if heard is not None and heard.ok:
            heard = Outcome(heard.text, data=read(heard.text))
        return await self._player.act(view, heard)


def read(text: str) -> dict[str, Any] | None:
    """What the market keeps as data, from what it tells in words."""
    if page := _PAGE.match(text):
        return {"businesses": [_profile(*found) for found in _FOUND.findall(text)], "total_pages": int(page[1] or 1)}
    letters = [
        {"index": int(index), "from_agent_id": sender, "message": _message(words)}
        for index, sender, words in _LETTER.findall(text)
    ]
    return {"messages": letters, "has_more": "(There are more.)" in text} if letters else None


def _profile(id: str, menu: str, amenities: str) -> Mapping[str, Any]:
    items = (item.rpartition(" $") for item in menu.split("; "))
    has = {} if amenities == "none" else dict.fromkeys(amenities.split("; "), True)
    return {
        "id": id,
        "business": {"menu_features": {name: float(price) for name, _, price in items}, "amenity_features": has},
    }


def _message(words: str) -> Mapping[str, Any]:
    if proposal := _PROPOSAL.match(words):
        items = [_ITEM.fullmatch(item) for item in proposal[2].split("; ")]
        told = [{"item_name": one[2], "quantity": int(one[1]), "unit_price": float(one[3])} for one in items if one]
        return {"type": "order_proposal", "id": proposal[1], "items": told, "total_price": float(proposal[3])}
    if payment := _PAYMENT.match(words):
        return {"type": "payment", "proposal_message_id": payment[1]}
    return {"type": "text", "content": words}


def role(actor: str = "someone") -> Role:
    """A part to play."""
    return Role(actor, Market.verbs.classes)
