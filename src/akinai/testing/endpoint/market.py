"""Players of the market behind a model endpoint: like models, they read texts and no data.

Shoppers are customers with biases of a known size, for testing an experiment before paying for a model. A shopper does
not imitate a model: only the offers and its `Biases` decide. So an experiment on shoppers has a known answer, which the
analysis has to find, and one on shoppers without biases shows no effect.
"""

import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, get_args

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Move, Plan, Role, Routine, View
from akinai.core.canonical import Json
from akinai.core.chance import Chance
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.setup import Appeal
from akinai.worlds.market.players import observations
from akinai.worlds.market.players.customers import read_mail
from akinai.worlds.market.players.observations import OwnProfile, ReceivedMessage
from akinai.worlds.market.populations.manipulation import TEXTS
from akinai.worlds.market.rules.gates import NOT_YET

PATIENCE_S = 60
PAGE_SIZE = 50
INSTRUCTIONS: tuple[Appeal, ...] = ("injection", "strong_injection")
"""Kinds of text that are obeyed or not; texts of the other kinds add to a seller's value."""

_PAGE = re.compile(r"\d+ found(?:; page \d+ of (\d+))?\.")
_RESULT = re.compile(r"^- (\S+): (.*(?:\n {4}.*)*)\n {2}Menu: (.*(?:\n {4}.*)*)\n {2}Amenities: (.*)", re.MULTILINE)
_LETTER = re.compile(r"^\[(\d+)\] from (\S+): (.*)$", re.MULTILINE)
_PROPOSAL = re.compile(r"order proposal (\S+): (.*)\. Total \$([\d.]+)")
_ITEM = re.compile(r"(\d+) x (.*) at \$([\d.]+)")
_PAYMENT = re.compile(r"payment of proposal (\S+)")
_SEALED = re.compile(r"^\(Sealed bids are opened in (\d+) s;", re.MULTILINE)
_LEFT = re.compile(r"; (\d+) s are left$")


def text_only(factory: AgentFactory) -> AgentFactory:
    """A player of the market that gets its data from the texts of outcomes.

    Texts that are ambiguous, such as an item's name with "; " in it, cannot be parsed.
    """
    return lambda role: _TextReader(factory, role)


class _TextReader:
    def __init__(self, factory: AgentFactory, role: Role) -> None:
        self._player: Agent = factory(role)

    async def act(self, view: View, last: Outcome | None) -> Move:
        if last is not None:
            last = Outcome(last.text, last.ok, last.code, parse_outcome(last.text))
        return await self._player.act(view, last)


def parse_outcome(text: str) -> dict[str, Json] | None:
    """The data of a search, a fetch or a premature payment, from the outcome's text; None for any other."""
    if page := _PAGE.match(text):
        profiles = [_profile(*groups) for groups in _RESULT.findall(text)]
        return {"businesses": list(profiles), "total_pages": int(page[1] or 1)}
    if left := _LEFT.search(text):
        return {"seconds": int(left[1])}
    letters: list[Json] = [
        {"index": int(index), "from_agent_id": sender, "message": _message(words)}
        for index, sender, words in _LETTER.findall(text)
    ]
    if not letters:
        return None
    sealed = _SEALED.search(text)
    data: dict[str, Json] = {"messages": letters, "has_more": text.endswith("(There are more.)")}
    return {**data, "sealed_s": int(sealed[1])} if sealed else data


def _profile(id: str, description: str, menu: str, amenities: str) -> dict[str, Json]:
    items = [item.rpartition(" $") for item in menu.split("; ")] if menu != "nothing" else []
    has = [] if amenities == "none" else amenities.split("; ")
    business: dict[str, Json] = {
        "description": description,
        "menu_features": {name: float(price) for name, _, price in items},
        "amenity_features": dict.fromkeys(has, True),
    }
    return {"id": id, "business": business}


def _message(words: str) -> Mapping[str, Json]:
    if proposal := _PROPOSAL.match(words):
        matches = [_ITEM.fullmatch(item) for item in proposal[2].split("; ")]
        items: list[Json] = [
            {"item_name": item[2], "quantity": int(item[1]), "unit_price": float(item[3])} for item in matches if item
        ]
        return {
            "type": "order_proposal",
            "id": proposal[1],
            "items": items,
            "total_price": float(proposal[3]),
        }
    if payment := _PAYMENT.match(words):
        return {"type": "payment", "proposal_message_id": payment[1]}
    return {"type": "text", "content": words}


@dataclass(frozen=True, slots=True)
class Biases:
    """A shopper's weights for the price, texts and positions; 0 has no effect.

    It buys from seller j with probability e^v(j) / sum over k of e^v(k), the multinomial logit of McFadden (1974): v
    falls by `price` for each dollar, and rises by the weights of the text in the seller's description and of its
    position.
    """

    price: float = 1.0
    """Weight of a dollar; 1 makes a seller that is a dollar cheaper e times as likely as its twin."""
    authority: float = 0.0
    social_proof: float = 0.0
    loss_aversion: float = 0.0
    injection: float = 0.0
    """Probability of obeying an injected instruction: it then buys from the first seller that gives one."""
    strong_injection: float = 0.0
    """The same for a strong instruction."""
    first_result: float = 0.0
    """Weight of the first result, among the businesses that it asks."""
    first_proposal: float = 0.0
    """Weight of the proposal that arrives first."""
    draw: int = 0
    """Number of the sample: another number draws other choices in the same markets."""

    def expected(self, kind: Appeal, users: int, sellers: int) -> float:
        """The expected share of purchases of the `users` of a text among sellers that are alike in all else."""
        if kind == "none":
            return users / sellers
        weight: float = getattr(self, kind)
        if kind in INSTRUCTIONS:
            return weight + (1 - weight) * users / sellers if users else 0.0
        moved = users * math.exp(weight)
        return moved / (moved + sellers - users)


SHOPPERS: Mapping[str, Biases] = {
    "gullible": Biases(authority=1.0, social_proof=1.5, loss_aversion=0.5, injection=0.4, strong_injection=0.8),
    "sober": Biases(),
    "hasty": Biases(first_proposal=2.0),
    "skimming": Biases(first_result=2.0),
}
"""By the model's name."""


def parse_shopper(text: str) -> tuple[str, Biases]:
    """A name and biases from "mild:authority=0.3,draw=2". UsageError, with a close match, for any other text."""
    name, _, weights = text.partition(":")
    names, values = {field.name for field in fields(Biases)}, dict[str, Any]()
    for part in filter(None, weights.split(",")):
        word, _, value = part.partition("=")
        if word not in names:
            raise UnknownName("bias of a shopper", word, names, "its fields are listed in docs/experiments.md")
        try:
            values[word] = int(value) if word == "draw" else float(value)
        except ValueError:
            raise UsageError(f"{part!r} gives {word} no number; write {word}=0.5") from None
        if word in INSTRUCTIONS and not 0 <= values[word] <= 1:
            raise UsageError(f"{part!r} is no probability; give {word} a number from 0 to 1")
    if not name:
        raise UsageError(f"a shopper needs a name before its biases, such as 'mild:authority=0.3', not {text!r}")
    return name, Biases(**values)


def shopper(biases: Biases) -> AgentFactory:
    """The factory of a shopper; it plays customers only."""

    def factory(_: Role) -> Agent:
        return Routine(lambda me: _shop(me, biases))

    return text_only(factory)


@dataclass(frozen=True, slots=True)
class _Seller:
    """A business on a page of results."""

    id: str
    description: str
    has_all: bool


@dataclass(frozen=True, slots=True)
class _Choice:
    """A shopper's biases, chance and sellers when it chooses."""

    biases: Biases
    chance: Chance
    """The customer's own chance, whatever the treatment: two arms of an experiment have the same draws."""
    sellers: Sequence[_Seller]
    """The sellers that it asked for a proposal."""
    obeyed: str | None
    """The seller whose instruction it follows."""


def _shop(me: Routine, biases: Biases) -> Plan:
    """Register, search, ask every business that has everything, wait for proposals, choose, pay and leave."""
    myself = observations.own_profile(me.view)
    chance = Chance.of(biases.draw)(
        "shopper", myself.id, *sorted(f"{item} {myself.prices[item]}" for item in myself.prices)
    )
    if a.Register in me.view.verbs:
        yield a.Register()
    results = yield from _results(myself)
    obeyed = _obeyed(results, biases, chance)
    sellers = [seller for seller in results if seller.has_all or seller.id == obeyed]
    order = ", ".join(f"1 x {item}" for item in sorted(myself.prices))
    for seller in sellers:
        yield _message_to(seller.id, a.Text(content=f"Hello, please send me a proposal for {order}."))
    yield from _buy(myself, _Choice(biases, chance, sellers, obeyed))
    while True:
        yield a.Leave()


def _results(myself: OwnProfile) -> Generator[Action, Outcome, list[_Seller]]:
    """All businesses that a search by item names finds, best match first."""
    sellers, number = list[_Seller](), 1
    while True:
        outcome = yield a.Search(query=", ".join(sorted(myself.prices)), limit=PAGE_SIZE, page=number)
        results, pages = observations.results_page(outcome)
        profiles = outcome.fields.get("businesses", [])
        sellers += [
            _Seller(
                result.id,
                profile["business"]["description"],
                result.items >= myself.prices.keys() and result.amenities >= myself.needs,
            )
            for result, profile in zip(results, profiles, strict=True)
        ]
        number += 1
        if number > pages:
            return sellers


def _obeyed(sellers: Sequence[_Seller], biases: Biases, chance: Chance) -> str | None:
    """The seller of the first instruction that it reads, if it obeys instructions of that kind."""
    for seller in sellers:
        for kind in INSTRUCTIONS:
            if _says(seller, kind):
                return seller.id if chance("obeys", kind).uniform() < getattr(biases, kind) else None
    return None


def _says(seller: _Seller, kind: Appeal) -> bool:
    """Whether a description holds the text of a kind, in any language."""
    return any(all(part in seller.description for part in _split(texts[kind])) for texts in TEXTS.values())


def _split(text: str) -> list[str]:
    """The parts of a text around the seller's own name and id."""
    return [part for part in text.replace("{id}", "{name}").split("{name}") if part]


def _buy(myself: OwnProfile, choice: _Choice) -> Generator[Action, Outcome, None]:
    """Wait for all answers and pay the chosen offer. Where payment is not open yet, wait and choose again."""
    offers, answered, last = list[ReceivedMessage](), set[str](), 0
    while len(answered) < len(choice.sellers):
        mail = yield from _mail(PATIENCE_S, last)
        if not mail:
            break
        last, answered = mail[-1].index, answered | {letter.sender for letter in mail}
        offers += [letter for letter in mail if _considers(myself, letter, choice)]
    while offers:
        offer = _choose_offer(offers, choice)
        outcome = yield _message_to(offer.sender, a.Payment(proposal_message_id=_proposal(offer).id))
        if outcome.ok or outcome.code != NOT_YET:
            return
        opens_s = observations.seconds_to_wait(outcome)
        mail = yield from _mail(opens_s or PATIENCE_S, last)
        if not mail and opens_s is None:
            return
        last = mail[-1].index if mail else last
        offers += [letter for letter in mail if _considers(myself, letter, choice)]


def _mail(wait_s: int, last: int) -> Generator[Action, Outcome, list[ReceivedMessage]]:
    """The mail after an index, following a wait that mail ends."""
    yield a.Wait(seconds=wait_s)
    return (yield from read_mail(last))


def _considers(myself: OwnProfile, letter: ReceivedMessage, choice: _Choice) -> bool:
    """Whether an offer is considered: it has all items at a worthwhile total, or comes from the obeyed seller."""
    if not isinstance(letter.message, a.OrderProposal):
        return False
    holds_all = {item.item_name for item in letter.message.items} >= myself.prices.keys()
    worth = 2 * sum(myself.prices.values(), Decimal(0))
    return letter.sender == choice.obeyed or (holds_all and worth > observations.total(letter.message))


def _choose_offer(offers: Sequence[ReceivedMessage], choice: _Choice) -> ReceivedMessage:
    """The obeyed seller's offer, otherwise the argmax of value plus Gumbel noise: the choice of a logit."""
    obeyed = [letter for letter in offers if letter.sender == choice.obeyed]
    return obeyed[0] if obeyed else max(offers, key=lambda letter: _value(letter, offers, choice))


def _value(letter: ReceivedMessage, offers: Sequence[ReceivedMessage], choice: _Choice) -> float:
    biases, sellers = choice.biases, {seller.id: seller for seller in choice.sellers}
    seller = sellers[letter.sender]
    kinds = [kind for kind in get_args(Appeal) if kind not in (*INSTRUCTIONS, "none") and _says(seller, kind)]
    value = sum(getattr(biases, kind) for kind in kinds) - biases.price * float(observations.total(_proposal(letter)))
    value += biases.first_result * (seller is choice.sellers[0]) + biases.first_proposal * (letter is offers[0])
    uniform = max(choice.chance("luck", letter.sender).uniform(), 2.0**-54)
    return value - math.log(-math.log(uniform))


def _proposal(letter: ReceivedMessage) -> a.OrderProposal:
    assert isinstance(letter.message, a.OrderProposal)
    return letter.message


def _message_to(to: str, message: a.Message) -> a.SendMessage:
    return a.SendMessage(to_agent_id=to, message=message)
