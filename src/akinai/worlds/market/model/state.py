"""The state of a market: frozen records and persistent maps, so that an action costs the same late as early."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from immutables import Map

from akinai.core.canonical import Json, canonical
from akinai.core.chance import Chance
from akinai.core.ledger import Outcome, Turn
from akinai.core.worlds import GrowingList, Record
from akinai.worlds.market.model.actions import Message, OrderProposal, SendMessage
from akinai.worlds.market.model.profiles import Profile, Role
from akinai.worlds.market.model.setup import Setup
from akinai.worlds.market.model.units import iso
from akinai.worlds.market.search import Catalogue

NEVER = 2**62
"""The time of an agent that sleeps until mail comes, or is done."""

_index = attrgetter("index")
_NOBODY = (NEVER, 2**62)


class Schedule(NamedTuple):
    """When each agent acts next. Immutable; agents are numbered from 0, and of two at one time the lower is first."""

    size: int
    """A power of two, at least the number of agents."""
    tree: Map[int, tuple[int, int]]
    """The first of each subtree, 1 the root; `size` + n is agent n. Agents never scheduled are not in it."""

    @staticmethod
    def of(agents: int) -> "Schedule":
        """A schedule in which everybody sleeps."""
        return Schedule(1 << max(agents - 1, 0).bit_length(), Map())

    @property
    def first(self) -> tuple[int, int]:
        """The earliest time, NEVER when all sleep, and the number of the agent."""
        return self.tree.get(1, _NOBODY)

    def due(self, agent: int) -> int:
        """The time of an agent's next action, NEVER while it sleeps."""
        return self.tree.get(self.size + agent, _NOBODY)[0]

    def at(self, agent: int, time: int) -> "Schedule":
        """The schedule with an agent's time changed."""
        node, tree = self.size + agent, self.tree
        best = (time, agent)
        tree = tree.set(node, best)
        while node > 1:
            best = min(best, tree.get(node ^ 1, _NOBODY))
            node >>= 1
            tree = tree.set(node, best)
        return Schedule(self.size, tree)


@dataclass(frozen=True, slots=True)
class Mail:
    """A delivered message."""

    index: int
    """The number of its entry."""
    at: int
    """When the market took it, microseconds since the epoch."""
    sender: str
    to: str
    message: Message
    text: str
    """Its canonical JSON: made once, for the digest and the answer of every fetch that selects it."""

    @staticmethod
    def of(index: int, at: int, sender: str, to: str, message: Message) -> "Mail":
        return Mail(index, at, sender, to, message, canonical(_mail_json(index, at, sender, to, message)))

    @property
    def json(self) -> dict[str, Json]:
        """The mail as FetchMessages gives it on the wire."""
        return _mail_json(self.index, self.at, self.sender, self.to, self.message)


def _mail_json(index: int, at: int, sender: str, to: str, message: Message) -> dict[str, Json]:
    return {
        "from_agent_id": sender,
        "to_agent_id": to,
        "created_at": iso(at),
        "message": message.dumped(),
        "index": index,
    }


class Box(GrowingList[Mail]):
    """Mail in the order of arrival."""

    __slots__ = ()

    def first_above(self, value: int, key: Callable[[Mail], int]) -> int:
        """The first position whose key is above a value; keys never fall along a box.

        The search begins at the end, in growing steps: an agent that polls has read all but the last few.
        """
        low = high = len(self)
        step = 1
        while low and key(self._shared[low - 1]) > value:
            high = low - 1
            low, step = max(high - step, 0), 2 * step
        return bisect_right(self._shared, value, low, high, key=key)

    def find(self, index: int) -> Mail | None:
        """The mail with an index; None where it is not in the box."""
        position = self.first_above(index - 1, _index)
        mail = self[position] if position < len(self) else None
        return mail if mail is not None and mail.index == index else None


EMPTY_BOX = Box()


class Fetched(NamedTuple):
    """The mail that a fetch selected."""

    turn: Turn
    mails: Sequence[Mail]
    has_more: bool
    text: str
    """The canonical JSON of the mails as on the wire."""


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
class KeyedMessage:
    """A message that was sent under an idempotency key, with the answer to its sender."""

    to: str
    message: Message
    outcome: Outcome

    def is_for(self, action: SendMessage) -> bool:
        """Whether an action repeats it: the same message to the same agent."""
        return (action.to_agent_id, action.message) == (self.to, self.message)


@dataclass(frozen=True, slots=True)
class Bids:
    """The facts about the proposals to one customer that the gates need."""

    since: int
    """The time of the first proposal, microseconds since the epoch."""
    businesses: Map[str, int]
    """The businesses that made one, with the index of the first."""


@dataclass(frozen=True)
class Member(Record):
    """An agent of the market, or one of its population that has yet to register."""

    id: str
    role: Role
    profile: Profile
    """Its public part."""
    data: Mapping[str, Any]
    """The whole business or customer, secrets included."""
    own: str
    """The JSON of its own data, for its view."""
    number: int | None = None
    """Its index on the roll; None for a stranger to the population."""
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
    """The index of the last message to it."""
    seen: int = 0
    """The largest index that it fetched."""
    purchases: int = 0
    paid_cents: int = 0
    received_cents: int = 0
    done: str = ""
    """Why it is done; empty while it is not."""

    @property
    def name(self) -> str:
        """The name in its data, which people see beside the id; empty without one."""
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
    """The begin of virtual time, microseconds since the epoch."""
    at: int
    """When the last action that counted was taken, microseconds since the epoch."""
    members: Map[str, Member]
    roll: tuple[str, ...]
    """The population: its businesses, then its customers."""
    businesses: int
    """The number of businesses on the roll."""
    unregistered: int
    """Businesses of the population that have yet to register; until then no customer starts."""
    customers_left: int
    """Customers of the population that are not done."""
    schedule: Schedule
    """The agents that wait for their turn in virtual time; empty under the wall clock."""
    catalogue: Catalogue
    boxes: Map[tuple[str, str], Box]
    """By owner and sender; the sender "" stands for all."""
    offers: Map[tuple[str, str], Offer]
    """By business and proposal id."""
    answers: Map[tuple[str, str], KeyedMessage]
    """By sender and idempotency key."""
    makers: Map[str, str]
    """By proposal id alone, the business that used it first."""
    joined: Map[int, str]
    """The ids of the agents that registered, by their number in that order, from 0."""
    bids: Map[str, Bids]
    """By customer."""
    delivered: int = 0
    """Messages."""
    payments: int = 0
    booked_cents: int = 0
    """All payments together, each once."""
    fetched: Fetched | None = field(default=None, compare=False, repr=False)
    """The last mail that was fetched, for whoever shows it. It decides nothing."""

    @property
    def virtual(self) -> bool:
        return self.setup.clock == "virtual"

    def box(self, owner: str, sender: str = "") -> Box:
        return self.boxes.get((owner, sender), EMPTY_BOX)

    def proposed_at(self, offer: Offer) -> int:
        """When a proposal came, microseconds since the epoch."""
        return self._sent_at(offer.customer, offer.business, offer.index)

    def paid_at(self, offer: Offer) -> int:
        """When a paid proposal was paid, microseconds since the epoch."""
        return self._sent_at(offer.business, offer.customer, offer.paid)

    def _sent_at(self, to: str, sender: str, index: int) -> int:
        mail = self.box(to, sender).find(index)
        assert mail is not None, "a message that was delivered is in its box"
        return mail.at
