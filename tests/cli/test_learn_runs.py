"""`akinai learn vending`: each flag works or is refused in one sentence, and what is offered next is right."""

import json
import re
import sys
from pathlib import Path

import pytest

from akinai import runs
from akinai.runtime.play.agent_spec import spec_of
from akinai.testing.endpoint import Endpoint
from command_line import Akinai

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from learning_by_wire import CURATOR, REFLECTOR, Business

SMALL = ["--seeds", "1-2", "--eval-seeds", "101", "--days", "5"]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return Endpoint(Business())


def learning_words(endpoint: Endpoint, *more: str) -> list[str]:
    return [
        "learn",
        "vending",
        "--preset",
        "classic",
        *SMALL,
        "--model",
        "openai:test",
        "--base-url",
        endpoint.openai_url,
        *more,
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["vending", "--base-url", "http://x"], "--base-url cannot be used: no model is asked without --model"),
        (["vending", "--temperature", "0"], "--temperature cannot be used: no model"),
        (["qa", "--max-dollars", "3", "--model-seed", "0"], "--model-seed, --max-dollars cannot be used: no model"),
        (["qa", "--store", "x.db", "--reflect", "rules"], "--reflect, --store cannot be used: qa is no world"),
        (["vending", "--agent", "chat"], "the agent 'chat' asks a model here; name one"),
        (["vending", "--reflect", "model"], "whoever reflects asks a model here; name one"),
        (["vending", "--reflect", "nobody"], "no way to reflect 'nobody'"),
        (["vending", "--agent", "naive", "--reflect", "rules", "--model", "openai:x"], "nobody asks openai:x"),
        (
            ["vending", "--online", "--eval-seeds", "5", "--eval-set", "days=3"],
            "--eval-seeds, --eval-set cannot be used",
        ),
        (["vending", "--online", "--epochs", "2"], "online learning of 2 epochs"),
        (["vending", "--epochs", "0"], "epochs"),
        (["vending", "--checkpoint", "c.db", "--store", "memory:"], "these are in memory; name a store"),
        (["vending", "--set", "nothing=3"], "nothing"),
        (["vending", "--agent", "nobody"], "no agent 'nobody'"),
        (["vending", "--model", "nobody"], "nobody"),
        (["vending", "--max-dollars", "1", "--model", "openai:x"], "openai:x"),
    ],
)
def test_a_flag_that_nobody_would_hear_is_refused(akinai: Akinai, words: list[str], why: str) -> None:
    """One sentence, code 2, and nothing is written."""
    answer = akinai("learn", *words)
    assert answer.code == 2
    assert why in " ".join(answer.err.split())
    assert len([line for line in answer.err.splitlines() if line.strip()]) < 5
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_what_is_offered_next_can_be_typed(akinai: Akinai, endpoint: Endpoint) -> None:
    """The commands under "Next" run as they stand: the playbook is shown, and played by whom it was written for."""
    with endpoint:
        for agent in ("chat", "naive"):
            answer = akinai(*learning_words(endpoint, "--agent", agent, "--playbook", f"{agent}.json"))
            assert answer.code == 0, answer.err
            offered = [line.strip()[7:].split() for line in answer.out.splitlines() if line.startswith("  akinai ")]
            assert [words[0] for words in offered] == ["playbook", "run"]
            assert "--model" in offered[1]
            assert akinai(*offered[0]).code == 0
            played = akinai(*offered[1], "--json")
            assert played.code == 0, played.err
            assert "5 days" not in played.err
    assert json.loads(played.out)["runs"][0]["days"] == 5


@pytest.mark.slow
def test_the_document_tells_who_played_and_what_was_spent(akinai: Akinai, endpoint: Endpoint) -> None:
    """`--json` names the model, the spending of players and roles together, and the figures of before."""
    with endpoint:
        document = akinai(*learning_words(endpoint, "--json")).json
    assert (document["agent"], document["card"]["roles"], document["card"]["model"]) == (
        "chat",
        "openai:test",
        "openai:test",
    )
    assert document["spent"]["calls"] > 20
    assert (document["playbook_size"], document["runs"], document["ending"], document["failed"]) == (2, 1, "done", 0)
    calls = [json.loads(line)["role"] for line in Path("data/playbooks/vending.calls.jsonl").read_text().splitlines()]
    assert calls == [REFLECTOR, CURATOR] * 2


def test_limit_online_and_settings_of_the_learner_are_heard(akinai: Akinai, endpoint: Endpoint) -> None:
    """`--limit 1` learns from one seed; `--online` has no runs beside it; `--set language=ja` asks in Japanese."""
    with endpoint as served:
        where = ["--model", "openai:test", "--base-url", served.openai_url, "--days", "4", "--json"]
        document = akinai(
            "learn", "vending", "--preset", "classic", "--online", "--limit", "1", "--set", "language=ja", *where
        ).json
        prompts = [call.request.messages[0].text for call in served.calls]
    assert (document["runs"], document["playbook_size"], document["eval_seeds"]) == (1, 1, "train:1-10")
    assert any("突き止め" in prompt for prompt in prompts)
    rules = akinai(
        "learn",
        "vending",
        "--preset",
        "classic",
        "--online",
        "--limit",
        "2",
        "--days",
        "6",
        "--json",
        "--playbook",
        "r.json",
    ).json
    assert (rules["runs"], rules["online"], rules["card"]["roles"]) == (2, True, "rules")


@pytest.mark.slow
def test_a_playbook_is_looked_into_within_the_tokens_that_were_named(akinai: Akinai, endpoint: Endpoint) -> None:
    """`akinai run --playbook F --playbook-tokens N`: the card says it, and the request shows no more."""
    assert (
        akinai("learn", "vending", "--preset", "classic", "--seeds", "1", "--eval-seeds", "101", "--days", "20").code
        == 0
    )
    path = "data/playbooks/vending.json"
    with endpoint as served:
        where = ["--model", "openai:test", "--base-url", served.openai_url, "--days", "3", "--json"]
        bullet_counts: dict[str, int] = {}
        for tokens in ("0", "150", "5000"):
            run = akinai(
                "run", "vending", "--preset", "classic", "--playbook", path, "--playbook-tokens", tokens, *where
            ).json["runs"][0]
            bullet_counts[tokens] = len(
                re.findall(r"^\[\w+-\d+\] helpful", served.calls[-1].request.messages[1].text, re.M)
            )
            (stored,) = runs(run["run"], store="akinai.db")
            assert (stored.status, spec_of(stored.header).playbook_tokens) == ("done", int(tokens))
    assert 0 < bullet_counts["150"] < bullet_counts["0"] == bullet_counts["5000"]
    refused = akinai(
        "run", "vending", "--preset", "classic", "--agent", "naive", "--playbook", path, "--playbook-tokens", "9"
    )
    assert (refused.code, "naive is told all of a playbook" in refused.err) == (2, True)
    assert akinai("run", "vending", "--preset", "classic", "--playbook-tokens", "9").code == 2


PAGE = Path(__file__).parents[2] / "docs" / "learning-to-do-business.md"


@pytest.mark.slow
def test_the_pages_commands_with_a_model_run(akinai: Akinai, endpoint: Endpoint) -> None:
    """Each of them in its order, on fewer days and seeds, and asked here in place of the provider."""
    Path("akinai.toml").write_text('[prices."openai:gpt-5-mini"]\ninput_per_million = 0.25\noutput_per_million = 2.0\n')
    commands = [
        line[9:] for line in PAGE.read_text().splitlines() if line.startswith("$ akinai ") and "--model" in line
    ]
    assert len(commands) > 4
    with endpoint as served:
        for line in commands:
            few = ["--eval-seeds", "101"] if "learn" in line and "--online" not in line else []
            words = [
                *line.split(),
                "--preset",
                "classic",
                "--days",
                "3",
                "--seeds",
                "1-2",
                *few,
                "--base-url",
                served.openai_url,
                "--json",
            ]
            answer = akinai(*words)
            assert answer.code == 0, f"{line}\n{answer.err}"
