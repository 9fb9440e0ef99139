"""The files of a game's folder. An agent may change all of them, so nothing that is there is trusted or followed."""

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from akinai.core.canonical import short_digest
from akinai.core.errors import UsageError

GUIDE, PROGRAM, NOTES, SESSION = "AGENTS.md", "play", "notes", ".session.json"
LONGEST_NAME = 40
"""Characters of a folder's name that the name of its run repeats."""
NO_ACTIONS = 'json.loads(r"""[]""")'
"""The place in the program where the actions go."""
HOW_TO_ACT = """\
# Play this game

You play with the program `./play` of this folder. Where the text below speaks of calling a tool, run `./play NAME`:

- `./play view` shows what you see now. It takes no time.
- `./play --help` lists all actions, `./play NAME --help` the flags of one. A flag with several parts takes JSON;
  `./play NAME -` reads all arguments as one JSON object from standard input.
- It exits with 0 when the action was done, with 1 when it was refused or the game is over, with 2 when the command has
  a mistake or nobody answered.
- Act with one command at a time, and go on until the answer says that the run is over.{minutes}
- Keep what you must not forget in files under `notes/`. Nothing but this folder belongs to the game.

"""
LIMIT = "\n- Once it is served, the game lasts {minutes:g} minutes at most; then it ends as it stands."


@dataclass(frozen=True, slots=True)
class GameFolder:
    """A folder with a game."""

    path: Path

    @staticmethod
    def at(path: str | Path) -> "GameFolder":
        """The folder at a path, whether there is one or not. UsageError for a file."""
        folder = Path(path).expanduser().resolve()
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{str(path)!r} is no folder; name a new one")
        return GameFolder(folder)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return not self.path.exists() or not any(self.path.iterdir())

    @property
    def run_name(self) -> str:
        """The name of the run that is played here. It follows from the path alone, which an agent cannot change."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", self.path.name).strip("-")[:LONGEST_NAME]
        return f"game-{name or 'folder'}-{short_digest(str(self.path))[:6]}"

    def expect_outside(self, *paths: str | Path | None) -> None:
        """UsageError for a store or a key that lies in the folder."""
        for path in paths:
            if path is None or not Path(path).expanduser().resolve().is_relative_to(self.path):
                continue
            raise UsageError(f"{str(path)!r} would lie in the folder of the game, where the agent reads it; move it")

    def write(self, prompt: str, tools: Sequence[Mapping[str, Any]], minutes: float) -> None:
        """Write what the agent reads and runs. UsageError where that cannot be written."""
        program = files(__package__ or "").joinpath("play.py").read_text(encoding="utf-8")
        before, place, after = program.partition(NO_ACTIONS)
        actions = json.dumps(tools, ensure_ascii=False)
        guide = HOW_TO_ACT.format(minutes=LIMIT.format(minutes=minutes) if minutes else "")
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                (self.path / NOTES).mkdir()
                self._give_away(self.path / NOTES)
            self._put(PROGRAM, before + place.replace("[]", actions) + after, 0o755)
            if not os.path.lexists(self.path / GUIDE):
                self._put(GUIDE, f"{guide}{prompt}\n", 0o644)
        except OSError as error:
            raise UsageError(f"the folder {str(self.path)!r} cannot be written: {error.strerror or error}") from error

    def connect(self, url: str, token: str) -> None:
        """Write where the game is served, for the owner of the folder alone."""
        self._put(SESSION, json.dumps({"url": url, "token": token}), 0o600)

    def disconnect(self, over: str | None) -> None:
        """Note that the game is served no more, or how it ended."""
        with suppress(OSError):  # the folder may be gone, and the run is kept all the same
            if over is not None:
                self._put(SESSION, json.dumps({"over": over}), 0o600)
            else:
                (self.path / SESSION).unlink()

    def _put(self, name: str, text: str, mode: int) -> None:
        """Replace a file by a new one of the folder's owner, without following a link that has its name."""
        descriptor, temporary = tempfile.mkstemp(dir=self.path)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(temporary, mode)
            self._give_away(Path(temporary))
            os.replace(temporary, self.path / name)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _give_away(self, path: Path) -> None:
        """Let the folder's owner have a file, where root serves the game of another user."""
        owner = self.path.stat()
        if hasattr(os, "geteuid") and os.geteuid() == 0 != owner.st_uid:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
