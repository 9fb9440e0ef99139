"""`akinai learn --dry-run`: what a learning would ask of its models, and nothing asked."""

import re
from pathlib import Path

import pytest
from colours_by_wire import GENERATOR, Pupil, role_of, write_questions

from akinai.core.models import Reply
from akinai.testing.endpoint import Endpoint, ModelCall
from command_line import Akinai

pytestmark = pytest.mark.needs_qa


class Hopeless(Pupil):
    """Never gives the right answer, whatever the bullets say."""

    async def reply(self, call: ModelCall) -> Reply:
        if role_of(call) == GENERATOR:
            return Reply('{"bullet_ids": [], "answer": "stone"}')
        return await super().reply(call)


@pytest.mark.parametrize("flags", [(), ("--epochs", "2", "--set", "rounds=2", "--keep-best", "--set", "held_out=1")])
def test_a_learning_that_always_fails_asks_as_often_as_the_estimate(
    akinai: Akinai, folder: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    """The estimate counts the calls of each role exactly for a hopeless model, and asks nothing itself."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = ["learn", "qa", *write_questions(), "--playbook", "p.json", "--json", *flags]
    with Endpoint(Hopeless()) as endpoint:
        model = ("--model", "openai:test", "--base-url", endpoint.openai_url)
        expected = akinai(*words, *model, "--dry-run")
        assert (expected.code, len(endpoint.log), Path("p.json").exists()) == (0, 0, False), expected.err
        learned = akinai(*words, *model).json
        spent = {role: sum(role_of(call) == role for call in endpoint.calls) for role in expected.json["roles"]}
    calls = {role: part["calls"] for role, part in expected.json["roles"].items()}
    uncontrolled = learned["accuracy"]["n"] if learned["control"] is None else 0  # fewer than two bullets
    remembered = uncontrolled + (
        1 if flags else 0
    )  # the second epoch taught nothing new, so its playbook was not judged again
    assert calls == {**spent, GENERATOR: spent[GENERATOR] + remembered}
    assert expected.json["calls"] == learned["spent"]["calls"] + remembered
    assert 1 <= expected.json["tokens"]["input"] / learned["spent"]["input"] < 5  # these bullets are short


def test_an_estimate_says_what_it_takes(akinai: Akinai, folder: Path) -> None:
    """In words, with prices where they are known; runs of a world are counted as `run` counts them."""
    Path("akinai.toml").write_text('[prices."openai:priced"]\ninput_per_million = 1.0\noutput_per_million = 2.0\n')
    page = akinai("learn", "qa", *write_questions(), "--model", "openai:priced", "--dry-run").out
    assert re.search(r"generator +\d+ of openai:priced\n", page)
    assert re.search(r"tokens +[\d,]+ in, [\d,]+ out\n.*\n +dollars +\$\d", page)
    words = (
        "learn",
        "vending",
        "--preset",
        "classic",
        "--model",
        "openai:m",
        "--seeds",
        "1-2",
        "--eval-seeds",
        "3",
        "--days",
        "9",
    )
    roles = akinai(*words, "--dry-run", "--json").json["roles"]
    assert {role: part["calls"] for role, part in roles.items()} == {
        "generator": 5 * 9 * 10, "reflector": 2, "curator": 2,
    }  # fmt: skip
    refused = akinai("learn", "qa", *write_questions(), "--dry-run")
    assert (refused.code, "rules ask none" in refused.err) == (2, True)
    assert [path.name for path in Path.cwd().iterdir() if path.suffix == ".db"] == []
