"""The public package's own agents trade on our server; their model calls are answered by our endpoint on loopback."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from brain import Brain

from akinai.server.serving import ServeConfig, running_server
from akinai.testing.endpoint import Endpoint
from populations import POPULATIONS

HERE = Path(__file__).parent
TIMEOUT_S = 300


@pytest.mark.parametrize(
    ("population", "algorithm", "hosted"),
    [("3x9", "simple", False), ("3x9", "lexical", True), ("10x30", "lexical", False), ("10x30", "optimal", True)],
)
async def test_every_customer_buys(population: str, algorithm: str, hosted: bool, tmp_path: Path) -> None:
    """Each of the public customers buys once from a public business, in an empty market and in one with a population.

    A failed fetch looks like an empty mailbox to these agents, so purchases are counted, and no agent logged an error.
    """
    folder = POPULATIONS / population
    config = ServeConfig(str(folder) if hosted else None, store="memory:", port=0)
    async with running_server(config) as server:
        with Endpoint(Brain()) as endpoint:
            outcome = await _trade(server.info.url, folder, algorithm, endpoint, tmp_path)
        paid = [id for ids in outcome["paid"].values() for id in ids]
        assert {agent: len(ids) for agent, ids in outcome["paid"].items()} == dict.fromkeys(outcome["paid"], 1)
        assert sorted(id for ids in outcome["confirmed"].values() for id in ids) == sorted(paid)
        assert f"{len(paid)}x{len(outcome['confirmed'])}" == population
        assert server.market.committed.state.payments == len(paid)
        assert {exchange.status for exchange in endpoint.log} == {200}, [exchange.error for exchange in endpoint.log]
        async with httpx.AsyncClient(base_url=server.info.url, trust_env=False) as http:
            logs = (await http.get("/logs")).json()["items"]
        assert logs
        assert not [log for log in logs if log["level"] in ("warning", "error")]


async def _trade(url: str, folder: Path, algorithm: str, endpoint: Endpoint, working: Path) -> Any:
    """What the public agents bought and sold, played in a process of their own as a user of the package does."""
    model = {"LLM_PROVIDER": "openai", "LLM_MODEL": "scripted", "OPENAI_API_KEY": "none"}
    environment = {**os.environ, **model, "OPENAI_BASE_URL": endpoint.openai_url, "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, str(HERE / "public_agents.py"), url, str(folder), algorithm]
    agents = await asyncio.create_subprocess_exec(
        *command, cwd=working, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, errors = await asyncio.wait_for(agents.communicate(), TIMEOUT_S)
    except TimeoutError:
        agents.kill()
        raise
    assert agents.returncode == 0, errors.decode()
    return json.loads(output.splitlines()[-1])
