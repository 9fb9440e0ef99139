"""agent-lightning 1.x, the agent's side: a base URL comes in, an event with the reward goes out.

Its controller starts a process for each rollout and passes the gateway's address in the environment. A sample's
`config.local.agent_class` names `akinai.adapters.lightning.gateway:WorldAgent`. In a container the command is
`python -m akinai.adapters.lightning.gateway`. Both sides speak HTTP, so nothing of the package is imported here.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from akinai.adapters.lightning.runs import RewardedRun, RunTask, play
from akinai.core.canonical import Json
from akinai.core.errors import AkinaiError, UsageError
from akinai.runtime.play.agent_spec import ModelChoice

BASE_URL, EVENT_URL, KEY = "AGL_OPENAI_BASE_URL", "AGL_EVENT_URL", "AGL_KEY"
"""Variables that the controller sets. The key may be empty."""
TASK = "AKINAI_TASK"
"""Holds the rollout's input as JSON, through the entry {"AKINAI_TASK": "input"} of its `env_map`."""

MODEL = "openai:agent-lightning"
"""The gateway uses its own model, whatever name a request has."""
NO_KEY = "no-key"
POST_ATTEMPTS = 5
"""Attempts to post an event. A reward that arrives twice is harmless: the last one counts."""
POST_TIMEOUT_S = 30.0
MAX_NAME = 60
"""Characters of a run's name."""
_ROLLOUT = re.compile(r"/rollouts/([^/]+)/attempt/([^/]+)/")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]")


class GatewayError(AkinaiError):
    """The gateway did not accept an event."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """The addresses of a rollout's model and of its events."""

    base_url: str
    event_url: str
    key: str = ""

    @staticmethod
    def of(environment: Mapping[str, str]) -> "Gateway":
        """The gateway that the controller set. UsageError for missing variables."""
        if missing := [name for name in (BASE_URL, EVENT_URL) if not environment.get(name)]:
            raise UsageError(f"{' and '.join(missing)} not set; agent-lightning's controller sets it for each rollout")
        return Gateway(environment[BASE_URL], environment[EVENT_URL], environment.get(KEY, ""))

    @property
    def rollout(self) -> str:
        """A valid run name for the rollout, with the attempt's number unless it is the first."""
        match = _ROLLOUT.search(self.event_url)
        rollout, attempt = match.groups() if match else (str(os.getpid()), "0")
        name = f"rollout-{rollout}" if attempt == "0" else f"rollout-{rollout}-{attempt}"
        return _UNFIT.sub("-", name)[:MAX_NAME]

    def post(self, kind: str, data: Mapping[str, Json]) -> None:
        """Post an event. GatewayError when the gateway refuses it, or cannot be reached in several attempts."""
        import httpx

        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        event = {"event_type": kind, "data": data}
        failure = ""
        for attempt in range(POST_ATTEMPTS):
            if attempt:
                time.sleep(2 ** (attempt - 2))
            try:
                answer = httpx.post(self.event_url, json=event, headers=headers, timeout=POST_TIMEOUT_S)
            except httpx.TransportError as error:
                failure = str(error) or type(error).__name__
                continue
            if answer.is_success:
                return
            failure = f"{answer.status_code} {answer.text[:200]}"
            if answer.status_code < 500:
                break
        raise GatewayError(
            f"the event {kind!r} was posted to {self.event_url}, which said {failure}; is it still there?"
        )


class WorldAgent:
    """The agent that a controller starts: plays the run named in the environment, with the gateway's model."""

    def run(self) -> RewardedRun:
        """Play, and post the reward. A failed run raises, so that the rollout fails too and gets no reward."""
        gateway = Gateway.of(os.environ)
        # In this process only. The user's own key must not reach the gateway.
        os.environ["OPENAI_API_KEY"] = gateway.key or NO_KEY
        return play_rollout(gateway, _task(os.environ.get(TASK)))


def play_rollout(gateway: Gateway, task: RunTask) -> RewardedRun:
    """Play a run with the gateway's model. Posts the place of its ledger, then its reward."""
    rewarded = play(task, ModelChoice(MODEL, gateway.base_url), name=gateway.rollout)
    gateway.post("akinai_run", rewarded.to_json())
    gateway.post("reward", {"value": rewarded.reward, "message": rewarded.summary, "source": "agent"})
    return rewarded


def _task(text: str | None) -> RunTask:
    if not text:
        raise UsageError(f'{TASK} is not set; give the rollout the env_map {{"{TASK}": "input"}}')
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{TASK} is {text!r:.80}, which is no JSON ({error})") from error
    return RunTask.of(data)


if __name__ == "__main__":
    print(WorldAgent().run().summary)  # noqa: T201 - for the log of a container
