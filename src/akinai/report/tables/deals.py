"""A deal for people: who dealt for how much, what each side takes it for, and the entries that belong to it."""

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from akinai.core.findings import Deal
from akinai.core.ledger import SECOND_US
from akinai.core.money import format_cents
from akinai.report.tables.columns import plain
from akinai.report.tables.runs import named


def deal_page(deal: Deal) -> RenderableType:
    """The deal in two lines, then its entries, each with the seconds since the first."""
    sides = f"{named(deal.seller, deal.names)} to {named(deal.buyer, deal.names)}"
    statuses = ", ".join(f"{status} by the {side}" for side, status in deal.status.items())
    title = Text.assemble((plain(deal.id), "bold"), "  ", plain(f"{sides}, {format_cents(deal.amount_cents)}"))
    shown: list[RenderableType] = [title, Text(plain(statuses))]
    for step in deal.steps:
        seconds = f"{(step.at - deal.steps[0].at) / SECOND_US:,.1f} s"
        head = f"#{step.entry}  {seconds}  {step.stage}  {named(step.actor, deal.names)}"
        refused = f" ({step.code})" if step.code else ""
        shown += [
            Text(""),
            Text(plain(head), "dim"),
            Padding(Text(plain(f"{step.text}{refused}")), (0, 0, 0, 4), expand=False),
        ]
    return Parts(*shown)
