"""Runs that the studio plays: each in a process of its own, which is asked to stop as Ctrl-C would ask."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from akinai.core.errors import UsageError

STOP_S = 10.0


@dataclass(slots=True)
class Jobs:
    """The processes by the run that they play. `notify` is called with a sentence when one fails."""

    store: str
    notify: Callable[[str], None]
    _processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict[str, asyncio.subprocess.Process])
    _waiting: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def plays(self, run: str) -> bool:
        return run in self._processes

    async def start(self, run: str, words: Sequence[str]) -> None:
        """Run a command of akinai that plays a run. UsageError while another does."""
        if self.plays(run):
            raise UsageError(f"{run} is being played already")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "akinai", *words, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "AKINAI_STORE": self.store}, start_new_session=True,
        )  # fmt: skip
        self._processes[run] = process
        task = asyncio.create_task(self._follow(run, process))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _follow(self, run: str, process: asyncio.subprocess.Process) -> None:
        _, errors = await process.communicate()
        self._processes.pop(run, None)
        lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.startswith("akinai: ")]
        if process.returncode not in (0, 130) and lines:
            self.notify(lines[0].removeprefix("akinai: "))

    def stop(self, run: str) -> None:
        """Ask a process to stop; what it played is kept. UsageError when the studio does not play the run."""
        process = self._processes.get(run)
        if process is None:
            raise UsageError(f"{run} is not played from here; stop it where it was started")
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)

    async def close(self) -> None:
        """Stop all processes and wait for them."""
        for run in list(self._processes):
            self.stop(run)
        if self._waiting:
            await asyncio.wait(self._waiting, timeout=STOP_S)
