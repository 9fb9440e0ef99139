"""Laws of `normalise` and `tokenize`."""

from hypothesis import example, given
from hypothesis import strategies as st

from akinai.retrieval import normalise, tokenize
from together import together

text = st.text(max_size=40)


@given(text)
@example("İ\u0316")
@example("ΑΣ ﾊﾟﾝ ㌀ ᴬ")
def test_normalising_twice_is_normalising_once(text: str):
    """A normalised text is left as it is."""
    assert normalise(normalise(text)) == normalise(text)


@given(text)
def test_text_with_a_letter_or_digit_gives_a_word(text: str):
    """No script yields zero words: one letter or digit is enough, and none of the words is empty."""
    words = tokenize(text)
    assert bool(words) >= any(character.isalnum() for character in normalise(text))
    assert all(words)


@given(text, text)
def test_a_space_is_a_border(left: str, right: str):
    """The words of two texts with a space between are the words of each."""
    assert tokenize(f"{left} {right}") == tokenize(left) + tokenize(right)


@given(text)
def test_form_does_not_matter(text: str):
    """A text and its normalised form have the same words."""
    assert tokenize(text) == tokenize(normalise(text))


@together(
    ("text", "same"),
    [("ＡＢＣ", "abc"), ("ﾊﾟﾝ", "パン"), ("ｺｰﾋｰ", "コーヒー"), ("Straße", "STRAßE"), ("①", "1"), ("㎖", "ml")],
)
def test_widths_and_cases_are_folded(text: str, same: str):
    """Half-width, full-width, circled and capital forms give the words of the plain form."""
    assert tokenize(text) == tokenize(same) != []


@together(
    ("query", "document", "shared"),
    [
        ("牛乳", "牛乳を買う", {"牛乳", "牛", "乳"}),
        ("打ち合わせ", "打合せ", {"打", "合"}),
        ("水", "水を買う", {"水"}),
        ("パ", "パ", {"パ"}),
        ("우유", "우유를 사다", {"우유"}),
        ("น้ำ", "ซื้อน้ำ", {"น้", "้ํ", "ํา"}),
        ("葛\U000e0100城", "葛城", {"葛城", "葛", "城"}),
        ("coca cola", "Coca-Cola", {"coca", "cola"}),
        ("cocacola", "Coca-Cola", {"cocacola"}),
        ("driver", "the driver's", {"driver"}),
        ("drivers", "driver’s", {"drivers"}),
        ("eau", "l'eau", {"eau"}),
        ("coke", "coke_can", {"coke"}),
        ("1000", "1,000円", {"1000"}),
        ("हिन्दी", "हिन्दी में", {"हिन्दी"}),
    ],
)
def test_query_shares_words_with_document(query: str, document: str, shared: set[str]):
    """Texts that a person expects to match share exactly these words."""
    assert set(tokenize(query)) & set(tokenize(document)) == shared


def test_words_in_full():
    """One sentence of each kind, split as documented; repeats are kept."""
    assert tokenize("Pay $1,250.50 for x-ray v1.2, don't PAY") == (
        ["pay", "1250.50", "for", "x", "ray", "xray", "v1.2", "don", "dont", "pay"]
    )
    assert tokenize("10時にAランチ・茶") == ["10", "時に", "時", "a", "ラン", "ンチ", "茶"]
    assert tokenize(" … 🍎 _ - ' ") == []


def test_one_is_not_ten():
    """A number is one word: 1 and 10, 2.5 and 25 share nothing."""
    assert not set(tokenize("1 2.5")) & set(tokenize("10 25 2 5"))
