"""`akinai.open` and `akinai.aopen`: open a run that is played from outside, and a session for plain code."""

import asyncio
import atexit
import concurrent.futures.thread
import threading
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, cast

from akinai import worlds
from akinai.agents.chat import instructions
from akinai.api.agent_options import resolve_options
from akinai.api.session import AsyncSession, SessionMembers, ends_run
from akinai.core.agents import AgentFactory
from akinai.core.canonical import short_digest
from akinai.core.errors import AkinaiError, UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.core.options import part_of
from akinai.core.scores import Score
from akinai.core.stores import CLIENT, OFFERED, PROMPT, Books, RunHeader, why_no_label
from akinai.core.worlds import World, participants
from akinai.runtime.config.addresses import opened, resolve_store
from akinai.runtime.config.calls import given_of, with_options
from akinai.runtime.config.settings import prepare
from akinai.runtime.options import AgentOptions, OpenOptions
from akinai.runtime.play.agent_registry import (
    HELD,
    HUMAN,
    SESSION_AGENT,
    default_agent,
    expect_tools,
    resolve_group_models,
)
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.play.driver import PlayContext, is_reproducible
from akinai.runtime.play.model_pool import open_model_pool
from akinai.runtime.play.seats import Seats
from akinai.runtime.runs.lifecycle import can_resume
from akinai.runtime.runs.planning import begin_all, checked_name, checked_seeds, fresh_name, offered_digest, plan
from akinai.runtime.runs.reading import find_run
from akinai.runtime.runs.records import Run
from akinai.runtime.seal import Key, expect_key, load_optional
from akinai.runtime.sync import loop_is_running

T = TypeVar("T")


@with_options(OpenOptions)
async def aopen(world: str | World[Any] | None = None, **options: Unpack[OpenOptions]) -> AsyncSession:
    """Open a run for asyncio, as `open` does: `async with await akinai.aopen("vending") as session:`."""
    return await open_session(world, options)


@with_options(OpenOptions)
def open(world: str | World[Any] | None = None, **options: Unpack[OpenOptions]) -> "Session":
    """Open a run whose actions come from outside, one by one: `with akinai.open("vending") as session:`.

    `hold` names the actors that are played here, or their groups, with their sub-agents; by default all for whom
    neither the world has a player of its own nor `settings` name one (`owners.2.agent`). `rest` plays the others: an
    agent as for `run`, by default the world's first player. The run is called NAME-SEED; where the store has it
    already, opened in the same way and not over, it goes on, and `resumed` says so. `resume` goes on with any run that
    was opened before, and takes no other option but `store`, `key` and `rest` given as an object. With `key`, the file
    of a key, the game is sealed and `seed` is its number. The run is recorded in `store`, by default in memory. A world
    with a choice of clocks, such as a market, keeps its own default ("virtual") unless `settings` or a model among the
    `rest` ask for another.

    Raises UsageError, before anything is written, for what cannot be played.
    """
    loop = _Loop()
    try:
        return Session(loop.result(open_session(world, options, alone=True)), loop)
    except BaseException:
        loop.stop()
        raise


@dataclass(frozen=True, slots=True)
class Opening:
    """A run to be opened."""

    world: World[Any]
    header: RunHeader
    spec: AgentSpec
    """The agent of the rest."""
    factory: AgentFactory | None
    hold: frozenset[str] | None
    is_new: bool


async def open_session(
    world: str | World[Any] | None,
    options: OpenOptions,
    *,
    alone: bool = False,
    played_by: str = SESSION_AGENT,
    over: bool = False,
) -> AsyncSession:
    """Open a run as `open` does. `alone`: see AsyncSession. `played_by` names who plays in header and card.

    `over`: a run of this name that is over is opened too; every action is answered so.
    """
    store, resume, key = options["store"], options["resume"], load_optional(options["key"])
    if (world is None) == (resume is None):
        raise UsageError("a session opens a world, such as 'vending', or goes on with a run by resume='NAME'")
    place = resolve_store(store) if store is not None or resume is not None else "memory:"
    planned = (
        None
        if world is None
        else plan_session(worlds.load(world) if isinstance(world, str) else world, played_by, options, key)
    )
    async with AsyncExitStack() as stack:
        books = await stack.enter_async_context(opened(place, create=resume is None))
        if planned is None:
            opening = await _reopen(books, resume or "", options, key)
        elif options["name"]:
            opening = await _begin_or_go_on(books, planned, over)
        else:
            opening = await _begin(books, _renamed(planned, fresh_name(await books.runs())))
        if key is not None:
            key.note([opening.header])
        pool = await stack.enter_async_context(open_model_pool(opening.spec))
        factory = pool.agent_factory(opening.world, opening.header, books, opening.factory)
        seats = Seats(holder(opening))
        by_rules = opening.factory is None and is_reproducible(opening.world, opening.spec)
        session = AsyncSession(
            opening.world, books, opening.header, seats, alone=alone, by_rules=by_rules, resumed=not opening.is_new
        )
        context = PlayContext(opening.world, factory, seats=seats)
        await session.begin(context, stack.pop_all())
    return session


def plan_session(world: World[Any], played_by: str, options: OpenOptions, key: Key | None = None) -> Opening:
    """A run to be opened; nothing is written. UsageError for what cannot be played."""
    settings, hold = options["settings"], options["hold"]
    agent_options = part_of(AgentOptions, {**options, "model": None})  # the model of the client asks nothing here
    spec, factory = resolve_options(world, options["rest"] or default_agent(world), agent_options, settings)
    prepared = prepare(
        world, preset=options["preset"], days=options["days"], settings=settings or (), thinks=spec.asks_model
    )
    spec = resolve_group_models(spec, world, prepared.setup, None)
    if factory is None:
        expect_tools(world, prepared.setup, spec, hold or None)
    name = checked_name(options["name"] or "session")
    seeds, named = checked_seeds([options["seed"]]), bool(options["name"])
    (planned,) = plan(world, prepared, spec, seeds, name, named=named, key=key)
    card = {**planned.card, "agent": played_by, HELD: {"hold": list(hold) if hold else None, "rest": spec.agent}}
    if played_by != HUMAN:
        card |= {OFFERED: offered_digest(world, planned.genesis), PROMPT: short_digest(instructions("tools"))}
    if client := {part: text for part in ("agent", "model") if (text := options[part])}:
        for part, text in client.items():
            if why := why_no_label(text):
                raise UsageError(f"the {part} {text!r:.100} cannot name who plays: {why}")
        card[CLIENT] = client
    header = replace(planned, agents=dict.fromkeys(planned.agents, played_by), card=card)
    opening = Opening(world, header, spec, factory, frozenset(hold) if hold else None, is_new=True)
    _expect_actors(opening)
    return opening


def _renamed(opening: Opening, group: str) -> Opening:
    header = opening.header
    return replace(opening, header=replace(header, run_id=f"{group}-{header.number}", group=group))


async def _begin(books: Books, opening: Opening) -> Opening:
    await begin_all(books, [opening.header])
    return opening


async def _begin_or_go_on(books: Books, opening: Opening, over: bool) -> Opening:
    """Begin the run, or go on with it where the store has it. UsageError as `expect_same_run`."""
    try:
        existing = await books.header(opening.header.run_id)
    except UnknownName:
        try:
            return await _begin(books, opening)
        except UsageError:
            if opening.header.run_id not in [run.run_id for run in await books.runs()]:
                raise  # another name is taken; this one was begun by another process meanwhile
            existing = await books.header(opening.header.run_id)
    expect_same_run(existing, opening.header, over=over)
    return replace(opening, header=existing, is_new=False)


def expect_same_run(existing: RunHeader, planned: RunHeader, *, over: bool = False) -> None:
    """UsageError unless the run that has the name is played in the same way and, but for `over`, is not over."""
    name = existing.run_id
    if HELD not in existing.card:
        raise _not_through_a_session(existing)
    if differences := _differences(existing, planned):
        raise UsageError(
            f"there is a run {name!r} already, with {' and '.join(differences)}; "
            f"ask for the same to go on with it, or choose another name"
        )
    if not over and not can_resume(existing):
        raise UsageError(f"the run {name!r} is over ({existing.ending}); another name or seed begins another run")


def _differences(existing: RunHeader, planned: RunHeader) -> list[str]:
    """How a run is played in another way than is planned, in words."""
    if existing.genesis.world != planned.genesis.world:
        return [f"world {existing.genesis.world}, not {planned.genesis.world}"]
    pairs: dict[str, tuple[object, object]] = {
        name: (getattr(existing, name), getattr(planned, name)) for name in ("agent", "model", "label")
    }
    held, planned_held = (cast("Mapping[str, Any]", header.card[HELD]) for header in (existing, planned))
    pairs |= {name: (held.get(name), planned_held.get(name)) for name in ("hold", "rest")}
    differences = [
        f"{name} {was or 'none'!s:.60}, not {planned_value or 'none'!s:.60}"
        for name, (was, planned_value) in pairs.items()
        if was != planned_value
    ]
    setups = [cast("Mapping[str, Any]", header.genesis.setup) for header in (existing, planned)]
    names = [name for name in dict.fromkeys([*setups[0], *setups[1]]) if setups[0].get(name) != setups[1].get(name)]
    if existing.game != planned.game:
        differences.append(f"{existing.game_words}, not {planned.game_words}")
    differences += [f"other settings ({', '.join(names[:5])})"] if names else []
    if spec_of(existing).budget != spec_of(planned).budget:
        differences.append("other limits")
    return differences


async def _reopen(books: Books, name: str, options: OpenOptions, key: Key | None) -> Opening:
    rest = options["rest"]
    if isinstance(rest, str | AgentSpec):
        raise UsageError(f"{name!r} says who plays the rest; leave rest out")
    if given := [
        option for option in given_of(OpenOptions, options) if option not in ("store", "resume", "rest", "key")
    ]:
        raise UsageError(f"{name!r} goes on as it began; leave out {', '.join(given)}")
    header = await find_run(books, name)
    expect_key(key, [header], "going on with")
    world = worlds.load(header.genesis.world)
    agent = header.player
    held: Mapping[str, Any] | None = cast("Mapping[str, Any] | None", header.card.get(HELD))
    if held is None and agent == HUMAN:  # begun by `akinai run --agent human`
        held = {"hold": None, "rest": str(default_agent(world))}
    if held is None:
        raise _not_through_a_session(header)
    spec = AgentSpec.from_card(header.card, held["rest"])
    hold = held["hold"]
    return Opening(world, header, spec, rest, None if hold is None else frozenset(hold), is_new=False)


def _not_through_a_session(header: RunHeader) -> UsageError:
    return UsageError(
        f"{header.run_id!r} was played by {header.player!r}, not through a session; "
        f"'akinai resume {header.run_id}' goes on with it, 'akinai fork' lets another play on"
    )


def holder(opening: Opening) -> Any:
    """Whether a session holds an actor, given its seats."""
    seating, hold = opening.world.facets.seating, opening.hold

    def holds(seats: Seats, actor: str) -> bool:
        state = seats.session.state
        if hold is None:
            return not opening.spec.is_taken(opening.world, state, actor)
        return actor in hold or seating.group(state, actor) in hold

    return holds


def _expect_actors(opening: Opening) -> None:
    """UsageError for an actor that is not there, or where the session would hold nobody."""
    world, hold = opening.world, opening.hold
    state = world.begin(opening.header.genesis)
    actors, groups = [*participants(world, state)], world.facets.sides.groups
    for name in hold or ():
        if name not in actors and name not in groups:
            raise UnknownName("actor", name, [*groups, *actors], "a session holds actors, or groups of them")
    if hold is None:
        opening.spec.expect_actor(world, state, "name those to play by hold=[...]")


class Session(SessionMembers):
    """A run that is played from outside, as `akinai.open` returns it: an `AsyncSession` for plain code.

    Use it with `with`, or call `close`, which the end of the program does for one that is open. Call it from
    one thread at a time.
    """

    def __init__(self, session: AsyncSession, loop: "_Loop") -> None:
        super().__init__(session._state)
        self._session, self._loop = session, loop
        self._played: Run | None = None
        if session.goes_on:
            loop.run_on()
        _OPEN.add(self)

    def act(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        text: str = "",
        actor: str | None = None,
        wait: bool = True,
    ) -> Outcome:
        """Take an action, and return its outcome once it is recorded; see `AsyncSession.act`.

        UsageError for an actor whose turn it is not while another actor held here may act.
        """
        if not wait:
            self._loop.run_on()
        return self._loop.result(self._session.act(name, arguments, text=text, actor=actor, wait=wait))

    def answer(self, reply: Any) -> list[Any]:
        """Take the actions of a model's reply, and return the messages that follow; see `AsyncSession.answer`."""
        return self._loop.result(self._session.answer(reply))

    def call(self, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Take the action of a model's tool call, and return the text that answers it.

        `arguments` may be JSON text. The text holds the outcome, a refusal with its code, news, and the end of the run.
        """
        return self._loop.result(self._session.call(name, arguments))

    def reply(self, text: str) -> str:
        """Take the action of a model's reply without tool calls, and return the text that answers it, as `call` does.

        The reply is a JSON object such as {"action": "wait_until", "hour": 9}, also fenced or with prose around it.
        """
        return self._loop.result(self._session.reply(text))

    def scores(self) -> Sequence[Score]:
        """The scores of the run as it stands."""
        return self.run().scores

    def run(self) -> Run:
        """The run as it stands, with its ledger, as `akinai.runs` gives it."""
        return self._played or self._loop.result(self._session.run())

    def close(self) -> None:
        """Stop playing. A run that is not over can be resumed."""
        if self._loop.running:
            try:
                self._loop.result(self._session.close())
                self._played = self._loop.result(self._session.run())
            finally:
                self._loop.stop()
        _OPEN.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Close. The end of the run, which `act` raises inside another loop, is not an error."""
        over = self.done
        self.close()
        return over and ends_run(error)


_OPEN = set[Session]()
"""Sessions that are not closed."""


def _close_all() -> None:
    """Close the sessions that a program leaves open at its end."""
    for session in tuple(_OPEN):
        with suppress(AkinaiError):
            session.close()


# Python stops its pools of threads before what `atexit` holds, and no store closes without them. This comes before they
# stop, since they are imported here.
assert concurrent.futures.thread
getattr(threading, "_register_atexit", atexit.register)(_close_all)


class _Loop:
    """An event loop for plain code. It runs while a call waits, or from `run_on` on, on a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None
        self._turn = threading.Lock()
        self.running = True
        """Whether it was not stopped."""

    def run_on(self) -> None:
        """Run between calls too."""
        with self._turn:
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop.run_forever, name="akinai-session", daemon=True)
                self._thread.start()

    def result(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs in the loop. UsageError after `stop`."""
        if not self.running:
            coroutine.close()
            raise UsageError("the session is closed; akinai.open(resume=...) goes on with its run")
        if loop_is_running():  # this thread's own, as in a notebook
            self.run_on()
        with self._turn:
            if self._thread is None:
                return self._run(self._loop.create_task(coroutine))
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _run(self, task: asyncio.Task[T]) -> T:
        try:
            return self._loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()  # it ends when the loop runs again, to close
            raise

    def stop(self) -> None:
        """Stop and close the loop."""
        self.result(self._loop.shutdown_asyncgens())
        self.running = False
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()
