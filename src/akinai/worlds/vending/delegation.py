"""Sub-agents as actors: the owner gives a task and waits; the sub-agent plays until it reports."""

from dataclasses import replace

from akinai.core.ledger import Outcome
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.state import Delegated, Kind, State

OWNER = "owner"
Result = tuple[State, Outcome]


def delegate(state: State, kind: Kind, task: str) -> Result:
    """Give a new sub-agent a task; until its report only it can act."""
    number = state.sub_agents + 1
    actor = f"{OWNER}/{kind}-{number}"
    task_given = Delegated(kind, actor, task, open=True)
    state = replace(state, sub_agent=task_given, sub_agents=number, tasks=state.tasks + 1, report="")
    return state, Outcome(f"{actor} is at work.", data={"sub_agent": actor})


def chat_with_sub_agent(state: State, action: a.ChatWithSubAgent) -> Result:
    """Ask the last sub-agent something more. Refused as `no_sub_agent` when there was none."""
    last = state.sub_agent
    if last is None:
        return state, Outcome.refused("no_sub_agent", "there is no sub-agent to talk to; delegate a task first")
    asked = replace(last, task=action.message, open=True)
    state = replace(state, sub_agent=asked, tasks=state.tasks + 1, report="")
    return state, Outcome(f"{last.actor} is at work.", data={"sub_agent": last.actor})


def report(state: State, action: a.Report) -> Result:
    """End the sub-agent's task; the owner sees the text."""
    last = state.sub_agent
    if last is None:
        return state, Outcome.refused("no_sub_agent", "there is no task to report on")
    return replace(state, sub_agent=replace(last, open=False), report=action.text), Outcome("Reported.")


def sub_agent_specs(state: State) -> Result:
    """Tell the kinds of sub-agents and their tools."""
    kinds = [kind for kind in a.TOOLS_OF_SUB_AGENT if kind != "physical" or state.setup.machine_by_sub_agent]
    lines = [f"- {kind}: {', '.join(verb.tool_name() for verb in a.TOOLS_OF_SUB_AGENT[kind])}" for kind in kinds]
    return state, Outcome("Sub-agents and their tools:\n" + "\n".join(lines), data={"kinds": kinds})
