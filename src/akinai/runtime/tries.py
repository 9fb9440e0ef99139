"""Trying again: which faults of a provider pass, how long to wait for it, and when to give up. It knows no provider."""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar, cast

from akinai.core.errors import ModelError
from akinai.runtime.keys import without_keys
from akinai.runtime.pacing import REAL, Clock, Pace

T = TypeVar("T")

LONGEST_SENTENCE = 500
"""Characters of what a provider says that an error repeats."""

_PASSING_STATUS = frozenset({408, 409, 425, 429})
_TIMED_OUT = frozenset({"APITimeoutError", "TimeoutException"})
_UNREACHED = frozenset({"APIConnectionError", "TransportError"})
_ADVICE = {
    401: "check the key in the environment",
    403: "check what the key in the environment may use",
    404: "check the model's name and --base-url; OpenAI-compatible servers usually end in /v1",
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model is asked again."""

    tries: int = 6
    first_wait_s: float = 1.0
    """Before the second try; it doubles from try to try."""
    longest_wait_s: float = 60.0
    """The most that it grows to. A wait that the provider asks for may be longer."""
    all_waits_s: float = 300.0
    """Between all tries of one call; one that would go beyond is not waited for."""


PATIENT = Patience()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a try gave no answer."""

    kind: str
    """In a few words, the same for the same kind: "HTTP 429"."""
    sentence: str
    """What the provider or the network said, without keys."""
    passes: bool
    """Whether it is worth to try again."""
    wait_s: float | None = None
    """How long the provider asks to be left alone."""


@dataclass(frozen=True, slots=True)
class Tried(Generic[T]):
    """What came of it."""

    value: T
    tries: int
    latency_s: float
    """Of the try that succeeded."""


async def persist(
    name: str,
    attempt: Callable[[], Awaitable[T]],
    *,
    timeout_s: float,
    patience: Patience = PATIENT,
    pace: Pace,
    clock: Clock = REAL,
) -> Tried[T]:
    """What `attempt` gives, tried again while its faults pass. ModelError says what was tried and how often.

    `timeout_s` is the time of one try, from the request to the last byte of the answer.
    """
    faults: list[Fault] = []
    waited = 0.0
    while True:
        outcome = await _try_once(attempt, len(faults) + 1, timeout_s, pace, clock)
        # Raised here, where no error is being handled: a provider's own may hold the request with its key.
        if isinstance(outcome, Tried):
            return outcome
        faults.append(outcome)
        if not outcome.passes or len(faults) >= patience.tries:
            raise ModelError(_given_up(name, faults))
        wait = _wait(outcome, len(faults), patience, clock)
        if waited + wait > patience.all_waits_s:
            why = f"it asks to be left alone for {outcome.wait_s:.0f} s, " if outcome.wait_s is not None else ""
            raise ModelError(_given_up(name, faults, f"{why}more than the {patience.all_waits_s:g} s that are waited"))
        waited += wait
        await clock.sleep(wait)


async def _try_once(
    attempt: Callable[[], Awaitable[T]], number: int, timeout_s: float, pace: Pace, clock: Clock
) -> Tried[T] | Fault:
    async with pace.turn():
        began = clock.now()
        try:
            async with asyncio.timeout(timeout_s):
                return Tried(await attempt(), number, clock.now() - began)
        except Exception as error:
            return fault_of(error, timeout_s)


def fault_of(error: Exception, timeout_s: float) -> Fault:
    """What an exception from a provider's package means, told from its status and its kind alone."""
    sentence = without_keys(_sentence(error))[:LONGEST_SENTENCE]
    status, kinds = _status(error), {cls.__name__ for cls in type(error).__mro__}
    if status is not None and status >= 400:
        passes = status >= 500 or (status in _PASSING_STATUS and not _spent(error))
        return Fault(f"HTTP {status}", sentence, passes, _asked_wait_s(error))
    if isinstance(error, TimeoutError) or kinds & _TIMED_OUT:
        return Fault(f"no answer within {timeout_s:g} s", "", True)
    if isinstance(error, OSError) or kinds & _UNREACHED:
        return Fault("no connection", sentence, True)
    if isinstance(error, ValueError | LookupError | TypeError | AttributeError):
        return Fault("an unreadable answer", f"{type(error).__name__}: {sentence}", True)
    return Fault(type(error).__name__, sentence, False)


def _wait(fault: Fault, tries: int, patience: Patience, clock: Clock) -> float:
    """Seconds before the next try: doubling, spread over the upper half; or what the provider asks for, and a tenth."""
    if fault.wait_s is not None:
        return fault.wait_s * (1 + 0.1 * clock.jitter())
    grown = min(patience.longest_wait_s, patience.first_wait_s * 2 ** (tries - 1))
    return grown * (0.5 + 0.5 * clock.jitter())


def _given_up(name: str, faults: list[Fault], why: str = "") -> str:
    counts = Counter(fault.kind for fault in faults)
    told = ", ".join(f"{count} times {kind}" if count > 1 else kind for kind, count in counts.items())
    last = faults[-1]
    said = f"; it said: {last.sentence.rstrip('.')}" if last.sentence else ""
    status = last.kind.removeprefix("HTTP ")
    advice = _ADVICE.get(int(status), "") if status.isdecimal() else ""
    tried = f"{len(faults)} tries" if len(faults) > 1 else "1 try"
    parts = [f"{name} gave no usable answer in {tried} ({told}{f', and {why}' if why else ''}){said}", advice]
    return "; ".join(filter(None, parts))


def _status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _spent(error: Exception) -> bool:
    """A 429 that no waiting helps: the account has no money left."""
    return getattr(error, "code", None) == "insufficient_quota"


def _sentence(error: Exception) -> str:
    """What the provider said, without the wrapping that its package puts around it."""
    body: object = getattr(error, "body", None)
    for _ in range(2):
        if isinstance(body, Mapping):
            told = cast("Mapping[str, Any]", body)
            body = told.get("message") or told.get("error")
    text = body if isinstance(body, str) and body.strip() else str(error)
    return " ".join(text.split())


def _asked_wait_s(error: Exception) -> float | None:
    """Retry-After, in seconds or as a date; None when there is none that can be read."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        return max(0.0, wait) if math.isfinite(wait) else None
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
