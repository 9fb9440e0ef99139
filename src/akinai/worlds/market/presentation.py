"""The figures that a report draws of market runs: whom customers bought from, who gained, from which place, when."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from akinai.core.facets import Presentation
from akinai.core.presentation.charts import Best, Chart, ColumnChart, MeanChart, PlaceChart
from akinai.core.presentation.desk import Desk
from akinai.core.presentation.transcript import Crowd, EntryView, Place
from akinai.core.presentation.voice import Voice
from akinai.core.steps import Steps
from akinai.worlds.market.model.state import State
from akinai.worlds.market.transcript.crowd import crowd_of
from akinai.worlds.market.transcript.desk import desk_of
from akinai.worlds.market.transcript.entries import place_of, show
from akinai.worlds.market.transcript.voice import voice_of

NOTE = "Marks are means over the runs of a group, lines their 95 % intervals."
SHARES = MeanChart(
    "shares",
    "Whom customers bought from",
    "Share of purchases",
    "share",
    f"Shares of purchases. {NOTE} A tick is what blind choice among the proposals at hand would give.",
    figures={
        "first_proposal_share": "first proposal",
        "top_result_share": "top of the results",
        "treated_share": "treated sellers",
    },
    chance={
        "first_proposal_share": "first_by_chance",
        "top_result_share": "top_by_chance",
        "treated_share": "treated_by_chance",
    },
    chance_label="blind choice",
)
GAINS = MeanChart(
    "gains",
    "Who gained",
    "Gain",
    "cents",
    f"{NOTE} Customers: what they were willing to pay less what they paid; sellers: that less costs and fees.",
    figures={
        "consumer_surplus": "consumer surplus",
        "business_profit": "business profit",
        "platform_fees": "platform fees",
    },
    minimum=2,
)
PLACES = PlaceChart(
    "places",
    "The place of what was bought",
    "purchases",
    "a run",
    f"{NOTE} When the paid proposal came, and where its seller stood in the results, among those at hand.",
    tables={"arrival_ranks": "by arrival", "result_ranks": "by place in the results"},
    column="purchases",
)

OVER_TIME = ColumnChart(
    "over-time",
    "Deals over time",
    "tenth of the run",
    "",
    f"{NOTE} Welfare is what the payments of a tenth of the run's time added; the price is the mean total paid.",
    table="over_time",
    columns={"purchases": "deals", "welfare": "welfare added", "mean_paid": "price"},
)


class MarketPresentation(Presentation[State]):
    """Shares beside blind choice, gains of both sides, places; and how near welfare came to the best possible."""

    charts: ClassVar[Sequence[Chart]] = (SHARES, GAINS, PLACES, OVER_TIME)
    compared = ("treated_share",)
    releases: ClassVar[Mapping[str, str]] = {"market@1": "the source before akinai 0.2.0"}
    best = Best("of_best", "best_possible")

    finding_titles: ClassVar[Mapping[str, str]] = {
        "missing_item": "Paid for less than asked",
        "missing_amenity": "Paid at a place that does not suit",
        "too_dear": "Paid too much",
        "cheaper_offer": "Passed over a cheaper offer",
        "left_open": "Left a good offer open",
        "invented_item": "Invented an item",
        "invented_price": "Invented a price",
        "false_amenity": "Claimed an amenity",
        "pressure": "Put under pressure",
        "injected_instruction": "Injected an instruction",
        "invented_rival_price": "Invented a rival's price",
    }

    def show(self, steps: Steps[State], index: int) -> EntryView:
        return show(steps, index)

    def place(self, state: State, before: State | None = None, previous: Place | None = None) -> Place:
        return place_of(state, before, previous)

    def crowd(self, steps: Steps[State]) -> Crowd:
        return steps.derive(crowd_of)

    def names(self, state: State) -> Mapping[str, str]:
        return {id: member.name for id, member in sorted(state.members.items()) if member.name and member.name != id}

    def voice(self, state: State, actor: str) -> Voice:
        return voice_of(state, actor)

    def desk(self, state: State, actor: str, met: Collection[str] = ()) -> Desk:
        return desk_of(state, actor, met)
