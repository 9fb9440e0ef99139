"""The playbook that a person names: by the path of a file in any form, or by its name in `data/playbooks`."""

from pathlib import Path

from akinai.core.errors import UnknownName, UsageError
from akinai.core.untrusted.documents import why_unportable
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.file import PlaybookFile

PLAYBOOKS = Path("data") / "playbooks"
"""The folder of playbooks, one file for each data set."""


def playbook_path(name: str | Path) -> Path:
    """The path that a path or a name stands for, whether or not a file is there."""
    own = Path(name).expanduser()
    named = PLAYBOOKS / f"{name}.json"
    by_name = own.suffix == "" and own.parent == Path() and not own.exists()
    return named if by_name or (named.exists() and not own.exists()) else own


def open_playbook(name: str | Path, *, new: bool = False) -> PlaybookFile:
    """The playbook of a path or a name. UnknownName with close matches when there is none, unless it may be `new`."""
    own = Path(name).expanduser()
    file = PlaybookFile(playbook_path(name))
    if file.exists() or file.journal_path.exists():
        return file
    if new:
        if why := why_unportable(own.name):
            raise UsageError(why)
        return file
    is_name = own.suffix == "" and own.parent == Path()
    folders = (own.parent, PLAYBOOKS)
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.json"))]
    names = [path.stem if is_name and PLAYBOOKS in path.parents else str(path) for path in paths]
    raise UnknownName("playbook", str(name), dict.fromkeys(names), "'akinai learn qa' makes one")


def read_playbook(name: str | Path, *, empty: bool = False) -> Playbook:
    """The playbook of a path or a name, to be followed or served.

    UnknownName when there is none. UsageError for a file that is no playbook, and for one without bullets unless it may
    be `empty`.
    """
    playbook = open_playbook(name).load()
    expect_playbook(playbook, name)
    if not empty and not len(playbook):
        raise UsageError(f"{str(name)!r} holds no bullet; name a playbook with bullets in it")
    return playbook


def expect_playbook(playbook: Playbook, name: str | Path) -> None:
    """UsageError for a file in which nothing is a playbook's. `name` is what the person called it."""
    if not playbook.sections and not playbook.created_at:
        raise UsageError(f"{str(name)!r} holds no section and no bullet; name a file with a playbook in it")
