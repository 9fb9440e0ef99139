"""Learning to do business: from runs on some seeds, judged by runs on others, with evidence that can be looked up."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import akinai
from akinai import worlds
from akinai.agents.chat import PLAYBOOK, ChatAgent
from akinai.core.agents import View
from akinai.core.errors import UsageError
from akinai.core.models import Reply, Request
from akinai.runtime.cast import Cast, cast_of
from akinai.runtime.learn import Learned
from akinai.runtime.learn_world import Practice, bullets_in, learn_world
from akinai.worlds.vending.advice import (
    Advice,
    CashAdvice,
    HourAdvice,
    LastOrderAdvice,
    MarkupAdvice,
    PriceAdvice,
    SpoilAdvice,
    StockAdvice,
    SupplierAdvice,
    VarietyAdvice,
    VisitAdvice,
    of_kind,
    read_advice,
)
from akinai.worlds.vending.seen import Seen

SMALL = Practice("vending", "naive", "1-3", "101-104", 25)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Learned, str]:
    folder = tmp_path_factory.mktemp("learned")
    store = str(folder / "runs.db")
    practice = Practice(SMALL.world, SMALL.agent, SMALL.seeds, SMALL.eval_seeds, SMALL.days, store=store)
    return learn_world(practice, playbook=folder / "vending.json"), store


def test_a_learned_playbook_earns_more_on_seeds_it_has_not_seen(learned: tuple[Learned, str]) -> None:
    """Even three short runs teach enough to win every run of the others."""
    gain = learned[0].gain
    assert gain is not None
    assert (gain.wins, gain.losses) == (4, 0)


def test_every_bullet_leads_to_entries_of_training_runs(learned: tuple[Learned, str]) -> None:
    """Its source names runs of the store and entries that they have, and never a run that judges."""
    kept = {run.id: len(run.ledger.entries) for run in akinai.runs(store=learned[1])}
    assert {run.rpartition("-")[2] for run in kept} == {"1", "2", "3"}
    for bullet in learned[0].playbook:
        places = [place for part in bullet.source_trajectory.split("; ") for place in part.split(" -> ")]
        assert places
        for place in places:
            run, _, entry = place.partition("#")
            assert 1 <= int(entry) <= kept[run]


def test_a_second_epoch_tries_other_things(tmp_path: Path) -> None:
    """With another playbook the player is told another experiment, so its runs differ."""
    store = str(tmp_path / "runs.db")
    learn_world(Practice("vending", "naive", "1", "101", 12, store=store), playbook=tmp_path / "p.json", epochs=2)
    assert len({run.digest for run in akinai.runs(store=store)}) == 2


def test_a_run_remembers_its_playbook(learned: tuple[Learned, str]) -> None:
    """Card and resume hold the bullets; a reader sees their digest; the ledger's genesis is as without them."""
    bullets = bullets_in(learned[0].path)
    with_it = akinai.run("vending", agent=Cast("naive", bullets=bullets), seeds=5, days=10)[0]
    plain = akinai.run("vending", agent="naive", seeds=5, days=10)[0]
    assert cast_of(with_it.header).bullets == bullets
    assert len(str(with_it.header.card["playbook"])) == 16
    assert plain.header.card["playbook"] is None
    assert with_it.header.genesis == plain.header.genesis
    assert with_it.digest != plain.digest


def test_seeds_stand_on_one_side_only() -> None:
    """A seed that is learned from does not judge; other worlds and other agents are refused by name."""
    with pytest.raises(UsageError, match="seed 3 is both learned from and judged by"):
        learn_world(Practice("vending", "naive", "1-3", "3-5"))
    with pytest.raises(UsageError, match="has no lessons by rules"):
        learn_world(Practice("qa", "naive"))
    with pytest.raises(UsageError, match="asks a model"):
        learn_world(Practice("vending", "chat"))


WHOLE = Practice("vending", "naive", "1-10", "101-120", 60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "eval_settings"), [((), ()), (("catalog.shuffle=true",), ()), ((), ("catalog.shuffle=true",))]
)
def test_the_gain_is_beyond_doubt(tmp_path: Path, settings: tuple[str, ...], eval_settings: tuple[str, ...]) -> None:
    """On held-out seeds, on another catalogue, and on one that was never learned from, the interval is above zero."""
    practice = Practice(WHOLE.world, WHOLE.agent, WHOLE.seeds, WHOLE.eval_seeds, WHOLE.days, settings, eval_settings)
    gain = learn_world(practice, playbook=tmp_path / "p.json").gain
    assert gain is not None
    assert gain.ci95 is not None
    assert gain.ci95[0] > 0


@pytest.mark.slow
def test_lessons_from_elsewhere_are_worth_nothing(tmp_path: Path) -> None:
    """The same sentences with the records shuffled among them, kind by kind, gain nothing: it is the numbers that do."""
    practice = Practice(WHOLE.world, WHOLE.agent, WHOLE.seeds, "101", WHOLE.days)
    learned = learn_world(practice, playbook=tmp_path / "p.json")
    advice = [one for one in (read_advice(bullet.content) for bullet in learned.playbook) if one]
    plain = akinai.run("vending", agent="naive", seeds="101-120", days=60)
    gains = [
        plain.compare(
            akinai.run(
                "vending", agent=Cast("naive", bullets=tuple(one.said() for one in told)), seeds="101-120", days=60
            )
        )["net_worth"]
        for told in (advice, shuffled(advice))
    ]
    assert gains[0].ci95 is not None
    assert gains[1].ci95 is not None
    assert gains[0].ci95[0] > 0
    assert gains[1].ci95[0] <= 0


def shuffled(advice: Sequence[Advice]) -> list[Advice]:
    """Each sentence with the record of another of its kind, or with its own turned round."""
    found: list[Advice] = []
    prices, stocks = of_kind(advice, PriceAdvice), of_kind(advice, StockAdvice)
    suppliers, spoils = of_kind(advice, SupplierAdvice), of_kind(advice, SpoilAdvice)
    for one, other in zip(prices, prices[5:] + prices[:5], strict=True):
        found.append(replace(one, cost_cents=other.cost_cents, seen=other.seen))
    for one, other in zip(stocks, stocks[5:] + stocks[:5], strict=True):
        found.append(replace(one, a_day=other.a_day, lead_days=other.lead_days))
    for one, other in zip(suppliers, suppliers[1:] + suppliers[:1], strict=True):
        found.append(replace(other, address=one.address))
    for one, other in zip(spoils, spoils[1:] + spoils[:1], strict=True):
        found.append(replace(other, product=one.product, name=one.name))
    for kind in (MarkupAdvice, VarietyAdvice):
        found += [replace(one, seen=turned(one.seen)) for one in of_kind(advice, kind)]
    rest = (VisitAdvice, HourAdvice, CashAdvice, LastOrderAdvice)
    return [*found, *(one for one in advice if isinstance(one, rest))]


def turned(seen: Sequence[Seen]) -> tuple[Seen, ...]:
    return tuple(replace(one, a_day=other.a_day) for one, other in zip(seen, reversed(seen), strict=True))


class Listening:
    """An Asker that keeps what it is asked and answers in words."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply("I wait.")


def test_a_model_is_told_the_bullets_before_the_first_view() -> None:
    """They stand in the system's message, under their heading; without any there is no heading."""
    world = worlds.load("vending")
    for bullets in (("Sell cola dearly.",), ()):
        asker = Listening()
        agent = ChatAgent(asker, world.verbs, bullets=bullets)
        asyncio.run(agent.act(View("The machine is empty.", world.verbs.classes), None))
        text = asker.asked[0].messages[0].text
        assert (f"{PLAYBOOK}\n\n- Sell cola dearly.\n\nThe machine is empty." in text) == bool(bullets)
        assert (PLAYBOOK in text) == bool(bullets)
