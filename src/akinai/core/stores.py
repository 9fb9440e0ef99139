"""Store: the place where ledgers are kept. The shipped laws in `akinai.testing.store_laws` judge every one."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from akinai.core.canonical import Json
from akinai.core.errors import LedgerError
from akinai.core.ledger import Entry, Genesis

Status = Literal["open", "done", "failed"]


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What is known of a run beside its entries. Only the genesis enters digests."""

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
    """Why what the store holds of the run is no header; then its genesis is empty. Never kept: found when read."""


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
        """The entries behind number `after`, in order. UnknownName for a run that is not there."""
        ...

    async def header(self, run_id: str) -> RunHeader:
        """One run. UnknownName when it is not there, BrokenChain when what is kept of it is damaged."""
        ...

    async def runs(self) -> Sequence[RunHeader]:
        """All runs, oldest first. One whose header is damaged is among them and says so: it hides no other."""
        ...

    async def update(self, run: RunHeader) -> None:
        """Replace what is known of a run beside its genesis: status, ending, error, card."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go. A closed store answers nothing more."""
        ...
