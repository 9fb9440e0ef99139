"""A learning against others on the same tasks: no playbook, a placebo, raw examples, and other ways to learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from akinai.core.canonical import Json
from akinai.core.errors import EndRun, UsageError
from akinai.core.statistics import PairedComparison
from akinai.learning.contest.contenders import Contest, Rival
from akinai.learning.loop.evaluation import EvalResult, gain, judge
from akinai.learning.roles.protocols import ModelUsage
from akinai.learning.roles.tasks import Task
from akinai.runtime.learn.plugins import CONTENDERS, find_plugin

NONE, OURS, ICL = "none", "playbook", "icl"


def find_rivals(names: Sequence[str], *, has_model: bool) -> Mapping[str, Rival]:
    """The contenders by name. UsageError for unknown names, a name that stands twice, and a model that is missing."""
    rivals: dict[str, Rival] = {name: find_plugin(CONTENDERS, "contender", name) for name in names}
    if len(rivals) < len(names):
        raise UsageError(f"{', '.join(names)} names a contender twice; name each once")
    if not has_model and (asking := [name for name, rival in rivals.items() if rival.asks_model]):
        raise UsageError(
            f"{', '.join(asking)} cannot learn by rules; name a model, such as --model openai:gpt-5-mini, or compare "
            "with placebo and icl alone"
        )
    return rivals


@dataclass(frozen=True, slots=True)
class Standing:
    """How one contender did on the judged tasks."""

    name: str
    """"none" for no playbook, "playbook" for the one that was learned."""
    judged: EvalResult
    learning: ModelUsage = field(default_factory=ModelUsage)
    """The model calls of its learning."""


@dataclass(frozen=True, slots=True)
class Against:
    """The standings of all contenders on the same tasks."""

    standings: tuple[Standing, ...]
    """No playbook first, then the playbook, then the others as they were named."""

    def to_json(self) -> list[Json]:
        """A row a contender: `gain` is over no playbook, `playbook_minus` what the learned playbook has over it, each
        paired task by task. `learning_tokens` are what models received and answered while it learned,
        `tokens_a_task` the same for each judged task, `injected` the tokens of its bullets there."""
        none, ours = self.standings[0], self.standings[1]
        return [self._row(standing, none, ours) for standing in self.standings]

    @staticmethod
    def _row(standing: Standing, none: Standing, ours: Standing) -> dict[str, Json]:
        judged, n = standing.judged, max(1, len(standing.judged.right))
        learning, use = standing.learning.tokens, judged.usage.tokens
        minus = gain(judged, ours.judged) if standing is not ours else None
        return {
            "name": standing.name,
            "accuracy": judged.accuracy,
            "score": judged.mean,
            "n": len(judged.right),
            "gain": None if standing is none else _paired(gain(none.judged, judged)),
            "playbook_minus": _paired(minus) if minus else None,
            "verdict": _verdict(minus) if minus else None,
            "learning_tokens": learning.input + learning.output,
            "learning_calls": standing.learning.calls,
            "tokens_a_task": round((use.input + use.output) / n, 1),
            "injected": round(judged.injected_tokens / n, 1),
        }


async def compete(
    rivals: Mapping[str, Rival], contest: Contest, tasks: Sequence[Task], first: Sequence[Standing]
) -> tuple[Against, EndRun | None]:
    """Let each contender learn and judge it on the tasks; and what ended it early."""
    standings = [*first]
    try:
        for name, rival in rivals.items():
            learned = await rival.learn(contest)
            judged = await judge(tasks, learned.playbook, contest.roles.generator, contest.evaluator, learned.retriever)
            standings.append(Standing(name, judged, learned.usage))
    except EndRun as end:
        return Against(tuple(standings)), end
    return Against(tuple(standings)), None


def _verdict(minus: PairedComparison) -> str:
    """Whether the playbook is "ahead", "behind", or it is "open": the interval holds 0."""
    low, high = minus.ci95 or (0.0, 0.0)
    return "ahead" if low > 0 else "behind" if high < 0 else "open"


def _paired(paired: PairedComparison) -> dict[str, Json]:
    ends: Json = [*paired.ci95] if paired.ci95 else None
    return {"gain": paired.difference, "ci95": ends, "wins": paired.wins, "losses": paired.losses}
