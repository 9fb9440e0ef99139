"""View models: a run as days, transcript items, the place at any entry, conversations. Pure; pages and terminals show
them."""

from akinai.views.model import CallView, DayView, FindingView, MomentView, RunView, Tracks, TranscriptItem
from akinai.views.run import RunViews
from akinai.views.verdict import Verdict, ended_early, verdict

__all__ = [
    "CallView", "DayView", "FindingView", "MomentView", "RunView", "RunViews", "Tracks", "TranscriptItem", "Verdict",
    "ended_early", "verdict",
]  # fmt: skip
