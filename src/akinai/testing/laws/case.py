"""A world under test: its setup, its known scores, its players' runs, and random runs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, Move
from akinai.core.canonical import Json
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import Step, World, read_turn
from akinai.runtime.play.driver import Driver
from akinai.runtime.play.session import LocalSession
from akinai.stores.memory import MemoryStore
from akinai.testing.laws.sample_runs import read_entries
from akinai.testing.laws.strategies import moves

S = TypeVar("S")
Books = Callable[[Any, Any, Outcome], bool]
"""Whether money and goods add up over one action: (state before, state after, outcome)."""

RUN = "run"
MAX_ACTIONS = 20_000
"""Length at which a player's run is cut off; runs under test are far shorter."""
SUPPRESSED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
TEXTS_BESIDE = ("", "I sell water.\n商い", "half a pair \ud83d and NUL \0")


def no_books(before: object, after: object, outcome: Outcome) -> bool:
    """The books of a world without money and goods: they always balance."""
    return True


@dataclass(frozen=True)
class WorldCase(Generic[S]):
    """A world, and all that the laws need for checking it."""

    world: World[S]
    setup: Mapping[str, Json]
    """Setup of short runs; missing fields get their defaults."""
    scores: Mapping[str, Mapping[str, int | float]]
    """Known scores by player and name; every score of the world must be known for at least one player."""
    books: Books
    long: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Settings over `setup` for a long run of the world's first player, at least 100 actions."""
    players: Mapping[str, AgentFactory] = field(default_factory=dict[str, AgentFactory])
    """Players besides the world's own, such as one that gives the right answers."""
    samples: Sequence[Action] = ()
    """Sensible actions that no player takes; they are tried and varied."""
    words: Sequence[str] = ()
    """Meaningful texts that occur neither in the setup nor in the players' actions and samples."""
    strangers: Sequence[str] = ("", "nobody", "owner/email-3", "商人")
    """Actors that take part in no run."""
    seed: int = 1
    examples: int = 20
    """Random runs for each law; fewer where Hypothesis' profile allows fewer."""
    moves: int = 12
    """Maximum number of random moves in a run."""
    session: Callable[..., LocalSession[Any]] = LocalSession
    timeout_s: float = 60.0
    """Limit of the law that starts another Python."""

    @cached_property
    def genesis(self) -> Genesis:
        """The genesis of the short runs."""
        return self._genesis({})

    @cached_property
    def long_genesis(self) -> Genesis:
        return self._genesis(self.long)

    def _genesis(self, over: Mapping[str, Json]) -> Genesis:
        setup = self.world.setup.model_validate({**self.setup, **over}).model_dump(mode="json")
        return Genesis(self.world.name, self.seed, setup)

    @cached_property
    def all_players(self) -> Mapping[str, AgentFactory]:
        """All players by name."""
        return {**self.world.players, **self.players}

    @cached_property
    def runs(self) -> Mapping[str, Ledger]:
        """The short run of every player."""
        return {name: play(self, factory, self.genesis) for name, factory in self.all_players.items()}

    @cached_property
    def known_actions(self) -> Sequence[Action]:
        """The players' actions and the samples, without repetition."""
        entries = [entry for ledger in self.runs.values() for entry in ledger.entries]
        actions = {(entry.name, str(entry.parameters)): read_turn(self.world, entry).action for entry in entries}
        return [*actions.values(), *self.samples]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Meaningful texts in this world, such as names of products."""
        parameters = [action.model_dump(mode="json") for action in self.known_actions]
        texts = {text for value in (self.genesis.setup, parameters) for text in _texts(value) if len(text) <= 400}
        return tuple(sorted(texts | set(self.words)))

    @cached_property
    def known_actors(self) -> tuple[str, ...]:
        """The actors of the players' runs."""
        return tuple(sorted({entry.actor for ledger in self.runs.values() for entry in ledger.entries}))

    def new_session(
        self, store: Store, run_id: str = RUN, *, genesis: Genesis | None = None, batch: int = 1
    ) -> LocalSession[S]:
        """A session whose clock ticks once per entry, so that a world without its own clock is repeatable."""

        def clock() -> int:
            return 1_700_000_000_000_000 + session.seq

        session = self.session(self.world, genesis or self.genesis, store, run_id, batch=batch, clock=clock)
        return session


def header_of(genesis: Genesis, run_id: str = RUN, agent: str = "anybody") -> RunHeader:
    """The header of a new run."""
    return RunHeader(run_id, genesis, {"actor": agent}, created_at=1)


def play(case: WorldCase[S], factory: AgentFactory, genesis: Genesis) -> Ledger:
    """The whole run of a player."""

    async def play_all() -> Ledger:
        store = MemoryStore()
        await store.create(header_of(genesis))
        session = case.new_session(store, genesis=genesis)
        await Driver(session, factory, max_actions=MAX_ACTIONS).play()
        return Ledger(genesis, tuple(await read_entries(store, RUN)))

    return asyncio.run(play_all())


@dataclass
class RandomRun(Generic[S]):
    """A random run: its steps in memory, and its entries in a store."""

    case: WorldCase[S]
    session: LocalSession[S]
    store: MemoryStore
    steps: list[Step[S]] = field(default_factory=list[Step[S]])
    handed_in: list[Action] = field(default_factory=list[Action])
    """The actions before they were recorded, one for each step."""

    @staticmethod
    async def start(case: WorldCase[S], run_id: str = RUN) -> "RandomRun[S]":
        """A run in a new store, before its first move."""
        store = MemoryStore()
        await store.create(header_of(case.genesis, run_id))
        return RandomRun(case, case.new_session(store, run_id), store)

    @property
    def entries(self) -> list[Entry]:
        return [step.entry for step in self.steps]

    @property
    def states(self) -> list[S]:
        """The state before the first entry, and the state after each."""
        states = [step.before for step in self.steps[:1]] + [step.after for step in self.steps]
        return states or [self.session.state]

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.case.genesis, tuple(self.entries))

    async def act(self, actor: str, action: Action, remark: str = "") -> Outcome:
        """Make a move."""
        session, before = self.session, self.session.state
        received = await session.act(actor, Move(action, remark))
        (entry,) = [entry async for entry in self.store.read(session.run_id, session.seq - 1)]
        turn = read_turn(self.case.world, entry)
        observed = self.case.world.facets.observation.observe(session.state, turn, entry.outcome)
        assert observed == received, (
            f"the outcome recorded in entry {entry.seq} is not the one that its actor was shown"
        )
        self.handed_in.append(action)
        self.steps.append(Step(before, entry, turn, entry.outcome, session.state))
        return entry.outcome

    async def act_randomly(self, data: st.DataObject) -> Outcome:
        """Make a move that Hypothesis draws, mostly by an actor whose turn it is."""
        case, state = self.case, self.session.state
        actors = case.world.actors(state)
        out_of_turn = not actors or data.draw(st.integers(0, 9)) == 9
        actor = data.draw(st.sampled_from((*case.known_actors, *case.strangers) if out_of_turn else actors))
        action = data.draw(moves(case.world, state, actor, case.vocabulary, case.known_actions))
        return await self.act(actor, action, data.draw(st.sampled_from(TEXTS_BESIDE)))


async def random_run(case: WorldCase[S], data: st.DataObject) -> RandomRun[S]:
    """A run that begins like a player's and continues with random moves."""
    run = await RandomRun[S].start(case)
    player = data.draw(st.sampled_from(sorted(case.runs)))
    entries = case.runs[player].entries
    for entry in entries[: data.draw(st.integers(0, len(entries)))]:
        await run.act(entry.actor, read_turn(case.world, entry).action, entry.said)
    for _ in range(data.draw(st.integers(1, case.moves))):
        await run.act_randomly(data)
    return run


def for_all(case: WorldCase[Any], check: Callable[[st.DataObject], Awaitable[None]]) -> None:
    """Run `check` on as many examples as the case asks for."""
    assert case.runs, "the world has no players; give it a player, or the case"
    phases = [phase for phase in settings().phases if phase is not Phase.explain]
    with asyncio.Runner() as runner:
        most = min(case.examples, settings().max_examples)

        @settings(max_examples=most, deadline=None, suppress_health_check=SUPPRESSED, phases=phases)
        @given(st.data())
        def holds(data: st.DataObject) -> None:
            runner.run(_finish(check(data)))

        holds()


async def _finish(checking: Awaitable[None]) -> None:
    await checking


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            yield from (*_texts(key), *_texts(item))
    elif isinstance(value, Sequence):
        for item in cast("Sequence[object]", value):
            yield from _texts(item)
