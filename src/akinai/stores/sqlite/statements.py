"""The statements of a SqliteStore. Each runs in the transaction of its caller.

All raise UnknownName for a run that does not exist, before anything is written.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence

from akinai.core.errors import BrokenChain, StoreError, UnknownName
from akinai.core.ledger import Entry, chain_end
from akinai.core.stores import CoveringScores, RunHeader, ScoreRecord, Status, TraceRecord
from akinai.stores import duplicate_run, sequence_conflict, trace_conflict, unknown_run
from akinai.stores.header_rows import HEADER_COLUMNS, Row, parse_header, parse_headers

ENTRIES_PER_CHUNK = 500
TRACES_PER_CHUNK = 50


def _unknown(connection: sqlite3.Connection, run_id: str) -> UnknownName:
    return unknown_run(run_id, [id for (id,) in connection.execute("SELECT run_id FROM runs")])


def _has_run(connection: sqlite3.Connection, run_id: str) -> bool:
    return connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is not None


def _expect_run(connection: sqlite3.Connection, run_id: str) -> None:
    if not _has_run(connection, run_id):
        raise _unknown(connection, run_id)


def insert_run(connection: sqlite3.Connection, run_id: str, row: Row) -> None:
    """Add a run. Refused where its id is taken."""
    if _has_run(connection, run_id):
        raise duplicate_run(run_id)
    connection.execute(f"INSERT INTO runs ({HEADER_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)


def update_run(connection: sqlite3.Connection, run_id: str, row: Row) -> None:
    """Replace the header of a run, except its genesis."""
    _expect_run(connection, run_id)
    names = [name for name in HEADER_COLUMNS.split(", ") if name != "genesis"]
    connection.execute(
        f"UPDATE runs SET ({', '.join(names)}) = ({', '.join('?' * len(names))}) WHERE run_id = ?",
        (row[0], *row[2:], run_id),
    )


def insert_entries(connection: sqlite3.Connection, run_id: str, first: int, rows: Sequence[Row]) -> None:
    """Add entries whose first number is `first`. SequenceConflict where they do not follow the last one."""
    (last,) = connection.execute("SELECT max(seq) FROM actions WHERE run_id = ?", (run_id,)).fetchone()
    if last is None:
        _expect_run(connection, run_id)
    if rows and first != (last or 0) + 1:
        raise sequence_conflict(run_id, last or 0, first)
    connection.executemany("INSERT INTO actions (run_id, seq, created_at, data, digest) VALUES (?, ?, ?, ?, ?)", rows)


def entries(connection: sqlite3.Connection, run_id: str, after: int) -> tuple[list[Entry], bool]:
    """The next chunk, and whether there may be another.

    BrokenChain when its first entry is broken; a later broken entry ends the chunk.
    """
    rows = connection.execute(
        "SELECT seq, created_at, data, digest FROM actions WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (run_id, after, ENTRIES_PER_CHUNK),
    ).fetchall()
    if not rows:
        _expect_run(connection, run_id)
    chunk: list[Entry] = []
    try:
        chunk.extend(Entry.parse(*row) for row in rows)
    except BrokenChain:
        if not chunk:
            raise
    return chunk, len(rows) == ENTRIES_PER_CHUNK or len(chunk) < len(rows)


def insert_trace(connection: sqlite3.Connection, run_id: str, rows: Sequence[tuple[str, str, int, int, str]]) -> None:
    """Add model calls. SequenceConflict where a number of an actor is taken."""
    _expect_run(connection, run_id)
    seen: set[tuple[str, int]] = set()
    for _, actor, call, _, _ in rows:
        cursor = connection.execute(
            "SELECT 1 FROM trace WHERE (run_id, actor, call) = (?, ?, ?)", (run_id, actor, call)
        )
        if (actor, call) in seen or cursor.fetchone():
            raise trace_conflict(run_id, actor, call)
        seen.add((actor, call))
    connection.executemany("INSERT INTO trace VALUES (?, ?, ?, ?, ?)", rows)


def traces(connection: sqlite3.Connection, run_id: str, actor: str | None, after: tuple[str, int]) -> list[TraceRecord]:
    """The next chunk of model calls, of one actor or of all, after (actor, call); empty at the end."""
    condition = "actor = ? AND call > ?" if actor is not None else "(actor, call) > (?, ?)"
    rows = connection.execute(
        f"SELECT actor, call, created_at, data FROM trace WHERE run_id = ? AND {condition} "
        "ORDER BY actor, call LIMIT ?",
        (run_id, *after, TRACES_PER_CHUNK),
    ).fetchall()
    if not rows:
        _expect_run(connection, run_id)
    try:
        return [TraceRecord.parse(*row) for row in rows]
    except ValueError as error:
        raise StoreError(f"the trace of run {run_id!r} holds what is not JSON: {error}") from error


def keep_scores(connection: sqlite3.Connection, records: Sequence[ScoreRecord]) -> None:
    """Keep the scores of runs. They replace earlier ones."""
    for record in records:
        _expect_run(connection, record.run_id)
    rows = [(record.run_id, record.digest, record.version, record.text) for record in records]
    connection.executemany("INSERT OR REPLACE INTO run_scores VALUES (?, ?, ?, ?)", rows)


def kept_scores(connection: sqlite3.Connection, run_id: str) -> ScoreRecord | None:
    """The kept scores of a run; None without any."""
    try:
        row = connection.execute("SELECT * FROM run_scores WHERE run_id = ?", (run_id,)).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return None  # a file from before scores were kept, where nothing can be written
    return None if row is None else ScoreRecord(*map(str, row))


def covering_scores(connection: sqlite3.Connection, starts: Mapping[str, str]) -> list[CoveringScores]:
    """The kept scores of runs whose entries still have the digest that the scores are about."""
    covering: list[CoveringScores] = []
    for run_id, start in starts.items():
        if (record := kept_scores(connection, run_id)) is None:
            continue
        rows = connection.execute(
            "SELECT seq, created_at, data, digest FROM actions WHERE run_id = ? ORDER BY seq", (run_id,)
        )
        if chain_end(start, rows) == record.digest:
            count, traced = connection.execute(
                "SELECT (SELECT count(*) FROM actions WHERE run_id = :id), "
                "EXISTS (SELECT 1 FROM trace WHERE run_id = :id)",
                {"id": run_id},
            ).fetchone()
            covering.append(CoveringScores(record, count, bool(traced)))
    return covering


def forget(connection: sqlite3.Connection, run_ids: Sequence[str]) -> None:
    """Remove runs with their entries, traces and scores."""
    for run_id in run_ids:
        _expect_run(connection, run_id)
    for table in ("actions", "trace", "run_scores", "runs"):
        connection.executemany(f"DELETE FROM {table} WHERE run_id = ?", [(run_id,) for run_id in run_ids])


def header(connection: sqlite3.Connection, run_id: str) -> RunHeader:
    """The header of a run. BrokenChain where it is damaged."""
    row = connection.execute(f"SELECT {HEADER_COLUMNS} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise _unknown(connection, run_id)
    return parse_header(row)


def headers(
    connection: sqlite3.Connection,
    group: str | None,
    status: Status | None,
    limit: int | None,
    agents: Sequence[str] | None,
) -> list[RunHeader]:
    """The headers of the newest runs that pass the filters, oldest first."""
    # A damaged column is no JSON, and would have the whole query refused. Numbers are sorted, not rows of kilobytes.
    sweep = "CASE WHEN json_valid(card) THEN json_extract(card, '$.sweep.name') END"
    rows = connection.execute(
        f"SELECT {HEADER_COLUMNS} FROM (SELECT rowid AS number FROM runs "
        f"WHERE (:name IS NULL OR :name IN (group_name, {sweep})) "
        "AND (:status IS NULL OR status = :status) AND (:agents IS NULL OR EXISTS (SELECT 1 FROM "
        "json_each(CASE WHEN json_valid(agents) THEN agents ELSE '{}' END) AS played "
        "WHERE played.value IN (SELECT value FROM json_each(:agents)))) "
        "ORDER BY created_at DESC, rowid DESC LIMIT :limit) CROSS JOIN runs ON runs.rowid = number",
        {
            "name": group,
            "status": status,
            "limit": -1 if limit is None else limit,
            "agents": None if agents is None else json.dumps([*agents]),
        },
    )
    return parse_headers(rows)[::-1]
