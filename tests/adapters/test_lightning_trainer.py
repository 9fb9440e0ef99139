"""agent-lightning 0.3, the real one: what the ACE loop learns by its rollouts, and runs as rollouts of its own."""

import asyncio
import re
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.errors import AgentError, EndRun, ModelError, UsageError
from akinai.learning.formats import to_json
from akinai.learning.playbook import Playbook
from akinai.learning.roles import Retrieved, Trajectory
from akinai.learning.tasks import Assignment
from akinai.runtime.cast import ModelChoice
from akinai.runtime.learn import Learned
from akinai.runtime.learn_qa import qa_tasks
from akinai.runtime.learn_world import Practice, learn_world
from akinai.testing.endpoint import Endpoint
from akinai.testing.endpoint_command import players_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the package and its own dependencies are warned of
    import agentlightning

    from akinai.adapters import lightning

pytestmark = pytest.mark.filterwarnings("ignore")  # the same; what Akinai is warned of, the other tests say
SMALL = Practice("vending", "naive", "1-2", "101-102", 15)
PAGE = Path(__file__).parents[2] / "docs" / "lightning.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "lightning_vending.py"


def contents(playbook: Playbook) -> Mapping[str, Any]:
    """All of a playbook but the time at which it was written."""
    told = to_json(playbook)
    metadata = {name: value for name, value in told["metadata"].items() if not name.endswith("_at")}
    return {**told, "metadata": metadata}


@dataclass(frozen=True)
class Fitted:
    """A learning under a Trainer, and what is left in its store."""

    learned: Learned
    rollouts: list[Any]
    spans: Mapping[str, list[Any]]
    """By rollout."""
    resources: Mapping[str, str]
    """The playbooks that were published, by id."""


def fitted(what: lightning.Study, playbook: Path, epochs: int = 1) -> Fitted:
    algorithm = lightning.Ace(what, playbook=playbook, epochs=epochs)
    trainer = lightning.trainer(algorithm)
    trainer.fit(lightning.TaskAgent(what), what.samples("train"), val_dataset=what.samples("validation"))

    async def kept() -> Fitted:
        rollouts = list(await trainer.store.query_rollouts())
        spans = {one.rollout_id: list(await trainer.store.query_spans(one.rollout_id)) for one in rollouts}
        published = {
            one.resources_id: one.resources["playbook"].template for one in await trainer.store.query_resources()
        }
        assert algorithm.learned is not None
        return Fitted(algorithm.learned, rollouts, spans, published)

    return asyncio.run(kept())


@pytest.fixture(scope="module")
def vending(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fitted, str]:
    folder = tmp_path_factory.mktemp("lightning")
    store = str(folder / "runs.db")
    return fitted(lightning.study(replace(SMALL, store=store)), folder / "vending.json", epochs=2), store


def test_the_playbook_is_that_of_akinai_learn(vending: tuple[Fitted, str], tmp_path: Path) -> None:
    """The same seeds teach the same bullets, with the same ids, counters and sources, and gain the same."""
    plain = learn_world(SMALL, playbook=tmp_path / "vending.json", epochs=2)
    learned = vending[0].learned
    assert contents(learned.playbook) == contents(plain.playbook)
    assert len(plain.playbook) > 5
    assert (learned.gain, learned.epochs) == (plain.gain, plain.epochs)


def test_online_learning_is_the_same_too(tmp_path: Path) -> None:
    """Each run by the playbook of those before it, and no validation: scores and playbook are the plain loop's."""
    online = replace(SMALL, online=True)
    plain = learn_world(online, playbook=tmp_path / "a.json")
    learned = lightning.learn(online, playbook=tmp_path / "b.json")
    assert contents(learned.playbook) == contents(plain.playbook)
    assert (learned.judged, learned.gain) == (plain.judged, plain.gain)


def test_models_as_roles_are_refused() -> None:
    """A world that a model plays or reflects on is left to `akinai learn`, before anything is played."""
    for practice in (replace(SMALL, model=ModelChoice("openai:m")), replace(SMALL, agent="chat", reflects="rules")):
        with pytest.raises(UsageError, match="rules play and reflect under a Trainer"):
            lightning.study(practice)


def test_questions_are_learned_as_without_it(tmp_path: Path) -> None:
    """Tasks that find their bullets by search and polls are answered as the plain loop answers them, one by one."""
    plain = akinai.learn("qa", playbook=tmp_path / "a.json", options={"extra": False})
    learned = lightning.learn(qa_tasks(extra=False), playbook=tmp_path / "b.json")
    assert contents(learned.playbook) == contents(plain.playbook)
    assert (learned.judged, learned.gain) == (plain.judged, plain.gain)


def test_a_rollouts_reward_is_the_score_of_its_run(vending: tuple[Fitted, str]) -> None:
    """Net worth in dollars, read again from the ledger that the rollout's span names."""
    fit, store = vending
    trained = [one for one in fit.rollouts if one.mode == "train"]
    assert len(trained) == 4
    for rollout in trained:
        spans = fit.spans[rollout.rollout_id]
        source = next(span.attributes["akinai.source"] for span in spans if "akinai.source" in span.attributes)
        run = akinai.runs(source.partition("#")[0], store=store)[0]
        assert agentlightning.find_final_reward(spans) == run.score("net_worth") / 100
        assert source.endswith(f"#{len(run.ledger.entries)}")


def test_every_rollout_is_given_the_playbook_of_its_time(vending: tuple[Fitted, str]) -> None:
    """None at first, what the first epoch taught in the second; the judged have what was learned, or nothing."""
    fit, _ = vending

    def told(mode: str) -> list[int]:
        given = [fit.resources[one.resources_id] for one in fit.rollouts if one.mode == mode]
        return [text.count('"content"') for text in given]

    train, judged = told("train"), told("val")
    assert train[:2] == [0, 0]
    assert 0 < train[2] == train[3] <= len(fit.learned.playbook)
    assert judged == [len(fit.learned.playbook)] * 2 + [0, 0]


@dataclass
class Breaking:
    """A Generator that raises."""

    error: Exception

    async def generate(self, assignment: Assignment, given: Retrieved, reflections: object = ()) -> Trajectory:
        raise self.error


def breaking(error: Exception) -> lightning.Study:
    what = lightning.study(replace(SMALL, seeds="1-3"))
    return replace(what, roles=replace(what.roles, generator=Breaking(error)))


def test_a_broken_model_stops_the_learning(tmp_path: Path) -> None:
    """Three in a row, as in the plain loop; the error is the model's own, though it broke on a runner."""
    with pytest.raises(ModelError, match="out to lunch"):
        lightning.learn(breaking(ModelError("out to lunch")), playbook=tmp_path / "p.json")


def test_a_rollout_without_a_record_is_no_wrong_answer(tmp_path: Path) -> None:
    """What breaks in no known way is raised, and names the rollout's task; nothing is scored."""
    with pytest.raises(AgentError, match="'vending-train-1' failed and left no record"):
        lightning.learn(breaking(ZeroDivisionError()), playbook=tmp_path / "p.json")


def test_a_spent_budget_ends_the_learning(tmp_path: Path) -> None:
    """EndRun crosses from the runner to the loop: the learning is over and says why."""
    learned = lightning.learn(breaking(EndRun("budget")), playbook=tmp_path / "p.json")
    assert (learned.ending, len(learned.playbook), learned.judged) == ("budget", 0, None)


def test_runners_that_break_leave_nobody_waiting(tmp_path: Path) -> None:
    """When no runner is left the Trainer's error comes out; the algorithm waits for no rollout for ever."""

    class Deaf(agentlightning.InMemoryLightningStore):
        async def dequeue_rollout(self, *_: Any, **__: Any) -> Any:
            raise OSError("the store is gone")

    what = lightning.study(SMALL)
    trainer = agentlightning.Trainer(
        algorithm=lightning.Ace(what, playbook=tmp_path / "p.json"),
        store=Deaf(),
        tracer=agentlightning.DummyTracer(),
        strategy={"type": "shm", "main_thread": "algorithm", "graceful_delay": 0.1},
    )
    with pytest.raises(OSError, match="the store is gone"):
        trainer.fit(lightning.TaskAgent(what), what.samples("train"), val_dataset=what.samples("validation"))


def test_a_model_of_the_trainer_plays_a_run(tmp_path: Path) -> None:
    """Under the package's own algorithm: its LLM resource is asked over HTTP, and earns what its ledger says."""
    store = str(tmp_path / "runs.db")
    sample = {"world": "vending", "seed": 7, "days": 3, "store": store, "reward_scale": 0.001}
    with Endpoint(players_of("vending", "reference")) as endpoint:
        model = agentlightning.LLM(endpoint=endpoint.openai_url, model="reference")
        told = agentlightning.PromptTemplate(template="Never pay for a letter.", engine="jinja")
        algorithm = agentlightning.Baseline(polling_interval=0.05, span_verbosity="none")
        trainer = lightning.trainer(algorithm, initial_resources={"main_llm": model, "advice": told})
        trainer.dev(lightning.RunAgent(), train_dataset=[sample])
        assert "Never pay for a letter." in str(endpoint.asked[0].request)

    async def reward() -> float | None:
        rollout = (await trainer.store.query_rollouts())[0]
        return agentlightning.find_final_reward(await trainer.store.query_spans(rollout.rollout_id))

    run = akinai.runs(store=store)[0]
    assert run.agent == "chat"
    assert asyncio.run(reward()) == pytest.approx(run.score("net_worth") / 100 * 0.001)


def test_the_pages_python_runs(tmp_path: Path) -> None:
    """A reader who pastes one example of the page after the other meets no error, with a model at the address there."""
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    with Endpoint(players_of("vending", "reference")) as endpoint:
        code = code.replace("http://127.0.0.1:8000/v1", endpoint.openai_url)
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, len(endpoint.log) > 3) == (0, True), done.stderr


def test_the_example_runs(tmp_path: Path) -> None:
    """The documented command, on fewer seeds: it learns, and says what that is worth."""
    command = [sys.executable, str(EXAMPLE), "--seeds", "1", "--eval-seeds", "101", "--days", "8"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "bullets" in done.stdout
    assert (tmp_path / "data" / "playbooks" / "vending.json").exists()
