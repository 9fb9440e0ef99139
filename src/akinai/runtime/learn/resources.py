"""The resources that the roles of one learning share: models, a budget, and a log of calls beside the playbook,
`<name>.calls.jsonl`.

A learning is not a run, so the trace of a store, which belongs to runs, cannot hold its calls.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.models import Asker, Model, Reply, Request
from akinai.learning.playbook.atomic import append
from akinai.learning.roles.protocols import RoleName
from akinai.runtime.learn.role_models import ROLES, RoleModels
from akinai.runtime.models.budget import Budget, Meter, known_prices
from akinai.runtime.models.cache import CallSite, ResponseCache, ask
from akinai.runtime.models.rate_limit import MAX_CONCURRENCY
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.runtime.play.session import clock_us

if TYPE_CHECKING:
    from akinai.runtime.models.langchain import LangChainModel


class MeteredAsker:
    """Asks a model for one role, within a budget. Each reply is in the log before it is used."""

    def __init__(
        self, role: str, model: Model, meter: Meter, log: Path, structured: bool, cache: ResponseCache | None = None
    ) -> None:
        self._role, self._model, self._meter, self._log = role, model, meter, log
        self._structured, self._cache = structured, cache
        self._draws: Counter[str] = Counter()
        """Number of times that each request was made: repeating one is another draw, with its own reply."""

    async def ask(self, request: Request) -> Reply:
        """EndRun when the budget is spent; ModelError when the model fails; UsageError when it cannot be logged."""
        self._meter.check(self._model.name)
        request = request if self._structured else replace(request, schema=None)
        self._draws[request.digest] += 1
        site = CallSite(0, self._role, self._draws[request.digest])
        reply = await ask(self._cache, self._model, request, site)
        self._add(request, reply)
        if not reply.from_cache:
            self._meter.count(self._model.name, reply.usage)
        return reply

    def _add(self, request: Request, reply: Reply) -> None:
        """Append a call to the log, a file of JSON lines that several processes may write to; it is on disk then."""
        call = {
            "role": self._role,
            "at": clock_us(),
            "model": self._model.name,
            "messages": [message.to_json() for message in request.messages],
            "reply": reply.to_json(),
        }
        line = json.dumps(call) + "\n"  # ASCII, which can hold half a surrogate pair from a model
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            append(self._log, line.encode())
        except OSError as error:
            raise UsageError(f"the model's calls cannot be written to {str(self._log)!r}: {error}") from error


class Resources:
    """Models that are closed when the learning ends, and one budget for all roles."""

    def __init__(
        self, name: str, budget: Budget, playbook: Path, stack: AsyncExitStack, at_once: int = MAX_CONCURRENCY
    ) -> None:
        self.stack = stack
        """Closed when the learning ends."""
        self.at_once = at_once
        """Calls of each model, and runs of a world that ask models, under way at the same time."""
        self.meter = Meter(budget, known_prices())
        """Counts the calls of all roles together."""
        self._log = playbook.with_name(f"{playbook.name.removesuffix('.json')}.calls.jsonl")
        self._label = f"learn-{name}"
        self._opened: list[LangChainModel] = []

    @property
    def servers(self) -> Mapping[str, Json]:
        """What the servers refused and what was sent in place of it, by model; empty where they took everything."""
        refused: dict[str, dict[str, None]] = {}
        for model in self._opened:
            refused.setdefault(model.name, {}).update(dict.fromkeys(model.concessions))
        return {name: [*sentences] for name, sentences in refused.items() if sentences}

    async def askers(
        self, models: RoleModels, roles: Sequence[RoleName] = ROLES, *, structured: bool = True
    ) -> Callable[[RoleName], Asker]:
        """A function that returns the asker of a role; roles of one model share its limits. UsageError for a model that
        cannot be asked.

        Without `structured` no provider is asked to keep to a JSON Schema.
        """
        choices = {role: models.by_role[role] for role in roles if role in models.by_role}
        opened: dict[ModelChoice, LangChainModel] = {}
        for choice in choices.values():
            if choice not in opened:
                self.meter.expect_price(choice.name)
                model = choice.open(models.options.timeout_s, self.at_once, models.options.calls_per_minute)
                opened[choice] = await self.stack.enter_async_context(model)
                self._opened.append(model)
        cache: ResponseCache | None = None
        if models.options.cache:
            cache = await ResponseCache.open(models.options.cache)
            self.stack.push_async_callback(cache.close)

        def asker(role: RoleName) -> Asker:
            model = opened[choices[role]].labelled(f"{self._label}/{role}")
            return MeteredAsker(role, model, self.meter, self._log, structured, cache)

        return asker
