"""AutoGen's model clients: a client for OpenAI's wire, and sharing of a client within an event loop."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

from akinai.adapters.autogen.framework import ChatCompletionClient, OpenAIChatCompletionClient
from akinai.core.errors import ModelError, UsageError
from akinai.runtime.config.addresses import on_this_machine
from akinai.runtime.models.redact import redact_keys

MAX_RETRIES, TIMEOUT_S = 6, 180.0
"""Defaults of `openai_client`."""
ANY_MODEL: Mapping[str, Any] = {
    "family": "unknown",
    "function_calling": True,
    "json_output": True,
    "multiple_system_messages": True,
    "structured_output": False,
    "vision": False,
}
"""The `model_info` for a model that AutoGen does not know."""

OpenClient = Callable[[], ChatCompletionClient]
"""Opens a client. Akinai opens it once for all concurrent users, and closes it after the last."""


def openai_client(name: str, **options: Any) -> ChatCompletionClient:
    """A client for a model behind OpenAI's wire. `options` are those of AutoGen's client, such as `base_url`.

    The key and address default to OPENAI_API_KEY and OPENAI_BASE_URL; a server on this machine needs no key.
    UsageError when a key is missing.
    """
    if not options.get("api_key") and not os.environ.get("OPENAI_API_KEY"):
        if not on_this_machine(options.get("base_url") or os.environ.get("OPENAI_BASE_URL", "")):
            raise UsageError(
                f"the model {name!r} needs a key; set OPENAI_API_KEY, or OPENAI_BASE_URL to a local server"
            )
        options["api_key"] = "no-key"
    defaults = {"model_info": ANY_MODEL, "max_retries": MAX_RETRIES, "timeout": TIMEOUT_S}
    return OpenAIChatCompletionClient(model=name, **{**defaults, **options})


def model_error(asked_by: str, error: Exception) -> ModelError:
    """The ModelError for whatever AutoGen's clients raise, without keys in its text."""
    return ModelError(redact_keys(f"the model of {asked_by} gave AutoGen no answer: {type(error).__name__}: {error}"))


class SharedClients:
    """One open client for all concurrent users of an event loop, because its connections belong to that loop."""

    def __init__(self, open_client: OpenClient) -> None:
        if not callable(open_client):
            raise UsageError("give a function that opens the client, such as lambda: openai_client('gpt-5-mini')")
        self._open_client = open_client
        self._open: dict[asyncio.AbstractEventLoop, tuple[ChatCompletionClient, int]] = {}
        """Each loop's client, and its number of users."""

    def acquire(self) -> ChatCompletionClient:
        """The client of the running loop, opened for its first user."""
        loop = asyncio.get_running_loop()
        client, users = self._open.get(loop) or (self._open_client(), 0)
        self._open[loop] = client, users + 1
        return client

    async def release(self) -> None:
        """Give the client back. The last user closes it."""
        loop = asyncio.get_running_loop()
        client, users = self._open.pop(loop)
        if users > 1:
            self._open[loop] = client, users - 1
        else:
            await client.close()
