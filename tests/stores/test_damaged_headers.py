"""Damaged headers: the run reports the damage, and other runs are listed as before."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from akinai.core.errors import BrokenChain
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_header


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET genesis = '{' WHERE run_id = 'b'",
        "UPDATE runs SET genesis = '[]' WHERE run_id = 'b'",
        "UPDATE runs SET genesis = '{\"seed\":1}' WHERE run_id = 'b'",
        "UPDATE runs SET genesis = replace(genesis, '\"seed\":', '\"seed\":0') WHERE run_id = 'b'",
        "UPDATE runs SET agents = '3' WHERE run_id = 'b'",
        "UPDATE runs SET card = '[1]' WHERE run_id = 'b'",
    ],
)
async def test_damaged_header_hides_no_other(tmp_path: Path, statement: str) -> None:
    """`runs` names the damaged run and its fault, and lists the others whole; its `header` raises BrokenChain."""
    store = await open_store(str(tmp_path / "a.db"))
    for run_id in ("a", "b", "c"):
        await store.create(sample_header(run_id))
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute(statement)
    first, damaged, last = await store.runs()
    assert (first, last) == (sample_header("a"), sample_header("c"))
    assert (damaged.run_id, damaged.status) == ("b", "failed")
    assert damaged.damage is not None
    assert "header of run 'b'" in damaged.damage
    with pytest.raises(BrokenChain, match="header of run 'b'"):
        await store.header("b")
    await store.close()


async def test_runs_of_equal_setups_share_one(tmp_path: Path) -> None:
    """A listing of many runs holds equal setups once, whatever their seeds; each run has its own genesis."""
    from akinai.core.ledger import Genesis

    store = await open_store(str(tmp_path / "a.db"))
    written = [Genesis("w@1", seed, {"products": ["a", "b"] * (1 + seed // 3)}) for seed in range(6)]
    for genesis in written:
        await store.create(sample_header(f"r{genesis.seed}", genesis=genesis))
    listed = [header.genesis for header in await store.runs()]
    assert listed == written
    assert [genesis.digest for genesis in listed] == [genesis.digest for genesis in written]
    assert len({id(genesis.setup) for genesis in listed}) == 2
    await store.close()
