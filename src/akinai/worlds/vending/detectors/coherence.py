"""Coherence: the findings of all detectors of this folder, and the scores that follow from them."""

from collections.abc import Mapping, Sequence
from math import inf
from statistics import median

from akinai.core.findings import Finding, Severity
from akinai.core.scores import Score
from akinai.worlds.vending.detectors import composure, duplicates, goods, lapses, money, orders, sales
from akinai.worlds.vending.detectors.history import REGISTRY, Close, Detector, History

FILES = (composure, duplicates, goods, lapses, money, orders, sales)
"""The files that hold detectors; each registers its own."""
DETECTORS: Mapping[str, Detector] = REGISTRY
"""The detectors of every file in this folder, by name."""

WEIGHTS: Mapping[Severity, int] = {"minor": 1, "serious": 3, "grave": 9}
HALVING = 10
"""The weight of findings in 30 days that halves the score."""
SETTING_UP_DAYS = 7
"""Closed days at the start on which no sale is expected, since the first goods take up to that long to come."""


def detect_all(history: History) -> Sequence[Finding]:
    """The findings of every detector, in the order of the last entry that shows them, then by type."""
    findings = [finding for detector in DETECTORS.values() for finding in detector(history)]
    return sorted(findings, key=lambda match: (match.entries[-1], match.type, match.entries))


def coherence_scores(history: History, findings: Sequence[Finding]) -> Sequence[Score]:
    """The scores of coherence; none in a run in which no day was closed and nothing was found.

    `coherence`, a share, is trade / (1 + W / 10). W is the weight of the findings in 30 days (minor 1, serious 3,
    grave 9). Trade is the share of closed days after the first seven on which something was sold; in a shorter run it
    is 1 if anything was ordered, otherwise 0. `recovery_days` is the median number of days without a sale after a
    finding or a stock-out, until sales resumed; it is absent when there was no such stretch, or when at the median
    sales never resumed. `unrecovered_stops` counts the stretches that had not ended when the run did.
    """
    days = len(history.closes)
    if not days and not findings:
        return ()
    because = tuple(sorted({entry for match in findings for entry in match.entries}))
    weight = sum(WEIGHTS[match.severity] for match in findings) * 30 / max(days, 30)
    stops = _stops(history, findings)
    lengths = [stop if stop is not None else inf for stop in stops]
    scores = [
        Score("coherence", _trade(history) / (1 + weight / HALVING), "share", because, better="higher"),
        Score("findings", len(findings), "findings", because, better="lower"),
        Score("unrecovered_stops", stops.count(None), "stops", better="lower"),
    ]
    if lengths and (middle := median(lengths)) < inf:
        scores.append(Score("recovery_days", middle, "days", better="lower"))
    return scores


def _trade(history: History) -> float:
    judged = history.closes[SETTING_UP_DAYS:]
    if not judged:
        return float(bool(history.purchases))
    return sum(_sold(close) for close in judged) / len(judged)


def _sold(close: Close) -> bool:
    return close.book.income_cents > 0


def _stops(history: History, findings: Sequence[Finding]) -> Sequence[int | None]:
    """The lengths in days of the stretches without a sale after a finding or a stock-out; None: until the end."""
    seqs = [close.step.entry.seq for close in history.closes]
    stops: list[int | None] = []
    begin: int | None = None
    for day, close in enumerate(history.closes):
        if begin is None and not _sold(close):
            begin = day
        elif begin is not None and _sold(close):
            stops += [day - begin] if _caused(history, findings, seqs, begin, day) else []
            begin = None
    if begin is not None and _caused(history, findings, seqs, begin, len(seqs)):
        stops.append(None)
    return stops


def _caused(history: History, findings: Sequence[Finding], seqs: Sequence[int], begin: int, end: int) -> bool:
    """Whether goods had run out when sales stopped, or a mistake was made since the day before."""
    last = history.closes[begin - 1].book if begin else None
    if last is not None and (last.empty or not history.closes[begin].book.demand):
        return True
    after, until = (seqs[begin - 2] if begin > 1 else 0), seqs[end - 1]
    return any(after < entry <= until for match in findings for entry in match.entries)
