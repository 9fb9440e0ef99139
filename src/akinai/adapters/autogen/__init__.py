"""AutoGen (autogen-agentchat 0.7): its AssistantAgent plays any world, and serves as the learner's Generator.

    akinai.run("vending", agent=autogen_agent(lambda: openai_client("gpt-5-mini")), days=10)

AutoGen is imported when a name of this package is first used. Without the extra `autogen` that raises MissingExtra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akinai.adapters.autogen.clients import ANY_MODEL, openai_client
    from akinai.adapters.autogen.generator import AutogenGenerator, solver
    from akinai.adapters.autogen.memory import PlaybookMemory
    from akinai.adapters.autogen.player import AutogenPlayer, assistant, autogen_agent, by_name, identifier

__all__ = [
    "ANY_MODEL",
    "AutogenGenerator",
    "AutogenPlayer",
    "PlaybookMemory",
    "assistant",
    "autogen_agent",
    "by_name",
    "identifier",
    "openai_client",
    "solver",
]

_MODULES = {
    "ANY_MODEL": "clients",
    "openai_client": "clients",
    "AutogenGenerator": "generator",
    "solver": "generator",
    "PlaybookMemory": "memory",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'player')}"), name)
