"""What tests of work elsewhere share: an engine that does it in this process, through bytes."""

import pickle
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from akinai.core.errors import UsageError
from akinai.runtime.runs import work
from akinai.runtime.runs.work import Unwatched, Work


class Elsewhere:
    """An engine: items and results travel as bytes, the store is opened there, and the last item is done first."""

    done = 0
    """Items that were done."""

    def __init__(self, address: str, jobs: int) -> None:
        assert address == "there"

    def check_store(self, url: str) -> None:
        if url.startswith("memory:"):
            raise UsageError("it cannot open a store in memory")

    async def work(self, url: str | None, items: Sequence[Work[Any]], progress: Any) -> AsyncIterator[tuple[int, Any]]:
        for index in reversed(range(len(items))):
            item: Work[Any] = pickle.loads(pickle.dumps(items[index]))
            Elsewhere.done += 1
            yield index, pickle.loads(pickle.dumps(await work.do_work(url, item, Unwatched())))

    async def close(self) -> None:
        pass


class Point:
    name = "elsewhere"

    @staticmethod
    def load() -> type[Elsewhere]:
        return Elsewhere


def installed(group: str) -> dict[str, type[Point]]:
    assert group == "akinai.executors"
    return {Point.name: Point}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> type[Elsewhere]:
    """The engine, installed under its name, with nothing done yet."""
    monkeypatch.setattr(work, "plugins", installed)
    monkeypatch.setattr(Elsewhere, "done", 0)
    return Elsewhere
