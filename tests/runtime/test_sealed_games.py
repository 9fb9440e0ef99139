"""Sealed games: a key and a number give the game, equal to the same seed given openly, and nothing tells the seed."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai import Ledger
from akinai.core.chance import KEY_BYTES, SEED_BITS, Sealed, seed_label, seed_of
from akinai.core.errors import SeedWithheld, UsageError
from akinai.core.worlds import replay
from akinai.runtime.seal import forged_line, gap_in, load_key, new_key, parse_log

GAME: dict[str, Any] = {"preset": "classic", "days": 3}


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return new_key(tmp_path / "key.json").path or tmp_path


def real_seeds(runs: akinai.Runs) -> list[int]:
    return [run.header.genesis.seed for run in runs]


def test_a_keyed_seed_follows_from_key_world_preset_and_number() -> None:
    """It has 62 bits, and another key, world, preset or number gives another."""
    secret = bytes(range(KEY_BYTES))
    seeds = {
        seed_of(secret, "vending@3", "quarter", 7),
        seed_of(secret, "vending@3", "quarter", 8),
        seed_of(secret, "vending@3", "classic", 7),
        seed_of(secret, "market@2", "quarter", 7),
        seed_of(bytes(KEY_BYTES), "vending@3", "quarter", 7),
    }
    assert len(seeds) == 5
    assert all(2**40 < seed < 2**SEED_BITS for seed in seeds)
    assert seed_of(secret, "vending@3", "quarter", 7) == 3447165367781234465


def test_a_stand_in_is_no_seed_and_keeps_the_order() -> None:
    """It is below 0, unlike any seed, in the order of the numbers, and is read as index and commitment."""
    first, second, other = Sealed(7, "3f9a0c1d" * 8), Sealed(8, "3f9a0c1d" * 8), Sealed(7, "00000001" * 8)
    assert first.stand_in < second.stand_in < 0
    assert other.stand_in < 0
    assert seed_label(first.stand_in) == first.label == "sealed 7 of 3f9a0c1..."
    assert seed_label(other.stand_in) == "sealed 7 of 0000000..."
    assert seed_label(7) == "7"


@pytest.mark.parametrize(("world", "agent"), [("vending", "naive"), ("market", None), ("qa", None)])
def test_a_sealed_game_is_the_one_of_its_seed_given_openly(key: Path, world: str, agent: str | None) -> None:
    """In every world: the same ledger to the byte, the same scores, in a run that says nothing of the seed."""
    game: dict[str, Any] = {
        "vending": GAME,
        "market": {"settings": ["customers.count=1", "businesses.count=2"]},
        "qa": {"settings": ["draw=3"]},
    }[world]
    (sealed,) = akinai.run(world, agent=agent, seeds=7, key=key, **game)
    (openly,) = akinai.run(world, agent=agent, seeds=sealed.header.genesis.seed, **game)
    assert sealed.header.genesis == openly.header.genesis
    assert [entry.data for entry in sealed.ledger.entries] == [entry.data for entry in openly.ledger.entries]
    assert sealed.digest == openly.digest or world == "qa"  # whose times are this machine's
    assert sealed.scores == openly.scores
    seed = str(sealed.header.genesis.seed)
    told = json.dumps([sealed.to_json(), sealed.header.to_json(), repr(sealed), sealed.id], default=str)
    assert seed not in told
    assert seed in json.dumps(openly.to_json(), default=str)


def test_pairs_of_sealed_runs_are_those_of_their_seeds(key: Path) -> None:
    """A comparison finds the pairs and the differences that the same seeds give openly."""
    store, openly = "sealed.db", "open.db"
    os.chdir(key.parent)
    seeds: list[int] = []
    for agent in ("naive", "reference"):
        runs = akinai.run("vending", agent=agent, seeds="1-3", key=key, name=agent, store=store, jobs=1, **GAME)
        seeds = real_seeds(runs)
        akinai.run("vending", agent=agent, seeds=seeds, name=agent, store=openly, jobs=1, **GAME)
    sealed, plain = (akinai.compare("naive", "reference", store=place, jobs=1) for place in (store, openly))
    assert sealed.paired
    assert [score.to_json() for score in sealed.scores.values()] == [score.to_json() for score in plain.scores.values()]
    assert sealed.to_json()["seeds"]["common"] == [
        f"sealed {n} of {load_key(key).commitment[:7]}..." for n in (1, 2, 3)
    ]  # type: ignore[index, call-overload]
    text = json.dumps([sealed.to_json(), akinai.analyze("naive", store=store, jobs=1).to_json()], default=str)
    assert not [seed for seed in seeds if str(seed) in text]


def test_forks_resumes_shards_and_why_are_those_of_the_seed(key: Path) -> None:
    """Under the key they equal the same seed given openly; without it none begins."""
    os.chdir(key.parent)
    whole = akinai.run("vending", agent="naive", seeds="1-2", key=key, name="a", store="a.db", jobs=1, **GAME)
    openly = akinai.run("vending", agent="naive", seeds=real_seeds(whole), name="p", store="a.db", jobs=1, **GAME)
    shares = [
        akinai.run(
            "vending", agent="naive", seeds="1-2", shard=f"{n}/2", key=key, name="s", store="b.db", jobs=1, **GAME
        )
        for n in (1, 2)
    ]
    assert [share[0].digest for share in shares] == [run.digest for run in whole]
    forks = [
        akinai.fork(name, at_day=2, agent="idle", store="a.db", jobs=1, **more)
        for name, more in (("a-1", {"key": key}), (openly[0].id, {}))
    ]
    assert forks[0][0].digest == forks[1][0].digest
    explained = [
        {**akinai.why(name, store="a.db", jobs=1, futures=4, budget=40).to_json(), "run": ""}
        for name in ("a-1", openly[0].id)
    ]
    assert explained[0] == explained[1]
    capped = akinai.run(
        "vending", agent="naive", seeds=3, key=key, name="c", max_actions=4, store="a.db", jobs=1, **GAME
    )
    assert capped[0].ending == "message_cap"
    with pytest.raises(UsageError, match="going on with it takes that key"):
        akinai.resume("c", store="a.db", jobs=1)
    assert akinai.resume("c", key=key, store="a.db", jobs=1)[0].ending == "message_cap"


def test_a_session_tells_neither_seed_nor_key(key: Path) -> None:
    """`akinai.open` gives number and commitment; a second session needs the key to go on."""
    os.chdir(key.parent)
    with akinai.open("vending", seed=4, key=key, name="mine", store="a.db", **GAME) as session:
        assert session.seed is None
        assert session.id == "mine-4"
        assert "sealed 4 of" in repr(session)
        session.act("advance_day")
        seed = str(session.run().header.genesis.seed)
        assert seed not in session.prompt() + session.view().text + repr(session)
    with pytest.raises(UsageError, match="takes that key"):
        akinai.open(resume="mine-4", store="a.db")
    with akinai.open(resume="mine-4", key=key, store="a.db") as session:
        assert not session.done


def test_the_log_holds_every_run_that_was_begun(key: Path) -> None:
    """Runs, forks and sessions have a line each, once; a gap and a forged line are found."""
    os.chdir(key.parent)
    for name in ("a", "b"):
        akinai.run("vending", agent="idle", seeds="1-2", key=key, name=name, store="a.db", jobs=1, **GAME)
    akinai.fork("a-1", after=1, key=key, store="a.db", jobs=1)
    loaded = load_key(key)
    lines = loaded.log.lines()
    assert [line["run"] for line in lines] == ["a-1", "a-2", "b-1", "b-2", "a-1-fork-1"]
    assert [line["n"] for line in lines] == [1, 2, 3, 4, 5]
    assert lines[-1]["parent"] == "a-1#1"
    assert gap_in(lines) is None
    assert forged_line(loaded.secret, lines) is None
    assert gap_in([*lines[:1], *lines[2:]]) is not None
    assert forged_line(loaded.secret, [{**lines[0], "index": 2}]) == {**lines[0], "index": 2}
    assert "seed" not in loaded.log.path.read_text()
    assert stat.S_IMODE(loaded.log.path.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="line 1 of the log 'x' is none of a log of runs"):
        parse_log("{}", "x")


def test_a_key_is_for_its_owner_alone(key: Path) -> None:
    """Its file has mode 0600, is refused where others can read it, and its secret is in no text of the object."""
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    loaded = load_key(key)
    assert loaded.secret.hex() not in repr(loaded)
    key.chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others"):
        load_key(key)
    key.chmod(0o600)
    for text, why in (("{}", "holds no key of this version"), ("not json", "holds no key: it is no JSON")):
        key.write_text(text)
        with pytest.raises(UsageError, match=why):
            load_key(key)
    document = loaded.to_json()
    key.write_text(json.dumps({**document, "commitment": "0" * 64}))
    with pytest.raises(UsageError, match="does not fit the commitment"):
        load_key(key)


def test_exports_before_the_reveal_hold_no_seed_and_after_it_they_do(key: Path) -> None:
    """Lines, a log for Inspect and the JSON of runs: index and commitment, and the seed once the key is revealed."""
    os.chdir(key.parent)
    runs = akinai.run("vending", agent="naive", seeds="1-2", key=key, name="a", store="a.db", jobs=1, **GAME)
    seeds = [str(seed) for seed in real_seeds(runs)]

    def everything() -> str:
        import zipfile

        akinai.export("a", format="inspect", output="a.eval", store="a.db")
        with zipfile.ZipFile("a.eval") as log:
            parts = [log.read(name).decode() for name in log.namelist()] + log.namelist()
        lines = [*akinai.export("a", store="a.db"), *akinai.export("a", format="csv", store="a.db")]
        return json.dumps([parts, lines, akinai.runs("a", store="a.db").to_json()], default=str)

    before = everything()
    assert not [seed for seed in seeds if seed in before]
    assert "sealed-1-of-" in before
    assert akinai.seal.reveal(key, store="a.db").runs == ["a-1", "a-2"]
    after = everything()
    assert all(seed in after for seed in seeds)


def test_a_withheld_seed_is_no_seed(key: Path) -> None:
    """A published header keeps the digest as a claim, and its game is begun by nobody."""
    (run,) = akinai.run("vending", agent="naive", seeds=1, key=key, **GAME)
    published = run.header.published
    assert published.genesis.digest == run.header.genesis.digest
    assert str(run.header.genesis.seed) not in repr(published)
    with pytest.raises(SeedWithheld):
        published.genesis.chance("demand")
    with pytest.raises(SeedWithheld):
        replay(akinai.worlds.load("vending"), Ledger(published.genesis, run.ledger.entries))
