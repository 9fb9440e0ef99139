"""A run as a rollout of agent-lightning 1.x on this machine, with its gateway, its controller and a model.

Without --model-url a rule-based player answers on OpenAI's wire. No weights are trained.
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

from akinai.testing.endpoint import Endpoint, world_responder

AGENT = {
    "agent_class": "akinai.adapters.lightning.gateway:WorldAgent",
    "env_map": {"AKINAI_TASK": "input"},
}


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def start(words: list[str], folder: str, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """Start one of the package's commands. Errors of a run appear on the controller's stderr."""
    command = Path(sys.executable).with_name(words[0])
    if not command.exists():
        sys.exit(f"there is no {command}, which agent-lightning 1.x brings; it wants Python 3.12 or newer")
    words = [str(command), *words[1:], "hydra/job_logging=disabled"]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr)


def wait_for(gateway: httpx.Client, path: str, words: set[str]) -> httpx.Response:
    """The first answer that contains one of the words. SystemExit after five minutes."""
    for _ in range(1500):
        try:
            answer = gateway.get(path)
        except httpx.TransportError:
            answer = None
        if answer and any(word in answer.text for word in words):
            return answer
        time.sleep(0.2)
    sys.exit(f"{path} said none of {', '.join(sorted(words))} in five minutes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="reference", help="the model's name at --model-url")
    parser.add_argument("--model-url", help="an OpenAI-compatible address that ends in /v1")
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = ["agl-server", "host=127.0.0.1", f"port={port}", f"default_proxy.model_name={args.model}"]
    controller = ["agl-controller", "runner_type=local", f"agl_server.url={url}", "local_runner.poll_interval=0.3"]
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        model_url = args.model_url or stack.enter_context(Endpoint(world_responder("vending", "reference"))).openai_url
        gateway = stack.enter_context(httpx.Client(base_url=url))
        stack.callback(start(server, folder, stderr=subprocess.DEVNULL).terminate)
        wait_for(gateway, "/healthz", {"ok"})
        stack.callback(start(controller, folder).terminate)
        gateway.post("/api/models", json=[{"model": args.model, "endpoint": model_url}]).raise_for_status()
        task = {
            "world": "vending",
            "seed": args.seed,
            "days": args.days,
            "store": str(Path("akinai.db").resolve()),
        }
        samples = [{"input": task, "config": {"local": AGENT}}]
        rollout = gateway.post("/api/rollouts", json=samples).json()[0]["rollout_id"]
        wait_for(gateway, f"/api/rollouts/{rollout}", {'"succeeded"', '"failed"'})
        events = gateway.get(f"/api/rollouts/{rollout}/events").json()
    replies = sum(event["event_type"] == "model_request" for event in events)
    rewards = [event["data"] for event in events if event["event_type"] == "reward"]
    print(f"{replies} replies of the model through the gateway")
    print(f"reward {rewards[-1]['value']}: {rewards[-1]['message']}" if rewards else "no reward: the rollout failed")


if __name__ == "__main__":
    main()
