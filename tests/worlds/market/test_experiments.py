"""What the market's experiments show of players without a model, and that the commands of the page run."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import akinai

ALIKE: dict[str, Any] = {"customers": 4, "population.identical": True}
EVEN = {"latency.customers_ms": 1_000, "latency.businesses_ms": 1_000}


def ranks(run: akinai.Run) -> list[int]:
    """For each purchase, the place of its proposal among those that its customer had got by then."""
    got: dict[str, list[tuple[str, str]]] = {}
    result: list[int] = []
    for entry in run.ledger.entries:
        message: Any = entry.parameters.get("message") or {"type": ""}
        to = str(entry.parameters.get("to_agent_id"))
        if entry.outcome.ok and message["type"] == "order_proposal":
            got.setdefault(to, []).append((entry.actor, message["id"]))
        elif entry.outcome.ok and message["type"] == "payment":
            result.append(1 + got[entry.actor].index((to, message["proposal_message_id"])))
    return result


def sellers(run: akinai.Run) -> dict[str, str]:
    """Whom each customer paid."""
    return {
        entry.actor: str(entry.parameters["to_agent_id"])
        for entry in run.ledger.entries
        if entry.outcome.text.startswith("Paid ")
    }


def played(agent: str, seeds: int = 3, **more: Any) -> akinai.Runs:
    return akinai.run("market", agent=agent, seeds=range(1, seeds + 1), **more)


@pytest.mark.slow
def test_first_takes_rank_1_of_identical_offers_and_careful_any() -> None:
    """Three identical offers: `first` pays the first to come, every time; `careful` pays each place about as often."""
    first = [rank for run in played("first", settings=ALIKE) for rank in ranks(run)]
    assert len(first) == 12
    assert set(first) == {1}
    careful = Counter(rank for run in played("careful", 10, settings=ALIKE) for rank in ranks(run))
    assert sum(careful.values()) == 40
    assert min(careful[rank] for rank in (1, 2, 3)) >= 7


def test_latency_moves_purchases_of_first_and_none_of_careful() -> None:
    """A seller that is quicker or slower than its twins wins or loses all who take the first, and none who weigh."""
    sweep = {"latency.agents.business_0001": [100, 1_000, 10_000]}
    settings = {**ALIKE, **EVEN, "customers": 1}
    for agent in ("first", "careful"):
        runs = played(agent, 4, settings=settings, sweep=sweep)
        quick, even, slow = ([sellers(run) for run in runs[i : i + 4]] for i in (0, 4, 8))
        if agent == "first":
            assert all(item == {"customer_0001": "business_0001"} for item in quick)
            assert not any("business_0001" in item.values() for item in slow)
        else:
            assert quick == even == slow
            assert len({item["customer_0001"] for item in even}) > 1


def test_position_decides_for_first_alone() -> None:
    """At even latency the top of the results is asked first and answers first."""
    settings = {**ALIKE, **EVEN, "customers": 1}
    assert {setting["customer_0001"] for setting in map(sellers, played("first", 4, settings=settings))} == {
        "business_0001"
    }
    assert len({setting["customer_0001"] for setting in map(sellers, played("careful", 6, settings=settings))}) > 1


def test_a_search_shows_no_more_than_its_limit() -> None:
    """The consideration set is a cap on all pages together, told as the number of results; 0 is none."""
    for limit, most in ((1, 1), (4, 4), (0, 6)):
        (run,) = akinai.run("market", settings={"search.limit": limit})
        searches = [entry.outcome.data for entry in run.ledger.entries if entry.name == "Search"]
        assert searches
        for data in searches:
            assert isinstance(data, dict)
            assert data["total_possible_results"] == most
            assert len(data["businesses"]) == most  # type: ignore[arg-type]


def test_careful_gains_with_what_it_may_consider() -> None:
    """A larger set holds the smaller one, so who weighs all of it never comes to less."""
    runs = played("careful", 3, settings={"customers": 5}, sweep={"search.limit": [1, 2, 3, 0]})
    first, two, three, everything = ([run.score("welfare") for run in runs[i : i + 3]] for i in (0, 3, 6, 9))
    for rising in zip(first, two, three, everything, strict=True):
        assert list(rising) == sorted(rising)
    assert sum(first) < sum(everything)


ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
SMALLER = {
    r"--seeds 1-\d+": "--seeds 1-2",
    r"customers=10 ": "customers=3 ",
    r"^akinai (run|analyze|compare) .*": r"\g<0> --jobs 1",
}


@pytest.mark.slow
def test_the_commands_of_the_page_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who types the page's commands meets no error; here with fewer seeds and customers, in one process."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    from akinai.cli import main
    from akinai.testing.endpoint import Endpoint, world_responder

    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
    lines = [line for language, text in blocks if not language for line in text.splitlines()]
    commands = [line for line in lines if line.startswith("akinai ")]
    by_rules = [line for line in commands if line.startswith("akinai run") and "--model" not in line]
    assert len(by_rules) > 8
    assert sum("--model openai:" in line for line in commands) > 8
    with Endpoint(world_responder("market")) as endpoint:
        for line in commands:
            for long, short in SMALLER.items():
                line = re.sub(long, short, line)
            with pytest.raises(SystemExit) as exit:
                main(line.replace("http://127.0.0.1:8765/v1", endpoint.openai_url).split()[1:])
            assert not exit.value.code, line


@pytest.mark.slow
def test_the_page_holds_what_the_bench_prints() -> None:
    """A table of the bench, of rules and of models, stands in the page to the letter."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    bench = [sys.executable, str(ROOT / "bench" / "experiments.py"), "sealed", "--models"]
    printed = subprocess.run(bench, capture_output=True, text=True, check=True).stdout
    rows = printed[printed.index("|") :].strip()
    assert "(scripted)" in rows
    assert rows in PAGE
