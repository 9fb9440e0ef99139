"""Plays the runs of labelled cases by the real rules of a world, so that every ledger is chained and replayable.

A case is a script of moves, or a run of one of the vending world's own players that is changed at given points: moves
are inserted, an action is replaced, or a text is said beside it. After that the player goes on by itself with the
outcomes that it gets. Nothing before the first point changes. Of several owners each has its script or its player.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Generic, TypeVar

from akinai.core.actions import Action, Unreadable
from akinai.core.agents import Agent, Move, Role, owner_of
from akinai.core.canonical import Json
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
from akinai.core.money import format_cents
from akinai.core.worlds import World, make_agent, step
from akinai.runtime.config.settings import prepare
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.actions import AdvanceDay
from akinai.worlds.vending.model.state import OPENING, OWNER, State
from akinai.worlds.vending.players.days import Trading
from akinai.worlds.vending.players.habits import REFERENCE
from akinai.worlds.vending.rules.actors import turn_to_actor

S = TypeVar("S")
WORLD = Vending()
SKIPPED = Outcome("Nothing was done.")
"""The outcome that a player gets of an action that was taken from it."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The setup of a run."""

    seed: int = 1
    days: int = 0
    """Days to play; 0: no horizon."""
    preset: str = "classic"
    settings: tuple[str, ...] = ()
    """As `--set` on the command line: "start_cents=6000"."""
    habits: tuple[tuple[str, object], ...] = ()
    """Habits in which the reference player of a business of several sites differs from itself."""
    marked_days: tuple[int, int] | None = None
    """The days, both included, in which a finding has to point to an entry, where no move is marked."""

    @property
    def genesis(self) -> Genesis:
        return Genesis(WORLD.name, self.seed, _setup(self.days, self.preset, self.settings))

    @property
    def first(self) -> str:
        """The owner whom the moves and changes of a case are of."""
        return WORLD.begin(self.genesis).owners[0]


@cache
def _setup(days: int, preset: str, settings: tuple[str, ...]) -> Json:
    return prepare(WORLD, preset=preset, days=days, settings=settings).setup


@dataclass(frozen=True, slots=True)
class LabelledMove:
    """An action of the actor whose turn it is, and the outcome that it must have."""

    action: Action
    says: str = ""
    """The text beside it."""
    refused: str | None = None
    """The code of the refusal that it must get; None: it must be accepted."""
    marked: bool = False
    """Whether a finding has to point to this move."""
    after_letter: str = ""
    """Words of a letter to the actor; the move is left out while no such letter is in the mailbox."""


@dataclass
class Recording(Generic[S]):
    """A run of a world under way."""

    world: World[S]
    genesis: Genesis
    entries: list[Entry] = field(default_factory=list[Entry])
    marked: list[int] = field(default_factory=list[int])
    """The entries of marked moves."""

    def __post_init__(self) -> None:
        self.state = self.world.begin(self.genesis)

    @property
    def actor(self) -> str | None:
        """The actor whose turn it is; None when the run is over."""
        return next(iter(self.world.actors(self.state)), None)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.genesis, tuple(self.entries))

    def play(self, move: LabelledMove, *, checked: bool = True) -> Outcome:
        """Play a move. With `checked`, ValueError when it has not the outcome that it must have."""
        before = self.entries[-1] if self.entries else None
        at = max(before.at if before else 0, self.world.now(self.state) or 0)
        action = self.world.verbs.settled(move.action)
        turn = Turn(len(self.entries) + 1, at, self.actor or OWNER, action, move.says)
        self.state, outcome = step(self.world, self.state, turn)
        if checked and outcome.code != move.refused:
            raise ValueError(
                f"entry {turn.seq} is {action!r} of {turn.actor}, which was to be {move.refused or 'accepted'}, and "
                f"the world says {outcome.code or 'ok'}: {outcome.text}"
            )
        self.entries.append(Entry.of(before.digest if before else self.genesis.digest, turn, outcome))
        if move.marked:
            self.marked.append(turn.seq)
        return outcome

    def due(self, move: LabelledMove) -> bool:
        """Whether a script's move is to be played, and not left out."""
        return True


class LiveRun(Recording[State]):
    """A run of the vending world."""

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(WORLD, settings.genesis)
        self.days: list[int] = []
        """The day of each entry."""

    def play(self, move: LabelledMove, *, checked: bool = True) -> Outcome:
        self.days.append(self.state.day)
        state = turn_to_actor(self.state, self.actor) if self.actor else self.state
        filled = replace(move, action=fill_in_texts(move.action, state), says=fill_in(move.says, state))
        return super().play(filled, checked=checked)

    def due(self, move: LabelledMove) -> bool:
        state = turn_to_actor(self.state, self.actor) if self.actor else self.state
        return not move.after_letter or any(move.after_letter in letter.body for letter in state.mail.inbox)


class Hand(ABC, Generic[S]):
    """The play of one participant of a run."""

    @property
    @abstractmethod
    def left(self) -> int:
        """Moves that are still to be played before the run may end."""
        ...

    @abstractmethod
    def take_turn(self, run: Recording[S]) -> None:
        """Play at least one move."""
        ...


@dataclass
class Scripted(Hand[S]):
    """Plays moves in order, and then one move again and again."""

    moves: Sequence[LabelledMove]
    idle: LabelledMove
    at: int = 0

    @property
    def left(self) -> int:
        return len(self.moves) - self.at

    def take_turn(self, run: Recording[S]) -> None:
        while self.left and not run.due(self.moves[self.at]):
            self.at += 1
        move = self.moves[self.at] if self.left else self.idle
        self.at += bool(self.left)
        run.play(move)


def play_hands(run: Recording[S], hands: Mapping[str, Hand[S]], *, to_the_end: bool = False) -> None:
    """Let each play when it is its turn, until all have played their moves or the run is over.

    ValueError when it is over before that.
    """
    while (actor := run.actor) is not None and (to_the_end or any(hand.left for hand in hands.values())):
        factory = run.world.facets.seating.own_player(run.state, actor)
        if factory is None or owner_of(actor) in hands:
            hands[owner_of(actor)].take_turn(run)
        else:  # an overseer, which is the same each time that it is asked
            agent = make_agent(run.world, factory, actor, run.genesis, run.state)
            run.play(LabelledMove(decide(agent, run, actor, None).action))
    if left := {name: hand.left for name, hand in hands.items() if hand.left}:
        raise ValueError(f"the run ended after {len(run.entries)} entries, without so many moves of: {left}")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Moves of the owner on the first morning from a day on, before the player acts."""

    from_day: int
    moves: tuple[LabelledMove, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """Moves in place of every action of a verb between two days, both included."""

    verb: type[Action]
    first_day: int
    last_day: int
    moves: tuple[LabelledMove, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A text beside the player's first action of a verb from a day on; that action is marked."""

    verb: type[Action]
    from_day: int
    says: str


Change = Insertion | Replacement | Remark


@dataclass(frozen=True, slots=True)
class Script:
    """A short run written by hand."""

    settings: RunSettings
    moves: tuple[LabelledMove, ...]
    rivals: "Rivals" = field(default_factory=dict[str, "Script | Mutation"])
    """The plays of the other owners, by name; their own settings are not read."""

    def play(self) -> LiveRun:
        return _play(self.settings, self.hand(self.settings.first), self.rivals)

    def hand(self, owner: str) -> Hand[State]:
        return Scripted(self.moves, LabelledMove(AdvanceDay()))


@dataclass(frozen=True, slots=True)
class Mutation:
    """A run of one of the world's players, with changes."""

    player: str
    settings: RunSettings
    changes: tuple[Change, ...]
    rivals: "Rivals" = field(default_factory=dict[str, "Script | Mutation"])

    def play(self) -> LiveRun:
        return Mutator(self).play()

    def hand(self, owner: str) -> Hand[State]:
        return Mutator(self, owner)


Rivals = Mapping[str, Script | Mutation]


def _play(settings: RunSettings, first: Hand[State], rivals: Rivals) -> LiveRun:
    """A run of the first owner and the others. It goes on to its end where a player plays the first."""
    run = LiveRun(settings)
    hands = {settings.first: first, **{owner: plan.hand(owner) for owner, plan in rivals.items()}}
    play_hands(run, hands, to_the_end=isinstance(first, Mutator))
    for hand in hands.values():
        if isinstance(hand, Mutator) and (missing := hand.missing):
            raise ValueError(f"the run ended after {len(run.entries)} entries without {missing!r}")
    if marked := settings.marked_days:
        run.marked += [at for at, day in enumerate(run.days, 1) if marked[0] <= day <= marked[1]]
    return run


@dataclass
class Mutator(Hand[State]):
    """Plays a mutation."""

    mutation: Mutation
    owner: str = ""
    """The owner whose turns it plays; empty for the first."""
    points: dict[int, int] = field(default_factory=dict[int, int])
    """The first entry that each change made, by the change's index."""
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    """The player and those of its sub-agents, by actor."""
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    """What each of them was told last."""
    queue: list[LabelledMove] = field(default_factory=list[LabelledMove])
    """Moves of a change that are still to be played; another owner may act between two of them."""
    told: bool = False
    """Whether the player is told the outcomes of all of these, or of an `advance_day` alone."""

    def __post_init__(self) -> None:
        self.owner = self.owner or self.mutation.settings.first

    @property
    def left(self) -> int:
        return 0

    @property
    def missing(self) -> Sequence[Change]:
        """The changes that were never made."""
        return [change for at, change in enumerate(self.mutation.changes) if at not in self.points]

    def play(self) -> LiveRun:
        """The whole run. ValueError when a change was never made."""
        return _play(self.mutation.settings, self, self.mutation.rivals)

    def take_turn(self, run: Recording[State]) -> None:
        if (actor := run.actor) is None:
            return
        if not self.queue:
            self._prepare(run, actor)
        if self.queue:
            move = self.queue.pop(0)
            outcome = run.play(move)
            if self.told or isinstance(move.action, AdvanceDay):
                self.outcomes[actor] = outcome

    def _prepare(self, run: Recording[State], actor: str) -> None:
        """Queue the moves of a change that is due; where none is, play the player's move or queue what replaces it."""
        self.told = False
        if moves := self._due(run, actor):
            self.queue = [*moves]
            return
        if actor not in self.agents:
            self.agents[actor] = self._agent(actor)
        decision = decide(self.agents[actor], run, actor, self.outcomes.get(actor))
        self.outcomes[actor] = self._play(run, decision)

    def _agent(self, actor: str) -> Agent:
        settings = self.mutation.settings
        if settings.habits:
            return Trading(replace(REFERENCE, **dict(settings.habits)))  # pyright: ignore[reportArgumentType]
        return WORLD.players[self.mutation.player](Role(actor, WORLD.verbs.classes))

    def _due(self, run: Recording[State], actor: str) -> tuple[LabelledMove, ...]:
        if actor != self.owner or run.state.minute_of_day != OPENING:
            return ()
        for at, change in enumerate(self.mutation.changes):
            if isinstance(change, Insertion) and at not in self.points and change.from_day <= run.state.day:
                self.points[at] = len(run.entries) + 1
                return change.moves
        return ()

    def _play(self, run: Recording[State], decision: Move) -> Outcome:
        """Play the player's move, or what replaces it."""
        action, day, point = decision.action, run.state.day, len(run.entries) + 1
        for at, change in enumerate(self.mutation.changes):
            match change:
                case Replacement(verb, first, last, moves) if type(action) is verb and first <= day <= last:
                    self.points.setdefault(at, point)
                    self.queue, self.told = [*moves], True
                    return SKIPPED
                case Remark(verb, first, says) if type(action) is verb and first <= day and at not in self.points:
                    self.points[at] = point
                    return run.play(LabelledMove(action, says, marked=True), checked=False)
                case _:
                    pass
        return run.play(LabelledMove(action, decision.said), checked=False)


def decide(agent: Agent, run: Recording[S], actor: str, last: Outcome | None) -> Move:
    """The agent's move. A rule-based player awaits nothing, so its coroutine ends at the first step."""
    deciding = agent.act(run.world.view(run.state, actor), last)
    try:
        deciding.send(None)
    except StopIteration as decided:
        return decided.value
    raise TypeError(f"{type(agent).__name__} awaits something; only rule-based players can be mutated")


class Count(int):
    """A number that a text may change: `*2`, `+10`, `-3`."""

    def __format__(self, spec: str) -> str:
        return str(round(_changed(self, spec)))


class Cents(int):
    """Money in cents that a text may change; a final `~` gives whole dollars."""

    def __format__(self, spec: str) -> str:
        cents = round(_changed(self, spec.removesuffix("~")))
        return f"${round(cents / 100)}" if spec.endswith("~") else format_cents(cents)


def _changed(value: int, spec: str) -> float:
    match spec[:1]:
        case "":
            return value
        case "*":
            return value * float(spec[1:])
        case "+":
            return value + float(spec[1:])
        case "-":
            return value - float(spec[1:])
        case _:
            raise ValueError(f"{spec!r} changes no number; write *2, +10 or -3")


class _ByProduct(dict[str, Count]):
    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, product: str) -> Count:
        return Count(self._count(product))


def fill_in(text: str, state: State) -> str:
    """A text with the figures of a state in place of its fields; tests/coherence/README.md lists the fields."""
    if "{" not in text:
        return text

    def stored(product: str) -> int:
        return sum(lot.units for lot in state.storage.get(product, ()))

    def shelf(product: str) -> int:
        return sum(slot.units for slot in state.slots if slot is not None and slot.product == product)

    def coming(product: str) -> int:
        return sum(line.units for order in state.orders for line in order.lines if line.product == product)

    return text.format(
        cash=Cents(state.cash_cents),
        till=Cents(state.machine_cents),
        day=Count(state.day),
        sold=_ByProduct(lambda product: state.book.sold.get(product, 0) if state.book else 0),
        income=Cents(state.book.income_cents if state.book else 0),
        stored=_ByProduct(stored),
        shelf=_ByProduct(shelf),
        owned=_ByProduct(lambda product: stored(product) + shelf(product)),
        coming=_ByProduct(coming),
    )


def fill_in_texts(action: Action, state: State) -> Action:
    """An action with the figures of a state in its texts."""
    if isinstance(action, Unreadable):
        return action
    texts = {name: value for name, value in action.model_dump().items() if isinstance(value, str) and "{" in value}
    return action.model_copy(update={name: fill_in(value, state) for name, value in texts.items()})
