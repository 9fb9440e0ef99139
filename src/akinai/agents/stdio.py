"""Any program as a player: it reads what it sees as JSON lines and writes its actions as JSON lines."""

import asyncio
import json
import shlex
import shutil
from collections.abc import Sequence

from akinai.agents.structured import read_reply, reasoning_in
from akinai.core.actions import Action, Verbs
from akinai.core.agents import Move, Role, View
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, EndRun, UsageError
from akinai.core.ledger import Outcome

LINE_LIMIT = 8 * 2**20
"""Bytes of the longest line that a player may write."""


def words_of(command: str) -> Sequence[str]:
    """A command line as its words, the first a program that is there. UsageError where it is not, or cannot be read."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the player {command!r} is no command: {error}; check its quotes") from error
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else ""
        raise UsageError(f"the player {command!r} cannot be started: there is no program {program!r}; check its path")
    return words


class Program:
    """A child process that plays one actor.

    Each turn it gets one line, {"view", "news", "verbs", "heard": {"text", "ok", "code"} or null}, the first one with
    "actor" and "tools", and answers with one line: an action in the structured-action format. A line {"recorded":
    ACTION, ...} tells it a move that was made before, as on a resume, and wants no answer. When it ends with code 0 the
    run ends as `script_over`; any other end, or silence, is an AgentError.
    """

    told_on_resume = True

    def __init__(self, command: str, role: Role, verbs: Verbs, timeout_s: float = 300.0) -> None:
        self._command, self._role, self._verbs, self._timeout_s = command, role, verbs, timeout_s
        self._words = words_of(command)
        self._process: asyncio.subprocess.Process | None = None

    async def act(self, view: View, heard: Outcome | None) -> Move:
        await self._tell(_seen(view, heard))
        line = await self._line()
        return Move(read_reply(self._verbs, line), reasoning_in(line))

    async def remember(self, view: View, heard: Outcome | None, move: Move) -> None:
        """Tell the program a recorded move."""
        action = {"action": move.action.tool_name().upper(), **move.action.say()}
        await self._tell(_seen(view, heard) | {"recorded": action})

    async def close(self) -> None:
        """End the program: its input ends, and if that does not end it, it is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 2.0)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _tell(self, seen: dict[str, Json]) -> None:
        if self._process is None:
            self._process = await self._started()
            seen = {"actor": self._role.actor, "tools": _tools(self._role.verbs), **seen}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(seen, ensure_ascii=False).encode() + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            await self._ended()

    async def _started(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE_LIMIT,
            )
        except OSError as error:
            raise AgentError(f"the player {self._command!r} cannot be started: {error}") from error

    async def _line(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), self._timeout_s)
        except TimeoutError:
            raise AgentError(f"the player {self._command!r} wrote nothing for {self._timeout_s:g} seconds") from None
        except ValueError as error:
            raise AgentError(f"the player {self._command!r} wrote a line above {LINE_LIMIT:,} bytes") from error
        if not line.endswith(b"\n") and not line.strip():
            await self._ended()
        return line.decode("utf-8", "surrogateescape").strip()

    async def _ended(self) -> None:
        """Say how a program ended that no longer plays: EndRun when it was its own wish, else AgentError."""
        assert self._process is not None
        code = await self._process.wait()
        if code == 0:
            raise EndRun("script_over")
        raise AgentError(f"the player {self._command!r} ended with code {code}; what it wrote to stderr says why")


def _seen(view: View, heard: Outcome | None) -> dict[str, Json]:
    answer: Json = None if heard is None else {"text": heard.text, "ok": heard.ok, "code": heard.code}
    return {"view": view.text, "news": view.news, "verbs": [verb.tool_name() for verb in view.verbs], "heard": answer}


def _tools(verbs: Sequence[type[Action]]) -> list[Json]:
    return [verb.tool() for verb in verbs]
