"""The transport between LangChain and a provider's own package, and the repair of tool calls that neither can read.

LangChain moves calls with unreadable arguments behind the others, and fails on arguments that are JSON but no object.
Here such arguments are wrapped in an object before LangChain sees them, and unwrapped after.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from akinai.core.canonical import Json, canonical

if TYPE_CHECKING:
    import httpx

WRAPPER = "unreadable_arguments"
"""The only key of an object that holds arguments which are no object."""

CALLS_A_POOL = 16
"""Simultaneous calls per connection pool: a pool looks at each of its connections for every call."""

_BODY_HEADERS = ("content-length", "content-encoding", "transfer-encoding")
"""Headers that describe the original body."""


def repairing_client(client: Any) -> "type[httpx.AsyncClient]":
    """A provider's HTTP client class whose responses have readable tool calls. It opens connection pools as needed."""
    base: type[httpx.AsyncClient] = client

    class RepairingClient(base):
        def __init__(self, **options: Any) -> None:
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
                return await self._pools[index].send(request, **options)
            finally:
                self._under_way[index] -= 1

        async def aclose(self) -> None:
            await asyncio.gather(super().aclose(), *(pool.aclose() for pool in self._pools))

        async def send(self, request: "httpx.Request", **options: Any) -> "httpx.Response":
            response = await self._send(request, **options)
            if options.get("stream") or not response.is_success:
                return response
            body = repair_body(response.content)
            if body is response.content:
                return response
            headers = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _BODY_HEADERS]
            return type(response)(response.status_code, headers=headers, content=body, request=request)

    return RepairingClient


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
        body = {"messages": messages, **({"tools": options.pop("tools")} if "tools" in options else {})}
        return await self._resource.create(messages=[], extra_body={**body, **(extra_body or {})}, **options)


def repair_body(body: bytes) -> bytes:
    """A provider's answer in which the arguments of every tool call are an object; other arguments are wrapped in one.

    Handles OpenAI's chat completions and responses, and Anthropic's messages. Any other body is returned unchanged.
    """
    if b"arguments" not in body and b"tool_use" not in body:
        return body
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return body
    changed = [_wrap_arguments(call) for call in _calls_in(_object(answer))]
    return json.dumps(answer).encode() if any(changed) else body


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


def _calls_in(answer: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every tool call in an answer: the object that holds its arguments, and their key in it."""
    for choice in _objects(answer.get("choices")):
        for call in _objects(_object(choice.get("message")).get("tool_calls")):
            yield _object(call.get("function")), "arguments"
    for item in _objects(answer.get("output")):
        if item.get("type") == "function_call":
            yield item, "arguments"
    for block in _objects(answer.get("content")):
        if block.get("type") == "tool_use":
            yield block, "input"


def _wrap_arguments(call: tuple[dict[str, Any], str]) -> bool:
    """Wrap the arguments of a call that are no object; return whether anything changed."""
    holder, key = call
    arguments: object = holder.get(key)
    if key == "input":
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
        return isinstance(json.loads(text, strict=False, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _objects(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
