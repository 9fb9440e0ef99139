"""Golden playthroughs, printed for human eyes: a changed rule shows as a diff that one can read."""

import json
from pathlib import Path

import pytest

import akinai

HERE = Path(__file__).parent


def playthrough(agent: str, *, seed: int, days: int, preset: str) -> str:
    """A run as text: every action, what was answered, and the scores at the end."""
    (run,) = akinai.run("vending", agent=agent, seeds=seed, days=days, preset=preset)
    return retold(run, f"{run.world}, preset {preset}, seed {seed}, {days} days, played by {agent}")


def retold(run: akinai.Run, head: str) -> str:
    """The same of any run."""
    lines = [head, ""]
    for entry in run.ledger.entries:
        parameters = json.dumps(entry.parameters, ensure_ascii=False, sort_keys=True)
        lines.append(f"{entry.seq} {entry.actor} {entry.name} {parameters}")
        mark = "" if entry.outcome.ok else f"[{entry.outcome.code}] "
        lines += [f"    {mark}{line}".rstrip() for line in entry.outcome.text.split("\n")]
    lines += ["", f"ending {run.header.ending}, digest {run.ledger.digest}"]
    lines += [f"{score.name} {score.value} {score.unit}" for score in run.scores]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("agent", "days", "preset"),
    [
        ("naive", 14, "classic"),
        ("reference", 10, "classic"),
        ("reference", 10, "paper"),
        ("reference", 12, "quarter"),
        ("reference", 21, "sprint"),
    ],
)
def test_a_run_goes_as_it_went(agent: str, days: int, preset: str, request: pytest.FixtureRequest) -> None:
    """A played run equals the recorded playthrough to the letter; `make golden` writes it anew after a rule change."""
    path = HERE / f"vending-{agent}-{preset}.txt"
    now = playthrough(agent, seed=1, days=days, preset=preset)
    if request.config.getoption("--golden"):
        path.write_text(now, encoding="utf-8")
    assert now == path.read_text(encoding="utf-8")


def test_a_market_goes_as_it_went(request: pytest.FixtureRequest) -> None:
    """The same of a market of two customers and three businesses, made by chance."""
    path = HERE / "market-careful-2x3.txt"
    (run,) = akinai.run("market", agent="careful", settings={"customers": 2, "businesses": 3})
    now = retold(run, f"{run.world}, 2 customers and 3 businesses, seed 1, played by careful")
    if request.config.getoption("--golden"):
        path.write_text(now, encoding="utf-8")
    assert now == path.read_text(encoding="utf-8")
