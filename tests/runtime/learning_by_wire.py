"""What the tests of learning with models in a world share: a brain that plays, reflects and curates behind one wire."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from akinai.core.models import Reply
from akinai.testing.endpoint import ModelCall, PlayerResponder
from akinai.worlds.vending import Vending

PLAYER, REFLECTOR, CURATOR = "player", "reflector", "curator"


def role_of(call: ModelCall) -> str:
    """Who is asked, by the form of the answer that the prompt wants."""
    system = call.request.messages[0].text
    return CURATOR if '"operations"' in system else REFLECTOR if '"insights"' in system else PLAYER


def text_of(call: ModelCall) -> str:
    return "\n".join(message.text for message in call.request.messages)


@dataclass
class Business:
    """Plays by rules, finds one thing a run, and writes it down; keeps all that it was shown."""

    player: str = "naive"
    broken: Sequence[str] = ()
    """What the Curator says first, each once a request."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Role and text of every request."""
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._plays = PlayerResponder(Vending.players[self.player], Vending.verbs)

    async def reply(self, call: ModelCall) -> Reply:
        role, text = role_of(call), text_of(call)
        self.requests.append((role, text))
        if role == PLAYER:
            return await self._plays.reply(call)
        if role == REFLECTOR:
            return Reply(json.dumps(self.insights(text)))
        replies = sum(message.speaker == "assistant" for message in call.request.messages)
        return Reply(self.broken[replies] if replies < len(self.broken) else json.dumps(self.operations(text)))

    def insights(self, text: str) -> dict[str, Any]:
        entry = re.search(r"#(\d+) day \d+ owner: SendEmail", text)
        seed = re.search(r"vending, seed (\d+)", text)
        assert entry
        assert seed
        insight = {
            "insight": f"Order before the shelves are empty, as seed {seed[1]} shows.",
            "entries": [int(entry[1])],
        }
        return {"reasoning": "It sold out.", "insights": [insight], "bullet_tags": []}

    def operations(self, text: str) -> dict[str, Any]:
        insights = re.findall(r"(Order before .*?\.) \[(.*?)\]", text.rpartition("New insights")[2])
        return {
            "operations": [
                {"type": "ADD", "section": "stock_and_orders", "content": content, "evidence": [source]}
                for content, source in insights
            ]
        }

    def of(self, role: str) -> list[str]:
        return [text for role_asked, text in self.requests if role_asked == role]
