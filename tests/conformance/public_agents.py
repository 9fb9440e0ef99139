"""The public package's agents on a server: `python public_agents.py URL POPULATION ALGORITHM`, the model in the
environment as the package reads it. Writes what each customer bought and each business confirmed, as JSON."""

import asyncio
import json
import logging
import sys
from pathlib import Path

from magentic_marketplace.experiments.utils import load_businesses_from_yaml, load_customers_from_yaml
from magentic_marketplace.marketplace.agents import BusinessAgent, CustomerAgent
from magentic_marketplace.platform.launcher import AgentLauncher

POLLING_S = 0.2
STEPS = 200
"""Steps after which a customer gives up; a purchase takes about ten."""


async def trade(url: str, population: Path, algorithm: str) -> dict[str, dict[str, list[str]]]:
    """Proposal ids that customers paid and businesses confirmed, by agent."""
    businesses = [
        BusinessAgent(business, url, polling_interval=POLLING_S)
        for business in load_businesses_from_yaml(population / "businesses")
    ]
    customers = [
        CustomerAgent(customer, url, search_algorithm=algorithm, polling_interval=POLLING_S, max_steps=STEPS)
        for customer in load_customers_from_yaml(population / "customers")
    ]
    async with AgentLauncher(url) as launcher:
        await launcher.run_agents_with_dependencies(customers, businesses)
    return {
        "paid": {agent.id: agent.completed_transactions for agent in customers},
        "confirmed": {agent.id: agent.confirmed_orders for agent in businesses},
    }


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    outcome = asyncio.run(trade(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
    sys.stdout.write(json.dumps(outcome))
