"""What the actions of a market leave outside its state: counts, search results, leavings, the time that passed."""

from collections import Counter
from dataclasses import dataclass, field

from akinai.core.steps import Step, Steps
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State


@dataclass(frozen=True, slots=True)
class Leaving:
    """A customer that left."""

    customer: str
    entry: int
    at: int
    """Microseconds since the epoch."""


@dataclass(slots=True)
class MarketRecord:
    """A market at the end of its record, read in one pass. No step is held, and few entries."""

    state: State
    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Actions by actor and verb; an actor's refused actions are under the verb ""."""
    showings: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    """By customer, the businesses that its searches showed, best first, each with the first entry that showed it."""
    leavings: list[Leaving] = field(default_factory=list[Leaving])
    began: int = 0
    """When its first entry was taken, microseconds since the epoch."""
    ended: int = 0
    """When its last entry was taken."""

    @staticmethod
    def of(steps: Steps[State]) -> "MarketRecord":
        record = MarketRecord(steps.opening)
        for step in steps:
            record._add(step)
        return record

    def _add(self, step: Step[State]) -> None:
        entry = step.entry
        self.state = step.after
        self.began, self.ended = entry.at if entry.seq == 1 else self.began, entry.at
        self.counts[entry.actor, entry.name if entry.outcome.ok else ""] += 1
        if not entry.outcome.ok:
            return
        if entry.name == a.Search.__name__:
            for id in entry.outcome.fields.get("businesses", ()):
                self.showings.setdefault(entry.actor, {}).setdefault(str(id), entry.seq)
        elif entry.name == a.Leave.__name__:
            self.leavings.append(Leaving(entry.actor, entry.seq, entry.at))
