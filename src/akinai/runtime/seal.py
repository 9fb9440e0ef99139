"""Keys of sealed games: their files, the seeds that they give, and the log of the runs that were begun under them."""

import hmac
import json
import os
import secrets
import stat
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from akinai.core.canonical import Json, canonical
from akinai.core.chance import KEY_BYTES, LARGEST_INDEX, Sealed, commitment_of, seed_of
from akinai.core.errors import UsageError, why_unreadable
from akinai.core.stores import RunHeader
from akinai.core.untrusted.documents import MOST_RECORD_BYTES, DocumentError, parse_json
from akinai.files import read_named

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FORMAT = "akinai-key-1"
NEW = "'akinai seal new FILE' makes one"
LOG_FIELDS = ("log", "n", "at", "run", "world", "preset", "index", "agent", "model", "parent", "genesis")
"""The fields of a line of the log, beside its code."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret key and its file."""

    secret: bytes = field(repr=False)
    path: Path | None = None
    """None for a key that was revealed and has no file here."""

    @property
    def commitment(self) -> str:
        """What is published before: SHA-256 of the key in hex."""
        return commitment_of(self.secret)

    @property
    def log(self) -> "Log":
        """The log of its runs."""
        assert self.path is not None
        return Log(self.path.with_name(f"{self.path.stem}.runs.jsonl"))

    def to_json(self) -> dict[str, Json]:
        """The document of its file."""
        return {"format": FORMAT, "key": self.secret.hex(), "commitment": self.commitment}

    def seed_of(self, world: str, preset: str, index: int) -> int:
        """The seed of a game; `world` with its version, such as "vending@3"."""
        return seed_of(self.secret, world, preset, index)

    def sealed(self, index: int) -> Sealed:
        """What the card of a run on game `index` says. UsageError for an index that is too large."""
        if not 0 <= index <= LARGEST_INDEX:
            raise UsageError(f"the games of a key have the numbers 0 to {LARGEST_INDEX:,}, not {index}")
        return Sealed(index, self.commitment)

    def expect_own(self, header: RunHeader) -> None:
        """UsageError for a run that is not sealed under this key."""
        if header.sealed is None:
            raise UsageError(f"run {header.run_id!r} was played on a practice seed, not under a key; leave --key out")
        if header.sealed.commitment != self.commitment:
            raise UsageError(
                f"run {header.run_id!r} is {header.sealed.label} and not of {self.commitment[:8]}..., "
                f"the key in {str(self.path)!r}; name its own key"
            )

    def note(self, headers: Sequence[RunHeader]) -> None:
        """Write runs that begin into the log. UsageError if it cannot be written."""
        self.log.add(self.secret, headers)

    def next_index(self, world: str, preset: str) -> int:
        """The first game of a preset after those that runs were begun on."""
        used = [line["index"] for line in self.log.lines() if (line["world"], line["preset"]) == (world, preset)]
        return max(used, default=0) + 1


def load_optional(path: Path | str | None) -> Key | None:
    """The key of a file, None where none is named. UsageError as for `load_key`."""
    return None if path is None else load_key(path)


def expect_key(key: Key | None, headers: Sequence[RunHeader], act: str) -> None:
    """UsageError where a run is sealed and its key is not `key`, or `key` is another's. `act` is what is done."""
    for header in headers:
        if key is not None:
            key.expect_own(header)
        elif header.sealed is not None:
            raise UsageError(
                f"run {header.run_id!r} is {header.sealed.label}, and {act} it takes that key; name its file "
                "(--key FILE)"
            )


def new_key(path: Path | str) -> Key:
    """Draw a key and write it to a new file that its owner alone may read. UsageError where that cannot be."""
    file = Path(path).expanduser()
    key = Key(secrets.token_bytes(KEY_BYTES), file)
    try:
        with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as stream:
            stream.write(f"{json.dumps(key.to_json(), indent=1)}\n")
    except OSError as error:
        raise UsageError(f"the key {str(path)!r} cannot be written: {why_unreadable(error)}") from error
    return key


def load_key(path: Path | str) -> Key:
    """The key of a file. UsageError for one that is not there, that others may read, or that holds no key."""
    file = Path(path).expanduser()
    if not file.exists():
        raise UsageError(
            f"there is no key {str(path)!r}: without it its games can be neither played nor revealed; look for a copy, "
            f"or begin anew under another ({NEW})"
        )
    mode = stat.S_IMODE(file.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise UsageError(
            f"the key {str(path)!r} can be read by others (mode {mode:04o}): chmod 600 it, and if others were there, "
            f"begin anew under another key ({NEW})"
        )
    return Key(_secret_in(read_named(file, f"the key {str(path)!r}"), str(path)), file)


def _secret_in(text: str, name: str) -> bytes:
    try:
        document: Any = parse_json(text)
    except DocumentError as error:
        raise UsageError(f"{name!r} holds no key: {error}; {NEW}") from error
    fields = cast("dict[str, Any]", document if isinstance(document, dict) else {})
    secret = b""
    with suppress(ValueError, TypeError):
        secret = bytes.fromhex(fields.get("key", ""))
    if fields.get("format") != FORMAT or len(secret) != KEY_BYTES:
        raise UsageError(f"{name!r} holds no key of this version; {NEW}")
    if fields.get("commitment") != commitment_of(secret):
        raise UsageError(f"the key in {name!r} does not fit the commitment beside it: one of the two was changed")
    return secret


def revealed_key(text: str, name: str) -> Key:
    """A key that was revealed, in the text of a file that anybody may read. UsageError for one that is malformed."""
    return Key(_secret_in(text, name))


@dataclass(frozen=True, slots=True)
class Log:
    """The runs that were begun under a key, a line each: it shows who played often and tells of the best.

    A line has a code that only the key can make, and a number within its log, so that a line that is left out leaves a
    gap. Logs of several machines are joined by joining their lines.
    """

    path: Path

    def add(self, secret: bytes, headers: Sequence[RunHeader]) -> None:
        """Add a line for each run that has none. UsageError if the file cannot be written."""
        try:
            with self._held():
                lines = self.lines()
                known = {(line["run"], line["genesis"]) for line in lines}
                log = lines[0]["log"] if lines else secrets.token_hex(4)
                number = max((line["n"] for line in lines if line["log"] == log), default=0)
                fresh = [header for header in headers if (header.run_id, header.genesis.digest) not in known]
                text = "".join(f"{canonical(_line(secret, log, number + i, h))}\n" for i, h in enumerate(fresh, 1))
                with os.fdopen(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a") as stream:
                    stream.write(text)
        except OSError as error:
            raise UsageError(f"the log {str(self.path)!r} cannot be written: {why_unreadable(error)}") from error

    @contextmanager
    def _held(self) -> Generator[None]:
        """Hold the log against other processes, where the system can."""
        with os.fdopen(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600), "a") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def lines(self) -> list[dict[str, Any]]:
        """The lines; none where no run was begun. UsageError for a line that is none of a log."""
        return (
            parse_log(read_named(self.path, most_bytes=MOST_RECORD_BYTES), str(self.path)) if self.path.exists() else []
        )


def parse_log(text: str, name: str) -> list[dict[str, Any]]:
    """The lines of a log. UsageError for a line that is none of a log, with its number."""
    lines: list[dict[str, Any]] = []
    for number, row in enumerate(filter(str.strip, text.splitlines()), 1):
        try:
            value: Any = parse_json(row)
        except DocumentError as error:
            raise UsageError(f"line {number} of the log {name!r} cannot be read: {error}") from error
        line = cast("dict[str, Any]", value if isinstance(value, dict) else {})
        if line.keys() != {*LOG_FIELDS, "code"} or type(line["n"]) is not int or type(line["index"]) is not int:
            raise UsageError(f"line {number} of the log {name!r} is none of a log of runs")
        lines.append(line)
    return lines


def gap_in(lines: Sequence[Mapping[str, Any]]) -> str | None:
    """Which line of a log is missing; None where none is."""
    for log in dict.fromkeys(line["log"] for line in lines):
        numbers = {line["n"] for line in lines if line["log"] == log}
        if missing := next((n for n in range(1, max(numbers) + 1) if n not in numbers), 0):
            return f"line {missing} of the log {log} is missing: a run was left out"
    return None


def forged_line(secret: bytes, lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first line that was not written with the key; None where all were."""
    return next((line for line in lines if not hmac.compare_digest(str(line["code"]), _code(secret, line))), None)


def _line(secret: bytes, log: str, number: int, header: RunHeader) -> dict[str, Json]:
    assert header.sealed is not None
    line: dict[str, Json] = {
        "log": log,
        "n": number,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": header.run_id,
        "world": header.genesis.world,
        "preset": str(header.card.get("preset")),
        "index": header.sealed.index,
        "agent": header.label or header.agent,
        "model": header.model,
        "parent": header.parent,
        "genesis": header.genesis.digest,
    }
    return {**line, "code": _code(secret, line)}


def _code(secret: bytes, line: Mapping[str, Any]) -> str:
    text = canonical({name: line.get(name) for name in LOG_FIELDS})
    return hmac.new(secret, b"log\n" + text.encode(), sha256).hexdigest()
