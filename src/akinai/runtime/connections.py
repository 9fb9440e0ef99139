"""How requests and answers pass between LangChain and the provider's own package: direct, and readable."""

from collections.abc import Mapping
from typing import Any

from akinai.runtime.unread import readable

_OF_THE_OLD_BODY = ("content-length", "content-encoding", "transfer-encoding")
"""Headers that a changed body does not keep."""


def reading(base: type[Any]) -> type[Any]:
    """A provider's own HTTP client, with calls that its package would not read made readable."""

    class Reading(base):
        async def send(self, request: Any, **options: Any) -> Any:
            response = await super().send(request, **options)
            if options.get("stream") or not response.is_success:
                return response
            body = readable(response.content)
            if body is response.content:
                return response
            kept = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _OF_THE_OLD_BODY]
            return type(response)(response.status_code, headers=kept, content=body, request=request)

    return Reading


class Direct:
    """Where OpenAI's package takes a request, with messages and tools sent as LangChain made them.

    The package walks through all of it for names to change, of which there are none: four fifths of a call's work.
    """

    def __init__(self, resource: Any) -> None:
        self._resource = resource

    @property
    def with_raw_response(self) -> "Direct":
        return Direct(self._resource.with_raw_response)

    async def create(self, *, messages: Any, extra_body: Mapping[str, Any] | None = None, **options: Any) -> Any:
        body = {"messages": messages, **({"tools": options.pop("tools")} if "tools" in options else {})}
        return await self._resource.create(messages=[], extra_body={**body, **(extra_body or {})}, **options)
