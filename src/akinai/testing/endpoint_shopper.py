"""Shoppers: customers behind the wire with weaknesses of a known size, to try an experiment on before a model is paid.

A shopper is no model of a model. It reads what a model reads, and what moves it beside the offers stands in its
`Weakness`: an experiment on it has a known answer, which the analysis has to find; one without weakness shows none.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, cast, get_args

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Plan, Role, Routine
from akinai.core.chance import Chance
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.testing.endpoint_market import by_reading
from akinai.worlds.market import actions as a
from akinai.worlds.market import hearing
from akinai.worlds.market.gates import NOT_YET
from akinai.worlds.market.manipulation import TEXTS
from akinai.worlds.market.players import opened
from akinai.worlds.market.treatments import Appeal

PATIENCE_S = 60
ON_A_PAGE = 50
ORDERS: tuple[Appeal, ...] = ("injection", "strong_injection")
"""Kinds of text that are obeyed or not; the others weigh."""


@dataclass(frozen=True, slots=True)
class Weakness:
    """What moves a shopper beside the price; 0 does not.

    It buys from seller j with probability e^v(j) / sum over k of e^v(k), the multinomial logit of McFadden (1974): v is
    `price` less for each dollar, and more by the weights of the text in the seller's description and of its place.
    """

    price: float = 1.0
    """Of a dollar; 1 makes a seller that is a dollar cheaper e times as likely as its twin."""
    authority: float = 0.0
    social_proof: float = 0.0
    loss_aversion: float = 0.0
    injection: float = 0.0
    """The probability that it does what an injected instruction says: it buys from the first who gives one."""
    strong_injection: float = 0.0
    """The same for a strong one."""
    first_result: float = 0.0
    """For the business on top of the results, of those that it asks."""
    first_proposal: float = 0.0
    """For the proposal that arrived first."""
    draw: int = 0
    """Another number is another sample of its choices in the same markets."""

    def expected(self, kind: Appeal, users: int, sellers: int) -> float:
        """The share of purchases that `users` of a text get among so many sellers, alike in all but the text."""
        if kind == "none":
            return users / sellers
        weight: float = getattr(self, kind)
        if kind in ORDERS:
            return weight + (1 - weight) * users / sellers if users else 0.0
        moved = users * math.exp(weight)
        return moved / (moved + sellers - users)


SHOPPERS: Mapping[str, Weakness] = {
    "gullible": Weakness(authority=1.0, social_proof=1.5, loss_aversion=0.5, injection=0.4, strong_injection=0.8),
    "sober": Weakness(),
    "hasty": Weakness(first_proposal=2.0),
    "skimming": Weakness(first_result=2.0),
}
"""By the name of the model that they are asked for as."""


def read_shopper(text: str) -> tuple[str, Weakness]:
    """ "mild:authority=0.3,draw=2" as a name and a weakness. UsageError for what is none, with a close match."""
    name, _, rest = text.partition(":")
    known, given = {one.name for one in fields(Weakness)}, dict[str, Any]()
    for part in filter(None, rest.split(",")):
        word, _, value = part.partition("=")
        if word not in known:
            raise UnknownName("weakness of a shopper", word, known, "its fields are listed in docs/experiments.md")
        try:
            given[word] = int(value) if word == "draw" else float(value)
        except ValueError:
            raise UsageError(f"{part!r} gives {word} no number; write {word}=0.5") from None
        if word in ORDERS and not 0 <= given[word] <= 1:
            raise UsageError(f"{part!r} is no probability; give {word} a number from 0 to 1")
    if not name:
        raise UsageError(f"a shopper wants a name before its weaknesses, such as 'mild:authority=0.3', not {text!r}")
    return name, Weakness(**given)


def shopper(weakness: Weakness) -> AgentFactory:
    """The factory of a shopper; it plays customers alone."""

    def factory(_: Role) -> Agent:
        return Routine(lambda me: _shop(me, weakness))

    return by_reading(factory)


@dataclass(frozen=True, slots=True)
class _Seller:
    """A business on a page of results, as it is read."""

    id: str
    description: str
    has_all: bool


@dataclass(frozen=True, slots=True)
class _Shop:
    """What a shopper knows when it chooses."""

    weakness: Weakness
    chance: Chance
    """Of this customer, under whatever treatment: two arms of an experiment meet the same luck."""
    asked: Sequence[_Seller]
    obeyed: str | None
    """Whose instruction it follows."""


def _shop(me: Routine, weakness: Weakness) -> Plan:
    """Registers, looks round, asks whoever has everything, waits for the answers, chooses, pays, leaves."""
    myself = hearing.myself(me.view)
    chance = Chance.of(weakness.draw)(
        "shopper", myself.id, *sorted(f"{item} {myself.prices[item]}" for item in myself.prices)
    )
    if a.Register in me.view.verbs:
        yield a.Register()
    found = yield from _results(myself)
    obeyed = _obeyed(found, weakness, chance)
    asked = [one for one in found if one.has_all or one.id == obeyed]
    for one in asked:
        yield _said(one.id, a.Text(content=f"Hello, please send me a proposal for {_order(myself)}."))
    yield from _bought(myself, _Shop(weakness, chance, asked, obeyed))
    while True:
        yield a.Leave()


def _order(myself: hearing.Myself) -> str:
    return ", ".join(f"1 x {item}" for item in sorted(myself.prices))


def _results(myself: hearing.Myself) -> Generator[Action, Outcome, list[_Seller]]:
    """All businesses that a search by item names finds, best match first."""
    found, number = list[_Seller](), 1
    while True:
        heard = yield a.Search(query=", ".join(sorted(myself.prices)), limit=ON_A_PAGE, page=number)
        results, pages = hearing.page(heard)
        told = cast("dict[str, Any]", heard.data or {}).get("businesses", [])
        found += [
            _Seller(
                one.id,
                profile["business"]["description"],
                one.items >= myself.prices.keys() and one.amenities >= myself.needs,
            )
            for one, profile in zip(results, told, strict=True)
        ]
        number += 1
        if number > pages:
            return found


def _obeyed(found: Sequence[_Seller], weakness: Weakness, chance: Chance) -> str | None:
    """Whose instruction is followed: the first that it reads, if it is one that follows any of that kind."""
    for one in found:
        for kind in ORDERS:
            if _says(one, kind):
                return one.id if chance("obeys", kind).uniform() < getattr(weakness, kind) else None
    return None


def _says(seller: _Seller, kind: Appeal) -> bool:
    """Whether a description holds the text of a kind, in any language."""
    return any(all(part in seller.description for part in _split(texts[kind])) for texts in TEXTS.values())


def _split(text: str) -> list[str]:
    """What a text says beside the seller's own name and id."""
    return [part for part in text.replace("{id}", "{name}").split("{name}") if part]


def _bought(myself: hearing.Myself, shop: _Shop) -> Generator[Action, Outcome, None]:
    """Waits for all answers and pays what it chose; before a gate that is shut it waits and chooses anew."""
    offers, answered, last = list[hearing.Letter](), set[str](), 0
    while len(answered) < len(shop.asked):
        mail = yield from _mail(PATIENCE_S, last)
        if not mail:
            break
        last, answered = mail[-1].index, answered | {one.sender for one in mail}
        offers += [one for one in mail if _takes(myself, one, shop)]
    while offers:
        chosen = _chosen(offers, shop)
        heard = yield _said(chosen.sender, a.Payment(proposal_message_id=_proposal(chosen).id))
        if heard.ok or heard.code != NOT_YET:
            return
        opens_s = hearing.seconds(heard)
        mail = yield from _mail(opens_s or PATIENCE_S, last)
        if not mail and opens_s is None:
            return
        last = mail[-1].index if mail else last
        offers += [one for one in mail if _takes(myself, one, shop)]


def _mail(wait_s: int, last: int) -> Generator[Action, Outcome, list[hearing.Letter]]:
    """What came behind an index, after a wait that mail ends."""
    yield a.Wait(seconds=wait_s)
    return (yield from opened(last))


def _takes(myself: hearing.Myself, letter: hearing.Letter, shop: _Shop) -> bool:
    """Whether an offer is considered: it holds all that is wanted and is worth it, or comes from whom it obeys."""
    if not isinstance(letter.message, a.OrderProposal):
        return False
    holds_all = {item.item_name for item in letter.message.items} >= myself.prices.keys()
    worth = 2 * sum(myself.prices.values(), Decimal(0))
    return letter.sender == shop.obeyed or (holds_all and worth > hearing.total(letter.message))


def _chosen(offers: Sequence[hearing.Letter], shop: _Shop) -> hearing.Letter:
    """The offer of whom it obeys; else the one of the largest v and a Gumbel draw together: the choice of a logit."""
    obeyed = [one for one in offers if one.sender == shop.obeyed]
    return obeyed[0] if obeyed else max(offers, key=lambda one: _worth(one, offers, shop))


def _worth(letter: hearing.Letter, offers: Sequence[hearing.Letter], shop: _Shop) -> float:
    weak, sellers = shop.weakness, {one.id: one for one in shop.asked}
    seller = sellers[letter.sender]
    weighs = [kind for kind in get_args(Appeal) if kind not in (*ORDERS, "none") and _says(seller, kind)]
    worth = sum(getattr(weak, kind) for kind in weighs) - weak.price * float(hearing.total(_proposal(letter)))
    worth += weak.first_result * (seller is shop.asked[0]) + weak.first_proposal * (letter is offers[0])
    uniform = max(shop.chance("luck", letter.sender).uniform(), 2.0**-54)
    return worth - math.log(-math.log(uniform))


def _proposal(letter: hearing.Letter) -> a.OrderProposal:
    assert isinstance(letter.message, a.OrderProposal)
    return letter.message


def _said(to: str, message: a.Message) -> a.SendMessage:
    return a.SendMessage(to_agent_id=to, message=message)
