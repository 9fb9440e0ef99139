"""Store and trace: the two books of a run, what happened and what was thought. Only the first decides state."""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

from akinai.core.canonical import Json, bad_text, canonical, keepable, settled
from akinai.core.chance import SEALED, Sealed, seed_label
from akinai.core.errors import LedgerError
from akinai.core.ledger import Entry, Genesis

Status = Literal["open", "done", "failed"]


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The facts about a run beside its entries. Only the genesis enters digests."""

    run_id: str
    genesis: Genesis
    agents: Mapping[str, str]
    """Role and the agent that plays it, as it was asked for: {"owner": "reference"}."""
    created_at: int
    """Microseconds since the epoch, on the clock of the machine."""
    status: Status = "open"
    """"open" can go on, "done" ended, "failed" broke and can be resumed."""
    parent: str | None = None
    """The fork's origin as "RUN#SEQ", the last entry that was copied."""
    group: str | None = None
    """The name that stands for all runs of one command."""
    ending: str | None = None
    entries: int | None = None
    """How many entries the run had when it was last closed; with `digest` it shows a lost tail."""
    digest: str | None = None
    error: str | None = None
    card: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Versions, preset and its hash, and whatever else a reader needs to trust the run."""
    damage: str | None = None
    """Why the stored header cannot be read; its genesis is empty then. Found on reading, never stored."""
    seal: Mapping[str, str] | None = field(default=None, compare=False)
    """The stored digests of header and card, made when they were written; for `verify` alone."""

    def to_json(self) -> dict[str, Json]:
        """The run without its entries; settings and card are left out."""
        return {
            "run": self.run_id,
            "world": self.genesis.world,
            "preset": self.card.get("preset"),
            "agent": self.agent,
            "model": self.model,
            "label": self.label,
            **self.game_json(),
            "status": self.status,
            "ending": self.ending,
            "entries": self.entries,
            "digest": self.digest,
            "group": self.group,
            "parent": self.parent,
            "created_at": self.created_at,
            "error": self.error,
        }

    @property
    def sealed(self) -> Sealed | None:
        """Where the game is sealed, its place among those of a key; None for a practice seed."""
        return Sealed.of_card(self.card)

    @property
    def number(self) -> int:
        """The seed, or the index of a sealed game: what the run's name ends with."""
        return self.sealed.index if self.sealed else self.genesis.seed

    @property
    def seed(self) -> int:
        """The number by which runs of one game are paired: the seed, or its stand-in where the game is sealed."""
        return self.sealed.stand_in if self.sealed else self.genesis.seed

    @property
    def open_seed(self) -> int | None:
        """The seed where it may be told: of a practice game, or of one whose key is revealed."""
        return self.genesis.seed if self.sealed is None or self.sealed.key is not None else None

    @property
    def game(self) -> str:
        """The seed as tables have it: "7", or "sealed 7 of 3f9a0c1..."."""
        return seed_label(self.seed)

    @property
    def game_words(self) -> str:
        """The seed in a sentence: "practice seed 7", which everybody knows, or "sealed 7 of 3f9a0c1..."."""
        return self.sealed.label if self.sealed else f"practice seed {self.genesis.seed}"

    def game_json(self) -> dict[str, Json]:
        """The seed as documents have it; of a sealed game index and commitment, and no seed before the reveal."""
        sealed = self.sealed
        document: dict[str, Json] = {"seed": self.open_seed}
        return {**document, SEALED: sealed.to_json()} if sealed else document

    @property
    def published(self) -> "RunHeader":
        """The header as it may leave the store: of a sealed game with a stand-in for the seed, and its digest as a
        claim. A practice game, or one whose key is revealed, stays as it is."""
        if self.open_seed is not None or self.genesis.claimed is not None:
            return self
        return self.withheld

    @property
    def withheld(self) -> "RunHeader":
        """The header of a sealed game without its seed, revealed or not."""
        assert self.sealed is not None
        genesis = Genesis(self.genesis.world, self.sealed.stand_in, self.genesis.setup, self.genesis.digest)
        return replace(self, genesis=genesis)

    @property
    def player(self) -> str:
        """The agent as it was asked for, or what stands for all that play from outside, such as "session"."""
        return next(iter(self.agents.values()), "")

    @property
    def agent(self) -> str:
        """The name of the agent: what a client that played from outside called itself, else `player`."""
        return str(self._client.get("agent") or self.player)

    @property
    def model(self) -> str | None:
        """The model, as it was asked for or as a client that played from outside named it; None by rules."""
        model = self._client.get("model") or self.card.get("model")
        return model if isinstance(model, str) else None

    @property
    def label(self) -> str | None:
        """What a person calls the player in tables; None where nobody named it."""
        label = self.card.get(LABEL)
        return label if isinstance(label, str) else None

    @property
    def _client(self) -> Mapping[str, Json]:
        client = self.card.get(CLIENT)
        return client if isinstance(client, Mapping) else {}

    @property
    def card_digest(self) -> str:
        """SHA-256 of the card in canonical JSON, in hex."""
        return _sha256(self.card)

    @property
    def header_digest(self) -> str:
        """SHA-256 in hex of all that is stored beside the entries: with `digest` it covers the whole run."""
        error = None if self.error is None else keepable(self.error)
        names = ("run_id", "agents", "created_at", "status", "parent", "group", "ending", "entries", "digest")
        return _sha256({name: getattr(self, name) for name in names} | {"error": error, "card": self.card_digest})


CLIENT = "client"
"""In a run card: agent and model that a client which played from outside said to be."""
LABEL, NAMED = "label", "named"
"""In a run card: what a person calls the player in tables, and whether a person named the run's group."""
PROMPT, PROGRAM, OFFERED = "prompt", "program", "offered"
"""In a run card: digests of a model's instructions, of the code that plays, and of the tools that were offered; None
where there is none, absent in cards of releases that did not tell."""
SWEEP = "sweep"
"""In a run card: the name of the sweep, and the values of this run."""


MOST_LABEL = 80
"""Limit on the characters of a label."""


def why_no_label(text: str) -> str | None:
    """Why a text cannot be a label; None when it can, or is empty."""
    if len(text) > MOST_LABEL:
        return f"it has {len(text)} characters, and at most {MOST_LABEL} fit"
    if text and (not text.isprintable() or text != text.strip() or bad_text(text)):
        return "it holds characters that are not shown, or spaces at an end"
    return None


def sweep_name(card: Mapping[str, Json]) -> str | None:
    """The name of the sweep that a run belongs to, from its card."""
    sweep = card.get(SWEEP)
    name = sweep.get("name") if isinstance(sweep, Mapping) else None
    return name if isinstance(name, str) else None


def _sha256(value: Json) -> str:
    # What cannot be kept is refused by the store itself, in its own words.
    return hashlib.sha256(canonical(value).encode(errors="surrogatepass")).hexdigest()


def damaged_run(run_id: str, why: LedgerError, *, created_at: object, group: object) -> RunHeader:
    """A run of which hardly more than the name can be read, as a listing shows it."""
    return RunHeader(
        run_id,
        Genesis("", 0, {}),
        agents={"": "unknown"},
        created_at=created_at if isinstance(created_at, int) else 0,
        status="failed",
        group=group if isinstance(group, str) else None,
        error=why.why,
        damage=why.why,
    )


class Store(Protocol):
    """Keeps runs and their entries. An append is answered when it is durable."""

    async def create(self, run: RunHeader) -> None:
        """Begin a run. UsageError when its id is taken."""
        ...

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        """Add entries that follow the last one, all or none. SequenceConflict for a gap or a repeat."""
        ...

    def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        """The entries after number `after`, in order. UnknownName for a run that is not there."""
        ...

    async def header(self, run_id: str) -> RunHeader:
        """One run. UnknownName when it is not there, BrokenChain when what is kept of it is damaged."""
        ...

    async def runs(
        self,
        *,
        group: str | None = None,
        status: Status | None = None,
        limit: int | None = None,
        agents: Sequence[str] | None = None,
    ) -> Sequence[RunHeader]:
        """All runs, oldest first; where these are given, of one group or sweep, of one status, played by one of the
        `agents`, the newest `limit`.

        One whose header is damaged is among them and says so: it hides no other.
        """
        ...

    async def update(self, run: RunHeader) -> None:
        """Replace the header of a run, except its genesis: status, ending, error, card."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go. A closed store answers nothing more."""
        ...


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One call of a model, or one line of a log, by an actor."""

    actor: str
    call: int
    """The actor's n-th in its run, from 1."""
    at: int
    """Microseconds since the epoch, on the clock of the machine."""
    data: Json
    """Prompt, reply, tokens, latency and the like. Text in it is kept as it came."""

    @property
    def text(self) -> str:
        """The data as JSON text that every store can keep, half a surrogate pair from a model included."""
        text = canonical(self.data)
        if bad_text(text) is None:
            return text
        return json.dumps(settled(self.data), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def parse(actor: str, call: int, at: int, text: str) -> "TraceRecord":
        """A record from a store's JSON text. Raises ValueError when it is not JSON."""
        return TraceRecord(actor, call, at, json.loads(text))


class TraceBook(Protocol):
    """Keeps traces, by run, actor and call."""

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        """Add records, all or none; answered when they are durable.

        SequenceConflict when an actor's number is there already (gaps are allowed: calls may overlap),
        UnknownName for a run that is not there.
        """
        ...

    def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        """The records of a run, or of one actor in it, by actor and number. UnknownName as for `read`."""
        ...


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """Scores of a run, stored beside it so that it need not be folded again."""

    run_id: str
    digest: str
    """The digest of the last entry that it covers. Where it is not the run's, the run has grown or was edited."""
    version: str
    """The version of the code that made it."""
    text: str
    """JSON in ASCII."""


@dataclass(frozen=True, slots=True)
class CoveringScores:
    """A record that covers its run as it is now."""

    record: ScoreRecord
    entries: int
    """How many entries the run has."""
    traced: bool
    """Whether its second book holds anything."""


@runtime_checkable
class KeepsScores(Protocol):
    """A store that keeps scores beside its runs, as the shipped ones do. They decide nothing and can be lost."""

    async def keep_scores(self, records: Sequence[ScoreRecord]) -> None:
        """Keep records, each in place of an older one of its run. UnknownName for a run that is not there."""
        ...

    async def kept_scores(self, run_id: str) -> ScoreRecord | None:
        """The record of a run; None where there is none, or no such run."""
        ...

    async def covering_scores(self, starts: Mapping[str, str]) -> Sequence[CoveringScores]:
        """The records whose digest is the one in which the chain over their runs' entries ends, in any order.

        `starts` has the digest of each run's genesis by the run's id. No entry is parsed.
        """
        ...


@runtime_checkable
class Forgets(Protocol):
    """A store that can remove runs for good, as the shipped ones do."""

    async def forget(self, run_ids: Sequence[str]) -> None:
        """Remove runs with their entries, trace and scores: all or, with UnknownName for one not there, none."""
        ...


class Books(Store, TraceBook, Protocol):
    """Both books in one place, as every shipped store and `open_store` give them."""
