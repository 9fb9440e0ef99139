"""Laws of the parts that need the extra `learn`: SudachiPy's words and fitted vectors; and what happens without it."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from playbooks_for_tests import SECTIONS, add

import forked
from akinai.learning import (
    DataSet,
    Playbook,
    PlaybookIndex,
    SearchQuery,
    SudachiWords,
    TfidfSvd,
    apply_delta,
    open_index,
)
from akinai.learning.search.index import tokenizer_name
from akinai.learning.search.sudachi import LONGEST_PIECE
from akinai.retrieval import tokenize
from akinai.runtime.learn.settings import learn_settings

WITHOUT = """
import sys
sys.modules |= dict.fromkeys(("scipy", "scipy.sparse", "sudachipy", "sudachidict_core"))
from akinai.learning import *
from akinai.learning.playbook.bullets import Section
for make in (SudachiWords, lambda: TfidfSvd().fit(["a b", "b c"])):
    try:
        make()
    except MissingExtra as error:
        print(error)
index = PlaybookIndex(Playbook((Section("s", "", (Bullet("s-1", "s", "牛乳を買う"),)),), 2))
print(index.search(SearchQuery("牛乳"))[0].bullet.id)
"""


@pytest.fixture
def sudachi() -> SudachiWords:
    for package in ("sudachipy", "sudachidict_core"):
        pytest.importorskip(package, reason=f"{package} is part of the extra `learn`, which is not installed")
    return SudachiWords()


@pytest.fixture
def svd() -> TfidfSvd:
    pytest.importorskip("scipy", reason="scipy is part of the extra `learn`, which is not installed")
    return TfidfSvd(8)


def playbook_of(*texts: str) -> Playbook:
    return apply_delta(Playbook().with_sections(SECTIONS), add(*texts))[0]


def test_without_the_extra_the_rest_works_and_the_error_says_what_to_install() -> None:
    """Asking for SudachiPy or SciPy without them names the part, the package and the command; plain search goes on."""
    run = forked.run([sys.executable, "-c", WITHOUT])
    assert run.stdout.splitlines() == [
        "the tokenizer SudachiWords needs sudachidict_core, which is not installed; pip install 'akinai[learn]'",
        "fitting TF-IDF and SVD needs scipy, which is not installed; pip install 'akinai[learn]'",
        "s-1",
    ]


def test_a_text_is_split_once_by_a_tokenizer_that_keeps_its_name(sudachi: SudachiWords) -> None:
    """The words of a text are remembered, and a saved index knows the tokenizer by its versions."""
    assert sudachi("打合せ") is sudachi("打合せ")
    assert tokenizer_name(sudachi).startswith("sudachi@1-A-")


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("牛乳", "牛乳を買う"),
        ("打ち合わせ", "打合せの前に準備する"),
        ("ＡＢＣ", "abc"),
        ("ﾊﾟﾝ", "パンを焼く"),
        ("買った", "牛乳を買う"),
        ("東京", "東京都に行く"),
        ("coca-cola", "Coca-Colaを売る"),
        ("cola", "Coca-Colaを売る"),
        ("リンゴ", "林檎を売る"),
    ],
)
def test_sudachi_finds_words_however_they_are_written(sudachi: SudachiWords, query: str, content: str) -> None:
    """Spellings, widths and inflections of one word match, in an index that holds other things too."""
    for embedder in (None, TfidfSvd(4, sudachi)):
        index = PlaybookIndex(playbook_of("別の話", content, "something else"), tokenizer=sudachi, embedder=embedder)
        first = index.search(SearchQuery(query))[0]
        assert (first.bullet.content, first.bm25_score > 0) == (content, True)


@pytest.mark.parametrize(
    "text", ["これは？", "です", "あ", "ん？", "1,000円", "half \ud800 あ", "🛒を押す", "ー", "々"]
)
def test_any_text_with_letters_gives_words(sudachi: SudachiWords, text: str) -> None:
    """No Japanese text is cut into nothing, particles alone included."""
    assert sudachi(text)
    assert sudachi(text) == SudachiWords()(text)


def test_what_is_not_japanese_is_cut_as_without_sudachi(sudachi: SudachiWords) -> None:
    """English has the same words under both tokenizers, alone and beside Japanese."""
    for text in ("The driver's coca-cola costs 1,000 yen", "a_b-c 2.50", ""):
        assert sudachi(text) == tokenize(text)
    assert set(tokenize("coca-cola")) <= set(sudachi("Coca-Colaの価格"))


@pytest.mark.parametrize("part", ["あいう。", "漢字", "a あ "])
def test_a_long_text_is_cut_whole(sudachi: SudachiWords, part: str) -> None:
    """Texts above what SudachiPy takes at once are read to the end."""
    text = part * (3 * LONGEST_PIECE // len(part)) + "牛乳"
    words = sudachi(text)
    assert words[-3:] == ["牛乳", "牛", "乳"]
    assert len(words) > 10_000


def test_the_tokenizer_names_its_dictionary(sudachi: SudachiWords) -> None:
    """A saved index of another dictionary is not mistaken for this one."""
    assert tokenizer_name(sudachi).startswith("sudachi@1-A-")
    assert tokenizer_name(sudachi) == tokenizer_name(SudachiWords())


def test_svd_finds_without_a_common_word(svd: TfidfSvd) -> None:
    """Words that go together in the bullets are near: a query finds a bullet by its neighbours' words."""
    texts = ["cola soda drink", "cola lemonade drink", "soda drink cold", "rent fee cash", "rent bank cash", "fee bank"]
    index = PlaybookIndex(playbook_of(*texts, "lemonade"), embedder=TfidfSvd(2))
    hits = {hit.bullet.content: hit for hit in index.search(SearchQuery("soda"))}
    assert hits["lemonade"].bm25_score == 0
    assert hits["lemonade"].vector_score > 0.3
    assert "rent bank cash" not in hits


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 40])
def test_fitted_vectors_have_length_one(svd: TfidfSvd, count: int) -> None:
    """However few the texts, each row has length 1, or 0 for a text without a known word, and the shape is [n, d]."""
    texts = [f"word{n % 5} word{n % 3} thing" for n in range(count)]
    vectors = svd.fit(texts)
    rows = vectors.embed([*texts, "unknown", ""])
    assert rows.shape == (count + 2, vectors.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0] * count + [0.0, 0.0], abs=1e-5)
    assert 1 <= vectors.dimensions <= 8


@pytest.mark.parametrize("count", [15, 120])
def test_the_basis_is_the_largest_directions(svd: TfidfSvd, count: int) -> None:
    """Small or large enough for ARPACK, cosines are those of the full decomposition cut to its first directions."""
    generator = np.random.default_rng(7)
    texts = [" ".join(f"w{n}" for n in generator.zipf(1.5, 12) % 60) for _ in range(count)]
    vectors = svd.fit(texts)
    assert vectors.name == svd.fit(texts).name
    rows = vectors.embed(texts)
    dense = np.zeros((len(texts), len(vectors.terms)))
    for row, text in enumerate(texts):
        places, weights = vectors.weighed(Counter(tokenize(text)))
        dense[row, places] = weights
    _, _, directions = np.linalg.svd(dense, full_matrices=False)
    expected = dense @ directions[:8].T
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs(rows @ rows.T - expected @ expected.T).max() < 1e-3


def test_equal_texts_give_one_basis_though_no_direction_is_larger(svd: TfidfSvd) -> None:
    """Pairs of texts without a common word have equal singular values; which directions are taken is no chance."""
    texts = [f"w{n} w{n} v{n}" for n in range(60) for _ in range(2)]
    assert len({svd.fit(texts).name for _ in range(3)}) == 1


def test_new_bullets_are_projected_until_it_is_time_to_fit_again(svd: TfidfSvd) -> None:
    """The basis stays while the playbook grows by less than a fifth, and is fitted anew beyond that, or when asked."""
    playbook = playbook_of(*(f"word{n} thing{n % 4} more{n % 3}" for n in range(20)))
    index = PlaybookIndex(playbook, embedder=svd)
    playbook, _ = apply_delta(playbook, add("thing1 again", "thing2 again", "thing3 again", "word5"))
    index.refresh(playbook)
    assert index.fitted_on == 20
    assert index.search(SearchQuery("word5"))[0].vector_score > 0
    playbook, _ = apply_delta(playbook, add("again and again"))
    index.refresh(playbook)
    assert index.fitted_on == 25
    assert [r.bullet.id for r in index.search(SearchQuery("word5"))] == [
        r.bullet.id for r in PlaybookIndex(playbook, embedder=svd).search(SearchQuery("word5"))
    ]


def test_an_index_on_disk_is_fitted_to_its_playbook(svd: TfidfSvd, tmp_path: Path) -> None:
    """The words are read, and the basis is fitted to the playbook as it is: what was on disk changes no result."""
    path, generator = tmp_path / "p.json", np.random.default_rng(7)
    playbook = playbook_of(*(" ".join(f"w{n}" for n in generator.zipf(1.5, 12) % 60) for _ in range(40)))
    first = open_index(playbook, path, embedder=svd)
    grown, _ = apply_delta(playbook, add("w1 w2 again"))
    for current in (playbook, playbook, grown, grown):
        index, fresh = open_index(current, path, embedder=svd), PlaybookIndex(current, embedder=svd)
        assert index.fitted_on == fresh.fitted_on == len(current)
        for query in ("w1", "w7 w2", "again"):
            assert index.search(SearchQuery(query)) == fresh.search(SearchQuery(query))
    assert first.fitted_on == 40


@pytest.mark.parametrize("embedder", ["", "svd"])
def test_a_setting_finds_japanese_by_its_words(sudachi: SudachiWords, svd: TfidfSvd, embedder: str) -> None:
    """`words` and `embedder` of `[learn]` go together: spellings of one word find each other, to the last score."""
    playbook = playbook_of("林檎を買う", "牛乳を売る", "絵本を読む")
    settings = learn_settings({"words": "sudachi", "embedder": embedder, "min_confidence": 0.0})
    retriever = settings.retriever(DataSet("mine", lambda _: ()))
    vectors = TfidfSvd(tokenizer=sudachi) if embedder else None
    index = PlaybookIndex(playbook, tokenizer=sudachi, embedder=vectors)
    expected = [result.bullet.id for result in index.search(SearchQuery("リンゴ", min_confidence=0.0))]
    assert [*retriever.retrieve(playbook, "リンゴ").injection.bullet_ids] == expected
    assert expected[0] == "rul-00001"
