"""A market's run as the database that the public system keeps of one, for its own analysis and tools.

Tables `agents`, `actions` and `logs`, each `(id, created_at, data, row_index)` with JSON in `data`. It holds all there
is, also what no agent was told: whole profiles, and the messages of every fetch.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.ledger import Ledger
from akinai.core.models import Message
from akinai.core.stores import RunHeader
from akinai.core.trace import Books
from akinai.core.worlds import Step, walk
from akinai.runtime.export import iso
from akinai.runtime.recorded import Call, calls_in, is_call
from akinai.worlds.market import Market, State
from akinai.worlds.market import actions as a
from akinai.worlds.market.state import Member
from akinai.worlds.market.times import read_time

TABLES = ("agents", "actions", "logs")
Data = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of one of the tables."""

    table: str
    id: str
    at: int
    data: Data


async def write_magentic(books: Books, header: RunHeader, path: Path) -> None:
    """Write a run of a market into a database that is not there yet.

    UsageError for a run of another world, a file that is there, and one that cannot be written.
    """
    if header.genesis.world != Market.name:
        raise UsageError(
            f"the format 'magentic' is for runs of {Market.name}, and {header.run_id!r} is one of "
            f"{header.genesis.world}; export it as jsonl or csv"
        )
    if path.exists():
        raise UsageError(f"{str(path)!r} is there already, and a database is not written over; name another with -o")
    ledger = Ledger(header.genesis, [entry async for entry in books.read(header.run_id)])
    calls = calls_in([record async for record in books.read_trace(header.run_id) if is_call(record)])
    part = path.with_name(f".{path.name}.saving")
    try:
        with closing(sqlite3.connect(part)) as database, database:
            _write(database, [*rows(ledger), *_calls(calls)])
        part.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"cannot write {str(path)!r}: {error}; name another file with -o") from error
    finally:
        part.unlink(missing_ok=True)


def _write(database: sqlite3.Connection, all_rows: Iterable[Row]) -> None:
    for table in TABLES:
        extra = "agent_embedding BLOB, " if table == "agents" else ""
        database.execute(
            f"CREATE TABLE {table} (id TEXT PRIMARY KEY, created_at TEXT NOT NULL, data TEXT NOT NULL, {extra}"
            "row_index INTEGER)"
        )
        database.execute(f"CREATE INDEX {table}_row_index_idx ON {table} (row_index)")
    places = Counter[str]()
    for row in all_rows:
        places[row.table] += 1
        told = json.dumps(row.data, ensure_ascii=False, allow_nan=False)
        database.execute(
            f"INSERT INTO {row.table} (id, created_at, data, row_index) VALUES (?, ?, ?, ?)",
            (row.id, iso(row.at), told, places[row.table]),
        )


def rows(ledger: Ledger) -> Iterator[Row]:
    """A ledger as rows of the public system.

    What that system does not know (waiting, leaving, replies that no action could be read from) and messages that were
    sent again under their key are logs: its analysis would not read the first and would count the second twice.
    """
    world = Market()
    steps = list(walk(world, ledger.genesis, ledger.entries))
    state = steps[-1].after if steps else world.begin(ledger.genesis)
    yield from _agents(state, steps)
    shared = _shared_ids(state)
    for step in steps:
        if spoken := _action(world, step, shared):
            yield Row("actions", f"action-{step.entry.seq}", step.entry.at, spoken)
        elif not isinstance(step.turn.action, a.Register):
            yield Row("logs", f"entry-{step.entry.seq}", step.entry.at, _log(step))


def _agents(state: State, steps: Iterable[Step[State]]) -> Iterator[Row]:
    joined = {step.entry.actor: step.entry.at for step in steps if isinstance(step.turn.action, a.Register)}
    for id in sorted(state.members, key=lambda id: (joined.get(id, state.at), id)):
        member = state.members[id]
        if member.role:
            yield Row("agents", id, joined.get(id, state.begin), whole_profile(member))


def whole_profile(member: Member) -> Data:
    """A profile with all that its agent's data holds, in the public form."""
    told = {"type": member.role, "id": member.id, **member.data}
    if member.role == "business":
        told = {"min_price_factor": 1.0, "progenitor_customer": "", **told}
    return {**cast("Data", dict(member.profile)), member.role: cast("Json", told)}


def _shared_ids(state: State) -> frozenset[str]:
    """Proposal ids that several businesses used: the public system knows ids without their senders."""
    counts = Counter(id for _, id in state.offers)
    return frozenset(id for id, count in counts.items() if count > 1)


def _action(world: Market, step: Step[State], shared: frozenset[str]) -> Data | None:
    entry, action, outcome = step.entry, step.turn.action, step.outcome
    index = cast("Mapping[str, Any]", outcome.data or {}).get("index", entry.seq)
    match action:
        case a.SendMessage() if not outcome.ok or index == entry.seq:
            parameters = _sent(entry.actor, entry.at, action, shared)
            content: Json = parameters
        case a.FetchMessages():
            parameters = {"type": "fetch_messages", **_settled(action)}
            content = _fetched(world, step, shared)
        case a.Search():
            parameters = {"type": "search", **_settled(action)}
            content = _found(world, step)
        case _:
            return None
    result: Data = {"content": content, "is_error": False, "metadata": {}}
    if not outcome.ok:
        error: Data = {"code": outcome.code, "message": outcome.text}
        result = {"content": {"error_type": outcome.code, **error}, "is_error": True, "metadata": {"error": error}}
    request: Data = {"name": entry.name, "parameters": parameters, "metadata": {}}
    return {"agent_id": entry.actor, "request": request, "result": result}


def _sent(sender: str, at: int, action: a.SendMessage, shared: frozenset[str]) -> Data:
    created = read_time(action.created_at) if action.created_at else None
    return {
        "type": "send_message",
        "from_agent_id": action.from_agent_id or sender,
        "to_agent_id": action.to_agent_id,
        "created_at": iso(at if created is None else created),
        "message": _message(action.message.model_dump(mode="json"), sender, action.to_agent_id, shared),
        "metadata": cast("Json", action.metadata),
    }


def _message(told: Data, sender: str, to: str, shared: frozenset[str]) -> Data:
    """A message as the public system reads one: times have a zone, and ids are of one business alone."""
    if told["type"] == "order_proposal":
        expires = read_time(str(told["expiry_time"])) if told.get("expiry_time") else None
        id = f"{sender}/{told['id']}" if told["id"] in shared else told["id"]
        return {**told, "id": id, "expiry_time": None if expires is None else iso(expires)}
    if told["type"] == "payment" and told["proposal_message_id"] in shared:
        return {**told, "proposal_message_id": f"{to}/{told['proposal_message_id']}"}
    return told


def _settled(action: a.FetchMessages | a.Search) -> Data:
    told = action.model_dump(mode="json")
    if told.get("after"):
        after = read_time(told["after"])
        told["after"] = None if after is None else iso(after)
    return told


def _fetched(world: Market, step: Step[State], shared: frozenset[str]) -> Json:
    told = cast("Mapping[str, Any]", world.told(step.after, step.turn, step.outcome).data or {})
    messages = [
        {**one, "message": _message(one["message"], one["from_agent_id"], one["to_agent_id"], shared)}
        for one in told.get("messages", ())
    ]
    return {"messages": messages, "has_more": bool(told.get("has_more"))}


def _found(world: Market, step: Step[State]) -> Json:
    told = cast("Mapping[str, Any]", world.told(step.after, step.turn, step.outcome).data or {})
    found = [whole_profile(step.after.members[one["id"]]) for one in told.get("businesses", ())]
    return {**told, "businesses": found}


def _log(step: Step[State]) -> Data:
    entry = step.entry
    data: Data = {
        "type": "action",
        "name": entry.name,
        "parameters": dict(entry.parameters),
        "heard": entry.outcome.text,
    }
    level = "info" if entry.outcome.ok else "warning"
    return {"level": level, "name": entry.name, "data": data, "metadata": {"agent_id": entry.actor}}


def _prompt(message: Message) -> Json:
    """A message of a prompt; what a tool answered is told by the user there."""
    role = "user" if message.speaker == "tool" else message.speaker
    return {"role": role, "content": message.text}


def _calls(calls: Iterable[Call]) -> Iterator[Row]:
    """Model calls, as the public system logs them."""
    for call in calls:
        provider, _, model = call.model.partition(":")
        data: Data = {
            "type": "llm_call",
            "success": True,
            "provider": provider,
            "model": call.reply.model or model,
            "duration_ms": 1000 * call.reply.latency_s,
            "token_count": call.reply.usage.input + call.reply.usage.output,
            "error_message": None,
            "prompt": [_prompt(one) for one in call.request.messages],
            "response": call.reply.text or json.dumps([asdict(one) for one in call.reply.calls], default=str),
            "response_format": None,
            "api_args": {},
        }
        told: Data = {"level": "debug", "name": "llm_call", "data": data, "metadata": {"agent_id": call.actor}}
        yield Row("logs", f"call-{call.actor}-{call.number}", call.at, told)
