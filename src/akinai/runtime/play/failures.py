"""What a run card keeps of an error that failed its run."""

import traceback
from dataclasses import replace
from pathlib import Path

from akinai.core.errors import AgentCrash, AkinaiError
from akinai.core.stores import RunHeader
from akinai.runtime.runs.records import TRACEBACK

LONGEST_TRACEBACK = 20_000
"""Characters of a traceback that a run card keeps, the last ones."""
_DRIVER = str(Path(__file__).with_name("driver.py"))


def failed_header(header: RunHeader, error: Exception) -> RunHeader:
    """The header of a run that an error ended: its reason, and the traceback where code raised it by mistake."""
    card = {name: value for name, value in header.card.items() if name != TRACEBACK}
    original = original_error(error)
    if not isinstance(original, AkinaiError):
        card[TRACEBACK] = "".join(traceback.format_exception(original))[-LONGEST_TRACEBACK:]
    return replace(header, status="failed", ending=None, error=_reason(error), card=card)


def original_error(error: Exception) -> Exception:
    """The exception of an agent's own code, without the driver's frame; any other error as it is."""
    cause = error.__cause__
    if not isinstance(error, AgentCrash) or not isinstance(cause, Exception):
        return error
    frames = cause.__traceback__
    while frames and frames.tb_next and frames.tb_frame.f_code.co_filename == _DRIVER:
        frames = frames.tb_next
    return cause.with_traceback(frames)


def _reason(error: Exception) -> str:
    if isinstance(error, AkinaiError):
        return str(error)
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    where = f", {frames.tb_frame.f_code.co_filename} line {frames.tb_lineno}" if frames else ""
    return f"{type(error).__name__}: {error} (a fault in the program{where})"
