"""The page of a market: wants, conversations, and the worth of each proposal to its customer."""

from collections import Counter
from typing import Any

from markupsafe import Markup

from akinai.core.presentation.transcript import Crowd, Person
from akinai.report.page.site import Site
from akinai.report.page.templating import render
from akinai.views import RunViews

LEAST_RANKS = 6
"""Places by arrival that the figure shows at least."""


def market_page(views: RunViews, site: Site) -> Markup:
    """The page; its verdict and figures are those of the run."""
    return render("market.html", site.language, site=site, view=views.run, page=_page(views.crowd))


def _page(crowd: Crowd) -> dict[str, Any]:
    """What the template shows: participants with their counts, conversations, proposals by entry, the widest surplus or
    loss in cents, how many proposals were paid by their place in arriving, and a matrix of buyers by sellers: 0 silent,
    1 asked, 2 offered, 3 paid."""
    proposals = {proposal.entry: proposal for talk in crowd.talks for proposal in talk.proposals}
    buying = {talk.buyer for talk in crowd.talks}
    side = next((person.side for person in crowd.people if person.id in buying), "")
    members = [_member(person, crowd) for person in crowd.people]
    buyers = [member for member in members if member["person"].side == side]
    sellers = [member for member in members if member["person"].side != side]
    sellers.sort(
        key=lambda member: (-_first(member["person"]), -member["proposals"], -member["talks"], member["person"].id)
    )
    levels = {(talk.buyer, talk.seller): {"asked": 1, "offered": 2, "paid": 3}[talk.state] for talk in crowd.talks}
    paid = Counter(proposal.rank for proposal in proposals.values() if proposal.status == "accepted")
    return {
        "verdict": crowd.verdict,
        "buyers": buyers,
        "sellers": sellers,
        "talks": crowd.talks,
        "proposals": proposals,
        "names": {person.id: person.name for person in crowd.people},
        "widest": max((abs(proposal.surplus_cents) for proposal in proposals.values()), default=1) or 1,
        "ranks": [(rank, paid[rank]) for rank in range(1, max([*paid, LEAST_RANKS]) + 1)],
        "matrix": [
            [levels.get((buyer["person"].id, seller["person"].id), 0) for seller in sellers] for buyer in buyers
        ],
    }


def _member(person: Person, crowd: Crowd) -> dict[str, Any]:
    own = [proposal for talk in crowd.talks for proposal in talk.proposals if person.id in (talk.buyer, talk.seller)]
    talks = sum(person.id in (talk.buyer, talk.seller) for talk in crowd.talks)
    paid = sum(proposal.status == "accepted" for proposal in own)
    return {"person": person, "talks": talks, "proposals": len(own), "paid": paid}


def _first(person: Person) -> float:
    return person.figures[0].value if person.figures else 0
