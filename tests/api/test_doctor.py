"""What `akinai doctor` finds in an installation."""

import socket
from pathlib import Path

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
    assert "matplotlib " in report.about


def test_store_is_counted_and_never_made() -> None:
    """None yet, then one run, then a file that is no store."""
    assert check_of("akinai.db").state == "missing"
    assert not Path("akinai.db").exists()
    akinai.run("vending", agent="idle", days=1, store="akinai.db")
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
