"""The transport between LangChain and a provider's own package, and the repair of tool calls that neither can read.

LangChain moves calls with unreadable arguments behind the others, and fails on arguments that are JSON but no object.
Here such arguments are wrapped in an object before LangChain sees them, and unwrapped after.
"""

import asyncio
import json
import re
import ssl
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, cast

from akinai.core.canonical import Json, canonical, no_constant
from akinai.runtime.models.contract import TEMPLATE_REFUSED, Contract, refusal_in
from akinai.runtime.models.folding import as_table, as_tables, unfold_call

if TYPE_CHECKING:
    import httpx

_Form = Literal["text", "object", "wrapped"]
"""How a package takes arguments. The one for Ollama decodes texts in them that look like JSON, so all are wrapped."""

WRAPPER = "unreadable_arguments"
"""The only key of an object that holds arguments which are no object."""

THOUGHT = "akinai_thought"
"""The kind of a content block that holds a thought on its way back to its server."""
FIELD = "field"
"""The key of a thought for the field of the message in which its server wrote it; a block of content has none."""

CALLS_A_POOL = 16
"""Simultaneous calls per connection pool: a pool looks at each of its connections for every call."""

_BODY_HEADERS = ("content-length", "content-encoding", "transfer-encoding")
"""Headers that describe the original body."""


def repairing_client(client: Any, contract: Contract) -> "type[httpx.AsyncClient]":
    """A provider's HTTP client class whose requests are what the server takes and whose responses can be read.

    It opens connection pools as needed.
    """
    base: type[httpx.AsyncClient] = client

    class RepairingClient(base):
        def __init__(self, **options: Any) -> None:
            options["verify"] = certificates(base, trust_env=options["trust_env"])
            super().__init__(**options)
            self._pools: list[httpx.AsyncClient] = []
            self._open_pool = lambda: base(**options)
            self._under_way = Counter[int]()

        async def _send(self, request: "httpx.Request", **options: Any) -> "httpx.Response":
            index = next(index for index in count() if self._under_way[index] < CALLS_A_POOL)
            if index == len(self._pools):
                self._pools.append(self._open_pool())
            self._under_way[index] += 1
            try:
                response = await self._pools[index].send(request, **options)
                contract.terms.past.any = True
                return response
            finally:
                self._under_way[index] -= 1

        async def aclose(self) -> None:
            await asyncio.gather(super().aclose(), *(pool.aclose() for pool in self._pools))

        async def send(self, request: "httpx.Request", **options: Any) -> "httpx.Response":
            response = await self._negotiate(request, **options)
            if options.get("stream") or not response.is_success:
                return response
            status, body = read_answer(response.content, response.charset_encoding)
            if status == response.status_code and body is response.content:
                return response
            return _replaced(response, status, body)

        async def _negotiate(self, request: "httpx.Request", **options: Any) -> "httpx.Response":
            """Send a request, and send it again for as long as the server refuses a part that can be changed."""
            content, before = request.content, contract.conceded
            sent, refused = contract.fit(content) if content else content, ""
            response = await self._send(_with_body(request, sent), **options)
            while content and response.status_code in TEMPLATE_REFUSED:
                await response.aread()
                refusal = refusal_in(response.status_code, response.content)
                again = contract.concede(content, sent, refusal)
                if again is None:
                    if refusal.message == refused:
                        contract.withdraw({*contract.conceded - before})
                    break
                sent, refused = again, refusal.message
                response = await self._send(_with_body(request, sent), **options)
            return response

    return RepairingClient


@cache
def certificates(client: type[Any], *, trust_env: bool) -> ssl.SSLContext:
    """Those that a kind of HTTP client trusts, read once: each reading takes as long as a hundred calls."""
    package = sys.modules[client.__mro__[-2].__module__.partition(".")[0]]  # httpx, or one made from it
    return package.create_ssl_context(trust_env=trust_env)


def _with_body(request: "httpx.Request", body: bytes) -> "httpx.Request":
    if body == request.content:
        return request
    headers = [pair for pair in request.headers.multi_items() if pair[0].lower() not in _BODY_HEADERS]
    return type(request)(request.method, request.url, headers=headers, content=body, extensions=request.extensions)


def _replaced(response: "httpx.Response", status: int, body: bytes) -> "httpx.Response":
    headers = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _BODY_HEADERS]
    headers.append(("content-type", "application/json"))
    return type(response)(status, headers=headers, content=body, request=response.request)


class DirectCompletions:
    """OpenAI's `completions` resource, which sends messages and tools as LangChain made them.

    The package would search both for names to change and find none, which takes four fifths of a call's CPU time.
    """

    def __init__(self, resource: Any) -> None:
        self._resource = resource

    @property
    def with_raw_response(self) -> "DirectCompletions":
        return DirectCompletions(self._resource.with_raw_response)

    async def create(self, *, messages: Any, extra_body: Mapping[str, Any] | None = None, **options: Any) -> Any:
        body = {
            "messages": [*map(_with_thoughts, messages)],
            **({"tools": options.pop("tools")} if "tools" in options else {}),
        }
        return await self._resource.create(messages=[], extra_body={**body, **(extra_body or {})}, **options)


def _with_thoughts(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message whose thoughts are in the fields in which its server wrote them."""
    content = message.get("content")
    if not isinstance(content, list) or message.get("role") != "assistant":
        return message
    blocks = as_tables(cast("object", content))
    thoughts = [as_table(block.get(THOUGHT)) for block in blocks if block.get("type") == THOUGHT]
    others = [block for block in blocks if block.get("type") != THOUGHT]
    if not thoughts:
        return message
    fields = {block[FIELD]: block.get("raw", block["thinking"]) for block in thoughts if block.get(FIELD) != "content"}
    parts = [{**block, FIELD: None} for block in thoughts if block.get(FIELD) == "content"]
    for part in parts:
        del part[FIELD]
    text = "".join(str(block.get("text") or "") for block in others)
    return {**message, "content": [*parts, *others] if parts else text or None, **fields}


class UnreadableAnswer(ValueError):
    """A server's answer that holds no reply."""

    def __init__(self, message: str, *, temporary: bool = False) -> None:
        """`temporary` for one that another try may mend."""
        super().__init__(message)
        self.temporary = temporary


def read_answer(body: bytes, encoding: str | None = None) -> tuple[int, bytes]:
    """An answer with status 200 as its provider's package can read it: its true status and its body.

    Handles chat completions and responses of OpenAI, and messages of Anthropic and Ollama. What fits is returned
    unchanged. UnreadableAnswer for a body that holds no reply.
    """
    answer = _parsed(body, encoding)
    error = answer.get("error")
    if error and not answer.get("choices"):
        return _error_status(error), body
    if "choices" in answer:
        _expect_message(answer)
    elif answer.keys().isdisjoint({"output", "content", "data", "message", "object"}):
        raise UnreadableAnswer(f"the answer has no choices, only {', '.join(answer) or 'an empty object'}")
    repaired = [_repair_message(choice) for choice in as_tables(answer.get("choices"))]
    unfolded = [unfold_call(function) for function, key, _ in _calls_in(answer) if key == "arguments"]
    wrapped = [_wrap_arguments(*call) for call in _calls_in(answer)]
    plain = not any((*repaired, *unfolded, *wrapped)) and _plain_utf8(body)
    return 200, body if plain else json.dumps(answer).encode()


def _plain_utf8(body: bytes) -> bool:
    """Whether the body is JSON in UTF-8 as it is."""
    try:
        return body.lstrip()[:1] == b"{" and bool(body.decode())
    except UnicodeDecodeError:
        return False


def _parsed(body: bytes, encoding: str | None) -> dict[str, Any]:
    """The object in an answer. UnreadableAnswer says what is there in its place."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = body.decode(encoding or "latin-1")
        except (LookupError, UnicodeDecodeError):
            text = body.decode("latin-1")
    if not text.strip():
        raise UnreadableAnswer("the answer is empty")
    if text.lstrip().startswith("data:"):
        return _assembled(text)
    try:
        answer: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswer(f"the answer is no JSON but {page_words(text)!r:.200}") from error
    if not isinstance(answer, dict):
        raise UnreadableAnswer(f"the answer is a JSON {type(answer).__name__} and no object")
    return cast("dict[str, Any]", answer)


def page_words(text: str) -> str:
    """The words of a page of HTML: its title, or what it shows; any other text as it is."""
    if not text.lstrip().startswith("<"):
        return " ".join(text.split())
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
    shown = re.sub(r"<(style|script|head)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    words = [" ".join(part.split()) for part in (title[1] if title else "", shown)]
    return f"a page of HTML: {'; '.join(filter(None, words))}"


def _assembled(stream: str) -> dict[str, Any]:
    """The chat completion in a stream of server-sent events, which some servers send unasked."""
    answer: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    finish = None
    for line in stream.splitlines():
        try:
            chunk = as_table(json.loads(line.removeprefix("data:")))
        except (ValueError, RecursionError):
            continue
        answer |= {key: value for key, value in chunk.items() if key != "choices" and value is not None}
        for choice in as_tables(chunk.get("choices"))[:1]:
            delta = as_table(choice.get("delta"))
            finish = choice.get("finish_reason") or finish
            for field in ("content", "reasoning_content", "reasoning"):
                if isinstance(delta.get(field), str):
                    message[field] = message.get(field, "") + delta[field]
            for position, call in enumerate(as_tables(delta.get("tool_calls"))):
                _add_delta(calls.setdefault(call.get("index", position), {}), call)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**answer, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _add_delta(call: dict[str, Any], delta: dict[str, Any]) -> None:
    function, part = call.setdefault("function", {"name": "", "arguments": ""}), as_table(delta.get("function"))
    call |= {"id": delta.get("id") or call.get("id"), "type": "function"}
    for key in ("name", "arguments"):
        value = part.get(key)
        function[key] += value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _error_status(error: object) -> int:
    """The status that an error in an answer with status 200 means. UnreadableAnswer where it tells none."""
    fields = as_table(error)
    for key in ("code", "status", "status_code"):
        value = str(fields.get(key) or "")
        if value.isdecimal() and 400 <= int(value) < 600:
            return int(value)
    text = json.dumps(error)
    refusal = refusal_in(400, text)
    if refusal.of_context or refusal.of_filter:
        return 400
    if "insufficient_quota" in text:
        return 429
    message = fields.get("message") or error
    raise UnreadableAnswer(f"an error in an answer with status 200: {message}", temporary=True)


def _expect_message(answer: Mapping[str, Any]) -> None:
    choices = as_tables(answer.get("choices"))
    if not choices:
        raise UnreadableAnswer("the answer has no choices")
    if not isinstance(choices[0].get("message"), dict):
        raise UnreadableAnswer("the answer's choice has no message")


def _repair_message(choice: dict[str, Any]) -> bool:
    """Repair a message that LangChain could not read, and put its thinking into its content; whether it changed."""
    message = as_table(choice.get("message"))
    before = dict(message)
    if message and message.get("role") != "assistant":
        message["role"] = "assistant"
    if message.get("content") is not None and not isinstance(message["content"], str):
        message["content"] = _readable_content(message["content"])
    thoughts = [*_thoughts(message)]
    if thoughts:
        content: Any = message.get("content") or []
        message["content"] = [
            *thoughts,
            *([{"type": "text", "text": content}] if isinstance(content, str) else content),
        ]
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        message["tool_calls"] = [calls]
    renamed = [_text_id(call) for call in as_tables(message.get("tool_calls"))]
    return message != before or any(renamed)


def _readable_content(content: object) -> str | list[dict[str, Any]]:
    """Content that is no text: as text, or as blocks in which thinking names its field."""
    if not isinstance(content, list):
        text = as_table(content).get("text")
        return text if isinstance(text, str) else json.dumps(content)
    items = cast("list[object]", content)
    blocks = [as_table(item) or {"type": "text", "text": str(item)} for item in items]
    return [{**block, FIELD: "content"} if block.get("type") == "thinking" else block for block in blocks]


def _thoughts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The thinking in fields of a message beside its content, as blocks that name the field."""
    for field in ("reasoning_content", "reasoning"):
        if isinstance(message.get(field), str) and message[field]:
            yield {"type": "thinking", "thinking": message[field], FIELD: field}
    details = as_tables(message.get("reasoning_details"))
    if details:
        text = "".join(str(item.get("text") or item.get("summary") or "") for item in details)
        yield {"type": "thinking", "thinking": text, "raw": details, FIELD: "reasoning_details"}


def _text_id(call: dict[str, Any]) -> bool:
    """Make the id of a call text."""
    if call.get("id") is None or isinstance(call["id"], str):
        return False
    call["id"] = str(call["id"])
    return True


def wrap(arguments: Json) -> dict[str, Any]:
    """Arguments as an object, which servers require; arguments that are no object are wrapped in one."""
    if isinstance(arguments, Mapping):
        return dict(cast("Mapping[str, Any]", arguments))
    return {WRAPPER: arguments if isinstance(arguments, str) else canonical(arguments)}


def unwrap(arguments: object) -> Json:
    """Arguments as the model wrote them: an object, or text if they are no object or not canonical JSON."""
    if isinstance(arguments, dict):
        table = cast("dict[str, Any]", arguments)
        arguments = table[WRAPPER] if table.keys() == {WRAPPER} else table
    try:
        canonical(cast("Json", arguments))
    except (ValueError, TypeError, RecursionError):
        return str(arguments)
    return cast("Json", arguments)


def _calls_in(answer: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, _Form]]:
    """Every tool call in an answer: the object that holds its arguments, their key in it, and the form of them."""
    for choice in as_tables(answer.get("choices")):
        for call in as_tables(as_table(choice.get("message")).get("tool_calls")):
            yield as_table(call.get("function")), "arguments", "text"
    for item in as_tables(answer.get("output")):
        if item.get("type") == "function_call":
            yield item, "arguments", "text"
    for block in as_tables(answer.get("content")):
        if block.get("type") == "tool_use":
            yield block, "input", "object"
    for call in as_tables(as_table(answer.get("message")).get("tool_calls")):
        yield as_table(call.get("function")), "arguments", "wrapped"


def _wrap_arguments(holder: dict[str, Any], key: str, form: _Form) -> bool:
    """Wrap the arguments of a call that are no object; return whether anything changed."""
    arguments: object = holder.get(key)
    if form == "wrapped":
        holder[key] = {WRAPPER: arguments if isinstance(arguments, str) else json.dumps(arguments or {})}
        return True
    if form == "object":
        if arguments is None or isinstance(arguments, dict):
            return False
        holder[key] = {WRAPPER: arguments if isinstance(arguments, str) else json.dumps(arguments)}
        return True
    if arguments in (None, "") or (isinstance(arguments, str) and _is_object(arguments)):
        return False
    # Some servers send the object itself instead of its text.
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    holder[key] = text if isinstance(arguments, dict) else json.dumps({WRAPPER: text})
    return True


def _is_object(text: str) -> bool:
    try:
        # Not strict, as in LangChain: models write line breaks into strings.
        return isinstance(json.loads(text, strict=False, parse_constant=no_constant), dict)
    except (ValueError, RecursionError):
        return False
