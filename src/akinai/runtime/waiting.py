"""How plain code waits for a coroutine: also inside a running loop, and so that Ctrl-C ends it in good order."""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

LOOK_S = 0.2
T = TypeVar("T")


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine. Inside a running loop, as in a notebook, it runs on a thread of its own.

    Ctrl-C cancels it, and so does SIGTERM where nobody else handles it: it may end its work and still give a result.
    KeyboardInterrupt when it does not.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        try:
            given = asyncio.run(_terminable(coroutine))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        if isinstance(given, KeyboardInterrupt):
            raise given from None
        return given
    return _on_a_thread(coroutine)


async def _terminable(coroutine: Coroutine[Any, Any, T]) -> T | KeyboardInterrupt:
    """Its result, or the KeyboardInterrupt that it ended with: raised here it would break out of the loop at once, and
    after a second Ctrl-C be told by the loop as an error that nobody asked for."""
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


def _on_a_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    loop, over = asyncio.new_event_loop(), threading.Event()
    task = loop.create_task(coroutine)

    def play() -> None:
        with suppress(BaseException):  # the task keeps it for the caller
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        over.set()

    threading.Thread(target=play, name="akinai").start()
    try:
        # Not by `join`, which in Python 3.11 takes a thread for ended when Ctrl-C comes; in steps, so that a signal
        # that another thread took is noticed between them.
        while not over.wait(LOOK_S):
            pass
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        over.wait()
    try:
        return task.result()
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
