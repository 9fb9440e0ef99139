"""Functions that explain a run: why."""

from akinai.core.errors import UsageError
from akinai.core.stores import Books
from akinai.runtime.config.addresses import StoreRef, resolve_store, shared_url, with_store
from akinai.runtime.runs.reading import find_run
from akinai.runtime.runs.work import check_jobs
from akinai.runtime.sync import wait
from akinai.runtime.why.explain import Progress, WhyOptions, explain
from akinai.runtime.why.explanation import Explanation

LEAST_FUTURES = 4


def why(
    run: str,
    *,
    agent: str | None = None,
    actor: str | None = None,
    futures: int = 8,
    budget: int = 600,
    jobs: int = 1,
    on: str | None = None,
    store: StoreRef = None,
    progress: Progress | None = None,
) -> Explanation:
    """Which decisions of a run made and cost most: each day is replaced by what `agent` would have done.

    `agent` is a rule-based player of the world, by default its first; it also plays the rest of every branch, with the
    same chance in both. In a market what each participant did is replaced, entry by entry, and everybody is played by
    rules from there on; `actor` looks at the decisions of one participant, by what it gained itself.

    `futures` redrawn futures give the intervals. `budget` bounds the branches that are played (0 does not); what was
    played is kept beside the run, and the next call goes on from there. `jobs` processes play them, or the engine `on`,
    as in `run`.

    UnknownName for a run, a player or an actor that is not there, UsageError for a run that cannot be explained.
    """
    if futures < LEAST_FUTURES:
        raise UsageError(f"an interval needs at least {LEAST_FUTURES} futures, not {futures}")
    if budget < 0:
        raise UsageError(f"a budget is a number of branches from 0, which is no limit, not {budget}")
    check_jobs(jobs)
    options, place = WhyOptions(agent, actor, futures, budget, jobs, on), resolve_store(store)

    async def work(books: Books) -> Explanation:
        return await explain(books, await find_run(books, run), options, progress, shared_url(place))

    return wait(with_store(place, work))
