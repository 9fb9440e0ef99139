"""What the laws of a world are held against: the world, a setup, what is known of its scores, and runs through it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, Move
from akinai.core.canonical import Json
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import Step, World, read_turn
from akinai.runtime.play import Driver
from akinai.runtime.session import LocalSession
from akinai.stores.memory import MemoryStore
from akinai.testing.world_moves import moves

S = TypeVar("S")
Books = Callable[[Any, Any, Outcome], bool]
"""Whether money and goods add up over one action: (state before, state after, outcome)."""

RUN = "run"
MOST_MESSAGES = 20_000
"""Entries after which a player's run is cut off: it should have ended long before."""
UNHURRIED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
SAID = ("", "I sell water.\n商い", "half a pair \ud83d and NUL \0")


def nothing_to_keep(before: object, after: object, outcome: Outcome) -> bool:
    """The books of a world without money or goods."""
    return True


@dataclass(frozen=True)
class Case(Generic[S]):
    """A world with all that its laws need to know of it."""

    world: World[S]
    setup: Mapping[str, Json]
    """Of short runs; defaults are filled in."""
    scores: Mapping[str, Mapping[str, int | float]]
    """What players are known to score, by player and score; each score of the world by one player at least."""
    books: Books
    long: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Settings over `setup` for one long run of the world's first player, of at least 100 actions."""
    players: Mapping[str, AgentFactory] = field(default_factory=dict[str, AgentFactory])
    """Players beside the world's own, such as one that gives the right answers."""
    samples: Sequence[Action] = ()
    """Actions that make sense and that no player does: they are tried, and varied."""
    words: Sequence[str] = ()
    """Texts worth saying that stand neither in the setup nor in what players and samples say."""
    strangers: Sequence[str] = ("", "nobody", "owner/email-3", "商人")
    """Who has no part in any run."""
    seed: int = 1
    examples: int = 20
    """Runs that Hypothesis makes for each law."""
    moves: int = 12
    """Most moves that it makes in one of them."""
    session: Callable[..., LocalSession[Any]] = LocalSession
    timeout_s: float = 60.0
    """For the law that starts another Python."""

    @cached_property
    def genesis(self) -> Genesis:
        """Of the short runs."""
        return self._genesis({})

    @cached_property
    def long_genesis(self) -> Genesis:
        return self._genesis(self.long)

    def _genesis(self, over: Mapping[str, Json]) -> Genesis:
        setup = self.world.setup.model_validate({**self.setup, **over}).model_dump(mode="json")
        return Genesis(self.world.name, self.seed, setup)

    @cached_property
    def cast(self) -> Mapping[str, AgentFactory]:
        """All players by name."""
        return {**self.world.players, **self.players}

    @cached_property
    def played(self) -> Mapping[str, Ledger]:
        """The short run of every player."""
        return {name: played(self, factory, self.genesis) for name, factory in self.cast.items()}

    @cached_property
    def known_actions(self) -> Sequence[Action]:
        """What players do and what the case adds, each once."""
        entries = [entry for ledger in self.played.values() for entry in ledger.entries]
        done = {(one.name, str(one.parameters)): read_turn(self.world, one).action for one in entries}
        return [*done.values(), *self.samples]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Texts that mean something in this world."""
        said = [action.model_dump(mode="json") for action in self.known_actions]
        found = {text for value in (self.genesis.setup, said) for text in _texts(value) if len(text) <= 400}
        return tuple(sorted(found | set(self.words)))

    @cached_property
    def known_actors(self) -> tuple[str, ...]:
        """Who acts in the players' runs."""
        return tuple(sorted({entry.actor for ledger in self.played.values() for entry in ledger.entries}))

    def new_session(
        self, store: Store, run_id: str = RUN, *, genesis: Genesis | None = None, batch: int = 1
    ) -> LocalSession[S]:
        """A session whose clock ticks once an entry, so that a world without a clock of its own is repeatable."""

        def clock() -> int:
            return 1_700_000_000_000_000 + session.seq

        session = self.session(self.world, genesis or self.genesis, store, run_id, batch=batch, clock=clock)
        return session


def header_of(genesis: Genesis, run_id: str = RUN, agent: str = "anybody") -> RunHeader:
    """What a store is told of a run before it begins."""
    return RunHeader(run_id, genesis, {"actor": agent}, created_at=1)


def played(case: Case[S], factory: AgentFactory, genesis: Genesis) -> Ledger:
    """The whole run of a player, kept nowhere else."""

    async def play() -> Ledger:
        store = MemoryStore()
        await store.create(header_of(genesis))
        session = case.new_session(store, genesis=genesis)
        await Driver(session, factory, max_messages=MOST_MESSAGES).play()
        return Ledger(genesis, tuple(await entries_in(store)))

    return asyncio.run(play())


async def entries_in(store: Store, run_id: str = RUN) -> list[Entry]:
    """All entries of a run."""
    return [entry async for entry in store.read(run_id)]


@dataclass
class Wandered(Generic[S]):
    """A run that nobody planned, as it was lived, beside what was kept of it."""

    case: Case[S]
    session: LocalSession[S]
    store: MemoryStore
    steps: list[Step] = field(default_factory=list[Step])
    said: list[Action] = field(default_factory=list[Action])
    """The actions as they were handed in, one for each step."""

    @staticmethod
    async def begun(case: Case[S], run_id: str = RUN) -> "Wandered[S]":
        """A run in a new store, before its first move."""
        store = MemoryStore()
        await store.create(header_of(case.genesis, run_id))
        return Wandered(case, case.new_session(store, run_id), store)

    @property
    def entries(self) -> list[Entry]:
        return [one.entry for one in self.steps]

    @property
    def states(self) -> list[Any]:
        """Before anyone acted, and after every entry."""
        return [one.before for one in self.steps[:1]] + [one.after for one in self.steps] or [self.session.state]

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.case.genesis, tuple(self.entries))

    async def act(self, actor: str, action: Action, said: str = "") -> Outcome:
        """One more move."""
        session, before = self.session, self.session.state
        heard = await session.act(actor, Move(action, said))
        (entry,) = [entry async for entry in self.store.read(session.run_id, session.seq - 1)]
        turn = read_turn(self.case.world, entry)
        told = self.case.world.told(session.state, turn, entry.outcome)
        assert told == heard, f"entry {entry.seq} keeps another outcome than its actor heard"
        self.said.append(action)
        self.steps.append(Step(before, entry, turn, entry.outcome, session.state))
        return entry.outcome

    async def act_somehow(self, data: st.DataObject) -> Outcome:
        """One more move, of which Hypothesis says what and mostly by whom."""
        case, state = self.case, self.session.state
        actors = case.world.actors(state)
        out_of_turn = not actors or data.draw(st.integers(0, 9)) == 9
        actor = data.draw(st.sampled_from((*case.known_actors, *case.strangers) if out_of_turn else actors))
        action = data.draw(moves(case.world, state, actor, case.vocabulary, case.known_actions))
        return await self.act(actor, action, data.draw(st.sampled_from(SAID)))


async def wander(case: Case[S], data: st.DataObject) -> Wandered[S]:
    """A run that begins as one of the players' and goes on as Hypothesis says."""
    run = await Wandered[S].begun(case)
    past = data.draw(st.sampled_from(sorted(case.played)))
    entries = case.played[past].entries
    for entry in entries[: data.draw(st.integers(0, len(entries)))]:
        await run.act(entry.actor, read_turn(case.world, entry).action, entry.said)
    for _ in range(data.draw(st.integers(1, case.moves))):
        await run.act_somehow(data)
    return run


def for_all(case: Case[Any], check: Callable[[st.DataObject], Awaitable[None]]) -> None:
    """Hold `check` against as many examples as the case asks for."""
    assert case.played, "the world has no players; give it one, or the case"
    phases = [phase for phase in settings().phases if phase is not Phase.explain]
    with asyncio.Runner() as runner:

        @settings(max_examples=case.examples, deadline=None, suppress_health_check=UNHURRIED, phases=phases)
        @given(st.data())
        def holds(data: st.DataObject) -> None:
            async def one() -> None:
                await check(data)

            runner.run(one())

        holds()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
