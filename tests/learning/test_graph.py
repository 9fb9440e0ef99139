"""Laws of the graph: the loop as LangGraph nodes gives what the loop gives, and goes on at its node after a crash."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from learners_for_tests import CodesBrain, Rules, codes, contents, data_set, fact, make_job, prompt_of, roles

import akinai
import forked
from akinai.core.errors import EndRun, UsageError
from akinai.core.models import Reply
from akinai.learning.loop.graph import checkpointer, compiled, learn_in_graph, mermaid
from akinai.learning.loop.job import Job, Node
from akinai.learning.loop.loop import EDGES, STEPS, learn
from akinai.learning.loop.state import LoopState
from akinai.learning.roles.protocols import Trajectory
from akinai.testing.endpoint import Endpoint, ModelCall

pytest.importorskip("langgraph", reason="langgraph is part of the extra `learn`, which is not installed")
pytest.importorskip("langgraph.checkpoint.sqlite", reason="it is part of the extra `learn`, which is not installed")

DOC = Path(__file__).parents[2] / "docs" / "learner.md"

CHILD = """
import sys, akinai
from akinai.learning import Section
from akinai.learning import DataSet, Task
tasks = [Task(f"t{n}", f"What is the code of item{n}?", f"code{n}") for n in range(1, 4)]
codes = DataSet("codes", lambda split: tasks if split == "train" else [], sections=(Section("facts"),))
akinai.learn(codes, playbook=sys.argv[1], model="openai:test", base_url=sys.argv[2], checkpoint=sys.argv[3],
             baseline=False)
"""

WITHOUT = """
import sys
sys.modules |= dict.fromkeys(sys.argv[1].split(","))
import akinai
from akinai.learning import DataSet, Task
from own_task import Remember, LessonCurator, Roles, Section, load
rules = Roles(Remember(), Remember(), LessonCurator())
capitals = DataSet("capitals", load, sections=(Section("capitals"),), rules=rules)
print(akinai.learn(capitals, playbook="p.json", epochs=2).epochs[1].accuracy)
try:
    akinai.learn(capitals, playbook="q.json", checkpoint=sys.argv[2])
except akinai.AkinaiError as error:
    print(type(error).__name__, error)
"""


def timeless(path: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del stored["metadata"]["created_at"], stored["metadata"]["updated_at"]
    return stored


async def in_graph(job: Job, location: str, **options: Any) -> LoopState:
    async with checkpointer(location) as saver:
        return await learn_in_graph(job, saver, "t", **options)


async def test_the_graph_learns_what_the_loop_learns(tmp_path: Path) -> None:
    """The same job in a loop and in a graph: the same playbook, byte for byte, the same figures, the same steps."""
    options = {"epochs": 2, "batch": 2, "gate": True, "keep_best": True, "held_out": codes(8, 9)}
    seen: dict[str, list[str]] = {"loop": [], "graph": []}
    job, two = make_job(tmp_path / "a", codes(1, 5), **options), make_job(tmp_path / "b", codes(1, 5), **options)
    by_loop = await learn(job, watch=lambda step, state: seen["loop"].append(step))
    by_graph = await in_graph(two, str(tmp_path / "c.db"), watch=lambda step, state: seen["graph"].append(step))
    assert by_graph == by_loop
    assert seen["graph"] == seen["loop"]
    assert set(seen["loop"]) == set(STEPS)
    assert job.playbook.path.read_bytes() == two.playbook.path.read_bytes()


async def test_a_finished_thread_begins_anew_and_an_unfinished_one_wants_its_course(tmp_path: Path) -> None:
    """What was learned to its end is not gone on with; what stopped in the middle is, by the same job alone."""
    location = str(tmp_path / "folder" / "c.db")
    await in_graph(make_job(tmp_path, codes(1, 3)), location)
    again = await in_graph(make_job(tmp_path, codes(1, 3)), location)
    assert again.epochs[0].accuracy == 1.0

    class Enough(Exception):
        pass

    def stop(step: str, state: object) -> None:
        if step == "apply":
            raise Enough

    with pytest.raises(Enough):
        await in_graph(make_job(tmp_path, codes(4, 9), batch=2), location, watch=stop)
    with pytest.raises(UsageError, match="begin anew"):
        await in_graph(make_job(tmp_path, codes(5, 9), batch=2), location)
    steps: list[str] = []
    state = await in_graph(
        make_job(tmp_path, codes(4, 9), batch=2), location, watch=lambda step, state: steps.append(step)
    )
    assert steps.count("apply") == 2
    assert state.epochs[0].counts.tasks == 6
    state = await in_graph(make_job(tmp_path, codes(5, 9), batch=2), location, fresh=True)
    assert state.epochs[0].accuracy == 1.0


class Hanging(CodesBrain):
    """Does not answer the Curator's second request while it is told to hang."""

    def __init__(self) -> None:
        self.curated = 0
        self.hangs = True
        self.hanging = threading.Event()

    async def reply(self, call: ModelCall) -> Reply:
        if "You maintain a playbook" in prompt_of(call.request):
            self.curated += 1
            if self.hangs and self.curated == 2:
                self.hanging.set()
                await asyncio.sleep(60)
        return await super().reply(call)


@pytest.mark.slow
def test_killed_in_the_curator_it_goes_on_without_asking_the_generator_again(tmp_path: Path) -> None:
    """kill -9 while the Curator thinks: the endpoint sees one more request to the Curator, none of the Generator's
    twice, and the playbook is that of a learning that nobody stopped."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")

    def child(name: str, endpoint: Endpoint) -> forked.Popen:
        path, checkpoint = tmp_path / f"{name}.json", tmp_path / f"{name}.db"
        return forked.Popen([sys.executable, "-c", CHILD, str(path), endpoint.openai_url, str(checkpoint)])

    with Endpoint(CodesBrain()) as endpoint:
        assert child("whole", endpoint).wait() == 0
        uninterrupted = Counter(job.body_sha256 for job in endpoint.log)
    brain = Hanging()
    with Endpoint(brain) as endpoint:
        killed = child("killed", endpoint)
        assert brain.hanging.wait(60)
        killed.kill()
        killed.wait()
        brain.hangs = False
        assert child("killed", endpoint).wait() == 0
        requests = Counter(job.body_sha256 for job in endpoint.log if not job.gone)
    assert brain.curated == 4
    assert requests == uninterrupted
    assert timeless(tmp_path / "killed.json") == timeless(tmp_path / "whole.json")
    assert len(timeless(tmp_path / "whole.json")["sections"][0]["bullets"]) == 3


def test_killed_at_any_step_it_ends_as_if_nobody_had(tmp_path: Path) -> None:
    """Stopped after each step in turn and gone on with, a learning without a model ends with the same playbook."""
    rules = data_set(codes(1, 6))
    options: dict[str, Any] = {
        "settings": {"batch": 2},
        "epochs": 2,
        "checkpoint": str(tmp_path / "c.db"),
        "baseline": False,
    }
    whole = akinai.learn(rules, playbook=tmp_path / "whole.json", **options)

    class Killed(BaseException):
        pass

    left = 0
    while True:
        left += 1
        counted = 0

        def stop(step: str, state: LoopState) -> None:
            nonlocal counted
            counted += 1
            if counted == 2 and not state.over:
                raise Killed

        try:
            learned = akinai.learn(rules, playbook=tmp_path / "stopped.json", watch=stop, **options)
            break
        except Killed:
            assert left < 60
    assert left > 5
    assert timeless(tmp_path / "stopped.json") == timeless(tmp_path / "whole.json")
    assert learned.epochs == whole.epochs


@pytest.mark.slow
async def test_checkpoints_are_kept_in_postgres_where_a_dsn_is_named(tmp_path: Path, postgres: str) -> None:
    """The same learning with its checkpoints on a real PostgreSQL server."""
    state = await in_graph(make_job(tmp_path, codes(1, 3), epochs=2), postgres)
    assert [epoch.accuracy for epoch in state.epochs] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("gone", "location", "message"),
    [
        ("langgraph", "c.db", "MissingExtra learning as a graph needs langgraph,"),
        pytest.param(
            "langgraph.checkpoint.sqlite.aio",
            "c.db",
            "MissingExtra a checkpoint in SQLite needs langgraph.checkpoint",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "langgraph.checkpoint.postgres.aio",
            "postgresql://nowhere/x",
            "MissingExtra a checkpoint in PostgreSQL needs langgraph-checkpoint-postgres, which is not installed; "
            "pip install 'akinai[learn-postgres]'",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["graph", "sqlite", "postgres"],
)
def test_without_the_extra_the_loop_learns_and_the_graph_says_what_to_install(
    tmp_path: Path, gone: str, location: str, message: str
) -> None:
    """Without LangGraph everything but the checkpoint works; asking for one names the package and the command."""
    places = str(Path(__file__).parents[2] / "examples")
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT, gone, location],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": places},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    accuracy, error = run.stdout.splitlines()
    assert accuracy == "1.0"
    assert error.startswith(message)
    assert "which is not installed; pip install " in error
    assert not (tmp_path / "q.json").exists()


@pytest.mark.slow
def test_the_loop_learns_with_the_network_blocked(tmp_path: Path) -> None:
    """No socket is opened by a learning without a model, checkpoint and all."""
    blocked = (
        "import socket\n"
        "def no(*_, **__): raise OSError('the network is blocked')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = no\n"
        "import akinai\nfrom own_task import *\n"
        "rules = Roles(Remember(), Remember(), LessonCurator())\n"
        "capitals = DataSet('capitals', load, sections=(Section('capitals'),), rules=rules)\n"
        "print(akinai.learn(capitals, playbook='p.json', epochs=2, checkpoint='c.db').epochs[1].accuracy)\n"
    )
    places = str(Path(__file__).parents[2] / "examples")
    run = subprocess.run(
        [sys.executable, "-c", blocked],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": places},
    )  # fmt: skip
    assert (run.stdout, run.returncode) == ("1.0\n", 0), run.stderr


def test_the_documentation_shows_the_graph_as_it_is(tmp_path: Path) -> None:
    """The picture in docs/learner.md is what LangGraph draws of it now."""
    assert set(EDGES) == set(STEPS)
    picture = DOC.read_text(encoding="utf-8").partition("```mermaid\n")[2].partition("```")[0]
    assert picture.strip() == mermaid(make_job(tmp_path, codes(1, 1))).strip()


def test_a_checkpoint_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """A folder in place of the file: one clear error, and no playbook is begun for nothing."""
    with pytest.raises(akinai.AkinaiError, match=str(tmp_path)):
        akinai.learn(data_set(codes(1, 1)), playbook=tmp_path / "p.json", checkpoint=str(tmp_path))
    assert contents(akinai.learn(data_set(codes(1, 1)), playbook=tmp_path / "p.json").playbook) == [
        fact(codes(1, 1)[0])
    ]


@pytest.mark.parametrize("crash_at", ["apply", "refine"])
def test_a_resumed_learning_began_with_what_it_began_with(tmp_path: Path, crash_at: str) -> None:
    """After a crash the result names the playbook before the learning, and the judged tasks that nothing saw."""

    def crash(step: str, state: object) -> None:
        if step == crash_at:
            raise KeyboardInterrupt

    tasks = data_set(codes(1, 4), codes(3, 6))
    files: Any = {"playbook": tmp_path / "p.json", "checkpoint": str(tmp_path / "c.db")}
    with pytest.raises(KeyboardInterrupt):
        akinai.learn(tasks, **files, settings={"batch": 2}, watch=crash)
    learned = akinai.learn(tasks, **files, settings={"batch": 2})
    assert learned.began.bullets == 0
    assert learned.clean is not None
    assert sorted(learned.clean.right) == ["t5", "t6"]


async def test_the_graph_opens_in_langgraphs_own_tools(tmp_path: Path) -> None:
    """It has schemas, begins from an empty input, is interrupted by a node, goes on with its answer, and has a past."""
    types = pytest.importorskip("langgraph.types")

    async def ask(job: Job, state: LoopState) -> LoopState:
        notes = state.notes or {"answer": types.interrupt({"question": "Shall this be learned?"})}
        return replace(state, notes=notes)

    job = replace(make_job(tmp_path, codes(1, 3)), nodes=(Node("ask", ask, after="curate"),))
    async with checkpointer(str(tmp_path / "c.db")) as saver:
        graph, thread = compiled(job, saver), {"configurable": {"thread_id": "t"}, "recursion_limit": 100}
        assert set(graph.get_input_jsonschema()["properties"]) == {"notes"}
        assert "epoch" in graph.get_output_jsonschema()["properties"]
        stopped = await graph.ainvoke({}, thread)
        assert stopped["__interrupt__"][0].value == {"question": "Shall this be learned?"}
        ended = await graph.ainvoke(types.Command(resume="yes"), thread)
        assert (ended["over"], ended["notes"]) == (True, {"answer": "yes"})
        assert contents(job.playbook.load()) == [fact(task) for task in codes(1, 3)]
        past = [snapshot.values.get("done") async for snapshot in graph.aget_state_history(thread)]
        assert {0, 1, 2} <= set(past)


def test_a_learning_waits_for_an_answer_and_keeps_its_history(tmp_path: Path) -> None:
    """`learn` ends as interrupted and goes on with `answer`; with `keep_history` its steps stay, and the next learning
    on the same checkpoint begins anew."""
    types = pytest.importorskip("langgraph.types")

    async def ask(job: Job, state: LoopState) -> LoopState:
        return replace(state, notes={"answer": types.interrupt("which?")})

    files: Any = {"playbook": tmp_path / "p.json", "checkpoint": str(tmp_path / "c.db"), "keep_history": True}
    tasks = data_set(codes(1, 4), codes(5, 6))
    node = [Node("ask", ask, after="curate")]
    stopped = akinai.learn(tasks, **files, nodes=node)
    assert (stopped.ending, len(stopped.playbook), stopped.judged) == ("interrupted", 0, None)
    learned = akinai.learn(tasks, **files, nodes=node, answer="this")
    assert (learned.ending, len(learned.playbook)) == ("done", 4)

    async def kept() -> int:
        async with checkpointer(files["checkpoint"]) as saver:
            return len([1 async for _ in saver.alist({"configurable": {"thread_id": str(files["playbook"])}})])

    steps = asyncio.run(kept())
    assert steps > 5
    again = akinai.learn(tasks, **files)
    assert again.epochs[0].accuracy == 1.0
    assert asyncio.run(kept()) > steps
    with pytest.raises(UsageError, match="there is no checkpoint"):
        akinai.learn(tasks, playbook=files["playbook"], answer="this")


def test_killed_in_its_first_step_it_begins_again(tmp_path: Path) -> None:
    """A learning of which no step was done leaves a checkpoint without a state, and goes on from its beginning."""

    class Dying(Rules):
        async def generate(self, *_: Any, **__: Any) -> Trajectory:
            raise EndRun("power")

    files: Any = {"playbook": tmp_path / "p.json", "checkpoint": str(tmp_path / "c.db")}
    dying = data_set(codes(1, 4), rules=roles(Dying()))
    assert akinai.learn(dying, **files).ending == "power"
    learned = akinai.learn(data_set(codes(1, 4)), **files)
    assert (learned.ending, len(learned.playbook)) == ("done", 4)
