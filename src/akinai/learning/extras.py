"""Optional packages of the learner, imported where they are needed."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from akinai.core.errors import MissingExtra


def expect_package(package: str, part: str) -> None:
    """MissingExtra, naming the part that needs it, when a package is not installed."""
    if find_spec(package) is None:
        raise MissingExtra(part, package)


def load_package(module: str, part: str, extra: str = "learn", package: str = "") -> Any:
    """A module of an optional package, untyped. MissingExtra, which names the package, when it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(part, package or module, extra) from error


def extra_installed() -> bool:
    """Whether SudachiPy and SciPy, the search packages of the extra `learn`, are installed."""
    return all(map(find_spec, ("sudachipy", "sudachidict_core", "scipy")))
