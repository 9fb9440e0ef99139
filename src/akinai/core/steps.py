"""Steps: a ledger folded once. Scorers, detectors, accounts and lessons all read the same steps."""

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

    They hold every state, about 1 KB an entry: let them go when the readers are done.
    """

    def __init__(self, genesis: Genesis, opening: S, steps: Iterable[Step[S]]) -> None:
        self.genesis = genesis
        self.opening = opening
        """The state before anyone acts."""
        self._steps = tuple(steps)
        self._derived: dict[Callable[[Any], object], object] = {}

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step[S]]:
        return iter(self._steps)

    @overload
    def __getitem__(self, index: int) -> Step[S]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step[S]]: ...
    def __getitem__(self, index: int | slice) -> Step[S] | Sequence[Step[S]]:
        return self._steps[index]

    @property
    def final(self) -> S:
        """The state at the end; the opening one where nobody acted."""
        return self._steps[-1].after if self._steps else self.opening

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The entries of the ledger."""
        return tuple(step.entry for step in self._steps)

    @property
    def ledger(self) -> Ledger:
        """The ledger that was folded."""
        return Ledger(self.genesis, self.entries)

    def derive(self, make: Callable[["Steps[S]"], T]) -> T:
        """The result of `make` on these steps, computed once and shared by all readers."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast("T", self._derived[make])
