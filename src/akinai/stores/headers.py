"""The header of a run as the columns of a table, and back: what SQLite and PostgreSQL share."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, LiteralString, TypeAlias

from akinai.core.canonical import canonical, keepable
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader, damaged_run

Row: TypeAlias = "tuple[object, ...]"
Spelt: TypeAlias = Callable[[str], str]
"""Gives the canonical spelling of JSON that a database keeps in a spelling of its own."""

HEADER: LiteralString = (
    "run_id, genesis, agents, status, created_at, parent, group_name, ending, entries, digest, error, card"
)
_SEED = re.compile(r'\{"seed":(0|[1-9]\d{0,18})')


def row_of(run: RunHeader) -> Row:
    """A header as the columns of `runs`. What an error says is kept without characters that no database takes."""
    error = None if run.error is None else keepable(run.error)
    return (
        *(run.run_id, run.genesis.text, canonical(run.agents), run.status, run.created_at, run.parent, run.group),
        *(run.ending, run.entries, run.digest, error, canonical(run.card)),
    )


def headers_of(rows: Iterable[tuple[Any, ...]], spelt: Spelt = str) -> list[RunHeader]:
    """Headers of many runs. A damaged one says so and hides no other; runs with equal settings share them."""
    setups: dict[str, Genesis] = {}
    headers: list[RunHeader] = []
    for row in rows:
        try:
            headers.append(header_of(row, spelt, setups))
        except BrokenChain as error:
            headers.append(damaged_run(str(row[0]), error, created_at=row[4], group=row[6]))
    return headers


def header_of(row: tuple[Any, ...], spelt: Spelt = str, setups: dict[str, Genesis] | None = None) -> RunHeader:
    """A header from its columns, the JSON ones as text. Raises BrokenChain when they are not one."""
    run_id, genesis, agents, status, created_at, parent, group, ending, entries, digest, failure, card = row
    try:
        begun = _genesis_of(spelt(genesis), {} if setups is None else setups)
        told: dict[str, Any] = {"agents": dict(json.loads(spelt(agents))), "card": dict(json.loads(spelt(card)))}
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


def _genesis_of(text: str, known: dict[str, Genesis]) -> Genesis:
    """A genesis; runs that differ in their seed alone share one setup, which is most of a header."""
    seed, comma, rest = text.partition(",")
    if comma and rest in known and (digits := _SEED.fullmatch(seed)):
        return Genesis(known[rest].world, int(digits[1]), known[rest].setup)
    begun = Genesis(**json.loads(text))
    if _SEED.fullmatch(seed):
        known[rest] = begun
    return begun
