"""Precision and recall of what is found of conduct, over labelled runs of both worlds, with 95 % intervals.

    python bench/conduct.py [--set N] [--show] [TYPE ...]
    python bench/conduct.py --scripted

A finding counts where its type and its actor are those of the case and it points to the labelled entries; any other of
these types is false. `--set N` reads the cases of another hand, each set of which was held out until it was read once;
`--show` prints a line for each disagreement; `--scripted` prints what is found in the
scripts of docs/arena.md. The format of cases is explained in tests/conduct/README.md.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import labelled
from akinai.core.ledger import Genesis
from akinai.core.money import format_cents
from akinai.core.steps import Steps
from akinai.core.worlds import replay
from akinai.worlds.market import Market
from akinai.worlds.vending.model.state import State, closed_books
from akinai.worlds.vending.rules.trade import bank_balance_cents
from akinai.worlds.vending.scores import collusion_scores, gain_cents, weekly_indices
from case_runs import LabelledMove, Recording, Scripted, play_hands
from coherence import print_table
from labelled import Case, Document, labelled_case, read_moves

FOLDER = Path(__file__).parents[1] / "tests" / "conduct"
SETS = {path.name.removeprefix("held_out_"): path for path in sorted(FOLDER.glob("held_out_*"))}
"""Folders of cases that another hand wrote, by their number."""
SCRIPTED = FOLDER / "scripted"
MARKET = Market()
VENDING_TYPES = (
    "refund_unpaid",
    "false_quote",
    "false_claim",
    "false_volume",
    "unbilled_goods",
    "price_agreement",
    "broken_deal",
    "ignored_invoice",
    "threat",
)
MARKET_TYPES = (
    "invented_item",
    "invented_price",
    "false_amenity",
    "pressure",
    "injected_instruction",
    "invented_rival_price",
)
TYPES = (*VENDING_TYPES, *MARKET_TYPES)
"""The types that docs/design/conduct.md defines and that can occur."""
(REGISTER,), (LEAVE,) = (read_moves([verb], world=MARKET) for verb in ("register", "leave"))


@dataclass(frozen=True, slots=True)
class MarketScript:
    """A script for each participant of a market in virtual time, in which every action takes a second."""

    setup: Mapping[str, Any]
    moves: Mapping[str, tuple[LabelledMove, ...]]

    def play(self) -> Recording[Any]:
        setup = Market.setup.model_validate(self.setup).model_dump(mode="json")
        run = Recording(MARKET, Genesis(MARKET.name, 1, setup))
        play_hands(run, {name: Scripted((REGISTER, *moves), LEAVE) for name, moves in self.moves.items()})
        return run


def read_case(about: str, document: Document) -> Case:
    """One case of a file, of the world that it names."""
    if document.get("world") != "market":
        return labelled.read_case(about, document)
    participants: Mapping[str, Document] = document["participants"]
    setup = {
        "data": {
            "businesses": [_business(id, own["business"]) for id, own in participants.items() if "business" in own],
            "customers": [_customer(id, own["customer"]) for id, own in participants.items() if "customer" in own],
        },
        "customers": {"purchases": 0},
        "latency": {"low_ms": 1000, "high_ms": 1000},
        **document.get("set", {}),
    }
    moves = {id: read_moves(_spelt_out(own.get("moves", ())), world=MARKET) for id, own in participants.items()}
    return labelled_case(about, document, MarketScript(setup, moves))


def _business(id: str, profile: Document) -> Document:
    neutral = {"name": id.title(), "description": "", "rating": 3.0, "menu_features": {}, "amenity_features": {}}
    return {"id": id, **neutral, **profile}


def _customer(id: str, profile: Document) -> Document:
    neutral = {"name": id.title(), "request": "", "menu_features": {}, "amenity_features": []}
    return {"id": id, **neutral, **profile}


def _spelt_out(moves: Iterable[str | Document]) -> Iterator[str | Document]:
    """Moves in which the short forms of messages, {say: {ann: words}} and so on, are messages to send."""
    for move in moves:
        match move:
            case {"marked": group}:
                yield {"marked": [*_spelt_out(group)]}
            case {"say": named, **more}:
                yield from (_message(to, more, "text", content=words) for to, words in named.items())
            case {"offer": named, **more}:
                yield from (_message(to, more, "order_proposal", **_items(offer)) for to, offer in named.items())
            case {"pay": named, **more}:
                yield from (_message(to, more, "payment", proposal_message_id=id) for to, id in named.items())
            case _:
                yield move


def _message(to: str, more: Document, type_: str, **content: Any) -> Document:
    return {"send_message": {"to_agent_id": to, "message": {"type": type_, **content}}, **more}


def _items(offer: Document) -> dict[str, Any]:
    """A proposal whose items are prices by name, one unit each; the total is their sum where it names none."""
    items = [{"item_name": name, "quantity": 1, "unit_price": price} for name, price in offer["items"].items()]
    return {"total_price": sum(item["unit_price"] for item in items), **offer, "items": items}


def scripted_table() -> str:
    """What is found of each owner in the scripted games, with the collusion index of the street and its weeks, what the
    owner's sales brought over the trade price, and what it had at the end, as a table in Markdown."""
    lines = ["| script | owner | index | by week | margin | bank balance | found |", f"|{' --- |' * 7}"]
    for case in load(SCRIPTED):
        run = case.plan.play()
        steps = replay(run.world, run.ledger)
        (index, *_), margins = [*collusion_scores(steps), None], margin_cents(steps)
        weeks = ", ".join(map(index_text, weekly_indices(steps).values()))
        street = f"{index_text(index and index.value)} | {weeks if index else '-'}"
        findings = [finding for finding in run.world.facets.judging.detect(steps) if finding.is_conduct]
        for owner in steps.final.owners:
            own = [f"`{finding.type}` ({finding.severity})" for finding in findings if finding.actor == owner]
            balance = format_cents(bank_balance_cents(steps.final.turned_to(owner)))
            money = f"{format_cents(margins[owner])} | {balance}"
            lines.append(f"| {case.name} | `{owner}` | {street} | {money} | {', '.join(own) or '-'} |")
    return "\n".join(lines)


def index_text(index: float | None) -> str:
    """ ".68", "-" for none."""
    return "-" if index is None else f"{round(index, 2) + 0:g}".lstrip("0") or "0"


def margin_cents(steps: Steps[State]) -> Mapping[str, int]:
    """What each owner's sales brought over the trade price of the goods that were sold."""
    margins = Counter(dict.fromkeys(steps.opening.owners, 0))
    for step in steps:
        for owner, own in step.after.businesses.items():
            for book in closed_books(step.before.businesses[owner], own):
                margins[owner] += gain_cents(steps.opening.economy, book)
    return margins


load = partial(labelled.load, read=read_case)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", metavar="TYPE", nargs="*", help=f"{', '.join(TYPES)}; all without one")
    parser.add_argument("--set", choices=SETS, help="the cases of another hand")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--scripted", action="store_true")
    options = parser.parse_args(arguments)
    if options.scripted:
        return print(scripted_table())
    if unknown := set(options.types) - set(TYPES):
        parser.error(f"no type {', '.join(sorted(unknown))}; there are {', '.join(TYPES)}")
    folder = SETS[options.set] if options.set else FOLDER
    cases = load(folder)
    title = f"cases of {folder.name}" if options.set else "cases"
    print_table(title, cases, options.types or TYPES, show=options.show)


if __name__ == "__main__":
    main()
