"""Embedders by name, in search, in deduplication and in learning; LangChain's over a real wire."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import UnknownName, UsageError
from akinai.learning import PlaybookFile, Section
from akinai.runtime.models.embeddings import find_embedder
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.testing.endpoint import Endpoint, PlayerResponder
from akinai.worlds.vending import Vending

PLAYER = (Vending.players["naive"], Vending.verbs)
TOPICS = {"car": 0, "automobile": 0, "vehicle": 0, "cat": 1, "tree": 2}


class Embeddings(http.server.BaseHTTPRequestHandler):
    """OpenAI's embeddings: a vector a text, whose axes are the topics of its words."""

    embedded: list[str] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.embedded.extend(texts)
        data = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
        answer = json.dumps({"object": "list", "model": body["model"], "data": data, "usage": {}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


def vector(text: str) -> list[float]:
    axes = [0.0, 0.0, 0.0, 0.01]
    for word in text.lower().split():
        if word in TOPICS:
            axes[TOPICS[word]] = 1.0
    return axes


@contextmanager
def embeddings_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    Embeddings.embedded.clear()
    with http.server.HTTPServer(("127.0.0.1", 0), Embeddings) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        try:
            yield Embeddings.embedded
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    path = tmp_path / "p.json"
    PlaybookFile(path).begin((Section("facts", "What is known."),))
    for text in ("wash the car", "polish an automobile", "feed a cat", "water the tree"):
        akinai.playbook.add(path, text, section="facts")
    return path


def test_an_embedder_by_name_finds_what_no_word_shares(playbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "vehicle" finds both bullets about cars through the vectors of the server, and nothing by words."""
    pytest.importorskip("langchain_openai")
    assert not akinai.playbook.search(playbook, "vehicle")
    with embeddings_server(monkeypatch) as embedded:
        hits = akinai.playbook.search(playbook, "vehicle", embedder="openai:test-embedding", alpha=1.0)
    assert {hit.bullet.content for hit in hits} == {"wash the car", "polish an automobile"}
    assert "vehicle" in embedded


def test_near_duplicates_are_those_of_the_embedder(playbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the vectors call equal is merged, which words alone would keep apart."""
    pytest.importorskip("langchain_openai")
    assert not akinai.playbook.dedup(playbook).refinement.merges
    with embeddings_server(monkeypatch):
        refined = akinai.playbook.dedup(playbook, embedder="openai:test-embedding")
    assert len(refined.refinement.playbook) == 3


@pytest.mark.slow
@pytest.mark.needs_qa
def test_a_learning_asks_the_embedder_that_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`embedder=` reaches the retriever of the tasks; the index stays beside the playbook, and a search embeds no bullet
    again."""
    pytest.importorskip("langchain_openai")
    path, name = tmp_path / "q.json", "openai:test-embedding"
    with embeddings_server(monkeypatch) as embedded:
        learned = akinai.learn("qa", playbook=path, limit=4, embedder=name, settings={"extra": False})
        texts = {bullet.searchable_text for bullet in learned.playbook}
        assert texts <= {*embedded}
        embedded.clear()
        akinai.playbook.search(path, "rain", embedder=name)
        assert "rain" in embedded
        assert texts.isdisjoint(embedded)


@pytest.mark.parametrize(
    ("name", "error", "why"),
    [("hashd", UnknownName, "did you mean 'hashed'"), ("nobody:x", UsageError, "cannot be opened"),
     ("openai:", UnknownName, "no embedder")],
)  # fmt: skip
def test_an_embedder_that_cannot_be_is_refused(name: str, error: type[Exception], why: str) -> None:
    """In one sentence, before anything is embedded."""
    pytest.importorskip("langchain")
    with pytest.raises(error, match=why):
        find_embedder(name)


def test_a_run_searches_its_playbook_by_the_embedder(
    playbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a model plays, its playbook is searched by the embedder of the run, which the card keeps for a resume."""
    pytest.importorskip("langchain_openai")
    options = {"days": 2, "playbook": playbook, "playbook_tokens": 20, "embedder": "openai:test-embedding"}
    with embeddings_server(monkeypatch) as embedded, Endpoint(PlayerResponder(*PLAYER)) as endpoint:
        (run,) = akinai.run("vending", model="openai:test", base_url=endpoint.openai_url, **options)
        assert any("feed a cat" in text for text in embedded)
    assert run.status == "done"
    assert AgentSpec.from_card(run.card, "chat").embedder == "openai:test-embedding"
    with pytest.raises(UnknownName, match="no embedder 'nothing'"):
        akinai.run("vending", model="openai:test", **{**options, "embedder": "nothing"})
    for without in ({"playbook": None, "playbook_tokens": None}, {"playbook_tokens": None, "agent": "naive"}):
        with pytest.raises(UsageError, match="--embedder"):
            akinai.run("vending", **{**options, **without})
