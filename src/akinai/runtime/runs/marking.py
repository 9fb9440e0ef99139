"""What a person notes on a run: a label, tags, and that it is deleted. It is kept in the card; the record stays."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from akinai.core.canonical import Json, bad_text
from akinai.core.errors import UsageError
from akinai.core.stores import Forgets, RunHeader, Status, Store

NOTES = "notes"
"""The key of a run card that holds them."""
LOOK_S = 1.0
"""Between two looks at an open run."""
LONGEST_LABEL = 80
LONGEST_TAG = 30
MOST_TAGS = 12


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes on a run."""

    label: str = ""
    """Shown in place of its name; commands go on to take the name."""
    tags: tuple[str, ...] = ()
    deleted: bool = False
    """Whether lists leave it out. Its ledger is kept, and it can be restored."""


def notes_of(header: RunHeader) -> Notes:
    """The notes in a run's card."""
    found = header.card.get(NOTES)
    if not isinstance(found, Mapping):
        return Notes()
    label, tags = found.get("label"), found.get("tags")
    names = tuple(map(str, cast("Sequence[Json]", tags))) if isinstance(tags, list | tuple) else ()
    return Notes(label if isinstance(label, str) else "", names, found.get("deleted") is True)


async def listed(
    store: Store,
    *,
    deleted: bool = False,
    group: str | None = None,
    status: Status | None = None,
    limit: int | None = None,
) -> Sequence[RunHeader]:
    """Runs as `Store.runs` chooses them, those that are deleted left out, or they alone."""
    asked = limit
    while True:
        headers = await store.runs(group=group, status=status, limit=asked)
        chosen = [header for header in headers if notes_of(header).deleted == deleted]
        if limit is None or asked is None or len(chosen) >= limit or len(headers) < asked:
            return chosen if limit is None else chosen[max(0, len(chosen) - limit) :]
        asked = 4 * asked  # some of the newest are of the other kind


async def set_deleted(store: Store, headers: Sequence[RunHeader], *, deleted: bool) -> None:
    """Delete runs, or take it back: all of them or, where one is being played, none.

    UsageError for a run whose entries grow within a second, of which whoever plays it writes the card.
    """
    if deleted:
        await _expect_at_rest(store, headers)
    for header in headers:
        await note(store, header.run_id, deleted=deleted)


async def delete_forever(store: Store, headers: Sequence[RunHeader]) -> None:
    """Remove runs with all that is kept of them, for good: all of them or, where one is being played, none.

    UsageError also for a store that removes nothing.
    """
    if not isinstance(store, Forgets):
        raise UsageError("this store cannot remove runs; deleted without --forever, they are left out of lists")
    await _expect_at_rest(store, headers)
    await store.forget([header.run_id for header in headers])


async def _expect_at_rest(store: Store, headers: Sequence[RunHeader]) -> None:
    """UsageError for a run whose entries grow within a second."""
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
    """Change the notes on a run; None leaves one as it is.

    UsageError for a label or a tag that is too long, StoreError for a store that cannot be written.
    """
    header = await store.header(run_id)
    notes = notes_of(header)
    if label is not None:
        notes = replace(notes, label=_checked("name", label, LONGEST_LABEL))
    if tags is not None:
        several = tuple(dict.fromkeys(text for tag in tags if (text := _checked("tag", tag, LONGEST_TAG))))
        if len(several) > MOST_TAGS:
            raise UsageError(f"{len(several)} tags; a run has at most {MOST_TAGS}")
        notes = replace(notes, tags=several)
    if deleted is not None:
        notes = replace(notes, deleted=deleted)
    fields: dict[str, Json] = {"label": notes.label, "tags": [*notes.tags], "deleted": notes.deleted}
    kept = {name: value for name, value in fields.items() if value}
    card = {name: value for name, value in header.card.items() if name != NOTES}
    await store.update(replace(header, card={**card, NOTES: kept} if kept else card))
    return notes


def _checked(kind: str, text: str, longest: int) -> str:
    words = " ".join(text.replace(",", " ").split())
    if why := bad_text(words):
        raise UsageError(f"the {kind} {words!r:.40} cannot be kept: {why}")
    if len(words) > longest:
        raise UsageError(f"a {kind} has at most {longest} characters, not {len(words)}")
    return words
