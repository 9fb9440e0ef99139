"""Laws of `HashedTermVectors` and `VectorIndex`."""

from collections import Counter
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.retrieval import HashedTermVectors, VectorIndex
from akinai.retrieval.vectors import GRID, grid_steps

texts = st.lists(
    st.sampled_from(["milk", "bread", "tea", "牛乳", "打合せ", "coca-cola"]) | st.text(max_size=8), max_size=12
).map(" ".join)
small = st.integers(-3, 3)
ids = st.sampled_from("abcdefgh")
changes = st.lists(st.tuples(ids, st.none() | st.tuples(small, small, small)), max_size=60)


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def index(vectors: dict[str, tuple[float, ...]]) -> VectorIndex:
    search_index = VectorIndex(3)
    for id, numbers in vectors.items():
        search_index.add(id, vector(*numbers))
    return search_index


@given(st.lists(texts, min_size=1, max_size=5))
def test_any_sum_of_a_hashed_dot_product_is_exact(given_texts: list[str]):
    """float32 products of hashed rows equal the integer products, summed in any order: no machine can differ."""
    matrix = HashedTermVectors(64).embed(given_texts)
    steps = np.rint(matrix.astype(np.float64) * GRID).astype(np.int64)
    exact = (steps @ steps.T) / GRID**2
    assert np.array_equal(matrix @ matrix.T, exact.astype(np.float32))
    assert np.array_equal(matrix[:, ::-1] @ matrix.T[::-1], exact.astype(np.float32))
    assert np.array_equal(exact.astype(np.float32).astype(np.float64), exact)


@given(texts)
def test_hashed_row_has_length_one_or_nothing(text: str):
    """A row is a little under 1 long, never over, or all 0 for a text without words."""
    length = np.linalg.norm(HashedTermVectors().embed([text])[0].astype(np.float64))
    assert length == 0 or 0.99 < length <= 1


def test_hashed_vectors_have_not_moved():
    """The bytes of some vectors, pinned: saved vectors and recorded searches of another machine still hold."""
    matrix = HashedTermVectors().embed(
        ["", "milk", "牛乳を買う 牛乳", "Refill the coca-cola slot on Monday, don't wait"]
    )
    assert matrix.dtype == np.float32
    assert matrix.shape == (4, 512)
    assert sha256(matrix.astype("<f4").tobytes()).hexdigest()[:16] == "4a98dcea7464edf5"


def test_repeats_weigh_less_and_less():
    """Four times a word weighs as much as two other words' worth: the square root, not the count."""
    matrix = HashedTermVectors(1 << 20).embed(["milk milk milk milk tea", "milk", "tea"]).astype(np.float64)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    assert unit[0] @ unit[1] == pytest.approx(2 / 5**0.5, abs=1e-3)
    assert unit[0] @ unit[2] == pytest.approx(1 / 5**0.5, abs=1e-3)


@given(texts)
def test_grid_steps_are_the_hashed_row(text: str):
    """The sparse steps that `rank` works with are the dense row that an index stores."""
    embedder = HashedTermVectors(32)
    row = np.zeros(32)
    for coordinate, step in grid_steps(Counter(embedder.tokenizer(text)), 32).items():
        row[coordinate] = step
    assert np.array_equal(embedder.embed([text])[0] * GRID, row)


@given(changes, st.tuples(small, small, small))
def test_changed_vectors_equal_fresh_vectors(changes: list[tuple[str, tuple[int, ...] | None]], query: tuple[int, ...]):
    """After any changes the index equals a fresh index: the cosine of every remaining document, ties by id."""
    search_index, stored = VectorIndex(3), dict[str, tuple[float, ...]]()
    for id, numbers in changes:
        if numbers is not None:
            search_index.add(id, vector(*numbers))
            stored[id] = numbers
        elif id in search_index:
            search_index.remove(id)
            del stored[id]
    hits = search_index.search(vector(*query), 100)
    assert hits == index(dict(sorted(stored.items()))).search(vector(*query), 100)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
    assert search_index.search(vector(*query), 2) == hits[:2]
    for hit in hits:
        lengths = np.linalg.norm(stored[hit.id]) * np.linalg.norm(query)
        assert hit.score == pytest.approx(np.dot(stored[hit.id], query) / lengths if lengths else 0.0, abs=2e-6)
    assert {id: tuple(row) for id, row in zip(search_index.ids, search_index.matrix.tolist(), strict=True)} == stored


def test_some_rows_have_the_cosines_of_all_rows():
    """Cosines of a few rows, or of most, equal those computed for all rows."""
    embedder = HashedTermVectors(64)
    search_index = VectorIndex(64)
    for i, row in enumerate(embedder.embed([f"word{i % 7} word{i % 11} word{i}" for i in range(4_000)])):
        search_index.add(f"{i:04}", row)
    query = embedder.embed(["word3 word5"])[0]
    every = search_index.cosines(query)
    for rows in (np.arange(0, 4_000, 5), np.arange(1, 4_000, 2), np.arange(0)):
        assert np.array_equal(search_index.cosines(query, rows), every[rows])


def test_many_ties_are_cut_by_id():
    """Among equal scores the lowest ids are kept, whatever the order of additions."""
    search_index = index({f"{i * 37 % 100:02}": (1, 0, 0) for i in range(100)})
    assert [hit.id for hit in search_index.search(vector(1, 0, 0), 3)] == ["00", "01", "02"]


def test_wrong_vectors_are_refused():
    """Another shape, NaN or infinity is a ValueError and leaves the index as it was; so does removing an unknown id."""
    search_index = index({"a": (1, 0, 0)})
    for wrong in (vector(1, 0), vector(1, 0, float("nan")), vector(float("inf"), 0, 0)):
        with pytest.raises(ValueError, match="vector"):
            search_index.add("a", wrong)
    with pytest.raises(KeyError, match="no document 'b'"):
        search_index.remove("b")
    with pytest.raises(ValueError, match="at least 1"):
        HashedTermVectors(0)
    with pytest.raises(ValueError, match="read-only"):
        search_index.matrix[0] = 0
    assert [(hit.id, hit.score) for hit in search_index.search(vector(2, 0, 0))] == [("a", 1.0)]
