"""A world's rule-based player as a program on stdin and stdout: `python -m akinai.testing.stdio_player WORLD PLAYER`.

The tests of `--agent stdio:COMMAND` use it; it is also an example of such a program in Python.
"""

import asyncio
import json
import sys
from typing import Any, TextIO

from akinai import worlds
from akinai.core.agents import Role, View
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome
from akinai.core.replies.moves import read_object


async def play(world_name: str, player: str, lines: TextIO, answers: TextIO) -> None:
    """Read a view from each line and answer with an action, until the input or the player's plan ends."""
    world, agent = worlds.load(world_name), None
    for line in lines:
        turn: dict[str, Any] = json.loads(line)
        if agent is None:
            agent = world.players[player](Role(turn["actor"], world.verbs.classes))
        view = View(turn["view"], tuple(world.verbs.find(name) for name in turn["verbs"]), news=turn["news"])
        last = turn["heard"] and Outcome(turn["heard"]["text"], turn["heard"]["ok"], turn["heard"]["code"])
        try:
            move = await agent.act(view, last or None)
        except EndRun:
            return
        action = {"action": move.action.tool_name().upper(), **move.action.encode()}
        if "recorded" in turn:
            recorded = read_object(world.verbs, turn["recorded"], line).action
            if recorded != move.action:
                raise SystemExit(f"the record says {recorded!r} where {player} does {move.action!r}")
            continue
        answers.write(json.dumps(action, ensure_ascii=False) + "\n")
        answers.flush()


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1], sys.argv[2], sys.stdin, sys.stdout))
