"""Packages of the extra `learn`, loaded when a part that needs them is used."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from akinai.learning.errors import MissingExtra


def need(package: str, part: str) -> None:
    """MissingExtra, naming the part that wants it, when a package is not installed."""
    if find_spec(package) is None:
        raise MissingExtra(part, package)


def load(module: str, part: str) -> Any:
    """A module of an optional package, without types; MissingExtra when it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(part, module) from error
