"""Files and folders to be written: the checks of their names, and the writing of them in full or not at all."""

import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from akinai.core.errors import UsageError
from akinai.core.untrusted.documents import why_unportable


def new_path(name: Path | str) -> Path:
    """The path of a file or folder to write. UsageError for an empty name, and for one that Windows cannot hold."""
    if not str(name):
        raise UsageError("an empty name is no place to write to; name a file or a folder")
    path = Path(name)
    try:
        for part in (path, *path.parents):
            if part.exists():
                break
            if part.name and (why := why_unportable(part.name)):
                raise UsageError(why)
    except OSError:
        pass  # a name that is too long, or a place that may not be looked at: whoever writes there is told
    return path


def expect_writable(folder: Path, what: str) -> None:
    """UsageError unless files can be written into a folder, or into the nearest one above it; nothing is left there."""
    nearest = next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
    with _told_where(folder, what), tempfile.TemporaryFile(dir=nearest):
        pass


@contextmanager
def staged_file(path: Path) -> Generator[Path]:
    """A new file beside `path`, which takes its place when it is written in full. UsageError if it cannot be written,
    and then an older file is as it was."""
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}; make it first")
    if path.is_dir():
        raise UsageError(f"cannot write {str(path)!r}: Is a directory; name another file with -o")
    part = path.with_name(f".{path.name}.saving")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror or error}; name another file with -o") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def staged_folder(folder: Path, what: str) -> Generator[Path]:
    """A new folder in which files are written in full; then they are moved to their places in `folder`, which is made
    if needed. UsageError if that cannot be written, and then an older file is as it was."""
    with _told_where(folder, what):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".akinai-", suffix=".saving", dir=folder) as name:
            yield Path(name)
            for path in sorted(path for path in Path(name).rglob("*") if path.is_file()):
                place = folder / path.relative_to(name)
                place.parent.mkdir(exist_ok=True)
                path.replace(place)


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts into a folder by their paths there."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="\n")


@contextmanager
def _told_where(folder: Path, what: str) -> Generator[None]:
    """UsageError for an OSError in writing into a folder."""
    try:
        yield
    except OSError as error:
        why = f"cannot write {what} into {str(folder)!r}: {error.strerror}; name another folder with -o"
        raise UsageError(why) from error
