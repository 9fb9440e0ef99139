"""Packages that have the name of a command: calling one calls the command's function, as `akinai.worlds("vending")`."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package that can be called; `akinai.COMMANDS` says where its function is."""

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return sys.modules["akinai"].command(self.__name__.rpartition(".")[2])

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)


def make_callable(package: str) -> None:
    """Let a package be called. It calls this with its own name."""
    sys.modules[package].__class__ = CallablePackage
