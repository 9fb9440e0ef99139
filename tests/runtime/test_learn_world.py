"""Learning to do business: from runs on some seeds, judged by runs on others, with evidence that can be looked up."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import akinai
from akinai import worlds
from akinai.agents.chat import PLAYBOOK, ChatAgent
from akinai.core.agents import View
from akinai.core.chance import pooled_seed, split_of
from akinai.core.errors import UnknownName, UnusedOptions, UsageError
from akinai.core.lessons import Advice, of_kind, with_record
from akinai.core.models import Reply, Request
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.runs.planning import seeds_in
from akinai.worlds.vending.lessons.advice import (
    CashAdvice,
    DataPoint,
    HourAdvice,
    LastOrderAdvice,
    MarkupAdvice,
    PriceAdvice,
    SpoilAdvice,
    StockAdvice,
    SupplierAdvice,
    VarietyAdvice,
    VisitAdvice,
    read_advice,
)

SMALL = TrainConfig("vending", "naive", "1-3", "101-104", 25)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[LearnResult, str]:
    folder = tmp_path_factory.mktemp("learned")
    store = str(folder / "runs.db")
    config = TrainConfig(SMALL.world, SMALL.agent, SMALL.seeds, SMALL.eval_seeds, SMALL.days, store=store)
    return learn(config, playbook=folder / "vending.json"), store


def test_a_learned_playbook_earns_more_on_seeds_it_has_not_seen(learned: tuple[LearnResult, str]) -> None:
    """Even three short runs teach enough to win every run of the others."""
    gain = learned[0].gain
    assert gain is not None
    assert (gain.wins, gain.losses) == (4, 0)


def test_every_bullet_leads_to_entries_of_training_runs(learned: tuple[LearnResult, str]) -> None:
    """Its source names runs of the store and entries that they have, and never a run that judges."""
    entries_by_run = {run.id: len(run.ledger.entries) for run in akinai.runs(store=learned[1])}
    assert {run.rpartition("-")[2] for run in entries_by_run} == {"1", "2", "3"}
    for bullet in learned[0].playbook:
        references = [reference for part in bullet.source_trajectory.split("; ") for reference in part.split(" -> ")]
        assert references
        for reference in references:
            run, _, entry = reference.partition("#")
            assert 1 <= int(entry) <= entries_by_run[run]


def test_a_playbook_of_before_is_migrated_once(learned: tuple[LearnResult, str], tmp_path: Path) -> None:
    """Sentences without records get them when learning goes on, and are counted; the next time there is none left."""
    path = tmp_path / "old.json"
    text = re.sub(r', "lesson": \{[^{}]*(\[[^]]*\])?[^{}]*\}', "", learned[0].path.read_text())
    path.write_text(text.replace(text[text.index(', "learned_from"') : text.index("]}") + 2], ""))
    assert not any(bullet.record for bullet in read_playbook(path))
    for migrated in (len(learned[0].playbook), 0):
        again = learn(replace(SMALL, seeds="7", eval_seeds="101", days=5), playbook=path)
        assert again.began.migrated == migrated
        assert all(bullet.record for bullet in again.playbook)


def test_a_second_epoch_tries_other_things(tmp_path: Path) -> None:
    """With another playbook the player is told another experiment, so its runs differ."""
    store = str(tmp_path / "runs.db")
    learn(
        TrainConfig("vending", "naive", "1", "101", 12, preset="classic", store=store),
        playbook=tmp_path / "p.json",
        epochs=2,
    )
    assert len({run.digest for run in akinai.runs(store=store)}) == 2


def test_a_run_remembers_its_playbook(learned: tuple[LearnResult, str]) -> None:
    """Card and resume hold the bullets; a reader sees their digest; the ledger's genesis is as without them."""
    bullets = read_playbook(learned[0].path).for_players
    with_it = akinai.run("vending", agent=AgentSpec("naive", bullets=bullets), seeds=5, days=10)[0]
    plain = akinai.run("vending", agent="naive", seeds=5, days=10)[0]
    assert spec_of(with_it.header).bullets == bullets
    assert len(str(with_it.header.card["playbook"])) == 16
    assert plain.header.card["playbook"] is None
    assert with_it.header.genesis == plain.header.genesis
    assert with_it.digest != plain.digest


def test_python_learns_from_a_world_as_the_command_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`akinai.learn("vending")` takes the flags as arguments; a world is a name or an object, and settings are split
    between it and the learner as with `--set`.
    """
    monkeypatch.chdir(tmp_path)
    runs = {
        "agent": "naive",
        "seeds": [1],
        "eval_seeds": 101,
        "days": 8,
        "preset": "classic",
        "settings": {"limit": 1, "fee_cents": 300},
    }
    by_name = akinai.learn("vending", **runs)
    assert by_name.path == Path("data/playbooks/vending.json")
    assert by_name.runs is not None
    assert (by_name.runs.seeds, by_name.runs.settings) == ("1", ["fee_cents=300"])
    assert [run.id.rpartition("-")[2] for run in akinai.runs()] == ["1"]
    as_object = akinai.learn(worlds.load("vending"), **runs, store="memory:", playbook=tmp_path / "p.json")
    assert as_object.to_json()["with"] == by_name.to_json()["with"]
    contents = [[bullet.content for bullet in learned.playbook] for learned in (by_name, as_object)]
    assert contents[0] == contents[1] != []


def test_what_has_no_effect_is_refused() -> None:
    """An option of a world's runs for a data set, and roles for a world, are named."""
    with pytest.raises(UsageError, match="seeds, days cannot be used: qa is no world; leave them out"):
        akinai.learn("qa", seeds=3, days=4)
    with pytest.raises(UsageError, match="eval_seeds cannot be used: online"):
        akinai.learn("vending", online=True, eval_seeds=3, preset="classic")
    with pytest.raises(
        UnusedOptions, match="base_url, temperature, max_dollars cannot be used: no model is asked"
    ) as no:
        akinai.learn("vending", base_url="http://x", temperature=0.0, max_dollars=3.0)
    assert no.value.options == ["base_url", "temperature", "max_dollars"]
    with pytest.raises(UsageError, match="did you mean 'vending'"):
        akinai.learn("vendin")


def test_runs_come_from_the_pools_for_training() -> None:
    """Without seeds a learning is taught by games of `train` and judged by games of `validation`, by their numbers."""
    config = TrainConfig("vending", "naive")
    assert seeds_in(config.seeds) == [pooled_seed("train", number) for number in range(1, 11)]
    assert {split_of(seed) for seed in seeds_in(config.eval_seeds)} == {"validation"}
    assert seeds_in("3,test:2") == [3, pooled_seed("test", 2)]
    with pytest.raises(UnknownName, match="did you mean 'train'"):
        seeds_in("trian:1")


def test_seeds_stand_on_one_side_only() -> None:
    """A seed that is learned from does not judge; agents that ask a model are refused by name."""
    with pytest.raises(UsageError, match="seed 3 is both learned from and judged by"):
        learn(TrainConfig("vending", "naive", "1-3", "3-5"))
    with pytest.raises(UsageError, match="asks a model"):
        learn(TrainConfig("vending", "chat"))


@pytest.mark.needs_qa
def test_world_without_lessons_by_rules_is_refused() -> None:
    """A world that words no lessons from its record is refused by name."""
    with pytest.raises(UsageError, match="has no lessons by rules"):
        learn(TrainConfig("qa", "naive"))


WHOLE = TrainConfig("vending", "naive", "1-10", "101-120", 60, preset="classic")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "eval_settings"), [(("catalog.shuffle=true",), ()), ((), ("catalog.shuffle=true",))]
)
def test_the_gain_is_beyond_doubt(tmp_path: Path, settings: tuple[str, ...], eval_settings: tuple[str, ...]) -> None:
    """On another catalogue, and on one that was never learned from, the interval is above zero."""
    config = replace(WHOLE, settings=settings, eval_settings=eval_settings)
    gain = learn(config, playbook=tmp_path / "p.json").gain
    assert gain is not None
    assert gain.ci95 is not None
    assert gain.ci95[0] > 0


@pytest.mark.slow
def test_lessons_gain_and_those_from_elsewhere_are_worth_nothing(tmp_path: Path) -> None:
    """On held-out seeds the interval is above zero. The same sentences with the records shuffled among them, kind by kind,
    gain nothing: it is the numbers that do."""
    learned = learn(WHOLE, playbook=tmp_path / "p.json")
    assert learned.gain is not None
    assert learned.gain.ci95 is not None
    assert learned.gain.ci95[0] > 0
    advice = [item for item in (read_advice(bullet.content) for bullet in learned.playbook) if item]
    assert [item.sentence() for item in advice] == [bullet.content for bullet in learned.playbook]
    elsewhere = AgentSpec("naive", bullets=tuple(item.sentence() for item in shuffled(advice)))
    plain, astray = (
        akinai.run("vending", agent=agent, seeds=WHOLE.eval_seeds, days=WHOLE.days, preset=WHOLE.preset)
        for agent in ("naive", elsewhere)
    )
    gain = akinai.compare(plain, astray)["net_worth"]
    assert gain.ci95 is not None
    assert gain.ci95[0] <= 0


def shuffled(advice: Sequence[Advice]) -> list[Advice]:
    """Each sentence with the record of another of its kind, or with its own turned round."""
    turned_advice: list[Advice] = []
    prices, stocks = of_kind(advice, PriceAdvice), of_kind(advice, StockAdvice)
    suppliers, spoils = of_kind(advice, SupplierAdvice), of_kind(advice, SpoilAdvice)
    for item, other in zip(prices, prices[5:] + prices[:5], strict=True):
        turned_advice.append(replace(item, cost_cents=other.cost_cents, points=other.points))
    for item, other in zip(stocks, stocks[5:] + stocks[:5], strict=True):
        turned_advice.append(replace(item, a_day=other.a_day, lead_days=other.lead_days))
    for item, other in zip(suppliers, suppliers[1:] + suppliers[:1], strict=True):
        turned_advice.append(replace(other, address=item.address))
    for item, other in zip(spoils, spoils[1:] + spoils[:1], strict=True):
        turned_advice.append(replace(other, product=item.product, name=item.name))
    for kind in (MarkupAdvice, VarietyAdvice):
        turned_advice += [replace(item, points=turned(item.points)) for item in of_kind(advice, kind)]
    unchanged = (VisitAdvice, HourAdvice, CashAdvice, LastOrderAdvice)
    return [*turned_advice, *(item for item in advice if isinstance(item, unchanged))]


def turned(seen: Sequence[DataPoint]) -> tuple[DataPoint, ...]:
    pairs = zip(seen, reversed(seen), strict=True)
    return tuple(replace(point, a_day=other.a_day) for point, other in pairs)


class Listening:
    """An Asker that keeps what it is asked and answers in words."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply("I wait.")


def test_a_model_is_told_the_bullets_before_the_first_view() -> None:
    """They stand in the system's message, under their heading; without any there is no heading."""
    world = worlds.load("vending")
    for bullets in (("Sell cola dearly.",), (with_record("Sell cola dearly.", {"kind": "price"}),), ()):
        asker = Listening()
        agent = ChatAgent(asker, world.verbs, bullets=bullets)
        asyncio.run(agent.act(View("The machine is empty.", world.verbs.classes), None))
        text = asker.requests[0].messages[0].text
        assert (f"{PLAYBOOK}\n\n- Sell cola dearly.\n\nThe machine is empty." in text) == bool(bullets)
        assert (PLAYBOOK in text) == bool(bullets)
