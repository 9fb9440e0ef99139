"""Records model calls: each is in the trace before its reply is used, and a resume reads it from there."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, Protocol, runtime_checkable

from akinai.core.canonical import Json, settled
from akinai.core.errors import AgentError, ContextLimit, ToolsRefused
from akinai.core.models import Asker, Model, Reply, Request
from akinai.core.stores import TraceBook, TraceRecord
from akinai.runtime.models.budget import Meter
from akinai.runtime.models.cache import CallSite, ResponseCache, ask
from akinai.runtime.play.session import clock_us
from akinai.runtime.play.trace_codec import ACTION, TOO_LONG, TOOLS_REFUSED, Call, TraceCodec, decode_calls, is_call

TakeNotes = Callable[[], Mapping[str, Json]]
"""Returns data for the next call's trace record, under keys that no call has; each note is returned once."""


class CallRecorder:
    """Records the model calls of one run. Its askers share the meter, the trace and the cache."""

    def __init__(
        self,
        run_id: str,
        seed: int,
        book: TraceBook,
        meter: Meter,
        *,
        cache: ResponseCache | None = None,
        clock: Callable[[], int] = clock_us,
        actions: Mapping[str, int] | None = None,
        window: int | None = None,
    ) -> None:
        """`seed` is the run's, a part of the cache keys; `clock` returns microseconds since the epoch.

        `actions` counts each actor's entries as they come, so that a call's record says which action it led to.
        `window` is the number of tokens that a resume gives each agent from its first new call on.
        """
        self.window = window
        self.run_id, self.seed, self.meter, self.cache, self.clock = run_id, seed, meter, cache, clock
        self.actions = actions
        self.book = book
        self._call_logs: dict[str, _CallLog] = {}

    def asker(self, actor: str, model: Model, take_notes: TakeNotes | None = None) -> Asker:
        """An actor's asker for a model; all askers of the actor number their calls together.

        `take_notes` is called before each call. UsageError as for `Meter.expect_price`.
        """
        self.meter.expect_price(model.name)
        if isinstance(model, Labelled):
            model = model.labelled(f"{self.run_id}/{actor}")
        return _RecordingAsker(self, self._call_logs.setdefault(actor, _CallLog(actor)), model, take_notes)


@runtime_checkable
class Labelled(Protocol):
    """A model that tells its provider which requests belong to the same conversation."""

    def labelled(self, label: str) -> Model:
        """The same model for one conversation."""
        ...


class _CallLog:
    """The calls of one actor, in order."""

    def __init__(self, actor: str) -> None:
        self.actor = actor
        self.count = 0
        """Number of calls so far, those read from the trace included."""
        self.lock = asyncio.Lock()
        """Held during a call, since a resume must give calls the same numbers."""
        self.recorded: Sequence[Call] | None = None
        """Calls that an earlier process left in the trace; None until they are read."""
        self.codec = TraceCodec()
        self.window: int | None = None
        """The window that the agent was told last; None for that of its own options."""
        self.too_long: list[int | None] = []
        """The context limits that the agent met since its last call."""
        self.tools_refused = False
        """Whether the server refused all tools since the last call."""
        self.notes: dict[str, Json] = {}
        """The notes of requests that met a context limit, for the record of the call that comes of them."""

    async def read(self, run_id: str, book: TraceBook) -> Sequence[Call]:
        """The recorded calls, read when they are first needed. AgentError for a damaged trace."""
        if self.recorded is None:
            codec = TraceCodec()
            records = book.read_trace(run_id, self.actor)
            recorded = [codec.decode(record) async for record in records if is_call(record)]
            if [call.number for call in recorded] != list(range(1, len(recorded) + 1)):
                raise AgentError(f"the trace of {self.actor!r} in run {run_id!r} lacks calls; fork the run instead")
            self.recorded, self.codec = recorded, codec
        return self.recorded


class _RecordingAsker:
    """Asks one model for one actor."""

    def __init__(self, recorder: CallRecorder, log: _CallLog, model: Model, take_notes: TakeNotes | None) -> None:
        self._recorder, self._log, self._model = recorder, log, model
        self._take_notes: TakeNotes = take_notes or dict

    async def ask(self, request: Request) -> Reply:
        """The reply to this actor's next call: read from the trace, or requested now and recorded.

        EndRun when the budget is spent. AgentError if the trace has another request under this number; ModelError.
        ContextLimit for a prompt that should be shorter, and ToolsRefused; the record of the call that comes of one
        repeats it.
        """
        log, recorder = self._log, self._recorder
        async with log.lock:
            log.notes |= self._take_notes()
            recorded = await log.read(recorder.run_id, recorder.book)
            number = log.count + 1
            if number <= len(recorded):
                call = recorded[number - 1]
                if len(log.too_long) < len(call.too_long):
                    self._limit(call.too_long[len(log.too_long)])
                if call.tools_refused and request.tools:
                    raise ToolsRefused(f"the server of {call.model!r} took no tools at call {number}")
                reply = self._repeat(call, request)
            else:
                if recorder.window is not None and log.window != recorder.window:
                    self._limit(recorder.window)
                try:
                    reply = await self._call(request, number, log.notes)
                except ContextLimit:
                    log.too_long.append(None)
                    raise
                except ToolsRefused:
                    log.tools_refused = True
                    raise
            log.count, log.too_long, log.tools_refused, log.notes = number, [], False, {}
            return reply

    def _limit(self, window: int | None) -> NoReturn:
        """Tell the agent of a context limit: of its server, or of a window that a resume gives it."""
        log = self._log
        log.too_long.append(window)
        log.window = log.window if window is None else window
        raise ContextLimit(f"the window of {log.actor!r} is another from here on", window)

    def _repeat(self, call: Call, request: Request) -> Reply:
        if call.digest != request.digest:
            raise AgentError(
                f"call {call.number} of {call.actor!r} is recorded with the request {call.digest[:12]} and is now made "
                f"with {request.digest[:12]}: what the model is shown has changed since; fork the run instead"
            )
        if not call.reply.from_cache:
            self._recorder.meter.count(call.model, call.reply.usage)
        return call.reply

    async def _call(self, request: Request, number: int, notes: Mapping[str, Json]) -> Reply:
        recorder, log, model = self._recorder, self._log, self._model
        recorder.meter.check(model.name)
        site = CallSite(recorder.seed, log.actor, number)
        reply = _settled(await ask(recorder.cache, model, request, site))
        prompt = log.codec.prompt(request)
        data = {**notes, **log.codec.encode(prompt, request, reply, model.name)}
        if log.too_long:
            data[TOO_LONG] = [*log.too_long]
        if log.tools_refused:
            data[TOOLS_REFUSED] = True
        if recorder.actions is not None:
            data[ACTION] = recorder.actions.get(log.actor, 0) + 1
        await recorder.book.add_trace(recorder.run_id, [TraceRecord(log.actor, number, recorder.clock(), data)])
        log.codec.add(prompt, request, reply)
        if not reply.from_cache:
            recorder.meter.count(model.name, reply.usage)
        return reply


def _settled(reply: Reply) -> Reply:
    """The reply as the trace will return it, so that a resume gives the agent the same reply."""
    return replace(reply, calls=tuple(replace(call, arguments=settled(call.arguments)) for call in reply.calls))


async def read_calls(book: TraceBook, run_id: str, actor: str | None = None) -> list[Call]:
    """The model calls of a run, or of one actor in it, with their full prompts."""
    return list(decode_calls([record async for record in book.read_trace(run_id, actor)]))
