"""World: the rules of one game, as pure functions over an immutable state; and the fold of a ledger."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar, cast, overload

from pydantic import BaseModel

from akinai.core.accounts import Account
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import AgentFactory, View
from akinai.core.canonical import Json, canonical
from akinai.core.errors import ReplayMismatch, UnknownName, UsageError
from akinai.core.findings import Finding
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
from akinai.core.lessons import Lesson
from akinai.core.scores import Score, Scorer

S = TypeVar("S")

Reader = Callable[[Mapping[str, str]], Json]
"""Turns texts by relative path (one file, or a folder of them) into a setting."""


class World(Protocol[S]):
    """The rules of one game. Everything here is pure: no files, no clock, no unlabelled chance.

    A world is a subclass, and what a small one can do without has a default.
    """

    name: ClassVar[str]
    """With the version: "vending@1"."""
    setup: ClassVar[type[BaseModel]]
    """What `Genesis.setup` holds; its field defaults are the world's own."""
    files: ClassVar[Mapping[str, Reader]] = {}
    """Settings that are read from files: the setting's name and how its texts become its value."""
    verbs: ClassVar[Verbs]
    scorers: ClassVar[Sequence[Scorer]]
    players: ClassVar[Mapping[str, AgentFactory]]
    """Players without a model, by name; the first is the world's default."""
    learner: ClassVar[str] = ""
    """The player that follows a playbook; empty in a world that has none."""
    groups: ClassVar[Sequence[str]] = ()
    """The sides of the game, each a table of the setup; its `model`, where one is named, plays that side."""
    with_models: ClassVar[Mapping[str, Json]] = {}
    """Settings that take the place of the setup's defaults where a model plays; whatever a person sets goes over them.
    """

    @abstractmethod
    def begin(self, genesis: Genesis) -> S:
        """The state before anyone acts."""
        ...

    @abstractmethod
    def actors(self, state: S) -> Sequence[str]:
        """Who may act now; nobody when the game is over."""
        ...

    @abstractmethod
    def view(self, state: S, actor: str) -> View:
        """What an actor sees; free, and not recorded."""
        ...

    @abstractmethod
    def apply(self, state: S, turn: Turn) -> tuple[S, Outcome]:
        """The rules. A refusal leaves the state as it was; no action raises."""
        ...

    def now(self, state: S) -> int | None:
        """The world's own time in microseconds since the epoch; None where the session's clock rules."""
        return None

    def alarms(self, state: S) -> Mapping[str, int]:
        """Who sleeps until a time and is not among the actors, and when it wakes, in microseconds since the epoch.

        Asked where the session's clock rules; others sleep until an action of somebody else wakes them.
        """
        return {}

    @abstractmethod
    def ending(self, state: S) -> str | None:
        """Why the game is over, or None while it goes on."""
        ...

    def dismissal(self, state: S, actor: str) -> Action | None:
        """What is done in the name of an actor whose messages for a task are spent; None for one without such a cap.

        The cap is `sub_agent_messages` of the setup.
        """
        return None

    def told(self, state: S, turn: Turn, outcome: Outcome) -> Outcome:
        """What the actor hears of its turn, from the state after it; by default the outcome itself.

        A world whose outcomes would repeat what its state holds, such as a mailbox, keeps a short one in the ledger and
        tells the rest here.
        """
        return outcome

    def heard(self, state: S, actor: str, told: Outcome) -> Outcome:
        """What an actor hears of its last turn when it comes to act again; by default what it was told of it then.

        Like its view it must stay the same from when the actor may act until it does, whatever others do meanwhile: the
        session's clock may rule, and a resumed run shows it again at the place of its next entry.
        """
        return told

    def group(self, state: S, actor: str) -> str:
        """Which of `groups` an actor belongs to; empty in a world without sides."""
        return ""

    def everybody(self, state: S) -> Sequence[str]:
        """Who takes part or will, whether they may act now or not; by default those who may."""
        return self.actors(state)

    def expected_messages(self, state: S, actor: str) -> int:
        """About how many messages an actor makes in a whole run, for estimates of cost; 0 where days tell it."""
        return 0

    def own_player(self, state: S, actor: str) -> AgentFactory | None:
        """Who plays an actor whatever agent the run is asked to be played by; None for those whom that agent plays, or
        the model of their group."""
        return None

    def findings(self, ledger: Ledger) -> Sequence[Finding]:
        """Where its actors lost the thread, in the order of the ledger; empty in a world without detectors."""
        return ()

    def coherence(self, ledger: Ledger) -> Sequence[Score]:
        """How well its actors kept the thread, in figures that a record may lack; none in a world without detectors."""
        return ()

    def lessons(self, ledger: Ledger) -> Sequence[Lesson]:
        """What a run teaches whoever plays next, its numbers estimated from that ledger; nothing in most worlds."""
        return ()

    def merged(self, content: str, lesson: Lesson) -> str:
        """What a bullet says after a later lesson about the same thing; by default what the lesson says."""
        return lesson.content

    def experiment(self, number: int) -> str:
        """A sentence that has a player try things out, so that there is something to learn from; another number, other
        things. Empty where players do as they always do."""
        return ""

    def account(self, ledger: Ledger, fuzzy: int = 0) -> Account:
        """What a world tells of a run beyond its scores; nothing in most. Names that agents write and that are within
        `fuzzy` edits of a right one count as it."""
        return Account()

    def facts(self, state: S) -> Mapping[str, Json]:
        """The truth in a few named numbers, for reports and comparisons; agents never see it."""
        return {}

    def closed_day(self, state: S) -> Mapping[str, Json]:
        """What the day that ended last came to, beside the facts: numbers by name, and tables of numbers such as units
        sold by product. For reports; agents never see it."""
        return {}


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What one entry did to a state."""

    before: S
    entry: Entry
    turn: Turn
    outcome: Outcome
    """What the rules say now; on a sound record it equals the entry's."""
    after: S


class Walked(Sequence[Entry], Generic[S]):
    """Entries that keep the steps they made: `walk` hands these out again, so many readers of a record fold it once."""

    def __init__(self, steps: Iterable[Step[S]]) -> None:
        self.steps = tuple(steps)

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(index, slice):
            return tuple(step.entry for step in self.steps[index])
        return self.steps[index].entry


def walked(world: World[S], ledger: Ledger, *, check: bool = False) -> Ledger:
    """The same ledger, folded once: scorers and detectors that walk all its entries walk what is there.

    It holds every state, so let it go when they are done. ReplayMismatch as for `walk`.
    """
    return Ledger(ledger.genesis, Walked(walk(world, ledger.genesis, ledger.entries, check=check)))


def step(world: World[S], state: S, turn: Turn) -> tuple[S, Outcome]:
    """The one way a state moves on: an unreadable reply is refused here, in every world alike."""
    if isinstance(turn.action, Unreadable):
        return state, Outcome.refused(turn.action.code, turn.action.why)
    return world.apply(state, turn)


def walk(world: World[S], genesis: Genesis, entries: Iterable[Entry], *, check: bool = False) -> Iterator[Step[S]]:
    """Every step of a record in order. With `check`, ReplayMismatch names the first outcome that differs."""
    expect_version(world, genesis)
    if isinstance(entries, Walked):
        yield from _again(cast("Walked[S]", entries), check=check)
        return
    state = world.begin(genesis)
    for entry in entries:
        turn = read_turn(world, entry)
        after, outcome = step(world, state, turn)
        if check:
            expect_outcome(entry, outcome)
        yield Step(state, entry, turn, outcome, after)
        state = after


def _again(entries: Walked[S], *, check: bool) -> Iterator[Step[S]]:
    for one in entries.steps:
        if check:
            expect_outcome(one.entry, one.outcome)
        yield one


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
    for one in walk(world, ledger.genesis, ledger.entries):
        state = one.after
    return state


def expect_version(world: World[S], genesis: Genesis) -> None:
    """UsageError unless the genesis belongs to this world in this version."""
    if genesis.world != world.name:
        raise UsageError(
            f"this ledger was played in {genesis.world}, and here is {world.name}: "
            "its rules differ; use the Akinai that has that version"
        )
