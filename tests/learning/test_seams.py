"""Laws of the seams: steps of one's own, and retrievers, refiners and roles that packages bring by name."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from learners_for_tests import Rules, codes, contents, data_set, make_job

import akinai
import forked
from akinai.core.errors import UnknownName, UsageError
from akinai.learning.loop.graph import checkpointer, learn_in_graph
from akinai.learning.loop.job import Job, Node
from akinai.learning.loop.loop import learn
from akinai.learning.loop.state import LoopState
from akinai.learning.roles.protocols import Evaluation, Insights, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator

EXAMPLE = Path(__file__).parents[2] / "examples" / "learn_verifier.py"

PACKAGE = """
from dataclasses import replace
from akinai.learning import Edit
from akinai.learning.loop.retriever import PlaybookRetriever

class Nothing(PlaybookRetriever):
    def retrieve(self, playbook, query):
        return self.by_ids(playbook, ())

def shout(playbook):
    loud = {bullet.id: replace(bullet, content=bullet.content.upper()) for bullet in playbook}
    return Edit(playbook.with_bullets(loud), "louder")

def renamed(context):
    return replace(context.roles, label="a method")
"""
ENTRY_POINTS = """
[akinai.retrievers]
nothing = seams_for_tests:Nothing
[akinai.refiners]
shout = seams_for_tests:shout
[akinai.roles]
renamed = seams_for_tests:renamed
broken = seams_that_are_missing:x
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with parts of the learner."""
    info = tmp_path / "site" / "seams_for_tests-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "seams_for_tests.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: seams-for-tests\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path / "site")


@pytest.mark.usefixtures("package")
def test_a_package_brings_parts_by_name(tmp_path: Path) -> None:
    """A retriever, a refiner and roles of a package are chosen by settings alone; unknown names are refused."""
    rules = data_set(codes(1, 2), codes(1, 2))
    learned = akinai.learn(rules, playbook=tmp_path / "p.json", settings={"refiners": ["shout"], "method": "renamed"})
    assert contents(learned.playbook) == ["THE CODE OF ITEM1 IS CODE1", "THE CODE OF ITEM2 IS CODE2"]
    assert learned.label == "a method"
    blind = akinai.learn(rules, playbook=tmp_path / "q.json", settings={"retrieval": "nothing"})
    assert blind.judged is not None
    assert (blind.judged.accuracy, len(blind.playbook)) == (0, 2)
    for setting, why in (("refiners", "refiner"), ("retrieval", "retriever"), ("method", "method")):
        value = ["shuot"] if setting == "refiners" else "nothin"
        with pytest.raises(UnknownName, match=f"no {why}"):
            akinai.learn(rules, playbook=tmp_path / "r.json", settings={setting: value})
    with pytest.raises(UsageError, match="install what it needs"):
        akinai.learn(rules, playbook=tmp_path / "r.json", settings={"method": "broken"})
    assert not (tmp_path / "r.json").exists()


async def note(job: Job, state: LoopState) -> LoopState:
    visits = state.notes.get("visits", 0) + 1
    return replace(state, notes={"visits": visits, "json": "half of \ud83d"})


def back_once(job: Job, state: LoopState) -> str | None:
    return "generate" if state.notes["visits"] == 1 else None


async def test_nodes_and_edges_of_ones_own_run_in_the_loop_and_in_the_graph(tmp_path: Path) -> None:
    """A node after a step runs each time, may go elsewhere, and its notes come through a checkpoint as they were."""
    nodes = [Node("note", note, after="generate", route=back_once, may_go_to=("generate",))]
    jobs = [replace(make_job(tmp_path / name, codes(1, 4), batch=2), nodes=nodes) for name in "ab"]
    seen: list[str] = []
    by_loop = await learn(jobs[0], watch=lambda step, state: seen.append(step))
    assert seen[:5] == ["generate", "note", "generate", "note", "evaluate"]
    assert by_loop.notes == {"visits": 3, "json": "half of \ud83d"}
    async with checkpointer(str(tmp_path / "c.db")) as saver:
        assert await learn_in_graph(jobs[1], saver, "t") == by_loop
        assert jobs[0].playbook.path.read_bytes() == jobs[1].playbook.path.read_bytes()
        saved = await saver.aget_tuple({"configurable": {"thread_id": "t"}})
    assert saved is not None
    values = saved.checkpoint["channel_values"]
    assert (values["epoch"], values["epochs"][0]["counts"]["tasks"], values["over"]) == (2, 4, True)


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([Node("reflect", note, after="generate")], "give the node another name"),
        ([Node("a", note, after="generat")], "no step 'generat'"),
        ([Node("a", note, after="gate"), Node("b", note, after="gate")], "two nodes follow 'gate'"),
        ([Node("a", note, after="gate", may_go_to=("nowhere",))], "no step 'nowhere'"),
    ],
)
def test_nodes_that_do_not_fit_are_refused(tmp_path: Path, nodes: list[Node], why: str) -> None:
    """Before anything is written."""
    with pytest.raises(UsageError, match=why):
        akinai.learn(data_set(codes(1, 1)), playbook=tmp_path / "p.json", nodes=nodes)
    assert not (tmp_path / "p.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("folder", [(), ("there",)])
def test_the_example_verifies(tmp_path: Path, folder: Sequence[str]) -> None:
    """The verifier takes back every guess of the first epoch, and nothing in the second; the folder may be left out."""
    run = forked.run([sys.executable, str(EXAMPLE), *folder], cwd=tmp_path)
    assert run.stdout.splitlines() == ["5 without an answer", "0 without an answer", "{'taken_back': 5}"], run.stderr


class Wavering(Rules):
    """Answers right every second time, and keeps the reports that it reflects on."""

    reports: list[str] = []
    count = 0

    async def generate(self, assignment: Any, retrieved: Any, reflections: Any = ()) -> Trajectory:
        Wavering.count += 1
        return Trajectory(assignment.id, f"code{assignment.id[1:]}" if Wavering.count % 2 else "unknown")

    async def reflect(self, task: Any, trajectory: Any, evaluation: Evaluation, *further: Any) -> Insights:
        self.reports.append(evaluation.report)
        return await super().reflect(task, trajectory, evaluation, *further)


def test_attempts_at_one_task_are_contrasted(tmp_path: Path) -> None:
    """With `contrast` a task whose attempts went differently is reflected on, though its first attempt was right."""
    rules = Wavering()
    tasks = data_set(codes(1, 1), rules=Roles(rules, rules, LessonCurator()))
    learned = akinai.learn(tasks, playbook=tmp_path / "p.json", settings={"contrast": 3})
    assert learned.epochs[0].accuracy == 1.0
    assert rules.reports == [
        "attempt 1 answered 'code1': right, 1\nattempt 2 answered 'unknown': wrong, 0\n"
        "attempt 3 answered 'code1': right, 1"
    ]
    assert len(learned.playbook) == 1
