"""The functions of `akinai seal`: draw a key, look at it, reveal it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from akinai.core.canonical import Json, JsonRecord
from akinai.core.errors import UsageError
from akinai.core.stores import Books
from akinai.runtime.config.addresses import StoreRef, in_store
from akinai.runtime.seal import Key, load_key, new_key


@dataclass(frozen=True, slots=True)
class KeyInfo(JsonRecord):
    """A key without its secret, and the runs that were begun under it."""

    path: Path
    commitment: str
    begun: Sequence[dict[str, Json]] = ()
    """The lines of its log, without their codes."""


@dataclass(frozen=True, slots=True)
class Revealed(JsonRecord):
    """Where a key was revealed."""

    commitment: str
    runs: Sequence[str] = ()
    """Runs of the store whose seeds are told from now on."""
    files: Sequence[Path] = ()
    """The key in the folders of leaderboards."""


def new(file: str | Path) -> KeyInfo:
    """Draw a key and write it to a new file, for its owner alone. UsageError for a file that is there already."""
    return _info(new_key(file))


def show(file: str | Path) -> KeyInfo:
    """The commitment of a key, and the runs that were begun under it. UsageError for a file that holds no key."""
    return _info(load_key(file))


def reveal(file: str | Path, *boards: str | Path, store: StoreRef = None) -> Revealed:
    """Reveal a key to the folders of leaderboards, which hold it from then on; or, without any, to a store: the cards
    of its runs hold the key, and what leaves the store holds their seeds.

    UsageError for a file that holds no key, and for a leaderboard of other games.
    """
    key = load_key(file)
    if boards:
        from akinai.report.page.leaderboard import reveal_in

        return Revealed(key.commitment, files=[reveal_in(folder, key) for folder in boards])

    async def work(books: Books) -> Revealed:
        runs: list[str] = []
        for header in await books.runs():
            sealed = None if header.damage else header.sealed
            if sealed is None or sealed.commitment != key.commitment or header.genesis.claimed is not None:
                continue
            if key.seed_of(header.genesis.world, str(header.card.get("preset")), sealed.index) != header.genesis.seed:
                raise UsageError(f"run {header.run_id!r} was not played on game {sealed.index} of the key")
            card = {**header.card, **replace(sealed, key=key.secret.hex()).card()}
            await books.update(replace(header, card=card))
            runs.append(header.run_id)
        return Revealed(key.commitment, runs)

    return in_store(store, work)


def _info(key: Key) -> KeyInfo:
    assert key.path is not None
    lines = [{name: value for name, value in line.items() if name != "code"} for line in key.log.lines()]
    return KeyInfo(key.path, key.commitment, lines)
