"""The endpoint's log of requests and answers. It holds no API keys."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from akinai.core.canonical import Json
from akinai.core.models import Reply
from akinai.testing.endpoint.faults import FaultKind

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"})
TEXT_LIMIT = 2000
"""Characters of a reply's text that the log keeps."""


@dataclass(frozen=True)
class Exchange:
    """A request and its answer, recorded before the answer is sent."""

    n: int
    """1-based index in the order of arrival."""
    key: str
    """The conversation as in `ModelCall.key`; empty for a request outside of any."""
    nth: int
    """1-based index in its conversation; 0 outside of any."""
    at: float
    """Arrival in seconds since the epoch."""
    took_s: float
    """Seconds until the answer was ready."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case; those that carry keys are left out."""
    body_sha256: str
    body_bytes: int
    status: int
    """0 where no status was sent: the request hung, or the connection was cut."""
    fault: FaultKind | None = None
    reply: Mapping[str, Json] | None = None
    """`Reply.to_json` of the reply that was sent, its text cut at 2,000 characters."""
    error: str = ""
    """Why the request was refused."""
    gone: bool = False
    """Whether the client had closed the connection before the answer was ready."""

    @property
    def answered(self) -> bool:
        """Whether a whole reply was sent to a client that was still connected."""
        return self.status == 200 and self.reply is not None and not self.gone


class Log:
    """Keeps exchanges in memory and, if a path is given, in a file of JSON lines that is flushed after every line."""

    def __init__(self, path: Path | None = None) -> None:
        self._exchanges: list[Exchange] = []
        self._file: IO[str] | None = path.open("a", encoding="utf-8", buffering=1) if path else None

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges so far."""
        return tuple(self._exchanges)

    def add(self, exchange: Exchange) -> None:
        """Keep an exchange; called on the endpoint's thread only."""
        self._exchanges.append(exchange)
        if self._file:
            self._file.write(json.dumps(vars(exchange)) + "\n")

    def close(self) -> None:
        """Close the file; the memory stays readable."""
        if self._file:
            self._file.close()


def read_log(path: Path) -> tuple[Exchange, ...]:
    """The exchanges in a log file, those of earlier processes first."""
    return tuple(Exchange(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())


def public_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers without those that carry keys."""
    return {name: value for name, value in headers.items() if name not in SECRET_HEADERS}


def reply_record(reply: Reply) -> Mapping[str, Json]:
    """A reply as the log keeps it."""
    record = reply.to_json()
    message = dict(cast("Mapping[str, Json]", record["message"]))
    return {**record, "message": {**message, "text": reply.text[:TEXT_LIMIT]}}
