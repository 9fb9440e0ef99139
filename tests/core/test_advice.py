"""Sentences with places for values: what is written is read back, and nothing else is."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from akinai.core.lessons import SentenceTemplate, TemplateAdvice, choice, repeated
from together import together


@dataclass(frozen=True)
class Sold(TemplateAdvice):
    """What was sold."""

    name: str
    units: int
    cents: int
    share: float
    often: bool | None
    rows: tuple[tuple[str, int], ...]

    @property
    def twice(self) -> int:
        return 2 * self.units

    TEMPLATE = SentenceTemplate(
        "{often} {name} ({twice:int} is twice {units:int}) at {cents:money}, {share:percent} of {rows}.",
        often=choice({True: "Sell", False: "Do not sell", None: "Look at"}),
        rows=repeated(
            SentenceTemplate("{0:word} {1:money}"), lambda rows: tuple((row["0"], row["1"]) for row in rows), "; "
        ),
    )


@given(
    name=st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1),
    units=st.integers(0, 10**14),
    cents=st.integers(-(10**12), 10**12),
    percent=st.integers(-500, 500),
    often=st.sampled_from([True, False, None]),
    rows=st.lists(st.tuples(st.text("abcxyz_", min_size=1, max_size=8), st.integers(0, 10**6)), min_size=1).map(tuple),
)
def test_what_is_written_is_read_back(
    name: str, units: int, cents: int, percent: int, often: bool | None, rows: tuple[tuple[str, int], ...]
) -> None:
    """Fields come back as they were, whatever follows from them; brackets, braces and dots in a name are text."""
    advice = Sold(name, units, cents, percent / 100, often, rows)
    assert Sold.parse(advice.sentence()) == advice


@together(
    "text",
    [
        "Sell tea (4 is twice 2) at $1.00, 50% of .",
        "Sell tea (4 is twice 2) at $1.00, 50% of nothing.",
        "Sell tea (4 is twice -2) at $1.00, 50% of tea $1.00.",
        f"Sell tea (4 is twice {'9' * 5000}) at $1.00, 50% of tea $1.00.",
        "Sell tea (4 is twice 2) at $1,00,0.00, 50% of tea $1.00.",
        "Sell tea (4 is twice 2) at $1.00, 50% of tea $1.00. And more.",
        "",
    ],
)
def test_what_is_no_such_sentence_is_nothing(text: str) -> None:
    """A list that holds nothing, a number that is none or beyond all measure, words behind the end."""
    assert Sold.parse(text) is None
