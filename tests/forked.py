"""Programs of Python at a fraction of the cost of a new interpreter: forked from a process that has loaded Akinai.

`Popen` and `run` take `[sys.executable, "-c" or "-m" or a file, ...]` as those of `subprocess` do, text on their pipes. What a test
says of a fresh interpreter, of its flags or of its end needs `subprocess` itself.
"""

import asyncio
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.reduction import DupFd
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Self

PIPE, STDOUT = subprocess.PIPE, subprocess.STDOUT
LOADED = [
    "akinai.cli.app",
    "akinai.server.serving",
    "akinai.server.sessions",
    "akinai.stores.postgres.store",
    "akinai.testing.endpoint",
    "akinai.testing.laws.sample_runs",
    "akinai.worlds.market",
    "akinai.worlds.vending",
    "confusable_homoglyphs.confusables",
    "numpy",
]
MODELS = ["langchain_anthropic", "langchain_openai"]
"""A second of work that only slow tests do so often that it is done before."""
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(LOADED)


def hurry_servers() -> None:
    """Let uvicorn look every 5 ms whether it should end, not every 100: hundreds of tests stop a server."""
    try:
        import uvicorn.server
    except ImportError:  # not everywhere does the environment of an adapter have a server
        return
    quick: Any = SimpleNamespace(**{**vars(asyncio), "sleep": lambda seconds: asyncio.sleep(seconds / 20)})
    uvicorn.server.asyncio = quick


class Popen:
    """A program that runs; it has of `subprocess.Popen` what the tests use."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        text: bool = True,
    ) -> None:
        assert command[0] == sys.executable
        assert text
        self.args, self.stdout, self.stderr = list(command), None, None
        ends: list[int] = []
        outputs: list[int] = []
        for number, sink in ((1, stdout), (2, stderr)):
            if sink == PIPE:
                reading, writing = os.pipe()
                setattr(self, "stdout" if number == 1 else "stderr", os.fdopen(reading, encoding="utf-8"))
                ends.append(writing)
                outputs.append(writing)
            elif sink == STDOUT:
                outputs.append(outputs[0])
            else:
                outputs.append(number if sink is None else sink if isinstance(sink, int) else sink.fileno())
        self._process = SERVER.Process(
            target=_become,
            args=(command[1:], str(cwd or Path.cwd()), dict(os.environ if env is None else env), Outputs(outputs)),
        )
        self._process.start()
        for end in ends:
            os.close(end)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended, which its parent, the fork server, knows first
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All of its outputs. One of them at most is longer than a pipe holds."""
        texts = [pipe.read() if pipe else "" for pipe in (self.stdout, self.stderr)]
        self.wait(timeout)
        self.close()
        return texts[0], texts[1]

    def close(self) -> None:
        for pipe in (self.stdout, self.stderr):
            if pipe:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.wait()


def run(
    command: Sequence[str],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    capture_output: bool = True,
    text: bool = True,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; its outputs are captured."""
    process = Popen(command, cwd=cwd, env=env, stdout=PIPE, stderr=PIPE)
    out, err = process.communicate(timeout)
    return subprocess.CompletedProcess(list(command), process.wait(), out, err)


class Outputs:
    """The descriptors that become stdout and stderr of a program."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self.descriptors = list(descriptors)

    def __getstate__(self) -> list[Any]:
        return [DupFd(descriptor) for descriptor in self.descriptors]

    def __setstate__(self, state: list[Any]) -> None:
        self.descriptors = [duplicate.detach() for duplicate in state]


def _become(words: Sequence[str], cwd: str, env: Mapping[str, str], outputs: Outputs) -> None:
    """Do in a forked process what a new interpreter would do with these words."""
    for number, descriptor in enumerate(outputs.descriptors, 1):
        os.dup2(descriptor, number)
    for descriptor in outputs.descriptors:
        os.close(descriptor)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    sys.stderr.reconfigure(line_buffering=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    hurry_servers()
    kind, *more = words
    if kind == "-c":
        code, *more = more
        sys.argv, sys.path[:0] = ["-c", *more], [""]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    elif kind == "-m":
        sys.argv, sys.path[:0] = more, [""]
        runpy.run_module(more[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[:0] = [*words], [str(Path(kind).parent)]
        runpy.run_path(kind, run_name="__main__")
