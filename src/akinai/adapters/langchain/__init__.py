"""Playbooks where LangChain and LangGraph look for knowledge: a retriever, and a long-term store.

    retriever = playbook_retriever("vending", top_k=5)
    graph = builder.compile(store=PlaybookStore("memories"))

The frameworks are imported when a name of this package is first used. Without `langchain-core` (extra `models`) or
`langgraph` (extra `learn`) that raises MissingExtra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from akinai.core.errors import MissingExtra

if TYPE_CHECKING:
    from akinai.adapters.langchain.retriever import BulletRetriever, playbook_retriever
    from akinai.adapters.langchain.store import PlaybookStore

__all__ = ["BulletRetriever", "PlaybookStore", "playbook_retriever"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_store = name == "PlaybookStore"
    try:
        return getattr(import_module(f"{__name__}.{'store' if is_store else 'retriever'}"), name)
    except ImportError as error:
        package, extra = ("langgraph", "learn") if is_store else ("langchain-core", "models")
        raise MissingExtra(name, package, extra) from error
