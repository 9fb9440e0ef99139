"""Runs that a person plays: the person's actor, and the session that takes the moves."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akinai import worlds
from akinai.agents.human import HumanAgent
from akinai.agents.terminal import open_terminal
from akinai.api.opening import open_session, plan_session
from akinai.api.session import AsyncSession
from akinai.core.agents import Move
from akinai.core.errors import EndRun
from akinai.core.ledger import Genesis
from akinai.core.options import part_of
from akinai.core.stores import RunHeader
from akinai.core.worlds import World, participants
from akinai.report.language import chosen_language, translate_lines
from akinai.runtime.config.addresses import StoreRef
from akinai.runtime.config.settings import Settings, prepare
from akinai.runtime.options import OpenOptions
from akinai.runtime.play.agent_registry import HELD, HUMAN, SESSION_AGENT, seats_of
from akinai.runtime.runs.lifecycle import can_resume
from akinai.runtime.seal import load_optional


@dataclass(frozen=True, slots=True)
class Game:
    """The run that a person asks to play: a new one, or one to go on with."""

    world: str | None = None
    preset: str | None = None
    seed: int = 1
    key: str | Path | None = None
    days: int | None = None
    settings: Settings = None
    name: str | None = None
    resume: str | None = None
    hold: str | None = None
    """The actor that the person is."""
    rest: str | None = None


async def open_game(game: Game, store: StoreRef) -> AsyncSession:
    """The session of a person. Without `hold` the person is the owner, or the first of the world's first side, unless
    the settings name who plays it."""
    return await open_session(game.world, {**_options(game), "store": store}, played_by=HUMAN)


def check_game(game: Game) -> None:
    """UsageError for a new run that cannot be played; nothing is written."""
    if game.world is not None:
        plan_session(worlds.load(game.world), HUMAN, _options(game), load_optional(game.key))


def _options(game: Game) -> OpenOptions:
    options: OpenOptions = part_of(OpenOptions, {})
    options["preset"], options["seed"], options["days"] = game.preset, game.seed, game.days
    options["settings"], options["name"], options["resume"] = game.settings, game.name, game.resume
    options["key"] = game.key
    options["hold"], options["rest"] = [game.hold] if game.hold else None, game.rest
    if game.world is not None and game.resume is None:
        world = worlds.load(game.world)
        options["max_repeats"] = 0  # a person may look twice
        options["hold"] = options["hold"] or _seat(world, game)
    return options


def _seat(world: World[Any], game: Game) -> list[str] | None:
    """The actor to hold, the first of the first side for whom nobody plays; None where there is only one, or none."""
    setup = prepare(world, preset=game.preset, days=game.days, settings=game.settings or ()).setup
    state, spec = world.begin(Genesis(world.name, game.seed, setup)), seats_of(world, setup)
    free = [actor for actor in participants(world, state) if not spec.is_taken(world, state, actor)]
    if len(free) < 2:
        return None
    side, group = next(iter(world.facets.sides.groups), ""), world.facets.seating.group
    return sorted(actor for actor in free if group(state, actor) == side)[:1] or free[:1]


def is_persons(header: RunHeader) -> bool:
    """Whether a person can go on with a run: it was begun by one, or through a session, and is not over."""
    through_session = header.player == SESSION_AGENT and HELD in header.card
    return (header.player == HUMAN or through_session) and can_resume(header)


def translate_terminal() -> None:
    """Let this process's terminal speak the chosen language."""
    open_terminal().translate = lambda text: translate_lines(text, chosen_language())


async def play_at_terminal(session: AsyncSession) -> None:
    """Let the person at this process's terminal play a session until it is over, or the person leaves."""
    translate_terminal()
    agents: dict[str, HumanAgent] = {}
    world, ledger = session.world, (await session.run()).ledger
    opening, last = world.begin(ledger.genesis), session.outcome
    while (actor := session.actor) is not None:
        if actor not in agents:
            voice = world.facets.presentation.voice(opening, actor)
            agents[actor] = HumanAgent(world.verbs, open_terminal(), voice)
            for entry in ledger.entries:
                if entry.actor == actor:
                    move = Move(world.verbs.recorded(entry.name, entry.parameters), entry.said)
                    await agents[actor].remember(session.view(actor), last, move)
                    last = entry.outcome
        try:
            last = await session.take(await agents[actor].act(session.view(actor), last), actor)
        except EndRun:
            return
        if session.done:
            agents[actor].tell(last)
