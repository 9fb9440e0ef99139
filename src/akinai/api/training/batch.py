"""`akinai.batch`: many games at once without ledger, store or event loop; any of them becomes a run afterwards."""

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from functools import partial
from types import coroutine
from typing import Any, NamedTuple, Unpack

from akinai import worlds
from akinai.agents.chat import instructions, system_prompt
from akinai.api.opening import Opening, aopen, holder, plan_session
from akinai.api.session import called
from akinai.api.training.pools import episode_seeds, reward_span
from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, Role, View
from akinai.core.errors import EndRun, UsageError
from akinai.core.ledger import Genesis, Outcome
from akinai.core.options import part_of
from akinai.core.replies.moves import read_moves
from akinai.core.worlds import World, dated_view, participants
from akinai.runtime.config.calls import complete_options, with_options
from akinai.runtime.options import BatchOptions, EpisodeOptions, OpenOptions
from akinai.runtime.play.agent_registry import SESSION_AGENT, agent_factory
from akinai.runtime.play.driver import is_reproducible, make_driver
from akinai.runtime.play.seats import Seats
from akinai.runtime.play.session import LocalSession
from akinai.runtime.runs.records import Run
from akinai.runtime.sync import wait

GAMES = 64
"""Games of a batch whose seeds are not named."""
NO_WAITING = "the others of a batch play by rules: who waits for a model or a program cannot play here"
_UNSEEN = View("")

Request = Action | Move | str | tuple[str, Mapping[str, Any]] | None
"""An action; one with the text beside it; a model's reply; the name and the arguments of a tool; or none at all."""
_Turn = tuple[str, Outcome | None]
"""The actor that may act, and the outcome of its last move as it reads now."""


class Stepped(NamedTuple):
    """What became of a step, game by game."""

    outcomes: Sequence[Outcome | None]
    """None where nothing was done."""
    rewards: Sequence[float]
    done: Sequence[bool]


class _Hands(Seats):
    """Seats without an event loop: the run stops at a held actor's turn until its move is sent in."""

    def __init__(self, holds: Callable[[Seats, str], bool]) -> None:
        super().__init__(holds)
        self.actor, self.latest = "", Outcome("")

    def agent(self, role: Role) -> Agent:
        return _Hand(role.actor)

    def answer(self, actor: str, outcome: Outcome) -> None:
        if actor == self.actor:
            self.latest = outcome


class _Hand:
    """An actor that is played from outside."""

    def __init__(self, actor: str) -> None:
        self._actor = actor

    async def act(self, view: View, last: Outcome | None) -> Move:
        return await _move_of((self._actor, last))


@coroutine
def _move_of(turn: _Turn) -> Generator[_Turn, Move, Move]:
    return (yield turn)


class _PlainSession(LocalSession[Any]):
    """A session that records nothing, and makes no text for actors that are played from outside."""

    def __init__(self, world: World[Any], genesis: Genesis, seats: Seats) -> None:
        super().__init__(world, genesis, None, "")
        self._seats = seats

    async def view(self, actor: str) -> View:
        return _UNSEEN if self._seats.holds(actor) else await super().view(actor)


class Game:
    """A game of a batch. It plays as `akinai.open` would; `record` makes a run of it."""

    def __init__(self, opening: Opening, seed: int, options: EpisodeOptions, span: float = 1.0) -> None:
        """`options` of `akinai.open`; rewards are divided by `span`."""
        self.world, self.seed, self.moves = opening.world, seed, list[tuple[str, Move]]()
        """`moves` holds what every held actor did, in order."""
        self.outcome: Outcome | None = None
        self.reward = 0.0
        """What the last action, and what happened until somebody held may act again, changed of the first score."""
        self.ending: str | None = None
        """Why the game is over; None while it goes on."""
        self._options, self._span = options, span
        self._seats = _Hands(holder(opening))
        judging, genesis = self.world.facets.judging, Genesis(self.world.name, seed, opening.header.genesis.setup)
        session = _PlainSession(self.world, genesis, self._seats)
        factory = opening.factory or agent_factory(self.world, opening.spec.agent)
        self._course: Coroutine[Any, Move | None, str] = make_driver(
            session, opening.spec, factory, seats=self._seats
        ).play()
        self._turn: _Turn | None = None
        begun = session.state
        self._starts = judging.standing(begun) or 0.0, judging.settled(begun) or 0.0
        self._advance(None)
        self._gained = self._gain()

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self._turn is None

    @property
    def actor(self) -> str | None:
        """The actor whose action is next; None after the end."""
        return self._turn[0] if self._turn else None

    @property
    def actors(self) -> Sequence[str]:
        """The same as a sequence."""
        return (self._turn[0],) if self._turn else ()

    @property
    def held(self) -> Sequence[str]:
        """Every actor held here that takes part now."""
        return self._seats.held

    @property
    def last(self) -> Outcome | None:
        """The outcome of the last action of the actor that acts next, as it reads now; None before its first."""
        return self._turn[1] if self._turn else None

    def part(self, actor: str) -> float | None:
        """An actor's own part of the game as it stands, divided as rewards are; None in a world without such parts."""
        part = self.world.facets.judging.part(self._seats.session.state, actor)
        return None if part is None else part / self._span

    def view(self, actor: str | None = None) -> View:
        """The view of an actor, by default of the one that acts next."""
        name = actor or self.actor or self.held[0]
        return dated_view(self.world, self._seats.session.state, name)

    def verbs(self, actor: str | None = None) -> Sequence[type[Action]]:
        """Every action that an actor and its sub-agents can take in the course of the game; None: all held here."""
        return self._seats.verbs(actor)

    def prompt(self, actor: str | None = None) -> str:
        """The system prompt of Akinai's own chat agent."""
        return system_prompt(instructions("tools"), self.view(actor).text)

    def act(self, name: str, arguments: Mapping[str, Any] | None = None, /) -> Outcome:
        """Take an action by the name and the arguments of its tool. EndRun when the game is over."""
        return self.take(called(self.world.verbs, name, arguments))

    def take(self, move: Move) -> Outcome:
        """Make a move for the actor whose turn it is, and return its outcome. EndRun when the game is over."""
        if self._turn is None:
            raise EndRun(self.ending or "stopped")
        self._seats.actor = actor = self._turn[0]
        self.moves.append((actor, move))
        self._advance(move)
        turn, outcome = self._turn, self._seats.latest
        if turn and turn[0] == actor and turn[1]:
            outcome = turn[1]
        gained = self._gain()
        self.outcome, self.reward, self._gained = outcome, (gained - self._gained) / self._span, gained
        return outcome

    def record(self, **options: Any) -> Run:
        """Play the moves again as a session does, and return that run with its ledger and scores. `options` are the
        `store` that keeps it, and its `name`. UsageError where the store has a run of that name."""
        return wait(self._recorded(complete_options(OpenOptions, {**self._options, **options, "seed": self.seed})))

    async def _recorded(self, options: Any) -> Run:
        session = await aopen(self.world, **options)
        try:
            if session.resumed:
                raise UsageError(f"there is a run {session.id!r} already; choose another name")
            for actor, move in self.moves:
                await session.take(move, actor)
        finally:
            await session.close()
        return await session.run()

    def _gain(self) -> float:
        """The gain of the first score since the beginning, as far as the state shows."""
        judging, state = self.world.facets.judging, self._seats.session.state
        if self._turn is None:
            return (judging.settled(state) or 0.0) - self._starts[1]
        return (judging.standing(state) or 0.0) - self._starts[0]

    def _advance(self, move: Move | None) -> None:
        """Let the others act until somebody held may, or to the end."""
        try:
            turn = self._course.send(move)
            while turn is None:  # the driver lets an event loop run, where there is one
                turn = self._course.send(None)
        except StopIteration as end:
            self._turn, self.ending = None, end.value
            return
        if not isinstance(turn, tuple):
            self._course.close()
            raise UsageError(NO_WAITING)
        self._turn = turn


class Batch:
    """Games that are played side by side, as `akinai.batch` returns them."""

    def __init__(self, world: World[Any], options: BatchOptions) -> None:
        episode: EpisodeOptions = part_of(EpisodeOptions, options)
        whole: Any = complete_options(OpenOptions, episode)
        opening = plan_session(world, SESSION_AGENT, whole)
        if not (opening.factory or is_reproducible(world, opening.spec)):
            raise UsageError(NO_WAITING)
        begun = world.begin(opening.header.genesis)
        if world.now(begun) is None and len(participants(world, begun)) > 1:
            raise UsageError("a batch plays in simulated time, and this game by the wall clock; set clock to 'virtual'")
        self._seeds, count = episode_seeds(options["seeds"], options["split"])
        span = reward_span(world, options["reward"], options)
        self._new = partial(Game, opening, options=episode, span=span)
        self.n = (count or GAMES) if options["n"] is None else options["n"]
        """How many games there are at a time."""
        if self.n < 1:
            raise UsageError(f"a batch has one game or more, not {self.n}")
        self.games: list[Game] = []
        """The games as they stand."""
        self.reset()

    def reset(self) -> None:
        """Begin other games in all places, with the seeds that come next."""
        self.games = [self._new(next(self._seeds)) for _ in range(self.n)]

    def begin(self, place: int, seed: int | None = None) -> Game:
        """Begin another game in one place: with this very seed, or the one that comes next."""
        self.games[place] = game = self._new(next(self._seeds) if seed is None else seed)
        return game

    def step(self, requests: Sequence[Request]) -> Stepped:
        """Take an action in every game. None does nothing; so does any action in a game that is over.

        A reply of several actions is carried out whole, and its reward is that of all.
        """
        if len(requests) != self.n:
            raise UsageError(f"a step of {self.n} games takes {self.n} actions, not {len(requests)}")
        outcomes: list[Outcome | None] = []
        rewards: list[float] = []
        for game, request in zip(self.games, requests, strict=True):
            outcome, reward = None, 0.0
            for move in () if request is None else _moves(game, request):
                if game.done:
                    break
                outcome = game.take(move)
                reward += game.reward
            outcomes.append(outcome)
            rewards.append(reward)
        return Stepped(outcomes, rewards, [game.done for game in self.games])

    def record(self, place: int, **options: Any) -> Run:
        """The game of a place as a run, with ledger, digest and scores; see `Game.record`."""
        return self.games[place].record(**options)


def _moves(game: Game, request: Action | Move | str | tuple[str, Mapping[str, Any]]) -> Sequence[Move]:
    if isinstance(request, Action):
        return (Move(request),)
    if isinstance(request, Move):
        return (request,)
    verbs = game.world.verbs
    return read_moves(verbs, request) if isinstance(request, str) else (called(verbs, *request),)


@with_options(BatchOptions)
def batch(world: str | World[Any], **options: Unpack[BatchOptions]) -> Batch:
    """Begin `n` games that are played side by side, for trainers: `akinai.batch("vending", n=64)`.

    Nothing is recorded while they are played; `record(i)` makes a run of any of them afterwards, equal to one that was
    played through a session. `seeds` are played in turn, again and again; with `split` ("train", "validation" or
    "test") they are numbers of that pool's games, and without seeds every game is a new one of the pool, by default
    `train`. With `reward` "scaled" an episode's rewards sum to about 1 for the world's first player. The other options
    are those of `akinai.open`. UsageError for what cannot be played.
    """
    return Batch(worlds.load(world) if isinstance(world, str) else world, options)
