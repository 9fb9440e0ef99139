"""An AutoGen assistant with its own system message runs the vending business for ten days.

`python examples/autogen_player.py gpt-5-mini` asks that model, at OPENAI_BASE_URL or OpenAI, with OPENAI_API_KEY.
Without a model the rule-based player answers on a model's wire on this machine: no key, no network. The preset is
`classic`: there that player needs no more than the texts that a model reads.
"""

import sys
from contextlib import ExitStack

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ChatCompletionClient
from autogen_core.tools import Workbench

import akinai
from akinai import worlds
from akinai.adapters.autogen import autogen_agent, openai_client
from akinai.core import Role
from akinai.testing.endpoint import Endpoint, PlayerResponder

SYSTEM = "You run a business by calling tools; nobody reads what you write beside a call. Never run out of what sells."


def shopkeeper(role: Role, client: ChatCompletionClient, verbs: Workbench) -> AssistantAgent:
    return AssistantAgent("shopkeeper", client, workbench=verbs, system_message=SYSTEM)


if __name__ == "__main__":
    with ExitStack() as stack:
        model, options = " ".join(sys.argv[1:]) or "reference", {}
        if len(sys.argv) == 1:
            vending = worlds.load("vending")
            brain = PlayerResponder(vending.players["reference"], vending.verbs)
            options["base_url"] = stack.enter_context(Endpoint(brain)).openai_url
        agent = autogen_agent(lambda: openai_client(model, **options), shopkeeper)
        (run,) = akinai.run("vending", agent=agent, days=10, preset="classic")
        if run.error:
            sys.exit(run.error)
        print(f"{model}: {run.ending}, {len(run.ledger.entries)} actions")
        print(f"net worth ${run.score('net_worth') / 100:,.2f}, ledger {run.ledger.digest[:12]}")
