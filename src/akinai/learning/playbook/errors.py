"""Errors of playbooks. A bad operation is not an error: it is a `Refusal`.

AkinaiError
├── PlaybookError           the file of a playbook cannot be used
│   ├── CorruptPlaybook     unreadable at a named place; the file is left unchanged; a UsageError too
│   │   └── EmptyPlaybook   without any text
│   ├── NewerPlaybook       written by a newer Akinai; a UsageError too
│   └── PlaybookBusy        another process keeps the playbook locked
└── EmbedderError           a third-party embedder failed
"""

from akinai.core.errors import AkinaiError, UsageError


class PlaybookError(AkinaiError):
    """The file of a playbook cannot be used."""


class CorruptPlaybook(PlaybookError, UsageError):
    """A file cannot be read as a playbook. It is left unchanged."""

    def __init__(self, file: str, location: str, why: str, offer: str = "") -> None:
        super().__init__(f"{file} at {location}: {why}; {offer or 'mend that place; the file is left as it is'}")
        self.file, self.location, self.why = file, location, why


class EmptyPlaybook(CorruptPlaybook):
    """A file without text."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "line 1 column 1", "the file is empty")
        self.args = (f"{file!r} is empty; name a file with a playbook in it",)


class NewerPlaybook(PlaybookError, UsageError):
    """The playbook has a newer schema than this Akinai knows."""

    def __init__(self, file: str, schema: int, newest: int) -> None:
        super().__init__(
            f"{file} has schema {schema} and this Akinai reads up to {newest}: "
            "upgrade Akinai to read it; nothing was changed"
        )
        self.schema = schema


class PlaybookBusy(PlaybookError):
    """Another process kept the playbook locked for longer than the timeout."""


class EmbedderError(AkinaiError):
    """A third-party embedder raised, or returned something that is not vectors."""
