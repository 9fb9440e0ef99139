"""What the learning roles are told: the task's text for the Curator, and where in the training they are."""

from pathlib import Path

import pytest
from learners_for_tests import CodesBrain, codes, data_set, make_job

import akinai
from akinai.core.errors import UsageError
from akinai.core.models import Reply, Request
from akinai.learning.loop.loop import learn
from akinai.learning.roles.model import model_roles
from akinai.testing.endpoint import ModelCall


class Listening:
    """An asker that answers by a brain, and keeps every prompt."""

    def __init__(self, role: str, prompts: list[tuple[str, str]]) -> None:
        self.role, self.prompts = role, prompts

    async def ask(self, request: Request) -> Reply:
        self.prompts.append((self.role, "\n".join(message.text for message in request.messages)))
        return await CodesBrain().reply(ModelCall("k", 1, "m", request, ""))


async def test_roles_know_the_task_and_where_the_training_is(tmp_path: Path) -> None:
    """The Curator reads the task that its insights come from; both learning roles read epoch and task."""
    prompts: list[tuple[str, str]] = []
    roles = model_roles(lambda role: Listening(role, prompts), "scripted")
    await learn(make_job(tmp_path, codes(1, 3), roles, epochs=2))
    curated = [text for role, text in prompts if role == "curator"]
    assert len(curated) == 3
    for number, text in enumerate(curated, 1):
        assert f"[t{number}]\nWhat is the code of item{number}?" in text
        assert f"Training: epoch 1 of 2, task {number} of 3." in text
    assert any("Training: epoch 1 of 2, task 2 of 3." in text for role, text in prompts if role == "reflector")
    assert not any("Training:" in text for role, text in prompts if role == "generator")


def test_prompts_are_written_to_start_from(tmp_path: Path) -> None:
    """The folder holds every prompt as it would be sent, can be named at once, and is not written over."""
    files = akinai.write_prompts(data_set(codes(1, 1)), tmp_path / "mine")
    assert {"generator.md", "reflector.md", "curator.md"} <= {file.name for file in files}
    assert "You solve tasks" in (tmp_path / "mine" / "generator.md").read_text()
    akinai.learn(data_set(codes(1, 1)), playbook=tmp_path / "p.json", settings={"prompts": str(tmp_path / "mine")})
    with pytest.raises(UsageError, match="is there already"):
        akinai.write_prompts(data_set(codes(1, 1)), tmp_path / "mine")
