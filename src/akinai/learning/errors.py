"""What can go wrong with a playbook outside its rules. A bad operation is not here: it is a `Refusal`.

AkinaiError
├── PlaybookError           a playbook's file does not say what it should
│   ├── CorruptPlaybook     unreadable at a named place; the file is left as it was
│   ├── NewerPlaybook       written by a newer Akinai
│   └── PlaybookBusy        another process holds the playbook and does not let go
├── EmbedderError           an embedder of somebody else's broke
└── UsageError
    └── MissingExtra        a part that needs an optional package, which is not installed
"""

from akinai.core.errors import AkinaiError, UsageError


class PlaybookError(AkinaiError):
    """A playbook's file does not say what it should."""


class CorruptPlaybook(PlaybookError):
    """A file that cannot be read as a playbook; it is kept as it was found."""

    def __init__(self, file: str, place: str, why: str, offer: str = "") -> None:
        super().__init__(f"{file} at {place}: {why}; {offer or 'mend that place; the file is left as it is'}")
        self.file, self.place, self.why = file, place, why


class NewerPlaybook(PlaybookError):
    """A playbook whose schema this Akinai does not know."""

    def __init__(self, file: str, found: int, known: int) -> None:
        super().__init__(
            f"{file} has schema {found} and this Akinai reads up to {known}: "
            "upgrade Akinai to read it; nothing was changed"
        )
        self.found = found


class PlaybookBusy(PlaybookError):
    """Another process holds the playbook longer than this one was told to wait."""


class EmbedderError(AkinaiError):
    """An embedder of somebody else's raised, or gave something that is not vectors."""


class MissingExtra(UsageError):
    """A part was asked for whose optional package is not installed."""

    def __init__(self, part: str, package: str, extra: str = "learn") -> None:
        super().__init__(f"{part} needs {package}, which is not installed; pip install 'akinai[{extra}]'")
        self.package = package
