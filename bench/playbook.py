"""Times a playbook's search, index, save and load beside their budgets: python bench/playbook.py [--full]."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on a busy machine several threads wait for each other

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from akinai.learning import (
    Bullet,
    BulletTag,
    Delta,
    Edit,
    Operation,
    Playbook,
    PlaybookFile,
    PlaybookIndex,
    SearchQuery,
    Section,
    SudachiWords,
    Tagging,
    TfidfSvd,
    apply_delta,
    dedup,
    inject,
    open_index,
)
from akinai.retrieval import Tokenizer, tokenize
from retrieval import QUERIES, line, texts, times

BUDGETS_MS = {1_000: None, 10_000: 10.0, 100_000: 50.0}
SECTIONS = ("pricing", "stock_and_orders", "mistakes_to_avoid")


def playbook_of(size: int) -> Playbook:
    """Made-up bullets in three sections, a quarter of them called harmful more often than helpful."""
    contents = texts(size, (8, 30), 1)
    bullets = [
        Bullet(f"b-{n:06}", SECTIONS[n % 3], text, tuple(text.split()[:3]), n % 4, 0 if n % 4 else 3)
        for n, text in enumerate(contents, 1)
    ]
    sections = [Section(name, "", tuple(bullet for bullet in bullets if bullet.section == name)) for name in SECTIONS]
    return Playbook(tuple(sections), size + 1)


def took(label: str, work: Callable[[], object]) -> None:
    """Run once and print the seconds."""
    start = perf_counter()
    work()
    print(f"{label:<52}{(perf_counter() - start) * 1e3:>10.0f}")


def searches(name: str, index: PlaybookIndex, budget_ms: float | None) -> None:
    queries = texts(QUERIES, (2, 7), 2)
    line(f"{name}: search", times(lambda q: index.search(SearchQuery(q)), queries), budget_ms)
    every = times(lambda q: index.search(SearchQuery(q, min_confidence=0)), queries)
    line(f"{name}: search, no filter", every, budget_ms)
    filtered = times(lambda q: index.search(SearchQuery(q, section_filter="pricing", min_confidence=0.5)), queries)
    line(f"{name}: search, one section", filtered, budget_ms)


def on_disk(playbook: Playbook, folder: Path) -> None:
    """Save, load and change a playbook, and its index."""
    path = folder / "playbook.json"
    took("save the whole playbook", lambda: PlaybookFile(path).change("import", lambda _: Edit(playbook)))
    took("load", lambda: PlaybookFile(path).load())
    file = PlaybookFile(path)
    tagging = Tagging("task", ("b-000007",), (BulletTag("b-000007", "helpful"),))
    took("count one tag, journal read anew", lambda: file.commit(Delta("tag", taggings=(tagging,))))
    took("the same delta again", lambda: file.commit(Delta("tag", taggings=(tagging,))))
    operations = tuple(Operation("ADD", "pricing", content=text) for text in texts(500, (8, 30), 3))
    took("add 500 bullets with default keywords", lambda: file.commit(Delta("add", operations)))
    took("go back to the first point", lambda: file.rollback(1))
    took("open an index that is not there yet", lambda: open_index(playbook, path))
    took("open it again", lambda: open_index(playbook, path))
    sizes = {p.name: p.stat().st_size / 1e6 for p in sorted(folder.iterdir()) if p.stat().st_size}
    print("  " + ", ".join(f"{name} {size:.1f} MB" for name, size in sizes.items()))


def extras(playbook: Playbook, budget_ms: float | None) -> None:
    """The same search with the parts of the extra `learn`, where they are installed."""
    if not all(map(find_spec, ("scipy", "sudachipy", "sudachidict_core"))):
        print("  the extra `learn` is not installed: no SudachiPy, no SVD")
        return
    sudachi = SudachiWords()
    tokenizers: dict[str, Tokenizer] = {"words, SVD 200": tokenize, "SudachiPy, SVD 200": sudachi}
    for name, tokenizer in tokenizers.items():
        start = perf_counter()
        index = PlaybookIndex(playbook, tokenizer=tokenizer, embedder=TfidfSvd(tokenizer=tokenizer))
        print(f"{name + ': build and fit':<52}{(perf_counter() - start) * 1e3:>10.0f}")
        searches(name, index, budget_ms)


def measure(size: int, budget_ms: float | None) -> None:
    """All figures of a playbook of this size."""
    print(f"\n{size:,} bullets")
    playbook = playbook_of(size)
    start = perf_counter()
    index = PlaybookIndex(playbook)
    print(f"{'build the index':<52}{(perf_counter() - start) * 1e3:>10.0f}")
    searches("hashed", index, budget_ms)
    took("one bullet more: refresh and search", lambda: change_and_search(index, playbook))
    results = [result.bullet for result in index.search(SearchQuery(texts(1, (5, 6), 9)[0], 50))]
    line("inject what fits 400 tokens", times(lambda _: inject(results, budget_tokens=400), ["x"] * 50))
    if size <= 10_000:
        extras(playbook, budget_ms)
        took("find duplicates", lambda: dedup(playbook))
    with TemporaryDirectory() as folder:
        on_disk(playbook, Path(folder))


def change_and_search(index: PlaybookIndex, playbook: Playbook) -> None:
    delta = Delta("", (Operation("ADD", "pricing", content="restock the cola before the weekend"),))
    changed, _ = apply_delta(playbook, delta)
    index.refresh(changed)
    assert index.search(SearchQuery("restock cola weekend"))[0].bullet.content.startswith("restock")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also 100,000 bullets: two minutes, 3 GB of memory")
    full = parser.parse_args().full
    print(f"{'milliseconds':<52}{'median':>10}{'p99':>10}{'p99 over budget':>19}")
    for size, budget_ms in BUDGETS_MS.items():
        if full or size <= 10_000:
            measure(size, budget_ms)


if __name__ == "__main__":
    main()
