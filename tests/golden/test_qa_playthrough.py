"""The golden playthrough of the world of questions, printed for human eyes."""

import json
from pathlib import Path

import pytest

import akinai
from akinai.core.worlds import walk
from akinai.worlds.qa import Qa

pytestmark = pytest.mark.needs_qa

GOLDEN = Path(__file__).with_name("qa-overlap-default.txt")


def playthrough() -> str:
    """The default sheet as the default player fills it in. Its clock is the wall's, so there is no digest."""
    (run,) = akinai.run("qa", seeds=1)
    lines = [f"{run.world}, preset default, seed 1, played by {run.agent}", ""]
    for step in walk(Qa(), run.ledger.genesis, run.ledger.entries):
        entry = step.entry
        lines += Qa().view(step.before, entry.actor).text.split("\n")
        lines.append(f"  {entry.seq} {entry.actor} {entry.name} {json.dumps(entry.parameters, ensure_ascii=False)}")
        lines += [f"    {entry.outcome.text} {json.dumps(entry.outcome.data)}", ""]
    lines += [f"ending {run.header.ending}", *(f"{score.name} {score.value:.4g} {score.unit}" for score in run.scores)]
    return "\n".join(lines) + "\n"


def test_a_sheet_goes_as_it_went(request: pytest.FixtureRequest) -> None:
    """A filled-in sheet equals the recorded one to the letter; `make golden` writes it anew after a rule change."""
    now = playthrough()
    if request.config.getoption("--golden"):
        GOLDEN.write_text(now, encoding="utf-8")
    assert now == GOLDEN.read_text(encoding="utf-8")
