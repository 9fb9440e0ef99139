"""A playbook as AutoGen's Memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import UsageError

pytest.importorskip("autogen_core", reason="the extra `autogen` is not installed")


def test_a_memory_gives_bullets_and_takes_them(tmp_path: Path) -> None:
    """The last message's bullets come as a system message; a text becomes a bullet; nothing is cleared."""
    from autogen_core.memory import MemoryContent, MemoryMimeType
    from autogen_core.model_context import UnboundedChatCompletionContext
    from autogen_core.models import UserMessage

    from akinai.adapters.autogen import PlaybookMemory

    path = tmp_path / "p.json"
    memory = PlaybookMemory(path)

    async def use() -> None:
        heat = MemoryContent(content="Order water before the heat.", mime_type=MemoryMimeType.TEXT)
        fee = MemoryContent(content="Pay on Monday.", mime_type=MemoryMimeType.TEXT, metadata={"section": "money"})
        await memory.add(heat)
        await memory.add(fee)
        (found,) = (await memory.query("water")).results
        assert found.content == heat.content
        assert found.metadata
        assert found.metadata["section"] == "memories"
        context = UnboundedChatCompletionContext()
        await context.add_message(UserMessage(content="When do I order water?", source="owner"))
        result = await memory.update_context(context)
        assert [item.content for item in result.memories.results] == [heat.content]
        system = (await context.get_messages())[-1]
        assert heat.content in str(system.content)
        assert fee.content not in str(system.content)
        with pytest.raises(UsageError, match="rollback"):
            await memory.clear()
        with pytest.raises(UsageError, match="no text"):
            await memory.add(MemoryContent(content={"a": 1}, mime_type=MemoryMimeType.JSON))

    asyncio.run(use())
    assert [(bullet.section, bullet.content) for bullet in akinai.playbook.show(path)] == [
        ("memories", "Order water before the heat."), ("money", "Pay on Monday."),
    ]  # fmt: skip
