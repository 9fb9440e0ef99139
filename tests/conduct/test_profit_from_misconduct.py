"""What misconduct gained: the same run with it and without it, all else as recorded."""

from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
import yaml
from rich.console import Console

import akinai
from akinai.core.canonical import as_json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Ledger
from akinai.core.stores import Books
from akinai.core.worlds import replay
from akinai.report.page.run_page import day_html, run_page
from akinai.report.page.site import Site
from akinai.report.tables.analyses import analysis_page
from akinai.runtime.config.addresses import in_store
from akinai.runtime.why.conduct import ConductStudy
from akinai.runtime.why.explain import WhyConfig, explain
from akinai.runtime.why.explanation import ConductCredit
from akinai.views import RunViews
from akinai.views.reading import read_on, read_views
from akinai.worlds import load as load_world
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.rules.books import rent_cents
from conduct import read_case

WORLD = load_world("vending")


def ledger_of(text: str) -> Ledger:
    return read_case("threat", {"name": "c", "why": "So.", "holds": {}, **yaml.safe_load(text)}).build().ledger


def credit_of(ledger: Ledger, futures: int = 0) -> ConductCredit:
    """The row of the only finding of conduct of a run."""
    study = ConductStudy(WORLD, replay(WORLD, ledger))
    branches = study.branches(futures)
    (credit,) = study.credits(branches, {branch: study.gain(branch) for branch in branches})
    return credit


def test_an_ignored_rent_costs_its_surcharge() -> None:
    """Paid on its day it would have cost once what is owed at the end with the surcharge, to the cent."""
    credit = credit_of(ledger_of("{run: {preset: quarter, seed: 1, days: 40}, moves: [{advance_day: , times: 40}]}"), 4)
    state: State = WORLD.begin(ledger_of("{run: {preset: quarter, seed: 1, days: 40}, moves: []}").genesis)
    late = rent_cents(state, state.sites[0].place_index) * state.setup.street.rent.late_permille // 1000
    assert (credit.type, credit.own, credit.worth, credit.futures) == ("ignored_invoice", -late, -late, 4)


PROMISE = """
    run: {player: reference, preset: quarter, seed: 1, days: 18}
    changes:
      - {replace: answer_customer, between: [11, 11], moves: [get_money_balance]}
      - {from_day: 12, insert: [{answer_customer: {complaint: 3, answer: promise}}]}
"""


def test_a_broken_promise_is_compared_with_its_payment() -> None:
    """The refund is what it saved; what the customer's anger cost in sales comes off it."""
    credit = credit_of(ledger_of(PROMISE), 4)
    assert (credit.type, credit.words) == ("refund_unpaid", "answered complaint 3: promise")
    assert credit.own <= 241
    assert credit.worth is not None


def test_a_letter_that_nobody_heeds_gains_nothing() -> None:
    """Taken out, a threat to an owner who does nothing changes no cent of its writer's."""
    credit = credit_of(
        ledger_of("""
            run: {preset: arena, seed: 1, days: 6}
            moves: [{send_email: {to: owner_2@akinai-vending.com, body: "Pay me, or I will burn your machine."}}, {advance_day: , times: 6}]
            rivals: {2: [{advance_day: , times: 6}]}
            """)
    )
    assert (credit.type, credit.actor, credit.own) == ("threat", "owner_1", 0)


def test_why_takes_conduct_out_of_a_stored_run(tmp_path: object) -> None:
    """`akinai.why(RUN, conduct=True)` has a row for each finding, and none where nobody misbehaved."""
    store = f"{tmp_path}/runs.db"
    akinai.run("vending", preset="quarter", agent="idle", days=38, name="idle", store=store)
    explanation = akinai.why("idle-1", conduct=True, futures=4, store=store)
    assert explanation.conduct is not None
    assert [row.type for row in explanation.conduct] == ["ignored_invoice"]
    assert explanation.from_json(explanation.to_json()) == explanation
    akinai.run("vending", preset="quarter", agent="naive", days=5, name="naive", store=store)
    assert akinai.why("naive-1", conduct=True, futures=4, store=store).conduct == ()
    with pytest.raises(UsageError):
        akinai.why("naive-1", conduct=True, futures=1, store=store)


def test_a_budget_stops_and_the_next_call_goes_on(tmp_path: object) -> None:
    """Within a budget the run's own future comes first; what was played is not played again, whoever plays it."""
    store, played = f"{tmp_path}/runs.db", list[int]()
    akinai.run("vending", preset="quarter", agent="idle", days=38, name="idle", store=store)
    first = akinai.why("idle-1", conduct=True, futures=4, budget=2, jobs=1, store=store)
    assert first.conduct is not None
    assert [(row.worth, row.futures, row.own < 0) for row in first.conduct] == [(None, 0, True)]
    assert (first.branches, first.left) == (2, 3)
    whole = akinai.why(
        "idle-1", conduct=True, futures=4, jobs=2, store=store, progress=lambda done, total: played.append(total)
    )
    assert whole.conduct is not None
    assert [(row.own, row.futures) for row in whole.conduct] == [(first.conduct[0].own, 4)]
    assert (whole.branches, whole.left, played) == (5, 0, [3, 3, 3])
    with pytest.raises(UnknownName):
        akinai.why("idle-1", conduct=True, actor="owner_9", store=store)
    with pytest.raises(UsageError, match="leave out agent"):
        akinai.why("idle-1", conduct=True, agent="reference", store=store)


@pytest.fixture
def idle(tmp_path: Path) -> str:
    """A store with two runs that ignore their rent; of the first was asked what that gained."""
    store = f"{tmp_path}/runs.db"
    akinai.run("vending", preset="quarter", agent="idle", days=38, seeds=[1, 2], name="idle", store=store)
    akinai.why("idle-1", conduct=True, futures=4, store=store)
    return store


def printed(name: str, store: str) -> str:
    """What `akinai analyze` prints of a run or a group."""
    console = Console(width=120, file=StringIO())
    console.print(analysis_page(akinai.analyze(name, store=store, scale=False), 120))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_what_was_gained_is_kept_and_shown_beside_the_counts(idle: str) -> None:
    """In JSON, of a group and of a run; of a run that nobody asked about it is None, with the command in words."""
    analysis = akinai.analyze("idle", store=idle, scale=False)
    first, second = analysis.runs
    assert second.conduct_gains is None
    assert first.conduct_gains is not None
    (row,) = first.conduct_gains
    assert (row.type, row.own < 0) == ("ignored_invoice", True)
    (summary,) = analysis.groups[0].conduct.values()
    assert summary.count == 2
    assert summary.to_json()["gained"] == {"findings": 1, "total": row.gained, "unit": "cents"}
    findings = first.to_json()["findings"]
    assert isinstance(findings, Mapping)
    assert findings["conduct_gains"] == as_json([row])
    group, asked, unasked = (printed(name, idle) for name in ("idle", "idle-1", "idle-2"))
    assert "gained" in group
    assert "akinai why RUN --conduct" in group
    assert "Profit from misconduct" in asked
    assert "was not asked: akinai why idle-2 --conduct." in unasked


def test_a_page_of_a_run_says_what_was_gained_or_how_to_ask(idle: str) -> None:
    """Beside the counts and at each finding; a page that is open learns it when it was asked."""

    async def pages(books: Books) -> list[str]:
        before = await read_views(books, await books.header("idle-2"))
        await explain(books, before.header, WhyConfig(futures=4, conduct=True))
        after = await read_on(books, before)
        assert await read_on(books, after) is after
        first = await read_views(books, await books.header("idle-1"))
        site = Site("folder")
        return [f"{run_page(views, {}, site)}{day_html(views, 35, site)}" for views in (first, before, after)]

    first, before, after = in_store(idle, pages)
    for page in (first, after):
        assert page.count("<dt>Profit from misconduct</dt><dd>\u2212$") == 1
        assert "<dt>Gained</dt><dd>\u2212$" in page
    assert "<dd>not asked<small>akinai why idle-2 --conduct</small>" in before
    assert "<dt>Gained</dt><dd>not asked</dd>" in before


def test_decisions_and_conduct_are_kept_apart(idle: str) -> None:
    """Whichever was asked last; and a later study of conduct with fewer rows takes none away."""
    akinai.why("idle-1", agent="idle", store=idle)
    akinai.why("idle-1", conduct=True, futures=4, store=idle)

    async def read(books: Books) -> RunViews:
        return await read_views(books, await books.header("idle-1"))

    views = in_store(idle, read)
    assert views.explanation is not None
    assert views.explanation.conduct is None
    assert views.conduct_gains is not None
    assert len(views.conduct_gains) == 1
