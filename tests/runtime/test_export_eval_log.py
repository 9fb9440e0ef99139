"""A run as a log of Inspect AI, read here as the zip of JSON that it is; tests/adapters reads it with Inspect itself."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.testing.endpoint import Endpoint, ScriptResponder, tool_call

STORE = "runs.db"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def documents(path: str) -> dict[str, Any]:
    """The files of a log by name."""
    with zipfile.ZipFile(path) as log:
        assert {info.compress_type for info in log.infolist()} == {zipfile.ZIP_DEFLATED}
        return {name: json.loads(log.read(name)) for name in log.namelist()}


def events(sample: Any, kind: str) -> list[Any]:
    return [event for event in sample["events"] if event["event"] == kind]


def test_every_action_is_a_tool_event() -> None:
    """With its arguments, its outcome and its actor, in the order of the ledger; a refusal is its error."""
    with akinai.open("vending", days=2, store=STORE, name="game", preset="classic") as session:
        session.act("send_email", {"to": "a@example.com", "subject": "x", "body": "y"}, text="Hello.")
        session.act("set_price", {"row": 9})
        while not session.done:
            session.act("advance_day")
    run = session.run()
    assert akinai.export("game", format="inspect", store=STORE) == ()
    sample = documents("game.eval")["samples/seed-1_epoch_1.json"]
    tools = events(sample, "tool")
    assert [event["function"] for event in tools][:3] == ["send_email", "unreadable", "advance_day"]
    assert [event["metadata"]["digest"] for event in tools] == [entry.digest for entry in run.ledger.entries]
    assert (tools[0]["arguments"]["to"], tools[0]["agent"], tools[0]["metadata"]["said"]) == (
        "a@example.com", "owner", "Hello.",
    )  # fmt: skip
    assert tools[1]["error"]["type"] == "parsing"
    assert tools[1]["result"].startswith("Refused (bad_parameters)")
    assert sample["messages"][1]["content"] == "Hello."
    assert len(sample["messages"]) == 1 + 2 * run.entries


def test_a_group_is_one_log_with_a_sample_a_seed() -> None:
    """Scores of every sample, their means, and findings with what they say; runs of one seed are epochs."""
    runs = akinai.run("vending", agent="reference", days=3, seeds=[1, 2], name="ref", store=STORE, preset="classic")
    akinai.run("vending", agent="reference", days=3, seeds=1, name="again", store=STORE, preset="classic")
    akinai.export("ref", format="inspect", output="a.eval", store=STORE)
    log = documents("a.eval")
    spec, results = log["header.json"]["eval"], log["header.json"]["results"]
    assert (spec["task"], spec["model"]) == ("akinai/vending", "akinai/reference")
    assert spec["dataset"]["sample_ids"] == ["seed-1", "seed-2"]
    assert [summary["scores"]["scores"]["value"]["net_worth"] for summary in log["summaries.json"]] == runs.values(
        "net_worth"
    )
    mean = next(score for score in results["scores"] if score["name"] == "net_worth")["metrics"]["mean"]["value"]
    assert mean == sum(runs.values("net_worth")) / 2  # type: ignore[arg-type]
    akinai.export("ref", format="inspect", output="b.eval", store=STORE)
    assert Path("a.eval").read_bytes() == Path("b.eval").read_bytes()


def test_findings_stand_after_the_entry_that_shows_them() -> None:
    """As an info event, and counted by a scorer of their own."""
    with akinai.open("vending", days=3, store=STORE, name="bad", preset="classic") as session:
        for _ in range(5):
            session.act("set_price", {"row": 0, "column": 0, "price": 1.5})
    (finding,) = akinai.analyze("bad", scale=False, store=STORE).runs[0].findings or ()
    akinai.export("bad", format="inspect", store=STORE)
    sample = documents("bad.eval")["samples/seed-1_epoch_1.json"]
    assert sample["scores"]["findings"]["value"] == 1
    index = next(at for at, event in enumerate(sample["events"]) if event["event"] == "info")
    assert sample["events"][index]["data"]["type"] == finding.type == "loop_behavior"
    assert sample["events"][index - 1]["metadata"]["entry"] == finding.entries[-1]


def test_model_calls_stand_before_what_they_did() -> None:
    """The whole prompt, its messages written once, the reply with its tokens; also where nothing could be read."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    script = [tool_call("advance_day"), "Hm.", tool_call("nonsense", {}), *[tool_call("advance_day")] * 3]
    with Endpoint(ScriptResponder(script)) as endpoint:
        url = endpoint.openai_url
        akinai.run(
            "vending", agent="chat", model="openai:m", base_url=url, days=3, name="m", store=STORE, preset="classic"
        )
    akinai.export("m", format="inspect", store=STORE)
    log = documents("m.eval")
    sample = log["samples/seed-1_epoch_1.json"]
    kinds = [event["event"] for event in sample["events"] if event["event"] in ("model", "tool")]
    assert kinds == ["model", "tool"] * 5
    third = events(sample, "model")[2]
    pool = sample["events_data"]["messages"]
    prompt = [pool[number] for begin, end in third["input_refs"] for number in range(begin, end)]
    assert [message["role"] for message in prompt] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert prompt[2]["tool_calls"][0]["function"] == prompt[3]["function"] == "advance_day"
    assert third["output"]["choices"][0]["message"]["tool_calls"][0]["function"] == "nonsense"
    assert "wait_until" in [tool["name"] for tool in third["tools"]]
    assert log["header.json"]["eval"]["model"] == "openai/m"
    assert log["header.json"]["stats"]["model_usage"]["openai/m"]["output_tokens"] > 0


def test_what_cannot_be_a_log_is_refused() -> None:
    """Runs that were played otherwise, a missing folder, a stream; nothing is left behind."""
    akinai.run("vending", agent="idle", days=1, name="idle", store=STORE, preset="classic")
    akinai.run("vending", days=1, sweep={"fee_cents": [100, 200]}, name="sweep", store=STORE, preset="classic")
    with pytest.raises(UsageError, match="seeds alone"):
        akinai.export("sweep", format="inspect", store=STORE)
    with pytest.raises(UsageError, match="there is no folder"):
        akinai.export("idle", format="inspect", output="no/such/a.eval", store=STORE)
    with open("text", "w") as file, pytest.raises(UsageError, match="no text"):
        akinai.export("idle", format="inspect", output=file, store=STORE)
    assert not [path for path in Path().iterdir() if "eval" in path.name]
