"""Everything that can go wrong outside the rules of a world. A bad move is not here: it is an `Outcome`.

AkinaiError
├── UsageError              what was asked cannot be done as asked; nothing was written (exit code 2)
│   ├── UnknownName         a name that is not there, with close matches
│   ├── UnusedOptions       options that would do nothing
│   ├── MissingExtra        an optional package is not installed
│   └── SeedWithheld        a sealed game is not replayed before its key is revealed
├── LedgerError             the record does not say what it should
│   ├── BrokenChain         an entry's digest does not follow from what precedes it
│   └── ReplayMismatch      the rules no longer give what was recorded
├── StoreError              the place where ledgers are kept does not work
│   ├── SequenceConflict    an append that leaves a gap or repeats a number
│   └── StoreVersion        a store written by a newer Akinai
└── AgentError              an agent, its model or its process broke; the run is failed and can be resumed
    ├── AgentCrash          the agent's own code raised an exception
    └── ModelError          a model gave no usable answer after all tries
        ├── ContextLimit    its server takes no prompt of this length
        └── ToolsRefused    its server takes no tools

RunFailedWarning            a Python warning: runs failed because an agent's or a world's code raised
EndRun                      not an error: an agent or a budget ends the run cleanly
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

from akinai.core.canonical import MOST_LEVELS

_LONGEST_NAME = 100


class AkinaiError(Exception):
    """The root of every error that Akinai raises on purpose."""


class UsageError(AkinaiError):
    """A request that cannot be carried out. The message says what was asked, what was found and what to do."""


class UnknownName(UsageError):
    """No such name; the message offers the closest ones."""

    def __init__(self, kind: str, name: str, names: Iterable[str], hint: str = "", first: Sequence[str] = ()) -> None:
        """`first` are the names to offer before the others where none is close."""
        names = sorted(names, key=lambda word: (first.index(word) if word in first else len(first), word))
        cut_name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
        close = _close_names(cut_name, names)
        if close:
            offer = "did you mean " + " or ".join(repr(word) for word in close) + "?"
        elif names:
            offer = "there is " + ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
        else:
            offer = "there is none yet"
        super().__init__(f"no {kind} {cut_name!r}; {offer}" + (f" ({hint})" if hint else ""))
        self.kind, self.name, self.close = kind, name, tuple(close)


class UnusedOptions(UsageError):
    """Options that would do nothing; `reason` says why."""

    def __init__(self, options: Sequence[str], reason: str) -> None:
        them = "it" if len(options) == 1 else "them"
        super().__init__(f"{', '.join(options)} cannot be used: {reason}; leave {them} out")
        self.options, self.reason = options, reason


class SeedWithheld(UsageError):
    """The game of a record is sealed, and its seed is not in it."""

    def __init__(self) -> None:
        super().__init__(
            "its game is sealed, and the record holds no seed; it can be replayed once its key is revealed "
            "('akinai seal reveal KEY')"
        )


def _close_names(name: str, names: Sequence[str]) -> list[str]:
    """At most three names that are similar to `name`, best first; none that is far worse than the best."""
    near = get_close_matches(name, names, n=3, cutoff=0.55)
    likeness = [SequenceMatcher(None, name, match).ratio() for match in near]
    return [match for match, ratio in zip(near, likeness, strict=True) if ratio >= likeness[0] - 0.15]


class MissingExtra(UsageError):
    """A part needs an optional package that is not installed."""

    def __init__(self, part: str, package: str, extra: str = "learn") -> None:
        super().__init__(f"{part} needs {package}, which is not installed; pip install 'akinai[{extra}]'")
        self.package = package


def why_unreadable(error: Exception) -> str:
    """Why a file or the value in its text could not be read, without Python's words for it."""
    if isinstance(error, RecursionError):
        return f"it is nested deeper than {MOST_LEVELS} levels"
    if "integer string conversion" in str(error):
        return "a whole number in it has more than 4,300 digits"
    if isinstance(error, UnicodeDecodeError):
        return f"its byte {error.start} is no UTF-8{_other_encoding(bytes(error.object))}; save it as UTF-8"
    if isinstance(error, IsADirectoryError):
        return "it is a folder; name a file"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror[:1].lower()}{error.strerror[1:]}; name another file"
    return str(error)


def _other_encoding(data: bytes) -> str:
    """The encoding in which data is Japanese text, in words; empty where it is in none that is common."""
    for name, words in (("cp932", "cp932 (Shift JIS)"), ("euc_jp", "EUC-JP")):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if any("\N{HIRAGANA LETTER SMALL A}" <= letter <= "\N{KATAKANA LETTER SMALL KE}" for letter in text):
            return f" but {words}"
    return ""


class LedgerError(AkinaiError):
    """The record does not say what it should; `entry` is the number of the first entry at fault, 0 the genesis."""

    def __init__(self, entry: int, why: str) -> None:
        super().__init__(f"entry {entry}: {why}" if entry else why)
        self.entry, self.why = entry, why


class BrokenChain(LedgerError):
    """An entry's digest does not follow from the genesis and the entries before it."""


class ReplayMismatch(LedgerError):
    """Applying a recorded action gives another outcome than the recorded one."""


class StoreError(AkinaiError):
    """The place where ledgers are kept does not work."""


class SequenceConflict(StoreError):
    """An append that leaves a gap in a run's numbers or repeats one."""

    last: int | None = None
    """The number of the entry before the refused one; above what its writer knew when somebody else wrote."""


class StoreVersion(StoreError):
    """A store written by a newer Akinai than this one."""


class AgentError(AkinaiError):
    """An agent, its model or its process broke. Never scored as a wrong answer; the run can be resumed."""


class AgentCrash(AgentError):
    """The agent's own code raised an exception, which is the `__cause__`."""


class ModelError(AgentError):
    """A model gave no usable answer: refused, unreachable, timed out, after all tries."""


class ContextLimit(ModelError):
    """A prompt is too long for the server, or for the window that a resumed run was given."""

    def __init__(self, message: str, window: int | None = None) -> None:
        """`window` is the number of tokens to keep from now on; None to drop the oldest quarter."""
        super().__init__(message)
        self.window = window


class ToolsRefused(ModelError):
    """A model is asked by a server that takes no tools, or takes none for this model."""


class RunFailedWarning(UserWarning):
    """Runs failed because code raised an exception: an agent's or a world's. The traceback is in the message."""


class EndRun(Exception):
    """Raised by an agent or a budget to end the run cleanly under the name `ending`."""

    def __init__(self, ending: str) -> None:
        super().__init__(ending)
        self.ending = ending
