"""Akinai without the packages of its doors: each says what to install."""

import sys

import pytest

import forked

PARTS = {
    "gymnasium": "an environment of Gymnasium needs gymnasium",
    "openenv": "an environment of OpenEnv needs openenv",
    "pettingzoo": "a parallel environment needs pettingzoo",
    "verifiers": "a taskset of verifiers needs verifiers",
}


@pytest.mark.parametrize(("name", "need"), PARTS.items())
def test_a_door_says_what_to_install(name: str, need: str) -> None:
    """In a sentence."""
    program = f"import sys; sys.modules[{name!r}] = None; import akinai.adapters.{name}"
    done = forked.run([sys.executable, "-c", program])
    sentence = f"{need}, which is not installed; pip install 'akinai[{name}]'"
    assert done.stderr.splitlines()[-1].endswith(f"MissingExtra: {sentence}")
