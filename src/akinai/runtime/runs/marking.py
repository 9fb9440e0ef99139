"""A person's notes on a run: label, tags, deletion. They are stored in the run card; the record stays unchanged."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from akinai.core.canonical import Json, bad_text
from akinai.core.errors import UsageError
from akinai.core.stores import Forgets, RunHeader, Status, Store
from akinai.stores.snapshots import SnapshotFile

NOTES = "notes"
"""The run card key of the notes."""
LOOK_S = 1.0
"""Seconds between two looks at an open run."""
LONGEST_LABEL = 80
LONGEST_TAG = 30
MOST_TAGS = 12


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes on a run."""

    label: str = ""
    """Shown in place of the run's name; commands still take the name."""
    tags: tuple[str, ...] = ()
    deleted: bool = False
    """Whether lists leave the run out. Its ledger stays, and it can be restored."""


def notes_of(header: RunHeader) -> Notes:
    """The notes in a run's card."""
    notes = header.card.get(NOTES)
    if not isinstance(notes, Mapping):
        return Notes()
    label, tags = notes.get("label"), notes.get("tags")
    names = tuple(map(str, cast("Sequence[Json]", tags))) if isinstance(tags, list | tuple) else ()
    return Notes(label if isinstance(label, str) else "", names, notes.get("deleted") is True)


async def list_runs(
    store: Store,
    *,
    deleted: bool = False,
    group: str | None = None,
    status: Status | None = None,
    limit: int | None = None,
) -> Sequence[RunHeader]:
    """The runs that `Store.runs` selects, without deleted ones; with `deleted`, only deleted ones."""
    fetched = limit
    while True:
        headers = await store.runs(group=group, status=status, limit=fetched)
        matching = [header for header in headers if notes_of(header).deleted == deleted]
        if limit is None or fetched is None or len(matching) >= limit or len(headers) < fetched:
            return matching if limit is None else matching[max(0, len(matching) - limit) :]
        fetched = 4 * fetched  # some of the newest are of the other kind


async def set_deleted(store: Store, headers: Sequence[RunHeader], *, deleted: bool) -> None:
    """Delete or restore runs: all of them or, if one is being played, none.

    UsageError for a run whose entries grow within a second, since its player writes the card.
    """
    if deleted:
        await _expect_at_rest(store, headers)
    for header in headers:
        await note(store, header.run_id, deleted=deleted)


async def delete_forever(store: Store, headers: Sequence[RunHeader]) -> None:
    """Remove runs and everything stored with them: all of them or, if one is being played, none.

    UsageError also for a store that cannot remove runs.
    """
    if not isinstance(store, Forgets):
        raise UsageError("this store cannot remove runs; deleted without --forever, they are left out of lists")
    await _expect_at_rest(store, headers)
    await store.forget([header.run_id for header in headers])
    for header in headers:
        if snapshot := SnapshotFile.of(store, header):
            snapshot.remove()


async def _expect_at_rest(store: Store, headers: Sequence[RunHeader]) -> None:
    """Raise UsageError for a run whose entries grow within a second."""
    still_open = [header.run_id for header in headers if header.status == "open"]
    before = [await _last_entry(store, run, 0) for run in still_open]
    if still_open:
        await asyncio.sleep(LOOK_S)
    for run, last in zip(still_open, before, strict=True):
        if await _last_entry(store, run, last) > last:
            raise UsageError(f"{run} is being played; stop it first, or wait until it is over")


async def _last_entry(store: Store, run_id: str, after: int) -> int:
    return after + len([entry async for entry in store.read(run_id, after)])


async def note(
    store: Store,
    run_id: str,
    *,
    label: str | None = None,
    tags: Sequence[str] | None = None,
    deleted: bool | None = None,
) -> Notes:
    """Change the notes on a run; None leaves a note as it is.

    UsageError for a label or a tag that is too long, StoreError for a store that cannot be written.
    """
    header = await store.header(run_id)
    notes = notes_of(header)
    if label is not None:
        notes = replace(notes, label=_checked_text("name", label, LONGEST_LABEL))
    if tags is not None:
        unique = tuple(dict.fromkeys(text for tag in tags if (text := _checked_text("tag", tag, LONGEST_TAG))))
        if len(unique) > MOST_TAGS:
            raise UsageError(f"{len(unique)} tags; a run has at most {MOST_TAGS}")
        notes = replace(notes, tags=unique)
    if deleted is not None:
        notes = replace(notes, deleted=deleted)
    fields: dict[str, Json] = {"label": notes.label, "tags": [*notes.tags], "deleted": notes.deleted}
    nonempty = {name: value for name, value in fields.items() if value}
    card = {name: value for name, value in header.card.items() if name != NOTES}
    await store.update(replace(header, card={**card, NOTES: nonempty} if nonempty else card))
    return notes


def _checked_text(kind: str, text: str, longest: int) -> str:
    words = " ".join(text.replace(",", " ").split())
    if why := bad_text(words):
        raise UsageError(f"the {kind} {words!r:.40} cannot be kept: {why}")
    if len(words) > longest:
        raise UsageError(f"a {kind} has at most {longest} characters, not {len(words)}")
    return words
