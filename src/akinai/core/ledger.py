"""Ledger: a genesis and the entries that followed, chained by digests. The only truth about a run."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from akinai.core.actions import Action
from akinai.core.canonical import Json, canonical, no_constant, parse_json
from akinai.core.chance import Chance
from akinai.core.errors import BrokenChain, SeedWithheld

SECOND_US, DAY_US = 1_000_000, 86_400_000_000
"""Microseconds of a second and of a day: times in a ledger are in microseconds."""
_DECODER = json.JSONDecoder(parse_constant=no_constant)


def midnights(begin: int, end: int) -> int:
    """Midnights from one time to a later one, both in microseconds since the epoch."""
    return end // DAY_US - begin // DAY_US


@dataclass(frozen=True)
class Genesis:
    """All that decides a run before anyone acts. It holds no run id, so forks share it."""

    world: str
    """Name and version: "vending@3". The number changes whenever a rule changes."""
    seed: int
    setup: Mapping[str, Json]
    """The world's settings and data themselves, never a path."""
    claimed: str | None = None
    """The digest of a sealed game whose seed is withheld: a claim until the key is revealed. `seed` is a stand-in."""

    @property
    def text(self) -> str:
        """The canonical JSON of the genesis. It is not kept: a list of runs holds thousands of these."""
        document: dict[str, Json] = {"seed": self.seed, "setup": self.setup, "world": self.world}
        return canonical(document if self.claimed is None else {**document, "claimed": self.claimed})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the text, in hex: where the chain of entries begins."""
        return self.claimed or hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def settings_digest(self) -> str:
        """SHA-256 in hex of world and setup: equal for runs that differ in their seeds alone."""
        return hashlib.sha256(canonical({"setup": self.setup, "world": self.world}).encode()).hexdigest()

    def chance(self, *label: object) -> Chance:
        """Chance of this run's seed at a label, as `genesis.chance("demand", day, product)`. SeedWithheld for a game
        whose seed is not here."""
        if self.claimed is not None:
            raise SeedWithheld
        return Chance.of(self.seed)(*label)


@dataclass(frozen=True, slots=True)
class Turn:
    """An action as it reached the session."""

    seq: int
    """1-based number in the ledger."""
    at: int
    """Microseconds since the epoch, never falling; simulated time in a simulated run."""
    actor: str
    action: Action
    said: str = ""
    """Text the agent put beside its action, capped; it never decides state."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a turn. A refusal is an outcome, not an exception."""

    text: str
    ok: bool = True
    code: str | None = None
    """Stable, for programs: "no_cash", "invalid_proposal". None when ok."""
    data: Json = None
    """The same for programs, JSON-native. It never holds hidden truth."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The data by name; empty where it is no object."""
        return cast("Mapping[str, Any]", self.data) if isinstance(self.data, Mapping) else {}

    @staticmethod
    def refused(code: str, text: str, data: Json = None) -> "Outcome":
        """A refusal: `code` for programs, `text` for the reader."""
        return Outcome(text, False, code, data)

    def to_json(self) -> dict[str, Json]:
        """The `result` of a ledger entry."""
        result: dict[str, Json] = {"is_error": not self.ok, "content": self.text}
        if self.data is not None:
            result["data"] = self.data
        if not self.ok:
            result["error"] = {"code": self.code, "message": self.text}
        return result

    @staticmethod
    def from_json(result: Mapping[str, Any]) -> "Outcome":
        error = result.get("error")
        return Outcome(result["content"], not result["is_error"], error["code"] if error else None, result.get("data"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn and its outcome, as the ledger keeps them."""

    seq: int
    at: int
    actor: str
    name: str
    """The class name of the action."""
    parameters: Mapping[str, Json]
    outcome: Outcome
    said: str
    digest: str
    """SHA-256 in hex over the digest before, seq, at and the canonical data."""
    text: str = field(repr=False, compare=False)
    """The canonical JSON of `data`, made once and written as it is."""

    @staticmethod
    def of(before: str, turn: Turn, outcome: Outcome) -> "Entry":
        """The entry that follows the digest `before`."""
        name, parameters = type(turn.action).__name__, turn.action.dumped()
        text = canonical(_data(turn.actor, name, parameters, outcome, turn.said), (parameters, outcome.data))
        digest = entry_digest(before, turn.seq, turn.at, text)
        return Entry(turn.seq, turn.at, turn.actor, name, parameters, outcome, turn.said, digest, text)

    @staticmethod
    def read(seq: int, at: int, data: Mapping[str, Any], digest: str, text: str | None = None) -> "Entry":
        """An entry from a store's parsed data, and the text it was parsed from where there is one.

        Raises BrokenChain when the data has not the shape of an entry.
        """
        try:
            request, outcome, remark = data["request"], Outcome.from_json(data["result"]), data.get("said", "")
            actor, name, parameters = data["agent_id"], request["name"], request["parameters"]
            if not isinstance(parameters, dict) or not all(isinstance(text, str) for text in (actor, name, remark)):
                raise TypeError("names are text and parameters an object")
            text = canonical(cast("Json", data)) if text is None else text
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise BrokenChain(seq, f"its data is not an entry's ({type(error).__name__}: {error})") from error
        return Entry(seq, at, actor, name, cast("dict[str, Json]", parameters), outcome, remark, digest, text)

    @staticmethod
    def parse(seq: int, at: int, text: str, digest: str) -> "Entry":
        """An entry from a store's JSON text. Raises BrokenChain as `read` does."""
        if type(seq) is not int or type(at) is not int:
            raise BrokenChain(0, f"an entry has the number {seq!r:.60} and the time {at!r:.60}; both are whole numbers")
        try:
            data = _DECODER.decode(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise BrokenChain(seq, f"its data is not JSON ({error})") from error
        if not isinstance(data, dict):
            raise BrokenChain(seq, "its data is not a JSON object")
        return Entry.read(seq, at, cast("dict[str, Any]", data), digest, text)

    @property
    def data(self) -> dict[str, Json]:
        """The entry's JSON as the `actions` table keeps it."""
        return _data(self.actor, self.name, self.parameters, self.outcome, self.said)


def _data(actor: str, name: str, parameters: Mapping[str, Json], outcome: Outcome, remark: str) -> dict[str, Json]:
    data: dict[str, Json] = {
        "agent_id": actor,
        "request": {"name": name, "parameters": parameters},
        "result": outcome.to_json(),
    }
    if remark:
        data["said"] = remark
    return data


def entry_digest(before: str, seq: int, at: int, text: str) -> str:
    """The digest of an entry: SHA-256 over four lines, the digest before, seq, at and the canonical data."""
    return hashlib.sha256(f"{before}\n{seq}\n{at}\n{text}".encode()).hexdigest()


def chain_end(before: str, rows: Iterable[tuple[int, int, str, str]], first: int = 1) -> str | None:
    """The digest at the end of a chain of entries, computed from seq, at, text and digest as a store keeps them.

    `before` is the digest before entry `first`. None where an entry is missing or does not follow.
    """
    for expected, (seq, at, text, digest) in enumerate(rows, first):
        if seq != expected or entry_digest(before, seq, at, text) != digest:
            return None
        before = digest
    return before


@dataclass(frozen=True)
class Ledger:
    """A genesis and the entries that followed it."""

    genesis: Genesis
    entries: Sequence[Entry] = ()

    @property
    def digest(self) -> str:
        """The digest of the last entry, or of the genesis: it stands for the whole record."""
        return self.entries[-1].digest if self.entries else self.genesis.digest


class Chain:
    """The chain of a record, followed entry by entry."""

    def __init__(self, genesis: Genesis) -> None:
        self.digest: str = genesis.digest
        self.count = 0
        self._at: int | None = None

    def follow(self, entry: Entry) -> None:
        """Go on by an entry. BrokenChain unless it follows."""
        seq = self.count + 1
        if entry.seq != seq:
            raise BrokenChain(seq, f"it is missing; the next one there is entry {entry.seq}")
        if self._at is not None and entry.at < self._at:
            raise BrokenChain(seq, "its time is before the time of the entry before it")
        try:
            text = canonical(entry.data)
            expected = entry_digest(self.digest, entry.seq, entry.at, text)
        except (TypeError, ValueError, RecursionError) as error:
            raise BrokenChain(seq, f"its data is no JSON that a ledger keeps ({error})") from error
        if entry.digest != expected or not _spells(entry, text):
            raise BrokenChain(seq, f"its digest is {entry.digest[:12]}, what is written there gives {expected[:12]}")
        self.digest, self.count, self._at = entry.digest, seq, entry.at


def check_chain(genesis: Genesis, entries: Iterable[Entry]) -> str:
    """The final digest of an untouched record. Raises BrokenChain at the first entry that does not follow."""
    chain = Chain(genesis)
    for entry in entries:
        chain.follow(entry)
    return chain.digest


def _spells(entry: Entry, text: str) -> bool:
    """Whether the text that a store keeps holds the canonical data and nothing else. BrokenChain for a repeated key."""
    if entry.text == text:
        return True
    try:
        return canonical(parse_json(entry.text)) == text
    except ValueError as error:
        raise BrokenChain(entry.seq, f"its data is read in more than one way: {error}") from error
