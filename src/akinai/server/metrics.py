"""The metrics of a server for Prometheus."""

import logging
from bisect import bisect_left
from collections import Counter as Counts
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from akinai.server.event_log import log_event

_LATENCIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


class _Counts(Collector):
    """Counts of every request as plain numbers: Prometheus's own take a lock each, and one loop writes here."""

    def __init__(self) -> None:
        self.actions = Counts[tuple[str, str]]()
        self.answers = Counts[int]()
        self.by_latency = [0] * (len(_LATENCIES) + 1)
        self.seconds = 0.0

    def collect(self) -> Iterator[Metric]:
        actions = CounterMetricFamily(
            "akinai_actions", "Actions answered, by name and result.", labels=("name", "result")
        )
        for labels, count in self.actions.items():
            actions.add_metric(labels, count)
        yield actions
        answers = CounterMetricFamily("akinai_http_answers", "Answers of all routes, by status.", labels=("status",))
        for status, count in self.answers.items():
            answers.add_metric((str(status),), count)
        yield answers
        bounds = [*(str(float(bound)) for bound in _LATENCIES), "+Inf"]
        buckets = list(zip(bounds, map(float, accumulate(self.by_latency)), strict=True))
        yield HistogramMetricFamily(
            "akinai_action_seconds", "From the request's last byte to its answer.", buckets, self.seconds
        )


class Metrics:
    """The metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: Any = {"registry": self.registry}
        self._counts = _Counts()
        self.registry.register(self._counts)
        self._batch = Histogram("akinai_commit_entries", "Entries of a commit.", buckets=_BATCHES, **own)
        self._commit = Histogram("akinai_commit_seconds", "How long a commit takes.", buckets=_LATENCIES, **own)
        self._conflicts = Counter("akinai_commit_conflicts", "Commits that another server preceded.", **own)
        self._failures = Counter("akinai_commit_failures", "Commits that the store did not make.", **own)
        self._waiting = Gauge("akinai_waiting", "Requests applied and not yet durable.", **own)
        self._agents = Gauge("akinai_agents", "Agents registered.", **own)
        self._entries = Gauge("akinai_entries", "Entries of the run.", **own)

    def acted(self, name: str, result: str, seconds: float) -> None:
        """An action was answered."""
        counts = self._counts
        counts.actions[name, result] += 1
        counts.by_latency[bisect_left(_LATENCIES, seconds)] += 1
        counts.seconds += seconds

    def answered(self, status: int) -> None:
        """A request of any route was answered."""
        self._counts.answers[status] += 1

    def committed(self, entries: int, seconds: float) -> None:
        self._batch.observe(entries)
        self._commit.observe(seconds)

    def conflict(self, requests: int) -> None:
        self._conflicts.inc()
        log_event("conflict", logging.DEBUG, requests=requests)

    def failed(self, requests: int, error: Exception) -> None:
        self._failures.inc()
        log_event("commit_failed", logging.ERROR, requests=requests, error=f"{type(error).__name__}: {error}")

    def page(self, *, waiting: int, agents: int, entries: int) -> bytes:
        """All metrics in the text format of Prometheus."""
        self._waiting.set(waiting)
        self._agents.set(agents)
        self._entries.set(entries)
        return generate_latest(self.registry)


UNREAD = Metrics()
"""Metrics that nobody reads."""
