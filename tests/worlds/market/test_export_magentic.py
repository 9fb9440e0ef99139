"""A market's run as the database of the public system: read back, it says what the run says."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from keeping import Shell, keep
from trading import OUTDOORS, Desk, business, customer, offer

from akinai.worlds.market.model.actions import FetchMessages, Leave, Search

COLUMNS = {
    "agents": ["id", "created_at", "data", "agent_embedding", "row_index"],
    "actions": ["id", "created_at", "data", "row_index"],
    "logs": ["id", "created_at", "data", "row_index"],
}


def exported(shell: Shell, run: str, file: str = "out.db") -> dict[str, list[Any]]:
    """The data of every table, in the order of rows."""
    shell("export", run, "--format", "magentic", "-o", file)
    assert shell.code == 0, shell.err
    with closing(sqlite3.connect(file)) as database:
        for table, names in COLUMNS.items():
            assert [row[1] for row in database.execute(f"PRAGMA table_info({table})")] == names
        return {
            table: [json.loads(data) for (data,) in database.execute(f"SELECT data FROM {table} ORDER BY row_index")]
            for table in COLUMNS
        }


def welfare_of(tables: dict[str, list[Any]]) -> float:
    """The welfare in dollars, reckoned from agents and messages alone, with proposals known by their ids."""
    customers = {row["id"]: row["customer"] for row in tables["agents"] if "customer" in row}
    businesses = {row["id"]: row["business"] for row in tables["agents"] if "business" in row}
    sent = [
        row["request"]["parameters"]
        for row in tables["actions"]
        if row["request"]["name"] == "SendMessage" and not row["result"]["is_error"]
    ]
    proposals = {
        sent_message["message"]["id"]: sent_message
        for sent_message in sent
        if sent_message["message"]["type"] == "order_proposal"
    }
    total, met = 0.0, set[str]()
    for sent_message in sent:
        if sent_message["message"]["type"] != "payment":
            continue
        proposed, buyer = (
            proposals[sent_message["message"]["proposal_message_id"]],
            customers[sent_message["from_agent_id"]],
        )
        seller = businesses[proposed["from_agent_id"]]
        total -= proposed["message"]["total_price"]
        items = {item["item_name"] for item in proposed["message"]["items"]} & seller["menu_features"].keys()
        suits = all(seller["amenity_features"].get(need) for need in buyer["amenity_features"])
        if suits and buyer["menu_features"].keys() <= items and buyer["id"] not in met:
            met.add(buyer["id"])
            total += 2 * sum(buyer["menu_features"].values())
    return total


@pytest.mark.parametrize("player", ["careful", "first", "cheapest"])
def test_welfare_can_be_reckoned_from_it_alone(shell: Shell, player: str) -> None:
    """Whoever plays, the database gives the welfare of the run's score."""
    shell("run", "market", "--agent", player, "--set", "customers=4", "--name", "one")
    assert round(100 * welfare_of(exported(shell, "one"))) == shell.figures("one")["welfare"]


def test_it_holds_what_the_public_system_reads(shell: Shell) -> None:
    """Every action has its type and a whole answer: fetched messages, and the profiles that a search found with all that
    the businesses' files hold. Nothing else is an action.
    """
    desk = Desk()
    desk.act("ann", Search(query="Item A"))
    desk.sell(offer(expiry_time="2030-01-01T00:00:00"))
    desk.act("ann", FetchMessages())
    desk.act("ann", Leave())
    keep("hand", desk)
    tables = exported(shell, "hand")
    search, proposal, payment, fetch = tables["actions"]
    assert [row["request"]["parameters"]["type"] for row in tables["actions"]] == [
        "search",
        "send_message",
        "send_message",
        "fetch_messages",
    ]
    (business,) = search["result"]["content"]["businesses"]
    assert business["business"].keys() >= {"min_price_factor", "progenitor_customer", "menu_features", "rating"}
    assert proposal["result"]["content"] == proposal["request"]["parameters"]
    assert proposal["request"]["parameters"]["message"]["expiry_time"] == "2030-01-01T00:00:00+00:00"
    assert payment["request"]["parameters"]["from_agent_id"] == "ann"
    (message,) = fetch["result"]["content"]["messages"]
    assert message["message"] == proposal["request"]["parameters"]["message"]
    (buyer,) = [row["customer"] for row in tables["agents"] if "customer" in row]
    assert (buyer["menu_features"], buyer["amenity_features"]) == ({"Item A": 10.0, "Item B": 5.0}, [OUTDOORS])
    assert [row["name"] for row in tables["logs"]] == ["Leave"]


def test_what_was_done_once_is_there_once(shell: Shell) -> None:
    """A refused payment is an error, one that was sent again under its key is no second action, and an id that two
    businesses use is told apart.
    """
    desk = Desk([business(), business("diner")], [customer(), customer("bob")])
    desk.sell(offer(), "diner", "bob")
    desk.propose("grill", "ann", offer(total=13))
    assert desk.pay("ann", "grill", "p", key="k").ok
    assert desk.pay("ann", "grill", "p", key="k").ok
    assert not desk.pay("ann", "grill", "p").ok
    keep("hand", desk)
    tables = exported(shell, "hand")
    sent = [row["result"]["is_error"] for row in tables["actions"] if row["agent_id"] == "ann"]
    assert sent == [False, True]
    assert len(tables["logs"]) == 1
    assert round(100 * welfare_of(tables)) == shell.figures("hand")["welfare"] == 3500


def test_what_cannot_be_exported_says_so(shell: Shell) -> None:
    """Another world, several runs, no file, a file that is there: bad usage, and nothing is lost."""
    shell("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--name", "soda")
    shell("run", "market", "--seeds", "1-2", "--name", "two")
    for words, result in (
        (("soda", "-o", "a.db"), "is for runs of market@2"),
        (("two", "-o", "a.db"), "stands for 2 runs"),
        (("two-1",), "name a file for it with -o"),
        (("two-1", "-o", "akinai.db"), "is there already"),
        (("two-1", "-o", "no/folder/a.db"), "cannot write"),
        (("three", "-o", "a.db"), "no run"),
    ):
        shell("export", *words, "--format", "magentic")
        assert (shell.code, result in shell.err) == (2, True), shell.err
        assert not Path("a.db").exists()
    assert shell.analyzed("two")["summary"]["welfare"]["n"] == 2


def test_lines_write_fetched_messages_out(shell: Shell) -> None:
    """jsonl holds beside an entry what its actor heard where the ledger keeps less, csv holds it as content."""
    desk = Desk()
    desk.say("ann", "grill", "Is there Item A?")
    desk.act("grill", FetchMessages())
    keep("hand", desk)
    lines = [json.loads(line) for line in shell("export", "hand").splitlines()]
    assert ["observed" in line for line in lines] == [False, False, False, True]
    assert lines[-1]["observed"]["data"]["messages"][0]["message"]["content"] == "Is there Item A?"
    assert "Is there" not in json.dumps(lines[-1]["data"])
    row = list(csv.DictReader(io.StringIO(shell("export", "hand", "--format", "csv"))))[-1]
    assert "Is there Item A?" in row["content"]
