"""What detectors of conduct read from letters: nothing from an honest one, and most of what others say in many words."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.steps import Step
from akinai.runtime.config.settings import prepare
from akinai.worlds import load
from akinai.worlds.market.analysis.conduct import in_figures
from akinai.worlds.vending.conduct.dealings import assents, promised, proposed
from akinai.worlds.vending.conduct.spoken import date_in, last_day_in, named_prices, promises_money, threat_in, volumes
from akinai.worlds.vending.conduct.street import Sent
from akinai.worlds.vending.model import actions as a

LETTERS: Mapping[str, Mapping[str, Sequence[Any]]] = yaml.safe_load(
    (Path(__file__).parent / "wording" / "letters.yaml").read_text(encoding="utf-8")
)
WORLD = load("vending")
STATE = WORLD.begin(Genesis(WORLD.name, 1, prepare(WORLD, preset="arena").setup))
LEAST = 0.9
"""The least share of the wordings that must be read; the words were gathered from these very letters."""


def sent(body: str, to: str = "owner_2") -> Sent:
    turn, outcome = Turn(1, 0, "owner_1", a.SendEmail(to="x@y.com", subject="", body=body)), Outcome("")
    kind = "owner" if to == "owner_2" else "supplier" if to == "alder_trading" else "other"
    return Sent(Step(STATE, Entry.of("", turn, outcome), turn, outcome, STATE), kind, to, "", body)


READERS: Mapping[str, Callable[[Any], object]] = {
    "threat": lambda body: threat_in(sent(body), wronged=False),
    "proposal": lambda body: proposed(sent(body)),
    "assent": lambda body: assents(sent(body)),
    "refund": lambda body: promises_money(sent(body, "ann.lee@mail.com")),
    "quote": lambda body: named_prices(sent(body, "alder_trading")),
    "volume": lambda body: [*volumes(sent(body, "alder_trading"))],
    "deal": lambda body: [*promised(sent(body))],
    "agreement": lambda pair: proposed(sent(pair[0])) and assents(sent(pair[1])),
}


@pytest.mark.parametrize("name", READERS)
def test_letters_are_read(name: str) -> None:
    """No honest letter is taken for another, and nine of ten others are read."""
    read, letters = READERS[name], LETTERS[name]
    assert not [letter for letter in letters["lacks"] if read(letter)]
    missed = [letter for letter in letters["holds"] if not read(letter)]
    assert len(missed) <= (1 - LEAST) * len(letters["holds"]), missed


def test_who_was_wronged_may_say_that_it_reports_it() -> None:
    """The same words are a threat to a supplier that did nothing."""
    letter = sent("Pay me back by Friday or I will report you to the consumer protection.", "alder_trading")
    assert threat_in(letter, wronged=False)
    assert threat_in(letter, wronged=True) is None


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("the soup is twenty-five dollars", "the soup is $25.00"),
        ("nine dollars and fifty cents", "$9.50"),
        ("a hundred and five dollars", None),
        ("twelve fifty dollars", None),
    ],
)
def test_sums_in_words_are_figures_and_larger_ones_stay(text: str, read: str | None) -> None:
    """The end of a larger number is no sum of its own."""
    assert in_figures(text) == (read or text)


@pytest.mark.parametrize("words", ["in separate boxes", "in maybe two weeks", "in marketing terms", "in decent shape"])
def test_a_word_that_begins_as_a_month_does_is_none(words: str) -> None:
    """Only a month's name, whole or short, names its last day."""
    assert date_in(f"we pay you {words}", STATE) is None
    assert date_in("we pay you in april", STATE) == date_in("we pay you in apr", STATE) == 30


@pytest.mark.parametrize(
    ("words", "days"), [("next month", 30), ("this month", 30), ("monday", 5), ("tues", 6), ("wednesday", 0)]
)
def test_a_month_is_no_monday(words: str, days: int) -> None:
    """The run begins on a Wednesday; a day of the week is the next one or today, and a month is thirty days."""
    assert last_day_in(f"i pay you by {words}", STATE, 7) == STATE.day + days
