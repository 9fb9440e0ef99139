"""`akinai learn --reflector-model` and the rest: who is asked for what, as the endpoint's log has it."""

import json
from pathlib import Path

import pytest
from colours_by_wire import CURATOR, GENERATOR, REFLECTOR, Pupil, write_questions

import akinai as package
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.testing.endpoint import Endpoint
from command_line import Akinai

pytestmark = pytest.mark.needs_qa

pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")


@pytest.fixture
def words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return ["learn", "qa", *write_questions(), "--playbook", "p.json", "--json"]


def models_by_role(endpoint: Endpoint) -> dict[str, set[str]]:
    """The models that the endpoint was asked for, by role."""
    models: dict[str, set[str]] = {}
    for exchange in endpoint.log:
        model, _, label = exchange.key.rpartition("/")[0].partition("#")
        models.setdefault(label.rpartition("/")[2], set()).add(model)
    return models


def test_each_role_asks_its_own_model(akinai: Akinai, words: list[str]) -> None:
    """A model a role over the wire; the card names them with their addresses."""
    with Endpoint(Pupil()) as endpoint:
        address = ("--base-url", endpoint.openai_url)
        models = ("--generator-model", "openai:small", "--reflector-model", "openai:large")
        answer = akinai(*words, *models, "--curator-model", "openai:tidy", "--model", "openai:unused", *address)
    assert answer.code == 0, answer.err
    assert models_by_role(endpoint) == {GENERATOR: {"small"}, REFLECTOR: {"large"}, CURATOR: {"tidy"}}
    card = answer.json["card"]
    assert card["roles"] == "generator openai:small, reflector openai:large, curator openai:tidy"
    assert {role: model["name"] for role, model in card["models"].items()} == {
        GENERATOR: "openai:small", REFLECTOR: "openai:large", CURATOR: "openai:tidy",
    }  # fmt: skip
    assert card["models"][REFLECTOR]["base_url"] == endpoint.openai_url


def test_a_role_has_its_own_server_and_sampling(akinai: Akinai, words: list[str]) -> None:
    """`[learn.roles]`, flags and `--set` each lay over the other; the other roles keep the common model."""
    with Endpoint(Pupil()) as common, Endpoint(Pupil()) as own:
        Path("akinai.toml").write_text('[learn.roles.reflector]\nmodel = "openai:file"\ntemperature = 0.5\n')
        flags = ("--model", "openai:all", "--base-url", common.openai_url, "--temperature", "1")
        mine = ("--reflector-base-url", own.openai_url, "--set", "roles.reflector.reply_tokens=900")
        answer = akinai(*words, *flags, *mine)
    assert answer.code == 0, answer.err
    assert (models_by_role(common), models_by_role(own)) == (
        {GENERATOR: {"all"}, CURATOR: {"all"}},
        {REFLECTOR: {"file"}},
    )
    models = answer.json["card"]["models"]
    assert models[REFLECTOR]["sampling"] == {"temperature": 0.5, "max_tokens": 900}
    assert models[CURATOR]["sampling"] == {"temperature": 1.0}


def test_rules_and_models_share_the_roles(akinai: Akinai, words: list[str]) -> None:
    """A data set's rules fill the roles without a model: those that learn, or the one that answers."""
    with Endpoint(Pupil()) as endpoint:
        address = ("--generator-base-url", endpoint.openai_url)
        answer = akinai(*words, "--generator-model", "openai:small", *address)
    assert (answer.code, models_by_role(endpoint), answer.json["playbook_size"]) == (0, {GENERATOR: {"small"}}, 3), (
        answer.err
    )
    with Endpoint(Pupil()) as endpoint:
        model = ModelChoice("openai:large", endpoint.openai_url)
        learned = package.learn(
            "qa",
            settings=[text for text in words if "=" in text],
            playbook="q.json",
            reflector_model=model,
            curator_model=model,
        )
    assert set(models_by_role(endpoint)) <= {REFLECTOR, CURATOR}
    assert learned.label == "generator rules, reflector openai:large, curator openai:large"


def test_cached_replies_are_not_asked_for_again(akinai: Akinai, words: list[str]) -> None:
    """With `--cache` a second learning is the first one again, for no call and no token."""
    with Endpoint(Pupil()) as endpoint:
        flags = ("--model", "openai:test", "--base-url", endpoint.openai_url, "--cache", "replies.db")
        first = akinai(*words, *flags).json
        calls = len(endpoint.log)
        again = akinai(*words, *flags, "--playbook", "q.json").json
    assert len(endpoint.log) == calls == first["spent"]["calls"]
    assert (again["spent"]["input"], again["accuracy"], again["playbook_size"]) == (
        0,
        first["accuracy"],
        first["playbook_size"],
    )
    for name, cached in (("p", False), ("q", True)):
        lines = Path(f"{name}.calls.jsonl").read_text().splitlines()
        assert [json.loads(line)["reply"]["from_cache"] for line in lines] == [cached] * calls
