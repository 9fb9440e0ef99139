"""The process that owns a market, as the server sees it: started, started anew when it dies, and stopped."""

import asyncio
import json
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Literal

from akinai.core.errors import StoreError
from akinai.server.event_log import log_event
from akinai.server.markets.handover import Channel
from akinai.server.markets.settings import ServeConfig, ServerInfo

STEADY_S = 10.0
"""A process that lived as long is started anew at once; others after a pause that doubles."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
PATIENCE_S = 8.0
"""Seconds that a stopping process may go on answering requests."""
LAST_PATIENCE_S = 1.5
"""Seconds that it then has to commit what it accepted."""

Status = Literal["serving", "starting"]


class Owner:
    """The process of one market."""

    def __init__(
        self, name: str, config: ServeConfig, url: str, received: Callable[[socket.socket, bytes], None]
    ) -> None:
        """`received` takes connections whose next request is another's."""
        self.name, self.starts = name, 0
        self.info: ServerInfo | None = None
        """The server as it was when the market was last started."""
        self.channel: Channel | None = None
        """The way to the process; None while none serves."""
        self._settings = _settings_of(name, config, url)
        self._received, self._stopping = received, False
        self._process: Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def status(self) -> Status:
        return "serving" if self.channel is not None else "starting"

    @property
    def pid(self) -> int | None:
        """The id of the process that serves."""
        return self._process.pid if self._process is not None and self.channel is not None else None

    async def start(self) -> ServerInfo:
        """Start the process and keep it running. StoreError when it does not come to serve."""
        info = await self._start()
        self._keeper = asyncio.create_task(self._keep())
        return info

    async def stop(self) -> None:
        """End the process; it answers what it accepted, and commits it."""
        self._stopping = True
        process = self._process
        if process is not None:
            for patience in (PATIENCE_S, LAST_PATIENCE_S):
                _signal(process, signal.SIGTERM)  # the second time it no longer waits for its clients
                with suppress(TimeoutError):
                    async with asyncio.timeout(patience):
                        await process.wait()
                        break
            else:
                _signal(process, signal.SIGKILL)  # what was answered is committed
                await process.wait()
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        self._disconnect()

    async def _start(self) -> ServerInfo:
        here, there = socket.socketpair()
        words = (sys.executable, "-m", "akinai.server.markets.worker", str(there.fileno()))
        with there:
            # In a session of its own: Ctrl-C at the terminal reaches the server alone, which then stops its markets.
            self._process = process = await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, pass_fds=[there.fileno()], start_new_session=True
            )
        self.starts += 1
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):
            process.stdin.write(json.dumps(self._settings).encode() + b"\n")
            await process.stdin.drain()
        line = await process.stdout.readline()
        answer: Any = json.loads(line) if line else {"error": "its process ended before it served"}
        if "error" in answer:
            here.close()
            await process.wait()
            raise StoreError(f"the market {self.name!r} cannot be served: {answer['error']}")
        self.channel = Channel(here, self._received, self._disconnect)
        self.info = ServerInfo(**answer)
        return self.info

    async def _keep(self) -> None:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE_S
        began = loop.time()
        while not self._stopping:
            process = self._process
            if process is not None and process.returncode is None:
                await process.wait()
            self._disconnect()
            if self._stopping:
                return
            pause = 0.0 if loop.time() - began > STEADY_S else min(max(2 * pause, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            log_event("market_down", run=self.name, code=process.returncode if process else None, again_in_s=pause)
            await asyncio.sleep(pause)
            began = loop.time()
            try:
                await self._start()
            except (StoreError, OSError) as error:
                log_event("market_not_started", run=self.name, error=str(error))
            else:
                log_event("market_up", run=self.name, starts=self.starts)

    def _disconnect(self) -> None:
        if self.channel is not None:
            channel, self.channel = self.channel, None
            channel.close()


def _settings_of(name: str, config: ServeConfig, url: str) -> Mapping[str, Any]:
    """The worker's settings, as JSON: the run exists, and its population is in it."""
    own = replace(config, run=name, data=None, markets={}, settings={}, world=None)
    return {"config": asdict(own), "url": url, "at_root": name == config.run}


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
