"""Laws of `HybridIndex` and `rank`."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from akinai.retrieval import (
    BM25Index,
    Document,
    HashedTermVectors,
    Hit,
    HybridIndex,
    VectorIndex,
    rank,
)
from together import together

words = st.sampled_from(["milk", "bread", "tea", "牛乳", "打合せ", "打ち合わせ", "coca-cola", "x", "y", "z"])
texts = st.lists(words, max_size=6).map(" ".join)
ids = st.sampled_from("abcdefgh")
corpora = st.dictionaries(ids, texts, max_size=8)
alphas = st.sampled_from([0.0, 0.3, 0.6, 1.0]) | st.floats(0, 1)
changes = st.lists(st.tuples(ids, st.none() | texts), max_size=25)


def index(documents: dict[str, str], **options: object) -> HybridIndex:
    search_index = HybridIndex(**options)
    search_index.add_all(Document(id, text) for id, text in documents.items())
    return search_index


class ScriptedAgent:
    """An embedder that looks its vectors up."""

    name = "scripted"
    dimensions = 2

    def __init__(self, vectors: dict[str, tuple[float, float]]) -> None:
        self.vectors = vectors
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return np.array([self.vectors[text] for text in texts], np.float32)


def by_definition(documents: dict[str, str], query: str, alpha: float, allowed: set[str]) -> list[Hit]:
    """The ranking as documented: statistics of all documents; highest BM25, order and hits of the allowed ones."""
    embedder, vectors, bm25 = HashedTermVectors(), VectorIndex(512), BM25Index()
    for id, text in documents.items():
        bm25.add(id, text)
        vectors.add(id, embedder.embed([text])[0])
    cosines = {hit.id: hit.score for hit in vectors.search(embedder.embed([query])[0], 100)}
    word_hits = [hit for hit in bm25.search(query, 100) if hit.id in allowed]
    hits: list[Hit] = []
    for hit in word_hits:
        vector, word = max(0.0, cosines[hit.id]), round(hit.score / word_hits[0].score, 6)
        hits.append(Hit(hit.id, documents[hit.id], vector, word, alpha * vector + (1 - alpha) * word, hit.matched))
    return sorted(hits, key=lambda hit: (-hit.combined_score, hit.id))


@given(corpora, texts, alphas, st.sets(ids), st.integers(0, 9))
def test_filter_comes_before_ranking(
    documents: dict[str, str], query: str, alpha: float, allowed: set[str], top_k: int
):
    """An excluded document takes no place and sets no maximum: the definition, computed in plain Python."""
    search_index = index(documents)
    expected = by_definition(documents, query, alpha, allowed)[:top_k]
    assert search_index.search(query, top_k, alpha=alpha, allowed=allowed) == expected
    assert search_index.search(query, top_k, alpha=alpha, allowed=lambda document: document.id in allowed) == expected
    assert (
        search_index.search(query, top_k, alpha=alpha) == by_definition(documents, query, alpha, set(documents))[:top_k]
    )


@given(corpora, texts, alphas)
def test_combined_is_exact_on_the_reported_scores(documents: dict[str, str], query: str, alpha: float):
    """combined == alpha * vector + (1 - alpha) * bm25 to the last bit, both from 0 to 1, and the best BM25 is 1."""
    hits = index(documents).search(query, 100, alpha=alpha)
    for hit in hits:
        assert hit.combined_score == alpha * hit.vector_score + (1 - alpha) * hit.bm25_score
        assert 0 <= hit.vector_score <= 1
        assert 0 < hit.bm25_score <= 1
        assert round(hit.vector_score, 6) == hit.vector_score
        assert round(hit.bm25_score, 6) == hit.bm25_score
    assert not hits or max(hit.bm25_score for hit in hits) == 1


@given(corpora, texts)
def test_alpha_zero_and_one_give_the_pure_orders(documents: dict[str, str], query: str):
    """alpha 0 orders by BM25 alone and alpha 1 by vector alone, ties by id; the hits are the same."""
    search_index = index(documents)
    by_words, by_vector = search_index.search(query, 100, alpha=0), search_index.search(query, 100, alpha=1)
    assert [hit.id for hit in by_words] == [hit.id for hit in sorted(by_words, key=lambda h: (-h.bm25_score, h.id))]
    assert [hit.id for hit in by_vector] == [hit.id for hit in sorted(by_vector, key=lambda h: (-h.vector_score, h.id))]
    assert {hit.id for hit in by_words} == {hit.id for hit in by_vector}


@given(changes, texts, alphas)
def test_changed_hybrid_equals_fresh_hybrid(changes: list[tuple[str, str | None]], query: str, alpha: float):
    """Each change shows in the next search, and after all of them the index equals a fresh one."""
    search_index, documents = HybridIndex(), dict[str, str]()
    for id, text in changes:
        if text is not None:
            search_index.add(id, text)
            documents[id] = text
        elif id in search_index:
            search_index.remove(id)
            del documents[id]
        assert {hit.id for hit in search_index.search(text or "milk", 100)} <= set(documents)
    assert search_index.search(query, 100, alpha=alpha) == index(dict(sorted(documents.items()))).search(
        query, 100, alpha=alpha
    )
    assert {id: search_index[id].text for id in search_index.ids} == documents
    assert search_index.vectors.shape == (len(documents), 512) == (len(search_index), 512)
    assert np.array_equal(search_index.vectors, HashedTermVectors().embed([documents[id] for id in search_index.ids]))


@given(
    st.dictionaries(ids, texts | st.text(max_size=12), max_size=8),
    texts | st.text(max_size=12),
    alphas,
    st.integers(0, 9),
)
@example({"a": "tea milk", "b": "milk tea"}, "milk", 0.6, 1)
def test_rank_answers_as_an_index_does(documents: dict[str, str], query: str, alpha: float, top_k: int):
    """`rank`, in plain Python, equals a `HybridIndex` of the same texts to the last bit, given as pairs or mapping."""
    expected = index(documents).search(query, top_k, alpha=alpha)
    assert rank(query, documents, top_k, alpha) == expected
    assert rank(query, list(documents.items()), top_k, alpha) == expected


@given(corpora, texts)
def test_results_are_plain_python(documents: dict[str, str], query: str):
    """Scores are Python floats, ready for canonical JSON."""
    for hit in index(documents).search(query):
        assert {type(score) for score in (hit.vector_score, hit.bm25_score, hit.combined_score)} == {float}


def test_scores_have_not_moved():
    """A search pinned to the last digit: a recorded market run finds the same on every machine."""
    documents = {"a": "牛乳を買う", "b": "牛肉", "c": "coca-cola, cold", "d": "Cola and bread with milk (牛乳)"}
    assert [(hit.id, hit.vector_score, hit.bm25_score) for hit in rank("牛乳 cola", documents)] == [
        ("d", 0.707107, 1.0),
        ("a", 0.593374, 0.763346),
        ("c", 0.25, 0.379814),
        ("b", 0.288675, 0.2133),
    ]


@pytest.mark.parametrize(
    ("query", "document"), [("牛乳", "牛乳を買う"), ("打ち合わせ", "打合せ"), ("ＡＢＣ", "abc"), ("ﾊﾟﾝ", "パン")]
)
def test_japanese_and_widths_are_found(query: str, document: str):
    """The documented pairs find each other, first and with scores above 0, among one or two documents."""
    for further in ({}, {"a": "tea"}):
        hit = index({**further, "b": document}).search(query)[0]
        assert hit.id == "b"
        assert hit.bm25_score == 1
        assert hit.vector_score > 0
        assert hit.matched


@together("documents", [{}, {"a": ""}, {"a": "milk", "b": "…"}])
@together("query", ["", " ", "…", "unknown"])
def test_nothing_to_find_is_no_filler(documents: dict[str, str], query: str):
    """Empty index, empty query and unknown words give an empty list; a top_k above the count a short one."""
    assert index(documents).search(query) == rank(query, documents) == []
    assert len(index({"a": "milk", "b": "milk"}).search("milk", 50)) == 2


def test_hashed_vectors_alone_find_nothing():
    """With hashed vectors a text without a shared word is never a hit, however its hashes fall."""
    search_index = index({f"{i}": f"word{i}" for i in range(2_000)}, embedder=HashedTermVectors(8))
    assert search_index.search("unheard") == []
    assert [hit.id for hit in search_index.search("word7")] == ["7"]


@pytest.mark.slow
def test_match_never_reports_as_zero():
    """A word that nearly every document has still scores above 0 beside one that is rare."""
    common, rare = "the" + " of" * 50, " ".join(f"r{i}" for i in range(60))
    documents = [Document(f"{i:05}", common) for i in range(20_000)] + [Document("rare", rare)]
    search_index = HybridIndex(embedder=ScriptedAgent({f"{rare} the": (0.0, 0.0)}))
    search_index.add_all(documents, np.zeros((20_001, 2), np.float32))
    assert [(hit.id, hit.bm25_score) for hit in search_index.search(f"{rare} the", 2)] == [
        ("rare", 1.0),
        ("00000", 1e-6),
    ]
    ranked = rank(f"{rare} the", {document.id: document.text for document in documents}, 2)
    assert [(hit.id, hit.bm25_score) for hit in ranked] == [("rare", 1.0), ("00000", 1e-6)]


def test_neighbour_above_the_floor_is_found_without_a_word():
    """With an embedder that knows meaning: above the floor is a hit, at the floor is not, and below 0 reports as 0."""
    vectors = {
        "drink": (1.0, 0.0),
        "tea": (0.8, 0.6),
        "nail": (0.3, 0.953939),
        "saw": (-1.0, 0.0),
        "drink up": (-0.6, 0.8),
    }
    embedder = ScriptedAgent(vectors)
    search_index = index({text: text for text in ("tea", "nail", "saw", "drink up")}, embedder=embedder)
    assert [(hit.id, hit.vector_score, hit.bm25_score, hit.matched) for hit in search_index.search("drink")] == [
        ("tea", 0.8, 0.0, ()),
        ("drink up", 0.0, 1.0, ("drink",)),
    ]
    assert embedder.calls == [["tea", "nail", "saw", "drink up"], ["drink"]]
    strict = index({"tea": "tea"}, embedder=embedder, floor=0.9)
    assert strict.search("drink") == []


def test_only_new_texts_are_embedded():
    """Fields change without a call to the embedder, a batch is one call, and given vectors need none."""
    embedder = ScriptedAgent({"tea": (1.0, 0.0), "milk": (0.0, 1.0), "x": (1.0, 0.0)})
    search_index = HybridIndex(embedder=embedder)
    search_index.add_all([Document("a", "x"), Document("b", "milk"), Document("a", "tea")])
    search_index.add("a", "tea", {"section": "drinks"})
    search_index.add_all([Document("c", "unseen")], np.array([[1, 0]], np.float32))
    assert embedder.calls == [["tea", "milk"]]
    hits = search_index.search("tea", allowed=lambda document: document.fields.get("section") == "drinks")
    assert [(hit.id, hit.text) for hit in hits] == [("a", "tea")]
    assert [hit.id for hit in search_index.search("tea")] == ["a", "c"]


def test_failed_change_changes_nothing():
    """When the embedder fails, gives another shape or NaN, the index stays as it was."""
    embedder = ScriptedAgent({"tea": (1.0, 0.0), "bad": (float("nan"), 0.0)})
    search_index = index({"a": "tea"}, embedder=embedder)
    with pytest.raises(KeyError):
        search_index.add_all([Document("a", "tea tea"), Document("b", "unseen")])
    with pytest.raises(ValueError, match="NaN"):
        search_index.add("a", "bad")
    with pytest.raises(ValueError, match="shape"):
        search_index.add_all([Document("b", "b")], np.zeros((2, 2), np.float32))
    with pytest.raises(KeyError, match="no document 'b'"):
        search_index.remove("b")
    assert [(hit.id, hit.text) for hit in search_index.search("tea")] == [("a", "tea")]
    assert len(search_index) == 1


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan"), float("inf")])
def test_alpha_outside_zero_to_one_is_refused(alpha: float):
    """alpha is a share: anything else is a ValueError, from an empty index too."""
    with pytest.raises(ValueError, match="alpha is"):
        HybridIndex().search("milk", alpha=alpha)
    with pytest.raises(ValueError, match="alpha is"):
        rank("milk", {}, alpha=alpha)
    with pytest.raises(ValueError, match="top_k is -1"):
        HybridIndex().search("milk", -1)
    with pytest.raises(ValueError, match="top_k is -1"):
        rank("milk", {}, -1)


def test_import_and_rank_leave_numpy_alone():
    """Worlds and the command line import this package: NumPy is loaded by an index, not by import or `rank`."""
    code = "import sys, akinai.retrieval as r; r.rank('milk', {'a': 'milk'}); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_large_index_answers_as_the_definition_does():
    """Hundreds of random documents, filled at once and changed: search and `scores` are `rank`'s, computed word by
    word in plain Python, to the last bit; with a filter, the ids and combined scores agree too."""
    generator = np.random.default_rng(11)
    vocabulary = [f"w{n}" for n in range(150)] + ["牛乳", "打ち合わせ", "coca-cola"]
    shares = 1 / np.arange(1, len(vocabulary) + 1)
    search_index, documents = HybridIndex(), dict[str, str]()

    def text(size: int) -> str:
        return " ".join(generator.choice(vocabulary, size, p=shares / shares.sum()))

    for batch in range(3):
        new = {f"d{n * 7919 % 1_000:03}": text(int(generator.integers(0, 25))) for n in range(batch * 150, 400)}
        search_index.add_all(Document(id, content) for id, content in new.items())
        documents |= new
        for id in list(documents)[:: 9 + batch]:
            search_index.remove(id)
            del documents[id]
    for size in (1, 2, 5, 12, 60):
        query = text(size)
        for top_k in (1, 10, 100, 1_000):
            hits = search_index.search(query, top_k)
            assert hits == rank(query, documents, top_k)
            assert list(search_index.scores(query, top_k).items()) == [(hit.id, hit.combined_score) for hit in hits]
        allowed = frozenset(list(documents)[::3])
        assert search_index.search(query, 50, allowed=allowed) == search_index.search(query, 50, allowed=set(allowed))
        search_index.add("d000", query)
        documents["d000"] = query
        assert search_index.search(query, 50, allowed=allowed) == search_index.search(query, 50, allowed=set(allowed))


def test_several_replaced_at_once_keep_their_vectors():
    """A handful of documents replaced in one call are found by their own words and vectors."""
    search_index = index({"a": "milk", "b": "tea", "c": "bread", "d": "x"})
    documents = {"c": "bread y", "a": "milk z", "e": "tea tea", "b": "tea", "d": "x"}
    search_index.add_all(Document(id, text) for id, text in documents.items())
    for query in ("milk", "tea", "bread", "x"):
        assert search_index.search(query) == rank(query, documents)
