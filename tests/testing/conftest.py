"""What the tests of the endpoint share: endpoints that are closed again, and LangChain's models of both wires.

Pytest reads this file before it collects, also where it only watches others test, so it imports little.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest


@pytest.fixture
def serve() -> Iterator[Callable[..., Any]]:
    """Opens endpoints that are closed after the test."""
    from akinai.testing.endpoint import Endpoint

    with ExitStack() as stack:
        yield lambda brain, **options: stack.enter_context(Endpoint(brain, **options))


@pytest.fixture
def model_at() -> Iterator[Callable[..., Any]]:
    """LangChain's model of a wire ("openai", "anthropic", "openai-stream", ...), as a user would build it."""
    with ExitStack() as stack:
        yield partial(_model, stack)


def _model(
    stack: ExitStack,
    endpoint: Any,
    wire: str,
    name: str = "test",
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> Any:
    import anthropic
    import openai
    from langchain_anthropic import ChatAnthropic
    from langchain_openai import ChatOpenAI

    provider, _, stream = wire.partition("-")
    common: dict[str, Any] = {"model": name, "api_key": "k", "max_retries": 0, "timeout": 20, "streaming": bool(stream)}
    # The packages' own clients stay open for ever, shared among all models. No test's loop is left to close an async one,
    # so its connections end with their requests.
    once = {"headers": {"connection": "close"}}
    if provider == "openai":
        common["http_client"] = stack.enter_context(openai.DefaultHttpxClient())
        common["http_async_client"] = openai.DefaultAsyncHttpxClient(**once)
        model: Any = ChatOpenAI(base_url=endpoint.openai_url, stream_usage=True, **common | options)
        spelled = [{"type": "function", "function": tool} for tool in tools]
    else:
        model = ChatAnthropic(base_url=endpoint.url, **common | options)
        parameters, http = model._client_params, stack.enter_context(anthropic.DefaultHttpxClient())
        vars(model)["_client"] = anthropic.Anthropic(**parameters, http_client=http)
        http_async = anthropic.DefaultAsyncHttpxClient(**once)
        vars(model)["_async_client"] = anthropic.AsyncAnthropic(**parameters, http_client=http_async)
        spelled = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in tools
        ]
    return model.bind_tools(spelled) if spelled else model
