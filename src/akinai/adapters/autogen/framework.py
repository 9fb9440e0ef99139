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

    class Memory:
        def __init__(self) -> None: ...

    class MemoryContent:
        content: Any
        mime_type: Any
        metadata: dict[str, Any] | None

        def __init__(self, *, content: Any, mime_type: Any, metadata: dict[str, Any] | None = None) -> None: ...

    class MemoryMimeType(Any): ...

    class MemoryQueryResult:
        results: list[MemoryContent]

        def __init__(self, *, results: list[MemoryContent]) -> None: ...

    class Response(Any): ...

    class SystemMessage(Any): ...

    class TextMessage(Any): ...

    class TextResultContent(Any): ...

    class ThoughtEvent(Any): ...

    class ToolCallExecutionEvent(Any): ...

    class ToolCallRequestEvent(Any): ...

    class ToolCallSummaryMessage(Any): ...

    class ToolResult(Any): ...

    ToolSchema: TypeAlias = Mapping[str, Any]

    class UpdateContextResult:
        def __init__(self, *, memories: MemoryQueryResult) -> None: ...

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
        from autogen_core.memory import (
            Memory,
            MemoryContent,
            MemoryMimeType,
            MemoryQueryResult,
            UpdateContextResult,
        )
        from autogen_core.model_context import HeadAndTailChatCompletionContext
        from autogen_core.models import (
            AssistantMessage,
            ChatCompletionClient,
            FunctionExecutionResult,
            FunctionExecutionResultMessage,
            LLMMessage,
            SystemMessage,
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
    "Memory",
    "MemoryContent",
    "MemoryMimeType",
    "MemoryQueryResult",
    "OpenAIChatCompletionClient",
    "Response",
    "SystemMessage",
    "TextMessage",
    "TextResultContent",
    "ThoughtEvent",
    "ToolCallExecutionEvent",
    "ToolCallRequestEvent",
    "ToolCallSummaryMessage",
    "ToolResult",
    "ToolSchema",
    "UpdateContextResult",
    "UserMessage",
    "Workbench",
]
