"""The loop as a LangGraph graph: the same steps as nodes, with a checkpoint after each. LangGraph lives in this file.

SQLite keeps the checkpoints, or PostgreSQL where a DSN is named. A learning that was killed resumes at its node.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from akinai.core.errors import UsageError
from akinai.learning.loop.loop import STEPS, Job, Step, Watch, begin, check_resumable, next_step
from akinai.learning.loop.state import LoopState, StepName
from akinai.learning.playbook.errors import expect_package, load_package

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_PART = "learning as a graph"
_SQLITE = "a checkpoint in SQLite"
_POSTGRES = ("postgres://", "postgresql://")
_NO_END = 2**31 - 1
"""LangGraph's limit on steps: a learning ends by itself."""
_OVER = "over"

EDGES: dict[StepName, dict[str, StepName | None]] = {
    "generate": {"tried": "evaluate"},
    "evaluate": {"failure": "reflect", "success": "apply", "learned": "curate"},
    "reflect": {"new try": "generate", "another round": "reflect", "insights": "curate", "nothing found": "apply"},
    "curate": {"to be checked": "gate", "delta": "apply"},
    "gate": {"checked": "apply"},
    "apply": {"next batch": "generate", "to be judged": "select", "epoch done": "refine"},
    "refine": {"next epoch": "generate", "to be judged": "select", _OVER: None},
    "select": {"go on": "generate", "no better": "refine", _OVER: None},
}
"""The steps that may follow each step, by the name of the edge; `next_step` chooses one."""


class Checkpoint(TypedDict):
    """The content of a checkpoint."""

    state: str
    """The loop's state as JSON text in ASCII: every checkpointer stores that, and reading it loads no class."""


async def learn_in_graph(
    job: Job,
    saver: BaseCheckpointSaver[Any],
    thread: str,
    *,
    fresh: bool = False,
    last: bool = False,
    watch: Watch | None = None,
) -> LoopState:
    """Run the loop as a graph. An unfinished thread is resumed unless `fresh`.

    With `last` a finished thread returns its last state and does not begin anew: for callers that have work left to do
    with it, and delete it afterwards.

    MissingExtra without LangGraph; UsageError for a thread that was begun with other tasks, roles or settings.
    """
    config: Any = {"configurable": {"thread_id": thread}, "recursion_limit": _NO_END}
    graph = compiled(job, saver)
    before = await graph.aget_state(config)
    going = bool(before.next) and not fresh
    if last and not fresh and before.values and not going:
        state = _read(before.values)
        if state.over and state.fingerprint == job.fingerprint:
            return state
    if going:
        check_resumable(job, _read(before.values))
    else:
        await saver.adelete_thread(thread)
    first = None if going else _checkpoint(begin(job))
    async for updates in graph.astream(first, config, stream_mode="updates", durability="sync"):
        for step, update in updates.items():
            if watch:
                watch(cast("StepName", step), _read(update))
    return _read((await graph.aget_state(config)).values)


def compiled(job: Job, saver: BaseCheckpointSaver[Any] | None = None) -> Any:
    """The graph of a job. MissingExtra without LangGraph."""
    langgraph = load_package("langgraph.graph", _PART)
    graph = langgraph.StateGraph(Checkpoint)
    for name, step in STEPS.items():
        graph.add_node(name, _node(job, step))
        edges = {edge: langgraph.END if target is None else target for edge, target in EDGES[name].items()}
        graph.add_conditional_edges(name, _edge(job, name), edges)
    graph.add_edge(langgraph.START, "generate")
    return graph.compile(checkpointer=saver)


def mermaid(job: Job) -> str:
    """The graph as LangGraph draws it, in Mermaid syntax."""
    return cast("str", compiled(job).get_graph().draw_mermaid())


@asynccontextmanager
async def checkpointer(place: str) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """The store of checkpoints: SQLite in a file, or PostgreSQL by its DSN.

    MissingExtra without the packages; UsageError for a place that cannot be opened.
    """
    expect_package("langgraph", _PART)
    postgres = place.startswith(_POSTGRES)
    opened = _postgres_saver() if postgres else _sqlite_saver()
    async with AsyncExitStack() as stack:
        try:
            if not postgres:
                _expect_sqlite(place)
            saver = await stack.enter_async_context(opened.from_conn_string(place))
            await saver.setup()
        except Exception as error:  # sqlite3, psycopg or the system
            where = "in PostgreSQL" if postgres else repr(place)  # a DSN may hold a password
            why = " ".join(str(error).split())
            raise UsageError(f"the checkpoint {where} cannot be opened: {why}; name a file or a server") from error
        yield saver


def _sqlite_saver() -> Any:
    return load_package("langgraph.checkpoint.sqlite.aio", _SQLITE).AsyncSqliteSaver


def _postgres_saver() -> Any:
    try:
        return import_module("langgraph.checkpoint.postgres.aio").AsyncPostgresSaver
    except ImportError as error:
        raise UsageError(
            "a checkpoint in PostgreSQL needs langgraph-checkpoint-postgres, which is not installed; "
            "pip install 'akinai[learn-postgres]'"
        ) from error


def _expect_sqlite(place: str) -> None:
    """Raise the errors of sqlite3 here: on the package's own thread they would leave it running."""
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA schema_version")


def _node(job: Job, step: Step) -> Callable[[Checkpoint], Awaitable[Checkpoint]]:
    async def node(checkpoint: Checkpoint) -> Checkpoint:
        return _checkpoint(await step(job, _read(checkpoint)))

    return node


def _edge(job: Job, name: StepName) -> Callable[[Checkpoint], str]:
    """The name of the edge that the loop takes from a step."""
    names = {target: edge for edge, target in EDGES[name].items()}

    def edge(checkpoint: Checkpoint) -> str:
        return names[next_step(job, name, _read(checkpoint))]

    return edge


def _checkpoint(state: LoopState) -> Checkpoint:
    return {"state": json.dumps(state.to_json())}


def _read(checkpoint: Checkpoint) -> LoopState:
    return LoopState.from_json(json.loads(checkpoint["state"]))
