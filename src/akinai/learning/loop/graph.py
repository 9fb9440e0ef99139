"""The loop as a LangGraph graph: the same steps as nodes, with a checkpoint after each. LangGraph lives in this file.

SQLite keeps the checkpoints, or PostgreSQL where a DSN is named. A learning that was killed resumes at its node.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import TypedDict

from akinai.core.canonical import Json, bad_text_in
from akinai.core.errors import EndRun, UsageError
from akinai.core.untrusted.documents import why_unfit, why_unportable
from akinai.learning.extras import expect_package, load_package
from akinai.learning.loop.job import Job, Step, Watch, begin, check_resumable
from akinai.learning.loop.loop import edges, follower, steps
from akinai.learning.loop.state import LoopState

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_PART = "learning as a graph"
_POSTGRES = ("postgres://", "postgresql://")
_NO_END = 2**31 - 1
"""LangGraph's limit on steps: a learning ends by itself."""
_TEXT = "json"
"""The key of a field that is stored as the text of its JSON."""

Checkpoint = TypedDict("Checkpoint", dict.fromkeys(LoopState.__dataclass_fields__, Any), total=False)  # pyright: ignore[reportArgumentType] - the fields of a dataclass
"""The channels of a checkpoint: the fields of `LoopState` as JSON, each on its own."""


class GraphInput(TypedDict, total=False):
    """What a caller may hand to the graph; `{}` begins a learning where the thread holds none that is under way."""

    notes: dict[str, Any]
    """JSON for the job's own nodes."""


INTERRUPTED = "interrupted"
"""The ending of a learning in which a node waits for an answer."""


async def learn_in_graph(
    job: Job,
    saver: BaseCheckpointSaver[Any],
    thread: str,
    *,
    fresh: bool = False,
    last: bool = False,
    watch: Watch | None = None,
    answer: object = None,
    keep_history: bool = False,
) -> LoopState:
    """Run the loop as a graph. An unfinished thread is resumed unless `fresh`.

    EndRun when a node of the job interrupts it: it goes on with `answer` in the next call. With `keep_history` the
    checkpoints of earlier learnings stay in the thread.

    With `last` a finished thread returns its last state and does not begin anew: for callers that still work with the
    state and delete the thread afterwards.

    MissingExtra without LangGraph; UsageError for a thread that was begun with other tasks, roles or settings.
    """
    config: Any = {"configurable": {"thread_id": thread}, "recursion_limit": _NO_END}
    graph = compiled(job, saver)
    before = await graph.aget_state(config)
    closed = bool(before.values.get("closed"))
    resuming = False
    if "learning_id" in before.values and not closed and not fresh:
        state, resuming = _read(before.values), bool(before.next)
        if resuming:
            check_resumable(job, state)
        elif last and state.over and state.fingerprint == job.fingerprint:
            return state
    if not resuming and (fresh or not (keep_history and closed)):
        await saver.adelete_thread(thread)
    values, begun = dict(before.values), cast("Any", None if resuming else {})
    if resuming and answer is not None:
        begun = load_package("langgraph.types", _PART).Command(resume=answer)
    async for updates in graph.astream(begun, config, stream_mode="updates", durability="sync"):
        for step, update in updates.items():
            if step == "__interrupt__":
                continue
            values |= update or {}
            if watch:
                watch(step, _read(values))
    after = await graph.aget_state(config)
    if after.next:
        raise EndRun(INTERRUPTED)
    return _read(after.values)


async def close_thread(job: Job, saver: BaseCheckpointSaver[Any], thread: str, *, keep_history: bool = False) -> None:
    """Note that a learning is over and judged: delete its checkpoints, or with `keep_history` mark the last one."""
    if not keep_history:
        return await saver.adelete_thread(thread)
    graph, config = compiled(job, saver), {"configurable": {"thread_id": thread}}
    last = "select" if job.config.keep_best else "refine"
    return await graph.aupdate_state(config, {"closed": True}, as_node=last)


def compiled(job: Job, saver: BaseCheckpointSaver[Any] | None = None) -> Any:
    """The graph of a job, for LangGraph's own tools. MissingExtra without LangGraph.

    Its input is `GraphInput`. A node may call LangGraph's `interrupt`, and `Command(resume=...)` goes on.
    """
    langgraph = load_package("langgraph.graph", _PART)
    graph = langgraph.StateGraph(Checkpoint, input_schema=GraphInput)
    for name, step in steps(job).items():
        graph.add_node(name, _node(job, step))
        targets = {edge: langgraph.END if target is None else target for edge, target in edges(job, name).items()}
        graph.add_conditional_edges(name, _edge(job, name), targets)
    graph.add_edge(langgraph.START, "generate")
    return graph.compile(checkpointer=saver)


def mermaid(job: Job) -> str:
    """The graph as LangGraph draws it, in Mermaid syntax."""
    return cast("str", compiled(job).get_graph().draw_mermaid())


@asynccontextmanager
async def checkpointer(location: str) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """The store of checkpoints: SQLite in a file, or PostgreSQL by its DSN.

    MissingExtra without the packages; UsageError for a location that cannot be opened.
    """
    expect_package("langgraph", _PART)
    postgres = location.startswith(_POSTGRES)
    if postgres:
        names = ("a checkpoint in PostgreSQL", "learn-postgres", "langgraph-checkpoint-postgres")
        saver_class = load_package("langgraph.checkpoint.postgres.aio", *names).AsyncPostgresSaver
    else:
        saver_class = load_package("langgraph.checkpoint.sqlite.aio", "a checkpoint in SQLite").AsyncSqliteSaver
    async with AsyncExitStack() as stack:
        try:
            if not postgres:
                _expect_sqlite(location)
            saver = await stack.enter_async_context(saver_class.from_conn_string(location))
            await saver.setup()
        except UsageError:
            raise
        except Exception as error:  # sqlite3, psycopg or the system
            where = "in PostgreSQL" if postgres else repr(location)  # a DSN may hold a password
            why = " ".join(str(error).split())
            raise UsageError(f"the checkpoint {where} cannot be opened: {why}; name a file or a server") from error
        yield saver


def _expect_sqlite(file: str) -> None:
    """Raise the errors of sqlite3 here: on the package's own thread they would leave it running. UsageError for a file
    that is none, or that Windows cannot hold."""
    path = Path(file)
    if why := why_unfit(path.stat().st_mode, 0) if path.exists() else why_unportable(path.name):
        raise UsageError(f"the checkpoint {file!r} cannot be opened: {why}")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA schema_version")


def _node(job: Job, step: Step) -> Callable[[Checkpoint], Awaitable[Checkpoint]]:
    """A node of LangGraph: it returns the fields that its step changed."""

    async def node(checkpoint: Checkpoint) -> Checkpoint:
        before = _begin_at(job, checkpoint)
        after = await step(job, before)
        values = {name: _stored(value) for name, value in after.to_json().items()}
        held = cast("Mapping[str, Json]", checkpoint)
        changed = {name: value for name, value in values.items() if name not in held or held[name] != value}
        return cast("Checkpoint", changed)

    return node


def _begin_at(job: Job, checkpoint: Checkpoint) -> LoopState:
    """The state in a checkpoint; that of a new learning where it holds none, or one that is over and judged."""
    if "learning_id" not in checkpoint:
        return replace(begin(job), notes=dict(checkpoint.get("notes", {})))
    state = _read(checkpoint)
    return begin(job) if state.closed else state


def _edge(job: Job, name: str) -> Callable[[Checkpoint], str]:
    """The name of the edge that the loop takes from a step."""
    names = {target: edge for edge, target in edges(job, name).items()}

    def edge(checkpoint: Checkpoint) -> str:
        return names[follower(job, name, _read(checkpoint))]

    return edge


def _read(checkpoint: Checkpoint | Mapping[str, Json]) -> LoopState:
    """The state in a checkpoint. UsageError for a checkpoint of another form."""
    try:
        return LoopState.from_json({name: _restored(cast("Json", value)) for name, value in checkpoint.items()})
    except ValueError as error:
        raise UsageError("the checkpoint is of another version of Akinai; begin anew (--fresh)") from error


def _stored(value: Json) -> Json:
    """A field as every checkpointer stores it: one with text that none does, half a surrogate pair from a model, is
    JSON in ASCII."""
    return {_TEXT: json.dumps(value)} if bad_text_in(value) or _is_text(value) else value


def _restored(value: Json) -> Json:
    """The field of `_stored`."""
    return json.loads(cast("Mapping[str, str]", value)[_TEXT]) if _is_text(value) else value


def _is_text(value: Json) -> bool:
    return isinstance(value, Mapping) and set(value) == {_TEXT}
