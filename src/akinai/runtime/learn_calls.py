"""The model calls of a learning, beside its playbook: a learning is no run, so no ledger's trace could hold them."""

import json
import os
from pathlib import Path

from akinai.core.errors import UsageError
from akinai.core.models import Model, Reply, Request
from akinai.runtime.budget import Meter
from akinai.runtime.session import clock_us


class CallBook:
    """Appends calls to a file of JSON lines; several processes may write to one.

    A line: role, at (microseconds since the epoch), model as it was asked for, messages, and the reply with its tokens,
    latency and tries.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, playbook: Path) -> "CallBook":
        """`<name>.calls.jsonl` beside a playbook's file."""
        return cls(playbook.with_name(playbook.name.removesuffix(".json") + ".calls.jsonl"))

    def add(self, role: str, model: str, request: Request, reply: Reply) -> None:
        """Write a call down; it is on the disk when this returns. UsageError where nothing can be written."""
        told = {
            "role": role,
            "at": clock_us(),
            "model": model,
            "messages": [message.to_json() for message in request.messages],
            "reply": reply.to_json(),
        }
        line = json.dumps(told) + "\n"  # ASCII: half a surrogate pair from a model is kept too
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                _write_all(file, line.encode())
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise UsageError(f"the model's calls cannot be written to {str(self.path)!r}: {error}") from error


class MeteredAsker:
    """Asks a model for one role, within a budget; each reply is written down before it is used."""

    def __init__(self, role: str, model: Model, meter: Meter, book: CallBook) -> None:
        self._role, self._model, self._meter, self._book = role, model, meter, book

    async def ask(self, request: Request) -> Reply:
        """EndRun when the budget is spent, ModelError as the model's."""
        self._meter.check(self._model.name)
        reply = await self._model.reply(request)
        self._book.add(self._role, self._model.name, request, reply)
        self._meter.count(self._model.name, reply.usage)
        return reply


def _write_all(file: int, data: bytes) -> None:
    """One write, so that lines of several processes do not mix; more only where the system takes it in parts."""
    while data:
        data = data[os.write(file, data) :]
