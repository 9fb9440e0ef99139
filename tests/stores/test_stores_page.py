"""docs/stores.md: its SQL runs, and its tables are the real tables."""

import re
from pathlib import Path

import akinai
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_entries, sample_header
from real_postgres import sql

PAGE = Path(__file__).parents[2] / "docs" / "stores.md"
TABLE = re.compile(r"^(\w+) +\(([^)]*)\)", re.M)


def page_queries() -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


async def test_queries_of_the_page_answer(postgres: str) -> None:
    """The three SQL queries of the page return what the ledger holds."""
    tables, actions, prices, mail = page_queries()
    store = await open_store(postgres)
    await store.create(sample_header("talk"))
    talk = sample_entries(9, "x' OR '1'='1")
    await store.append("talk", talk)
    run = akinai.run("vending", agent="reference", seeds=1, days=6, store=store, name="first", preset="classic")[0]
    counted = sql(postgres, actions)
    assert sum(count for *_, count in counted) == len(run.ledger.entries)
    assert {name for name, *_ in counted} == {entry.name for entry in run.ledger.entries}
    assert sum(count for _, refused, count in counted if refused) == sum(not e.outcome.ok for e in run.ledger.entries)
    set_prices = [entry for entry in run.ledger.entries if entry.name == "SetPrice"]
    assert set_prices
    assert [query for _, query, _ in sql(postgres, prices)] == [entry.parameters for entry in set_prices]
    received = [entry for entry in talk if entry.parameters["to_agent_id"] == "business_1"]
    assert sql(postgres, mail) == [(entry.seq, entry.actor, entry.parameters["text"]) for entry in received]
    for table, columns in TABLE.findall(tables):
        names = [column.split()[0] for column in columns.split(", ")]
        query = f"SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '{table}'"
        assert [name for (name,) in sql(postgres, f"{query} ORDER BY ordinal_position")] == names
    await store.close()
