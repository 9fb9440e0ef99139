"""Laws of `BM25Index`."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.retrieval import BM25Index, tokenize
from akinai.retrieval.bm25 import inverse_document_frequency
from together import together

words = st.sampled_from(["milk", "bread", "tea", "牛乳", "打合せ", "打ち合わせ", "coca-cola", "x"])
texts = st.lists(words, max_size=6).map(" ".join)
ids = st.sampled_from("abcdefgh")
changes = st.lists(st.tuples(ids, st.none() | texts), max_size=25)


def index(documents: dict[str, str]) -> BM25Index:
    search_index = BM25Index()
    for id, text in documents.items():
        search_index.add(id, text)
    return search_index


def changed(changes: list[tuple[str, str | None]]) -> tuple[BM25Index, dict[str, str]]:
    """An index after changes (None removes), and the documents that it should contain."""
    search_index, documents = BM25Index(), dict[str, str]()
    for id, text in changes:
        if text is not None:
            search_index.add(id, text)
            documents[id] = text
        elif id in search_index:
            search_index.remove(id)
            del documents[id]
    return search_index, documents


def test_worked_example():
    """Three documents worked by hand: idf ln(8/5) for both words, norms 1.65, 0.75 and 1.2 at average length 2."""
    hits = index({"a": "milk milk bread", "b": "milk", "c": "tea bread"}).search("milk bread")
    assert [(hit.id, hit.matched) for hit in hits] == [("a", ("milk", "bread")), ("b", ("milk",)), ("c", ("bread",))]
    assert [hit.score for hit in hits] == pytest.approx(
        [0.470004 * (2 / 3.65 + 1 / 2.65), 0.470004 / 1.75, 0.470004 / 2.2], abs=1e-6
    )


@given(st.integers(1, 10**6), st.data())
def test_idf_is_lucenes_and_positive(documents: int, data: st.DataObject):
    """The idf is log(1 + (N - df + 0.5) / (df + 0.5)), and above 0 though every document has the word."""
    containing = data.draw(st.integers(1, documents))
    idf = inverse_document_frequency(documents, containing)
    assert idf > 0
    assert idf == pytest.approx(log(1 + (documents - containing + 0.5) / (containing + 0.5)), rel=1e-9)


@given(changes, texts)
def test_changed_index_equals_fresh_index(changes: list[tuple[str, str | None]], query: str):
    """After any additions, replacements and removals, an index equals a fresh index of the remaining documents; no word is left behind."""
    search_index, documents = changed(changes)
    fresh = index(dict(sorted(documents.items())))
    assert search_index.search(query, 100) == fresh.search(query, 100)
    assert sorted(search_index.ids) == list(fresh.ids)
    assert len(search_index) == len(documents)
    assert set(search_index._postings) == {word for text in documents.values() for word in tokenize(text)}
    assert all((id in search_index) == (id in documents) for id in "abcdefgh")


@given(changes, texts)
def test_score_is_positive_exactly_where_a_word_matches(changes: list[tuple[str, str | None]], query: str):
    """A document is a hit, with a score above 0, exactly when it shares a word; `matched` names them in order."""
    search_index, documents = changed(changes)
    words = dict.fromkeys(tokenize(query))
    expected = {id: tuple(word for word in words if word in tokenize(text)) for id, text in documents.items()}
    hits = search_index.search(query, 100)
    assert {hit.id: hit.matched for hit in hits} == {id: matched for id, matched in expected.items() if matched}
    assert all(hit.score > 0 for hit in hits)
    assert dict(zip(search_index.ids, search_index.scores(query).tolist(), strict=True)) == {
        id: next((hit.score for hit in hits if hit.id == id), 0.0) for id in documents
    }


@given(changes, texts, st.integers(0, 10))
def test_top_k_is_the_head_of_the_whole_list(changes: list[tuple[str, str | None]], query: str, top_k: int):
    """Hits come by score, ties by id; asking for fewer gives the head, asking for more than there are a short list."""
    search_index, _ = changed(changes)
    every = search_index.search(query, 100)
    assert every == sorted(every, key=lambda hit: (-hit.score, hit.id))
    assert search_index.search(query, top_k) == every[:top_k]


def test_match_among_one_or_two_documents_scores():
    """The matching document of one or two comes first, with a score above 0."""
    assert index({"a": "milk"}).search("milk")[0].score > 0
    assert [hit.id for hit in index({"a": "tea", "b": "milk"}).search("milk")] == ["b"]
    assert [hit.id for hit in index({"a": "milk tea", "b": "milk"}).search("milk")] == ["b", "a"]


@together("documents", [{}, {"a": ""}, {"a": "milk", "b": "…"}])
@together("query", ["", " ", "…", "unknown"])
def test_nothing_to_find_is_an_empty_list(documents: dict[str, str], query: str):
    """Empty index, empty document, empty query and unknown words give no hits, no filler and no exception."""
    search_index = index(documents)
    assert search_index.search(query) == []
    assert search_index.scores(query).tolist() == [0.0] * len(documents)


def test_repeating_a_query_word_changes_nothing():
    """A word repeated in the query counts once."""
    search_index = index({"a": "milk tea", "b": "tea"})
    assert search_index.search("milk milk tea") == search_index.search("milk tea")


def test_scores_outlive_a_change():
    """Scores handed out stay as they were when the index changes, and do not stop it from changing."""
    search_index = index({"a": "milk", "b": "milk tea"})
    before = search_index.scores("milk")
    copy = before.copy()
    search_index.add("c", "milk")
    search_index.remove("a")
    assert np.array_equal(before, copy)


def test_another_tokenizer_serves_index_and_query():
    """A custom tokenizer splits documents and queries alike."""
    search_index = BM25Index(tokenizer=lambda text: [text[:3]])
    search_index.add("a", "milky")
    assert [hit.matched for hit in search_index.search("mink")] == []
    assert [hit.matched for hit in search_index.search("milder")] == [("mil",)]


def test_k1_and_b_have_their_effect():
    """k1 = 0 ignores repeats and length, b = 0 ignores length alone."""
    documents = {"a": "milk", "b": "milk milk", "c": "milk tea tea tea"}

    def scores(k1: float, b: float) -> list[float]:
        search_index = BM25Index(k1=k1, b=b)
        for id, text in documents.items():
            search_index.add(id, text)
        return search_index.scores("milk").tolist()

    assert len(set(scores(0.0, 0.75))) == 1
    single, double, long = scores(1.2, 0.0)
    assert single == long < double


def test_wrong_use_is_named():
    """Removing a missing document is a KeyError that names it; a negative top_k is a ValueError."""
    search_index = index({"a": "milk"})
    with pytest.raises(KeyError, match="no document 'b' among the 1"):
        search_index.remove("b")
    with pytest.raises(ValueError, match="top_k is -1"):
        search_index.search("milk", -1)
    assert [hit.id for hit in search_index.search("milk")] == ["a"]
