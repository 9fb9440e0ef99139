"""Sub-agents: actors with tools and caps of their own, whose reports are all that the owner sees."""

from pathlib import Path

import pytest

import akinai
from akinai.testing.endpoint import ByModel, Endpoint, ScriptResponder, tool_call

pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")

DELEGATE = tool_call("delegate_research", {"task": "find a supplier of drinks"})
SETTINGS = {"sub_agent_messages": 3}


class Brains:
    """One script for the owner, one for whoever is offered `report`."""

    def __init__(self, owner: ScriptResponder, sub_agent: ScriptResponder) -> None:
        self.owner, self.sub_agent = owner, sub_agent

    async def reply(self, call):  # type: ignore[no-untyped-def]
        reports = any(tool["name"] == "report" for tool in call.request.tools)
        return await (self.sub_agent if reports else self.owner).reply(call)


def test_the_owner_waits_and_then_sees_the_report() -> None:
    """While a sub-agent works only it acts; its own moves are in the ledger, its report is the owner's news."""
    owner = ScriptResponder([DELEGATE, *[tool_call("advance_day")] * 2])
    sub = ScriptResponder(
        [
            tool_call("search_web", {"query": "drinks supplier"}),
            tool_call("report", {"text": "Write to sales@ggbev.com."}),
        ]
    )
    with Endpoint(Brains(owner, sub)) as endpoint:
        (run,) = akinai.run("vending", model="openai:test", base_url=endpoint.openai_url, days=2, preset="classic")
        seen = [
            message.text for call in endpoint.calls for message in call.request.messages if message.speaker == "user"
        ]
    actors = [(entry.actor, entry.name) for entry in run.ledger.entries]
    assert actors[:3] == [
        ("owner", "DelegateResearch"),
        ("owner/research-1", "SearchWeb"),
        ("owner/research-1", "Report"),
    ]
    assert "owner/research-1 reports on task 1:\nWrite to sales@ggbev.com." in seen
    assert run.score("messages") == 3


def test_a_sub_agents_cap_is_its_own(tmp_path: Path) -> None:
    """A sub-agent that never reports is dismissed after its messages, refused ones counted; the owner's cap is untouched.

    The same holds on a resume: what the driver did in its name is not asked of it again.
    """
    store = str(tmp_path / "akinai.db")
    owner, sub = (
        ScriptResponder([DELEGATE, *[tool_call("advance_day")] * 2]),
        ScriptResponder([tool_call("fly_away")] * 9),
    )
    with Endpoint(Brains(owner, sub)) as endpoint:
        (run,) = akinai.run(
            "vending",
            model="openai:test",
            base_url=endpoint.openai_url,
            days=2,
            settings=SETTINGS,
            store=store,
            name="cap",
            preset="classic",
        )
        again = akinai.replay("cap-1", store=store)[0]
    names = [(entry.actor, entry.name) for entry in run.ledger.entries if "/" in entry.actor]
    assert names == [("owner/research-1", "Unreadable")] * 3 + [("owner/research-1", "Report")]
    assert run.header.ending == "horizon"
    assert again.ledger.digest == run.ledger.digest


def test_chat_goes_on_with_the_same_sub_agent() -> None:
    """`chat_with_sub_agent` asks the one that reported, whose conversation goes on; a new task begins with an empty one."""
    owner = ScriptResponder(
        [DELEGATE, tool_call("chat_with_sub_agent", {"message": "and its price?"}), DELEGATE, tool_call("advance_day")]
    )
    report = tool_call("report", {"text": "done"})
    with Endpoint(Brains(owner, ScriptResponder([report] * 3))) as endpoint:
        (run,) = akinai.run("vending", model="openai:test", base_url=endpoint.openai_url, days=1, preset="classic")
        talks = [
            call.request.messages for call in endpoint.calls if any(t["name"] == "report" for t in call.request.tools)
        ]
    actors = [entry.actor for entry in run.ledger.entries if entry.name == "Report"]
    assert actors == ["owner/research-1", "owner/research-1", "owner/research-2"]
    assert "and its price?" in talks[1][-1].text
    assert sum(message.speaker == "assistant" for message in talks[1]) == 1
    assert not any(message.speaker == "assistant" for message in talks[2])


def test_without_a_model_sub_agents_play_by_rules() -> None:
    """An owner's model may have rule-based assistants, who do what a task says in plain words."""
    from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice

    task = "Search for a wholesale supplier of cola"
    owner = ScriptResponder([tool_call("delegate_research", {"task": task}), tool_call("advance_day")])
    with Endpoint(owner) as endpoint:
        spec = AgentSpec("chat", ModelChoice("openai:test", endpoint.openai_url), sub_agents="rules")
        (run,) = akinai.run("vending", agent=spec, days=1, preset="classic")
    names = [entry.name for entry in run.ledger.entries]
    assert names == ["DelegateResearch", "SearchWeb", "Report", "AdvanceDay"]


def test_a_sub_agent_may_have_another_model() -> None:
    """The owner's requests go to its model and the sub-agents' to theirs; the run card names what both returned."""
    from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice

    owner = ScriptResponder([DELEGATE, tool_call("advance_day")])
    helper = ScriptResponder([tool_call("report", {"text": "Write to sales@ggbev.com."})])
    with Endpoint(ByModel({"big": owner, "small": helper})) as endpoint:
        spec = AgentSpec("chat", ModelChoice("openai:big", endpoint.openai_url), sub_agents="openai:small")
        (run,) = akinai.run("vending", agent=spec, days=1, preset="classic")
        models = [call.model for call in endpoint.calls]
    assert run.header.ending == "horizon"
    assert models == ["big", "small", "big"]
    calls = run.header.card["calls"]
    assert isinstance(calls, dict)
    assert calls["models"] == ["big", "small"]
