"""Learns the networks that read letters to suppliers, from the letters of `tests/worlds/vending/letters`.

python bench/learning_letters          learns from all sets but `held_out`, and writes the weights of three networks
python bench/learning_letters owners   learns without that set and says how much of it the reader gets right

PyTorch is needed: `pip install torch`. Learning takes some fifty minutes on a core; `--only kinds1`, `kinds2`
or `roles` learns one of them.
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

NETWORKS = {"kinds1": (kinds_network, 0), "kinds2": (kinds_network, 1), "roles": (roles_network, 0)}
"""By name, the module that trains a network, and the seed of the order of its letters."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without", nargs="?", default="", help="a set to leave out and to judge")
    parser.add_argument("--vectors", type=Path, help="vectors that words begin with; without them words begin anywhere")
    parser.add_argument("--only", choices=[*NETWORKS], help="the network to learn; without it all of them")
    options = parser.parse_args()
    without, vectors = {"held_out", options.without}, vectors_of(options.vectors)
    learned = {}
    for name in [options.only] if options.only else NETWORKS:
        of_kind, seed = NETWORKS[name]
        data = of_kind.samples(without)
        print(f"{name}: {len(data)} letters and sentences")
        written = network.render_weights(whole_numbers(of_kind.train(data, vectors, seed)))
        learned[name] = network.parse_weights(written)
        if not options.without:
            (Path(network.__file__).parent / f"{name}.bin").write_bytes(written)
    if options.without:
        both, of_roles = (learned.get("kinds1"), learned.get("kinds2")), learned.get("roles", roles.weights())
        of_kinds = tuple(net for net in both if net) or kinds.weights()
        kinds.weights, roles.weights = lambda: of_kinds, lambda: of_roles
        reader.forget()
        letters.report(options.without)


if __name__ == "__main__":
    main()
