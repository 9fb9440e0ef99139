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
from akinai.runtime.cast import Cast
from akinai.runtime.learn import Learned
from akinai.runtime.learn_world import Practice, bullets_in, learn_world
from akinai.worlds.market.advice import (
    Advice,
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
WHOLE = Practice("market", "first", "1-5", "101-110", settings=("customers=10",))


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Learned, str]:
    folder = tmp_path_factory.mktemp("bought")
    practice = Practice("market", "first", "1-2", "101-103", settings=SMALL, store=str(folder / "runs.db"))
    return learn_world(practice, playbook=folder / "market.json"), practice.store


def test_customers_gain_in_populations_that_they_have_not_seen(learned: tuple[Learned, str]) -> None:
    """Two small markets teach enough to win in every other one."""
    gain = learned[0].gain
    assert gain is not None
    assert (gain.wins, gain.losses) == (3, 0)


def test_every_sentence_leads_to_entries_of_its_markets(learned: tuple[Learned, str]) -> None:
    """Sources name runs of the store and entries that they have, of the kinds that a sentence speaks of."""
    kept = {run.id: run.ledger.entries for run in akinai.runs(store=learned[1])}
    assert {run.rpartition("-")[2] for run in kept} == {"1", "2"}
    assert len(learned[0].playbook) == 6
    for bullet in learned[0].playbook:
        places = [place for part in bullet.source_trajectory.split("; ") for place in part.split(" -> ")]
        assert places
        for place in places:
            run, _, entry = place.partition("#")
            name = kept[run][int(entry) - 1].name
            assert name == ("Search" if bullet.extra["applicability_context"] == "searches" else "SendMessage")


def test_each_customer_of_a_run_is_told_its_playbook(learned: tuple[Learned, str]) -> None:
    """The card has the playbook's digest; the genesis and the businesses are as without it."""
    bullets = bullets_in(learned[0].path)
    told = akinai.run("market", agent=Cast("first", bullets=bullets), seeds=5, settings=[*SMALL])[0]
    plain = akinai.run("market", agent="first", seeds=5, settings=[*SMALL])[0]
    assert len(str(told.header.card["playbook"])) == 16
    assert told.header.genesis == plain.header.genesis
    assert told.digest != plain.digest
    registered = [[entry.at for entry in run.ledger.entries if entry.name == "Register"] for run in (told, plain)]
    assert registered[0] == registered[1]


def test_settings_that_do_not_fit_are_told_before_anything_is_played(tmp_path: Path) -> None:
    """Where the judged runs cannot be set up, nothing is learned either."""
    practice = Practice("market", "first", "1", "2", eval_settings=("customers=none",), store=str(tmp_path / "runs.db"))
    with pytest.raises(UsageError, match="customers"):
        learn_world(practice, playbook=tmp_path / "p.json")
    assert not list(tmp_path.iterdir())


def test_a_run_that_failed_teaches_nothing_and_counts(tmp_path: Path) -> None:
    """A player that breaks off leaves no lesson, no traceback, and a 0 in every denominator."""
    learned = learn_world(
        Practice("market", "stdio:false", "1", "2", settings=("customers=1",)), playbook=tmp_path / "p.json"
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
    told = json.loads(result.stdout)
    assert (told["agent"], told["world"], told["card"]["playbook"]) == (
        "first",
        "market@1",
        "data/playbooks/market.json",
    )
    run = ["run", "market", "--agent", "first", "--playbook", "data/playbooks/market.json", "--seeds", "2", *sets]
    assert shell.invoke(app, [*run, "--name", "told"]).exit_code == 0
    (played,) = akinai.runs("told-2")
    assert played.scores[0].value == round(100 * told["with"])
    notice = "takes no notice of a playbook"
    assert notice not in shell.invoke(app, run).stderr
    assert f"careful {notice}; first does" in shell.invoke(app, [*run[:2], *run[4:]]).stderr


@pytest.mark.slow
def test_the_gain_of_customers_is_beyond_doubt_and_in_the_numbers(tmp_path: Path) -> None:
    """The interval is above zero; with every record turned round among its kind it is not."""
    learned = learn_world(WHOLE, playbook=tmp_path / "p.json")
    assert learned.gain is not None
    assert learned.gain.ci95 is not None
    assert learned.gain.ci95[0] > 0
    advice = [one for one in (read_advice(bullet.content) for bullet in learned.playbook) if one]
    plain = akinai.run("market", agent="first", seeds="101-110", settings=[*WHOLE.settings])
    bullets = tuple(turned(one).said() for one in advice)
    astray = akinai.run("market", agent=Cast("first", bullets=bullets), seeds="101-110", settings=[*WHOLE.settings])
    gain = plain.compare(astray)["welfare"]
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
            seen = zip(advice.seen, reversed(advice.seen), strict=True)
            return PriceAdvice(tuple(replace(one, left=other.left) for one, other in seen))
        case SearchAdvice():
            names = [one.algorithm for one in advice.ranked]
            ranked = sorted(advice.ranked, key=lambda one: one.top10 / one.searches)
            return SearchAdvice(tuple(replace(one, algorithm=name) for one, name in zip(ranked, names, strict=True)))
        case _:
            raise AssertionError(advice)


@pytest.mark.slow
@pytest.mark.skipif(not POPULATIONS.is_dir(), reason=f"the public populations are not at {POPULATIONS}")
def test_what_made_populations_teach_holds_on_a_public_one(tmp_path: Path) -> None:
    """Learned on made populations, the customers of the public one come to the best that is possible there."""
    evals = ("customers={}", f"data={POPULATIONS / '10x30'}")
    practice = replace(WHOLE, eval_seeds="101-105", eval_settings=evals)
    learned = learn_world(practice, playbook=tmp_path / "p.json")
    assert learned.gain is not None
    assert learned.gain.ci95 is not None
    assert learned.gain.ci95[0] > 0
    assert learned.judged is not None
    assert learned.judged.mean == pytest.approx(185.61)
