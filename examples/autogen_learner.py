"""An AutoGen assistant answers questions with the bullets of a playbook; the rule-based roles write the playbook.

`python examples/autogen_learner.py gpt-5-mini FOLDER` asks that model, at OPENAI_BASE_URL or OpenAI.
"""

import sys
from dataclasses import replace
from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ChatCompletionClient

import akinai
from akinai.adapters.autogen import AutogenGenerator, openai_client
from akinai.runtime.learn.data_sets import find_data_set


def pupil(client: ChatCompletionClient) -> AssistantAgent:
    return AssistantAgent("pupil", client, system_message="You answer questions. Trust the lessons you are given.")


if __name__ == "__main__":
    model, folder = sys.argv[1], Path(sys.argv[2])
    questions = find_data_set("qa", {"extra": False})
    assert questions.rules
    roles = replace(questions.rules, generator=AutogenGenerator(lambda: openai_client(model), pupil), label=model)
    learned = akinai.learn(replace(questions, rules=roles), playbook=folder / "questions.json")
    assert learned.baseline
    assert learned.judged
    print(f"{learned.baseline.accuracy:.0%} without a playbook, {learned.judged.accuracy:.0%} with it")
