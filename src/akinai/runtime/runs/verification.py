"""Verifies that a record is as it was written: its chain, header and card, and published digests."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import LedgerError, UsageError
from akinai.core.ledger import Chain
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import expect_version, read_turn, step
from akinai.runtime.runs.kept_scores import find_scores, same_scores
from akinai.runtime.runs.reading import Detail, RecordScan, expect_whole, score_stored
from akinai.runtime.runs.records import ENDED_BY_AGENT, RESUMABLE

Covered = Literal["final", "header", "card"]
"""Scope of a digest: all entries, the header with both other digests, or the card alone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a record is untouched, and the digests to publish or to compare."""

    ok: bool
    entry: int | None = None
    """The first entry at fault; 0 is the genesis. None for a fault of the header, the card or a digest."""
    why: str | None = None
    entries: int | None = None
    digest: str | None = None
    """The final digest, which stands for the genesis and all entries. None for a broken record."""
    header_digest: str | None = None
    """The digest of the header, which includes the card and, for a closed run, the final digest."""
    card_digest: str | None = None
    matches: Covered | None = None
    """The one of the three that equals the digest to compare."""
    note: str | None = None
    """A sentence on what could not be checked here."""

    @property
    def digests(self) -> dict[Covered, str | None]:
        """The three digests by scope."""
        return {"final": self.digest, "header": self.header_digest, "card": self.card_digest}

    def to_json(self) -> dict[str, Json]:
        fields = ("ok", "entry", "why", "entries", "digest", "header_digest", "card_digest", "matches", "note")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}


def checked_digest(text: str) -> str:
    """A digest in small letters. UsageError for anything but 64 hexadecimal digits."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise UsageError(f"no digest {text!r:.100}; give all 64 hexadecimal digits, as 'akinai verify RUN' prints them")
    return text.lower()


async def verify(store: Store, header: RunHeader, digest: str | None = None) -> Verdict:
    """Verify that a run's record, its stored header and a published digest agree.

    They agree if the chain holds from the genesis to the last entry, the record has the count and digest with which
    the run was closed, a run that is done ended in its world as its header says, and the digests stored with header
    and card fit them.
    """
    if header.damage:
        return Verdict(False, 0, header.damage)
    verdict = Verdict(True, header_digest=header.header_digest, card_digest=header.card_digest)
    chain, closing = Chain(header.genesis), header.genesis.digest
    try:
        async for entry in store.read(header.run_id):
            chain.follow(entry)
            if chain.count == header.entries:
                closing = chain.digest
        _check_closing(header, chain.count, closing)
        note = await _check_ending(store, header, chain.count)
        scores_hold = await _kept_scores_hold(store, header, chain)
    except LedgerError as error:
        return replace(verdict, ok=False, entry=error.entry, why=error.why)
    verdict = replace(verdict, entries=chain.count, digest=chain.digest, note=note)
    if why := _broken_seal(header):
        return replace(verdict, ok=False, why=why)
    if not scores_hold:
        return replace(verdict, ok=False, why="the scores kept beside it are not those of its record")
    if digest is None:
        return verdict
    for covered, value in verdict.digests.items():
        if value == digest:
            return replace(verdict, matches=covered)
    return replace(verdict, ok=False, why=f"none of its digests is {digest}")


def _check_closing(header: RunHeader, count: int, digest: str) -> None:
    """Raise LedgerError if the record is not the one with which the run was closed; `digest` is that of the entry."""
    expect_whole(header, count)
    if header.status == "done":
        if header.entries is None or header.digest is None:
            raise LedgerError(count, "the run is done, and its header does not say with which entry")
        if count > header.entries:
            raise LedgerError(header.entries + 1, f"it was added: the run was done with {header.entries} entries")
    if header.digest is not None and header.entries is not None and digest != header.digest:
        raise LedgerError(header.entries, "it is not the entry with which the run was closed")


async def _check_ending(store: Store, header: RunHeader, count: int) -> str | None:
    """Raise LedgerError if a run that is done did not end as its header says; a note if its world is missing."""
    if header.genesis.claimed is not None:
        return (
            "its game is sealed: the seed, what came of its actions and its scores are claims until the key is revealed"
        )
    if header.status != "done" or header.ending in RESUMABLE or header.card.get(ENDED_BY_AGENT):
        return None
    try:
        world = worlds.load(header.genesis.world)
    except UsageError:
        return f"the rules of {header.genesis.world} are not here: its ending was not checked"
    expect_version(world, header.genesis)
    state = world.begin(header.genesis)
    async for entry in store.read(header.run_id):
        state, _ = step(world, state, read_turn(world, entry))
    ending = world.ending(state)
    if ending != header.ending:
        why = f"the run ended as {ending!r}" if ending else "the run is not over"
        raise LedgerError(count, f"the header says {header.ending!r}, and with this entry {why}")
    return None


async def _kept_scores_hold(store: Store, header: RunHeader, chain: Chain) -> bool:
    """Whether the scores stored beside the run follow from its ledger; True if none are stored that fit."""
    if header.genesis.claimed is not None:
        return True
    try:
        world = worlds.load(header.genesis.world)
    except UsageError:
        return True
    stored = await find_scores(store, header, world, chain.digest, chain.count)
    if stored is None:
        return True
    detail = Detail(judged=stored.judged, series=stored.series is not None)
    scan = RecordScan.of(header)
    await scan.read(store, header.run_id, hold=False)
    return same_scores(stored, await score_stored(store, header, scan, world, detail.whole))


def _broken_seal(header: RunHeader) -> str | None:
    """Why the digests stored with header and card do not fit them; None if they fit or none are stored."""
    if header.seal is None:
        return None
    if header.seal.get("card") != header.card_digest:
        return "its card is not the one that was written"
    if header.seal.get("header") != header.header_digest:
        return "its header is not the one that was written"
    return None
