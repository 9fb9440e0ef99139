"""Exported runs, read by Inspect AI itself."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

import akinai
from akinai.testing.endpoint import Endpoint, ScriptResponder, tool_call


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs of a group, of a market, of the world of questions, and of a run by a model."""
    folder = tmp_path_factory.mktemp("logs")
    store = str(folder / "runs.db")
    akinai.run("vending", agent="reference", days=3, seeds=[1, 2], name="group", store=store, preset="classic")
    akinai.run("market", name="market", store=store)
    script = [tool_call("advance_day"), "Hm.", tool_call("nonsense", {}), *[tool_call("advance_day")] * 2]
    with Endpoint(ScriptResponder(script)) as endpoint:
        url = endpoint.openai_url
        akinai.run(
            "vending", agent="chat", model="openai:m", base_url=url, days=3, name="model", store=store, preset="classic"
        )
    (folder / "logs").mkdir()
    for name in ("group", "market", "model"):
        akinai.export(name, format="inspect", output=folder / "logs" / f"{name}.eval", store=store)
    return folder / "logs"


def test_inspect_reads_a_group(logs: Path) -> None:
    """Scores of each sample and their means, as the runs have them; summaries agree; no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = read_eval_log(str(logs / "group.eval"))
        summaries = read_eval_log_sample_summaries(str(logs / "group.eval"))
    runs = akinai.runs("group", store=str(logs.parent / "runs.db"))
    assert (log.status, log.version, log.eval.task) == ("success", 2, "akinai/vending")
    assert log.samples is not None
    assert log.results is not None
    values = [(sample.scores or {})["scores"].as_dict()["net_worth"] for sample in log.samples]
    assert values == runs.values("net_worth")
    assert [(summary.scores or {})["scores"].as_dict()["net_worth"] for summary in summaries] == values
    metrics = {score.name: score.metrics for score in log.results.scores}
    assert metrics["net_worth"]["mean"].value == sum(values) / 2
    for sample, run in zip(log.samples, runs, strict=True):
        tools = [event for event in sample.events if event.event == "tool"]
        assert [(event.metadata or {})["digest"] for event in tools] == [entry.digest for entry in run.ledger.entries]


def test_inspect_reads_model_calls(logs: Path) -> None:
    """With the whole prompt of each, its tools and its tokens."""
    (sample,) = read_eval_log(str(logs / "model.eval")).samples or ()
    events = [event for event in sample.events if event.event == "model"]
    assert [len(event.input) for event in events] == [2, 4, 6, 8, 10]
    assert events[0].output.message.tool_calls is not None
    assert events[0].output.message.tool_calls[0].function == "advance_day"
    assert "wait_until" in [tool.name for tool in events[0].tools]
    assert sample.model_usage["openai/m"].output_tokens > 0


def inspect(*words: str, cwd: Path) -> str:
    """The command `inspect`, which prints no warning."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-m", "inspect_ai", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "warning" not in done.stdout.lower()
    return done.stdout


@pytest.mark.slow
def test_the_command_line_reads_and_bundles_them(logs: Path, tmp_path: Path) -> None:
    """`inspect log dump` gives the same samples, and `inspect view bundle` a page of all logs."""
    document = json.loads(inspect("log", "dump", "market.eval", cwd=logs))
    assert document["samples"][0]["events"][1]["event"] == "tool"
    inspect("view", "bundle", "--log-dir", str(logs), "--output-dir", str(tmp_path / "page"), cwd=logs)
    assert (tmp_path / "page" / "index.html").is_file()
    listing = json.loads((tmp_path / "page" / "logs" / "listing.json").read_text())
    assert {"group.eval", "market.eval", "model.eval"} <= {Path(name).name for name in listing}
