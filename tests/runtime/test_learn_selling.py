"""Businesses of a market learn: from markets of some seeds, judged on other populations against several customers."""

import json
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.core.models import Reply, ToolCall
from akinai.testing.endpoint import Endpoint, ModelCall

OPTIONS: dict[str, Any] = {"role": "business", "settings": {"customers": 4}}


@pytest.mark.slow
def test_businesses_learn_to_undercut_where_customers_choose_by_price(tmp_path: Path) -> None:
    """Against customers who compare prices the lesson is learned and gains; a row an opponent says what others had of
    it; the playbook has a name of its own."""
    learned = akinai.learn(
        "market", seeds="1-2", eval_seeds="101-102", opponents=["careful", "first"], playbook=tmp_path / "b.json",
        store=str(tmp_path / "r.db"), **OPTIONS,
    )  # fmt: skip
    document: Any = learned.to_json()
    assert (document["role"], document["tasks"], document["runs"]) == ("business", "market-business", 4)
    rows = {row["opponents"]: row for row in document["opponents"]}
    assert [*rows] == ["careful", "first"]
    assert {row["runs"] for row in rows.values()} == {2}
    assert {*rows["careful"]["beside"]} == {"rival_profit", "welfare", "total_surplus"}
    assert document["unit"] == "dollars"
    assert {beside["unit"] for row in rows.values() for beside in row["beside"].values()} == {"dollars"}
    assert document["with"] == pytest.approx(sum(row["with"] for row in rows.values()) / 2)
    played = {run.header.genesis.setup["customers"]["agent"] for run in akinai.runs(store=str(tmp_path / "r.db"))}
    assert played == {"careful", "first"}, "training takes turns among the opponents"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"role": "bussiness"}, "no role 'bussiness'; did you mean 'business'"),
        ({"opponents": "carefull"}, "no opponent 'carefull'; did you mean 'careful'"),
        ({"opponents": "first,first"}, "stand twice"),
    ],
)
def test_unknown_roles_and_opponents_are_refused_before_anything_is_played(
    tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    """One line with the near name, and nothing written."""
    with pytest.raises(UsageError, match=why):
        akinai.learn("market", playbook=tmp_path / "p.json", **{**OPTIONS, **options})
    with pytest.raises(UsageError, match=r"has no other side|no role"):
        akinai.learn("vending", playbook=tmp_path / "p.json", opponents="careful", seeds=1, preset="classic")
    assert not (tmp_path / "p.json").exists()


class Shop:
    """A model that plays businesses and learns: it waits, and writes an insight and a bullet down."""

    def __init__(self) -> None:
        self.briefed: list[str] = []

    async def reply(self, call: ModelCall) -> Reply:
        text = "\n".join(message.text for message in call.request.messages)
        if call.request.tools:
            self.briefed.append(text)
            return Reply("", calls=(ToolCall("1", "wait", {"seconds": 60}),))
        if '"insights"' in text:
            insight = {"insight": "Answer every request.", "entries": [1]}
            fields = ("reasoning", "error_identification", "root_cause_analysis", "correct_approach")
            return Reply(json.dumps({**dict.fromkeys(fields, "x"), "insights": [insight], "bullet_tags": []}))
        return Reply(json.dumps({"reasoning": "x", "operations": []}))


@pytest.mark.slow
def test_a_model_plays_the_businesses_and_learns_from_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the wire only businesses ask the model, and the Reflector is told their profit."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shop = Shop()
    with Endpoint(shop) as endpoint:
        learned = akinai.learn(
            "market", role="business", model="openai:test", base_url=endpoint.openai_url, seeds=1, eval_seeds=2,
            playbook=tmp_path / "b.json", store=str(tmp_path / "r.db"),
            settings={"customers": 1, "agent_share": 1, "businesses.max_turns": 2, "time_limit_s": 30}, max_minutes=1,
        )  # fmt: skip
    assert learned.usage.calls
    assert shop.briefed
    assert all("You run a business" in text for text in shop.briefed)
    assert learned.to_json()["role"] == "business"
