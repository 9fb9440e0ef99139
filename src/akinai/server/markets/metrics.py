"""The metrics of many markets on one page, each sample with its market."""

import asyncio
import socket
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from akinai.server.markets.paths import root_of
from akinai.server.markets.supervisor import Owner

PAGE_S = 5.0
"""Seconds that a market has to send its metrics."""


async def page_of_all(owners: Mapping[str, Owner], operator_token: str) -> bytes:
    """All metrics in the text format of Prometheus, with a label `market`. A market that does not answer is not up."""
    pages = await asyncio.gather(*(_page(owner, operator_token) for owner in owners.values()))
    registry = CollectorRegistry()
    registry.register(_Merged(dict(zip(owners, pages, strict=True)), owners))
    return generate_latest(registry)


class _Merged(Collector):
    """The samples of all pages, by metric."""

    def __init__(self, pages: Mapping[str, str | None], owners: Mapping[str, Owner]) -> None:
        self._pages, self._owners = pages, owners

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("akinai_market_up", "Whether a market is served.", labels=("market",))
        starts = CounterMetricFamily("akinai_market_starts", "Starts of a market's process.", labels=("market",))
        families = dict[str, Metric]()
        for name, page in self._pages.items():
            up.add_metric((name,), float(page is not None))
            starts.add_metric((name,), float(self._owners[name].starts))
            for family in text_string_to_metric_families(page or ""):
                merged = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                merged.samples += [
                    sample._replace(labels={"market": name, **sample.labels}) for sample in family.samples
                ]
        yield up
        yield starts
        yield from families.values()


async def _page(owner: Owner, operator_token: str) -> str | None:
    """The metrics of a market, asked for over a connection that it is given; None when it does not answer."""
    channel = owner.channel
    if channel is None:
        return None
    here, there = socket.socketpair()
    bearer = f"Authorization: Bearer {operator_token}\r\n" if operator_token else ""
    path = f"{root_of(owner.name)}/metrics"
    channel.send(
        there.detach(), f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{bearer}Connection: close\r\n\r\n".encode()
    )
    here.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=here)
    try:
        async with asyncio.timeout(PAGE_S):
            head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    except (TimeoutError, OSError):
        return None
    finally:
        writer.close()
    return body.decode() if b" 200 " in head.partition(b"\r\n")[0] else None
