"""The verdict on a run in one sentence, from numbers alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.canonical import JsonRecord
from akinai.core.findings import SEVERITIES
from akinai.core.money import format_cents
from akinai.views.model import FindingView, RunView

LONGEST = 16
"""Most days of the stretch that a verdict names."""
LEVEL_CENTS = 2_000
"""A difference below it counts as level."""
NEARLY_LEVEL = 0.02
"""A share of the largest gap: a smaller gap counts as level."""
SMALL = 0.3
"""A share of the gap at the end: a smaller part that was lost in a stretch is not named."""
NEARLY = 0.92
"""The shortest stretch that holds this part of the largest growth of the gap is named."""


@dataclass(frozen=True, slots=True)
class Verdict(JsonRecord):
    """The result of a run in a sentence."""

    text: str
    stretch: tuple[int, int] | None = None
    """First and last day in which most was lost against the reference."""
    day: int = 0
    """The day of the finding that is named, and its entry; 0 without one."""
    entry: int = 0


def verdict(view: RunView, ghosts: Mapping[str, Sequence[float]] = {}) -> Verdict:
    """Say the result, the gap to the reference on the same seed, when it arose, and which mistake was made then.

    `ghosts` are the headline's values by day of other players on the same seed. The run is compared with "reference":
    at the end of a run that is over, else on the day that it has reached.
    """
    values = [value for value in view.series() if value is not None]
    if not values or view.unit == "part" or view.units.get(view.headline) != "cents":
        return Verdict(_plain(view))
    sentence = f"{_when(view)} the {view.headline.replace('_', ' ')} is {_dollars(values[-1])}"
    best = ghosts.get("reference", ())
    if not best:
        return Verdict(f"{sentence}.")
    gap = [best[min(day, len(best) - 1)] - value for day, value in enumerate(values)]
    at_end = best[-1] - values[-1] if view.status == "done" else gap[-1]
    if abs(at_end) < LEVEL_CENTS:
        return Verdict(f"{sentence}, level with the reference player on the same seed.")
    if at_end < 0:
        return Verdict(f"{sentence}, {_dollars(-at_end)} more than the reference player on the same seed.")
    sentence += f", {_dollars(at_end)} less than the reference player on the same seed."
    stretch = worst_stretch(gap)
    if stretch is None:
        return Verdict(sentence)
    near = _named(view, gap, stretch)
    why = f": {_why(near)}" if near else ""
    text = f"{sentence} {_part(gap, at_end, stretch)} between day {stretch[0]} and day {stretch[1]}{why}."
    return Verdict(text, stretch, near[0].first_day, near[0].entries[0]) if near else Verdict(text, stretch)


def street_verdict(seats: Mapping[str, RunView]) -> Verdict:
    """Say what each of several owners came to."""
    view = next(iter(seats.values()))
    results = [f"{seat} {_dollars(run.scores.get(run.headline, 0))}" for seat, run in seats.items()]
    if not view.entries:
        return Verdict(_plain(view))
    return Verdict(f"{_when(view)} the {view.headline.replace('_', ' ')} by owner is {', '.join(results)}.")


def ended_early(view: RunView) -> bool:
    """Whether a run is over before its last day, such as one that is bankrupt."""
    return view.status == "done" and 0 < view.last_day < view.planned


def _when(view: RunView) -> str:
    if view.status != "done":
        return f"On day {view.days[-1].number}, still open,"
    count = max((day.last_day for day in view.days if day.closed), default=0)
    closed = f"{count} day{'' if count == 1 else 's'}"
    if ended_early(view) and view.ending:
        return f"Over after {closed} of {view.planned} ({view.ending.replace('_', ' ')}):"
    return f"After {closed}"


def _part(gap: Sequence[float], at_end: float, stretch: tuple[int, int]) -> str:
    lost = gap[stretch[1] - 1] - gap[stretch[0] - 2] if stretch[0] > 1 else gap[stretch[1] - 1]
    share = lost / at_end
    if share < SMALL:
        return "It fell behind most"
    part = "All of it and more" if share > 1.05 else "Nearly all of it" if share > 0.85 else f"{share:.0%} of it"
    return f"{part} was lost"


def worst_stretch(gap: Sequence[float]) -> tuple[int, int] | None:
    """First and last day, from 1, of the shortest stretch in which a gap grew nearly as much as in any."""
    days = range(len(gap))
    grown = {(i, j): gap[j] - gap[i] for i in days for j in range(i + 3, min(len(gap), i + LONGEST))}
    if not grown or max(grown.values()) <= 0:
        return None
    most = max(grown.values())
    first, last = min((span for span, by in grown.items() if by >= most * NEARLY), key=lambda span: span[1] - span[0])
    return first + 2, last + 1


def _named(view: RunView, gap: Sequence[float], stretch: tuple[int, int]) -> Sequence[FindingView]:
    """The findings of the type that weighs most, oldest first, from the last level day to the end of a stretch.

    At most `LONGEST` days before the stretch.
    """
    level = max(LEVEL_CENTS, max(gap) * NEARLY_LEVEL)
    since = max((day for day in range(max(1, stretch[0] - LONGEST), stretch[0]) if gap[day - 1] <= level), default=0)
    since = max(since, stretch[0] - LONGEST)
    types: dict[str, list[FindingView]] = {}
    for finding in sorted(view.findings, key=lambda finding: (finding.first_day, finding.entries[0])):
        counts = finding.severity != SEVERITIES[0] and not finding.is_conduct
        if counts and finding.first_day <= stretch[1] and finding.day >= since:
            types.setdefault(finding.type, []).append(finding)
    return max(
        types.values(),
        key=lambda findings: sum(SEVERITIES.index(finding.severity) for finding in findings),
        default=(),
    )


def _why(near: Sequence[FindingView]) -> str:
    first = near[0]
    among = f" (the first of {len(near)})" if len(near) > 1 else ""
    return f"{first.title[:1].lower()}{first.title[1:]} on day {first.first_day}, {first.true}{among}"


def _plain(view: RunView) -> str:
    if not view.entries:
        return "Nothing has happened yet."
    value = view.scores.get(view.headline)
    if value is None:
        return f"{view.entries:,} entries."
    unit = view.units.get(view.headline, "")
    amount = _dollars(value) if unit == "cents" else f"{value:.1%}" if unit == "share" else f"{value:g} {unit}"
    return f"After {view.entries:,} entries the {view.headline.replace('_', ' ')} is {amount}."


def _dollars(cents: float) -> str:
    """Whole dollars from $100."""
    return f"${cents / 100:,.0f}" if cents >= 10_000 else format_cents(round(cents))
