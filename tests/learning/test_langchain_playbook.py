"""A playbook as a LangChain retriever and as a LangGraph store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import UnknownName, UsageError

pytest.importorskip("langchain_core", reason="the extra `models` is not installed")


def test_documents_are_bullets_of_the_newest_playbook(tmp_path: Path) -> None:
    """Best first, with id, section and score; what is added later is found; a playbook that is missing is named."""
    from akinai.adapters.langchain import playbook_retriever

    path = str(tmp_path / "p.json")
    akinai.playbook.add(path, "Order water before the heat.", section="stock")
    akinai.playbook.add(path, "Pay the fee on Monday.", section="money")
    retriever = playbook_retriever(path, top_k=1)
    (found,) = retriever.invoke("water and heat")
    assert (found.page_content, found.metadata["section"]) == ("Order water before the heat.", "stock")
    assert found.metadata["score"] > 0
    assert (tmp_path / "p.index.npz").exists()  # which the next retriever opens
    akinai.playbook.add(path, "Umbrellas sell when it rains.", section="stock")
    assert [document.page_content for document in retriever.invoke("umbrellas")] == ["Umbrellas sell when it rains."]
    assert asyncio.run(retriever.ainvoke("umbrellas"))[0].id == retriever.invoke("umbrellas")[0].id
    with pytest.raises(UnknownName):
        playbook_retriever(tmp_path / "none.json")


def test_a_store_keeps_items_as_bullets(tmp_path: Path) -> None:
    """Put, get, change, search by words and filter, list and delete, through the framework's own methods; the playbook
    shows them, keeps ids, and rolls a change back."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    from akinai.adapters.langchain import PlaybookStore

    path = tmp_path / "memories.json"
    store = PlaybookStore(path)
    user = ("users", "ito")
    store.put(user, "likes", {"text": "She likes green tea.", "mood": "good"})
    store.put(user, "place", {"content": "She lives near the harbour."})
    store.put(("users", "mori"), "likes", {"data": "He likes coffee."})
    item = store.get(user, "likes")
    assert item is not None
    assert item.value == {"text": "She likes green tea.", "mood": "good"}
    assert store.get(user, "nothing") is None
    ids = [bullet.id for bullet in akinai.playbook.show(path)]
    store.put(user, "likes", {"text": "She likes black tea.", "mood": "fine"})
    assert [bullet.id for bullet in akinai.playbook.show(path)] == ids
    (hit,) = store.search(("users",), query="black tea", limit=1)
    assert (hit.key, hit.namespace, hit.value["text"]) == ("likes", user, "She likes black tea.")
    assert hit.score
    assert [found.key for found in store.search(user, filter={"mood": "fine"})] == ["likes"]
    assert len(store.search(("users",))) == 3
    assert store.list_namespaces(prefix=("users",)) == [("users", "ito"), ("users", "mori")]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    store.delete(user, "place")
    assert store.get(user, "place") is None
    assert asyncio.run(store.aget(user, "likes")) == store.get(user, "likes")
    last = akinai.playbook.history(path)[-1].n
    akinai.playbook.rollback(path, last - 1)
    restored = PlaybookStore(path).get(user, "place")
    assert restored is not None
    assert restored.value == {"content": "She lives near the harbour."}


def test_what_a_store_cannot_keep_is_refused(tmp_path: Path) -> None:
    """A value without a text, a namespace with the separator, an unknown operator: nothing is written."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    from akinai.adapters.langchain import PlaybookStore

    store = PlaybookStore(tmp_path / "m.json")
    for namespace, value in ((("a",), {"n": 3}), (("a/b",), {"text": "x"})):
        with pytest.raises(UsageError):
            store.put(namespace, "k", value)
    assert len(akinai.playbook.show(tmp_path / "m.json")) == 0
    store.put(("a",), "k", {"text": "x"})
    with pytest.raises(UsageError, match="operator"):
        store.search(("a",), filter={"n": {"$gt": 1}})


def test_a_graph_remembers_in_a_playbook(tmp_path: Path) -> None:
    """A node of a compiled graph writes to the store and the next run reads it."""
    pytest.importorskip("langgraph", reason="the extra `learn` is not installed")
    from langgraph.graph import END, START, StateGraph
    from langgraph.store.base import BaseStore

    from akinai.adapters.langchain import PlaybookStore

    def remember(state: dict[str, str], *, store: BaseStore) -> dict[str, str]:
        known = store.search(("facts",), query=state["text"])
        store.put(("facts",), state["text"], {"content": state["text"]})
        return {"text": f"{len(known)} known"}

    builder = StateGraph(dict)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=PlaybookStore(tmp_path / "facts.json"))
    assert graph.invoke({"text": "water sells out"}) == {"text": "0 known"}
    assert graph.invoke({"text": "water sells out"}) == {"text": "1 known"}
