"""The commands of Akinai as functions, with the names, options and defaults of the command line.

`store` is by default the one that every command uses: AKINAI_STORE, `akinai.toml`, or `akinai.db` here; only `run`
plays in memory. All functions work inside a running event loop, as in a notebook.
"""

from akinai.analysis.analyse import analyze, compare
from akinai.analysis.log_comparison import compare_logs
from akinai.analysis.plan import plan
from akinai.api.opening import Session, aopen, open
from akinai.api.play import Stopped, estimate, fork, resume, run
from akinai.api.records import deal, delete, diff, export, headers, merge, replay, restore, runs, verify
from akinai.api.session import AsyncSession
from akinai.api.show import follow, show
from akinai.api.why import why

__all__ = [
    "AsyncSession",
    "Session",
    "Stopped",
    "analyze",
    "aopen",
    "compare",
    "compare_logs",
    "deal",
    "delete",
    "diff",
    "estimate",
    "export",
    "follow",
    "fork",
    "headers",
    "merge",
    "open",
    "plan",
    "replay",
    "restore",
    "resume",
    "run",
    "runs",
    "show",
    "verify",
    "why",
]
