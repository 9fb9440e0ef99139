"""agent-lightning 1.x, the agent's side: a base URL comes in, an event with the reward goes out.

Its controller starts a process for each rollout and tells it by the environment where the gateway is; a sample's
`config.local.agent_class` names `akinai.adapters.lightning_gateway:WorldAgent`. In a container the command is
`python -m akinai.adapters.lightning_gateway`. What is spoken is HTTP, so nothing of the package is imported here.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from akinai.adapters.lightning_runs import Rewarded, RunTask, play
from akinai.core.canonical import Json
from akinai.core.errors import AkinaiError, UsageError
from akinai.runtime.cast import ModelChoice

BASE_URL, EVENT_URL, KEY = "AGL_OPENAI_BASE_URL", "AGL_EVENT_URL", "AGL_KEY"
"""What the controller sets. The key may be empty."""
TASK = "AKINAI_TASK"
"""The rollout's input as JSON, by the entry {"AKINAI_TASK": "input"} of its `env_map`."""

MODEL = "openai:agent-lightning"
"""The gateway asks the model that it serves, whatever name it is sent."""
NO_KEY = "no-key"
POSTS = 5
"""Times that an event is posted. A reward that arrives twice does no harm: the last one counts."""
POST_TIMEOUT_S = 30.0
LONGEST_NAME = 60
_ROLLOUT = re.compile(r"/rollouts/([^/]+)/attempt/([^/]+)/")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]")


class GatewayError(AkinaiError):
    """The gateway does not take an event."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where a rollout's model answers and its events go."""

    base_url: str
    event_url: str
    key: str = ""

    @staticmethod
    def of(environment: Mapping[str, str]) -> "Gateway":
        """From what the controller set. UsageError for what is not there."""
        if missing := [name for name in (BASE_URL, EVENT_URL) if not environment.get(name)]:
            raise UsageError(f"{' and '.join(missing)} not set; agent-lightning's controller sets it for each rollout")
        return Gateway(environment[BASE_URL], environment[EVENT_URL], environment.get(KEY, ""))

    @property
    def rollout(self) -> str:
        """Names the rollout, and its attempt where it is not the first, as runs are named."""
        found = _ROLLOUT.search(self.event_url)
        rollout, attempt = found.groups() if found else (str(os.getpid()), "0")
        name = f"rollout-{rollout}" if attempt == "0" else f"rollout-{rollout}-{attempt}"
        return _UNFIT.sub("-", name)[:LONGEST_NAME]

    def post(self, kind: str, data: Mapping[str, Json]) -> None:
        """An event of the rollout. GatewayError when the gateway refuses it, or is not reached in several tries."""
        import httpx

        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        event = {"event_type": kind, "data": data}
        found = ""
        for nth in range(POSTS):
            if nth:
                time.sleep(2 ** (nth - 2))
            try:
                answer = httpx.post(self.event_url, json=event, headers=headers, timeout=POST_TIMEOUT_S)
            except httpx.TransportError as error:
                found = str(error) or type(error).__name__
                continue
            if answer.is_success:
                return
            found = f"{answer.status_code} {answer.text[:200]}"
            if answer.status_code < 500:
                break
        raise GatewayError(f"the event {kind!r} was posted to {self.event_url}, which said {found}; is it still there?")


class WorldAgent:
    """Plays the run that the environment asks for, with the gateway's model. What a controller starts."""

    def run(self) -> Rewarded:
        """Play, and post the reward. A run that fails raises, so that the rollout fails too and gets no reward."""
        gateway = Gateway.of(os.environ)
        # Of this process alone: the user's own key is none of the gateway's business.
        os.environ["OPENAI_API_KEY"] = gateway.key or NO_KEY
        return play_rollout(gateway, _task(os.environ.get(TASK)))


def play_rollout(gateway: Gateway, task: RunTask) -> Rewarded:
    """Play a run whose model the gateway serves; post where its ledger is, then its reward."""
    rewarded = play(task, ModelChoice(MODEL, gateway.base_url), name=gateway.rollout)
    gateway.post("akinai_run", rewarded.to_json())
    gateway.post("reward", {"value": rewarded.reward, "message": rewarded.told, "source": "agent"})
    return rewarded


def _task(text: str | None) -> RunTask:
    if not text:
        raise UsageError(f'{TASK} is not set; give the rollout the env_map {{"{TASK}": "input"}}')
    try:
        told: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{TASK} is {text!r:.80}, which is no JSON ({error})") from error
    return RunTask.of(told)


if __name__ == "__main__":
    print(WorldAgent().run().told)  # noqa: T201 - for the log of a container
