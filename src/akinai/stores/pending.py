"""Changes that wait for a writer's transaction, and the answers to their callers."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

C = TypeVar("C")


@dataclass(slots=True, eq=False)
class PendingChange(Generic[C]):
    """A waiting change. It is created in the event loop of its caller."""

    change: C
    future: "asyncio.Future[None]" = field(init=False)
    """Done when the change is committed, or has failed."""
    error: Exception | None = field(default=None, init=False)
    """The refusal or failure of the change."""

    def __post_init__(self) -> None:
        self.future = asyncio.get_running_loop().create_future()


def answer(changes: Iterable[PendingChange[Any]]) -> None:
    """Resolve the futures of changes, in the event loop of their callers."""
    for pending in changes:
        if pending.future.done():  # its caller was cancelled
            continue
        if pending.error is None:
            pending.future.set_result(None)
        else:
            pending.future.set_exception(pending.error)
