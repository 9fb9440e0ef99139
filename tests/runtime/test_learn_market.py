"""Learning to buy: from markets of some seeds, judged on populations of others, with evidence that can be looked up."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import akinai
from akinai.cli.app import app
from akinai.core.errors import UsageError
from akinai.core.lessons import Advice
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.worlds.market.lessons.buying.advice import (
    AmenityAdvice,
    ItemsAdvice,
    MenuAdvice,
    PriceAdvice,
    SearchAdvice,
    WaitAdvice,
    read_advice,
)

POPULATIONS = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")) / "market"
SMALL = ("customers=8",)
WHOLE = TrainConfig("market", "first", "1-5", "101-110", settings=("customers=10",))


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[LearnResult, str]:
    folder = tmp_path_factory.mktemp("bought")
    config = TrainConfig("market", "first", "1-2", "101-102", settings=SMALL, store=str(folder / "runs.db"))
    return learn(config, playbook=folder / "market.json"), config.store


def test_customers_gain_in_populations_that_they_have_not_seen(learned: tuple[LearnResult, str]) -> None:
    """Two small markets teach enough to win in every other one."""
    gain = learned[0].gain
    assert gain is not None
    assert (gain.wins, gain.losses) == (2, 0)


def test_every_sentence_leads_to_entries_of_its_markets(learned: tuple[LearnResult, str]) -> None:
    """Sources name runs of the store and entries that they have, of the kinds that a sentence speaks of."""
    entries_by_run = {run.id: run.ledger.entries for run in akinai.runs(store=learned[1])}
    assert {run.rpartition("-")[2] for run in entries_by_run} == {"1", "2"}
    assert len(learned[0].playbook) == 6
    for bullet in learned[0].playbook:
        references = [reference for part in bullet.source_trajectory.split("; ") for reference in part.split(" -> ")]
        assert references
        for reference in references:
            run, _, entry = reference.partition("#")
            name = entries_by_run[run][int(entry) - 1].name
            assert name == ("Search" if bullet.extra["applicability_context"] == "searches" else "SendMessage")


def test_each_customer_of_a_run_is_told_its_playbook(learned: tuple[LearnResult, str]) -> None:
    """The card has the playbook's digest; the genesis and the businesses are as without it."""
    bullets = read_playbook(learned[0].path).for_players
    guided = akinai.run("market", agent=AgentSpec("first", bullets=bullets), seeds=5, settings=[*SMALL])[0]
    plain = akinai.run("market", agent="first", seeds=5, settings=[*SMALL])[0]
    assert len(str(guided.header.card["playbook"])) == 16
    assert guided.header.genesis == plain.header.genesis
    assert guided.digest != plain.digest
    registered = [[entry.at for entry in run.ledger.entries if entry.name == "Register"] for run in (guided, plain)]
    assert registered[0] == registered[1]


def test_settings_that_do_not_fit_are_told_before_anything_is_played(tmp_path: Path) -> None:
    """Where the judged runs cannot be set up, nothing is learned either."""
    config = TrainConfig(
        "market", "first", "1", "2", eval_settings=("customers=none",), store=str(tmp_path / "runs.db")
    )
    with pytest.raises(UsageError, match="customers"):
        learn(config, playbook=tmp_path / "p.json")
    assert not list(tmp_path.iterdir())


def test_a_run_that_failed_teaches_nothing_and_counts(tmp_path: Path) -> None:
    """A player that breaks off leaves no lesson, no traceback, and a 0 in every denominator."""
    learned = learn(
        TrainConfig("market", "stdio:false", "1", "2", settings=("customers=1",)), playbook=tmp_path / "p.json"
    )
    assert len(learned.playbook) == 0
    assert learned.judged is not None
    assert learned.judged.scores == {"market-validation-2": 0.0}


def test_the_command_learns_with_the_player_of_the_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`akinai learn market` needs no --agent; what it learned can be handed to a run."""
    monkeypatch.chdir(tmp_path)
    shell = CliRunner()
    sets = ["--set", "customers=4"]
    result = shell.invoke(app, ["learn", "market", "--seeds", "1", "--eval-seeds", "2", *sets, "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["agent"], document["world"], document["card"]["playbook"]) == (
        "first",
        "market@2",
        "data/playbooks/market.json",
    )
    run = ["run", "market", "--agent", "first", "--playbook", "data/playbooks/market.json", "--seeds", "2", *sets]
    assert shell.invoke(app, [*run, "--name", "guided"]).exit_code == 0
    (played,) = akinai.runs("guided-2")
    assert played.scores[0].value == round(100 * document["with"])
    notice = "takes no notice of a playbook"
    assert notice not in shell.invoke(app, run).stderr
    assert f"careful {notice}; first does" in shell.invoke(app, [*run[:2], *run[4:]]).stderr


@pytest.mark.slow
def test_the_gain_of_customers_is_beyond_doubt_and_in_the_numbers(tmp_path: Path) -> None:
    """The interval is above zero; with every record turned round among its kind it is not."""
    learned = learn(WHOLE, playbook=tmp_path / "p.json")
    assert learned.gain is not None
    assert learned.gain.ci95 is not None
    assert learned.gain.ci95[0] > 0
    advice = [item for item in (read_advice(bullet.content) for bullet in learned.playbook) if item]
    plain = akinai.run("market", agent="first", seeds="101-110", settings=[*WHOLE.settings])
    bullets = tuple(turned(item).sentence() for item in advice)
    astray = akinai.run(
        "market", agent=AgentSpec("first", bullets=bullets), seeds="101-110", settings=[*WHOLE.settings]
    )
    gain = akinai.compare(plain, astray)["welfare"]
    assert gain.ci95 is not None
    assert gain.ci95[0] <= 0


def turned(advice: Advice) -> Advice:
    """A sentence with its own record turned round: each outcome beside another condition."""
    match advice:
        case AmenityAdvice():
            return replace(advice, lacking=advice.having, having=advice.lacking)
        case ItemsAdvice():
            return replace(advice, lacking=advice.having, having=advice.lacking)
        case MenuAdvice():
            return MenuAdvice(advice.having, advice.having_whole, advice.lacking, advice.lacking_whole)
        case WaitAdvice():
            return replace(advice, left_cents=advice.left_cents[::-1])
        case PriceAdvice():
            points = zip(advice.points, reversed(advice.points), strict=True)
            return PriceAdvice(tuple(replace(point, left=other.left) for point, other in points))
        case SearchAdvice():
            names = [item.algorithm for item in advice.ranked]
            ranked = sorted(advice.ranked, key=lambda item: item.top10 / item.searches)
            return SearchAdvice(tuple(replace(item, algorithm=name) for item, name in zip(ranked, names, strict=True)))
        case _:
            raise AssertionError(advice)


@pytest.mark.slow
@pytest.mark.skipif(not POPULATIONS.is_dir(), reason=f"the public populations are not at {POPULATIONS}")
def test_what_made_populations_teach_holds_on_a_public_one(tmp_path: Path) -> None:
    """Learned on made populations, the customers of the public one come to the best that is possible there."""
    evals = ("customers={}", f"data={POPULATIONS / '10x30'}")
    config = replace(WHOLE, eval_seeds="101-106", eval_settings=evals)
    learned = learn(config, playbook=tmp_path / "p.json")
    assert learned.gain is not None
    assert learned.gain.ci95 is not None
    assert learned.gain.ci95[0] > 0
    assert learned.judged is not None
    assert learned.judged.mean == pytest.approx(185.61)
