"""Asking: every call of a model is written down before its reply is used, and none that was written is sent again."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from akinai.core.canonical import Json, settled
from akinai.core.errors import AgentError
from akinai.core.models import Asker, Model, Reply, Request
from akinai.core.trace import TraceBook, TraceRecord
from akinai.runtime.budget import Meter
from akinai.runtime.recorded import Call, Prompts, calls_in, is_call
from akinai.runtime.response_cache import Place, ResponseCache, cache_key
from akinai.runtime.session import clock_us

Noted = Callable[[], Mapping[str, Json]]
"""What is to be noted beside the next call, by names that no call has; told once."""


class Asking:
    """The model calls of one run. Its askers share the meter, the trace and the cache."""

    def __init__(
        self,
        run_id: str,
        seed: int,
        book: TraceBook,
        meter: Meter,
        *,
        cache: ResponseCache | None = None,
        clock: Callable[[], int] = clock_us,
    ) -> None:
        """`seed` is the run's, a part of the cache's keys; `clock` gives microseconds since the epoch."""
        self.run_id, self.seed, self.meter, self.cache, self.clock = run_id, seed, meter, cache, clock
        self.book = book
        self._lines: dict[str, _Line] = {}

    def asker(self, actor: str, model: Model, noted: Noted | None = None) -> Asker:
        """Where an actor's requests go; all its askers count its calls together. `noted` tells before each call what
        the trace should keep beside it. UsageError as `Meter.expect`."""
        self.meter.expect(model.name)
        if isinstance(model, Labelled):
            model = model.labelled(f"{self.run_id}/{actor}")
        return _ModelAsker(self, self._lines.setdefault(actor, _Line(actor)), model, noted)


@runtime_checkable
class Labelled(Protocol):
    """A model that tells its provider which requests belong together."""

    def labelled(self, label: str) -> Model:
        """The same model for one conversation."""
        ...


class _Line:
    """The calls of one actor, one after the other."""

    def __init__(self, actor: str) -> None:
        self.actor = actor
        self.made = 0
        """Calls made or repeated so far."""
        self.turn = asyncio.Lock()
        """Held by the call under way: their numbers must be the same when the run is resumed."""
        self.recorded: Sequence[Call] | None = None
        """Those in the trace when the first was asked; None before."""
        self.prompts = Prompts()

    async def look_up(self, run_id: str, book: TraceBook) -> Sequence[Call]:
        """The recorded calls, read when they are first needed. AgentError for a damaged trace."""
        if self.recorded is None:
            prompts = Prompts()
            recorded = [prompts.read(one) async for one in book.read_trace(run_id, self.actor) if is_call(one)]
            if [call.number for call in recorded] != list(range(1, len(recorded) + 1)):
                raise AgentError(f"the trace of {self.actor!r} in run {run_id!r} lacks calls; fork the run instead")
            self.recorded, self.prompts = recorded, prompts
        return self.recorded


class _ModelAsker:
    """An actor's way to one model."""

    def __init__(self, asking: Asking, line: _Line, model: Model, noted: Noted | None) -> None:
        self._asking, self._line, self._model = asking, line, model
        self._noted: Noted = noted or dict

    async def ask(self, request: Request) -> Reply:
        """The reply to this actor's next call: recorded, or made now and recorded.

        EndRun when the budget is spent; AgentError when the trace has another request at this place, or ModelError.
        """
        line, asking = self._line, self._asking
        async with line.turn:
            notes = self._noted()
            recorded = await line.look_up(asking.run_id, asking.book)
            number = line.made + 1
            if number <= len(recorded):
                reply = self._again(recorded[number - 1], request)
            else:
                reply = await self._anew(request, number, notes)
            line.made = number
            return reply

    def _again(self, call: Call, request: Request) -> Reply:
        if call.digest != request.digest:
            raise AgentError(
                f"call {call.number} of {call.actor!r} is recorded with the request {call.digest[:12]} and is now made "
                f"with {request.digest[:12]}: what the model is shown has changed since; fork the run instead"
            )
        if not call.reply.from_cache:
            self._asking.meter.count(call.model, call.reply.usage)
        return call.reply

    async def _anew(self, request: Request, number: int, notes: Mapping[str, Json]) -> Reply:
        asking, line, model = self._asking, self._line, self._model
        asking.meter.check(model.name)
        reply = _settled(await self._reply(request, number))
        piece = line.prompts.piece(request)
        data = {**notes, **line.prompts.told(piece, request, reply, model.name)}
        await asking.book.add_trace(asking.run_id, [TraceRecord(line.actor, number, asking.clock(), data)])
        line.prompts.learn(piece, request, reply)
        if not reply.from_cache:
            asking.meter.count(model.name, reply.usage)
        return reply

    async def _reply(self, request: Request, number: int) -> Reply:
        cache, model = self._asking.cache, self._model
        if cache is None:
            return await model.reply(request)
        key = cache_key(request.digest, model, Place(self._asking.seed, self._line.actor, number))
        found = await cache.find(key)
        if found is not None:
            return found
        reply = await model.reply(request)
        await cache.keep(key, reply)
        return reply


def _settled(reply: Reply) -> Reply:
    """The reply as the trace will give it back: whoever hears it now hears what is heard on a resume."""
    return replace(reply, calls=tuple(replace(one, arguments=settled(one.arguments)) for one in reply.calls))


async def read_calls(book: TraceBook, run_id: str, actor: str | None = None) -> list[Call]:
    """The model calls of a run, or of one actor in it, with their full prompts."""
    return list(calls_in([record async for record in book.read_trace(run_id, actor)]))
