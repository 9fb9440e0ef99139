"""A contest on the same tasks: the playbook against none, a placebo, raw examples, and other ways to learn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import EndRun, UsageError
from akinai.core.models import estimate_tokens
from akinai.core.statistics import PairedComparison
from akinai.core.worlds import replay
from akinai.learning.condense import condense_run, describe_hidden_facts
from akinai.learning.contest.contenders import Contest, Rival
from akinai.learning.loop.evaluation import EvalResult, gain, judge
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.opening import read_playbook
from akinai.learning.roles.protocols import ModelUsage
from akinai.learning.roles.tasks import Task
from akinai.runtime.config.addresses import opened
from akinai.runtime.learn.players import TRUTH_SHARE, play_once
from akinai.runtime.learn.plugins import CONTENDERS, find_plugin
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.runs.reading import loader, read_run

NONE, OURS, PLACEBO, ICL = "none", "playbook", "placebo", "icl"


def find_rivals(names: Sequence[str], *, has_model: bool, on_runs: bool = False) -> Mapping[str, Rival]:
    """The contenders by name. UsageError for an unknown name, one that is repeated, a missing model, and a contender
    that cannot compete on runs of a world."""
    rivals: dict[str, Rival] = {name: find_plugin(CONTENDERS, "contender", name) for name in names}
    if len(rivals) < len(names):
        raise UsageError(f"{', '.join(names)} names a contender twice; name each once")
    if on_runs and (task_rivals := [name for name, rival in rivals.items() if rival.on_runs is None]):
        raise UsageError(
            f"{', '.join(task_rivals)} can be compared with on tasks with known answers alone, and these are runs of a "
            "world; leave it out"
        )
    if not has_model and (asking := [name for name, rival in rivals.items() if rival.asks_model]):
        raise UsageError(
            f"{', '.join(asking)} cannot learn by rules; name a model, such as --model openai:gpt-5-mini, or compare "
            "with placebo and icl alone"
        )
    return rivals


@dataclass(frozen=True, slots=True)
class ContenderScore:
    """The result of one contender on the judged tasks."""

    name: str
    """"none" for no playbook, "playbook" for the one that was learned."""
    judged: EvalResult
    learning: ModelUsage = field(default_factory=ModelUsage)
    """The model calls of its learning."""
    saw_truth: bool | None = None
    """Whether it learned from right answers, or from what the world knew; None where nothing was learned."""


@dataclass(frozen=True, slots=True)
class ContestScores:
    """The scores of all contenders on the same tasks."""

    scores: tuple[ContenderScore, ...]
    """No playbook first, then the playbook, then its control, then the others as they were named."""
    graded: bool = True
    """Whether the tasks have known answers; runs of a world have scores alone."""
    control: str = ""
    """The name of the control among them; empty where there is none."""

    def to_json(self) -> list[Json]:
        """A row a contender: `gain` is over no playbook, `over_control` over the control, `playbook_minus` what the
        learned playbook has over it, each paired task by task. `learning_tokens` are what models received and answered
        while it learned, `tokens_a_task` the same for each judged task, `injected` the tokens of its bullets there.
        `of_the_playbook` is the share of the playbook's tokens that it spent: in learning where it asks a model, else
        in the contexts of the judged tasks."""
        return [self._row(score) for score in self.scores]

    def _row(self, score: ContenderScore) -> dict[str, Json]:
        none, ours = self.scores[0], self.scores[1]
        control = next((other for other in self.scores if other.name == self.control), None)
        judged, n = score.judged, max(1, len(score.judged.right))
        learning, use = score.learning.tokens, judged.usage.tokens
        minus = gain(judged, ours.judged) if score is not ours else None
        over = gain(control.judged, judged) if control and score not in (none, control) else None
        return {
            "name": score.name,
            "accuracy": judged.accuracy if self.graded else None,
            "score": judged.mean,
            "n": len(judged.right),
            "gain": None if score is none else paired_json(gain(none.judged, judged)),
            "over_control": paired_json(over) if over else None,
            "playbook_minus": paired_json(minus) if minus else None,
            "verdict": _verdict(minus) if minus else None,
            "learning_tokens": learning.input + learning.output,
            "learning_calls": score.learning.calls,
            "tokens_a_task": round((use.input + use.output) / n, 1),
            "injected": round(judged.injected_tokens / n, 1),
            "saw_right_answers": score.saw_truth,
            "of_the_playbook": None if score in (none, ours) else _token_share(score, ours),
        }


def _token_share(score: ContenderScore, ours: ContenderScore) -> float | None:
    """The share of the playbook's tokens that a contender spent; None where the playbook spent none."""
    if score.learning.calls:
        spent, budget = score.learning.tokens, ours.learning.tokens
        share = (spent.input + spent.output) / (budget.input + budget.output or 1)
    else:
        share = score.judged.injected_tokens / (ours.judged.injected_tokens or 1)
    return round(share, 3) if share else None


async def compete(
    rivals: Mapping[str, Rival], contest: Contest, tasks: Sequence[Task], first: ContestScores
) -> tuple[ContestScores, EndRun | None]:
    """Let each contender learn, and judge it on the tasks. Returns the scores after those in `first`, and the error
    that ended the contest early, if any. A contender that is in `first` is not judged again."""
    scores = [*first.scores]
    done = {score.name for score in scores}
    try:
        for name, rival in rivals.items():
            if name in done:
                continue
            learner = rival.on_runs if contest.records and rival.on_runs else rival.learn
            learned = await learner(contest)
            judged = await judge(tasks, learned.playbook, contest.roles.generator, contest.evaluator, learned.retriever)
            truth = learned.saw_truth and not contest.config.no_truth
            scores.append(ContenderScore(name, judged, learned.usage, truth))
    except EndRun as end:
        return replace(first, scores=tuple(scores)), end
    return replace(first, scores=tuple(scores)), None


FOREIGN_SEED, FOREIGN_DAYS = 1, 30
"""The run of another world that gives a placebo."""
EXCERPT_TOKENS = 400
"""Minimum tokens of a run's record that are worth showing; with fewer for each, fewer runs are shown."""
HEADING_TOKENS = 30
"""Tokens of the heading of an excerpt in a context."""
_PARTS = re.compile(r"; | -> ")


@dataclass(frozen=True, slots=True)
class RecordsOnStore:
    """The records of a world's training runs, and lessons of another world."""

    config: TrainConfig
    placebo: str = ""
    """A playbook's file, in place of lessons of another world."""

    async def foreign_playbook(self) -> Playbook:
        """The playbook of the file; without one, the lessons of a run of the first other world that has lessons.

        UsageError where there is no other such world.
        """
        if self.placebo:
            return read_playbook(self.placebo)
        own = self.config.load_world().name.partition("@")[0]
        for name in worlds.names():
            world = worlds.load(name)
            if name != own and world.facets.teaching.teaches:
                run = await play_once(world, FOREIGN_SEED, FOREIGN_DAYS)
                lessons = world.facets.teaching.lessons(replay(world, run.ledger))
                bullets = tuple(Bullet(f"b-{n}", "lessons", lesson.content) for n, lesson in enumerate(lessons, 1))
                return Playbook((Section("lessons", "", bullets),), len(bullets) + 1)
        raise UsageError(
            "a placebo is made of lessons of another world, and there is none; name a playbook with --set placebo=FILE"
        )

    async def excerpts(self, playbook: Playbook, tokens: int, *, truth: bool) -> Sequence[str]:
        sources = (part for bullet in playbook for part in _PARTS.split(bullet.source_trajectory))
        names = dict.fromkeys(part.rpartition("#")[0] or part for part in sources if part)
        world, texts = self.config.load_world(), list[str]()
        async with opened(self.config.store, create=False) as store:
            stored = {header.run_id for header in await store.runs()}
            excerpted = [name for name in names if name in stored][: max(1, tokens // EXCERPT_TOKENS)]
            for name in excerpted:
                run = await read_run(store, await store.header(name), load=loader(world))
                budget = max(1, tokens // len(excerpted) - HEADING_TOKENS)
                steps, facts = replay(world, run.ledger), ""
                if truth:
                    facts = describe_hidden_facts(world, steps, budget_tokens=budget // TRUTH_SHARE)
                    budget -= estimate_tokens(facts)
                record = condense_run(world, steps, budget_tokens=budget)
                texts.append("\n\n".join(filter(None, (record, facts))))
        return texts


def _verdict(minus: PairedComparison) -> str:
    """Whether the playbook is "ahead", "behind", or it is "open": the interval holds 0."""
    low, high = minus.ci95 or (0.0, 0.0)
    return "ahead" if low > 0 else "behind" if high < 0 else "open"


def paired_json(paired: PairedComparison) -> dict[str, Json]:
    """A difference with its interval, wins and losses."""
    ends: Json = [*paired.ci95] if paired.ci95 else None
    return {"gain": paired.difference, "ci95": ends, "wins": paired.wins, "losses": paired.losses}
