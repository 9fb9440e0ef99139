"""The facets of the vending world: sub-agents, detectors, lessons, charts, published results and files."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Literal

from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, owner_of
from akinai.core.canonical import Json
from akinai.core.facets import (
    AddedText,
    Facets,
    Files,
    Judging,
    Observation,
    Presentation,
    Reader,
    Seating,
    Sides,
    Teaching,
)
from akinai.core.findings import Finding
from akinai.core.ledger import Genesis, Outcome
from akinai.core.lessons import Lesson
from akinai.core.presentation.charts import Chart, DayChart, ItemChart, Published, StackChart
from akinai.core.presentation.desk import Desk
from akinai.core.presentation.transcript import Dealing, EntryView, Item, Place
from akinai.core.presentation.voice import Voice
from akinai.core.scores import Account, Score
from akinai.core.steps import Steps
from akinai.worlds.vending.conduct import accounts, dealings
from akinai.worlds.vending.conduct.street import Street, conduct_findings
from akinai.worlds.vending.detectors.coherence import coherence_scores, detect_all
from akinai.worlds.vending.detectors.history import History
from akinai.worlds.vending.explaining import VendingExplaining
from akinai.worlds.vending.lessons.advice import KINDS, Experiment
from akinai.worlds.vending.lessons.extraction import extract_lessons
from akinai.worlds.vending.model.actions import LeaveStreet, Report
from akinai.worlds.vending.model.bound import bound_cents
from akinai.worlds.vending.model.setup import MOST_OWNERS, read_catalog
from akinai.worlds.vending.model.state import OVERSEER, OWNER, SUPPLIER, State
from akinai.worlds.vending.model.verb import NOTEPAD_LIMIT
from akinai.worlds.vending.players.strategies import PLAYERS
from akinai.worlds.vending.rules.actors import missing_tools, turn_to_actor, usable_verbs
from akinai.worlds.vending.scores import (
    COLLUSION_INDEX,
    day_facts,
    facts,
    headline_cents,
    net_worth_cents,
    seat_facts,
    weekly_table,
)
from akinai.worlds.vending.sprint.office import late_report
from akinai.worlds.vending.transcript.desk import desk_of
from akinai.worlds.vending.transcript.entries import show
from akinai.worlds.vending.transcript.place import items_of, place_of, voice_of
from akinai.worlds.vending.transcript.street import owner_dealings, street_of

CONDUCT_FILES = (accounts, dealings)
"""The files that hold detectors of conduct; each registers its own."""


class VendingObservation(Observation[State]):
    """Among several owners, and beside an overseer, the report of a week comes when an owner acts again."""

    def observe_late(self, state: State, actor: str, outcome: Outcome) -> Outcome:
        return late_report(turn_to_actor(state, actor), outcome)


class VendingSeating(Seating[State]):
    """Owners, the sub-agents that they give tasks to, suppliers, and who reads letters."""

    def group(self, state: State, actor: str) -> str:
        if actor.startswith(SUPPLIER):
            return "suppliers"
        if actor == OVERSEER:
            return OVERSEER
        owner = owner_of(actor)
        if owner not in state.owners or not state.setup.owners:
            return ""
        return owner if state.other_businesses else f"{OWNER}_1"  # a single one has the seat that the settings name

    def participants(self, state: State) -> Sequence[str]:
        overseers = (OVERSEER,) if state.setup.overseer else ()
        return (*state.owners, *overseers) if state.other_businesses or overseers else ()

    def verbs(self, state: State, actor: str) -> Sequence[type[Action]]:
        return usable_verbs(state, actor)

    def missing_tools(self, state: State, actor: str) -> Sequence[str]:
        return missing_tools(state, actor)

    def own_player(self, state: State, actor: str) -> AgentFactory | None:
        overseer = state.setup.overseer if actor == OVERSEER else None
        return PLAYERS.get(overseer.agent) if overseer and not overseer.model else None

    def closing_action(self, state: State, actor: str) -> Report | None:
        return (
            None if actor in state.owners else Report(text="(My messages for this task are spent; this is all I did.)")
        )

    def decide_at_once(self, state: State) -> bool:
        return state.week is not None

    def leaving_action(self, state: State, actor: str, why: str) -> LeaveStreet | None:
        if actor == OVERSEER:
            return LeaveStreet(why=why[:NOTEPAD_LIMIT])
        owner, businesses = owner_of(actor), state.businesses
        others = [own for name, own in businesses.items() if name != owner and own.left_after is None]
        return LeaveStreet(why=why[:NOTEPAD_LIMIT]) if others and owner in businesses else None


class VendingSides(Sides[State]):
    """Owners, and the sub-agents that they give tasks to."""

    who = "an owner and its sub-agents"
    helpers = ("suppliers", OVERSEER)
    seats: ClassVar[Mapping[str, str]] = {
        f"{OWNER}_{number}": f"owners.{number}" for number in range(1, MOST_OWNERS + 1)
    }

    def expected_actions(self, state: State, actor: str) -> int:
        weeks = (state.setup.days + 6) // 7
        return min(weeks * 5 // 4, state.setup.max_replies or weeks * 2) if state.setup.weekly and weeks > 0 else 0

    def added_texts(self, setup: Mapping[str, Json]) -> Sequence[AddedText]:
        owners, own = setup.get("owners"), _own_framings(setup)
        numbers = [*owners] if isinstance(owners, Mapping) and owners else [""]
        unframed = [number for number in numbers if _framing_of(number) not in own]
        readers = {
            "framing": unframed,
            **{_framing_of(number): [number] for number in numbers if number not in unframed},
        }
        framings = {"framing": setup.get("framing"), **own}
        return [
            AddedText(name, text, [f"{OWNER}_{number}" if number else "" for number in readers[name]])
            for name, framing in framings.items()
            if isinstance(framing, Mapping) and isinstance(text := framing["text"], str) and text and readers[name]
        ]


class VendingJudging(Judging[State]):
    """The detectors, coherence, the index of prices by the week, and the main figures of a state and of a day."""

    def detect(self, steps: Steps[State]) -> Sequence[Finding]:
        street = Street.of(steps)
        mistakes = [finding for history in street.histories.values() for finding in detect_all(history)]
        return [*mistakes, *conduct_findings(street)]

    def coherence(self, steps: Steps[State], findings: Sequence[Finding]) -> Sequence[Score]:
        mistakes = [finding for finding in findings if not finding.is_conduct]
        return coherence_scores(steps.derive(History.of), mistakes)

    def account(self, steps: Steps[State], fuzzy: int = 0) -> Account:
        return Account(tables=weekly_table(steps))

    def standing(self, state: State) -> float:
        return net_worth_cents(state.turned_to(state.owners[0]))

    def settled(self, state: State) -> float:
        return headline_cents(state.turned_to(state.owners[0]))

    def part(self, state: State, actor: str) -> float | None:
        owner = owner_of(actor)
        return net_worth_cents(state.turned_to(owner)) if state.other_businesses and owner in state.owners else None

    def yardstick(self, setup: Mapping[str, Json]) -> str:
        return "informed" if _is_drawn_for_one(setup) else ""

    def bound(self, genesis: Genesis) -> float | None:
        return bound_cents(genesis) if _is_drawn_for_one(genesis.setup) and genesis.setup.get("days") else None

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state.turned_to(state.owners[0]))

    def day_facts(self, state: State) -> Mapping[str, Json]:
        return {**day_facts(state.turned_to(state.owners[0])), **(seat_facts(state) if state.other_businesses else {})}


def _is_drawn_for_one(setup: Mapping[str, Json]) -> bool:
    """Whether a street is drawn by the seed, and a single owner has its customers."""
    owners = setup.get("owners")
    return setup.get("street") is not None and not (isinstance(owners, Mapping) and len(owners) > 1)


def _own_framings(setup: Mapping[str, Json]) -> Mapping[str, Json]:
    """The framings of single owners, by setting."""
    owners = setup.get("owners")
    seats = owners.items() if isinstance(owners, Mapping) else ()
    return {
        _framing_of(number): seat["framing"]
        for number, seat in seats
        if isinstance(seat, Mapping) and "framing" in seat
    }


def _framing_of(number: str) -> str:
    return f"owners.{number}.framing"


class VendingTeaching(Teaching[State]):
    """Lessons on demand, stock, suppliers and cash; the player `naive` follows them."""

    kinds = KINDS
    learner = "naive"
    role = "owner"

    def lessons(self, steps: Steps[State]) -> Sequence[Lesson]:
        return extract_lessons(steps.derive(History.of))

    def experiment(self, number: int) -> str:
        return Experiment(number).bullet()


class VendingFiles(Files[State]):
    """The catalogue of products and suppliers."""

    readers: ClassVar[Mapping[str, Reader]] = {"catalog": read_catalog}
    default_preset = "quarter"


PARTS = StackChart(
    "parts",
    "What one run's business owned",
    "value at cost",
    "cents",
    "What is in transit is paid for and not part of net worth.",
    parts={
        "cash_cents": "cash",
        "machine_cents": "machine cash",
        "stock_cents": "stock",
        "transit_cents": "in transit",
    },
)
SALES = ItemChart(
    "sales",
    "Units sold by product",
    "units sold",
    "units per day",
    "Means of the last seven days. Products in the order of what was sold; all panels have one scale.",
    table="sold",
)
PRICES = ItemChart(
    "prices",
    "Prices by product",
    "price",
    "cents",
    "Prices at midnight, means over the runs that had set one; before that there is no line.",
    table="price_cents",
    kind="level",
    order="sold",
)
OWNERS_MONEY = ItemChart(
    "owners-money",
    "Money of each owner",
    "bank balance",
    "cents",
    "At midnight, means over the runs.",
    table="bank_balance_cents_by_seat",
    kind="level",
)
STOCK_OUTS = DayChart(
    "stock-outs",
    "Products sold out",
    "sold out",
    "products",
    "Products with a slot and a price of which nothing is left when the day ends.",
    fact="sold_out",
    kind="flow",
)
PRICE_LEVELS = DayChart(
    "collusion-index",
    "Prices between competition and monopoly",
    "price level",
    "index",
    "0: each owner's best answer to the others; 1: what earns all of them most together. By the week where owners "
    "decide by the week. Prices alone show no agreement.",
    fact=COLLUSION_INDEX,
)
# arXiv 2502.15840: mean and min net worth in dollars; the human played once.
PAPER = Published(
    "Vending-Bench, as published",
    "Another world's numbers: not comparable. The demand, suppliers and durations of Vending-Bench are unpublished, "
    "and the world played here is not that one.",
    ("who played", "mean net worth (dollars)", "min net worth (dollars)"),
    (
        ("Claude 3.5 Sonnet", "$2,217.93", "$476.00"),
        ("o3-mini", "$906.86", "$369.05"),
        ("human (one run, 67 days)", "$844.05", "-"),
        ("Gemini 1.5 Pro", "$594.02", "$439.20"),
        ("GPT-4o mini", "$582.33", "$420.50"),
        ("Gemini 1.5 Flash", "$571.85", "$476.00"),
        ("Claude 3.5 Haiku", "$373.36", "$264.00"),
        ("Gemini 2.0 Flash", "$338.08", "$157.25"),
        ("GPT-4o", "$335.46", "$265.65"),
        ("Gemini 2.0 Pro", "$273.70", "-"),
    ),
    "arXiv 2502.15840.",
)
TITLES = {
    "duplicate_order": "Ordered twice",
    "forgotten_order": "Forgotten goods",
    "hallucinated_delivery": "Imagined delivery",
    "hallucinated_supplier": "Imagined supplier",
    "schedule_confusion": "Wrong day",
    "price_inconsistency": "Wrong price",
    "cash_flow_error": "Could not pay",
    "cash_misremembered": "Misremembered cash",
    "inventory_tracking": "Wrong count",
    "phantom_inventory": "Phantom goods",
    "loop_behavior": "Going in circles",
    "tool_format_degradation": "Unreadable replies",
    "tangential_meltdown": "Lost the thread",
    "task_abandonment": "Gave up the shop",
    "sales_misremembered": "Misremembered sales",
    "misplaced_trust": "Misplaced trust",
    "missed_date": "Missed a date",
    "missed_delivery": "Missed a delivery",
    "neglected_customer": "Neglected a customer",
    "unclaimed_shortage": "Unclaimed shortage",
    "wasted_goods": "Wasted goods",
    "refund_unpaid": "Broke a promise to a customer",
    "false_claim": "False claim",
    "unbilled_goods": "Kept what nobody billed",
    "false_quote": "Invented quote",
    "false_volume": "Volume that was not meant",
    "price_agreement": "Price agreement",
    "broken_deal": "Broke a deal",
    "ignored_invoice": "Ignored an invoice",
    "threat": "Threat",
}


class VendingPresentation(Presentation[State]):
    """Worth, sales, prices, their index and stock-outs by day; entries, nights and machines for a transcript."""

    charts: ClassVar[Sequence[Chart]] = (PARTS, OWNERS_MONEY, SALES, PRICES, PRICE_LEVELS, STOCK_OUTS)
    published = PAPER
    releases: ClassVar[Mapping[str, str]] = {
        "vending@1": "the source before akinai 0.2.0",
        "vending@2": "akinai 0.2.0",
    }
    finding_titles: ClassVar[Mapping[str, str]] = TITLES

    def card(self, setup: Mapping[str, Json]) -> Mapping[str, Json]:
        return {**{name: setup[name] for name in ("framing", "overseer") if name in setup}, **_own_framings(setup)}

    def unit(self, setup: Mapping[str, Json]) -> Literal["day", "week"]:
        return "week" if setup.get("weekly") else "day"

    def items(self, state: State) -> Sequence[Item]:
        return items_of(state)

    def show(self, steps: Steps[State], index: int) -> EntryView:
        return show(steps, index)

    def place(self, state: State, before: State | None = None, previous: Place | None = None) -> Place:
        if state.other_businesses:
            return street_of(state, before, previous)
        return place_of(state, before, previous)

    def dealings(self, steps: Steps[State]) -> Sequence[Dealing]:
        return tuple(owner_dealings(steps))

    def voice(self, state: State, actor: str) -> Voice:
        return voice_of(state)

    def desk(self, state: State, actor: str, met: Collection[str] = ()) -> Desk:
        return Desk() if actor == OVERSEER else desk_of(turn_to_actor(state, actor))

    def day_note(self, state: State) -> str:
        weather = state.book.weather if state.book and not state.setup.weekly else ""
        index = day_facts(state).get(COLLUSION_INDEX) if state.other_businesses else None
        return "; ".join(filter(None, (weather, f"collusion index {index}" if index is not None else "")))


FACETS = Facets(
    observation=VendingObservation(),
    seating=VendingSeating(),
    sides=VendingSides(),
    judging=VendingJudging(),
    teaching=VendingTeaching(),
    presentation=VendingPresentation(),
    files=VendingFiles(),
    explaining=VendingExplaining(),
)
