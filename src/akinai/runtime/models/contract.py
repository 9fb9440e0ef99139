"""The contract with a server: what a request may hold. An option that the server refuses is changed in all later ones.

A refusal names what it refuses. That part of the request is renamed, simplified or left out, once; the change is
remembered for the server and model of an open model, and its run card says so.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from akinai.runtime.models.folding import as_table, as_tables, fold_tools, tools_limit
from akinai.runtime.models.redact import redact_keys

Body = dict[str, Any]

REFUSED = (400, 422)
"""How servers answer a request that holds something they do not take."""
TEMPLATE_REFUSED = (*REFUSED, 500)
"""How they answer a conversation that the model's chat template does not take."""
SERVERS = "servers"
"""The key of a card for what the servers of models refused and what was sent in place of it, by model."""
REASON_LIMIT = 160
"""Characters of a refusal that the run card repeats."""

_ESSENTIAL = frozenset({"model", "messages", "tools", "input", "system", "options", "prompt"})
"""Parts of a request that are not left out."""
_COMMON_WORDS = frozenset({"user", "stop", "stream", "format", "metadata", "n", "think", "seed", "store"})
"""Options whose names are words that a refusal may use otherwise."""
_LIMITS = ("max_tokens", "max_completion_tokens", "num_predict")

_CONTEXT = re.compile(
    r"context[_ ](?:length|window|size)|maximum context"
    r"|(?:prompt|input|request|messages?) (?:is |are )?too (?:long|large)"
    r"|too many (?:input )?tokens|reduce the length|exceeds? the (?:available|model'?s?) context"
    r"|input length.{0,40}exceed|exceed_context_size|prompt_too_long"
)
_FILTER = re.compile(
    r"content[_ ]filter|content management policy|responsible ?ai ?policy|content[_ ]policy|safety (?:system|filter)"
    r"|data_inspection_failed|sensitive content|contentfilter|moderation"
)
_ROLES = re.compile(r"alternat|after role|unexpected role|consecutive|last message role")
_SYSTEM = re.compile(
    r"(?:system|developer) (?:role|message|prompt|instruction)s?\b.{0,40}(?:not|n't|unsupported)|"
    r"(?:not support|unsupported|only support|invalid).{0,60}\bsystem\b.{0,20}(?:role|message|prompt)"
)
_CALL_IDS = re.compile(r"tool[_ ]?call[_ ]?ids?\b.{0,80}(?:length|must be a-z|alphanumeric|match|pattern|invalid)")
_EMPTY = re.compile(r"non-?empty|(?:must not|cannot|can't|may not) be (?:empty|blank)|empty (?:content|message|text)")
_SCHEMA = re.compile(r"anyof|oneof|allof|\$ref|\$defs|additionalproperties|json ?schema|schema")
_THOUGHTS = re.compile(r"reasoning_content|reasoning_details|\breasoning\b")
_MISSING = re.compile(
    r"missing|required|must be (?:passed|provided|present|sent)|must (?:include|contain)|pass(?:ed)? back"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's answer to a request that it does not take."""

    status: int
    text: str
    """The whole message, in lower case."""
    message: str
    """The message for people, without keys."""
    option: str = ""
    """The option that it names in a field of its own."""

    @property
    def of_context(self) -> bool:
        """Whether the prompt is too long."""
        return self.status in (*TEMPLATE_REFUSED, 413) and bool(_CONTEXT.search(self.text))

    @property
    def of_filter(self) -> bool:
        """Whether a content filter refused the prompt."""
        return self.status in (*REFUSED, 403, 451) and bool(_FILTER.search(self.text))

    def names(self, option: str) -> bool:
        """Whether the refusal is about an option of this name."""
        if self.option and re.split(r"[.\[]", self.option)[0] == option:
            return True
        name = re.escape(option)
        quoted = rf"['\"`]{name}['\"`]"
        told = (
            rf"(?:argument|parameter|param|field|option|property|input|key|body)s?(?: supplied| name)?[:.\s>-]+{name}\b"
        )
        denied = rf"\b{name}\b['\"`]?:? (?:is |are |was )?(?:not|unsupported|unknown|invalid|extra|unexpected|too)\b"
        bare = rf"(?<![\w.-]){name}(?![\w-])" if option not in _COMMON_WORDS else "(?!)"
        return bool(re.search("|".join((quoted, told, denied, bare)), self.text))


def refusal_in(status: int, body: bytes | str) -> Refusal:
    """The refusal in an answer's body, in any of the forms in which servers word it."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        answer: object = json.loads(text)
    except (ValueError, RecursionError):
        answer = text
    message, option = "", ""
    for holder in cast("list[object]", answer) if isinstance(answer, list) else [answer]:
        error: object = holder
        for _ in range(2):
            fields = as_table(error)
            option = option or str(fields.get("param") or "")
            error = fields.get("error") or fields.get("message") or fields.get("detail") or error
        message = message or (error if isinstance(error, str) else json.dumps(error))
    return Refusal(status, f"{message} {text}".lower(), " ".join(redact_keys(message).split()), option.lower())


@dataclass(frozen=True, slots=True)
class Concession:
    """A change of all requests to a server that refused a part of them."""

    name: str
    sentence: str
    """What is changed, for the run card."""
    change: Callable[[Body], object]
    """Changes a request's body in place."""


@dataclass(slots=True)
class PastAnswers:
    """whether a server was ever there and understood. What breaks then is likely to heal, and is asked for again."""

    any: bool = False
    """It ever answered anything."""
    readable: bool = False
    """It ever gave an answer that could be read."""


class Terms:
    """What one server takes for one model, as this process found out."""

    def __init__(self) -> None:
        self.past = PastAnswers()
        self.concessions: dict[str, tuple[Concession, str]] = {}
        """By name, with the refusal that led to it."""
        self.no_tools = ""
        """How the server refused all tools; empty for one that did not."""


@cache
def terms_of(server: str, model: str) -> Terms:
    """The terms of a server and model. All that this process opens of them share these: a refusal is met once."""
    return Terms()


class Contract:
    """The terms of a server for one open model, shared by its conversations, and what they changed in its requests."""

    def __init__(self, terms: Terms | None = None) -> None:
        self.terms = terms or Terms()
        self._needed: dict[str, str] = {}
        """A sentence for each concession that changed a request of this model."""
        self._remarks: dict[str, None] = {}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is changed in requests to the server and why, for the run card."""
        return (*self._needed.values(), *self._remarks)

    def remark(self, sentence: str) -> None:
        """Add a sentence for the run card."""
        self._remarks[sentence] = None

    def fit(self, content: bytes) -> bytes:
        """The body of a request as the server takes it."""
        concessions = [*self.terms.concessions.values()]
        if not concessions:
            return content
        body = _body(content)
        original = before = json.dumps(body)
        for concession, said in concessions:
            concession.change(body)
            after = json.dumps(body)
            if after != before:
                self._needed[concession.name] = f"{concession.sentence}; the server said: {said[:REASON_LIMIT]}"
            before = after
        return content if before == original else before.encode()

    def concede(self, content: bytes, sent: bytes, refusal: Refusal) -> bytes | None:
        """The body to send in place of one that was refused; None when nothing else can be sent.

        `content` is the original body and `sent` what was made of it.
        """
        again = self.fit(content)
        if again != sent:  # another conversation met the same refusal meanwhile
            return again
        if refusal.of_context or refusal.of_filter:
            return None
        for concession in _concessions(refusal, _body(sent)):
            if concession.name in self.conceded:
                continue
            self.terms.concessions[concession.name] = (concession, refusal.message)
            again = self.fit(content)
            if again != sent:
                return again
            self.withdraw({concession.name})
        return None

    def withdraw(self, names: "set[str]") -> None:
        """Forget concessions after which the server refused the request as before."""
        for name in names:
            self.terms.concessions.pop(name, None)
            self._needed.pop(name, None)

    @property
    def conceded(self) -> frozenset[str]:
        """The names of the concessions."""
        return frozenset([*self.terms.concessions])


def _concessions(refusal: Refusal, body: Body) -> Iterator[Concession]:
    """Everything that a refusal may mean, the most special meaning first."""
    text = refusal.text
    if refusal.status in TEMPLATE_REFUSED:
        if _SYSTEM.search(text):
            yield Concession("system", "the system's message is sent at the begin of the user's", _fold_system)
        if _ROLES.search(text):
            yield Concession("roles", "messages that follow one another in one role are joined", _join_roles)
    if refusal.status not in REFUSED:
        return
    if _CALL_IDS.search(text):
        yield Concession("ids", "ids of tool calls are sent as nine letters and digits", _shorten_ids)
    if _THOUGHTS.search(text):
        if _MISSING.search(text):
            yield Concession("thoughts", "calls without thinking are sent with an empty one", _add_thoughts)
        else:
            yield Concession("thoughts", "thinking is not sent back", _drop_thoughts)
    if _EMPTY.search(text):
        yield Concession("empty", "empty messages are sent as '(nothing)'", _fill_content)
    yield from _tool_concessions(refusal, body)
    yield from _limit_concessions(refusal, body)
    yield from _schema_concessions(refusal, body)
    for holder in (body, as_table(body.get("options"))):
        for option in holder:
            if option not in _ESSENTIAL and option not in _LIMITS and refusal.names(option):
                yield Concession(option, f"{option} is left out", _without(option))


def _tool_concessions(refusal: Refusal, body: Body) -> Iterator[Concession]:
    """A way to send more tools than a server takes."""
    limit = tools_limit(refusal.text, len(as_tables(body.get("tools"))))
    if limit is not None:
        whole = f"{limit - 1} tools are sent as they are, and the others folded into one"
        sentence = whole if limit > 1 else "all tools are sent folded into one"
        yield Concession(f"tools:{limit}", sentence, partial(fold_tools, limit=limit))


def _limit_concessions(refusal: Refusal, body: Body) -> Iterator[Concession]:
    """Ways to send the limit of a reply: under its other name, lowered to what the server allows, or not at all."""
    for option in _LIMITS:
        limit = body.get(option, as_table(body.get("options")).get(option))
        if not isinstance(limit, int) or not refusal.names(option):
            continue
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}.get(option)
        allowed = [int(number) for number in re.findall(r"\b\d{2,7}\b", refusal.text) if int(number) < limit]
        if other and (other in refusal.text or not allowed):
            yield Concession(f"limit:{other}", f"{option} is sent as {other}", _renamed(option, other))
        elif allowed:
            lowered = max(allowed)
            yield Concession(f"limit:{lowered}", f"{option} is {lowered} instead of {limit}", _lowered(option, lowered))
        yield Concession("limit", f"{option} is left out", _without(*_LIMITS))


def _schema_concessions(refusal: Refusal, body: Body) -> Iterator[Concession]:
    """Ways to send a schema: without unions, as the wish for any object, or not at all."""
    if not _SCHEMA.search(refusal.text):
        return
    if body.get("tools") and not refusal.names("response_format"):
        yield Concession("tool schemas", "unions in the parameters of tools are sent as their first kind", _plain_tools)
    wish = body.get("response_format")
    if isinstance(wish, dict):
        if "json_object" in refusal.text:
            yield Concession("schema:object", "a reply's schema is sent as json_object", _any_object)
        yield Concession("response_format", "response_format is left out", _without("response_format"))


def _body(content: bytes) -> Body:
    return as_table(json.loads(content))


def _messages(body: Body) -> list[dict[str, Any]]:
    return as_tables(body.get("messages"))


def _without(*options: str) -> Callable[[Body], object]:
    def change(body: Body) -> None:
        for option in options:
            body.pop(option, None)
            as_table(body.get("options")).pop(option, None)

    return change


def _renamed(option: str, other: str) -> Callable[[Body], object]:
    def change(body: Body) -> None:
        if option in body:
            body.setdefault(other, body.pop(option))

    return change


def _lowered(option: str, limit: int) -> Callable[[Body], object]:
    def change(body: Body) -> None:
        for holder in (body, as_table(body.get("options"))):
            if option in holder:
                holder[option] = min(holder[option], limit)

    return change


def _any_object(body: Body) -> None:
    if "response_format" in body:
        body["response_format"] = {"type": "json_object"}


def _plain_tools(body: Body) -> None:
    for tool in as_tables(body.get("tools")):
        holder = as_table(tool.get("function")) or tool
        for key in ("parameters", "input_schema"):
            if key in holder:
                holder[key] = _plain_schema(holder[key])


def _plain_schema(schema: Any) -> Any:
    """A schema without unions: of each the first kind that is not null."""
    if isinstance(schema, list):
        return [_plain_schema(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    table = cast("dict[str, Any]", schema)
    for union in ("anyOf", "oneOf"):
        kinds = [kind for kind in as_tables(table.get(union)) if kind != {"type": "null"}]
        if union in table:
            table = {**{key: value for key, value in table.items() if key != union}, **(kinds[0] if kinds else {})}
    table.pop("additionalProperties", None)
    return {key: _plain_schema(value) for key, value in table.items()}


def _fold_system(body: Body) -> None:
    """Put the system's text at the begin of the first user message."""
    messages = _messages(body)
    texts = [_text(message) for message in messages if message.get("role") in ("system", "developer")]
    others = [message for message in messages if message.get("role") not in ("system", "developer")]
    if not texts:
        return
    if not others or others[0].get("role") != "user":
        others.insert(0, {"role": "user", "content": ""})
    others[0] = {**others[0], "content": "\n\n".join(filter(None, [*texts, _text(others[0])]))}
    body["messages"] = others


def _join_roles(body: Body) -> None:
    """Join messages that follow one another in one role, and a user's with the result of a tool before it."""
    joined: list[dict[str, Any]] = []
    for message in _messages(body):
        last = joined[-1] if joined else {}
        roles = (last.get("role"), message.get("role"))
        calls = last.get("tool_calls") or message.get("tool_calls")
        if roles in (("user", "user"), ("tool", "user")) or (roles == ("assistant", "assistant") and not calls):
            last["content"] = "\n\n".join(filter(None, [_text(last), _text(message)]))
        else:
            joined.append(dict(message))
    body["messages"] = joined


def _shorten_ids(body: Body) -> None:
    for message in _messages(body):
        for call in as_tables(message.get("tool_calls")):
            call["id"] = _short_id(call.get("id"))
        if "tool_call_id" in message:
            message["tool_call_id"] = _short_id(message["tool_call_id"])


def _short_id(id: object) -> str:
    text = str(id)
    return text if re.fullmatch("[A-Za-z0-9]{9}", text) else hashlib.sha256(text.encode()).hexdigest()[:9]


def _fill_content(body: Body) -> None:
    for message in _messages(body):
        if message.get("content") in ("", None) and not message.get("tool_calls"):
            message["content"] = "(nothing)"
        elif message.get("content") == "":
            message["content"] = None


def _add_thoughts(body: Body) -> None:
    for message in _messages(body):
        if message.get("role") == "assistant" and message.get("tool_calls"):
            message.setdefault("reasoning_content", "")


def _drop_thoughts(body: Body) -> None:
    for message in _messages(body):
        for field in ("reasoning_content", "reasoning", "reasoning_details"):
            message.pop(field, None)


def _text(message: Mapping[str, Any]) -> str:
    content: object = message.get("content")
    if isinstance(content, str):
        return content
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    return "\n".join(str(as_table(block).get("text") or "") for block in blocks)
