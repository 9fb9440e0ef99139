"""The view models of a run: frozen records, each with a JSON form for pages and programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from akinai.core.canonical import Json, JsonRecord
from akinai.core.findings import Finding
from akinai.core.presentation.transcript import EntryView, Item

Unit = Literal["day", "week", "part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView(Finding):
    """A finding with its place in the record."""

    number: int
    """Among the run's findings by last entry, from 1."""
    title: str
    """The type in words."""
    day: int
    """The number of the day of its last entry, on which its pin is drawn."""
    first_day: int


@dataclass(frozen=True, slots=True)
class MomentView(JsonRecord):
    """A decisive moment that `akinai why` found: a day, or a span of days, whose decisions made or cost much."""

    number: int
    """Among the run's moments by entry, from 1."""
    kind: Literal["cost", "made"]
    entry: int
    """The entry of its weightiest decision, else the first entry of its day."""
    day: int
    first_day: int
    """First and last day, or part, of what was replaced."""
    last_day: int
    words: str
    """The decisions in words."""
    instead: str
    """The decisions that the player would have made and the run left out; empty without any."""
    worth: float
    """What the decisions made, in the headline's unit; negative where they cost."""
    player: str
    """The player that would have played instead."""
    shown: bool
    """Whether it is shown to matter, at 5 % for all that were tried."""


@dataclass(frozen=True, slots=True)
class CallView(JsonRecord):
    """A model call that led to an entry."""

    actor: str
    number: int
    """The actor's n-th call, from 1."""
    model: str
    """Its name as the agent was given it."""
    input: int
    """Tokens; those from the provider's cache included."""
    output: int
    cached: int
    seconds: float
    tries: int
    from_cache: bool
    """Whether Akinai's own response cache answered; then nothing was sent."""
    new: tuple[tuple[str, str], ...]
    """Speaker and text of the messages of the prompt that the actor's earlier calls did not have."""
    reply: str
    """The text of the reply, after its thinking between marks."""
    tools: tuple[tuple[str, Json], ...]
    """Names and arguments of the tools that the reply called."""


@dataclass(frozen=True, slots=True)
class TranscriptItem(JsonRecord):
    """An entry as the transcript shows it."""

    seq: int
    day: int
    time: str
    """ "08:05" on the world's clock; "+12.4 s" since the first entry where the world has none."""
    at: int
    """Microseconds since the epoch."""
    actor: str
    name: str
    """The actor's name for people; empty without one."""
    depth: int
    """0 for an actor of the world, 1 for its sub-agent."""
    verb: str
    """As in the tools, in snake_case."""
    shown: EntryView
    said: str
    """Text that the agent put beside its action."""
    thoughts: str
    """What its model thought before it, as far as the ledger keeps it."""
    text: str
    """The outcome, as the ledger keeps it."""
    ok: bool
    code: str | None
    calls: tuple[CallView, ...] = ()
    """Model calls that led to the entry; of several actions in one reply, the first has them."""
    findings: tuple[int, ...] = ()
    """Numbers of the findings whose last entry this is."""
    moments: tuple[int, ...] = ()
    """Numbers of the decisive moments at this entry."""
    deals: tuple[str, ...] = ()
    """Ids of the deals that the entry belongs to."""


@dataclass(frozen=True, slots=True)
class DayView(JsonRecord):
    """A day of the world, or a week of one that is read by the week; in a world without a clock of its own, a part of
    the transcript."""

    number: int
    """Of the day, or part; of a week that of its first day."""
    last_day: int
    """The same but for a week."""
    position: int
    """Among the days, weeks or parts of the run, from 1."""
    title: str
    """ "Wed 1 Apr 2026", or "Entries 1 to 100"."""
    note: str
    """A word on it, such as its weather."""
    first: int
    """Its first entry; 0 on a day without any."""
    last: int
    closed: bool
    """Whether it ended."""
    facts: Mapping[str, float]
    """The world's numbers at its end, or at the end of the record, such as "net_worth_cents"."""
    tables: Mapping[str, Mapping[str, float]]
    """The world's numbers by item, such as "sold" by product."""
    refused: int
    """Actions that were refused."""
    findings: tuple[int, ...] = ()
    """Numbers of the findings whose last entry is of this day."""


@dataclass(frozen=True, slots=True)
class RunView(JsonRecord):
    """The summary of a run that a page shows before any day is opened."""

    id: str
    world: str
    agent: str
    """The agent as the run was given it."""
    model: str
    """The model as the run was given it; empty without one."""
    label: str
    """What tables call who played; empty where nobody named it."""
    seed: str
    """The game in words, such as "practice seed 7"."""
    status: str
    ending: str | None
    error: str | None
    digest: str
    group: str | None
    parent: str | None
    """The origin of a fork, as "RUN#ENTRY"."""
    unit: Unit
    """Whether `days` are days, weeks or parts of the transcript."""
    planned: int
    """Days of the horizon; 0 without one."""
    entries: int
    headline: str
    """The name of the first score."""
    headline_fact: str
    """The name under which the facts of a day give the headline; empty where they do not."""
    scores: Mapping[str, float]
    units: Mapping[str, str]
    """The unit of each score, by name."""
    days: tuple[DayView, ...]
    findings: tuple[FindingView, ...]
    items: tuple[Item, ...]
    """The products of the world."""
    names: Mapping[str, str]
    """Names of actors for people, by id."""
    calls: int
    tokens: Mapping[str, int]
    """Input, output and cached tokens of all model calls."""
    moments: tuple[MomentView, ...] = ()
    """Decisive moments, where `akinai why` looked for them."""
    unread: str = ""
    """Why no action could be read in what its agents wrote and what to try; empty unless it ended as unreadable."""

    @property
    def player(self) -> str:
        """Who played, in words."""
        return " ".join(dict.fromkeys(filter(None, (self.agent, self.model))))

    def series(self, fact: str = "") -> tuple[float | None, ...]:
        """A fact at the end of each day, by default the headline; a day without an entry has that of the day before,
        and the days of a week that is over have that at its end."""
        name, values = fact or self.headline_fact, list[float | None]()
        for day in self.days:
            value = day.facts.get(name) if day.first or not values else values[-1]
            values += [value] * (day.last_day - len(values) if day.closed else 1)
        return tuple(values)

    @property
    def last_day(self) -> int:
        """The last day, or part, that it has reached; of a week that is not over the last of it."""
        return self.days[-1].last_day if self.days else 0
