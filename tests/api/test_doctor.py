"""What `akinai doctor` finds in an installation."""

import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import akinai
from akinai.api.doctor import Check


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder and no model's key or address."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{bound.getsockname()[1]}")


def check_of(name: str, store: str = "akinai.db") -> Check:
    return next(check for check in akinai.doctor(store=store) if check.name == name)


def test_extras_are_those_of_the_package() -> None:
    """One that is installed says in which version; nobody is sent after those of developers."""
    checks = [check for check in akinai.doctor(store="memory:") if check.kind == "extra"]
    assert {"models", "report", "studio"} <= {check.name for check in checks}
    assert "dev" not in {check.name for check in checks}
    report = next(check for check in checks if check.name == "report")
    assert report.state == "ok"
    assert "jinja2 " in report.about.lower()


def test_store_is_counted_and_never_made() -> None:
    """None yet, then one run, then a file that is no store."""
    assert check_of("akinai.db").state == "missing"
    assert not Path("akinai.db").exists()
    akinai.run("vending", agent="idle", days=1, store="akinai.db", preset="classic")
    assert check_of("akinai.db").about == "1 run"
    Path("other.db").write_bytes(b"no store at all" * 100)
    assert check_of("other.db", store="other.db").state == "broken"


def test_keys_are_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a key's text is in any check."""
    assert check_of("openai").state == "missing"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert check_of("openai").state == "ok"
    assert not [check for check in akinai.doctor(store="memory:") if "secret" in check.about]


def test_addresses_of_models_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that listens answers; one that does not is missing."""
    assert "does not answer" in check_of("ollama").about
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        assert check_of("openai").state == "ok"


def test_refusals_of_servers_are_told() -> None:
    """What a server refused in a run of the store is told once, with what is sent in place of it."""
    refuse = {"error": {"message": "Unknown parameter: 'user'", "param": "user"}}
    answer = {"choices": [{"message": {"role": "assistant", "content": '{"action": "ADVANCE_DAY"}'}}]}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            data = json.dumps(refuse if "user" in body else answer).encode()
            self.send_response(400 if "user" in body else 200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        runs = akinai.run(
            "vending",
            agent="structured",
            model="openai:m",
            base_url=url,
            days=1,
            seeds="1-2",
            store="akinai.db",
            preset="classic",
        )
        server.shutdown()
    assert [run.header.ending for run in runs] == ["horizon"] * 2
    assert check_of("openai:m").about == "user is left out; the server said: Unknown parameter: 'user'"
