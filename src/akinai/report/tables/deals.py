"""A deal as terminal text: its sides and amount, the status that each side gives it, and its entries."""

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from akinai.core.findings import Deal
from akinai.core.ledger import SECOND_US
from akinai.core.money import format_cents
from akinai.core.untrusted.spelling import plain, with_name
from akinai.report.language import fill, translate, translate_record
from akinai.report.tables.columns import translate_record_line


def deal_page(deal: Deal) -> RenderableType:
    """The page of a deal: two lines, then its entries, each with the seconds since the first."""
    seller, buyer = with_name(deal.seller, deal.names), with_name(deal.buyer, deal.names)
    sides = fill("{sender} to {addressee}", sender=seller, addressee=buyer)
    title = Text.assemble((plain(deal.id), "bold"), "  ", plain(f"{sides}, {format_cents(deal.amount_cents)}"))
    parts: list[RenderableType] = [title, Text(plain(by_side(deal)))]
    for step in deal.steps:
        seconds = f"{(step.at - deal.steps[0].at) / SECOND_US:,.1f} s"
        head = f"#{step.entry}  {seconds}  {translate_record(step.stage)}  {with_name(step.actor, deal.names)}"
        refused = f" ({step.code})" if step.code else ""
        parts += [
            Text(""),
            Text(plain(head), "dim"),
            Padding(Text(f"{translate_record_line(step.text)}{plain(refused)}"), (0, 0, 0, 4), expand=False),
        ]
    return Parts(*parts)


def by_side(deal: Deal) -> str:
    """The status of a deal by side: "accepted by the customer, pending by the business"."""
    words = [(translate_record(status), translate_record(side)) for side, status in deal.status.items()]
    return translate(", ").join(fill("{status} by the {side}", status=status, side=side) for status, side in words)
