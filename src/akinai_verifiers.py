"""The taskset of verifiers, found by its id `akinai-verifiers`: `vf-validate akinai-verifiers`."""

from akinai.adapters.verifiers import WorldTaskset

__all__ = ["WorldTaskset"]
