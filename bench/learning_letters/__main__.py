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
import numpy as np  # noqa: E402
import roles_network  # noqa: E402
import torch  # noqa: E402
from letters_to_learn import vectors_of  # noqa: E402
from torch import nn  # noqa: E402

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


def whole_numbers(net: nn.Module) -> dict[str, np.ndarray]:
    """The weights as whole numbers of at most seven bits and a sign, those of sums larger."""
    with torch.no_grad():
        part = {name: value.double().numpy() for name, value in net.state_dict().items()}
    words = net.text.words
    filters = [part[f"text.filters.{at}.weight"] for at in range(network.WIDEST)]  # filters x dimensions x width
    table = part["text.table.weight"]
    table_scale = 127 / np.quantile(np.abs(table), 0.9998)
    filter_scale = 127 / max(np.quantile(np.abs(weight), 0.9998) for weight in filters)
    bits = bits_of(table_scale * filter_scale, 9.0)
    response = table_scale * filter_scale / 2**bits
    arrays = {
        "words": np.frombuffer("\n".join(sorted(words, key=words.__getitem__)).encode(), dtype=np.uint8),
        "table": signed(table * table_scale),
    }
    for at, kernel in enumerate(filters):
        arrays[f"filters{at + 1}"] = signed(kernel.transpose(2, 1, 0) * filter_scale)
        arrays[f"bias{at + 1}"] = np.rint(part[f"text.filters.{at}.bias"] * table_scale * filter_scale).astype(np.int64)
    scale, layers = response, list[int]()
    while f"context.{len(layers)}.weight" in part:
        at = len(layers)
        weight, bias = part[f"context.{at}.weight"].T, part[f"context.{at}.bias"]
        arrays[f"context{at + 1}"], arrays[f"context{at + 1}_bias"], scale, of_layer = layer_of(weight, bias, scale)
        layers.append(of_layer)
    weight = part["hidden.weight"].T.copy()  # what comes from the last layer has a scale of its own
    if layers:
        weight[-part["context.0.bias"].size :] *= response / scale
    arrays["hidden"], arrays["hidden_bias"], hidden, of_hidden = layer_of(weight, part["hidden.bias"], response)
    unit = 256 * hidden
    return arrays | {
        "out": np.rint(part["out.weight"].T * unit / hidden).astype(np.int16),
        "direct": np.rint(part["direct.weight"].T * unit / response).astype(np.int32),
        "out_bias": np.rint(part["out.bias"] * unit).astype(np.int64),
        "scales": np.array([bits, round(response), round(unit), of_hidden, *layers]),
    }


def signed(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), -127, 127).astype(np.int8)


def bits_of(scale: float, most: float) -> int:
    """The bits by which sums of a scale are made smaller so that the largest value has seven."""
    return max(0, round(np.log2(scale * most / 127)))


def layer_of(weight: np.ndarray, bias: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray, float, int]:
    """A layer over values of a scale: its weights, its biases, the scale of its sums, and their bits too many."""
    own = 127 / np.quantile(np.abs(weight), 0.9998)
    bits = bits_of(scale * own, 12.0)
    return signed(weight * own), np.rint(bias * scale * own).astype(np.int64), scale * own / 2**bits, bits


if __name__ == "__main__":
    main()
