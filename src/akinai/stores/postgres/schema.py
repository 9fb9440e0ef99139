"""The tables of a PostgresStore. They are created without touching the tables of other applications."""

from psycopg.errors import InsufficientPrivilege, ReadOnlySqlTransaction, UndefinedColumn

from akinai.core.errors import StoreError, StoreVersion, UsageError
from akinai.stores.postgres.connections import Connection, Server

SCHEMA_VERSION = 2
OLDEST_SERVER = 12
"""The first PostgreSQL with generated columns."""
LONGEST_INDEXED = 200
"""Indexed characters of a recipient or sender. A B-tree takes no key above 2.7 kB, and agents may write longer ones."""

_LOCK = 0x416B696E  # "Akin"
_TO, _FROM = (f"data->'request'->'parameters'->>'{party}_agent_id'" for party in ("to", "from"))

# `agent_id` is generated from the data, so that the two never differ.
# "C" orders text as Python does, by code point.
_SCORES = """CREATE TABLE IF NOT EXISTS run_scores (
    run_id TEXT COLLATE "C" PRIMARY KEY, digest TEXT NOT NULL, version TEXT NOT NULL, data TEXT NOT NULL)"""
_STEPS = {1: (_SCORES,)}
"""By schema version: the statements that migrate to the next one. None changes a table that holds records."""
_SCHEMA = (
    "CREATE TABLE akinai (schema_version INTEGER NOT NULL)",
    """CREATE TABLE runs (
        run_id TEXT COLLATE "C" PRIMARY KEY, genesis JSONB NOT NULL, agents JSONB NOT NULL, status TEXT NOT NULL,
        created_at BIGINT NOT NULL, parent TEXT, group_name TEXT, ending TEXT, entries BIGINT, digest TEXT,
        error TEXT, card JSONB NOT NULL, id BIGINT GENERATED ALWAYS AS IDENTITY)""",
    """CREATE TABLE actions (
        run_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL,
        agent_id TEXT GENERATED ALWAYS AS (data->>'agent_id') STORED,
        created_at BIGINT NOT NULL, data JSONB NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run_id, seq))""",
    f"""CREATE INDEX idx_actions_to_agent ON actions (run_id, left({_TO}, {LONGEST_INDEXED}), seq)
        WHERE {_TO} IS NOT NULL""",
    f"""CREATE INDEX idx_actions_from_agent ON actions (run_id, left({_FROM}, {LONGEST_INDEXED}), seq)
        WHERE {_FROM} IS NOT NULL""",
    "CREATE INDEX idx_actions_name ON actions (run_id, (data->'request'->>'name'), seq)",
    # Text as it came from a model, halves of surrogate pairs included: JSON takes them, JSONB does not.
    """CREATE TABLE trace (
        run_id TEXT COLLATE "C" NOT NULL, actor TEXT COLLATE "C" NOT NULL, call BIGINT NOT NULL,
        created_at BIGINT NOT NULL, data JSON NOT NULL, PRIMARY KEY (run_id, actor, call))""",
    _SCORES,
    f"INSERT INTO akinai VALUES ({SCHEMA_VERSION})",
)


async def prepare_schema(connection: Connection, server: Server, create: bool) -> None:
    """Check that our tables exist; with `create`, create missing ones. Safe in several processes at once.

    Raises UsageError without `create` when there are none, StoreVersion for tables of a newer Akinai, StoreError for a
    server that cannot hold them or a schema where another application has tables of these names.
    """
    _expect_suitable(connection, server)
    version = await _version(connection, server)
    if version is None:
        if not create:
            raise UsageError(
                f"no store at {server.display_url!r}; a first run makes one ('akinai run'), "
                "or name another with --store"
            )
        version = await _make(connection, server)
    if version > SCHEMA_VERSION:
        raise StoreVersion(
            f"the store {server.display_url!r} has schema version {version}, this Akinai knows {SCHEMA_VERSION}; "
            "install a newer Akinai"
        )
    if version < SCHEMA_VERSION:
        await _migrate(connection, server)


async def _migrate(connection: Connection, server: Server) -> None:
    """Migrate the tables of an older schema to the current one, completely or not at all. A user without the right to
    do so uses them as they are."""
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            for step in range(await _version(connection, server) or 1, SCHEMA_VERSION):
                for statement in _STEPS[step]:
                    await connection.execute(statement.encode())
            await connection.execute("UPDATE akinai SET schema_version = %s", (SCHEMA_VERSION,))
    except (InsufficientPrivilege, ReadOnlySqlTransaction):
        pass


def _expect_suitable(connection: Connection, server: Server) -> None:
    release, encoding = connection.info.server_version // 10_000, connection.info.parameter_status("server_encoding")
    if release < OLDEST_SERVER:
        raise StoreError(
            f"the server of {server.display_url!r} is PostgreSQL {release}; {OLDEST_SERVER} or newer is needed"
        )
    if encoding != "UTF8":
        raise StoreError(
            f"the database {server.display_url!r} keeps text as {encoding}; make one with CREATE DATABASE ... "
            "ENCODING 'UTF8' TEMPLATE template0"
        )


async def _version(connection: Connection, server: Server) -> int | None:
    """The schema version recorded in the database; None when our tables do not exist."""
    tables = await _tables(connection, ["akinai"])
    if not tables:
        return None
    try:
        row = await (await connection.execute("SELECT max(schema_version) FROM akinai")).fetchone()
    except UndefinedColumn:
        raise _foreign_tables(server, tables) from None
    if row is None or not isinstance(row[0], int):
        raise _foreign_tables(server, tables)
    return row[0]


async def _make(connection: Connection, server: Server) -> int:
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version = await _version(connection, server)
        if version is not None:  # another process has made them meanwhile
            return version
        if tables := await _tables(connection, ["actions", "runs", "trace"]):
            raise _foreign_tables(server, tables)
        for statement in _SCHEMA:
            await connection.execute(statement.encode())
    return SCHEMA_VERSION


async def _tables(connection: Connection, names: list[str]) -> list[str]:
    """The names that are taken in the schema of our tables."""
    cursor = await connection.execute(
        "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE nspname = current_schema() AND relname = ANY(%s)",
        (names,),
    )
    return [str(name) for (name,) in await cursor.fetchall()]


def _foreign_tables(server: Server, tables: list[str]) -> StoreError:
    return StoreError(
        f"the database {server.display_url!r} has tables of another application ({', '.join(sorted(tables))}); "
        "name another database, or a schema of its own with '?options=-csearch_path%3DNAME'"
    )
