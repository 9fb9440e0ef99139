"""What a PostgresStore keeps of a run, an entry and a call, and how they are read back as they were.

JSONB orders keys in its own way and writes numbers in another: what is read is written canonically again, so that
entries, texts and digests are those of every other store.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, LiteralString, TypeAlias, cast

from akinai.core.canonical import Json, canonical, keepable
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Entry, Genesis
from akinai.core.stores import RunHeader, damaged_run

Row: TypeAlias = "tuple[object, ...]"

HEADER: LiteralString = (
    "run_id, genesis, agents, status, created_at, parent, group_name, ending, entries, digest, error, card"
)


def channel_of(run_id: str) -> str:
    """Where NOTIFY tells of a run's new entries: a channel's name has at most 63 bytes."""
    return f"akinai_{hashlib.blake2b(run_id.encode(), digest_size=16).hexdigest()}"


def entry_of(seq: int, at: int, text: str, digest: str) -> Entry:
    """An entry from JSONB's text. Raises BrokenChain when it is not one."""
    try:
        text = _again(text)
    except (ValueError, RecursionError) as error:
        raise BrokenChain(seq, f"its data is not JSON that Akinai reads ({error})") from error
    return Entry.parse(seq, at, text, digest)


def row_of(run: RunHeader) -> Row:
    """A header as the columns of `runs`. What an error says is kept without characters that no database takes."""
    error = None if run.error is None else keepable(run.error)
    return (
        *(run.run_id, run.genesis.text, canonical(run.agents), run.status, run.created_at, run.parent, run.group),
        *(run.ending, run.entries, run.digest, error, canonical(run.card)),
    )


def headers_of(rows: Iterable[tuple[Any, ...]]) -> list[RunHeader]:
    """Headers of many runs. A damaged one says so and hides no other; runs with equal settings share them."""
    setups: dict[str, Mapping[str, Json]] = {}
    headers: list[RunHeader] = []
    for row in rows:
        try:
            header = header_of(row)
        except BrokenChain as error:
            headers.append(damaged_run(row[0], error, created_at=row[4], group=row[6]))
            continue
        setup = setups.setdefault(canonical(header.genesis.setup), header.genesis.setup)
        headers.append(replace(header, genesis=replace(header.genesis, setup=setup)))
    return headers


def header_of(row: tuple[Any, ...]) -> RunHeader:
    """A header from its columns, the JSON ones as text. Raises BrokenChain when they are not one."""
    run_id, genesis, agents, status, created_at, parent, group, ending, entries, digest, failure, card = row
    try:
        begun = Genesis(**json.loads(_again(genesis)))
        told: dict[str, Any] = {"agents": dict(json.loads(_again(agents))), "card": dict(json.loads(_again(card)))}
    except (AttributeError, ValueError, TypeError, RecursionError) as error:
        raise BrokenChain(0, f"the header of run {run_id!r} is not one ({type(error).__name__}: {error})") from error
    return RunHeader(
        run_id,
        begun,
        status=status,
        created_at=created_at,
        parent=parent,
        group=group,
        ending=ending,
        entries=entries,
        digest=digest,
        error=failure,
        **told,
    )


def _again(text: str) -> str:
    """JSONB's text in the canonical spelling."""
    return canonical(cast("Json", json.loads(text)))
