"""Search by meaning: labelled queries that paraphrase what they look for."""

import hashlib
from pathlib import Path

import pytest
import yaml

from akinai.retrieval import find_by_meaning
from akinai.retrieval.meaning import stem

DATA = yaml.safe_load((Path(__file__).parent / "meaning.yaml").read_text(encoding="utf-8"))
MEMORIES = {f"{at:05d}": text for at, text in enumerate(DATA["memories"])}


def held_out(query: str) -> bool:
    """Whether a query belongs to the quarter that the search was not fitted to."""
    return int(hashlib.sha256(query.encode()).hexdigest()[0], 16) < 4


def is_found(query: str, answer: str) -> bool:
    return any(MEMORIES[id].startswith(answer) for id in find_by_meaning(query, MEMORIES, 3))


@pytest.mark.parametrize("part", [False, True], ids=["seen", "held out"])
def test_a_paraphrase_finds_a_memory(part: bool) -> None:
    """At least three of four queries find their memory among the first three, also those set aside."""
    queries = [(query, answer) for query, answer in DATA["queries"] if held_out(query) is part]
    assert len(queries) >= 10
    assert sum(is_found(query, answer) for query, answer in queries) / len(queries) >= 0.75


def test_shelf_life_finds_what_spoils() -> None:
    """Neither word of "shelf life" is in the memory that it means."""
    assert is_found("salad shelf life", "Salads spoil")


@pytest.mark.parametrize(
    "words",
    [
        ("delivery", "deliveries", "delivered", "delivering"),
        ("busy", "busiest"),
        ("stop", "stopped"),
        ("sold", "selling"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: tuple[str, ...]) -> None:
    """Endings do not matter."""
    assert len({stem(word) for word in words}) == 1


def test_results_do_not_depend_on_order() -> None:
    """The same texts in another order are found in the same order."""
    backwards = dict(reversed(MEMORIES.items()))
    assert find_by_meaning("discount on drinks", backwards) == find_by_meaning("discount on drinks", MEMORIES)
    assert find_by_meaning("", MEMORIES) == []
