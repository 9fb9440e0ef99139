"""A run as a rollout of agent-lightning 1.x, on this machine: its gateway, its controller, and a model behind them.

Without --model-url the model is a rule-based player that speaks OpenAI's wire. No weights are trained.
"""

import argparse
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from akinai.testing.endpoint import Endpoint
from akinai.testing.endpoint_command import players_of

AGENT = {
    "agent_class": "akinai.adapters.lightning_gateway:WorldAgent",
    "env_map": {"AKINAI_TASK": "input"},
}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def begun(words: list[str], folder: str, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """One of the package's commands; what a run has to complain of comes through the controller's stderr."""
    command = Path(sys.executable).with_name(words[0])
    if not command.exists():
        sys.exit(f"there is no {command}, which agent-lightning 1.x brings; it wants Python 3.12 or newer")
    words = [str(command), *words[1:], "hydra/job_logging=disabled"]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr)


def waited(gateway: httpx.Client, path: str, over: set[str]) -> httpx.Response:
    """The first answer that says one of `over`; SystemExit after five minutes."""
    for _ in range(1500):
        try:
            answer = gateway.get(path)
        except httpx.TransportError:
            answer = None
        if answer and any(word in answer.text for word in over):
            return answer
        time.sleep(0.2)
    sys.exit(f"{path} said none of {', '.join(sorted(over))} in five minutes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="reference", help="its name at --model-url")
    parser.add_argument("--model-url", help="an OpenAI-compatible address that ends in /v1")
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = ["agl-server", "host=127.0.0.1", f"port={port}", f"default_proxy.model_name={asked.model}"]
    controller = ["agl-controller", "runner_type=local", f"agl_server.url={url}", "local_runner.poll_interval=0.3"]
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        model_url = asked.model_url or stack.enter_context(Endpoint(players_of("vending", "reference"))).openai_url
        gateway = stack.enter_context(httpx.Client(base_url=url))
        stack.callback(begun(server, folder, stderr=subprocess.DEVNULL).terminate)
        waited(gateway, "/healthz", {"ok"})
        stack.callback(begun(controller, folder).terminate)
        gateway.post("/api/models", json=[{"model": asked.model, "endpoint": model_url}]).raise_for_status()
        task = {"world": "vending", "seed": asked.seed, "days": asked.days, "store": str(Path("akinai.db").resolve())}
        wanted = [{"input": task, "config": {"local": AGENT}}]
        rollout = gateway.post("/api/rollouts", json=wanted).json()[0]["rollout_id"]
        waited(gateway, f"/api/rollouts/{rollout}", {'"succeeded"', '"failed"'})
        events = gateway.get(f"/api/rollouts/{rollout}/events").json()
    replies = sum(one["event_type"] == "model_request" for one in events)
    rewards = [one["data"] for one in events if one["event_type"] == "reward"]
    print(f"{replies} replies of the model through the gateway")
    print(f"reward {rewards[-1]['value']}: {rewards[-1]['message']}" if rewards else "no reward: the rollout failed")


if __name__ == "__main__":
    main()
