"""Waits for coroutines from plain code, even inside a running event loop."""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

POLL_S = 0.2
T = TypeVar("T")


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result. Inside a running loop, as in a notebook, it gets a thread of its own.

    Ctrl-C cancels the coroutine, and so does SIGTERM if it has no other handler; the coroutine may then finish its
    work and still return a result. KeyboardInterrupt if it does not.
    """
    if loop_is_running():
        return _wait_on_thread(coroutine)
    try:
        result = asyncio.run(_terminable(coroutine))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    if isinstance(result, KeyboardInterrupt):
        raise result from None
    return result


def loop_is_running() -> bool:
    """Whether this thread runs an event loop now."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _terminable(coroutine: Coroutine[Any, Any, T]) -> T | KeyboardInterrupt:
    """The coroutine's result, or the KeyboardInterrupt that ended it.

    Raised here, the interrupt would break out of the loop at once, and after a second Ctrl-C the loop would report it
    as an unhandled error.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not ours or task is None:
        return await coroutine
    with suppress(NotImplementedError):  # Windows
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return await coroutine
    except KeyboardInterrupt as stop:
        return stop
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGTERM)


def _wait_on_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    loop, over = asyncio.new_event_loop(), threading.Event()
    task = loop.create_task(coroutine)

    def run() -> None:
        with suppress(BaseException):  # the task holds it for the caller
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        over.set()

    threading.Thread(target=run, name="akinai").start()
    try:
        # Without `join`, which in Python 3.11 takes a thread for ended when Ctrl-C comes. In steps, so that a signal
        # received by another thread is noticed.
        while not over.wait(POLL_S):
            pass
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        over.wait()
    try:
        return task.result()
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
