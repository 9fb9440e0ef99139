"""A market run as tables of the public system's database, for the analysis and tools of that system.

The tables `agents`, `actions` and `logs` have the columns `(id, created_at, data, row_index)`, with JSON in `data`.
They hold all there is, also what no agent saw: whole profiles, and the messages of every fetch.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.facets import DatabaseTable, ModelCall
from akinai.core.ledger import Outcome
from akinai.core.models import Message
from akinai.core.steps import Step, Steps
from akinai.worlds.market.analysis.trades import deal_id, shared_ids
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Member, State
from akinai.worlds.market.model.units import iso, read_time
from akinai.worlds.market.rules import mail, verbs

Data = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of one of the tables."""

    id: str
    at: int
    data: Data


def export_magentic(steps: Steps[State], calls: Sequence[ModelCall]) -> Sequence[DatabaseTable]:
    """The three tables of a run. Their rows are made when they are read, each table's in a pass of its own."""
    joined = {step.entry.actor: step.entry.at for step in steps if isinstance(step.turn.action, a.Register)}
    agents, shared = list(_agents(steps.final, joined)), shared_ids(steps.final)
    return [
        _table("agents", agents),
        _table("actions", _actions(steps, shared)),
        _table("logs", chain(_logs(steps), _calls(calls))),
    ]


def _table(name: str, of_table: Iterable[Row]) -> DatabaseTable:
    embedding = {"agent_embedding": "BLOB"} if name == "agents" else {}
    columns = {"id": "TEXT PRIMARY KEY", "created_at": "TEXT NOT NULL", "data": "TEXT NOT NULL", **embedding}
    values = (
        {"id": row.id, "created_at": iso(row.at), "data": _json(row.data), "row_index": number}
        for number, row in enumerate(of_table, 1)
    )
    return DatabaseTable(name, {**columns, "row_index": "INTEGER"}, values, indexes=("row_index",))


def _json(data: Data) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def _actions(steps: Steps[State], shared: frozenset[str]) -> Iterator[Row]:
    for step in steps:
        if _is_action(step):
            yield Row(f"action-{step.entry.seq}", step.entry.at, _action(step, shared))


def _logs(steps: Steps[State]) -> Iterator[Row]:
    """Actions unknown to the public system (waiting, leaving, unreadable replies), and messages that were sent again
    under their key: its analysis would not read the former and would count the latter twice."""
    for step in steps:
        if not (isinstance(step.turn.action, a.Register) or _is_action(step)):
            yield Row(f"entry-{step.entry.seq}", step.entry.at, _log(step))


def _agents(state: State, joined: Mapping[str, int]) -> Iterator[Row]:
    """`joined` are the times at which agents registered."""
    for id in sorted(state.members, key=lambda id: (joined.get(id, state.at), id)):
        member = state.members[id]
        if member.role:
            yield Row(id, joined.get(id, state.begin), whole_profile(member))


def whole_profile(member: Member) -> Data:
    """A profile with all the data of its agent, in the public form."""
    data = {"type": member.role, "id": member.id, **member.data}
    if member.role == "business":
        data = {"min_price_factor": 1.0, "progenitor_customer": "", **data}
    return {**cast("Data", dict(member.profile)), member.role: cast("Json", data)}


def _is_action(step: Step[State]) -> bool:
    """Whether the public system has an action for a step."""
    index = step.outcome.fields.get("index", step.entry.seq)
    match step.turn.action:
        case a.SendMessage():
            return not step.outcome.ok or index == step.entry.seq
        case action:
            return isinstance(action, a.FetchMessages | a.Search)


def _action(step: Step[State], shared: frozenset[str]) -> Data:
    entry, action, outcome = step.entry, step.turn.action, step.outcome
    parameters: Data = {}
    content: Json = {}
    match action:
        case a.SendMessage():
            parameters = _send_parameters(entry.actor, entry.at, action, shared)
            content = parameters
        case a.FetchMessages():
            parameters = {"type": "fetch_messages", **_settled(action)}
            content = _fetch_content(step, action, shared)
        case a.Search():
            parameters = {"type": "search", **_settled(action)}
            content = _search_content(step, action)
        case _:
            pass
    result: Data = {"content": content, "is_error": False, "metadata": {}}
    if not outcome.ok:
        error: Data = {"code": outcome.code, "message": outcome.text}
        result = {"content": {"error_type": outcome.code, **error}, "is_error": True, "metadata": {"error": error}}
    request: Data = {"name": entry.name, "parameters": parameters, "metadata": {}}
    return {"agent_id": entry.actor, "request": request, "result": result}


def _send_parameters(sender: str, at: int, action: a.SendMessage, shared: frozenset[str]) -> Data:
    created = read_time(action.created_at) if action.created_at else None
    return {
        "type": "send_message",
        "from_agent_id": action.from_agent_id or sender,
        "to_agent_id": action.to_agent_id,
        "created_at": iso(at if created is None else created),
        "message": _message(action.message.dumped(), sender, action.to_agent_id, shared),
        "metadata": cast("Json", action.metadata),
    }


def _message(message: Data, sender: str, to: str, shared: frozenset[str]) -> Data:
    """A message as the public system reads it: times have a zone, and ids belong to a single business."""
    if message["type"] == "order_proposal":
        expires = read_time(str(message["expiry_time"])) if message.get("expiry_time") else None
        return {
            **message,
            "id": deal_id(sender, str(message["id"]), shared),
            "expiry_time": None if expires is None else iso(expires),
        }
    if message["type"] == "payment":
        return {**message, "proposal_message_id": deal_id(to, str(message["proposal_message_id"]), shared)}
    return message


def _settled(action: a.FetchMessages | a.Search) -> Data:
    parameters = action.model_dump(mode="json")
    if parameters.get("after"):
        after = read_time(parameters["after"])
        parameters["after"] = None if after is None else iso(after)
    return parameters


def _fetch_content(step: Step[State], action: a.FetchMessages, shared: frozenset[str]) -> Json:
    data = _observed(step, mail.render_fetch(step.after, step.turn, action, step.outcome) if step.outcome.ok else None)
    messages = [
        {**sent, "message": _message(sent["message"], sent["from_agent_id"], sent["to_agent_id"], shared)}
        for sent in data.get("messages", ())
    ]
    return {"messages": messages, "has_more": bool(data.get("has_more"))}


def _search_content(step: Step[State], action: a.Search) -> Json:
    actor = step.turn.actor
    data = _observed(step, verbs.render_search(step.after, actor, action, step.outcome) if step.outcome.ok else None)
    profiles = [whole_profile(step.after.members[business["id"]]) for business in data.get("businesses", ())]
    return {**data, "businesses": profiles}


def _observed(step: Step[State], rendered: Outcome | None) -> Mapping[str, Any]:
    """The data that the actor saw: that of the rendered outcome, or of the one in the ledger."""
    return (rendered or step.outcome).fields


def _log(step: Step[State]) -> Data:
    entry = step.entry
    data: Data = {
        "type": "action",
        "name": entry.name,
        "parameters": dict(entry.parameters),
        "outcome": entry.outcome.text,
    }
    level = "info" if entry.outcome.ok else "warning"
    return {"level": level, "name": entry.name, "data": data, "metadata": {"agent_id": entry.actor}}


def _prompt(message: Message) -> Json:
    """A message of a prompt; a tool's answer has the role of the user there."""
    role = "user" if message.speaker == "tool" else message.speaker
    return {"role": role, "content": message.text}


def _calls(calls: Iterable[ModelCall]) -> Iterator[Row]:
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
            "prompt": [_prompt(message) for message in call.request.messages],
            "response": call.reply.text
            or json.dumps([asdict(tool_call) for tool_call in call.reply.calls], default=str),
            "response_format": None,
            "api_args": {},
        }
        log: Data = {"level": "debug", "name": "llm_call", "data": data, "metadata": {"agent_id": call.actor}}
        yield Row(f"call-{call.actor}-{call.number}", call.at, log)
