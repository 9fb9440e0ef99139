"""Spaces of text. Gymnasium's own `Text` holds short words of letters and digits."""

import json
import multiprocessing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.vector.utils import (
    create_shared_memory,  # pyright: ignore[reportUnknownVariableType] - of arrays of any type
    read_from_shared_memory,
    write_to_shared_memory,
)

from akinai.core.actions import Action

WORDS = "water price order please send today machine list 10 20 thank you".split()
"""The words of sampled texts."""
LONGEST = 5
"""Words of the longest sampled text."""
WIDEST = 100
"""Distance of a sampled number from the only limit of its range."""
SHARED_BYTES = 2**18
"""Bytes of memory that an environment in a process of its own has for an observation."""
HEAD_BYTES = 4
"""The first of them, which hold the length."""


class TextSpace(Space[str]):
    """Any text. Samples are a few words."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(dtype=np.str_, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A few random words; text has neither masks nor probabilities."""
        return _words(self.np_random)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


@create_shared_memory.register(TextSpace)
def _share(space: TextSpace, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.RawArray("B", n * SHARED_BYTES)


@write_to_shared_memory.register(TextSpace)
def _write(space: TextSpace, index: int, value: str, shared_memory: Any) -> None:
    data, start = value.encode(), index * SHARED_BYTES
    if len(data) > SHARED_BYTES - HEAD_BYTES:
        raise ValueError(
            f"an observation of {len(data):,} bytes: Gymnasium's shared memory has {SHARED_BYTES:,} here; "
            "make_vec(..., vector_kwargs={'shared_memory': False}) has no such limit"
        )
    view = memoryview(shared_memory).cast("B")
    view[start : start + HEAD_BYTES + len(data)] = len(data).to_bytes(HEAD_BYTES, "little") + data


@read_from_shared_memory.register(TextSpace)  # pyright: ignore[reportArgumentType] - what it may return is for its own spaces
class _SharedTexts(Sequence[str]):
    """The texts that the memory holds now. Gymnasium asks for this once, and copies it at each step."""

    def __init__(self, space: TextSpace, shared_memory: Any, n: int = 1) -> None:
        self._view, self._count = memoryview(shared_memory).cast("B"), n

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> str:  # pyright: ignore[reportIncompatibleMethodOverride] - no slices
        begin = range(self._count)[index] * SHARED_BYTES + HEAD_BYTES
        size = int.from_bytes(self._view[begin - HEAD_BYTES : begin], "little")
        return bytes(self._view[begin : begin + size]).decode()

    def __deepcopy__(self, _: object) -> tuple[str, ...]:
        return tuple(self)


class ReplySpace(TextSpace):
    """The replies of an agent: any text, since a reply without an action is refused. Samples are actions of a world."""

    def __init__(self, verbs: Sequence[type[Action]], seed: int | np.random.Generator | None = None) -> None:
        super().__init__(seed)
        self._tools = [verb.tool(inline=True) for verb in verbs]

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A random action with random arguments of the right types, which the world may still refuse."""
        tool = self._tools[self.np_random.integers(len(self._tools))]
        return json.dumps({"action": tool["name"], "arguments": _drawn(tool["parameters"], self.np_random)})


def _words(random: np.random.Generator) -> str:
    return " ".join(random.choice(WORDS, size=int(random.integers(1, LONGEST + 1))))


def _drawn(schema: Mapping[str, Any], random: np.random.Generator) -> Any:
    """A value that a JSON Schema without references describes, lengths and patterns of texts aside."""
    choices: list[Any] = schema.get("enum") or []
    if "const" in schema:
        return schema["const"]
    if choices:
        return choices[random.integers(len(choices))]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _drawn(options[random.integers(len(options))], random)
    match schema.get("type"):
        case "object":
            required: Sequence[str] = schema.get("required", ())
            return {
                name: _drawn(inner, random)
                for name, inner in schema.get("properties", {}).items()
                if name in required or random.random() < 0.5
            }
        case "array":
            least = int(schema.get("minItems", 0))
            count = random.integers(least, min(least + 2, int(schema.get("maxItems", least + 2))) + 1)
            return [_drawn(schema.get("items", {}), random) for _ in range(count)]
        case "integer" | "number":
            least = int(schema.get("minimum", 0))
            return int(random.integers(least, min(least + WIDEST, int(schema.get("maximum", least + WIDEST))) + 1))
        case "boolean":
            return bool(random.integers(2))
        case "null":
            return None
        case _:
            return _words(random)
