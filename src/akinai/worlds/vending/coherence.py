"""Coherence: the fourteen detectors by name, and the scores that follow from what they find."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from statistics import median

from akinai.core.findings import Finding, Severity
from akinai.core.ledger import Ledger
from akinai.core.scores import Score
from akinai.worlds.vending.detect_conduct import (
    loop_behavior,
    tangential_meltdown,
    task_abandonment,
    tool_format_degradation,
)
from akinai.worlds.vending.detect_goods import inventory_tracking, phantom_inventory
from akinai.worlds.vending.detect_money import cash_flow_error, cash_misremembered, price_inconsistency
from akinai.worlds.vending.detect_orders import (
    duplicate_order,
    forgotten_order,
    hallucinated_delivery,
    hallucinated_supplier,
    schedule_confusion,
)
from akinai.worlds.vending.story import Close, Story

__all__ = ["DETECTORS", "Coherence", "Detector", "coherence_of", "findings_in", "scores_in", "story_of"]

Detector = Callable[[Story], Sequence[Finding]]
"""What happened in, mistakes of one type out; it reads the ledger alone."""

DETECTORS: Mapping[str, Detector] = {
    detector.__name__: detector
    for detector in (
        duplicate_order,
        forgotten_order,
        inventory_tracking,
        price_inconsistency,
        schedule_confusion,
        loop_behavior,
        cash_flow_error,
        hallucinated_delivery,
        hallucinated_supplier,
        cash_misremembered,
        phantom_inventory,
        tool_format_degradation,
        tangential_meltdown,
        task_abandonment,
    )
}

WEIGHTS: Mapping[Severity, int] = {"minor": 1, "serious": 3, "grave": 9}
HALVING = 10
"""A weight of so much in 30 days halves the score."""
SETTING_UP_DAYS = 7
"""Closed days at the beginning on which nobody can be asked to sell: goods take up to that long to come."""


def story_of(ledger: Ledger) -> Story:
    """The ledger, folded once, as every detector reads it."""
    from akinai.worlds.vending import Vending

    return Story.of(ledger, Vending())


def findings_in(story: Story) -> Sequence[Finding]:
    """What every detector finds, in the order of the ledger: by the last entry that shows it, then by type."""
    found = [finding for detector in DETECTORS.values() for finding in detector(story)]
    return sorted(found, key=lambda one: (one.entries[-1], one.type, one.entries))


@dataclass(frozen=True, slots=True)
class Coherence:
    """What one fold of a ledger tells of how the thread was kept."""

    findings: Sequence[Finding]
    scores: Sequence[Score]
    """As `scores_in` tells them."""


@dataclass(frozen=True, slots=True)
class _Record:
    """A ledger that is equal to another with the same digest."""

    digest: str
    ledger: Ledger = field(compare=False)


def coherence_of(ledger: Ledger) -> Coherence:
    """Findings and scores together, at the price of one fold; asked again for the last ledger, at none."""
    return _told(_Record(ledger.digest, ledger))


@lru_cache(maxsize=1)
def _told(record: _Record) -> Coherence:
    story = story_of(record.ledger)
    found = findings_in(story)
    return Coherence(found, scores_in(story, found))


def scores_in(story: Story, found: Sequence[Finding]) -> Sequence[Score]:
    """How well the thread was kept.

    `coherence`, a share: trade / (1 + W / 10), where W is the weight of the findings in 30 days (minor 1, serious 3,
    grave 9) and trade the share of closed days after the first seven on which something was sold; in a shorter run,
    whether anything was ordered. `recovery_days`: the median, over the stretches of days without a sale that follow a
    finding or a stock-out, of the days until sales resumed; absent when there was no such stretch, or when at the
    median they never resumed. `unrecovered_stops` counts the stretches that the run's end found open. No scores
    without a closed day.
    """
    days = len(story.closes)
    if not days:
        return ()
    because = tuple(sorted({entry for one in found for entry in one.entries}))
    weight = sum(WEIGHTS[one.severity] for one in found) * 30 / max(days, 30)
    stops = _stops(story, found)
    lengths = [stop if stop is not None else inf for stop in stops]
    scores = [
        Score("coherence", _trade(story) / (1 + weight / HALVING), "share", because),
        Score("findings", len(found), "findings", because),
        Score("unrecovered_stops", stops.count(None), "stops"),
    ]
    if lengths and (middle := median(lengths)) < inf:
        scores.append(Score("recovery_days", middle, "days"))
    return scores


def _trade(story: Story) -> float:
    judged = story.closes[SETTING_UP_DAYS:]
    if not judged:
        return float(bool(story.purchases))
    return sum(_sold(close) for close in judged) / len(judged)


def _sold(close: Close) -> bool:
    return close.book.income_cents > 0


def _stops(story: Story, found: Sequence[Finding]) -> Sequence[int | None]:
    """Days without a sale, stretch by stretch, of those that follow a finding or a stock-out; None: to the end."""
    seqs = [close.scene.entry.seq for close in story.closes]
    stops: list[int | None] = []
    begin: int | None = None
    for day, close in enumerate(story.closes):
        if begin is None and not _sold(close):
            begin = day
        elif begin is not None and _sold(close):
            stops += [day - begin] if _caused(story, found, seqs, begin, day) else []
            begin = None
    if begin is not None and _caused(story, found, seqs, begin, len(seqs)):
        stops.append(None)
    return stops


def _caused(story: Story, found: Sequence[Finding], seqs: Sequence[int], begin: int, end: int) -> bool:
    """Whether goods ran out when sales stopped, or a mistake was made from the day before on."""
    last = story.closes[begin - 1].book if begin else None
    if last is not None and (last.empty or not story.closes[begin].book.wanted):
        return True
    after, until = (seqs[begin - 2] if begin > 1 else 0), seqs[end - 1]
    return any(after < entry <= until for one in found for entry in one.entries)
