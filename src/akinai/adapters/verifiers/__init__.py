"""verifiers: a world as a taskset. A task is a seed, its tools are the actions, its reward is what the score gained."""

from akinai.core.errors import MissingExtra

try:
    from akinai.adapters.verifiers.taskset import WorldTask, WorldTaskset, WorldTasksetConfig
except ImportError as error:
    raise MissingExtra("a taskset of verifiers", "verifiers", "verifiers") from error

__all__ = ["WorldTask", "WorldTaskset", "WorldTasksetConfig"]
