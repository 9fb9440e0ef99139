"""The state of a market as lines of text, from which it is put together again without the entries that made it.

A line is a letter and JSON. Mail is written once, as fetches spell it; boxes, proposals and what follows from them are
made of it. What the genesis decides is not written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, cast

import orjson
from immutables import Map
from pydantic import TypeAdapter

from akinai.core.canonical import Json, canonical
from akinai.core.ledger import Outcome
from akinai.worlds.market.model.actions import Message, OrderProposal
from akinai.worlds.market.model.profiles import with_pairs
from akinai.worlds.market.model.state import Bids, Box, KeyedMessage, Mail, Member, Offer, Schedule, State
from akinai.worlds.market.rules.members import with_profile
from akinai.worlds.market.search import Catalogue, Listing

_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
_OF_PROFILE = ("id", "role", "profile", "data", "own", "number")
"""Fields of a member that its profile decides; the others count what it did."""
_COUNTED = tuple(field.name for field in fields(Member) if field.name not in _OF_PROFILE)
_NUMBERS = tuple(field.name for field in fields(State) if field.type is int)


def state_lines(state: State, opening: State) -> Iterator[str]:
    """A state as lines. `opening` is the one with which its run began."""
    whole: dict[str, Json] = {
        "numbers": [getattr(state, name) for name in _NUMBERS],
        "joined": [state.joined[number] for number in range(len(state.joined))],
        "catalogue": [listing.id for listing in state.catalogue.listings],
        "schedule": [[node, *first] for node, first in state.schedule.tree.items()],
    }
    yield f"s{canonical(whole)}"
    for id, member in state.members.items():
        began = opening.members.get(id)
        same = began is not None and all(getattr(member, name) == getattr(began, name) for name in _OF_PROFILE)
        profile = None if same else cast("Json", with_pairs(member.profile))
        yield f"m{canonical([id, profile, *(getattr(member, name) for name in _COUNTED)])}"
    for (_, sender), box in state.boxes.items():
        for mail in () if sender else box:
            yield f"l{mail.at} {mail.text}"
    for offer in sorted(state.offers.values(), key=lambda offer: offer.index):
        yield f"o{canonical([offer.business, offer.customer, offer.index, offer.expires, offer.paid])}"
    for (sender, key), keyed in state.answers.items():
        yield f"k{canonical([sender, key, keyed.to, keyed.outcome.to_json()])}"
    for customer, bids in state.bids.items():
        yield f"b{canonical([customer, bids.since, dict(bids.businesses)])}"


def read_state(opening: State, lines: Iterable[str]) -> State:
    """The state that lines were made of. What else is in them raises whatever it breaks."""
    return _Reading(opening).read(lines)


class _Reading:
    def __init__(self, opening: State) -> None:
        self.opening = opening
        self.whole: Mapping[str, Any] = {}
        self.members = dict[str, Member]()
        self.mails: tuple[str, list[Mail]] = "", []
        self.boxes = dict[tuple[str, str], Box]()
        self.offers = dict[tuple[str, str], Offer]()
        self.answers = dict[tuple[str, str], KeyedMessage]()
        self.makers = dict[str, str]()
        self.bids = dict[str, Bids]()

    def read(self, lines: Iterable[str]) -> State:
        for line in lines:
            if line[0] == "l":
                self._mail(line)
                continue
            self._close_boxes()
            self._part(line[0], json.loads(line[1:]))
        self._close_boxes()
        numbers = dict(zip(_NUMBERS, self.whole["numbers"], strict=True))
        joined: list[str] = self.whole["joined"]
        listings = (Listing(id, self.members[id].profile) for id in self.whole["catalogue"])
        tree = {node: (time, agent) for node, time, agent in self.whole["schedule"]}
        return self.opening.moved(
            **numbers,
            members=Map(self.members),
            schedule=Schedule(self.opening.schedule.size, Map(tree)),
            catalogue=Catalogue(tuple(listings)),
            boxes=Map(self.boxes),
            offers=Map(self.offers),
            answers=Map(self.answers),
            makers=Map(self.makers),
            joined=Map(dict(enumerate(joined))),
            bids=Map(self.bids),
        )

    def _part(self, kind: str, value: Any) -> None:
        match kind:
            case "s":
                self.whole = value
            case "m":
                self._member(*value)
            case "o":
                business, customer, index, expires, paid = value
                proposal = cast("OrderProposal", self._message(customer, business, index))
                self.offers[business, proposal.id] = Offer(index, business, customer, proposal, expires, paid)
                self.makers.setdefault(proposal.id, business)
            case "k":
                sender, key, to, result = value
                outcome = Outcome.from_json(result)
                index = cast("Mapping[str, int]", outcome.data)["index"]
                self.answers[sender, key] = KeyedMessage(to, self._message(to, sender, index), outcome)
            case "b":
                customer, since, businesses = value
                self.bids[customer] = Bids(since, Map(businesses))
            case _:
                raise ValueError(f"no line of a state begins with {kind!r}")

    def _member(self, id: str, profile: Any, *counted: Any) -> None:
        began = self.opening.members.get(id)
        member = self.opening.members[id] if profile is None else with_profile(began, id, profile)
        self.members[id] = member.moved(**dict(zip(_COUNTED, counted, strict=True)))

    def _mail(self, line: str) -> None:
        at, _, text = line.partition(" ")
        data = orjson.loads(text)
        owner, mails = self.mails
        if data["to_agent_id"] != owner:
            self._close_boxes()
            owner, mails = self.mails = data["to_agent_id"], []
        message = _MESSAGE.validate_python(data["message"])
        mails.append(Mail(data["index"], int(at[1:]), data["from_agent_id"], owner, message, text))

    def _close_boxes(self) -> None:
        """Make the boxes of an owner, all of whose mail was read."""
        owner, mails = self.mails
        by_sender: dict[str, list[Mail]] = {"": mails} if mails else {}
        for mail in mails:
            by_sender.setdefault(mail.sender, []).append(mail)
        for sender, sent in by_sender.items():
            self.boxes[owner, sender] = Box(sent)
        self.mails = "", []

    def _message(self, to: str, sender: str, index: int) -> Message:
        mail = self.boxes[to, sender].find(index)
        if mail is None:
            raise ValueError(f"message {index} is in no box")
        return mail.message
