"""agent-lightning 0.3, the real package: the ACE loop learns by its rollouts, and runs are rollouts."""

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
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import to_json
from akinai.learning.roles.protocols import Retrieved, Trajectory
from akinai.learning.roles.tasks import Assignment
from akinai.runtime.learn.data_sets import find_data_set
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.testing.endpoint import Endpoint, world_responder

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # warnings of the package and its dependencies
    import agentlightning

    from akinai.adapters.lightning import training as lightning

pytestmark = pytest.mark.filterwarnings("ignore")  # the same; other tests check for warnings in Akinai
SMALL = TrainConfig("vending", "naive", "1-2", "101-102", 15)
PAGE = Path(__file__).parents[2] / "docs" / "lightning.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "lightning_vending.py"


def contents(playbook: Playbook) -> Mapping[str, Any]:
    """A playbook without the times of writing."""
    document = to_json(playbook)
    metadata = {name: value for name, value in document["metadata"].items() if not name.endswith("_at")}
    return {**document, "metadata": metadata}


@dataclass(frozen=True)
class Fitted:
    """A learning run under a Trainer, and the contents of its store."""

    learned: LearnResult
    rollouts: list[Any]
    spans: Mapping[str, list[Any]]
    """By rollout id."""
    resources: Mapping[str, str]
    """The playbooks that were published, by id."""


def fit(study: lightning.Study, playbook: Path, epochs: int = 1) -> Fitted:
    algorithm = lightning.Ace(study, playbook=playbook, epochs=epochs)
    trainer = lightning.make_trainer(algorithm)
    trainer.fit(lightning.TaskAgent(study), study.samples("train"), val_dataset=study.samples("validation"))

    async def stored() -> Fitted:
        rollouts = list(await trainer.store.query_rollouts())
        spans = {rollout.rollout_id: list(await trainer.store.query_spans(rollout.rollout_id)) for rollout in rollouts}
        published = {
            update.resources_id: update.resources["playbook"].template
            for update in await trainer.store.query_resources()
        }
        assert algorithm.learned is not None
        return Fitted(algorithm.learned, rollouts, spans, published)

    return asyncio.run(stored())


@pytest.fixture(scope="module")
def vending(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fitted, str]:
    folder = tmp_path_factory.mktemp("lightning")
    store = str(folder / "runs.db")
    return fit(lightning.study(replace(SMALL, store=store)), folder / "vending.json", epochs=2), store


def test_the_playbook_equals_that_of_akinai_learn(vending: tuple[Fitted, str], tmp_path: Path) -> None:
    """The same seeds teach the same bullets, with the same ids, counters and sources, and gain the same."""
    plain = learn(SMALL, playbook=tmp_path / "vending.json", epochs=2)
    learned = vending[0].learned
    assert contents(learned.playbook) == contents(plain.playbook)
    assert len(plain.playbook) > 5
    assert (learned.gain, learned.epochs) == (plain.gain, plain.epochs)


def test_online_learning_is_the_same_too(tmp_path: Path) -> None:
    """Each run uses the playbook of earlier runs, without validation: scores and playbook equal the plain loop's."""
    online = replace(SMALL, online=True)
    plain = learn(online, playbook=tmp_path / "a.json")
    learned = lightning.learn(online, playbook=tmp_path / "b.json")
    assert contents(learned.playbook) == contents(plain.playbook)
    assert (learned.judged, learned.gain) == (plain.judged, plain.gain)


def test_models_as_roles_are_refused() -> None:
    """A model as player or reflector of a world is a UsageError before anything is played."""
    for practice in (replace(SMALL, model=ModelChoice("openai:m")), replace(SMALL, agent="chat", reflect="rules")):
        with pytest.raises(UsageError, match="rules play and reflect under a Trainer"):
            lightning.study(practice)


def test_questions_are_learned_as_without_it(tmp_path: Path) -> None:
    """Tasks that retrieve their bullets by search get the same answers as in the plain loop."""
    plain = akinai.learn("qa", playbook=tmp_path / "a.json", settings={"extra": False})
    learned = lightning.learn(find_data_set("qa", {"extra": False}), playbook=tmp_path / "b.json")
    assert contents(learned.playbook) == contents(plain.playbook)
    assert (learned.judged, learned.gain) == (plain.judged, plain.gain)


def test_a_rollouts_reward_is_the_score_of_its_run(vending: tuple[Fitted, str]) -> None:
    """The bank balance in dollars, read again from the ledger that the rollout's span names."""
    fitted, store = vending
    trained = [rollout for rollout in fitted.rollouts if rollout.mode == "train"]
    assert len(trained) == 4
    for rollout in trained:
        spans = fitted.spans[rollout.rollout_id]
        source = next(span.attributes["akinai.source"] for span in spans if "akinai.source" in span.attributes)
        run = akinai.runs(source.partition("#")[0], store=store)[0]
        assert agentlightning.find_final_reward(spans) == run.score("bank_balance") / 100
        assert source.endswith(f"#{len(run.ledger.entries)}")


def test_every_rollout_gets_the_current_playbook(vending: tuple[Fitted, str]) -> None:
    """First none, then the bullets of the first epoch; judging uses all learned bullets, none, or the
    control's."""
    fitted, _ = vending

    def bullet_counts(mode: str) -> list[int]:
        playbooks = [fitted.resources[rollout.resources_id] for rollout in fitted.rollouts if rollout.mode == mode]
        return [text.count('"content"') for text in playbooks]

    train, judged = bullet_counts("train"), bullet_counts("val")
    assert train[:2] == [0, 0]
    assert 0 < train[2] == train[3] <= len(fitted.learned.playbook)
    bullets = len(fitted.learned.playbook)
    assert judged == [bullets, bullets, 0, 0, bullets, bullets]


@dataclass
class Breaking:
    """A Generator that raises."""

    error: Exception

    async def generate(self, assignment: Assignment, retrieved: Retrieved, reflections: object = ()) -> Trajectory:
        raise self.error


def breaking(error: Exception) -> lightning.Study:
    study = lightning.study(replace(SMALL, seeds="1-3"))
    return replace(study, roles=replace(study.roles, generator=Breaking(error)))


def test_a_broken_model_stops_the_learning(tmp_path: Path) -> None:
    """Three failures in a row, as in the plain loop; the error is the model's own, though it failed on a runner."""
    with pytest.raises(ModelError, match="out to lunch"):
        lightning.learn(breaking(ModelError("out to lunch")), playbook=tmp_path / "p.json")


def test_a_rollout_without_a_record_is_not_scored(tmp_path: Path) -> None:
    """An unexpected error is raised with the rollout's task; nothing is scored."""
    with pytest.raises(AgentError, match="'vending-train-1' failed and left no record"):
        lightning.learn(breaking(ZeroDivisionError()), playbook=tmp_path / "p.json")


def test_a_spent_budget_ends_the_learning(tmp_path: Path) -> None:
    """EndRun passes from the runner to the loop: learning ends with its reason."""
    learned = lightning.learn(breaking(EndRun("budget")), playbook=tmp_path / "p.json")
    assert (learned.ending, len(learned.playbook), learned.judged) == ("budget", 0, None)


def test_the_algorithm_stops_when_the_runners_fail(tmp_path: Path) -> None:
    """When no runner is left the Trainer's error is raised, and the algorithm does not wait for ever."""

    class Deaf(agentlightning.InMemoryLightningStore):
        async def dequeue_rollout(self, *_: Any, **__: Any) -> Any:
            raise OSError("the store is gone")

    study = lightning.study(SMALL)
    trainer = agentlightning.Trainer(
        algorithm=lightning.Ace(study, playbook=tmp_path / "p.json"),
        store=Deaf(),
        tracer=agentlightning.DummyTracer(),
        strategy={"type": "shm", "main_thread": "algorithm", "graceful_delay": 0.1},
    )
    with pytest.raises(OSError, match="the store is gone"):
        trainer.fit(lightning.TaskAgent(study), study.samples("train"), val_dataset=study.samples("validation"))


def test_a_model_of_the_trainer_plays_a_run(tmp_path: Path) -> None:
    """Under the package's own algorithm its LLM resource plays over HTTP, and the reward is the ledger's score."""
    store = str(tmp_path / "runs.db")
    sample = {"world": "vending", "seed": 7, "days": 3, "store": store, "reward_scale": 0.001}
    with Endpoint(world_responder("vending", "reference")) as endpoint:
        model = agentlightning.LLM(endpoint=endpoint.openai_url, model="reference")
        advice = agentlightning.PromptTemplate(template="Never pay for a letter.", engine="jinja")
        algorithm = agentlightning.Baseline(polling_interval=0.05, span_verbosity="none")
        trainer = lightning.make_trainer(algorithm, initial_resources={"main_llm": model, "advice": advice})
        trainer.dev(lightning.RunAgent(), train_dataset=[sample])
        assert "Never pay for a letter." in str(endpoint.calls[0].request)

    async def reward() -> float | None:
        rollout = (await trainer.store.query_rollouts())[0]
        return agentlightning.find_final_reward(await trainer.store.query_spans(rollout.rollout_id))

    run = akinai.runs(store=store)[0]
    assert run.agent == "chat"
    assert asyncio.run(reward()) == pytest.approx(run.score("bank_balance") / 100 * 0.001)


def test_the_pages_python_runs(tmp_path: Path) -> None:
    """The Python of the page runs as one program without an error, with a model at its address."""
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    with Endpoint(world_responder("vending", "reference")) as endpoint:
        code = code.replace("http://127.0.0.1:8000/v1", endpoint.openai_url)
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, len(endpoint.log) > 3) == (0, True), done.stderr


def test_the_example_runs(tmp_path: Path) -> None:
    """The documented command, on fewer seeds, learns and prints the gain."""
    command = [sys.executable, str(EXAMPLE), "--seeds", "1", "--eval-seeds", "101", "--days", "8"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "bullets" in done.stdout
    assert (tmp_path / "data" / "playbooks" / "vending.json").exists()
