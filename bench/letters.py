"""What suppliers charge for letters, how much of the letters the reader gets right, and how long one takes.

python bench/letters.py               all letters in `tests/worlds/vending/letters`
python bench/letters.py held_out      one set; `clear_orders` and `nothing_ordered` were written before the reader
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "worlds" / "vending"))

from letters_for_tests import SETUP, Example, corpus, kinds_right, parse_label, read, set_aside

from akinai.worlds.vending.letters import reader
from akinai.worlds.vending.letters.meaning.kinds import CHARGING
from akinai.worlds.vending.rules.suppliers.answers import understand


def report(examples: Sequence[Example]) -> None:
    """Print what is charged without an order, for wrong goods and at once, and the share of intents right by kind."""
    counts = Counter[str]()
    for example in examples:
        labels = [parse_label(label) for label in example.labels]
        charged = [intent for intent in read(example) if intent.kind in CHARGING and intent.clear]
        alone = len(labels) == 1 and labels[0].kind == "order"
        counts["orders"] += example.orders
        counts["alone"] += alone
        counts["placed"] += alone and bool(charged)
        counts["charged without"] += bool(charged) and not example.orders
        wrong = [intent for intent in charged if not any(label.matches(intent) for label in labels)]
        counts["wrong"] += example.orders and bool(wrong)
    right, total = kinds_right(examples)
    print(f"{len(examples)} letters, {total} intents, {right / total:.1%} right by kind")
    print(f"charged without an order: {counts['charged without']} of {len(examples) - counts['orders']}")
    print(f"charged for wrong goods or numbers: {counts['wrong']} of {counts['orders']}")
    print(f"orders that stand alone: {counts['alone']}, placed at once {counts['placed']}, the others quoted")


def time_of_a_letter(examples: Sequence[Example]) -> float:
    """Milliseconds of the processor, the median of a set."""
    took: list[float] = []
    for example in examples:
        reader.forget()
        began = time.process_time()
        understand(SETUP, example.subject, example.body)
        took.append(time.process_time() - began)
    return 1000 * sorted(took)[len(took) // 2]


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    examples = [example for example in (*corpus(), *set_aside()) if name in ("", example.file)]
    if not examples:
        sys.exit(f"no set of letters is called {name!r}")
    report(examples)
    print(f"a letter takes {time_of_a_letter(examples[:300]):.1f} ms")


if __name__ == "__main__":
    main()
