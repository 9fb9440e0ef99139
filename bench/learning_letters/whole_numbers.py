"""Makes the weights of a network whole numbers."""

import numpy as np
import torch
from torch import nn

from akinai.worlds.vending.letters.meaning import network


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
