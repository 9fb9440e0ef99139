"""What the tests of learning with models share: questions about colours, and a pupil who plays all roles by them."""

import json
import re
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from akinai.core.models import Reply
from akinai.testing.endpoint import ModelCall

FACTS = [("red", "apple"), ("yellow", "lemon"), ("blue", "plum")]
GENERATOR, REFLECTOR, CURATOR = "generator", "reflector", "curator"


class Pupil:
    """Plays the three roles by what stands in their prompts: it answers only what a bullet tells."""

    def __init__(self, broken: Sequence[str] = (), times: int = 0) -> None:
        self.broken = cycle(broken)
        """Said, so many `times`, before each right reply."""
        self.times = times

    async def reply(self, call: ModelCall) -> Reply:
        system, *messages = call.request.messages
        if sum(message.speaker == "assistant" for message in messages) < self.times:
            return Reply(next(self.broken))
        return Reply(json.dumps(self.reply_fields(role_of(call), messages[0].text, system.text + messages[0].text)))

    def reply_fields(self, role: str, task: str, whole: str) -> dict[str, object]:
        if role == CURATOR:
            facts = dict.fromkeys(re.findall(r"Colour of \w+ -> \w+", task.rpartition("新しい")[2] or task))
            return {"operations": [{"type": "ADD", "section": "concepts", "content": fact} for fact in facts]}
        colour = re.search(r"Colour of (\w+)\?", task)
        assert colour
        if role == REFLECTOR:
            truth = dict(FACTS)[colour[1]]
            return {"key_insight": f"Colour of {colour[1]} -> {truth}", "bullet_tags": []}
        bullet = re.search(rf"\[(\S+)\] .*:: Colour of {colour[1]} -> (\w+)", whole)
        return {"bullet_ids": [bullet[1]] if bullet else [], "answer": bullet[2] if bullet else "nothing"}


def role_of(call: ModelCall) -> str:
    system = call.request.messages[0].text
    return CURATOR if '"operations"' in system else REFLECTOR if '"key_insight"' in system else GENERATOR


def write_questions() -> list[str]:
    """Files in the working folder in which the same is learned as is judged, and the words that name them."""
    rows = [
        {"q_id": n, "question": f"Colour of {colour}?", "choice0": fruit, "choice1": "stone", "label": 0}
        for n, (colour, fruit) in enumerate(FACTS)
    ]
    for name in ("train", "eval"):
        Path(f"{name}.jsonl").write_text("\n".join(json.dumps({**row, "q_id": f"{name}{row['q_id']}"}) for row in rows))
    return ["--set", "extra=false", "--set", "data=train.jsonl", "--set", "eval=eval.jsonl", "--set", "rounds=1"]
