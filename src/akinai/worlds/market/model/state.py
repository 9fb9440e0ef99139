"""The state of a market: frozen records and persistent maps, so that an action costs the same late as early."""

from __future__ import annotations  # rpds classes take no parameters at run time

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rpds import HashTrieMap, HashTrieSet

from akinai.core.canonical import Json, canonical
from akinai.core.chance import Chance
from akinai.core.ledger import Outcome
from akinai.core.worlds import Record
from akinai.worlds.market.model.actions import Message, OrderProposal, SendMessage
from akinai.worlds.market.model.profiles import Profile, Role
from akinai.worlds.market.model.setup import Setup
from akinai.worlds.market.model.units import iso
from akinai.worlds.market.search import Catalogue

NEVER = 2**62
"""The time of one who sleeps until mail comes, or is done."""

_NOBODY = (NEVER, 2**62)


class Schedule(NamedTuple):
    """Immutable. Agents are numbered from 0; of two with one time the lower number is first."""

    size: int
    """A power of two, at least the number of agents."""
    tree: HashTrieMap[int, tuple[int, int]]
    """The first of each subtree, 1 the root; `size` + n is agent n. Who was never scheduled is not in it."""

    @staticmethod
    def of(agents: int) -> Schedule:
        """Everybody asleep."""
        return Schedule(1 << max(agents - 1, 0).bit_length(), HashTrieMap())

    @property
    def first(self) -> tuple[int, int]:
        """The earliest time, NEVER when all sleep, and the number of the agent."""
        return self.tree.get(1, _NOBODY)

    def due(self, agent: int) -> int:
        """When an agent acts next."""
        return self.tree.get(self.size + agent, _NOBODY)[0]

    def at(self, agent: int, time: int) -> Schedule:
        """The schedule with an agent's time changed."""
        node, tree = self.size + agent, self.tree
        best = (time, agent)
        tree = tree.insert(node, best)
        while node > 1:
            best = min(best, tree.get(node ^ 1, _NOBODY))
            node >>= 1
            tree = tree.insert(node, best)
        return Schedule(self.size, tree)


@dataclass(frozen=True)
class Mail:
    """A delivered message."""

    index: int
    """The number of its entry."""
    at: int
    """When the market took it, microseconds since the epoch."""
    sender: str
    to: str
    message: Message

    @property
    def json(self) -> dict[str, Json]:
        """As FetchMessages gives it on the wire."""
        return {
            "from_agent_id": self.sender,
            "to_agent_id": self.to,
            "created_at": iso(self.at),
            "message": self.message.model_dump(mode="json"),
            "index": self.index,
        }

    @cached_property
    def text(self) -> str:
        """The canonical JSON of the same: made once, for the digest and the answer of every fetch that finds it."""
        return canonical(self.json)


@dataclass(frozen=True, slots=True)
class Box:
    """Mail in the order of arrival. Nothing in it is copied when it grows."""

    count: int
    by_place: HashTrieMap[int, Mail]

    def put(self, mail: Mail) -> Box:
        return Box(self.count + 1, self.by_place.insert(self.count, mail))


EMPTY_BOX = Box(0, HashTrieMap())


@dataclass(frozen=True, slots=True)
class Offer:
    """A proposal that was delivered."""

    index: int
    business: str
    customer: str
    proposal: OrderProposal
    expires: int | None
    """Microseconds since the epoch; None never."""
    paid: int = 0
    """The index of its payment, 0 while it is open."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A message that was sent under an idempotency key, and what its sender was answered."""

    to: str
    message: Message
    outcome: Outcome

    def is_for(self, action: SendMessage) -> bool:
        """Whether an action repeats it: the same message to the same agent."""
        return (action.to_agent_id, action.message) == (self.to, self.message)


@dataclass(frozen=True, slots=True)
class Bids:
    """The proposals that one customer got, as far as the gates ask."""

    since: int
    """When the first came, microseconds since the epoch."""
    businesses: HashTrieSet[str]
    """Who made one."""


@dataclass(frozen=True)
class Member(Record):
    """An agent of the market, or one of its population that has yet to register."""

    id: str
    role: Role
    profile: Profile
    """What others may see of it."""
    data: Mapping[str, Any]
    """The whole business or customer, what nobody else is told included."""
    own: str
    """The same as JSON, for its view."""
    number: int | None = None
    """Its place on the roll; None for a stranger to the population."""
    registered: bool = False
    turns: int = 0
    """Actions that counted."""
    asleep: bool = False
    """It waits, and there is no mail for it."""
    wakes: int | None = None
    """When it wakes without mail, microseconds since the epoch; None never."""
    roused: bool = False
    """Mail ended its last wait, before its time was over."""
    last_mail: int = 0
    """The index of the last message that it was sent."""
    seen: int = 0
    """The largest index that it fetched."""
    purchases: int = 0
    paid_cents: int = 0
    received_cents: int = 0
    done: str = ""
    """Why it is done; empty while it is not."""

    @property
    def name(self) -> str:
        """The name in its data, which for people stands beside the id; empty without one."""
        name = self.data.get("name")
        return name if isinstance(name, str) else ""

    @property
    def has_news(self) -> bool:
        return self.last_mail > self.seen


@dataclass(frozen=True)
class State(Record):
    """A market between two actions."""

    setup: Setup
    chance: Chance
    begin: int
    """Where virtual time begins, microseconds since the epoch."""
    at: int
    """When the last action that counted was taken, microseconds since the epoch."""
    members: HashTrieMap[str, Member]
    roll: tuple[str, ...]
    """The population: its businesses, then its customers."""
    businesses: int
    """How many of them are businesses."""
    unregistered: int
    """Businesses of the population that have yet to register; until then no customer starts."""
    customers_left: int
    """Customers of the population that are not done."""
    schedule: Schedule
    """The agents that wait for their turn in virtual time; empty under the wall clock."""
    catalogue: Catalogue
    boxes: HashTrieMap[tuple[str, str], Box]
    """By owner and sender; the sender "" stands for all."""
    offers: HashTrieMap[tuple[str, str], Offer]
    """By business and proposal id."""
    answers: HashTrieMap[tuple[str, str], Answered]
    """By sender and idempotency key."""
    makers: HashTrieMap[str, str]
    """By proposal id alone, who used it first."""
    joined: HashTrieMap[int, str]
    """Who registered, by place in that order."""
    bids: HashTrieMap[str, Bids]
    """By customer, what the gates ask of the proposals that it got."""
    delivered: int = 0
    """Messages."""
    payments: int = 0
    booked_cents: int = 0
    """All payments together, each once."""

    @property
    def virtual(self) -> bool:
        return self.setup.clock == "virtual"

    def box(self, owner: str, sender: str = "") -> Box:
        return self.boxes.get((owner, sender), EMPTY_BOX)
