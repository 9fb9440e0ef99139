"""View models: a run as days, transcript items, the place after any entry, conversations.

They are pure; pages and terminals show them.
"""

from akinai.views.model import CallView, DayView, FindingView, MomentView, RunView, TranscriptItem
from akinai.views.place_history import PlaceHistory
from akinai.views.run import RunViews
from akinai.views.verdict import Verdict, ended_early, verdict

__all__ = [
    "CallView", "DayView", "FindingView", "MomentView", "PlaceHistory", "RunView", "RunViews", "TranscriptItem",
    "Verdict", "ended_early", "verdict",
]  # fmt: skip
