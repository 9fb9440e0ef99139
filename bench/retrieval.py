"""Times `akinai.retrieval` and prints each figure beside its budget.

OPENBLAS_NUM_THREADS=1 python bench/retrieval.py [--full]: one thread, since two threads that wait for each other are
slower than one where cores are shared.
"""

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from akinai.retrieval import BM25Index, Document, HashedTermVectors, HybridIndex, VectorIndex, rank, tokenize

SYLLABLES = [a + b for a in "kstnhmr" for b in "aiueo"]
KANJI = [chr(0x4E00 + 7 * i) for i in range(1_000)]
PARTICLES = "はがをにでとのもへや"
QUERIES = 200


def texts(count: int, words: tuple[int, int], seed: int) -> list[str]:
    """Made-up bullets, half English and half Japanese; the n-th most common word appears 1/n as often as the first."""
    vocabulary = np.random.default_rng(7)
    english = ["".join(vocabulary.choice(SYLLABLES, size)) for size in vocabulary.integers(1, 5, 20_000)]
    japanese = ["".join(vocabulary.choice(KANJI, size)) for size in vocabulary.integers(1, 4, 20_000)]
    shares = 1 / np.arange(1, 20_001)
    generator = np.random.default_rng(seed)
    generated: list[str] = []
    for i, size in enumerate(generator.integers(*words, count)):
        ranks = np.searchsorted(np.cumsum(shares), generator.random(int(size)) * shares.sum())
        if i % 2:
            particles = generator.choice(list(PARTICLES), int(size))
            generated.append("".join(japanese[p] + particle for p, particle in zip(ranks, particles, strict=True)))
        else:
            generated.append(" ".join(english[p] for p in ranks))
    return generated


def times(work: Callable[[str], object], queries: Sequence[str]) -> tuple[float, float]:
    """Milliseconds a call: median and 99th percentile, after one call to warm up."""
    work(queries[0])
    taken: list[float] = []
    for query in queries:
        start = perf_counter()
        work(query)
        taken.append((perf_counter() - start) * 1e3)
    return float(np.percentile(taken, 50)), float(np.percentile(taken, 99))


def line(title: str, figures: tuple[float, float], budget_ms: float | None = None) -> None:
    median, worst = figures
    ratio = f"{worst / budget_ms:8.2f} of {budget_ms:g} ms" if budget_ms else ""
    print(f"{title:<52}{median:>10.3f}{worst:>10.3f}{ratio}")


def is_allowed(document: Document) -> bool:
    """A filter as a caller would write one; it lets everything through."""
    return document.id >= "d"


def indexes(entries: int, budget_ms: float | None) -> None:
    """Search and change an index of this many documents."""
    documents = [Document(f"d{i:06}", text) for i, text in enumerate(texts(entries, (8, 30), 1))]
    queries = texts(QUERIES, (2, 7), 2)
    start = perf_counter()
    hybrid = HybridIndex()
    hybrid.add_all(documents)
    built = perf_counter() - start
    words, vectors, embedder = BM25Index(), VectorIndex(512), HashedTermVectors()
    for document in documents:
        words.add(document.id, document.text)
    for id, row in zip(hybrid.ids, hybrid.vectors, strict=True):
        vectors.add(id, row)
    odd = {document.id for document in documents[::2]}
    everything = HybridIndex(floor=0.3)
    everything.add_all(documents, vectors=hybrid.vectors)
    print(f"\n{entries:,} documents, built in {built:.2f} s ({built / entries * 1e6:.0f} us each)")
    line("hybrid search", times(hybrid.search, queries), budget_ms)
    line("hybrid search, every cosine, floor 0.3", times(everything.search, queries), budget_ms)
    line("hybrid search, half allowed by id", times(lambda q: hybrid.search(q, allowed=odd), queries), budget_ms)
    line(
        "hybrid search, allowed by a function",
        times(lambda q: hybrid.search(q, allowed=is_allowed), queries),
        budget_ms,
    )
    line("words alone: scores", times(words.scores, queries), 1.0)
    line("words alone: ten best", times(words.search, queries))
    line("vectors alone: ten best", times(lambda q: vectors.search(embedder.embed([q])[0]), queries))
    line("replace one document", times(lambda q: hybrid.add("d000000", q), queries))
    line("replace one, then search", times(lambda q: (hybrid.add("d000000", q), hybrid.search(q)), queries), budget_ms)


def small_corpora() -> None:
    """`rank` over thirty texts, known and new, and the tokenizer."""
    documents = [(f"b{i}", text) for i, text in enumerate(texts(30, (8, 30), 3))]
    queries = texts(QUERIES, (2, 7), 4)
    fresh = iter(texts(30 * (QUERIES + 1), (8, 30), 5))
    print("\nthirty documents, nothing kept")
    line("rank, texts seen before", times(lambda q: rank(q, documents), queries))
    line("rank, new texts", times(lambda q: rank(q, [(id, next(fresh)) for id, _ in documents]), queries))
    line("tokenize one document", times(tokenize, [text for _, text in documents]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also 100,000 documents: ten seconds, 1 GB of memory")
    full = parser.parse_args().full
    print(f"{'milliseconds':<52}{'median':>10}{'p99':>10}{'p99 over budget':>19}")
    small_corpora()
    for entries, budget_ms in ((1_000, None), (10_000, 10.0), (100_000, 50.0)):
        if entries < 100_000 or full:
            indexes(entries, budget_ms)


if __name__ == "__main__":
    main()
