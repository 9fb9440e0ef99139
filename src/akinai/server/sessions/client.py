"""A client of sessions over HTTP, of any world, with the members of a session in this process."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from akinai.core.errors import AgentError, EndRun, UsageError
from akinai.core.ledger import Outcome
from akinai.core.scores import Score
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import SessionOptions
from akinai.server.client import certificates
from akinai.server.sessions import shapes as s

ATTEMPTS = 6
FIRST_PAUSE_S = 0.2
PAGE = 1_000
LONG_POLL_S = 25.0

B = TypeVar("B", bound=BaseModel)


class SessionClient:
    """A client of `akinai serve`: `async with SessionClient("http://127.0.0.1:8000") as server: ...`.

    `token` is the operator's, a session's or a seat's, where the server requires one. A lost connection and a server
    that is too busy are tried again; an action is done once all the same. Raises UsageError for what the server refuses
    and AgentError for a server that does not answer.
    """

    def __init__(self, url: str, *, token: str = "", timeout_s: float = 60) -> None:
        self.token = token
        self._http = httpx.AsyncClient(base_url=url, timeout=timeout_s, verify=certificates(), trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    @with_options(SessionOptions)
    async def open(self, world: str | None = None, **options: Unpack[SessionOptions]) -> "RemoteSession":
        """Open a session; the options are those of `akinai.open`. `world` None is the one that the server plays."""
        new = s.NewSession.model_validate({**options, "world": world, "settings": options["settings"] or {}})
        opened = await self.request("POST", "/sessions", s.OpenedSession, body=new)
        return RemoteSession(self, opened, opened.token, opened.seats)

    async def resume(self, run: str) -> "RemoteSession":
        """Go on with a run that was opened before, also while it is open."""
        opened = await self.request("POST", f"/sessions/{quote(run, safe='')}/resume", s.OpenedSession)
        return RemoteSession(self, opened, opened.token, opened.seats)

    async def session(self, run: str, *, token: str = "") -> "RemoteSession":
        """A session that is open there, played with the token of the session or of a seat."""
        info = await self.request("GET", f"/sessions/{quote(run, safe='')}", s.SessionInfo, token=token)
        return RemoteSession(self, info, token, ())

    async def sessions(self) -> Sequence[s.SessionInfo]:
        """The sessions that are open there."""
        return (await self.request("GET", "/sessions", s.SessionPage)).items

    async def playbooks(self) -> Sequence[str]:
        """The names of the playbooks that are served."""
        return (await self.request("GET", "/playbooks", s.PlaybooksAnswer)).playbooks

    async def playbook(self, name: str) -> Mapping[str, Any]:
        """A playbook as its file holds it."""
        return (await self.request("GET", f"/playbooks/{quote(name, safe='')}", _Anything)).model_dump()

    async def request(
        self,
        verb: str,
        path: str,
        shape: type[B],
        *,
        query: Mapping[str, Any] | None = None,
        body: BaseModel | None = None,
        token: str = "",
    ) -> B:
        """The answer to a request. EndRun when the run is over; UsageError and AgentError as the class says."""
        sent = token or self.token
        headers = {"authorization": f"Bearer {sent}"} if sent else {}
        content = None if body is None else body.model_dump_json(exclude_defaults=True)
        fault = ""
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._http.request(verb, path, params=query, content=content, headers=headers)
            except httpx.TransportError as error:
                fault = f"no answer from {self._http.base_url} ({type(error).__name__}: {error})"
            else:
                if answer.is_success:
                    return _parsed(shape, answer.content)
                if answer.status_code != 429:
                    raise _error(answer)
                fault = f"status {answer.status_code}"
            if attempt < ATTEMPTS - 1:
                await asyncio.sleep(FIRST_PAUSE_S * 2**attempt)
        raise AgentError(f"{verb} {path}: {fault}")


class _Anything(BaseModel, extra="allow"):
    """Any JSON object."""


def _parsed(shape: type[B], content: bytes) -> B:
    try:
        return shape.model_validate_json(content)
    except ValidationError as error:
        raise AgentError(f"the server's answer is not understood; is this 'akinai serve'? ({error})") from error


def _error(answer: httpx.Response) -> Exception:
    """The error that an answer's status and code mean."""
    try:
        problem = s.ProblemAnswer.model_validate_json(answer.content)
    except ValidationError:
        return AgentError(f"status {answer.status_code}: {answer.text[:300]}")
    code, detail = problem.error.code if problem.error else "", problem.detail
    if code == "over":
        return EndRun(str(detail).rpartition(": ")[2])
    if code == "failed" or answer.status_code >= 500:
        return AgentError(str(detail))
    return UsageError(detail if isinstance(detail, str) else f"the server refused the request: {detail}")


class RemoteSession:
    """A session over HTTP, with the members of `akinai.AsyncSession`. Use it with `async with`, or call `close`."""

    def __init__(self, client: SessionClient, info: s.SessionInfo, token: str, seats: Sequence[s.SeatToken]) -> None:
        self.outcome: Outcome | None = None
        """The outcome of the last action; None before the first."""
        self.reward: float = 0.0
        """Change of the first score by the last action, in its unit."""
        self.token = token
        """Token of the session, or of one seat; empty where none is needed."""
        self.seats: Mapping[str, str] = {seat.actor: seat.token for seat in seats}
        """The token of each seat, by actor."""
        self._client, self._info = client, info
        self._path = f"/sessions/{quote(info.id, safe='')}"

    @property
    def id(self) -> str:
        """The name by which every command finds the run."""
        return self._info.id

    @property
    def world(self) -> str:
        """The world and its version, such as "vending@3"."""
        return self._info.world

    @property
    def seed(self) -> int | None:
        """The seed of the run; None where the game is sealed."""
        return self._info.seed

    @property
    def held(self) -> Sequence[str]:
        """Every actor that is played here."""
        return self._info.held

    @property
    def actors(self) -> Sequence[str]:
        """The actors that could act after the last answer, the next at the front."""
        return self._info.actors

    @property
    def actor(self) -> str | None:
        """The actor that `act` acts for unless another is named."""
        return next(iter(self.actors), None)

    @property
    def done(self) -> bool:
        """Whether the run is over, as of the last answer."""
        return self._info.done

    @property
    def ending(self) -> str | None:
        """Why the run is over."""
        return self._info.ending

    async def refresh(self) -> None:
        """Ask the server for the session's state, which other clients may have changed."""
        self._info = await self._get("", s.SessionInfo)

    async def view(self, actor: str | None = None) -> s.ViewAnswer:
        """The view of an actor, by default the one that acts next. Free; not recorded."""
        return await self._get("/view", s.ViewAnswer, {"actor": actor})

    async def prompt(self, actor: str | None = None) -> str:
        """The system prompt of an agent that begins to play an actor, as Akinai's own chat agent has it."""
        return (await self._get("/prompt", s.PromptAnswer, {"actor": actor})).prompt

    async def tools(self, actor: str | None = None, *, inline: bool = False) -> Sequence[Mapping[str, Any]]:
        """The actions that an actor may take now, as tools for a model. `inline`: their schemas hold no `$ref`."""
        return (await self._get("/tools", s.ToolsAnswer, {"actor": actor, "inline": inline})).tools

    async def act(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        text: str = "",
        actor: str | None = None,
        wait: s.Wait | None = None,
    ) -> Outcome:
        """Take an action, and return its outcome once it is recorded, as `AsyncSession.act` does.

        Without `wait` a seat's token waits for its own next turn, another for that of any actor.
        """
        try:
            action = s.NewAction(
                action=name,
                arguments=arguments or {},
                text=text,
                actor=actor,
                wait=wait,
                wait_s=LONG_POLL_S,
                key=secrets.token_hex(12),
            )
        except ValidationError as error:
            raise UsageError(f"the action {name!r:.100} cannot be sent: {error.errors()[0]['msg']}") from error
        while True:
            answer = await self._post("/act", s.ActAnswer, action)
            self._info = answer
            if answer.outcome is not None:
                break
        self.outcome, self.reward = answer.outcome, answer.reward
        return answer.outcome

    async def scores(self) -> Sequence[Score]:
        """The scores as they stand; with the token of a seat once the run is over."""
        return [*(await self._get("/scores", s.ScoresAnswer)).scores.values()]

    async def ledger(self) -> Sequence[Mapping[str, Any]]:
        """The entries of the run, or of the seat."""
        entries: list[Mapping[str, Any]] = []
        while True:
            page = await self._get("/ledger", s.LedgerPage, {"offset": len(entries), "limit": PAGE})
            entries += page.items
            if not page.has_more:
                return entries

    async def close(self) -> None:
        """Close the session there. A run that is not over can be resumed."""
        self._info = await self._post("/close", s.SessionInfo)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Close. The end of the run, which `act` raises, is not an error."""
        over = self.done
        await self.close()
        return over and isinstance(error, EndRun)

    async def _get(self, path: str, shape: type[B], query: Mapping[str, Any] | None = None) -> B:
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        return await self._client.request("GET", self._path + path, shape, query=parameters, token=self.token)

    async def _post(self, path: str, shape: type[B], body: BaseModel | None = None) -> B:
        return await self._client.request("POST", self._path + path, shape, body=body, token=self.token)
