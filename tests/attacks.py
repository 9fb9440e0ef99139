"""Attacks on a listener, the same for all: each function holds one server to what SECURITY.md promises."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")
MIB = 1 << 20
FLAT_MIB = 12
"""Memory that a server may take under an attack; unbounded heads took 74 to 176."""
ARRIVAL_S = 10


@dataclass
class Target:
    """A server of one's own process, and a request that changes something there."""

    process: subprocess.Popen[str]
    address: str
    """As printed."""
    path: str
    """Where the request goes; it needs a token where there are tokens."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a client adds to its requests: a token."""
    token: bool = False
    """Whether the server requires tokens."""
    hosts: bool = True
    """Whether the server checks Host and Origin; otherwise a token is required that no browser adds."""

    @property
    def netloc(self) -> str:
        return urlsplit(self.address).netloc

    def forget_peak(self) -> float:
        """Begin to measure the most memory that the server holds; what it holds now, in MiB."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self._memory("VmRSS")

    def peak(self) -> float:
        """The most memory that the server held since then, in MiB."""
        return self._memory("VmHWM")

    def _memory(self, field: str) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))

    async def raw(self, *chunks: bytes, wait_s: float = 0.0, within_s: float = 20) -> bytes:
        """All that a connection answers to some bytes; the rest of them is dropped where the server closes."""
        parts = urlsplit(self.address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        with suppress(ConnectionError):
            for chunk in chunks:
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(wait_s)
        answer = b""
        with suppress(ConnectionError):
            async with asyncio.timeout(within_s):
                answer = await reader.read()
        writer.close()
        return answer

    def request(self, verb: str = "POST", path: str = "", own: bool = True, **headers: str) -> bytes:
        """The head and the body of a request; `own` sends the token."""
        named = {"host": self.netloc, "connection": "close", "content-type": "application/json", "content-length": "2"}
        named |= {**(self.headers if own else {}), **{name.replace("_", "-"): text for name, text in headers.items()}}
        lines = [f"{name}: {value}" for name, value in named.items() if value]
        return f"{verb} {path or self.path} HTTP/1.1\r\n".encode() + "\r\n".join([*lines, "", "{}"]).encode("latin-1")

    async def status(self, request: bytes) -> int:
        """The status of the answer to a request."""
        return status_of(await self.raw(request))


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 for none."""
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0


async def large_heads(target: Target) -> float:
    """A hundred headers of 1 MiB, on four connections: refused with 431 or cut off, and the memory stays flat."""
    before = target.forget_peak()
    head = f"GET {target.path} HTTP/1.1\r\nhost: {target.netloc}\r\n".encode()
    large = [f"x-{number}: ".encode() + b"a" * MIB + b"\r\n" for number in range(100)]
    answers = await asyncio.gather(*(target.raw(head, *large) for _ in range(4)))
    assert {status_of(answer) for answer in answers} <= {0, 431}, answers
    many = head + b"".join(b"x-%d: a\r\n" % number for number in range(200)) + b"\r\n"
    assert status_of(await target.raw(many)) == 431
    grown = target.peak() - before
    assert grown < FLAT_MIB, f"{grown:.0f} MiB"
    return grown


async def half_open_heads(target: Target) -> None:
    """A head that never ends is answered 408 and closed, and so is a connection that says nothing."""
    begun = f"GET {target.path} HTTP/1.1\r\nhost: {target.netloc}\r\nx-a: ".encode()
    answers = await asyncio.gather(*(target.raw(begun, within_s=ARRIVAL_S + 8) for _ in range(20)), target.raw(b""))
    assert [status_of(answer) for answer in answers] == [408] * 20 + [0]


async def slow_bodies(target: Target) -> None:
    """A body that never ends is closed in time; it may be answered before."""
    slow = target.request(content_length="100", origin=f"http://{target.netloc}")
    began = time.monotonic()
    await asyncio.gather(*(target.raw(slow, within_s=ARRIVAL_S + 30) for _ in range(5)))
    assert time.monotonic() - began < ARRIVAL_S + 20, "it would have gone on for ever"


async def large_bodies(target: Target) -> None:
    """64 MiB in chunks are refused, and the memory stays flat."""
    before = target.forget_peak()
    request = target.request(content_length="", transfer_encoding="chunked", origin=f"http://{target.netloc}")
    chunk = b"%x\r\n" % MIB + b" " * MIB + b"\r\n"
    answer = await target.raw(request.removesuffix(b"{}"), *[chunk] * 64, b"0\r\n\r\n")
    assert status_of(answer) not in range(200, 300), answer[:200]
    assert target.peak() - before < FLAT_MIB


async def foreign_hosts(target: Target) -> None:
    """Names that are not this machine's, also those that lead here or look like it, and none or two of them."""
    names = [
        "evil.example", "127.0.0.1.nip.io", "localhost.evil.example", f"evil.example:{target.netloc.rpartition(':')[2]}",
        "127.0.0.1@evil.example", "localhost@evil.example", "2130706433", "0.0.0.0", "169.254.169.254", "",
        f"{target.netloc}\r\nhost: evil.example",
    ]  # fmt: skip
    for name in names:
        status = await target.status(target.request(own=target.hosts, host=name))
        assert status in ((400, 403) if target.hosts else (400, 401, 405)), name


async def foreign_origins(target: Target) -> None:
    """Pages of other servers, of other ports of this machine, and of files."""
    port = int(target.netloc.rpartition(":")[2])
    for origin in (
        "http://evil.example", "null", f"http://localhost:{port + 1}", f"http://127.0.0.1:{port + 1}", "file://",
        f"http://{target.netloc}.evil.example", f"http://evil.example@{target.netloc}", "http://127.0.0.1",
    ):  # fmt: skip
        for verb in ("POST", "GET"):
            status = await target.status(target.request(verb, own=target.hosts, origin=origin))
            assert status in ((403,) if target.hosts else (401, 405)), origin


async def no_token(target: Target) -> None:
    """Nothing, another token, and a token in another place."""
    if not target.token:
        return
    own = f"http://{target.netloc}"
    for headers in ({}, {"authorization": "Bearer x"}, {"cookie": "token=x"}, {"authorization": "Basic eDp4"}):
        for verb in ("POST", "GET"):
            assert await target.status(target.request(verb, own=False, origin=own, **headers)) in (401, 405), headers
    assert await target.status(target.request("GET", f"{target.path}?token=x", own=False)) == 401


async def traversal(target: Target) -> None:
    """No path leads to a file of this machine, or to another one."""
    up = ("../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "..\\" * 8, "%2e%2e%2f" * 8, "....//" * 8, "%c0%ae%c0%ae/" * 8)
    for root in ("/", "/static/", f"{target.path.rstrip('/')}/"):
        for steps in up:
            answer = await target.raw(target.request("GET", f"{root}{steps}etc/passwd", content_length="0"))
            assert b"root:" not in answer
            assert status_of(answer) in (400, 401, 403, 404, 405, 406), (root, steps, answer[:200])
    answer = await target.raw(target.request("GET", "//evil.example/..", content_length="0"))
    assert b"location: //" not in answer.lower()


ATTACKS: Sequence[Callable[[Target], Coroutine[None, None, object]]] = (
    large_heads, half_open_heads, slow_bodies, large_bodies, foreign_hosts, foreign_origins, no_token, traversal,
)  # fmt: skip


@contextmanager
def started(folder: Path, *words: str) -> Generator[tuple[subprocess.Popen[str], str, str]]:
    """A program of Akinai's: its process, the address that it prints on stdout, and the token beside that."""
    command = [sys.executable, *(words if words[0] == "-c" else ("-m", "akinai", *words))]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout
    try:
        text = ""
        while "http://" not in text or ("token" in words and "token" not in text.partition("http://")[2]):
            line = process.stdout.readline()
            assert line, text + (folder / "log").read_text()
            text += line
        address = "http://" + text.partition("http://")[2].split()[0].rstrip(",")
        yield process, address, text.split()[-1]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


async def hold(*targets: Target) -> list[float]:
    """All attacks on each server; the memory that large heads took of each, in MiB.

    The long ones, which wait by the clock, run beside each other.
    """
    grown = [await _tried(large_heads, target) for target in targets]
    await asyncio.gather(*(_tried(attack, target) for target in targets for attack in (half_open_heads, slow_bodies)))
    for target in targets:
        for attack in ATTACKS[3:]:
            await _tried(attack, target)
        assert target.process.poll() is None, target
    return grown


async def _tried(attack: Callable[[Target], Coroutine[None, None, T]], target: Target) -> T:
    """What an attack returns. A failure names the attack and the server."""
    try:
        return await attack(target)
    except AssertionError as error:
        error.add_note(f"{attack.__name__}: {target}")
        raise
