"""AsyncSession: a run that is played from outside, action by action."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self, cast

from akinai.agents.chat import instructions, system_prompt
from akinai.agents.protocols import ToolCallProtocol
from akinai.api.answers import read_reply
from akinai.api.framework_tools import tools_for
from akinai.api.seat import Playable, Seat, Wait, own_actors
from akinai.core.actions import Action, Verbs
from akinai.core.agents import Move, View, is_sub_agent, owner_of
from akinai.core.chance import Sealed
from akinai.core.errors import AgentError, AkinaiError, EndRun, SequenceConflict, UnknownName, UsageError
from akinai.core.ledger import Ledger, Outcome
from akinai.core.replies.arguments import read_call
from akinai.core.replies.moves import read_moves
from akinai.core.scores import Score
from akinai.core.steps import Step
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import World, dated_view, replay
from akinai.runtime.models.budget import BUDGET
from akinai.runtime.play.driver import PlayContext, play_run
from akinai.runtime.play.seats import Seats
from akinai.runtime.runs.reading import Detail, loader, read_played, read_run
from akinai.runtime.runs.records import Run

_OPEN = set["AsyncSession"]()
"""Sessions that are not closed. One that nobody holds any more must outlive its loop's tasks, so that the loop closes
its store."""


@dataclass(slots=True)
class _State:
    """What a session's members show; it changes with every action."""

    world: World[Any]
    header: RunHeader
    seats: Seats
    resumed: bool
    outcome: Outcome | None = None
    reward: float = 0.0


class SessionMembers:
    """The members that wait for nothing, the same in sessions for asyncio and for plain code."""

    def __init__(self, state: _State) -> None:
        self._state = state

    @property
    def _playable(self) -> Playable:
        return cast("Playable", self)

    def __repr__(self) -> str:
        whose = f"{self.actor} acts next" if self.actor else self.ending or "waiting"
        words = f"{self.world.name}, {self._state.header.game_words}, {whose}"
        return f"<{type(self).__name__} {self.id}: {words}>"

    @property
    def world(self) -> World[Any]:
        """The world that is played."""
        return self._state.world

    @property
    def resumed(self) -> bool:
        """Whether the run had begun before, and goes on here."""
        return self._state.resumed

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the last action; None before the first."""
        return self._state.outcome

    @property
    def reward(self) -> float:
        """What the last action, or all actions of the last reply in words, and whatever happened until it was answered,
        changed of the first score, in its unit. All rewards of a run sum to its final score less the one it began with.
        """
        return self._state.reward

    @property
    def id(self) -> str:
        """The name by which every command finds the run."""
        return self._state.header.run_id

    @property
    def seed(self) -> int | None:
        """The seed of the run; None where the game is sealed."""
        return self._state.header.open_seed

    @property
    def sealed(self) -> Sealed | None:
        """Number and commitment of a sealed game; None for a practice seed."""
        return self._state.header.sealed

    @property
    def actors(self) -> Sequence[str]:
        """The actors held here that may act now, the one whose turn came first at the front."""
        return tuple(self._state.seats.turns)

    @property
    def held(self) -> Sequence[str]:
        """Every actor held here that takes part now, whether it may act or not; after the end, those that began."""
        return self._state.seats.held

    @property
    def actor(self) -> str | None:
        """The actor that `act` acts for unless another is named; None when nobody held here may act."""
        return next(iter(self._state.seats.turns), None)

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self._state.seats.over

    @property
    def ending(self) -> str | None:
        """Why the run is over, such as "horizon"; None while it goes on, or where it failed."""
        return self._state.header.ending if self._state.seats.over else None

    def view(self, actor: str | None = None) -> View:
        """The view of an actor, by default the one that acts next. Free; not recorded."""
        name = self._named(actor)
        if name in self._state.seats.turns:
            return self._state.seats.turns[name].view
        return dated_view(self.world, self._state.seats.session.state, name)

    def verbs(self, actor: str | None = None) -> Sequence[type[Action]]:
        """Every action that an actor and its sub-agents can take in the course of the run; None: all held here."""
        return self._state.seats.verbs(actor)

    def prompt(self, actor: str | None = None) -> str:
        """The system prompt of an agent that begins to play an actor here, as Akinai's own chat agent has it."""
        return system_prompt(instructions("tools"), self.view(actor).text)

    def tools(self, actor: str | None = None, *, inline: bool = False) -> list[dict[str, Any]]:
        """The actions that an actor may take now, as tools for a model. `inline`: their schemas hold no `$ref`."""
        return [verb.tool(inline=inline) for verb in self.view(actor).verbs or self.world.verbs.classes]

    def tools_for(self, framework: str) -> list[Any]:
        """All actions of the world as tools of "langchain", "autogen", "openai" or "anthropic".

        LangChain's and AutoGen's tools act by themselves: give them to an agent. For the others, answer a reply with
        `answer(reply)`. UnknownName for another framework.
        """
        return tools_for(self._playable, framework)

    def _named(self, actor: str | None) -> str:
        name = actor or self.actor or next(iter(own_actors(self._playable)), None)
        if name is None:
            raise UsageError(f"nobody in {self.id!r} is played here")
        if not self._state.seats.holds(name) or (not is_sub_agent(name) and name not in self.held):
            raise UnknownName("actor", name, self.held, "the actors that this session plays")
        return name


class AsyncSession(SessionMembers):
    """A run that is played from outside, as `akinai.aopen` returns it. Use it with `async with`, or call `close`."""

    def __init__(
        self,
        world: World[Any],
        books: Books,
        header: RunHeader,
        seats: Seats,
        *,
        alone: bool,
        by_rules: bool,
        resumed: bool,
    ) -> None:
        """`alone`: all calls come from one thread, so that waiting for another held actor's action is an error.
        `by_rules`: no actor that is not held asks a model or a program."""
        super().__init__(_State(world, header, seats, resumed))
        self._books, self._seats, self._alone, self._by_rules = books, seats, alone, by_rules
        self._began_with = first_score(world, Ledger(header.genesis, ()))
        self._standing = world.facets.judging.standing(world.begin(header.genesis))
        self._rewarded = 0.0
        self._played: Run | None = None
        self._steps: list[Step[Any]] | None = [] if alone else None
        """Kept for scoring where one program plays; a server has too many sessions for that."""
        self._task: asyncio.Task[RunHeader] | None = None
        self._stack = AsyncExitStack()

    @property
    def goes_on(self) -> bool:
        """Whether others may do something between two actions here."""
        return not self._by_rules or self.world.now(self._seats.session.state) is None

    async def begin(self, context: PlayContext, stack: AsyncExitStack) -> None:
        """Begin to play, or resume; `stack` holds what is released at the end."""
        self._stack = stack
        _OPEN.add(self)
        context = replace(context, steps=self._steps)
        self._task = asyncio.create_task(play_run(self._books, self._state.header, context=context))
        self._task.add_done_callback(lambda _: self._seats.finish())
        try:
            await self._seats.until(lambda: bool(self._seats.turns))
            await self._expect_sound()
        except BaseException:
            await self.close()
            raise
        self._rewarded = self._change()

    async def act(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        text: str = "",
        actor: str | None = None,
        wait: Wait = True,
    ) -> Outcome:
        """Take an action, and return its outcome once it is recorded.

        An action that cannot be read is refused, as an agent's is. `text` is what the ledger keeps beside it. An actor
        whose turn it is not waits for it. With `wait` the call returns when a held actor may act again, which some
        outcomes wait for (a market's `wait`); "own": when this actor or its sub-agent may; False: at once.

        Raises EndRun when the run is over, UsageError for arguments that are no JSON and for an actor that is not held
        here, AgentError and StoreError when the run has failed.
        """
        return await self.take(called(self.world.verbs, name, arguments, text), actor, wait)

    async def take(self, move: Move, actor: str | None = None, wait: Wait = True) -> Outcome:
        """Hand in a move that was read elsewhere, and return its outcome; see `act`."""
        who = await self._turn_of(actor)
        self._seats.hand_in(who, move)
        await self._seats.until(lambda: self._seats.outcome(who) is not None)
        outcome = self._seats.outcome(who)
        if wait and outcome is not None:
            turns, seat = self._seats.turns, owner_of(who)
            await self._seats.until(
                lambda: any(wait != "own" or owner_of(actor) == seat for actor in turns),
            )
            if who in turns:
                outcome = turns[who].last or outcome
        await self._expect_sound()
        if outcome is None:
            raise EndRun(self.ending or "stopped")
        self._state.outcome, self._state.reward = outcome, await self._reward()
        return outcome

    async def leave(self, ending: str, actor: str | None = None) -> None:
        """Make no move for an actor once it may act: it leaves a game that others go on with, or the run ends so.

        Raises as `act` does.
        """
        who = await self._turn_of(actor)
        self._seats.leave(who, ending)
        await self._seats.until(lambda: bool(self._seats.turns))
        await self._expect_sound()

    async def answer(self, reply: Any) -> list[Any]:
        """Take the actions of a model's reply, and return the messages that follow: the reply, and its answers.

        `reply` is what OpenAI's client (chat completions) or Anthropic's (messages) returned; UsageError for anything
        else. Each tool call is an action, also an unknown one; a reply without any is refused, as an agent's is. Calls
        after the end of the run are answered with why it is over.
        """
        received, seat = read_reply(reply), self._own_seat
        requests = ToolCallProtocol().read_moves(self.world.verbs, received.reply)
        return received.messages([await seat.settle(seat.take(requested.move)) for requested in requests])

    async def call(self, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Take the action of a model's tool call, and return the text that answers it.

        `arguments` may be JSON text. The text holds the outcome, a refusal with its code, news, and the end of the run.
        """
        return (await self._own_seat.take(called(self.world.verbs, name, arguments))).text

    async def reply(self, text: str) -> str:
        """Take the action of a model's reply without tool calls, and return the text that answers it, as `call` does.

        The reply is a JSON object such as {"action": "wait_until", "hour": 9}, also fenced or with prose around it, or
        a list of such objects, which are carried out in order.
        """
        seat, (first, *others) = self._own_seat, read_moves(self.world.verbs, text)
        answers = [await seat.take(first), *[await seat.settle(seat.take(move)) for move in others]]
        self._state.reward = sum(answer.reward or 0.0 for answer in answers)
        return "\n\n".join(answer.text for answer in answers)

    async def scores(self) -> Sequence[Score]:
        """The scores of the run as it stands."""
        return (await self.run()).scores

    async def run(self) -> Run:
        """The run as it stands, with its ledger, as `akinai.runs` gives it."""
        if self._played is not None:
            return self._played
        header, load = self._state.header, loader(self.world)
        if self.done and header.status == "done" and self._steps:
            self._played = await read_played(self._books, header, self._steps, Detail(), load=load)
            return self._played
        header = header if self.done else replace(header, entries=None, digest=None)
        return await read_run(self._books, header, Detail(), load=load)

    async def until_over(self, within_s: float | None = None) -> None:
        """Wait until the run is over; after `within_s` seconds it ends as one whose budget is spent.

        AgentError and StoreError where it has failed.
        """
        try:
            async with asyncio.timeout(within_s):
                await self._seats.until(lambda: False)
        except TimeoutError:
            self._seats.end(BUDGET)
            await self._seats.until(lambda: False)
        await self._expect_sound()

    async def close(self) -> None:
        """Stop playing. A run that is not over can be resumed."""
        task, self._task = self._task, None
        _OPEN.discard(self)
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError, AkinaiError, KeyboardInterrupt):
                await task
            try:
                self._state.header = await self._books.header(self.id)
                self._played = await self.run()
            finally:
                await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Close. The end of the run, which `act` raises inside another loop, is not an error."""
        over = self.done
        await self.close()
        return over and ends_run(error)

    @cached_property
    def _own_seat(self) -> "Seat[AsyncSession]":
        """The seat of `answer`, `call` and `reply`: every actor that is held."""
        return Seat(self)

    async def _turn_of(self, actor: str | None) -> str:
        await self._expect_sound()
        if self.done:
            raise EndRun(self.ending or "stopped")
        seats, name = self._seats, None if actor is None else self._named(actor)
        if self._alone and self.world.now(seats.session.state) is not None:
            await seats.until(lambda: bool(seats.turns))
            if name and name not in seats.turns and not self.done:
                raise UsageError(f"{name} may not act before {self.actor} has; act for {self.actor}")
        else:
            await seats.until(lambda: name in seats.turns if name else bool(seats.turns))
        await self._expect_sound()
        if self.done:
            raise EndRun(self.ending or "stopped")
        return name or next(iter(seats.turns))

    async def _expect_sound(self) -> None:
        """Take over the header when the run is over. Raises what failed it."""
        if not self._seats.over or self._task is None:
            return
        try:
            self._state.header = await asyncio.shield(self._task)
        except SequenceConflict as error:
            raise SequenceConflict(
                f"the run {self.id!r} is played elsewhere at the same time, and this action came too late: it was not "
                "done. Open the run again, and repeat it"
            ) from error
        if self._state.header.status == "failed":
            raise AgentError(self._state.header.error or "the run failed")

    def _change(self) -> float:
        """The gain of the first score since the beginning, as far as the state shows."""
        standing = self.world.facets.judging.standing(self._seats.session.state)
        return 0.0 if standing is None or self._standing is None else standing - self._standing

    async def _reward(self) -> float:
        if self.done:
            gained = next((score.value for score in await self.scores()), 0) - self._began_with
        else:
            gained = self._change()
        reward, self._rewarded = gained - self._rewarded, gained
        return reward


def called(verbs: Verbs, name: str, arguments: str | Mapping[str, Any] | None, text: str = "") -> Move:
    """The move of a call. UsageError for arguments that are no JSON."""
    given: str | Mapping[str, Any] = {} if arguments is None else arguments
    try:
        reply = json.dumps({"action": name, "arguments": given}, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the arguments of {name!r:.100} are no JSON: {error}") from error
    move = read_call(verbs, name, given, reply)
    return replace(move, said=text) if text else move


def ends_run(error: BaseException | None) -> bool:
    """Whether an exception, after the end of a run, is that end: also wrapped by a framework, or in a group.

    So is the cancellation of a loop, unless the task itself was cancelled.
    """
    if isinstance(error, asyncio.CancelledError):
        try:
            task = asyncio.current_task()
        except RuntimeError:  # plain code, whose `asyncio.run` was cancelled from within
            return True
        return task is not None and not task.cancelling()
    if isinstance(error, BaseExceptionGroup):
        return all(ends_run(inner) for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions)
    while error is not None:
        if isinstance(error, EndRun):
            return True
        error = error.__cause__
    return False


def first_score(world: World[Any], ledger: Ledger) -> float:
    """The first score of a record."""
    steps = replay(world, ledger)
    return next((score.value for scorer in world.scorers for score in scorer(steps)), 0)
