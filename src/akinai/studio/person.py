"""`akinai.play`: a person plays a world, in the browser or at the terminal."""

import os
import sys
import webbrowser
from contextlib import suppress
from typing import Unpack

from akinai.api.person import Game, check_game, open_game, play_at_terminal
from akinai.core.errors import UsageError
from akinai.runtime.config.addresses import resolve_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import PlayOptions
from akinai.runtime.runs.records import Run
from akinai.runtime.sync import wait


@with_options(PlayOptions)
def play(world: str | None = None, **options: Unpack[PlayOptions]) -> Run | None:
    """Play a world yourself, or go on with a run by `resume`: in the browser, until SIGTERM or SIGINT.

    With `terminal`, without the extra `studio`, and where no browser can be opened, at the terminal; then the run as
    it stands is returned. `hold` names who you are, `rest` who plays the others. `ready` is called with the address
    when the page can be opened. UsageError, before anything is written, for what cannot be played.
    """
    resume, ready = options["resume"], options["ready"]
    if (world is None) == (resume is None):
        raise UsageError("play a world, such as 'vending', or go on with a run by --resume RUN")
    game = Game(
        world, options["preset"], options["seed"], options["key"], options["days"], options["settings"],
        options["name"], resume, options["hold"], options["rest"],
    )  # fmt: skip
    if resume is not None and game != Game(resume=resume, key=options["key"]):
        raise UsageError(f"{resume!r} goes on as it began; leave out the other options")
    check_game(game)
    address = resolve_store(options["store"])
    if not isinstance(address, str):
        raise UsageError("a person plays in a store that has an address, such as akinai.db")
    no_browser = options["no_browser"]
    if not options["terminal"] and (no_browser or has_display()):
        with suppress(ImportError):
            from akinai.studio.serving import serve_game

            language, port = options["language"], options["port"]
            return serve_game(game, address, port=port, language=language, no_browser=no_browser, ready=ready)
        sys.stderr.write('akinai: the browser needs more than is installed; pip install "akinai[studio]" brings it\n\n')
    return wait(_at_terminal(game, address))


async def _at_terminal(game: Game, address: str) -> Run:
    session = await open_game(game, address)
    try:
        await play_at_terminal(session)
    finally:
        await session.close()
    return await session.run()


def has_display() -> bool:
    """Whether this machine can open a browser with windows."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
