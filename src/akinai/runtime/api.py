"""What a person does with Akinai, as plain functions: the Python side of the command line, which calls these too.

Where `store` is not given, it is the one that every command uses: AKINAI_STORE, `akinai.toml`, or `akinai.db` here.
All of them work inside a running event loop, as in a notebook.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from akinai import worlds
from akinai.core.agents import AgentFactory
from akinai.core.errors import LedgerError, UsageError
from akinai.core.statistics import Comparison
from akinai.core.stores import RunHeader, Store
from akinai.core.trace import Books
from akinai.core.worlds import World
from akinai.runtime.analysis import Analysis, Wanted
from akinai.runtime.analysis_pairs import Contrast
from akinai.runtime.analysis_pairs import contrast as contrast_of
from akinai.runtime.analysis_pool import analyse, readers
from akinai.runtime.cast import Cast, cast_of
from akinai.runtime.casting import default_agent, expect_played_here
from akinai.runtime.config import prepare
from akinai.runtime.difference import Difference, difference
from akinai.runtime.experiment import (
    Part,
    begin_all,
    checked_name,
    checked_seeds,
    counted,
    expect_free,
    fresh_name,
    names_in,
    plan_all,
    seeds_in,
)  # fmt: skip
from akinai.runtime.export import csv_head, export_format, export_lines
from akinai.runtime.life import Fork, Verdict, begin_forks, can_go_on, check_replay, plan_fork
from akinai.runtime.life import verify as verify_run
from akinai.runtime.places import Place, place_of, with_store
from akinai.runtime.play import BY_NAME, Given, Progress
from akinai.runtime.processes import play_all
from akinai.runtime.runs import Run, Runs, meant, read_run, read_what_can_be, resolve
from akinai.runtime.stage import cast_asked, check_cast, known_prices, seated
from akinai.runtime.sweep import arms, sweep_of
from akinai.runtime.waiting import wait


class Stopped(KeyboardInterrupt):
    """Ctrl-C, or SIGTERM, while runs were played: `runs` holds what there is, and `resume` goes on from there."""

    def __init__(self, runs: Runs) -> None:
        super().__init__("stopped")
        self.runs = runs


def run(
    world: str | World[Any],
    *,
    agent: str | Cast | AgentFactory | None = None,
    model: str | None = None,
    base_url: str | None = None,
    seeds: int | str | Iterable[int] = 1,
    preset: str | None = None,
    days: int | None = None,
    settings: Mapping[str, Any] | Sequence[str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | Sequence[str] | None = None,
    store: str | Store = "memory:",
    name: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    ledgers: bool = True,
) -> Runs:
    """Play a world to its end with one agent, once for each seed, and score the runs.

    `agent` is a name as on the command line ("reference", "script:FILE"; the world's default player without one), a
    factory of agents, or a `Cast` that says all of models and limits. `model`, such as "openai:NAME", is asked by the
    agent "chat", or by "structured" where that is named. `seeds` is one seed, several, or text such as "1-5".
    `settings` go over the preset, by dotted names: {"demand.footfall": 40}, or as text ["demand.footfall=40"]. `sweep`
    plays all seeds under each value of a setting, {"search.limit": [3, 10]}, or under all pairs of several.

    The runs are called NAME-SEED, those of a sweep NAME-limit-3-SEED: NAME stands for them all, NAME-limit-3 for those
    of one value. `jobs` processes play at a time (runs that ask models: at once, in this one); the store must be one
    that they can open, and a script that asks for several keeps its own start under `if __name__ == "__main__"`. With
    `ledgers` False the runs do not hold their ledgers, 4 KB an entry.

    A run that breaks is in the result, with the status "failed" and its error. Raises UsageError, before anything is
    written, for whatever cannot be played as asked; StoreError; Stopped on Ctrl-C.
    """
    loaded = worlds.load(world) if isinstance(world, str) else world
    if not hasattr(loaded, "begin"):
        raise UsageError(f"a world is a name, such as 'vending', or a World, not {world!r:.100}")
    if not (agent is None or isinstance(agent, str | Cast) or callable(agent)):
        raise UsageError(f"an agent is a name, a Cast or a function of a role, not {agent!r:.100}")
    cast, factory = cast_asked(loaded, agent, model, base_url)
    chosen = _seeds(seeds)
    parts: list[Part] = []
    for arm in arms(sweep, settings, loaded.setup):
        prepared = prepare(loaded, preset=preset, days=days, settings=arm.settings, thinks=cast.thinks)
        parts.append(Part(arm, prepared, seated(cast, loaded, prepared.setup, base_url)))
    if name is not None:
        checked_name(name)
    given = Given(loaded if not isinstance(world, str) else None, factory)
    how = _How(store, jobs, progress, given, ledgers)

    async def work(books: Store) -> Runs:
        headers = plan_all(loaded, parts, chosen, name or fresh_name(await books.runs()))

        async def begin() -> None:
            await begin_all(books, headers)

        return await _play(books, headers, begin, how)

    return wait(with_store(store, work, create=True))


def resume(
    name: str, *, store: Place = None, jobs: int = 1, progress: Progress | None = None, ledgers: bool = True
) -> Runs:
    """Go on with a run, or the runs of a group, from the last entry. What ended in its world stays as it is.

    UnknownName for a name that is not there; AgentError and the like are in the runs, as `run` has it.
    """
    how = _How(place_of(store), jobs, progress, keep=ledgers)

    async def work(books: Store) -> Runs:
        headers = await resolve(books, [name])
        going = [header for header in headers if can_go_on(header)]
        for header in going:
            expect_played_here(header, f"'akinai serve --run {header.run_id}' goes on with it")
            check_cast(worlds.load(header.genesis.world), cast_of(header))
        new = {one.id: one for one in await _play(books, going, None, how)}
        return Runs([new.get(one.run_id) or await read_what_can_be(books, one, keep=ledgers) for one in headers])

    return wait(with_store(how.store, work))


def fork(
    name: str,
    *,
    at_day: int | None = None,
    after: int | None = None,
    agent: str | Cast | None = None,
    model: str | None = None,
    base_url: str | None = None,
    new_name: str | None = None,
    store: Place = None,
    jobs: int = 1,
    progress: Progress | None = None,
    ledgers: bool = True,
) -> Runs:
    """Begin anew from a point in a run's past, a day's morning or behind an entry, and play on from there.

    The fork is played by `agent`, asking `model`, or else by the agent of the run, with the playbook and the budget of
    the run unless `agent` is a `Cast`. It is called NAME-fork-1 and counting unless it has a new name. A group is
    forked run by run into a new group. Raises UsageError before anything is written.
    """
    how = _How(place_of(store), jobs, progress, keep=ledgers)
    if new_name is not None:
        checked_name(new_name)

    async def work(books: Store) -> Runs:
        headers, known = await resolve(books, [name]), await books.runs()
        called = new_name or counted(f"{name}-fork", names_in(known))
        forks: list[Fork] = []
        for header in headers:
            world, cast = worlds.load(header.genesis.world), cast_of(header)
            if agent is None and model is None:
                expect_played_here(header, f"name who plays on, such as --agent {default_agent(world)}")
            else:
                old = cast
                cast, _ = cast_asked(world, agent, model, base_url)
                cast = replace(cast, like=cast.like or old.model or old.like)
                if not isinstance(agent, Cast):  # only somebody else plays: what was learned and the limits stay
                    kept = {"bullets": old.bullets, "playbook": old.playbook, "playbook_tokens": old.playbook_tokens}
                    cast = replace(cast, budget=old.budget, **kept)
            cast = seated(cast, world, header.genesis.setup, base_url)
            check_cast(world, cast)
            alone = header.run_id == name
            id, group = (called, None) if alone else (f"{called}-{header.genesis.seed}", called)
            forks.append(await plan_fork(books, header, id, group=group, at_day=at_day, after=after, cast=cast))
        expect_free(known, [one.header for one in forks])

        async def begin() -> None:
            await begin_forks(books, forks)

        return await _play(books, [one.header for one in forks], begin, how)

    return wait(with_store(how.store, work))


def replay(name: str, *, store: Place = None, ledgers: bool = True) -> Runs:
    """Apply every recorded action of a run, or of a group's runs, again. ReplayMismatch names the first difference."""

    async def work(books: Store) -> Runs:
        runs: list[Run] = []
        for header in await resolve(books, [name]):
            try:
                one = await read_run(books, header)
                check_replay(one.ledger)
            except LedgerError as error:
                raise type(error)(error.entry, f"{error.why} (in run {header.run_id!r})") from error
            runs.append(one if ledgers else replace(one, kept=None))
        return Runs(runs)

    return wait(with_store(place_of(store), work))


def verify(*names: str, store: Place = None) -> dict[str, Verdict]:
    """Whether nobody edited the records of runs or groups, by the runs' ids."""

    async def work(books: Store) -> dict[str, Verdict]:
        return {
            header.run_id: Verdict(False, 0, header.damage) if header.damage else await verify_run(books, header)
            for header in await resolve(books, names, damaged=True)
        }

    return wait(with_store(place_of(store), work))


def runs(*names: str, store: Place = None, ledgers: bool = True) -> Runs:
    """Runs and groups by name, or all runs of a store, oldest first, scored from their ledgers.

    A run whose record is damaged or of another version's world says so as its `error` and has no scores.
    """

    async def work(books: Store) -> Runs:
        found = await resolve(books, names, damaged=True) if names else await books.runs()
        return Runs([await read_what_can_be(books, header, keep=ledgers) for header in found])

    return wait(with_store(place_of(store), work))


def analyze(
    *names: str,
    store: Place = None,
    jobs: int = 1,
    scale: bool | None = None,
    wanted: Wanted = Wanted(),  # noqa: B008 - a frozen record
    progress: Progress | None = None,
) -> Analysis:
    """Runs and groups by name, or all runs of a store, in groups of runs that were played alike: scores with their
    intervals, endings, findings, what the models took, and how far each group is from idle to reference.

    Idle and reference come from the store where it has them under the same settings; else they are played in memory,
    on at most 20 seeds; `scale` True asks for all seeds, False for none. `jobs` processes read at a time, each run
    once; `wanted` keeps more of each run; `progress` hears of every run, as in `run`. A run that cannot be read
    says so and stops nothing.
    """
    place = place_of(store)

    async def work(books: Store) -> Analysis:
        known = await books.runs()
        found = meant(known, names, damaged=True) if names else known
        url = place if isinstance(place, str) and not place.startswith("memory:") else None
        async with readers(cast("Books", books), url, jobs, known_prices()) as made:
            return await analyse(made, known, found, wanted, scale=scale, progress=progress)

    return wait(with_store(place, work))


def contrast(
    a: str, b: str, *, store: Place = None, jobs: int = 1, gain: float | None = None, progress: Progress | None = None
) -> Contrast:
    """Run or group b against a: every score and the findings, paired by seed, or by their means where no seed is
    common. `gain`, in dollars for money, asks how many seeds would show it.
    """
    if a == b:
        raise UsageError(f"{a!r} against itself differs in nothing; name two")
    both = analyze(a, b, store=store, jobs=jobs, scale=False, progress=progress)
    sides = tuple([run.id for run in both.runs if name in (run.id, run.group, sweep_of(run.card))] for name in (a, b))
    return contrast_of(both, (a, b), (sides[0], sides[1]), gain)


def headers(store: Place = None) -> Sequence[RunHeader]:
    """What is known of all runs beside their ledgers: quick, and without scores."""

    async def work(books: Store) -> Sequence[RunHeader]:
        return await books.runs()

    return wait(with_store(place_of(store), work))


def export(name: str, write: Callable[[str], None], *, format: str = "jsonl", store: Place = None) -> None:
    """Hand the entries of a run, or of a group's runs, to `write`, one line of text at a time: "jsonl" or "csv"."""
    chosen = export_format(format)
    if chosen == "magentic":
        raise UsageError("the format 'magentic' is a database, not lines; use export_magentic with a path")

    async def work(books: Store) -> None:
        headers = await resolve(books, [name])
        if chosen == "csv":
            write(csv_head())
        for header in headers:
            async for text in export_lines(books, header, chosen):
                write(text)

    wait(with_store(place_of(store), work))


def export_magentic(name: str, path: Path, *, store: Place = None) -> None:
    """Write a run of a market as the database of the public system, into a file that is not there yet."""
    from akinai.runtime.export_magentic import write_magentic

    async def work(books: Store) -> None:
        headers = await resolve(books, [name])
        if len(headers) > 1:
            raise UsageError(
                f"{name!r} stands for {len(headers)} runs, and such a database holds one; name one, "
                f"such as {headers[0].run_id!r}"
            )
        await write_magentic(cast("Books", books), headers[0], path)

    wait(with_store(place_of(store), work))


def compare(a: str | Runs, b: str | Runs, *, store: Place = None) -> dict[str, Comparison]:
    """Every score of b against a, paired by seed; groups or runs by name, or runs at hand.

    UsageError when nothing can be paired.
    """
    one = runs(a, store=store, ledgers=False) if isinstance(a, str) else a
    return one.compare(runs(b, store=store, ledgers=False) if isinstance(b, str) else b)


def diff(a: str | Run, b: str | Run, *, store: Place = None) -> Difference:
    """The first entry in which two runs differ, and their worlds day by day."""
    return difference(_one(a, store), _one(b, store))


def _one(which: str | Run, store: Place) -> Run:
    if isinstance(which, Run):
        return which

    async def work(books: Store) -> Run:
        found = await resolve(books, [which])
        if len(found) > 1:
            raise UsageError(f"{which!r} stands for {len(found)} runs; name one, such as {found[0].run_id!r}")
        return await read_run(books, found[0])

    return wait(with_store(place_of(store), work))


@dataclass(frozen=True, slots=True)
class _How:
    """How runs are played, and what is kept of them here."""

    store: str | Store
    jobs: int
    progress: Progress | None
    given: Given = BY_NAME
    keep: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs < 1:
            raise UsageError(f"jobs is a whole number of at least 1, not {self.jobs!r:.60}")
        if self.jobs > 1 and (not isinstance(self.store, str) or self.store.startswith("memory:")):
            raise UsageError("a store in memory belongs to one process; give a store such as 'akinai.db', or jobs=1")
        if self.jobs > 1 and self.given != BY_NAME:
            raise UsageError("a world or an agent given as an object plays in this process; give its name, or jobs=1")


async def _play(
    books: Store, headers: Sequence[RunHeader], begin: Callable[[], Awaitable[None]] | None, how: _How
) -> Runs:
    """The runs, begun and played. Cancelled, it raises Stopped with the runs as they stand."""
    given, keep = how.given, how.keep
    try:
        if begin:
            await begin()
        url = how.store if isinstance(how.store, str) else None
        played = play_all(books, headers, url=url, jobs=how.jobs, progress=how.progress, given=given, keep=keep)
        return Runs(await played)
    except asyncio.CancelledError:
        written = {one.run_id: one for one in await books.runs()}
        left: list[Run] = []
        for header in (written[one.run_id] for one in headers if one.run_id in written):
            if header.status == "open" and header.ending is None:
                header = replace(header, ending="stopped")
                await books.update(header)
            left.append(await read_what_can_be(books, header, given.world, keep=keep))
        raise Stopped(Runs(left)) from None


def _seeds(seeds: int | str | Iterable[int]) -> list[int]:
    if isinstance(seeds, str):
        return seeds_in(seeds)
    return checked_seeds([seeds] if isinstance(seeds, int) else iter(seeds))
