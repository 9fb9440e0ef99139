"""Functions that play: run, resume, fork; and the estimate of what a run of models will take."""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from akinai import worlds
from akinai.api.agent_options import resolve_options
from akinai.core.errors import RunFailedWarning, UsageError
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import World
from akinai.runtime.config.addresses import in_store, resolve_store, shared_url
from akinai.runtime.config.calls import given_of, with_options
from akinai.runtime.config.settings import prepare
from akinai.runtime.options import ForkOptions, ResumeOptions, RunOptions, Seeds
from akinai.runtime.play.agent_registry import (
    NAME_MODEL,
    check_spec,
    default_agent,
    expect_local_agent,
    expect_tools,
    refuse_unused,
    resolve_agent,
    resolve_group_models,
)
from akinai.runtime.play.agent_spec import AgentSpec, spec_of, with_window
from akinai.runtime.play.driver import BY_NAME, PlayContext, Progress
from akinai.runtime.play.estimate import Estimate, estimate_runs
from akinai.runtime.play.program import command_digest
from akinai.runtime.runs.lifecycle import Fork, begin_forks, can_resume, plan_fork
from akinai.runtime.runs.planning import (
    Part,
    begin_all,
    checked_name,
    checked_seeds,
    expect_actors,
    expect_free,
    fresh_name,
    names_in,
    numbered_name,
    plan_all,
    seeds_in,
    shard_of,
)
from akinai.runtime.runs.playing import play_all
from akinai.runtime.runs.processes import expect_guard
from akinai.runtime.runs.reading import DAMAGE, Detail, find_runs, loader, read_run
from akinai.runtime.runs.records import Run, Runs
from akinai.runtime.runs.sweep import SweepPoint, sweep_points
from akinai.runtime.runs.work import Executor, check_jobs, open_executor
from akinai.runtime.seal import Key, expect_key, load_optional

MODEL_OPTIONS = ("window", "memory", "max_tokens", "max_dollars", "round_dollars", "calls_per_minute")
"""Options of a run that nobody but a model uses; its sampling is refused with its spec."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C, or SIGTERM, while runs were played: `runs` holds what there is, and `resume` goes on from there."""

    def __init__(self, runs: Runs) -> None:
        super().__init__("stopped")
        self.runs = runs


@with_options(RunOptions)
def run(world: str | World[Any], **options: Unpack[RunOptions]) -> Runs:
    """Play a world to its end with one agent, once for each seed, and score the runs.

    `agent` is a name ("reference", "script:FILE"), a factory of agents, or an `AgentSpec` that holds its model and
    limits. `settings` go over the preset, {"demand.footfall": 40} or ["demand.footfall=40"]; `sweep` plays all seeds
    under each value, {"search.limit": [3, 10]}, or under all pairs of several. The other options are described by
    `akinai run --help`. The runs are called NAME-SEED, those of a sweep NAME-limit-3-SEED. A script that asks for
    several `jobs` needs `if __name__ == "__main__"`. `shard` "2/8" plays the second eighth of the seeds; `merge` brings
    the shards' stores together. `on` "ray" or "ray://HOST:PORT" has a Ray cluster play, from a PostgreSQL store.
    `ledgers` False keeps no ledgers, 4 KB an entry. With `key`, the file of a key, games are sealed and `seeds` are
    their numbers.

    A run that breaks is in the result, as "failed" with its error. Where the code of an agent or a world raised an
    exception, a RunFailedWarning shows the traceback; with `raise_errors` the exception is raised, once the run is in
    the store. Raises UsageError, before anything is written, for what cannot be played; StoreError; Stopped on Ctrl-C.
    """
    loaded, name = _load(world), options["name"]
    spec, factory = resolve_options(loaded, options["agent"], options, options["settings"])
    seeds = _seeds(options["seeds"])
    if options["shard"] is not None:
        seeds = shard_of(seeds, options["shard"], name)
    context = PlayContext(None if isinstance(world, str) else loaded, factory, raise_errors=options["raise_errors"])
    playing = playing_of(options, options["store"], context)
    parts = parts_of(loaded, spec, options)
    expect_use(parts, given_of(RunOptions, options))
    begun = _Begun(
        loaded, parts, seeds, checked_name(name) if name is not None else None, load_optional(options["key"])
    )
    return warn_of_failures(_begin_and_play(begun, playing))


@with_options(RunOptions)
def estimate(world: str | World[Any], **options: Unpack[RunOptions]) -> Estimate:
    """Estimate the calls, tokens, time and money that `run` takes: `akinai run --dry-run`. Nothing is played."""
    loaded, settings = _load(world), options["settings"]
    spec, _ = resolve_options(loaded, options["agent"], options, settings, open_models=False)
    if options["sweep"]:
        raise UsageError("--dry-run tells of one value at a time; give it with --set in the place of --sweep")
    return estimate_runs(
        loaded,
        spec,
        _seeds(options["seeds"]),
        preset=options["preset"],
        days=options["days"],
        settings=settings or (),
        jobs=options["jobs"],
    )


def parts_of(
    world: World[Any],
    spec: AgentSpec,
    options: RunOptions,
    points: Sequence[SweepPoint] | None = None,
    *,
    open_models: bool = True,
    advice: str = NAME_MODEL,
) -> list[Part]:
    """The points of a sweep with their setups, or the only point without one; `points` in place of those of options.
    `advice` as for `resolve_group_models`."""
    parts: list[Part] = []
    for point in points or sweep_points(options["sweep"], options["settings"], world.setup):
        prepared = prepare(
            world, preset=options["preset"], days=options["days"], settings=point.settings, thinks=spec.asks_model
        )
        expect_actors(world, prepared)
        resolved = resolve_group_models(
            spec, world, prepared.setup, options["base_url"], open_models=open_models, advice=advice
        )
        expect_tools(world, prepared.setup, resolved)
        parts.append(Part(point, prepared, resolved))
    return parts


def expect_use(parts: Sequence[Part], given: Sequence[str], advice: str = NAME_MODEL) -> None:
    """UsageError, which ends in the advice, for options that were given and that only a model, or for `timeout` a
    program, would use."""
    if any(part.spec.asks_model or part.spec.sub_agents for part in parts):
        return
    of_programs = () if any(part.spec.programs for part in parts) else ("timeout",)
    refuse_unused([f"--{name.replace('_', '-')}" for name in (*MODEL_OPTIONS, *of_programs) if name in given], advice)


@dataclass(frozen=True, slots=True)
class _Begun:
    """The runs that a command begins."""

    world: World[Any]
    parts: Sequence[Part]
    seeds: Sequence[int]
    name: str | None
    """The name that a person gave them."""
    key: Key | None

    def plan(self, stored: Sequence[RunHeader]) -> list[RunHeader]:
        """Their headers."""
        name, named = self.name or fresh_name(stored), self.name is not None
        return plan_all(self.world, self.parts, self.seeds, name, named=named, key=self.key)


def _begin_and_play(begun: _Begun, playing: "Playing") -> Runs:
    async def work(books: Books) -> Runs:
        headers = begun.plan(await books.runs())

        async def begin() -> None:
            await begin_all(books, headers)
            if begun.key is not None:
                begun.key.note(headers)

        return await play_headers(books, headers, begin, playing)

    return in_store(playing.store, work, create=True)


def _load(world: str | World[Any]) -> World[Any]:
    loaded = worlds.load(world) if isinstance(world, str) else world
    if not hasattr(loaded, "begin"):
        raise UsageError(f"a world is a name, such as 'vending', or a World, not {world!r:.100}")
    return loaded


@with_options(ResumeOptions)
def resume(run: str, **options: Unpack[ResumeOptions]) -> Runs:
    """Continue a run, or the runs of a group, from the last entry. A run that ended in its world stays as it is, and so
    does one of other rules beside others.

    UnknownName for a name that is not there; AgentError and the like are in the runs, as `run` has it.
    """
    playing, key = playing_of(options, resolve_store(options["store"])), load_optional(options["key"])

    async def work(books: Books) -> Runs:
        headers = await find_runs(books, [run])
        expect_key(key, headers, "going on with")
        window = options["window"]
        if window is not None:
            if not any(map(can_resume, headers)):
                raise UsageError(f"{run!r} is over, so --window would do nothing; leave it out")
            headers = [with_window(header, window) if can_resume(header) else header for header in headers]
        going = [header for header in headers if can_resume(header)]
        here: list[RunHeader] = []
        for header in going:
            try:
                world = worlds.load(header.genesis.world)
            except UsageError as error:
                if header is going[-1] and not here:
                    raise UsageError(f"run {header.run_id!r} cannot be resumed: {error}") from error
                continue
            expect_local_agent(header)
            check_spec(world, spec_of(header))
            here.append(header)
        going = here
        if key is not None:
            key.note(headers)
        played = {done.id: done for done in await play_headers(books, going, None, playing)}
        return Runs(
            [played.get(header.run_id) or await read_header(books, header, playing.detail) for header in headers]
        )

    return warn_of_failures(in_store(playing.store, work))


@with_options(ForkOptions)
def fork(run: str, **options: Unpack[ForkOptions]) -> Runs:
    """Make a run that shares a run's past up to a point, a day's morning or after an entry, and play on from there.

    The fork is played by `agent`, asking `model`, or else by the agent of the run, with the playbook and the budget of
    the run, and models with its window and memory, unless `agent` is an `AgentSpec`; `max_dollars` gives it another
    limit. Whom the settings name for an actor plays on. It is called RUN-fork-1, then -2, ..., or `name`. A group is
    forked run by run into a new group; `jobs` and `on` are as in `run`. Raises UsageError before anything
    is written.
    """
    playing, name = playing_of(options, resolve_store(options["store"])), options["name"]
    key = load_optional(options["key"])
    point = {"at_day": options["at_day"], "after": options["after"]}
    if name is not None:
        checked_name(name)

    async def work(books: Books) -> Runs:
        headers, stored = await find_runs(books, [run]), await books.runs()
        expect_key(key, headers, "forking")
        fork_name = name or numbered_name(f"{run}-fork", names_in(stored))
        forks: list[Fork] = []
        for header in headers:
            spec = _fork_spec(header, options)
            alone = header.run_id == run
            id, group = (fork_name, None) if alone else (f"{fork_name}-{header.number}", fork_name)
            forks.append(await plan_fork(books, header, id, group=group, spec=spec, **point))
        expect_free(stored, [planned.header for planned in forks])

        async def begin() -> None:
            await begin_forks(books, forks)
            if key is not None:
                key.note([planned.header for planned in forks])

        return await play_headers(books, [planned.header for planned in forks], begin, playing)

    return warn_of_failures(in_store(playing.store, work))


def playing_of(
    options: RunOptions | ResumeOptions | ForkOptions, store: str | Books, context: PlayContext | None = None
) -> "Playing":
    """Where and how runs are played, as the options say."""
    context = context or PlayContext(raise_errors=options["raise_errors"])
    return Playing(store, options["jobs"], options["progress"], context, options["ledgers"], options["on"])


def _fork_spec(header: RunHeader, options: ForkOptions) -> AgentSpec:
    """The agent that plays a fork of a run. UsageError for one that cannot."""
    agent, model, base_url = options["agent"], options["model"], options["base_url"]
    world, old = worlds.load(header.genesis.world), spec_of(header)
    if agent is None and model is None:
        expect_local_agent(header, f"name who plays on, such as --agent {default_agent(world)}")
        spec = old
    else:
        spec, _ = resolve_agent(world, agent, model, base_url)
        resolved = spec.with_group_models(world, header.genesis.setup)
        advice = f"who plays them in {header.run_id!r} plays on; leave agent and model out"
        resolved.expect_actor(world, world.begin(header.genesis), advice)
        if resolved.asks_model:
            spec = replace(spec, model_defaults=spec.model_defaults or old.model or old.model_defaults)
        if not isinstance(agent, AgentSpec):  # it keeps the playbook, the limits, and how models are asked
            spec = replace(
                spec, budget=old.budget, bullets=old.bullets, playbook=old.playbook, embedder=old.embedder,
                playbook_tokens=old.playbook_tokens, embedder_base_url=old.embedder_base_url,
                program=command_digest(spec.agent), timeout_s=old.timeout_s,
                agent_user=old.agent_user if resolved.programs else "",
            )  # fmt: skip
            if resolved.asks_model:
                spec = replace(
                    spec, prompt=old.prompt, memory=old.memory, cache=old.cache, calls_per_minute=old.calls_per_minute,
                    window_tokens=old.resumed_window or old.window_tokens,
                    sub_agents=old.sub_agents if spec.model else None,
                )  # fmt: skip
    if options["max_dollars"] is not None:
        spec = replace(spec, budget=replace(spec.budget, dollars=options["max_dollars"]))
    spec = resolve_group_models(spec, world, header.genesis.setup, base_url)
    expect_tools(world, header.genesis.setup, spec)
    unused = {"--base-url": base_url, "--max-dollars": options["max_dollars"]}
    if not spec.asks_model:
        refuse_unused([flag for flag, value in unused.items() if value])
    check_spec(world, spec)
    return spec


@dataclass(frozen=True, slots=True)
class Playing:
    """Where and how runs are played, and whether their ledgers are kept here."""

    store: str | Books
    jobs: int
    progress: Progress | None
    context: PlayContext = BY_NAME
    keep: bool = True
    on: str | None = None
    judged: bool = False
    """Whether every finding is wanted."""

    @property
    def detail(self) -> Detail:
        return Detail(ledger=self.keep, judged=self.judged, findings=self.judged)

    @property
    def executor(self) -> Executor | None:
        """The engine that plays; None where this machine does."""
        return None if self.on is None else open_executor(self.on, self.jobs)

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        if self.jobs > 1 and self.on is None:
            expect_guard()
        if self.jobs > 1 and shared_url(self.store) is None:
            raise UsageError("a store in memory belongs to one process; give a store such as 'akinai.db', or one job")
        if self.jobs > 1 and replace(self.context, raise_errors=False) != BY_NAME:
            raise UsageError("a world or an agent given as an object plays in this process; give its name, or jobs=1")
        if (executor := self.executor) is not None:
            if replace(self.context, raise_errors=False) != BY_NAME:
                raise UsageError(
                    "a world or an agent given as an object plays in this process; name it, or leave out on"
                )
            executor.check_store(shared_url(self.store) or "memory:")


async def read_header(books: Books, header: RunHeader, detail: Detail, world: World[Any] | None = None) -> Run:
    """A run for a listing: one that cannot be scored here has its `trouble`."""
    return await read_run(books, header, detail, load=loader(world), trouble=DAMAGE)


async def play_headers(
    books: Books, headers: Sequence[RunHeader], begin: Callable[[], Awaitable[None]] | None, playing: Playing
) -> Runs:
    """Begin runs and play them. When it is cancelled it raises Stopped with the runs as they are then."""
    context = playing.context
    try:
        if begin:
            await begin()
        url = playing.store if isinstance(playing.store, str) else None
        played = play_all(
            books, headers, url=url, jobs=playing.jobs, progress=playing.progress, context=context,
            detail=playing.detail, executor=playing.executor,
        )  # fmt: skip
        return Runs(await played)
    except asyncio.CancelledError:
        stored = {header.run_id: header for header in await books.runs()}
        begun: list[Run] = []
        for header in (stored[planned.run_id] for planned in headers if planned.run_id in stored):
            if header.status == "open" and header.ending is None:
                header = replace(header, ending="stopped")
                await books.update(header)
            begun.append(await read_header(books, header, playing.detail, context.world))
        raise Stopped(Runs(begun)) from None


def warn_of_failures(runs: Runs) -> Runs:
    """The runs, after a RunFailedWarning to the caller of `run`, `resume` or `fork` where code failed some of them."""
    crashed = [run for run in runs if run.status == "failed" and run.traceback]
    if crashed:
        first = crashed[0]
        warnings.warn(
            f"{len(crashed)} of {len(runs)} runs failed, as {first.id!r}: {first.reason}; Run.error holds this "
            f"traceback, raise_errors=True raises its exception\n\n{first.traceback}",
            RunFailedWarning,
            stacklevel=4,  # past `with_options`
        )
    return runs


def _seeds(seeds: Seeds) -> list[int]:
    if isinstance(seeds, str):
        return seeds_in(seeds)
    return checked_seeds([seeds] if isinstance(seeds, int) else iter(seeds))
