"""The names of Inspect AI that the tasks use; the only module that imports it."""

from typing import TYPE_CHECKING, Any

from akinai.core.errors import MissingExtra

if TYPE_CHECKING:  # the package is not installed where types are checked
    ChatMessageSystem: Any
    ChatMessageUser: Any
    MemoryDataset: Any
    PrerequisiteError: Any
    Sample: Any
    Score: Any
    Task: Any
    ToolDef: Any
    ToolError: Any
    ToolInfo: Any
    ToolParams: Any
    collect: Any
    execute_tools: Any
    get_model: Any
    mean: Any
    scorer: Any
    solver: Any
    span: Any
    stderr: Any
    task: Any
else:
    try:
        from inspect_ai import Task, task
        from inspect_ai._util.error import PrerequisiteError  # what its command prints without a traceback
        from inspect_ai.dataset import MemoryDataset, Sample
        from inspect_ai.model import (
            ChatMessageSystem,
            ChatMessageUser,
            execute_tools,
            get_model,
        )
        from inspect_ai.scorer import Score, mean, scorer, stderr
        from inspect_ai.solver import solver
        from inspect_ai.tool import ToolDef, ToolError, ToolInfo, ToolParams
        from inspect_ai.util import collect, span
    except ImportError as error:
        raise MissingExtra("playing under Inspect AI", "inspect-ai", "inspect") from error

__all__ = [
    "ChatMessageSystem", "ChatMessageUser", "MemoryDataset", "PrerequisiteError", "Sample",
    "Score", "Task", "ToolDef", "ToolError", "ToolInfo", "ToolParams", "collect", "execute_tools", "get_model", "mean",
    "scorer", "solver", "span", "stderr", "task",
]  # fmt: skip
