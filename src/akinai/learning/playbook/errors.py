"""Errors of playbooks, and the import of optional packages. A bad operation is not an error: it is a `Refusal`.

AkinaiError
├── PlaybookError           the file of a playbook cannot be used
│   ├── CorruptPlaybook     unreadable at a named place; the file is left unchanged
│   ├── NewerPlaybook       written by a newer Akinai
│   └── PlaybookBusy        another process keeps the playbook locked
├── EmbedderError           a third-party embedder failed
└── UsageError
    └── MissingExtra        an optional package is not installed
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from akinai.core.errors import AkinaiError, UsageError


class PlaybookError(AkinaiError):
    """The file of a playbook cannot be used."""


class CorruptPlaybook(PlaybookError):
    """A file cannot be read as a playbook. It is left unchanged."""

    def __init__(self, file: str, place: str, why: str, offer: str = "") -> None:
        super().__init__(f"{file} at {place}: {why}; {offer or 'mend that place; the file is left as it is'}")
        self.file, self.place, self.why = file, place, why


class NewerPlaybook(PlaybookError):
    """The playbook has a newer schema than this Akinai knows."""

    def __init__(self, file: str, found: int, known: int) -> None:
        super().__init__(
            f"{file} has schema {found} and this Akinai reads up to {known}: "
            "upgrade Akinai to read it; nothing was changed"
        )
        self.found = found


class PlaybookBusy(PlaybookError):
    """Another process kept the playbook locked for longer than the timeout."""


class EmbedderError(AkinaiError):
    """A third-party embedder raised, or returned something that is not vectors."""


class MissingExtra(UsageError):
    """A part needs an optional package that is not installed."""

    def __init__(self, part: str, package: str, extra: str = "learn") -> None:
        super().__init__(f"{part} needs {package}, which is not installed; pip install 'akinai[{extra}]'")
        self.package = package


def expect_package(package: str, part: str) -> None:
    """MissingExtra, naming the part that needs it, when a package is not installed."""
    if find_spec(package) is None:
        raise MissingExtra(part, package)


def load_package(module: str, part: str) -> Any:
    """A module of an optional package, untyped. MissingExtra when it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(part, module) from error


def extra_installed() -> bool:
    """Whether SudachiPy and SciPy, the search packages of the extra `learn`, are installed."""
    return all(map(find_spec, ("sudachipy", "sudachidict_core", "scipy")))
