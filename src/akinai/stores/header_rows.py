"""Run headers as table rows, written and parsed alike by SQLite and PostgreSQL."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, LiteralString, TypeAlias

from akinai.core.canonical import canonical, keepable
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader, damaged_run

Row: TypeAlias = "tuple[object, ...]"
Canonicalize: TypeAlias = Callable[[str], str]
"""Turns JSON as a database spells it into canonical JSON."""

HEADER_COLUMNS: LiteralString = (
    "run_id, genesis, agents, status, created_at, parent, group_name, ending, entries, digest, error, card"
)
_SEED = re.compile(r'\{"seed":(0|[1-9]\d{0,18})')


def header_row(run: RunHeader) -> Row:
    """A header as the columns of `runs`. Characters that no database stores are replaced in its error text."""
    error = None if run.error is None else keepable(run.error)
    return (
        *(run.run_id, run.genesis.text, canonical(run.agents), run.status, run.created_at, run.parent, run.group),
        *(run.ending, run.entries, run.digest, error, canonical(run.card)),
    )


def parse_headers(rows: Iterable[tuple[Any, ...]], canonicalize: Canonicalize = str) -> list[RunHeader]:
    """The headers of many rows. A damaged row becomes a header that says so; equal setups are parsed once."""
    setups: dict[str, Genesis] = {}
    headers: list[RunHeader] = []
    for row in rows:
        try:
            headers.append(parse_header(row, canonicalize, setups))
        except BrokenChain as error:
            headers.append(damaged_run(str(row[0]), error, created_at=row[4], group=row[6]))
    return headers


def parse_header(
    row: tuple[Any, ...], canonicalize: Canonicalize = str, setups: dict[str, Genesis] | None = None
) -> RunHeader:
    """The header of one row, its JSON columns as text. Raises BrokenChain when they do not hold a header."""
    run_id, genesis, agents, status, created_at, parent, group, ending, entries, digest, failure, card = row
    try:
        parsed_genesis = _parse_genesis(canonicalize(genesis), {} if setups is None else setups)
        parsed_agents: dict[str, str] = dict(json.loads(canonicalize(agents)))
        parsed_card: dict[str, Any] = dict(json.loads(canonicalize(card)))
    except (AttributeError, ValueError, TypeError, RecursionError) as error:
        raise BrokenChain(0, f"the header of run {run_id!r} is not one ({type(error).__name__}: {error})") from error
    return RunHeader(
        run_id,
        parsed_genesis,
        parsed_agents,
        status=status,
        created_at=created_at,
        parent=parent,
        group=group,
        ending=ending,
        entries=entries,
        digest=digest,
        error=failure,
        card=parsed_card,
    )


def _parse_genesis(text: str, setups: dict[str, Genesis]) -> Genesis:
    """A genesis. Runs that differ only in their seed share one setup object, which is most of a header."""
    seed, comma, rest = text.partition(",")
    if comma and rest in setups and (digits := _SEED.fullmatch(seed)):
        return Genesis(setups[rest].world, int(digits[1]), setups[rest].setup)
    genesis = Genesis(**json.loads(text))
    if _SEED.fullmatch(seed):
        setups[rest] = genesis
    return genesis
