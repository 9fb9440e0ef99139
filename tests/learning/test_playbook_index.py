"""Laws of searching a playbook: what is found, in which order, under which filters, and what goes into a context."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playbooks_for_tests import SECTIONS, add, contents, playbooks, tag

from akinai.core.errors import MissingExtra
from akinai.learning import (
    Bullet,
    Delta,
    EmbedderError,
    LangChainVectors,
    Operation,
    Playbook,
    PlaybookIndex,
    SearchQuery,
    SearchResult,
    Section,
    apply_delta,
    estimate_tokens,
    inject,
    inject_all,
    open_index,
)
from akinai.learning.search.saved_index import index_path
from akinai.retrieval import Embedder, tokenize
from akinai.runtime.models.embeddings import find_embedder
from together import together

words = st.sampled_from(["milk", "bread", "tea", "牛乳", "打合せ", "打ち合わせ", "パン", "ﾊﾟﾝ", "coca-cola", "x"])
texts = st.lists(words, min_size=1, max_size=6).map(" ".join)
alphas = st.sampled_from([0.0, 0.3, 0.6, 1.0])
queries = st.builds(
    SearchQuery,
    texts | st.just("") | st.just("unknown"),
    st.integers(0, 12),
    st.none() | st.sampled_from(["a", "b", ("a", "b"), ("c",)]),
    st.sampled_from([0.0, 0.3, 0.5, 0.9]),
)


@st.composite
def small_playbooks(draw: st.DrawFn) -> Playbook:
    bullets = [
        Bullet(
            f"b-{n:05}", draw(st.sampled_from("ab")), draw(texts), (), draw(st.integers(0, 3)), draw(st.integers(0, 3))
        )
        for n in range(draw(st.integers(0, 8)))
    ]
    return Playbook(tuple(Section(name, "", tuple(b for b in bullets if b.section == name)) for name in "ab"), 99)


def playbook_of(*texts: str) -> Playbook:
    return apply_delta(Playbook().with_sections(SECTIONS), add(*texts))[0]


def search(playbook: Playbook, query: str, **options: int) -> list[SearchResult]:
    return PlaybookIndex(playbook).search(SearchQuery(query, **options))


@together(
    ("query", "content"),
    [
        ("牛乳", "牛乳を買う"),
        ("打ち合わせ", "打合せ"),
        ("打合せ", "打ち合わせ"),
        ("ＡＢＣ", "abc"),
        ("ﾊﾟﾝ", "パン"),
        ("ABC", "ａｂｃ"),
    ],
)
def test_words_are_found_however_they_are_written(query: str, content: str) -> None:
    """Japanese, full width, half width and capitals match with a bm25_score above 0, and the words are named."""
    for playbook in (playbook_of(content), playbook_of("別のこと something else", content)):
        first = search(playbook, query)[0]
        assert (first.bullet.content, first.bm25_score > 0, first.combined_score > 0) == (content, True, True)
        assert first.matched


@given(small_playbooks(), texts)
def test_of_one_or_two_bullets_the_matching_one_is_first(playbook: Playbook, query: str) -> None:
    """However small the playbook, a bullet that holds a word of the query is found with a score above 0."""
    for result in search(playbook, query, min_confidence=0):
        assert result.combined_score > 0
        assert result.bm25_score > 0
    holding = [b for b in playbook if set(tokenize(b.searchable_text)) & set(tokenize(query))]
    assert {r.bullet.id for r in search(playbook, query, min_confidence=0, top_k=99)} == {b.id for b in holding}


@together("query", ["", "   ", "未知の言葉", "zzz", "!!!", "half \ud83d"])
@together("playbook", [Playbook(), playbook_of(), playbook_of("milk"), playbook_of("milk", "bread")])
def test_nothing_found_is_an_empty_list(query: str, playbook: Playbook) -> None:
    """An empty playbook, an empty query and unknown words give no filler and no exception, whatever top_k is."""
    for top_k in (0, 1, 1_000):
        assert search(playbook, query, top_k=top_k) == []


def test_top_k_above_the_size_gives_a_short_list() -> None:
    """Fewer come back when fewer qualify; a negative number is an error of the program."""
    assert len(search(playbook_of("milk", "milk tea", "bread"), "milk", top_k=1_000)) == 2
    with pytest.raises(ValueError, match="top_k is -1"):
        search(playbook_of("milk"), "milk", top_k=-1)


@given(small_playbooks(), queries, alphas)
def test_combined_is_exact_and_orders(playbook: Playbook, query: SearchQuery, alpha: float) -> None:
    """combined = alpha * vector + (1 - alpha) * bm25 on the reported scores; best first, ties by id."""
    results = PlaybookIndex(playbook, alpha=alpha).search(query)
    assert results == PlaybookIndex(playbook).search(query, alpha=alpha)
    for result in results:
        assert result.combined_score == alpha * result.vector_score + (1 - alpha) * result.bm25_score
        assert 0 <= result.vector_score <= 1
        assert 0 < result.bm25_score <= 1
    assert results == sorted(results, key=lambda r: (-r.combined_score, r.bullet.id))
    pure = {0.0: "bm25_score", 1.0: "vector_score"}
    if alpha in pure:
        scores = [getattr(result, pure[alpha]) for result in results]
        assert scores == sorted(scores, reverse=True)


@given(small_playbooks(), queries)
def test_filters_apply_before_ranking(playbook: Playbook, query: SearchQuery) -> None:
    """What passes section and confidence fills up to top_k places; what does not takes no place."""
    sections = query.section_filter
    allowed = {
        b.id
        for b in playbook
        if (sections is None or b.section in sections) and b.confidence_score >= query.min_confidence
    }
    everything = search(playbook, query.query_text, top_k=99, min_confidence=0)
    results = PlaybookIndex(playbook).search(query)
    assert {r.bullet.id for r in results} <= allowed
    assert len(results) == min(query.top_k, len([r for r in everything if r.bullet.id in allowed]))


@given(st.lists(small_playbooks(), min_size=1, max_size=5), queries)
def test_a_change_is_visible_to_the_next_search(versions: list[Playbook], query: SearchQuery) -> None:
    """After any changes an index answers as a new one would: texts, counters and filters as they are now."""
    index = PlaybookIndex()
    for playbook in versions:
        index.refresh(playbook)
        assert index.search(query) == PlaybookIndex(playbook).search(query)
        assert len(index) == len(playbook)


def test_counters_and_new_bullets_are_seen_at_once() -> None:
    """An ADD, an UPDATE, a tag and a DELETE each show in the next search."""
    playbook = playbook_of("milk")
    index = PlaybookIndex(playbook)
    for delta, expected in (
        (add("milk tea"), ["rul-00001", "rul-00002"]),
        (Delta("", (Operation("UPDATE", None, "rul-00001", "bread"),)), ["rul-00002"]),
        (tag("q", ("rul-00002", "harmful")), []),
        (tag("r", ("rul-00002", "helpful")), ["rul-00002"]),
        (Delta("", (Operation("DELETE", None, "rul-00002"),)), []),
    ):
        playbook, refusals = apply_delta(playbook, delta)
        index.refresh(playbook)
        results = index.search(SearchQuery("milk"))
        assert (sorted(r.bullet.id for r in results), refusals) == (expected, ())
        assert all(result.bullet is playbook[result.bullet.id] for result in results)


class ByLength:
    """LangChain's interface without LangChain: a text is where its letters are; questions are asked otherwise."""

    model = "letters-1"

    def __init__(self, answer: object = None) -> None:
        self.documents: list[str] = []
        self.questions: list[str] = []
        self.answer = answer

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents += texts
        return [self._vector(text) for text in texts] if self.answer is None else self.answer  # type: ignore[return-value]

    def embed_query(self, text: str) -> list[float]:
        self.questions.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        return [float(text.count(letter)) for letter in "abcdefghij"]


def test_langchain_embeddings_find_without_a_common_word() -> None:
    """Documents go to embed_documents once, questions to embed_query, and a near vector is a hit above the floor."""
    embeddings = ByLength()
    index = PlaybookIndex(playbook_of("aab", "hij"), embedder=LangChainVectors(embeddings))
    first, *further = index.search(SearchQuery("aba"))
    assert (first.bullet.content, first.bm25_score, first.matched, further) == ("aab", 0.0, (), [])
    assert first.vector_score == pytest.approx(1.0)
    assert (len(embeddings.documents), embeddings.questions[-1]) == (2, "aba")
    index.refresh(apply_delta(index.playbook, add("dad"))[0])
    assert len(embeddings.documents) == 3


@together("answer", [[], [[1.0], [2.0, 3.0]], [[float("nan")] * 10], "text", [[1.0]] * 7, [[[1.0]]]])
def test_a_broken_embedder_is_a_typed_error(answer: object) -> None:
    """Whatever somebody else's code raises or returns, the error names it, and the index answers as before."""
    good = playbook_of("aab")
    embeddings = ByLength()
    index = PlaybookIndex(good, embedder=LangChainVectors(embeddings))
    before = index.search(SearchQuery("aab"))
    embeddings.answer = answer
    with pytest.raises(EmbedderError, match="ByLength:letters-1"):
        index.refresh(apply_delta(good, add("dad"))[0])
    assert (index.search(SearchQuery("aab")), len(index)) == (before, 1)


@given(playbooks(), st.integers(0, 400))
def test_an_injection_fits_its_budget_and_cuts_nothing(playbook: Playbook, budget: int) -> None:
    """The text is within the budget, whole bullets only; it is empty when not one fits."""
    bullets = list(playbook)
    injection = inject(bullets, budget_tokens=budget)
    assert injection.tokens == estimate_tokens(injection.text) <= budget
    assert set(injection.bullet_ids) | set(injection.left_out) == {bullet.id for bullet in bullets}
    assert len(injection.bullet_ids) + len(injection.left_out) == len(bullets)
    by_id = playbook.by_id
    assert injection.text == inject([by_id[id] for id in injection.bullet_ids]).text
    if not injection.bullet_ids:
        assert all(inject([bullet]).tokens > budget - 4 for bullet in bullets)


def test_the_best_bullets_come_first_and_a_large_one_makes_room() -> None:
    """One that does not fit is left out whole, the next is tried, and the tokens are reported."""
    bullets = [
        Bullet("a-1", "rules", "short one"),
        Bullet("a-2", "rules", "long " * 100),
        Bullet("b-3", "api-usage", "another"),
    ]
    injection = inject(bullets, budget_tokens=40)
    assert (injection.bullet_ids, injection.left_out) == (("a-1", "b-3"), ("a-2",))
    assert injection.text == (
        "## RULES\n[a-1] helpful=0 harmful=0 :: short one\n\n## API-USAGE\n[b-3] helpful=0 harmful=0 :: another\n"
    )
    assert inject(bullets).bullet_ids == ("a-1", "a-2", "b-3")
    with pytest.raises(ValueError, match="budget"):
        inject(bullets, budget_tokens=-1)


def test_all_injects_the_whole_playbook() -> None:
    """As ACE does it, with its tokens counted."""
    playbook = playbook_of("one", "two")
    injection = inject_all(playbook)
    assert (injection.bullet_ids, injection.left_out) == (("rul-00001", "rul-00002"), ())
    assert injection.tokens == estimate_tokens(injection.text)


@given(contents)
def test_the_estimate_counts_every_character(text: str) -> None:
    """A quarter for ASCII, one for any other, rounded up: adding text never makes it less."""
    assert estimate_tokens(text) <= len(text)
    assert estimate_tokens(text + "あ") == estimate_tokens(text) + 1
    assert estimate_tokens("four") == 1
    assert estimate_tokens("four!") == 2


# ---- on disk


class Counting:
    """A tokenizer with a name that counts its calls."""

    def __init__(self, name: str = "counting@1") -> None:
        self.name = name
        self.calls = 0

    def __call__(self, text: str) -> Sequence[str]:
        self.calls += 1
        return tokenize(text)


def test_an_index_on_disk_is_used_again(tmp_path: Path) -> None:
    """A second opening embeds and tokenizes nothing, and answers alike; the file is one archive."""
    path = tmp_path / "p.json"
    playbook = playbook_of("milk and bread", "牛乳を買う", "milk and bread")
    embeddings, tokenizer = ByLength(), Counting()
    first = open_index(playbook, path, tokenizer=tokenizer, embedder=LangChainVectors(embeddings))
    assert [p.name for p in tmp_path.iterdir()] == ["p.index.npz"]
    with np.load(tmp_path / "p.index.npz", allow_pickle=False) as archive:
        assert len(archive["vectors"]) == len(list(playbook))
    before, tokenizer.calls = len(embeddings.documents), 0
    again = open_index(playbook, path, tokenizer=tokenizer, embedder=LangChainVectors(embeddings))
    assert (len(embeddings.documents), tokenizer.calls) == (before, 0)
    for query in ("milk", "牛乳", "bread"):
        assert again.search(SearchQuery(query)) == first.search(SearchQuery(query))


def test_only_what_changed_is_made_anew(tmp_path: Path) -> None:
    """After a change to one bullet the other vectors are taken from the disk, and the files follow."""
    path = tmp_path / "p.json"
    embeddings = ByLength()
    playbook = playbook_of("aab", "hij")
    open_index(playbook, path, embedder=LangChainVectors(embeddings))
    changed, _ = apply_delta(playbook, Delta("", (Operation("UPDATE", None, "rul-00001", "cab"),)))
    index = open_index(changed, path, embedder=LangChainVectors(embeddings))
    assert embeddings.documents[2:] == ["cab cab"]
    assert index.search(SearchQuery("cab"))[0].bullet.content == "cab"
    open_index(changed, path, embedder=LangChainVectors(embeddings))
    assert len(embeddings.documents) == 3


@pytest.mark.parametrize("other", ["tokenizer", "embedder", "content"])
def test_an_index_of_something_else_is_rebuilt(tmp_path: Path, other: str) -> None:
    """Another tokenizer, embedder or content is noticed by the manifest."""
    path = tmp_path / "p.json"
    playbook = playbook_of("milk and bread")
    open_index(playbook, path, tokenizer=Counting("a"), embedder=LangChainVectors(ByLength(), "a"))
    manifest = index_path(path).read_bytes()
    tokenizer, embeddings = Counting("b" if other == "tokenizer" else "a"), ByLength()
    embedder = LangChainVectors(embeddings, "b" if other == "embedder" else "a")
    if other == "content":
        playbook = playbook_of("something else")
    index = open_index(playbook, path, tokenizer=tokenizer, embedder=embedder)
    assert index.search(SearchQuery(next(iter(playbook)).content))
    assert (tokenizer.calls > 2) == (other in ("tokenizer", "content"))
    assert bool(embeddings.documents)
    assert index_path(path).read_bytes() != manifest


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped", "swapped", "emptied", "no archive", "other arrays"])
def test_a_damaged_index_is_rebuilt(tmp_path: Path, damage: str) -> None:
    """A file that is gone, damaged or of another playbook is never believed; the next opening makes it anew."""
    path, file = tmp_path / "p.json", tmp_path / "p.index.npz"
    open_index(playbook_of("something else", "and more"), path)
    other = file.read_bytes()
    playbook = playbook_of("milk", "bread")
    expected = open_index(playbook, path).search(SearchQuery("milk"))
    good = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    whole = file.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "cut": whole[:-9],
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "swapped": other,
        "emptied": b"",
        "no archive": b"[1, 2]",
    }
    if damage == "gone":
        file.unlink()
    elif damage == "other arrays":
        np.savez(file, vectors=np.zeros(3))
    else:
        file.write_bytes(damaged[damage])
    assert open_index(playbook, path).search(SearchQuery("milk")) == expected
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == good


@given(small_playbooks(), small_playbooks(), queries)
def test_a_reopened_index_answers_as_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, before: Playbook, after: Playbook, query: SearchQuery
) -> None:
    """Whatever was on disk, search is what a fresh index of the playbook says, and so it is after changes."""
    path = tmp_path_factory.mktemp("index") / "p.json"
    open_index(before, path)
    assert open_index(after, path).search(query) == PlaybookIndex(after).search(query)
    index = open_index(after, path)
    assert index.search(query) == PlaybookIndex(after).search(query)
    index.refresh(before)
    assert index.search(query) == PlaybookIndex(before).search(query)


def test_the_order_of_bullets_and_changes_does_not_matter() -> None:
    """Two indexes of equal playbooks agree, whichever way each came to it."""
    playbook = playbook_of("milk tea", "tea", "milk")
    index = PlaybookIndex(playbook_of("other", "tea", "x", "y"))
    index.refresh(playbook)
    assert index.search(SearchQuery("milk tea")) == PlaybookIndex(playbook).search(SearchQuery("milk tea"))
    swapped = replace(playbook, sections=tuple(reversed(playbook.sections)))
    assert PlaybookIndex(swapped).search(SearchQuery("tea")) == PlaybookIndex(playbook).search(SearchQuery("tea"))


def test_words_of_another_meaning_are_found_by_meaning() -> None:
    """With the extra, a question without a word in common finds its bullet; without it the extra is named."""
    if find_spec("wordllama") is None:
        with pytest.raises(MissingExtra, match="meaning"):
            find_embedder("meaning")
        return
    vectors = cast("Embedder", find_embedder("meaning"))
    rows = vectors.embed(
        ["Purchase beverages when the weather is hot.", "buy drinks in summer heat", "pay your rent", ""]
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert not rows[3].any()
