"""World: the rules of one game, as pure functions over an immutable state; and the fold of a ledger."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast, overload

from pydantic import BaseModel

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Agent, AgentFactory, Role, View
from akinai.core.canonical import canonical
from akinai.core.errors import ReplayMismatch, SeedWithheld, UnknownName, UsageError
from akinai.core.facets import Facets
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
from akinai.core.scores import Scorer
from akinai.core.steps import Step, Steps

S = TypeVar("S")
T = TypeVar("T")


class World(Protocol[S]):
    """The rules of one game. Everything here is pure: no files, no clock, no unlabelled chance.

    A world is a subclass. Its `facets` describe it beyond its rules.
    """

    name: ClassVar[str]
    """With the version: "vending@3"."""
    setup: ClassVar[type[BaseModel]]
    """The model of `Genesis.setup`; its field defaults are the world's own."""
    verbs: ClassVar[Verbs]
    players: ClassVar[Mapping[str, AgentFactory]]
    """Players without a model, by name; the first is the world's default."""
    scorers: ClassVar[Sequence[Scorer]]
    """The scorers of a run; the first score of the first scorer is the headline."""
    facets: ClassVar[Facets] = Facets()

    @abstractmethod
    def begin(self, genesis: Genesis) -> S:
        """The state before anyone acts."""
        ...

    @abstractmethod
    def actors(self, state: S) -> Sequence[str]:
        """The actors that may act now; empty when the game is over."""
        ...

    @abstractmethod
    def view(self, state: S, actor: str) -> View:
        """The view of an actor; free, and not recorded."""
        ...

    @abstractmethod
    def apply(self, state: S, turn: Turn) -> tuple[S, Outcome]:
        """The rules. A refusal leaves the state as it was; no action raises."""
        ...

    @abstractmethod
    def ending(self, state: S) -> str | None:
        """Why the game is over, or None while it goes on."""
        ...

    def now(self, state: S) -> int | None:
        """The world's own time in microseconds since the epoch; None where the session's clock rules."""
        return None


def participants(world: World[S], state: S) -> Sequence[str]:
    """Everybody who takes part in a run, whether they may act now or not."""
    return world.facets.seating.participants(state) or world.actors(state)


def usable_verbs(world: World[S], state: S, actor: str) -> Sequence[type[Action]]:
    """Every action that an actor and its sub-agents can take in the course of a run."""
    return world.facets.seating.verbs(state, actor) or world.verbs.classes


def dated_view(world: World[S], state: S, actor: str) -> View:
    """The view of an actor, with the world's own time where it has one."""
    view, now = world.view(state, actor), world.now(state)
    return view if now is None else View(view.text, view.verbs, view.closed, view.news, now)


def make_agent(world: World[S], factory: AgentFactory, actor: str, genesis: Genesis, state: S) -> Agent:
    """The agent of an actor. Only a yardstick, a factory with `yardstick = True`, is given the genesis,
    and one with `person = True` the words for a person."""
    disclosed = genesis if getattr(factory, "yardstick", False) else None
    verbs = tuple(usable_verbs(world, state, actor))
    voice = world.facets.presentation.voice(state, actor) if getattr(factory, "person", False) else None
    return factory(Role(actor, verbs, world.facets.seating.group(state, actor), genesis=disclosed, voice=voice))


def step(world: World[S], state: S, turn: Turn) -> tuple[S, Outcome]:
    """The one way a state moves on: an unreadable reply is refused here, in every world alike."""
    if isinstance(turn.action, Unreadable):
        return state, Outcome.refused(turn.action.code, turn.action.why)
    return world.apply(state, turn)


def walk(world: World[S], genesis: Genesis, entries: Iterable[Entry], *, check: bool = False) -> Iterator[Step[S]]:
    """Every step of a record in order. With `check`, ReplayMismatch names the first outcome that differs."""
    expect_version(world, genesis)
    return _walk(world, world.begin(genesis), entries, check=check)


def _walk(world: World[S], state: S, entries: Iterable[Entry], *, check: bool) -> Iterator[Step[S]]:
    for entry in entries:
        turn = read_turn(world, entry)
        after, outcome = step(world, state, turn)
        if check:
            expect_outcome(entry, outcome)
        yield Step(state, entry, turn, outcome, after)
        state = after


def replay(world: World[S], ledger: Ledger, *, check: bool = False) -> Steps[S]:
    """All steps of a ledger, folded once for all readers. ReplayMismatch as for `walk`."""
    expect_version(world, ledger.genesis)
    opening = world.begin(ledger.genesis)
    return Steps(ledger.genesis, opening, _walk(world, opening, ledger.entries, check=check))


def replay_on(world: World[S], steps: Steps[S], entries: Iterable[Entry], *, check: bool = False) -> Steps[S]:
    """The steps of a ledger that has grown by `entries`: only these are folded. ReplayMismatch as for `walk`."""
    return Steps(steps.genesis, steps.opening, [*steps, *_walk(world, steps.final, entries, check=check)])


@dataclass(frozen=True, slots=True)
class _Fold(Generic[S]):
    """The steps of a record, folded anew in each pass."""

    world: World[S]
    opening: S
    entries: Iterable[Entry]

    def __iter__(self) -> Iterator[Step[S]]:
        return _walk(self.world, self.opening, self.entries, check=True)


def refold(world: World[S], genesis: Genesis, entries: Iterable[Entry]) -> Steps[S]:
    """The steps of a long record whose entries can be read again: each pass folds them anew and checks the outcomes.

    ReplayMismatch, in a pass, names the first that differs.
    """
    expect_version(world, genesis)
    opening = world.begin(genesis)
    return Steps(genesis, opening, _Fold(world, opening, entries), held=False)


def expect_outcome(entry: Entry, outcome: Outcome) -> None:
    """ReplayMismatch unless the outcome is the recorded one."""
    # A world may answer with a tuple where JSON gives a list back: only what is written counts.
    if outcome != entry.outcome and canonical(outcome.to_json()) != canonical(entry.outcome.to_json()):
        raise ReplayMismatch(entry.seq, f"{entry.name} gave {_short(entry.outcome)}, now {_short(outcome)}")


def _short(outcome: Outcome) -> str:
    return f"{outcome.code or 'ok'} {outcome.text!r:.120}"


def read_turn(world: World[S], entry: Entry) -> Turn:
    """The turn that an entry records. Raises ReplayMismatch when its action is none of the world's."""
    try:
        action = world.verbs.recorded(entry.name, entry.parameters)
    except (UnknownName, ValueError) as error:
        raise ReplayMismatch(entry.seq, f"{entry.name} is no action of {world.name}: {error}") from error
    return Turn(entry.seq, entry.at, entry.actor, action, entry.said)


def fold(world: World[S], ledger: Ledger) -> S:
    """The state at the end of a ledger."""
    state = world.begin(ledger.genesis)
    for transition in walk(world, ledger.genesis, ledger.entries):
        state = transition.after
    return state


def expect_version(world: World[S], genesis: Genesis) -> None:
    """UsageError unless the genesis belongs to this world in this version; SeedWithheld where its seed is not here."""
    if genesis.claimed is not None:
        raise SeedWithheld
    if genesis.world != world.name:
        raise UsageError(
            f"this ledger was played in {genesis.world}, and here is {world.name}: "
            "its rules differ; use the Akinai that has that version"
        )


class Record:
    """A base of frozen dataclasses without slots, which hold nothing but their fields."""

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Self:
        """The record of all its fields, unchecked and more than ten times as fast as by its class."""
        record = object.__new__(cls)
        record.__dict__.update(fields)
        return record

    def moved(self, **changes: Any) -> Self:
        """A copy with changes to fields: what `replace` makes, unchecked and more than ten times as fast."""
        copy = object.__new__(type(self))
        fields = copy.__dict__
        fields |= self.__dict__  # into an empty dict, which copies it whole: four times as fast as a display of both
        fields |= changes
        return copy


class GrowingList(Sequence[T], Generic[T]):
    """An immutable sequence. A longer one is no copy: both share a list, of which each sees its beginning.

    So each grows once for nothing; when it grows in another way, as after a fork, it is copied.
    """

    __slots__ = ("_length", "_shared")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._shared = [*items]
        self._length = len(self._shared)

    def put(self, item: T) -> Self:
        """This sequence and one more item."""
        shared, length = self._shared, self._length
        if not length or len(shared) > length:  # an empty one may be everybody's; a grown one has its next item
            shared = shared[:length]
        shared.append(item)
        if shared[length] is not item:  # another thread was faster
            shared = [*shared[:length], item]
        longer = object.__new__(type(self))
        longer._shared, longer._length = shared, length + 1
        return longer

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return self._shared[start:stop:step] if step > 0 else [self._shared[at] for at in range(start, stop, step)]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._shared[index % self._length]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(self._shared, self._length)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingList) and self[:] == cast("GrowingList[object]", other)[:]

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as other lists, it is no key

    def __reduce__(self) -> tuple[type[Self], tuple[Sequence[T]]]:
        return type(self), (self[:],)
