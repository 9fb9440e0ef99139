"""How much longer a text of twice the length takes to read: letters to suppliers, and what agents write.

python bench/long_texts.py        the pieces of which the tests make long texts, the slowest to grow first
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "worlds" / "vending"))

import test_coherence_claims
import test_suppliers
from letters_for_tests import SETUP

from akinai.worlds.vending.letters import reader
from akinai.worlds.vending.rules.suppliers.answers import understand

LENGTHS = 20_000, 40_000
"""Characters of the shorter and the longer text."""
BUDGET = 3.0
"""The time grows as the text does: twice, and what a machine adds."""
COUNTS = "and 24 water "


def read_letter(text: str) -> None:
    reader.forget()
    understand(SETUP, "Order", text)


def seconds(read: Callable[[str], object], piece: str, length: int) -> float:
    """Seconds of the processor, the better of three readings."""
    text, best = piece * (length // len(piece)), float("inf")
    for _ in range(3):
        began = time.process_time()
        read(text)
        best = min(best, time.process_time() - began)
    return best


def growths() -> Iterator[tuple[float, str, str]]:
    """The ratio of the times of the longer and the shorter text, who reads, and of which piece the text is made."""
    for name, read, pieces in (
        ("letters", read_letter, (COUNTS, *test_suppliers.LONG)),
        ("claims", test_coherence_claims.read_all, test_coherence_claims.LONG),
    ):
        for piece in pieces:
            short, long = (seconds(read, piece, length) for length in LENGTHS)
            yield long / max(short, 0.001), name, piece


def main() -> None:
    print(f"{'reader':8} {'piece':40} {'growth':>6}  of its budget of {BUDGET:g}")
    for growth, name, piece in sorted(growths(), reverse=True):
        print(f"{name:8} {piece!r:40} {growth:6.2f}  {growth / BUDGET:.2f}")


if __name__ == "__main__":
    main()
