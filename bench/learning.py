"""Times the learner beside its budgets: search, index, and the whole of learning and judging questions.

python bench/learning.py [--full] [--data DIR]: DIR holds train-v1.3.json and valid-v1.3.json of JCommonsenseQA; without
it the product's own questions are learned. --full adds 100,000 bullets (two minutes, 3 GB of memory).
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on a busy machine several threads wait for each other

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from rank_bm25 import BM25Okapi

from akinai.learning import Bullet, Playbook, PlaybookFile, PlaybookIndex, SearchQuery, Section, open_index
from akinai.learning.extras import extra_installed
from akinai.learning.playbook.file import Edit
from akinai.retrieval import tokenize
from akinai.runtime.learn.data_sets import find_data_set
from akinai.runtime.learn.learner import learn
from retrieval import QUERIES, line, texts, times

BUDGETS_MS = {1_000: None, 10_000: 10.0, 100_000: 50.0}
"""Budget for the 99th percentile of a search, by number of bullets."""

MOST_BESIDE = 10_000
"""Bullets up to which rank-bm25 is timed beside."""

LOOP_BUDGET_S = 120.0
"""To learn the 8,939 questions of train and judge the 1,119 of validation, on two cores."""

SHARE_BUDGET = 0.1
"""The greatest share of the whole playbook's tokens in the context of a task."""


def playbook_of(size: int) -> Playbook:
    """Made-up bullets in one section."""
    numbered = enumerate(texts(size, (8, 30), 1), 1)
    bullets = tuple(Bullet(f"con-{n:06}", "concepts", text, tuple(text.split()[:3])) for n, text in numbered)
    return Playbook((Section("concepts", "", bullets),), size + 1)


def took(label: str, work: Callable[[], object]) -> None:
    """Run once and print the milliseconds."""
    start = perf_counter()
    work()
    print(f"{label:<52}{(perf_counter() - start) * 1e3:>10.0f}")


def searches(size: int, budget_ms: float | None) -> None:
    """Search at one size, beside rank-bm25 over the same words, and what the index costs to make, keep and load."""
    print(f"\n{size:,} bullets")
    playbook, queries = playbook_of(size), texts(QUERIES, (2, 7), 2)
    start = perf_counter()
    index = PlaybookIndex(playbook)
    print(f"{'build the index':<52}{(perf_counter() - start) * 1e3:>10.0f}")
    line("search, words and vectors", times(lambda q: index.search(SearchQuery(q)), queries), budget_ms)
    line("search, words alone", times(lambda q: index.search(SearchQuery(q), alpha=0.0), queries), budget_ms)
    if size <= MOST_BESIDE:
        beside(playbook, queries)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "playbook.json"
        took("save the playbook", lambda: PlaybookFile(path).change("import", lambda _: Edit(playbook)))
        took("load the playbook", lambda: PlaybookFile(path).load())
        took("index it and save the index", lambda: open_index(playbook, path))
        took("load the index", lambda: open_index(playbook, path))


def beside(playbook: Playbook, queries: list[str]) -> None:
    """The same with rank-bm25, which looks at every document for every word: above 10,000 a search takes seconds."""
    start = perf_counter()
    other = BM25Okapi([tokenize(bullet.searchable_text) for bullet in playbook])
    print(f"{'rank-bm25: build':<52}{(perf_counter() - start) * 1e3:>10.0f}")
    line(
        "rank-bm25: search, words alone",
        times(lambda q: other.get_top_n(tokenize(q), range(len(playbook)), 10), queries[:100]),
    )


def loop(data: Path | None, *, extra: bool, limit: int = 0) -> None:
    """Learn and judge questions once, and print what it came to."""
    files = {"data": str(data / "train-v1.3.json"), "eval": str(data / "valid-v1.3.json")} if data else {}
    data_set = find_data_set("qa", {**files, "extra": extra})
    wall, cpu = perf_counter(), process_time()
    with TemporaryDirectory() as folder:
        learned = learn(data_set, playbook=Path(folder) / "playbook.json", settings={"limit": limit})
        wall, cpu = perf_counter() - wall, process_time() - cpu
        document: dict[str, Any] = learned.to_json()
    tasks = sum(epoch.counts.tasks for epoch in learned.epochs)
    index_kind = "SudachiPy and SVD" if extra else "plain words, hashed vectors"
    print(f"\n{tasks:,} questions learned, {document['accuracy']['n']:,} judged: {index_kind}")
    for name in ("baseline_accuracy", "accuracy", "clean_accuracy"):
        share = document[name]
        if share["ci95"] is None:
            print(f"{name:<52}  no interval, n = {share['n']:,}")
            continue
        low, high = share["ci95"]
        print(f"{name:<52}{share['value']:>10.1%}  {low:.1%} to {high:.1%}, n = {share['n']:,}")
    tokens, pairs = document["tokens"], document["paired"]
    share = tokens["injected"] / tokens["injected_all"]
    print(f"{'gain, tasks won and lost':<52}{pairs['gain']:>+10.1%}  {pairs['wins']} and {pairs['losses']}")
    print(f"{'tokens given to a task':<52}{tokens['injected']:>10,.0f}  {share:.2%} of all, budget {SHARE_BUDGET:.0%}")
    budget = f", {wall / LOOP_BUDGET_S:.2f} of {LOOP_BUDGET_S:g} s" if data and not limit else ""
    print(f"{'seconds':<52}{wall:>10.1f}  {cpu:.1f} of a processor{budget}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also 100,000 bullets")
    parser.add_argument("--data", type=Path, help="the folder of JCommonsenseQA's files")
    parser.add_argument("--loop-only", action="store_true", help="no searches")
    args = parser.parse_args()
    print(f"{'milliseconds':<52}{'median':>10}{'p99':>10}{'p99 over budget':>19}")
    for size, budget_ms in BUDGETS_MS.items():
        if not args.loop_only and (args.full or size <= 10_000):
            searches(size, budget_ms)
    for extra in [False, True] if extra_installed() else [False]:
        for limit in (1_000, 0) if args.data else (0,):
            loop(args.data, extra=extra, limit=limit)


if __name__ == "__main__":
    main()
