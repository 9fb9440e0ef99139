"""Retries: which errors of a provider are temporary, how long to wait, and when to give up. It knows no provider."""

import asyncio
import json
import math
import re
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar, cast

from akinai.core.errors import ContextLimit, ModelError, ToolsRefused
from akinai.runtime.models.contract import PastAnswers, Refusal, refusal_in
from akinai.runtime.models.rate_limit import REAL, Clock, RateLimit
from akinai.runtime.models.redact import redact_keys
from akinai.runtime.models.transport import UnreadableAnswer, page_words

T = TypeVar("T")

MESSAGE_LIMIT = 500
"""Characters of a provider's message that an error repeats."""

_TEMPORARY_STATUS = frozenset({408, 409, 425, 429})
_TIMEOUT_CLASSES = frozenset({"APITimeoutError", "TimeoutException"})
_CONNECTION_CLASSES = frozenset({"APIConnectionError", "TransportError"})
_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|fund)"
    r"|(?:balance|credit|fund)s?\b.{0,20}(?:insufficient|exhausted|too low)"
    r"|exceeded_current_quota|billing_hard_limit|billing details|recharge|out of credits?|payment required"
)
_TOOLS_REFUSED = (400, 404, 422, 500, 501)
_NO_TOOLS = re.compile(
    r"support.{0,12} tool|tool[_ ](?:choice|call)|'tools'|function call|tool use|enable-auto-tool-choice"
)
_TAKES_NO_TOOLS = re.compile(
    r"(?:(?:not|n't) support|no endpoints .{0,30}support) (?:the |any )?['\"`]?(?:tools?|functions?)\b"
    r"|unsupported \w+:? ['\"`]?tools\b(?![\w.\[])"
    r"|(?<!parallel )\b(?:tools|(?:tool|function)[ _-](?:calling|calls?|use))['\"`]? (?:is|are) "
    r"(?:not |un)(?:supported|available|enabled)"
    r"|enable-auto-tool-choice|requires .{0,30}tool-call-parser"
)
"""How servers refuse all tools, and not one of their parts."""
TOO_MANY_REQUESTS = "HTTP 429"
SAME_ANSWER_ATTEMPTS = 2
"""Attempts after which a server that never gave a readable answer, or never was there, is not asked again."""
_ADVICE = {
    402: "pay the account's bill, or name another model",
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
    max_attempts: int | None = None
    """The number of such failures after which no further attempt is made, where it is less than the policy's."""
    context_limit: bool = False
    """Whether the server takes no prompt of this length."""
    no_tools: bool = False
    """Whether the server takes no tools."""


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
    past: PastAnswers | None = None,
) -> Success[T]:
    """The result of `attempt`, repeated while its failures are temporary. ModelError lists the failures; ContextLimit;
    ToolsRefused.

    `timeout_s` limits one attempt, from the request to the last byte of the answer. A server with
    `past` answers is waited for where nothing listens, since it may be starting again, and asked again after an answer
    that cannot be read. Without it the server counts as one that was there.
    """
    past = past or PastAnswers(any=True)
    failures: list[Failure] = []
    waited = 0.0
    while True:
        outcome = await _attempt_once(attempt, len(failures) + 1, timeout_s, limit, clock, past)
        # Raised outside an `except` block: the provider's error may hold the request with its key.
        if isinstance(outcome, Success):
            return outcome
        failures.append(outcome)
        if outcome.context_limit:
            raise ContextLimit(_error_message(name, failures))
        if outcome.no_tools:
            raise ToolsRefused(_error_message(name, failures))
        if not outcome.temporary or _attempts_are_spent(failures, policy):
            raise ModelError(_error_message(name, failures))
        wait = _wait_s(outcome, len(failures), policy, clock)
        if waited + wait > policy.max_total_wait_s:
            why = f"it asks to be left alone for {outcome.wait_s:.0f} s, " if (outcome.wait_s or 0) >= 1 else ""
            why += f"more than the {policy.max_total_wait_s:g} s that are waited"
            raise ModelError(_error_message(name, failures, why))
        waited += wait
        await clock.sleep(wait)


def _attempts_are_spent(failures: Sequence[Failure], policy: RetryPolicy) -> bool:
    """Whether no attempt is left. One that the server asked to make later does not count: the time of waits ends it."""
    counted = [failure for failure in failures if failure.kind != TOO_MANY_REQUESTS]
    alike = [failure for failure in counted if failure.kind == failures[-1].kind]
    own_limit = failures[-1].max_attempts
    return len(counted) >= policy.max_attempts or (own_limit is not None and len(alike) >= own_limit)


async def _attempt_once(
    attempt: Callable[[], Awaitable[T]],
    number: int,
    timeout_s: float,
    limit: RateLimit,
    clock: Clock,
    past: PastAnswers,
) -> Success[T] | Failure:
    async with limit.slot():
        began = clock.now()
        try:
            async with asyncio.timeout(timeout_s):
                success = Success(await attempt(), number, clock.now() - began)
            past.readable = True
            return success
        except Exception as error:  # a provider's package may raise anything
            return failure_of(error, timeout_s, past)


def failure_of(error: Exception, timeout_s: float, past: PastAnswers) -> Failure:
    """The failure that an exception of a provider's package means, by its status and class alone."""
    message = redact_keys(page_words(_message(error)))[:MESSAGE_LIMIT]
    status, classes = _status(error), {cls.__name__ for cls in type(error).__mro__}
    if status is not None and status >= 400:
        refusal = refusal_of(error)
        context_limit = refusal is not None and refusal.of_context
        temporary = status >= 500 or (status in _TEMPORARY_STATUS and not _out_of_credit(error))
        no_tools = status in _TOOLS_REFUSED and refusal is not None and bool(_TAKES_NO_TOOLS.search(refusal.text))
        kind, temporary = f"HTTP {status}", temporary and not (context_limit or no_tools)
        return Failure(kind, message, temporary, _requested_wait_s(error), None, context_limit, no_tools)
    if isinstance(error, TimeoutError) or classes & _TIMEOUT_CLASSES:
        return Failure(f"no answer within {timeout_s:g} s", "", True)
    cause = next((cause for cause in causes_of(error) if isinstance(cause, UnreadableAnswer)), None)
    if cause is not None:
        words = redact_keys(str(cause))[:MESSAGE_LIMIT]
        attempts = None if cause.temporary or past.readable else SAME_ANSWER_ATTEMPTS
        return Failure("an unreadable answer", words, True, None, attempts)
    if isinstance(error, OSError) or classes & _CONNECTION_CLASSES:
        return _connection_failure(error, past)
    if isinstance(error, ValueError | LookupError | TypeError | AttributeError):
        words = f"{type(error).__name__}: {message}"
        return Failure("an unreadable answer", words, True, None, SAME_ANSWER_ATTEMPTS)
    return Failure(type(error).__name__, message, False)


def refusal_of(error: Exception) -> Refusal | None:
    """The refusal that an exception of a provider's package holds; None for an error without a status."""
    status = _status(error)
    if status is None:
        return None
    body: object = getattr(error, "body", None)
    text = json.dumps(body, default=str) if body else str(error)
    return refusal_in(status, text)


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that led to it, the innermost last."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        parts: Sequence[BaseException] = getattr(cause, "exceptions", ())
        cause = parts[0] if parts else cause.__cause__ or cause.__context__


def _connection_failure(error: Exception, past: PastAnswers) -> Failure:
    """The failure that a connection's innermost cause means, in words, and whether it can heal."""
    url = getattr(getattr(error, "request", None), "url", None)
    address = f" at {url.host}:{url.port or (443 if url.scheme == 'https' else 80)}" if url is not None else ""
    causes = [*causes_of(error)][::-1]
    for cause in causes:
        name, text = type(cause).__name__, str(cause)
        if isinstance(cause, socket.gaierror):
            again = cause.errno == socket.EAI_AGAIN and past.any
            return Failure("no connection", f"unknown host{address} (the name has no address)", again)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Failure("no connection", f"the certificate{address} is not valid: {cause.verify_message}", False)
        if isinstance(cause, ssl.SSLError):
            return Failure("no connection", f"no TLS{address}: {_cut(text)}; the address may begin with http://", False)
        if isinstance(cause, ConnectionRefusedError) or "all connection attempts failed" in text.lower():
            words = f"connection refused: nothing listens{address}"
            return Failure("no connection", words, True, None, None if past.any else SAME_ANSWER_ATTEMPTS)
        if name == "LocalProtocolError":
            return Failure(
                "no connection",
                "the key in the environment holds a line break or another sign that no header can hold",
                False,
            )
        if name in ("UnsupportedProtocol", "InvalidURL", "TooManyRedirects"):
            return Failure("no connection", _cut(text), False)
        if name == "DecodingError":
            words = f"the answer is not compressed as its header says: {_cut(text)}"
            return Failure("an unreadable answer", words, True, None, SAME_ANSWER_ATTEMPTS)
    words = next(filter(None, (_cut(str(cause)) for cause in causes)), type(error).__name__)
    return Failure("no connection", words, True)


def _cut(text: str) -> str:
    return redact_keys(" ".join(text.split()))[:MESSAGE_LIMIT]


def _wait_s(failure: Failure, attempts: int, policy: RetryPolicy, clock: Clock) -> float:
    """Seconds before the next attempt: a doubling wait with jitter, or the provider's where it is longer."""
    wait = min(policy.max_wait_s, policy.first_wait_s * 2 ** (attempts - 1)) * (0.5 + 0.5 * clock.jitter())
    return wait if failure.wait_s is None else max(wait, failure.wait_s * (1 + 0.1 * clock.jitter()))


def _error_message(name: str, failures: list[Failure], why: str = "") -> str:
    counts = Counter(failure.kind for failure in failures)
    kinds = ", ".join(f"{count} times {kind}" if count > 1 else kind for kind, count in counts.items())
    last = failures[-1]
    quote = f"; it said: {last.message.rstrip('.')}" if last.message else ""
    status = last.kind.removeprefix("HTTP ")
    advice = _ADVICE.get(int(status), "") if status.isdecimal() else ""
    if last.context_limit:
        advice = "resume the run with a smaller --window, or give a model with a longer context"
    elif status in ("400", "404", "422") and _NO_TOOLS.search(last.message.lower()):
        advice = "play it with --agent structured, which needs no tool calls"
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
    refusal = refusal_of(error)
    return refusal is not None and bool(_NO_CREDIT.search(refusal.text))


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
