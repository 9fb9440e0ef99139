"""The market as it is read in words: players behind the wire hear text, as models do, and no data beside it.

What a text does not tell to the letter (an item's name with "; " in it) cannot be read back.
"""

import re
from collections.abc import Mapping
from typing import cast

from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.canonical import Json
from akinai.core.ledger import Outcome

_PAGE = re.compile(r"\d+ found(?:; page \d+ of (\d+))?\.")
_FOUND = re.compile(r"^- (\S+): (.*(?:\n {4}.*)*)\n {2}Menu: (.*(?:\n {4}.*)*)\n {2}Amenities: (.*)", re.MULTILINE)
_LETTER = re.compile(r"^\[(\d+)\] from (\S+): (.*)$", re.MULTILINE)
_PROPOSAL = re.compile(r"order proposal (\S+): (.*)\. Total \$([\d.]+)")
_ITEM = re.compile(r"(\d+) x (.*) at \$([\d.]+)")
_PAYMENT = re.compile(r"payment of proposal (\S+)")
_SEALED = re.compile(r"^\(Sealed bids are opened in (\d+) s;", re.MULTILINE)
_LEFT = re.compile(r"; (\d+) s are left$")


def by_reading(factory: AgentFactory) -> AgentFactory:
    """A player of the market that reads in texts what it would be told in data."""
    return lambda role: _Reader(factory, role)


class _Reader:
    def __init__(self, factory: AgentFactory, role: Role) -> None:
        self._player: Agent = factory(role)

    async def act(self, view: View, heard: Outcome | None) -> Move:
        if heard is not None:
            heard = Outcome(heard.text, heard.ok, heard.code, read(heard.text))
        return await self._player.act(view, heard)


def read(text: str) -> dict[str, Json] | None:
    """What the market keeps as data of a search, a fetch or a payment that came too early; None for all else."""
    if page := _PAGE.match(text):
        found = [_profile(*one) for one in _FOUND.findall(text)]
        return {"businesses": list(found), "total_pages": int(page[1] or 1)}
    if left := _LEFT.search(text):
        return {"seconds": int(left[1])}
    letters: list[Json] = [
        {"index": int(index), "from_agent_id": sender, "message": _message(words)}
        for index, sender, words in _LETTER.findall(text)
    ]
    if not letters:
        return None
    sealed = _SEALED.search(text)
    told: dict[str, Json] = {"messages": letters, "has_more": text.endswith("(There are more.)")}
    return {**told, "sealed_s": int(sealed[1])} if sealed else told


def _profile(id: str, about: str, menu: str, amenities: str) -> dict[str, Json]:
    items = [one.rpartition(" $") for one in menu.split("; ")] if menu != "nothing" else []
    has = [] if amenities == "none" else amenities.split("; ")
    business: dict[str, Json] = {
        "description": about,
        "menu_features": {name: float(price) for name, _, price in items},
        "amenity_features": dict.fromkeys(has, True),
    }
    return {"id": id, "business": business}


def _message(words: str) -> Mapping[str, Json]:
    if proposal := _PROPOSAL.match(words):
        items = [_ITEM.fullmatch(one) for one in proposal[2].split("; ")]
        told = [{"item_name": one[2], "quantity": int(one[1]), "unit_price": float(one[3])} for one in items if one]
        return {
            "type": "order_proposal",
            "id": proposal[1],
            "items": cast("list[Json]", told),
            "total_price": float(proposal[3]),
        }
    if payment := _PAYMENT.match(words):
        return {"type": "payment", "proposal_message_id": payment[1]}
    return {"type": "text", "content": words}
