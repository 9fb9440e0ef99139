"""Functions that explain a run: why."""

from typing import Unpack

from akinai.core.errors import UsageError
from akinai.core.stores import Books
from akinai.runtime.config.addresses import in_store, resolve_store, shared_url
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import WhyOptions
from akinai.runtime.runs.reading import find_run
from akinai.runtime.runs.work import check_jobs
from akinai.runtime.why.explain import WhyConfig, explain
from akinai.runtime.why.explanation import Explanation

LEAST_FUTURES = 4


@with_options(WhyOptions)
def why(run: str, **options: Unpack[WhyOptions]) -> Explanation:
    """Find the decisions of a run that made and cost most: each day is replaced by what `agent` would have done.

    `agent` is a rule-based player of the world, by default its first; it also plays the rest of every branch, with the
    same chance in both. In a market what each participant did is replaced, entry by entry, and everybody is played by
    rules from there on; `actor` looks at the decisions of one participant, by what it gained itself.

    `futures` redrawn futures give the intervals. `budget` bounds the branches that are played (0 does not); what was
    played is kept beside the run, and the next call goes on from there. `jobs` processes play them, or the engine `on`,
    as in `run`.

    With `conduct` the findings of conduct are taken out one by one, or replaced by what an honest actor would have
    done, and the rest of the record is played again, without an `agent`: what each gained its actor. A branch is then a
    finding in a future.

    UnknownName for a run, a player or an actor that is not there, UsageError for a run that cannot be explained.
    """
    futures, budget, jobs = options["futures"], options["budget"], options["jobs"]
    if futures < LEAST_FUTURES:
        raise UsageError(f"an interval needs at least {LEAST_FUTURES} futures, not {futures}")
    if budget < 0:
        raise UsageError(f"a budget is a number of branches from 0, which is no limit, not {budget}")
    if options["conduct"] and options["agent"] is not None:
        raise UsageError("with conduct all else is as recorded and no player plays on: leave out agent or conduct")
    check_jobs(jobs)
    config = WhyConfig(options["agent"], options["actor"], futures, budget, jobs, options["on"], options["conduct"])
    address = resolve_store(options["store"])

    async def work(books: Books) -> Explanation:
        return await explain(books, await find_run(books, run), config, options["progress"], shared_url(address))

    return in_store(address, work)
