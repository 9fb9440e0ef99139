"""Run headers as table rows, written and parsed alike by SQLite and PostgreSQL."""

import re
from collections.abc import Callable, Iterable
from sys import intern
from typing import Any, LiteralString, TypeAlias, cast, get_args

from akinai.core.canonical import canonical, keepable, parse_json
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader, Status, damaged_run

Row: TypeAlias = "tuple[object, ...]"
Canonicalize: TypeAlias = Callable[[str], str]
"""Turns JSON as a database spells it into canonical JSON."""

HEADER_COLUMNS: LiteralString = (
    "run_id, genesis, agents, status, created_at, parent, group_name, ending, entries, digest, error, card"
)
_STATUSES = get_args(Status)
SEAL = "seal"
"""The key of the stored card under which the digests of card and header are kept."""
_GENESES = (
    {"seed": "int", "setup": "dict", "world": "str"},
    {"claimed": "str", "seed": "int", "setup": "dict", "world": "str"},
)
"""The types of the fields of a genesis, and of one whose seed is withheld."""
_SEED = re.compile(r'\{"seed":(0|[1-9]\d{0,18})')
_DIGESTS = re.compile(f',"{SEAL}":{{"card":"([0-9a-f]{{64}})","header":"([0-9a-f]{{64}})"}}')
"""The seal in the text of a card, all that most cards of a group differ in."""


def header_row(run: RunHeader) -> Row:
    """A header as the columns of `runs`. The column of the card also holds the digests.

    Characters that no database stores are replaced in its error text.
    """
    error = None if run.error is None else keepable(run.error)
    card = {**run.card, SEAL: {"card": run.card_digest, "header": run.header_digest}}
    return (
        *(run.run_id, run.genesis.text, canonical(run.agents), run.status, run.created_at, run.parent, run.group),
        *(run.ending, run.entries, run.digest, error, canonical(card)),
    )


def parse_headers(rows: Iterable[tuple[Any, ...]], canonicalize: Canonicalize = str) -> list[RunHeader]:
    """The headers of many rows. A damaged row becomes the header of a damaged run; equal setups, agents and cards are
    parsed once, and shared."""
    parsed: dict[str, Any] = {}
    headers: list[RunHeader] = []
    for row in rows:
        try:
            headers.append(parse_header(row, canonicalize, parsed))
        except BrokenChain as error:
            headers.append(damaged_run(str(row[0]), error, created_at=row[4], group=row[6]))
    return headers


def parse_header(
    row: tuple[Any, ...], canonicalize: Canonicalize = str, parsed: dict[str, Any] | None = None
) -> RunHeader:
    """The header of one row, whose JSON columns are text. Raises BrokenChain when they do not hold a header."""
    run_id, genesis, agents, status, created_at, parent, group, ending, entries, digest, failure, card = row
    cache, column = {} if parsed is None else parsed, "genesis"
    try:
        parsed_genesis = _parse_genesis(canonicalize(genesis), cache)
        column = "agents"
        parsed_agents = _parse_shared(canonicalize(agents), cache)
        column = "card"
        parsed_card, seal = _parse_card(canonicalize(card), cache)
    except (AttributeError, ValueError, TypeError, RecursionError) as error:
        raise _damaged(run_id, f"its {column} cannot be read: {error}") from error
    header = RunHeader(
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
        seal=seal,
    )
    _expect_types(header)
    try:
        header.sealed  # noqa: B018 - it is read from the card
    except ValueError as error:
        raise _damaged(run_id, str(error)) from error
    return header


def _expect_types(header: RunHeader) -> None:
    """Raise BrokenChain for a column with a value of the wrong type: SQLite stores any value in any column."""
    texts = ("parent", "group", "ending", "digest", "error")
    wrong = [name for name in texts if not isinstance(getattr(header, name), str | None)]
    if header.status not in _STATUSES:
        wrong.append("status")
    if type(header.created_at) is not int:
        wrong.append("created_at")
    if header.entries is not None and (type(header.entries) is not int or header.entries < 0):
        wrong.append("entries")
    if wrong:
        raise _damaged(header.run_id, f"its {wrong[0]} is {getattr(header, wrong[0])!r:.60}")


def _damaged(run_id: str, why: str) -> BrokenChain:
    return BrokenChain(0, f"the header of run {run_id!r:.100} is damaged: {why}; restore a copy of the store")


def _object(text: str) -> dict[str, Any]:
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(f"{text:.60} is not an object")
    # Thousands of headers have the same names and most of the same words.
    return {intern(name): intern(item) if type(item) is str else item for name, item in value.items()}


def _parse_shared(text: str, cache: dict[str, Any]) -> dict[str, Any]:
    """An object; equal texts share it."""
    if text not in cache:
        cache[text] = _object(text)
    return cache[text]


def _parse_card(text: str, cache: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str] | None]:
    """A card, and its seal. Cards that differ only in their seal share one object."""
    if len(parts := _DIGESTS.split(text)) == 4:
        card = _parse_shared(parts[0] + parts[3], cache)
        if SEAL not in card:
            return card, {"card": parts[1], "header": parts[2]}
    card = _object(text)
    seal = card.pop(SEAL, None)
    return card, cast("dict[str, str]", seal) if isinstance(seal, dict) else None


def _parse_genesis(text: str, cache: dict[str, Any]) -> Genesis:
    """A genesis. Runs that differ only in their seed share one setup object, which is most of a header."""
    seed, comma, remainder = text.partition(",")
    if comma and (alike := cache.get(remainder)) and (digits := _SEED.fullmatch(seed)):
        return Genesis(alike.world, int(digits[1]), alike.setup)
    value = _object(text)
    types = {name: type(item).__name__ for name, item in sorted(value.items())}
    if types not in _GENESES:
        raise ValueError(f"it holds {str(types)[:200]}, not a whole number, an object and a text")
    genesis = Genesis(**value)
    if _SEED.fullmatch(seed):
        cache[remainder] = genesis
    return genesis
