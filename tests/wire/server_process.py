"""`akinai serve` in a process of its own, for the tests that kill it, starve it or take things away from it."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import httpx
from wire_server import Wire

import forked


class Process:
    """A server; its log is `log.jsonl` in the folder, or goes to `stderr`."""

    def __init__(self, folder: Path, *words: str, stderr: int | IO[str] | None = None, **env: str) -> None:
        self.log = (folder / "log.jsonl").open("a")
        self.process = forked.Popen(
            [sys.executable, "-m", "akinai", "serve", "--port", "0", *words],
            cwd=folder,
            stdout=forked.PIPE,
            stderr=self.log if stderr is None else stderr,
            env={**os.environ, **env},
        )
        assert self.process.stdout
        self.line = self.process.stdout.readline()
        assert " on http://" in self.line, (folder / "log.jsonl").read_text()
        self.url = self.line.partition(" on ")[2].split()[0].rstrip(",")
        self.port = int(self.url.rpartition(":")[2])

    def end(self, number: signal.Signals = signal.SIGKILL, within_s: float = 30) -> int:
        self.process.send_signal(number)
        try:
            code = self.process.wait(within_s)
        finally:
            self.process.kill()
        assert self.process.stdout
        self.rest = self.process.stdout.read()
        self.process.stdout.close()
        self.log.close()
        return code

    def memory_mb(self, field: str = "VmRSS") -> float:
        """The memory that it holds, or the most that it ever held (`VmHWM`), in MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


@asynccontextmanager
async def wired(process: Process) -> AsyncIterator[Wire]:
    async with httpx.AsyncClient(base_url=process.url, timeout=30, verify=False) as http:
        yield Wire(http)
