"""The page of a market: wants, conversations, and the worth of each proposal to its customer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from akinai.core.presentation.transcript import Crowd, Person, Proposal, Talk
from akinai.report.page.site import Site
from akinai.report.page.templating import render
from akinai.views import RunViews

LEAST_RANKS = 6
"""Places by arrival that the figure shows at least."""


@dataclass(frozen=True, slots=True)
class Member:
    """A participant with its counts."""

    person: Person
    talks: int
    proposals: int
    paid: int


@dataclass(frozen=True, slots=True)
class MarketPage:
    """The values that the template shows."""

    verdict: str
    buyers: Sequence[Member]
    sellers: Sequence[Member]
    talks: Sequence[Talk]
    proposals: Mapping[int, Proposal]
    """By entry."""
    names: Mapping[str, str]
    widest: int
    """The largest surplus or loss, in cents."""
    ranks: Sequence[tuple[int, int]]
    """Places by arrival, and how many proposals of each were paid."""
    matrix: Sequence[Sequence[int]]
    """Buyers by sellers: 0 silent, 1 asked, 2 offered, 3 paid."""


def market_page(views: RunViews, site: Site) -> Markup:
    """The page; its verdict and figures are those of the run."""
    crowd = views.crowd
    return render("market.html", site.language, site=site, view=views.run, page=_page(crowd))


def _page(crowd: Crowd) -> MarketPage:
    proposals = {proposal.entry: proposal for talk in crowd.talks for proposal in talk.proposals}
    buying = {talk.buyer for talk in crowd.talks}
    side = next((person.side for person in crowd.people if person.id in buying), "")
    members = [_member(person, crowd) for person in crowd.people]
    buyers = [member for member in members if member.person.side == side]
    sellers = [member for member in members if member.person.side != side]
    sellers.sort(key=lambda member: (-_first(member), -member.proposals, -member.talks, member.person.id))
    levels = {(talk.buyer, talk.seller): {"asked": 1, "offered": 2, "paid": 3}[talk.state] for talk in crowd.talks}
    paid = Counter(proposal.rank for proposal in proposals.values() if proposal.status == "accepted")
    return MarketPage(
        crowd.verdict,
        buyers,
        sellers,
        crowd.talks,
        proposals,
        {person.id: person.name for person in crowd.people},
        max((abs(proposal.surplus_cents) for proposal in proposals.values()), default=1) or 1,
        [(rank, paid[rank]) for rank in range(1, max([*paid, LEAST_RANKS]) + 1)],
        [[levels.get((buyer.person.id, seller.person.id), 0) for seller in sellers] for buyer in buyers],
    )


def _member(person: Person, crowd: Crowd) -> Member:
    own = [proposal for talk in crowd.talks for proposal in talk.proposals if person.id in (talk.buyer, talk.seller)]
    talks = sum(person.id in (talk.buyer, talk.seller) for talk in crowd.talks)
    return Member(person, talks, len(own), sum(proposal.status == "accepted" for proposal in own))


def _first(member: Member) -> float:
    return member.person.figures[0].value if member.person.figures else 0
