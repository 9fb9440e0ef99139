"""The loop as a LangGraph graph: the same steps as nodes, with a checkpoint after each. LangGraph lives in this file.

SQLite keeps the checkpoints, or PostgreSQL where a DSN is named. A learning that was killed goes on at its node.
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
from akinai.learning.extras import load, need
from akinai.learning.loop import STEPS, Course, Step, Watch, begin, follows, going_on
from akinai.learning.loop_records import State, StepName

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_PART = "learning as a graph"
_SQLITE = "a checkpoint in SQLite"
_POSTGRES = ("postgres://", "postgresql://")
_NO_END = 2**31 - 1
"""Steps that LangGraph lets a run take: a learning ends by itself."""
_OVER = "over"

EDGES: dict[StepName, dict[str, StepName | None]] = {
    "generate": {"tried": "evaluate"},
    "evaluate": {"failure": "reflect", "success": "apply", "learned": "curate"},
    "reflect": {"new try": "generate", "another round": "reflect", "insights": "curate", "nothing found": "apply"},
    "curate": {"to be checked": "gate", "delta": "apply"},
    "gate": {"checked": "apply"},
    "apply": {"next batch": "generate", "epoch done": "refine"},
    "refine": {"next epoch": "generate", _OVER: None},
}
"""Where each step may lead, and what the way is called; `follows` decides which is gone."""


class Kept(TypedDict):
    """What a checkpoint holds."""

    state: str
    """The loop's state as JSON text in ASCII: every checkpointer keeps that, and no class has to be loaded for it."""


async def learn_in_graph(
    course: Course,
    saver: BaseCheckpointSaver[Any],
    thread: str,
    *,
    anew: bool = False,
    last: bool = False,
    watch: Watch | None = None,
) -> State:
    """Run the loop as a graph, and go on where the thread stopped when it is unfinished, unless `anew`.

    With `last` a thread that is finished gives its last state back and is not begun anew: for whoever has something
    left to do with it, and deletes it then.

    MissingExtra without LangGraph; UsageError for a thread that was begun with other tasks, roles or another plan.
    """
    config: Any = {"configurable": {"thread_id": thread}, "recursion_limit": _NO_END}
    graph = compiled(course, saver)
    before = await graph.aget_state(config)
    going = bool(before.next) and not anew
    if last and not anew and before.values and not going:
        state = _read(before.values)
        if state.over and state.course == course.fingerprint:
            return state
    if going:
        going_on(course, _read(before.values))
    else:
        await saver.adelete_thread(thread)
    first = None if going else _kept(begin(course))
    async for told in graph.astream(first, config, stream_mode="updates", durability="sync"):
        for step, update in told.items():
            if watch:
                watch(cast("StepName", step), _read(update))
    return _read((await graph.aget_state(config)).values)


def compiled(course: Course, saver: BaseCheckpointSaver[Any] | None = None) -> Any:
    """The graph of a course. MissingExtra without LangGraph."""
    langgraph = load("langgraph.graph", _PART)
    graph = langgraph.StateGraph(Kept)
    for name, step in STEPS.items():
        graph.add_node(name, _node(course, step))
        ways = {way: langgraph.END if target is None else target for way, target in EDGES[name].items()}
        graph.add_conditional_edges(name, _edge(course, name), ways)
    graph.add_edge(langgraph.START, "generate")
    return graph.compile(checkpointer=saver)


def drawn(course: Course) -> str:
    """The graph as LangGraph draws it, in Mermaid's words."""
    return cast("str", compiled(course).get_graph().draw_mermaid())


@asynccontextmanager
async def checkpointer(place: str) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Where checkpoints are kept: SQLite in a file, or PostgreSQL by its DSN.

    MissingExtra without the packages; UsageError for a place that cannot be opened.
    """
    need("langgraph", _PART)
    postgres = place.startswith(_POSTGRES)
    opened = _postgres_saver() if postgres else load("langgraph.checkpoint.sqlite.aio", _SQLITE).AsyncSqliteSaver
    async with AsyncExitStack() as stack:
        try:
            if not postgres:
                _expect_sqlite(place)
            saver = await stack.enter_async_context(opened.from_conn_string(place))
            await saver.setup()
        except Exception as error:  # of sqlite3, of psycopg or of the system
            where = "in PostgreSQL" if postgres else repr(place)  # a DSN may hold a password
            why = " ".join(str(error).split())
            raise UsageError(f"the checkpoint {where} cannot be opened: {why}; name a file or a server") from error
        yield saver


def _postgres_saver() -> Any:
    try:
        return import_module("langgraph.checkpoint.postgres.aio").AsyncPostgresSaver
    except ImportError as error:
        raise UsageError(
            "a checkpoint in PostgreSQL needs langgraph-checkpoint-postgres, which is not installed; "
            "pip install 'akinai[learn-postgres]'"
        ) from error


def _expect_sqlite(place: str) -> None:
    """An error of sqlite3 here, and not on the thread of the package, which would not end."""
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA schema_version")


def _node(course: Course, step: Step) -> Callable[[Kept], Awaitable[Kept]]:
    async def node(kept: Kept) -> Kept:
        return _kept(await step(course, _read(kept)))

    return node


def _edge(course: Course, name: StepName) -> Callable[[Kept], str]:
    """The name of the way that the loop goes on from a step."""
    names = {target: way for way, target in EDGES[name].items()}

    def way(kept: Kept) -> str:
        return names[follows(course, name, _read(kept))]

    return way


def _kept(state: State) -> Kept:
    return {"state": json.dumps(state.to_json())}


def _read(kept: Kept) -> State:
    return State.from_json(json.loads(kept["state"]))
