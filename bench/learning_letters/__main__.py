"""Learns the networks that read letters to suppliers, from the letters of `tests/worlds/vending/letters`.

python bench/learning_letters          learns from all sets but `held_out`; writes `kinds.bin` and `roles.bin`
python bench/learning_letters owners   learns without that set and says how much of it the reader gets right

PyTorch is needed: `pip install torch`. Learning takes some fifteen minutes on a core.
"""

import argparse
import sys
from pathlib import Path

BENCH = Path(__file__).parents[1]
sys.path[:0] = [str(BENCH), str(BENCH.parent / "tests" / "worlds" / "vending")]

import kinds_network  # noqa: E402
import roles_network  # noqa: E402
from letters_to_learn import vectors_of  # noqa: E402
from whole_numbers import whole_numbers  # noqa: E402

import letters  # noqa: E402
from akinai.worlds.vending.letters import reader  # noqa: E402
from akinai.worlds.vending.letters.meaning import kinds, network, roles  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without", nargs="?", default="", help="a set to leave out and to judge")
    parser.add_argument("--vectors", type=Path, help="vectors that words begin with; without them words begin anywhere")
    asked = parser.parse_args()
    without, vectors = {"held_out", asked.without}, vectors_of(asked.vectors)
    for module, of_kind in ((kinds, kinds_network), (roles, roles_network)):
        data = of_kind.samples(without)
        print(f"{len(data)} letters and sentences")
        written = network.render_weights(whole_numbers(of_kind.learned(data, vectors)))
        if asked.without:
            weights = network.parse_weights(written)
            module.weights = lambda weights=weights: weights
        else:
            Path(module.__file__).with_suffix(".bin").write_bytes(written)
    if asked.without:
        reader.forget()
        letters.report(asked.without)


if __name__ == "__main__":
    main()
