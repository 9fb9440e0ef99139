"""The names of AutoGen that the adapter uses, imported in this module only. MissingExtra when it is not installed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from akinai.core.errors import MissingExtra

A = TypeVar("A")
R = TypeVar("R")

if TYPE_CHECKING:  # AutoGen is not installed where types are checked

    class AssistantAgent(Any): ...

    class AssistantMessage(Any): ...

    class BaseTool(Generic[A, R]):
        name: str
        description: str

        def __init__(self, args_type: type[A], return_type: type[R], name: str, description: str) -> None: ...

    class CancellationToken:
        def cancel(self) -> None: ...

    class ChatCompletionClient(Any): ...

    class FunctionCall(Any): ...

    class FunctionExecutionResult(Any): ...

    class FunctionExecutionResultMessage(Any): ...

    class HeadAndTailChatCompletionContext(Any): ...

    class LLMMessage(Any): ...

    class OpenAIChatCompletionClient(Any): ...

    class Response(Any): ...

    class TextMessage(Any): ...

    class TextResultContent(Any): ...

    class ThoughtEvent(Any): ...

    class ToolCallExecutionEvent(Any): ...

    class ToolCallRequestEvent(Any): ...

    class ToolCallSummaryMessage(Any): ...

    class ToolResult(Any): ...

    ToolSchema: TypeAlias = Mapping[str, Any]

    class UserMessage(Any): ...

    class Workbench(Any): ...
else:
    try:
        from autogen_agentchat.agents import AssistantAgent
        from autogen_agentchat.base import Response
        from autogen_agentchat.messages import (
            TextMessage,
            ThoughtEvent,
            ToolCallExecutionEvent,
            ToolCallRequestEvent,
            ToolCallSummaryMessage,
        )
        from autogen_core import CancellationToken, FunctionCall
        from autogen_core.model_context import HeadAndTailChatCompletionContext
        from autogen_core.models import (
            AssistantMessage,
            ChatCompletionClient,
            FunctionExecutionResult,
            FunctionExecutionResultMessage,
            LLMMessage,
            UserMessage,
        )
        from autogen_core.tools import BaseTool, TextResultContent, ToolResult, ToolSchema, Workbench
        from autogen_ext.models.openai import OpenAIChatCompletionClient
    except ImportError as error:
        package = (error.name or "autogen").partition(".")[0]
        raise MissingExtra("the AutoGen adapter", package, "autogen") from error

__all__ = [
    "AssistantAgent",
    "AssistantMessage",
    "BaseTool",
    "CancellationToken",
    "ChatCompletionClient",
    "FunctionCall",
    "FunctionExecutionResult",
    "FunctionExecutionResultMessage",
    "HeadAndTailChatCompletionContext",
    "LLMMessage",
    "OpenAIChatCompletionClient",
    "Response",
    "TextMessage",
    "TextResultContent",
    "ThoughtEvent",
    "ToolCallExecutionEvent",
    "ToolCallRequestEvent",
    "ToolCallSummaryMessage",
    "ToolResult",
    "ToolSchema",
    "UserMessage",
    "Workbench",
]
