"""What extending Akinai costs, shown on a copy of it: a verb two files, a score one, and no world is needed by the rest."""

import json
import os
import re
from pathlib import Path

import pytest
from copies import Copy

from akinai.worlds.vending.detectors.coherence import DETECTORS

MARKET = "src/akinai/worlds/market/"
VERB = '''class Applaud(MarketVerb):
    """Clap your hands. Nothing comes of it."""

    times: Count = 1
    """How often."""


CLASSES: '''
USE_VERB = """
from akinai import worlds
from akinai.core import Genesis, Turn
from akinai.server import wire
from akinai.worlds.market.model.actions import Applaud, Register

world = worlds.load("market")
state = world.begin(Genesis(world.name, 1, world.setup().model_dump(mode="json")))
for seq in range(1, 100):
    (actor,) = world.actors(state)
    entered = Register not in world.view(state, actor).verbs
    state, outcome = world.apply(state, Turn(seq, 0, actor, Applaud(times=3) if entered else Register()))
    if entered:
        break
print(outcome.text)
print("Applaud" in {verb["name"] for verb in wire.protocol()})
"""


@pytest.mark.slow
def test_a_verb_of_the_market_costs_two_files(tmp_path: Path) -> None:
    """The class in `actions.py` and its arm in `rules/verbs.py`: views, rules and the wire know it from there."""
    copy = Copy(tmp_path, "src")
    copy.edit(f"{MARKET}model/actions.py", "CLASSES: ", VERB)
    copy.edit(
        f"{MARKET}rules/verbs.py",
        "        case a.Leave():",
        '        case a.Applaud() as action: return state, Outcome(f"You clap {action.times} times.")\n        case a.Leave():',
    )
    assert len(copy.changed) == 2
    assert copy.python(USE_VERB).splitlines() == ["You clap 3 times.", "True"]


@pytest.mark.slow
def test_a_score_costs_one_file(tmp_path: Path) -> None:
    """It is in every run, in its summary and in comparisons, with the direction in which it is better."""
    copy = Copy(tmp_path, "src")
    copy.edit(
        "src/akinai/worlds/vending/scores.py",
        'Score("units_sold", ',
        'Score("letters", state.mail.letters, "letters", better="lower"),\n        Score("units_sold", ',
    )
    assert len(copy.changed) == 1
    printed = copy.python(
        "import akinai\n"
        "a = akinai.run('vending', agent='naive', seeds='1-2', days=6)\n"
        "print(a[0].score('letters') > 0, a.summary()['letters'].n)\n"
    )
    assert printed.split() == ["True", "2"]


DETECTOR = '''

@detector
def first_word(history: History) -> Iterator[Mistake]:
    """The first statement of a run."""
    for statement in history.statements[:1]:
        yield Mistake([statement.step], "minor", assumed=statement.text, true="it was said")
'''


@pytest.mark.slow
def test_a_detector_costs_one_file(tmp_path: Path) -> None:
    """It registers itself under its name; its labelled runs are found by that name, so no list knows it."""
    copy = Copy(tmp_path, "src")
    listing = "from akinai.worlds.vending.detectors.coherence import DETECTORS\nprint(*DETECTORS)\n"
    copy.append("src/akinai/worlds/vending/detectors/goods.py", DETECTOR)
    assert len(copy.changed) == 1
    assert sorted(copy.python(listing).split()) == sorted([*DETECTORS, "first_word"])


FENCE = re.compile(r"^```python\n# (\S+)\n(.*?)^```$", re.M | re.S)


CALLS = """
import contextlib, io, json, os, pathlib, sys
from akinai.cli import main

answers = []
for words, environment, settings in json.loads(sys.argv[1]):
    pathlib.Path("akinai.toml").write_text(settings)
    os.environ.pop("AKINAI_RUN__PACE", None)
    os.environ.update(environment)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        with contextlib.suppress(SystemExit):
            main(words)
    answers.append((out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""
"""Gives command lines, each with variables of the environment and an `akinai.toml`, and prints their answers."""


@pytest.mark.slow
def test_an_option_costs_its_declaration_and_its_use(tmp_path: Path) -> None:
    """The page "Add an option" of CONTRIBUTING, done as it says: the option is in Python, its help, the command line,
    `akinai.toml`, the environment and the estimate of `--dry-run`."""
    copy = Copy(tmp_path, "src")
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for file, code in FENCE.findall(page):
        text, lines = (copy.root / file).read_text(encoding="utf-8"), code.splitlines(keepends=True)
        there = next(count for count in range(len(lines), 0, -1) if text.count("".join(lines[:count])) == 1)
        copy.edit(file, "".join(lines[:there]), code)
    assert copy.changed == {"src/akinai/runtime/options.py", "src/akinai/api/play.py"}
    printed = copy.python("import akinai, inspect; print(inspect.signature(akinai.run).parameters['pace'])")
    assert printed == "pace: int = 10\n"
    play = ("run", "vending", "--preset", "classic", "--days", "10", "--model", "ollama:any", "--dry-run", "--json")
    by_file = "[run]\npace = 5\n"
    calls = [
        (("run", "--help"), {}, ""),
        (play, {}, ""),
        ((*play, "--pace", "3"), {}, ""),
        (play, {"AKINAI_RUN__PACE": "4"}, ""),
        (play, {}, by_file),
        ((*play, "--pace", "3"), {}, by_file),
        (play, {"AKINAI_RUN__PACE": "4"}, by_file),
        (play, {"AKINAI_RUN__PACE": "fast"}, by_file),
    ]
    (help_page, _), *answers, (_, refusal) = json.loads(copy.python(CALLS, json.dumps(calls)))
    assert "--pace" in help_page
    assert [json.loads(answer)["messages"] for answer, _ in answers] == [100, 30, 40, 50, 30, 40]
    assert "pace is a whole number" in refusal
    expected = "import akinai; print(akinai.estimate('vending', days=10, model='ollama:any').messages)"
    assert copy.python(expected) == "50\n"


@pytest.mark.slow
def test_the_rest_works_without_a_world(tmp_path: Path) -> None:
    """With the world of questions deleted, tests of the rooms around it pass that do not play it."""
    copy = Copy(
        tmp_path,
        "src",
        "tests",
        "docs",
        "examples",
        "bench",
        "pyproject.toml",
        "README.md",
        "README.ja.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    )
    copy.without_world("qa")
    assert "No module named" in copy.run("-c", "import akinai.worlds.qa").stderr
    done = copy.run(
        "-m", "pytest", "-q", "--maxfail=40", "-m", "not slow and not needs_qa", "-p", "no:cacheprovider", "tests/core", "tests/agents", "tests/report", "tests/worlds/vending/test_players.py",
        "tests/api/test_same_names.py", "tests/runtime/test_learn_world.py", "tests/learning/test_playbook_sections.py",
        "tests/cli/test_learn_runs.py", "tests/cli/test_tables_shown.py", "tests/cli/test_terminal_text.py",
        "tests/stores/test_open_store.py", "tests/test_docs.py",
        AKINAI_CI="", AKINAI_DATA=os.environ.get("AKINAI_DATA", str(Path(__file__).parents[3] / "shared" / "data")),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    counted = re.search(r"(\d+) passed", done.stdout)
    assert counted, done.stdout[-500:]
    assert int(counted[1]) > 400
