"""`arena`: players meet on common seeds in games with several seats, which rotate, and are put in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack, cast

from akinai import worlds
from akinai.analysis.ranking import SeatedGame, Standings, is_over, standings
from akinai.api.agent_options import resolve_options
from akinai.api.play import Playing, expect_use, parts_of, play_headers, read_header, warn_of_failures
from akinai.core.agents import owner_of
from akinai.core.canonical import Json, short_digest
from akinai.core.errors import UsageError
from akinai.core.stores import MOST_LABEL, Books, RunHeader
from akinai.core.untrusted.spelling import short_repr
from akinai.core.worlds import World
from akinai.runtime.config.addresses import in_store
from akinai.runtime.config.calls import complete_options, given_of, with_options
from akinai.runtime.options import ArenaOptions, RunOptions
from akinai.runtime.play.agent_registry import BUILT_IN, agent_plugins
from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice, spec_of
from akinai.runtime.play.driver import PlayContext
from akinai.runtime.play.estimate import Estimate, estimate_runs, together
from akinai.runtime.runs.planning import Part, begin_all, checked_name, plan_all
from akinai.runtime.runs.records import Run, Runs
from akinai.runtime.runs.sweep import SweepPoint, sweep_of, sweep_points, swept_values
from akinai.runtime.seal import Key, load_optional

NAME_MODEL_PLAYER = "name one among the players, such as openai:NAME"
"""What helps where an option of models is given and no player is one."""


@dataclass(frozen=True, slots=True)
class Programme:
    """The games that an arena plays on each seed."""

    world: World[Any]
    players: tuple[str, ...]
    orders: Sequence[tuple[str, ...]]
    """Who sits where, game by game."""
    parts: Sequence[Part]
    """The same as settings and agents."""
    seeds: Sequence[int]
    name: str
    key: Key | None

    @property
    def asks_model(self) -> bool:
        return any(part.spec.asks_model for part in self.parts)

    @property
    def agents(self) -> set[str]:
        """The agents of all games."""
        return {agent for part in self.parts for agent in part.spec.agents}

    def plan(self) -> list[RunHeader]:
        """The headers of the games: round by round, and in a round order by order."""
        planned = plan_all(self.world, self.parts, self.seeds, self.name, named=True, key=self.key)
        in_order = [planned[start :: len(self.seeds)] for start in range(len(self.seeds))]
        begun = planned[0].created_at
        rounds = [header for headers in in_order for header in headers]
        return [replace(header, created_at=begun + at) for at, header in enumerate(rounds)]

    def seating(self, order: Sequence[str]) -> Mapping[str, str]:
        """Players by the names of their seats."""
        return dict(zip(self.world.facets.sides.seats, order, strict=False))


@with_options(ArenaOptions)
def arena(players: Sequence[str], **options: Unpack[ArenaOptions]) -> Standings:
    """Let players meet in a game with several seats, on the same seeds and with seats that rotate; put them in order.

    A player is a player of the world, script:FILE, stdio:COMMAND, or a model such as "openai:NAME". A round is a seed:
    every group of `seats` players meets in as many games, in which each has each seat once. The same call goes on where
    it was stopped, also with more `rounds`; what is over is not played again. The other options are described by
    `akinai arena --help`. Raises UsageError before anything is written, StoreError, and Stopped on Ctrl-C.
    """
    games = programme(players, options)
    playing = Playing(
        options["store"], options["jobs"], options["progress"], PlayContext(), keep=False, on=options["on"], judged=True
    )
    reasons = dict[str, Mapping[str, str]]()

    async def work(books: Books) -> Runs:
        headers = games.plan()
        stored = {run.run_id: run for run in await books.runs() if sweep_of(run.card) == games.name}
        _expect_same(games.name, stored, headers)
        fresh = [header for header in headers if header.run_id not in stored]
        over = {run.run_id: run for run in stored.values() if is_over(run)}
        going = [
            header if header in fresh else _as_now(stored[header.run_id], header)
            for header in headers
            if header.run_id not in over
        ]

        async def begin() -> None:
            await begin_all(books, fresh, games.name)
            if games.key is not None:
                games.key.note(fresh)
            for header in going:
                if header.run_id in stored and header != stored[header.run_id]:
                    await books.update(header)

        played = {run.id: run for run in await play_headers(books, going, begin, playing)}
        runs = Runs(
            [
                played.get(header.run_id) or await read_header(books, over[header.run_id], playing.detail)
                for header in headers
            ]
        )
        for run in runs:
            reasons[run.id] = await _leavings(books, games.world, run)
        return runs

    runs = warn_of_failures(in_store(playing.store, work, create=True))
    orders = [order for _ in games.seeds for order in games.orders]
    seated = [SeatedGame(run, games.seating(order), reasons[run.id]) for run, order in zip(runs, orders, strict=True)]
    return standings(games.name, games.players, seated)


async def _leavings(books: Books, world: World[Any], run: Run) -> Mapping[str, str]:
    """Why players left a game that others went on with, by seat."""
    if not is_over(run.header) or run.trouble:
        return {}
    state = world.begin(run.header.genesis)
    leaving = (world.facets.seating.leaving_action(state, seat, "") for seat in world.facets.sides.seats)
    names = {type(action).__name__ for action in leaving if action is not None}
    return {
        seat: str(next(iter(entry.parameters.values()), ""))
        async for entry in books.read(run.id)
        if entry.name in names and (seat := owner_of(entry.actor)) in world.facets.sides.seats
    }


def _as_now(stored: RunHeader, planned: RunHeader) -> RunHeader:
    """The header of a game that goes on, with limits, addresses and other options as they are given now."""
    spec = replace(spec_of(planned), resumed_window=spec_of(stored).resumed_window)
    return replace(stored, card={**stored.card, **spec.card()})


def _expect_same(name: str, stored: Mapping[str, RunHeader], planned: Sequence[RunHeader]) -> None:
    """UsageError, which names the option, where games of an arena were played by others or in another way."""
    advice = "give it as before, or choose another --name"
    groups = {header.group for header in planned}
    if other := next((run for run in stored.values() if run.group not in groups), None):
        raise UsageError(
            f"the arena {name!r} has other players or --seats: the game {other.run_id!r}; choose another --name"
        )
    for header in planned:
        run = stored.get(header.run_id)
        if run is None:
            continue
        seated, players = (swept_values(game.card).get("seats") for game in (run, header))
        if seated != players:
            raise UsageError(f"the arena {name!r} was played by {_words(seated)}, not by {_words(players)}; {advice}")
        if run.genesis.world != header.genesis.world:
            raise UsageError(
                f"the arena {name!r} was played in {run.genesis.world}, and this is {header.genesis.world}; choose "
                "another --name"
            )
        before, now = (_play_options(spec_of(game), game.genesis.setup) for game in (run, header))
        option = next((option for option in {**now, **before} if before.get(option) != now.get(option)), None)
        if option:
            raise UsageError(
                f"the arena {name!r} was played with {option} {_words(before.get(option))}, not "
                f"{_words(now.get(option))}; {advice}"
            )
        if run.genesis != header.genesis:
            raise UsageError(f"the arena {name!r} was played with another --key, or with none; {advice}")


def _words(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else short_repr(value)


def _play_options(spec: AgentSpec, setup: Mapping[str, Json]) -> dict[str, Json]:
    """What decides the play of a game beside its players and its seed, by the option that gives it.

    How models are reached, how fast, and how much money may be spent decide only how far it comes.
    """
    model = spec.model or spec.model_defaults or ModelChoice("")
    of_models: dict[str, Json] = {
        "--agent": spec.agent if spec.asks_model else None, "--prompt": spec.prompt, "--memory": spec.memory,
        "--window": spec.window_tokens, "--sub-model": spec.sub_agents, "--temperature": model.temperature,
        "--reply-tokens": model.max_tokens, "--model-seed": model.seed,
    }  # fmt: skip
    return {
        "--days": setup.get("days"), "--max-actions": spec.budget.actions, "--max-repeats": spec.budget.repeats,
        **of_models, "the program of a player, of digest": spec.program or None, **dict(_leaves(setup, "--set ")),
    }  # fmt: skip


def _leaves(table: Mapping[str, Json], path: str) -> Iterator[tuple[str, Json]]:
    """The settings of a setup by dotted name."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(cast("Mapping[str, Json]", value), f"{path}{name}.")
        else:
            yield f"{path}{name}", value


@with_options(ArenaOptions)
def estimate_arena(players: Sequence[str], **options: Unpack[ArenaOptions]) -> Estimate:
    """What the games of models take: `akinai arena --dry-run`. UsageError if no model plays."""
    games = programme(players, options, open_models=False)
    parts = [
        estimate_runs(
            games.world, part.spec, games.seeds, preset=options["preset"], days=options["days"],
            settings=part.point.settings, jobs=options["jobs"],
        )
        for part in games.parts
        if part.spec.with_group_models(games.world, part.prepared.setup).group_models
    ]  # fmt: skip
    if not parts:
        raise UsageError("--dry-run tells what a model's games will take; name one among the players")
    sides = tuple(side for part in parts for side in part.sides)
    return replace(together(parts), sides=sides)


def programme(players: Sequence[str], options: ArenaOptions, *, open_models: bool = True) -> Programme:
    """The games of an arena. UsageError for players who cannot meet."""
    world = next(world for world in map(worlds.load, worlds.names()) if world.facets.sides.seats)
    orders = _orders(world, players, options["seats"])
    if options["rounds"] < 1:
        raise UsageError(f"{options['rounds']} rounds; play at least 1")
    seated = {player: _seat_of(world, player) for player in players}
    models = [player for player in players if "model" in seated[player]]
    spec_options: dict[str, Any] = {
        name: value for name, value in options.items() if name in RunOptions.__annotations__
    }
    spec_options |= {"agent": options["agent"], "model": models[0] if models else None, "sweep": None, "label": None}
    spec_options |= {"max_dollars": options["round_dollars"] / len(orders)}
    whole = cast("RunOptions", complete_options(RunOptions, spec_options))
    spec, _ = resolve_options(world, options["agent"], whole, options["settings"], open_models=open_models)
    fixed, parts = sweep_points(None, options["settings"], world.setup)[0].settings, list[Part]()
    tops = {table.partition(".")[0] for table in world.facets.sides.seats.values()}
    if taken := next((name for name in fixed if name.partition(".")[0] in tops), None):
        raise UsageError(f"the arena says who sits where; leave the setting {taken!r} out")
    for order in orders:
        settings: dict[str, Any] = {**fixed}
        for table, player in zip(world.facets.sides.seats.values(), order, strict=False):
            settings[table] = seated[player]
        point = SweepPoint(settings, {"seats": [*order]}, "-".join(str(players.index(player) + 1) for player in order))
        named = replace(spec, label=", ".join(order)[:MOST_LABEL].rstrip())
        parts += parts_of(world, named, whole, [point], open_models=open_models, advice=NAME_MODEL_PLAYER)
    expect_use(parts, given_of(ArenaOptions, options), NAME_MODEL_PLAYER)
    key = load_optional(options["key"])
    name = checked_name(options["name"] or f"arena-{_play_digest(world, orders, parts, key)[:8]}")
    return Programme(world, tuple(players), orders, parts, range(1, options["rounds"] + 1), name, key)


def _play_digest(world: World[Any], orders: Sequence[Sequence[str]], parts: Sequence[Part], key: Key | None) -> str:
    """A digest of all that decides the play of an arena, but for the number of its rounds."""
    ways = [_play_options(part.spec, part.prepared.setup) for part in parts]
    return short_digest([world.name, [[*order] for order in orders], ways, key.commitment if key else None])


def _orders(world: World[Any], players: Sequence[str], seats: int | None) -> Sequence[tuple[str, ...]]:
    """Every group of players in every rotation of its seats."""
    most = len(world.facets.sides.seats)
    if len({*players}) < len(players):
        twice = next(player for player in players if players.count(player) > 1)
        raise UsageError(f"the player {twice!r} is there twice; name each once")
    if len(players) < 2:
        raise UsageError(f"an arena wants two players or more, and there is {len(players)}")
    seats = min(len(players), most) if seats is None else seats
    if not 2 <= seats <= min(len(players), most):
        raise UsageError(f"{seats} seats for {len(players)} players; give 2 to {min(len(players), most)}")
    return [(*group[turn:], *group[:turn]) for group in combinations(players, seats) for turn in range(len(group))]


def _seat_of(world: World[Any], player: str) -> Mapping[str, str]:
    """The settings of the seat of a player: an agent, or else a model of a provider."""
    kind, colon, _ = player.partition(":")
    kinds = {name.partition(":")[0] for name in BUILT_IN} | {*agent_plugins()}
    is_model = bool(colon) and player not in world.players and kind not in kinds
    return {"model": player} if is_model else {"agent": player}
