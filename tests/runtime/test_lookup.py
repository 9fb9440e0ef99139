"""A playbook that is looked into while a run is played: at the begin, in each week, within a budget, once and for all."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

import akinai
from akinai.agents.chat import PLAYBOOK
from akinai.core.errors import UsageError
from akinai.core.models import Reply
from akinai.core.stores import TraceRecord
from akinai.learning import Bullet, Playbook, Section, estimate_tokens
from akinai.learning.playbook.formats import dumps
from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice, spec_of
from akinai.runtime.play.lookup import LOOKED_UP
from akinai.stores import open_store
from akinai.testing.endpoint import Endpoint, ModelCall, PlayerResponder
from akinai.worlds.vending import Vending

pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")

TOKENS = 300
SUBJECTS = "delivery supplier price cola water chips machine storage cash fee mail order".split()


def playbook(bullets: int) -> str:
    """One that says something to many situations."""
    bullets = tuple(
        Bullet(f"x-{n:05}", "routine", f"Rule {n}: look at {SUBJECTS[n % len(SUBJECTS)]} before {n % 7} other things.")
        for n in range(1, bullets + 1)
    )
    return dumps(Playbook((Section("routine", "What to do.", bullets),)))


def chat(endpoint: Endpoint, text: str, tokens: int = TOKENS) -> AgentSpec:
    return AgentSpec(
        "chat", ModelChoice("openai:test", endpoint.openai_url), playbook=text, playbook_tokens=tokens, timeout_s=20
    )


def looked_up(store: str, run: str) -> list[tuple[int, Mapping[str, Any]]]:
    """By call: what was looked up before it."""

    async def read() -> list[TraceRecord]:
        books = await open_store(store)
        try:
            return [record async for record in books.read_trace(run)]
        finally:
            await books.close()

    records = [(record.call, cast("Mapping[str, Any]", record.data)) for record in asyncio.run(read())]
    return [(call, data[LOOKED_UP]) for call, data in records if LOOKED_UP in data]


def prompt_text(call: ModelCall) -> str:
    """The bullets that a request shows; empty where it shows none."""
    _, heading, text = call.request.messages[1].text.partition(f"{PLAYBOOK}\n\n")
    return text.rpartition("\n\nBegin.")[0] if heading else ""


@pytest.mark.slow
def test_a_playbook_is_asked_in_each_week_and_its_answers_fit(tmp_path: Path) -> None:
    """Days 1, 8, 15 and 22 ask; what is shown is whole bullets within the budget, in the trace, and moves nothing."""
    plain = akinai.run("vending", agent="naive", days=25, preset="classic")[0]
    store = str(tmp_path / "runs.db")
    with Endpoint(PlayerResponder(Vending.players["naive"], Vending.verbs)) as endpoint:
        (run,) = akinai.run(
            "vending", agent=chat(endpoint, playbook(500)), days=25, store=store, name="told", preset="classic"
        )
        texts = [prompt_text(call) for call in endpoint.calls]
    assert (run.status, run.digest) == ("done", plain.digest)
    notes = looked_up(store, run.id)
    assert len(notes) == 4
    assert notes[0][0] == 1
    ids = [tuple(note["bullets"]) for _, note in notes]
    assert len(set(ids)) > 1
    assert all(0 < note["tokens"] <= TOKENS for _, note in notes)
    assert all(texts)
    assert {tuple(sorted(line[1:8] for line in text.split("\n") if line.startswith("["))) for text in texts} == {
        tuple(sorted(bullets)) for bullets in ids
    }
    assert all(estimate_tokens(text) <= TOKENS for text in texts)
    assert all(line.endswith("other things.") for text in texts for line in text.split("\n") if line.startswith("["))


@pytest.mark.parametrize(("bullets", "tokens"), [(500, 0), (4, TOKENS)])
def test_a_playbook_is_told_whole_where_that_is_asked_for_or_fits(bullets: int, tokens: int, tmp_path: Path) -> None:
    """With 0 tokens, or within the budget, every bullet is in sight from the begin, and none else is looked for."""
    store = str(tmp_path / "runs.db")
    with Endpoint(PlayerResponder(Vending.players["naive"], Vending.verbs)) as endpoint:
        (run,) = akinai.run(
            "vending", agent=chat(endpoint, playbook(bullets), tokens), days=10, store=store, preset="classic"
        )
        texts = {prompt_text(call) for call in endpoint.calls}
    assert [len(lookup["bullets"]) for _, lookup in looked_up(store, run.id)] == [bullets, bullets]
    assert [text.count("\n[") for text in texts] == [bullets]


class Failing(PlayerResponder):
    """Stops answering at its twentieth request, until it is mended."""

    broken = True
    calls = 0

    async def reply(self, call: ModelCall) -> Reply:
        self.calls += 1
        if self.broken and self.calls > 20:
            raise RuntimeError("out of order")
        return await super().reply(call)


@pytest.mark.slow
def test_a_resumed_run_asks_the_same_and_nothing_twice(tmp_path: Path) -> None:
    """The playbook stands in the run's card: after a break the same requests follow, and none is sent a second time."""
    store = str(tmp_path / "runs.db")
    with Endpoint(PlayerResponder(Vending.players["naive"], Vending.verbs)) as endpoint:
        (whole,) = akinai.run("vending", agent=chat(endpoint, playbook(500)), days=20, preset="classic")
        requests = Counter(request.body_sha256 for request in endpoint.log)
    brain = Failing(Vending.players["naive"], Vending.verbs)
    with Endpoint(brain) as endpoint:
        (run,) = akinai.run(
            "vending", agent=chat(endpoint, playbook(500)), days=20, store=store, name="broken", preset="classic"
        )
        assert run.status == "failed"
        brain.broken = False
        (run,) = akinai.resume(run.id, store=store)
        answered = Counter(request.body_sha256 for request in endpoint.log if request.status == 200)
    assert (run.status, run.digest) == ("done", whole.digest)
    assert sorted(answered.values()) == sorted(requests.values())
    assert len(answered) == len(requests)
    assert len(looked_up(store, run.id)) == 3


def test_the_card_tells_what_was_handed_over(tmp_path: Path) -> None:
    """Another playbook, or another budget, is another player; and what the card tells is what was handed over."""
    spec = AgentSpec("chat", ModelChoice("openai:test"), playbook=playbook(3), playbook_tokens=99)
    again = AgentSpec.from_card(spec.card(), "chat")
    assert AgentSpec.from_card(again.card(), "chat") == again
    assert (again.playbook_tokens, again.all_bullets) == (99, spec.all_bullets)
    assert spec.card()["playbook"] == again.card()["playbook"]
    assert spec.card()["playbook"] != AgentSpec("chat", spec.model, playbook=playbook(3)).card()["playbook"]
    assert spec.card()["playbook"] != AgentSpec("chat", spec.model, playbook=playbook(4)).card()["playbook"]
    with pytest.raises(UsageError, match="a playbook in -1 tokens"):
        AgentSpec("chat", spec.model, playbook=playbook(3), playbook_tokens=-1)


def test_a_player_by_rules_is_told_all_of_a_playbook() -> None:
    """It looks into none: it gets every bullet as before, and its ledger is the one that the bullets alone give."""
    text = playbook(5)
    by_text = akinai.run("vending", agent=AgentSpec("naive", playbook=text), days=5, preset="classic")[0]
    assert spec_of(by_text.header).all_bullets == AgentSpec("naive", playbook=text).all_bullets
    assert (
        by_text.digest
        == akinai.run("vending", agent=AgentSpec("naive", bullets=by_text_bullets(text)), days=5, preset="classic")[
            0
        ].digest
    )


def by_text_bullets(text: str) -> tuple[str, ...]:
    return AgentSpec("naive", playbook=text).all_bullets
