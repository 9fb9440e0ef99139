"""Steps: a ledger folded once. Scorers, detectors, accounts and lessons all read the same steps."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast, overload

from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """One entry, with the states before and after it."""

    before: S
    entry: Entry
    turn: Turn
    outcome: Outcome
    """The outcome by today's rules; on a sound record it equals the entry's."""
    after: S


class Steps(Sequence[Step[S]]):
    """Every step of a ledger in order, with the states before and after each; `akinai.core.replay` makes them.

    They hold every state and entry, about 8 KB an entry, except those of `refold`: these are made anew in each pass,
    and held only from when a step is read by its number.
    """

    def __init__(self, genesis: Genesis, opening: S, steps: Iterable[Step[S]], *, held: bool = True) -> None:
        self.genesis = genesis
        self.opening = opening
        """The state before anyone acts."""
        self._source = tuple(steps) if held else steps
        self._end: tuple[int, Step[S] | None] | None = None
        self._derived: dict[Callable[[Any], object], object] = {}

    def __len__(self) -> int:
        return self._last_step[0]

    def __iter__(self) -> Iterator[Step[S]]:
        number, step = 0, None
        self._end = None  # two states of a long run would take twice the memory
        for number, step in enumerate(self._source, 1):  # noqa: B007 - the last ones are remembered
            yield step
        self._end = number, step

    @overload
    def __getitem__(self, index: int) -> Step[S]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step[S]]: ...
    def __getitem__(self, index: int | slice) -> Step[S] | Sequence[Step[S]]:
        if not isinstance(self._source, tuple):
            self._source = tuple(self._source)
        return self._source[index]

    @property
    def _last_step(self) -> tuple[int, Step[S] | None]:
        """The number of steps, and the last; one pass, if none has reached it."""
        if isinstance(self._source, tuple):
            return len(self._source), self._source[-1] if self._source else None
        if self._end is None:
            deque(self, maxlen=0)
        assert self._end is not None
        return self._end

    @property
    def final(self) -> S:
        """The state at the end; the opening one where nobody acted."""
        _, step = self._last_step
        return self.opening if step is None else step.after

    @property
    def digest(self) -> str:
        """The digest of the ledger."""
        _, step = self._last_step
        return self.genesis.digest if step is None else step.entry.digest

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The entries of the ledger."""
        return tuple(step.entry for step in self)

    @property
    def ledger(self) -> Ledger:
        """The ledger that was folded."""
        return Ledger(self.genesis, self.entries)

    def derive(self, make: Callable[["Steps[S]"], T]) -> T:
        """The result of `make` on these steps, computed once and shared by all readers."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast("T", self._derived[make])
