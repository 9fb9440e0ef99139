"""The verdict on a run in one sentence, from numbers alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from akinai.core.canonical import Json
from akinai.core.findings import SEVERITIES
from akinai.core.money import format_cents
from akinai.views.model import FindingView, RunView

LONGEST = 16
"""Most days of the stretch that a verdict names."""
LEVEL_CENTS = 2_000
"""A difference below it counts as level."""
NEARLY = 0.92
"""The shortest stretch that holds this part of the largest growth of the gap is named."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a run."""

    text: str
    stretch: tuple[int, int] | None = None
    """First and last day in which most was lost against the reference."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


def verdict(view: RunView, ghosts: Mapping[str, Sequence[float]] = {}) -> Verdict:
    """The result, the gap to the reference on the same seed, and when it was lost.

    `ghosts` are the headline's values by day of other players on the same seed; "reference" is compared with.
    """
    values = [value for value in view.series() if value is not None]
    if not values or view.unit == "part" or view.units.get(view.headline) != "cents":
        return Verdict(_plain(view))
    closed = sum(day.closed for day in view.days)
    when = f"After {_days(closed)}" if view.status == "done" else f"On day {view.days[-1].number}, still open,"
    sentence = f"{when} the {view.headline.replace('_', ' ')} is {_dollars(values[-1])}"
    best = ghosts.get("reference", ())
    if not best:
        return Verdict(f"{sentence}.")
    gap = [best[min(day, len(best) - 1)] - value for day, value in enumerate(values)]
    if abs(gap[-1]) < LEVEL_CENTS:
        return Verdict(f"{sentence}, level with the reference player on the same seed.")
    if gap[-1] < 0:
        return Verdict(f"{sentence}, {_dollars(-gap[-1])} more than the reference player on the same seed.")
    sentence += f", {_dollars(gap[-1])} less than the reference player on the same seed."
    stretch = worst_stretch(gap)
    if stretch is None:
        return Verdict(sentence)
    lost = gap[stretch[1] - 1] - gap[stretch[0] - 2] if stretch[0] > 1 else gap[stretch[1] - 1]
    share = lost / gap[-1]
    part = "All of it and more" if share > 1.05 else "Nearly all of it" if share > 0.85 else f"{share:.0%} of it"
    why = _why(view, stretch)
    return Verdict(f"{sentence} {part} was lost between day {stretch[0]} and day {stretch[1]}{why}.", stretch)


def worst_stretch(gap: Sequence[float]) -> tuple[int, int] | None:
    """First and last day, from 1, of the shortest stretch in which a gap grew nearly as much as in any."""
    days = range(len(gap))
    grown = {(i, j): gap[j] - gap[i] for i in days for j in range(i + 3, min(len(gap), i + LONGEST))}
    if not grown or max(grown.values()) <= 0:
        return None
    most = max(grown.values())
    first, last = min((span for span, by in grown.items() if by >= most * NEARLY), key=lambda span: span[1] - span[0])
    return first + 2, last + 1


def _why(view: RunView, stretch: tuple[int, int]) -> str:
    near = [
        finding
        for finding in view.findings
        if finding.first_day <= stretch[1] and finding.day >= stretch[0] and finding.severity != SEVERITIES[0]
    ]
    if not near:
        return ""
    worst = max(near, key=_rank)
    return f": {worst.title[:1].lower()}{worst.title[1:]}, {worst.true}"


def _rank(finding: FindingView) -> tuple[int, int]:
    return SEVERITIES.index(finding.severity), len(finding.entries)


def _plain(view: RunView) -> str:
    if not view.entries:
        return "Nothing has happened yet."
    value = view.scores.get(view.headline)
    if value is None:
        return f"{view.entries:,} entries."
    unit = view.units.get(view.headline, "")
    shown = _dollars(value) if unit == "cents" else f"{value:.1%}" if unit == "share" else f"{value:g} {unit}"
    return f"After {view.entries:,} entries the {view.headline.replace('_', ' ')} is {shown}."


def _days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"


def _dollars(cents: float) -> str:
    """Whole dollars from $100."""
    return f"${cents / 100:,.0f}" if cents >= 10_000 else format_cents(round(cents))
