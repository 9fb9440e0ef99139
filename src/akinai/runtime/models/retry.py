"""Retries: which errors of a provider are temporary, how long to wait, and when to give up. It knows no provider."""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar, cast

from akinai.core.errors import ModelError
from akinai.runtime.models.rate_limit import REAL, Clock, RateLimit
from akinai.runtime.models.redact import redact_keys

T = TypeVar("T")

MESSAGE_LIMIT = 500
"""Characters of a provider's message that an error repeats."""

_TEMPORARY_STATUS = frozenset({408, 409, 425, 429})
_TIMEOUT_CLASSES = frozenset({"APITimeoutError", "TimeoutException"})
_CONNECTION_CLASSES = frozenset({"APIConnectionError", "TransportError"})
_ADVICE = {
    401: "check the key in the environment",
    403: "check what the key in the environment may use",
    404: "check the model's name and --base-url; OpenAI-compatible servers usually end in /v1",
}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits on the retries of a call."""

    max_attempts: int = 6
    first_wait_s: float = 1.0
    """The wait before the second attempt; it doubles with each attempt."""
    max_wait_s: float = 60.0
    """The limit of a wait. A wait that the provider asks for may be longer."""
    max_total_wait_s: float = 300.0
    """The limit of all waits of one call; a wait that would exceed it ends the call."""


DEFAULT_POLICY = RetryPolicy()


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why an attempt gave no answer."""

    kind: str
    """A few words, the same for equal kinds: "HTTP 429"."""
    message: str
    """The message of the provider or the network, without keys."""
    temporary: bool
    """Whether another attempt may succeed."""
    wait_s: float | None = None
    """Seconds that the provider asks to wait."""


@dataclass(frozen=True, slots=True)
class Success(Generic[T]):
    """The result of a call."""

    value: T
    attempts: int
    latency_s: float
    """Seconds of the attempt that succeeded."""


async def call_with_retries(
    name: str,
    attempt: Callable[[], Awaitable[T]],
    *,
    timeout_s: float,
    policy: RetryPolicy = DEFAULT_POLICY,
    limit: RateLimit,
    clock: Clock = REAL,
) -> Success[T]:
    """The result of `attempt`, repeated while its failures are temporary. ModelError lists the failures.

    `timeout_s` limits one attempt, from the request to the last byte of the answer.
    """
    failures: list[Failure] = []
    waited = 0.0
    while True:
        outcome = await _attempt_once(attempt, len(failures) + 1, timeout_s, limit, clock)
        # Raised outside an `except` block: the provider's error may hold the request with its key.
        if isinstance(outcome, Success):
            return outcome
        failures.append(outcome)
        if not outcome.temporary or len(failures) >= policy.max_attempts:
            raise ModelError(_error_message(name, failures))
        wait = _wait_s(outcome, len(failures), policy, clock)
        if waited + wait > policy.max_total_wait_s:
            why = f"it asks to be left alone for {outcome.wait_s:.0f} s, " if outcome.wait_s is not None else ""
            why += f"more than the {policy.max_total_wait_s:g} s that are waited"
            raise ModelError(_error_message(name, failures, why))
        waited += wait
        await clock.sleep(wait)


async def _attempt_once(
    attempt: Callable[[], Awaitable[T]], number: int, timeout_s: float, limit: RateLimit, clock: Clock
) -> Success[T] | Failure:
    async with limit.slot():
        began = clock.now()
        try:
            async with asyncio.timeout(timeout_s):
                return Success(await attempt(), number, clock.now() - began)
        except Exception as error:  # a provider's package may raise anything
            return failure_of(error, timeout_s)


def failure_of(error: Exception, timeout_s: float) -> Failure:
    """The failure that an exception of a provider's package means, by its status and class alone."""
    message = redact_keys(_message(error))[:MESSAGE_LIMIT]
    status, classes = _status(error), {cls.__name__ for cls in type(error).__mro__}
    if status is not None and status >= 400:
        temporary = status >= 500 or (status in _TEMPORARY_STATUS and not _out_of_credit(error))
        return Failure(f"HTTP {status}", message, temporary, _requested_wait_s(error))
    if isinstance(error, TimeoutError) or classes & _TIMEOUT_CLASSES:
        return Failure(f"no answer within {timeout_s:g} s", "", True)
    if isinstance(error, OSError) or classes & _CONNECTION_CLASSES:
        return Failure("no connection", message, True)
    if isinstance(error, ValueError | LookupError | TypeError | AttributeError):
        return Failure("an unreadable answer", f"{type(error).__name__}: {message}", True)
    return Failure(type(error).__name__, message, False)


def _wait_s(failure: Failure, attempts: int, policy: RetryPolicy, clock: Clock) -> float:
    """Seconds before the next attempt: a doubling wait with jitter, or the provider's request, slightly extended."""
    if failure.wait_s is not None:
        return failure.wait_s * (1 + 0.1 * clock.jitter())
    wait = min(policy.max_wait_s, policy.first_wait_s * 2 ** (attempts - 1))
    return wait * (0.5 + 0.5 * clock.jitter())


def _error_message(name: str, failures: list[Failure], why: str = "") -> str:
    counts = Counter(failure.kind for failure in failures)
    kinds = ", ".join(f"{count} times {kind}" if count > 1 else kind for kind, count in counts.items())
    last = failures[-1]
    quote = f"; it said: {last.message.rstrip('.')}" if last.message else ""
    status = last.kind.removeprefix("HTTP ")
    advice = _ADVICE.get(int(status), "") if status.isdecimal() else ""
    attempts = f"{len(failures)} tries" if len(failures) > 1 else "1 try"
    parts = [f"{name} gave no usable answer in {attempts} ({kinds}{f', and {why}' if why else ''}){quote}", advice]
    return "; ".join(filter(None, parts))


def _status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _out_of_credit(error: Exception) -> bool:
    """Whether a 429 is permanent, since the account has no credit left."""
    return getattr(error, "code", None) == "insufficient_quota"


def _message(error: Exception) -> str:
    """The provider's message, without the text that its package adds."""
    body: object = getattr(error, "body", None)
    for _ in range(2):
        if isinstance(body, Mapping):
            fields = cast("Mapping[str, Any]", body)
            body = fields.get("message") or fields.get("error")
    text = body if isinstance(body, str) and body.strip() else str(error)
    return " ".join(text.split())


def _requested_wait_s(error: Exception) -> float | None:
    """Seconds in a Retry-After header, given as seconds or as a date; None when there is none that can be read."""
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
