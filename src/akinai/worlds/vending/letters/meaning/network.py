"""The networks that read letters, in whole numbers: their sums are exact on every machine.

NumPy multiplies whole numbers itself. Floats it hands to a linear algebra library, whose threads spin while they wait
for each other and cost several times the work.

A text is the largest response of each filter over one to four tokens in a row (Kim, 2014, "Convolutional Neural
Networks for Sentence Classification", EMNLP). A clause has five flags besides; its kind is judged by itself, the
clauses before and after it, what two rings of clauses around it say together, the last sentence before it, the subject,
and the largest responses of the whole letter. `docs/design/letters.md` says how the weights were learned.
"""

import json
import math
import pkgutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

UNKNOWN = 1
"""The row of the table of words for words that it does not have; row 0 is the blank between clauses."""
WIDEST = 4
"""The most tokens in a row that a filter sees."""


@dataclass(frozen=True, slots=True)
class Row:
    """A clause, or the subject of a letter, as the network's input."""

    tokens: Sequence[str]
    flags: Sequence[bool]
    """Whether it is an item of a list, asks, names goods with quantities, has no words beside goods, is the subject."""

    @property
    def wordless(self) -> bool:
        """Whether it holds goods and numbers alone."""
        return self.flags[3]

    @property
    def item(self) -> bool:
        """Whether it is wordless, or a short item of a list that names goods with a quantity."""
        listed, _, goods, wordless, _ = self.flags
        return wordless or (listed and goods and len(self.tokens) < 9)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the network: its outputs are whole numbers from 0 to 127."""

    kernel: "np.ndarray"
    """Inputs by outputs."""
    bias: "np.ndarray"
    bits: int
    """Bits by which the sums are shifted right."""

    def of(self, values: "np.ndarray") -> "np.ndarray":
        """The outputs for rows of inputs."""
        return _smaller(product(values, self.kernel) + self.bias, self.bits)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a network: integers of 32 bits, which hold every sum; those of the scores have 64."""

    words: dict[str, int]
    table: "np.ndarray"
    """Words by dimensions."""
    filters: "np.ndarray"
    """Dimensions by steps of filters: width 1, the first and second token of width 2, the three of width 3, ..."""
    biases: "tuple[np.ndarray, ...]"
    """One array a width, with a bias for each filter."""
    bits: int
    """Bits by which responses are shifted right."""
    context: tuple[Layer, ...]
    """Layers over a clause and its neighbours, each over the outputs of the one before."""
    hidden: Layer
    out: "np.ndarray"
    direct: "np.ndarray"
    out_bias: "np.ndarray"
    flag: int
    """The value of a flag that is set."""
    unit: int
    """The score that equals one natural unit of log odds."""

    def scores(self, values: "np.ndarray", direct: "np.ndarray") -> "np.ndarray":
        """Rows by classes: the scores from the hidden layer and from inputs that bypass it."""
        return product(self.hidden.of(values), self.out) + product(direct, self.direct) + self.out_bias


def packaged(name: str) -> Weights:
    """The weights of that name in the package."""
    return parse_weights(pkgutil.get_data(__package__ or "", name) or b"")


def render_weights(arrays: "Mapping[str, np.ndarray]") -> bytes:
    """Arrays of whole numbers, compressed: a line of JSON with their names, types and shapes, then the numbers."""
    parts = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    head = json.dumps({name: (part.dtype.str, part.shape) for name, part in parts.items()})
    return zlib.compress(head.encode() + b"\n" + b"".join(part.tobytes() for part in parts.values()), 9)


def parse_weights(data: bytes) -> Weights:
    """The weights that `render_weights` wrote."""
    import numpy as np

    head, _, numbers = zlib.decompress(data).partition(b"\n")
    arrays: dict[str, np.ndarray] = {}
    at = 0
    for name, (kind, shape) in json.loads(head).items():
        arrays[name] = np.frombuffer(numbers, kind, math.prod(shape), at).reshape(shape)
        at += arrays[name].nbytes
    words = bytes(arrays.pop("words")).decode().split("\n")
    bits, flag, unit, hidden, *context = (int(scale) for scale in arrays.pop("scales"))
    wide = {name: arrays.pop(name).astype(np.int64) for name in ("out", "direct", "out_bias")}
    table = arrays.pop("table")
    whole = {name: array.astype(np.int32) for name, array in arrays.items()}
    layers = [
        Layer(whole[f"context{at}"], whole[f"context{at}_bias"], layer_bits)
        for at, layer_bits in enumerate(context, start=1)
    ]
    return Weights(
        {word: at for at, word in enumerate(words, start=UNKNOWN + 1)},
        table,
        np.hstack([step for width in range(1, WIDEST + 1) for step in whole[f"filters{width}"]]),
        tuple(whole[f"bias{width}"] for width in range(1, WIDEST + 1)),
        bits, tuple(layers), Layer(whole["hidden"], whole["hidden_bias"], hidden),
        wide["out"], wide["direct"], wide["out_bias"], flag, unit,
    )  # fmt: skip


def product(rows: "np.ndarray", columns: "np.ndarray") -> "np.ndarray":
    """The matrix product of whole numbers, by `einsum`, since `@` takes several times as long for them."""
    import numpy as np

    return np.einsum("ij,jk->ik", rows, columns)


_MOST = 127
"""The largest response."""


def scores(rows: Sequence[Row], net: Weights) -> "np.ndarray":
    """Rows by kinds: the integer score of each kind. The first row is the subject."""
    import numpy as np

    flags = np.array([row.flags for row in rows], dtype=np.int32) * np.int32(net.flag)
    clauses = np.hstack([responses([row.tokens for row in rows], net), flags])
    count = len(rows)
    at = np.arange(count)
    before, after = np.maximum(at - 1, 0), np.minimum(at + 1, count - 1)
    context = clauses
    for layer in net.context:
        context = layer.of(np.hstack([context, context[before], context[after]]))
    around = np.hstack(
        [
            clauses,
            clauses[before],
            clauses[after],
            clauses[heads(rows)],
            np.repeat(clauses[:1], count, axis=0),
            np.repeat(clauses.max(axis=0, keepdims=True), count, axis=0),
            context,
        ]
    )
    return net.scores(around, clauses)


def heads(rows: Sequence[Row]) -> list[int]:
    """For each row, the index of the last row before it that holds more than goods and numbers, else 0, the subject."""
    leading = [0] * len(rows)
    for at in range(2, len(rows)):
        leading[at] = leading[at - 1] if rows[at - 1].wordless else at - 1
    return leading


def responses(texts: Sequence[Sequence[str]], net: Weights) -> "np.ndarray":
    """The largest response of each filter to each text, given as tokens."""
    import numpy as np

    blanks = [0] * (WIDEST - 1)
    ids = list(blanks)
    starts: list[int] = []
    for tokens in texts:
        starts.append(len(ids) - len(blanks))
        ids += [net.words.get(token, UNKNOWN) for token in tokens] or [UNKNOWN]
        ids += blanks
    unique, words = np.unique(ids, return_inverse=True)  # each word is multiplied once
    products = product(net.table[unique].astype(np.int32), net.filters).reshape(len(unique), -1, len(net.biases[0]))
    last = len(ids) - len(blanks)
    largest: list[np.ndarray] = []
    steps = 0
    for width, bias in enumerate(net.biases, start=1):
        first = WIDEST - width
        sums = sum(products[words[first + step : first + step + last], steps + step] for step in range(width)) + bias
        largest.append(np.maximum.reduceat(sums, starts, axis=0))
        steps += width
    return _smaller(np.hstack(largest), net.bits)


def _smaller(sums: "np.ndarray", bits: int) -> "np.ndarray":
    """Sums shifted right and clipped to 0 to 127."""
    import numpy as np

    return np.clip(sums >> bits, 0, _MOST)
