"""What a served run tells of itself: to the log, as JSON lines, and to Prometheus."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

logger = logging.getLogger("akinai.server")

_LATENCIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


class Watching:
    """The figures of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: Any = {"registry": self.registry}
        self._actions = Counter("akinai_actions", "Actions answered, by name and result.", ("name", "result"), **own)
        self._answers = Counter("akinai_http_answers", "Answers of all routes, by status.", ("status",), **own)
        self._latency = Histogram(
            "akinai_action_seconds", "From the request's last byte to its answer.", buckets=_LATENCIES, **own
        )
        self._batch = Histogram("akinai_commit_entries", "Entries of a commit.", buckets=_BATCHES, **own)
        self._commit = Histogram("akinai_commit_seconds", "How long a commit takes.", buckets=_LATENCIES, **own)
        self._conflicts = Counter("akinai_commit_conflicts", "Commits that another server preceded.", **own)
        self._failures = Counter("akinai_commit_failures", "Commits that the store did not make.", **own)
        self._waiting = Gauge("akinai_waiting", "Requests applied and not yet durable.", **own)
        self._agents = Gauge("akinai_agents", "Agents registered.", **own)
        self._entries = Gauge("akinai_entries", "Entries of the run.", **own)
        self._by_result: dict[tuple[str, str], Any] = {}
        self._by_status: dict[int, Any] = {}

    def acted(self, name: str, result: str, seconds: float) -> None:
        """An action was answered."""
        counter = self._by_result.get((name, result))
        if counter is None:
            counter = self._by_result[name, result] = self._actions.labels(name, result)
        counter.inc()
        self._latency.observe(seconds)

    def answered(self, status: int) -> None:
        """A request of any route was answered."""
        counter = self._by_status.get(status)
        if counter is None:
            counter = self._by_status[status] = self._answers.labels(str(status))
        counter.inc()

    def committed(self, entries: int, seconds: float) -> None:
        self._batch.observe(entries)
        self._commit.observe(seconds)

    def conflict(self, requests: int) -> None:
        self._conflicts.inc()
        tell("conflict", logging.DEBUG, requests=requests)

    def failed(self, requests: int, error: Exception) -> None:
        self._failures.inc()
        tell("commit_failed", logging.ERROR, requests=requests, error=f"{type(error).__name__}: {error}")

    def page(self, *, waiting: int, agents: int, entries: int) -> bytes:
        """All figures in the text format of Prometheus."""
        self._waiting.set(waiting)
        self._agents.set(agents)
        self._entries.set(entries)
        return generate_latest(self.registry)


NOBODY = Watching()
"""For runs whose figures nobody reads."""


def tell(what: str, level: int = logging.INFO, /, **facts: object) -> None:
    """A line of the log: what happened, and the facts of it. Never a token, a message or a password."""
    logger.log(level, what, extra={"facts": facts})


class _JsonLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        # Looked up each time: a program may have turned stderr elsewhere since.
        sys.stderr.write(self.format(record) + "\n")

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname.lower(), "what": record.getMessage()}
        told |= getattr(record, "facts", {})
        if record.exc_info:
            told["error"] = logging.Formatter().formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def log_to_stderr() -> None:
    """One JSON object a line, for ours and for the HTTP server's own warnings."""
    handler = _JsonLines()
    for name, level in (("akinai.server", logging.INFO), ("uvicorn", logging.WARNING)):
        one = logging.getLogger(name)
        one.handlers, one.propagate = [handler], False
        one.setLevel(level)
