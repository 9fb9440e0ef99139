"""`arena`: players meet on common seeds in games with several seats, which rotate, and are put in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack, cast

from akinai import worlds
from akinai.analysis.ranking import SeatedGame, Standings, is_over, standings
from akinai.api.agent_options import resolve_options
from akinai.api.play import Playing, expect_use, parts_of, play_headers, read_header, warn_of_failures
from akinai.core.canonical import short_digest
from akinai.core.errors import UsageError
from akinai.core.stores import MOST_LABEL, Books, RunHeader
from akinai.core.worlds import World
from akinai.runtime.config.addresses import in_store
from akinai.runtime.config.calls import complete_options, given_of, with_options
from akinai.runtime.options import ArenaOptions, RunOptions
from akinai.runtime.play.agent_registry import BUILT_IN, agent_plugins
from akinai.runtime.play.driver import PlayContext
from akinai.runtime.play.estimate import Estimate, estimate_runs, together
from akinai.runtime.runs.planning import Part, begin_all, checked_name, plan_all
from akinai.runtime.runs.records import Runs
from akinai.runtime.runs.sweep import SweepPoint, sweep_of, sweep_points
from akinai.runtime.seal import load_optional


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

    @property
    def asks_model(self) -> bool:
        return any(part.spec.asks_model for part in self.parts)

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
    key = load_optional(options["key"])

    async def work(books: Books) -> Runs:
        headers = plan_all(games.world, games.parts, games.seeds, games.name, named=True, key=key)
        stored = {run.run_id: run for run in await books.runs() if sweep_of(run.card) == games.name}
        for header in headers:
            _expect_same(stored.get(header.run_id), header)
        fresh = [header for header in headers if header.run_id not in stored]
        going = [run for header in headers if (run := stored.get(header.run_id)) and not is_over(run)]

        async def begin() -> None:
            await begin_all(books, fresh, games.name)
            if key is not None:
                key.note(fresh)

        played = {run.id: run for run in await play_headers(books, [*going, *fresh], begin, playing)}
        return Runs(
            [
                played.get(header.run_id) or await read_header(books, stored[header.run_id], playing.detail)
                for header in headers
            ]
        )

    runs = warn_of_failures(in_store(playing.store, work, create=True))
    # Games of one order of players stand together, seed by seed, as they were planned.
    orders = [order for order in games.orders for _ in games.seeds]
    seated = [SeatedGame(run, games.seating(order)) for run, order in zip(runs, orders, strict=True)]
    return standings(games.name, games.players, seated)


def _expect_same(stored: RunHeader | None, planned: RunHeader) -> None:
    """UsageError where a game of the same name was another game, or had other players."""
    if stored is None:
        return
    names = ("agent_spec", "model", "label", "program")
    if stored.genesis != planned.genesis or any(stored.card.get(name) != planned.card.get(name) for name in names):
        raise UsageError(
            f"the game {planned.run_id!r} was played under other settings or by other players; choose another name"
        )


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
        parts += parts_of(world, named, whole, [point], open_models=open_models)
    expect_use(parts, given_of(ArenaOptions, options))
    setups = [part.prepared.preset_sha256 for part in parts]
    name = checked_name(options["name"] or f"arena-{short_digest([*players, *setups, options['days']])[:8]}")
    return Programme(world, tuple(players), orders, parts, range(1, options["rounds"] + 1), name)


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
