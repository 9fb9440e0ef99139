"""What all tests share: Hypothesis without deadlines, since machines are shared; in CI the same examples each time."""

import os

import pytest
from hypothesis import settings

settings.register_profile("akinai", deadline=None, derandomize="AKINAI_CI" in os.environ)
settings.load_profile("akinai")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden playthroughs anew")
