"""View models: a run as days, transcript items, the place after any entry, conversations.

They are pure; pages and terminals show them.
"""

from akinai.views.model import CallView, DayView, FindingView, MomentView, RunView, TranscriptItem
from akinai.views.place_history import PlaceHistory
from akinai.views.run import BY_SEAT, DAYS, RunViews
from akinai.views.verdict import Verdict, ended_early, street_verdict, verdict

__all__ = [
    "BY_SEAT", "DAYS", "CallView", "DayView", "FindingView", "MomentView", "PlaceHistory", "RunView", "RunViews",
    "TranscriptItem", "Verdict", "ended_early", "street_verdict", "verdict",
]  # fmt: skip
