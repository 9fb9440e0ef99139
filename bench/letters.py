"""How much of the letters to suppliers the reader gets right, and how long a letter takes.

python bench/letters.py           the set that was left out of all learning
python bench/letters.py owners    that set; `bench/learning_letters` learns anew
python bench/letters.py six_hands a set of `fresh`, from which nothing was learned yet
"""

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "worlds" / "vending"))

from letters_for_tests import SETUP, Example, corpus, fresh, parse_label, read

from akinai.worlds.vending.letters import reader
from akinai.worlds.vending.letters.meaning.kinds import CHARGING
from akinai.worlds.vending.rules.suppliers.answers import understand


def letters_of(name: str) -> list[Example]:
    return [example for example in (*corpus(), *fresh()) if example.file == name]


def kind_of(kind: str, topic: str | None) -> str:
    return f"ask {topic}" if kind == "ask" else kind


def report(name: str) -> None:
    """Print the shares of intents found and right by kind, and the letters charged wrongly and missed."""
    examples = letters_of(name)
    if not examples:
        sys.exit(f"no set of letters is called {name!r}")
    kinds, right, labelled = Counter[str](), Counter[str](), Counter[str]()
    beside = 0
    for example in examples:
        labels, left = [parse_label(label) for label in example.labels], list(read(example))
        for label in labels:
            labelled[label.kind] += 1
            match = next((intent for intent in left if label.matches(intent)), None)
            right[label.kind] += match is not None
            if match is not None:
                left.remove(match)
        counts = Counter(kind_of(intent.kind, intent.topic) for intent in read(example))
        for label in labels:
            kind = kind_of(label.kind, label.topic)
            kinds[label.kind] += counts[kind] > 0
            counts[kind] -= counts[kind] > 0
        beside += max(0, len(read(example)) - len(labels))
    total = labelled.total() + beside
    print(f"{name}: {len(examples)} letters, {labelled.total()} intents, {beside} read beside them")
    print(
        f"kinds right {kinds.total() / total:.1%}, right in all goods, prices and numbers {right.total() / total:.1%}"
    )
    for kind, count in labelled.most_common():
        print(f"  {kind:10} {count:5}  kind {kinds[kind] / count:6.1%}  all {right[kind] / count:6.1%}")
    charged, innocent, missed = charges(examples)
    print(f"charged that order nothing: {charged} of {innocent}; orders missed: {missed} of {len(examples) - innocent}")


def charges(examples: list[Example]) -> tuple[int, int, int]:
    """Letters that order nothing and are charged, all that order nothing, and those that order and are not charged."""
    charging = {example: bool({intent.kind for intent in read(example)} & set(CHARGING)) for example in examples}
    innocent = [example for example in examples if not example.orders]
    missed = sum(example.orders and not charging[example] for example in examples)
    return sum(charging[example] for example in innocent), len(innocent), missed


def time_of_a_letter(name: str) -> float:
    """Milliseconds, the median of a set."""
    took: list[float] = []
    for example in letters_of(name):
        reader.forget()
        began = time.perf_counter()
        understand(SETUP, example.subject, example.body)
        took.append(time.perf_counter() - began)
    return 1000 * sorted(took)[len(took) // 2]


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "held_out"
    report(name)
    print(f"a letter takes {time_of_a_letter(name):.1f} ms")


if __name__ == "__main__":
    main()
