"""The one reader of files that people name in flags, settings and keys."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from akinai.core.errors import UsageError, why_unreadable
from akinai.core.untrusted.documents import MOST_BYTES, MOST_RECORD_BYTES, DocumentError, decode_text, why_unfit


def read_named(path: Path | str, what: str = "", *, most_bytes: int = MOST_BYTES) -> str:
    """The text of a file that a person named; `what` is it called in errors, such as "the script 'a.txt'".

    UsageError for what is no file of UTF-8 text, or one of more than `most_bytes`. A pipe is refused without waiting.
    """
    with open_named(path, what, most_bytes=most_bytes) as file:
        return decode_text(file.read())


@contextmanager
def open_named(path: Path | str, what: str = "", *, most_bytes: int = MOST_RECORD_BYTES) -> Generator[BinaryIO]:
    """A file that a person named, open for reading; UsageError as in `read_named`, for errors in its content too."""
    path = Path(path).expanduser()
    try:
        info = os.stat(path)
        if why := why_unfit(info.st_mode, info.st_size, most_bytes):
            raise DocumentError(why)
        with path.open("rb") as file:
            yield file
    except (OSError, ValueError, RecursionError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"{what or repr(str(path))} cannot be read: {why_unreadable(error)}") from error
