"""Damaged headers: the run reports the damage, and other runs are listed as before."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from akinai.core.canonical import Json
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Genesis
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
    store = await open_store(str(tmp_path / "a.db"))
    written = [Genesis("w@1", seed, {"products": ["a", "b"] * (1 + seed // 3)}) for seed in range(6)]
    for genesis in written:
        await store.create(sample_header(f"r{genesis.seed}", genesis=genesis))
    listed = [header.genesis for header in await store.runs()]
    assert listed == written
    assert [genesis.digest for genesis in listed] == [genesis.digest for genesis in written]
    assert len({id(genesis.setup) for genesis in listed}) == 2
    await store.close()


async def test_runs_of_equal_cards_share_one_and_have_their_own_seals(tmp_path: Path) -> None:
    """A listing holds equal cards once; what looks like a seal inside a card stays there."""
    store = await open_store(str(tmp_path / "a.db"))
    like_a_seal: dict[str, Json] = {"a": "", "seal": {"card": "0" * 64, "header": "1" * 64}}
    cards: list[dict[str, Json]] = [{"preset": "p"}, {"preset": "p"}, {"inner": like_a_seal}, {"inner": like_a_seal}]
    for number, card in enumerate(cards):
        await store.create(replace(sample_header(f"r{number}"), card=card))
    listed = await store.runs()
    assert [header.card for header in listed] == cards
    assert listed[0].card is listed[1].card
    assert [header.seal for header in listed] == [
        {"card": header.card_digest, "header": header.header_digest} for header in listed
    ]
    assert [(await store.header(header.run_id)).seal for header in listed] == [header.seal for header in listed]
    await store.close()
