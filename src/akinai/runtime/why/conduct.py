"""Profit from misconduct: a run with and without what a finding of conduct is about, everything else as recorded."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import owner_of
from akinai.core.canonical import Json
from akinai.core.findings import Finding
from akinai.core.ledger import Turn
from akinai.core.scores import Score
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World
from akinai.runtime.why.explanation import ConductCredit
from akinai.runtime.why.shadow import imagined_step
from akinai.runtime.why.study import effect_of

Instead = Mapping[int, Sequence[Action]]
"""The actions in place of an entry, by its number; none leaves it out."""


NOTHING: Instead = {}


@dataclass(frozen=True, slots=True)
class ConductBranch:
    """A finding of conduct in a future; what it gained there takes two branches of the run."""

    finding: int
    """Its number among the run's findings of conduct."""
    salt: int
    """Which of the other futures; 0 is the run's own."""

    def to_json(self) -> list[Json]:
        return [self.finding, self.salt]

    @staticmethod
    def from_json(fields: Sequence[Any]) -> "ConductBranch":
        finding, salt = fields
        return ConductBranch(finding, salt)


@dataclass(frozen=True)
class ConductStudy:
    """What the findings of conduct of a run gained their actors, in the run's own future and in others."""

    world: World[Any]
    steps: Steps[Any]

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """The findings of conduct of the run."""
        return [finding for finding in self.world.facets.judging.detect(self.steps) if finding.is_conduct]

    def branches(self, futures: int, actor: str | None = None) -> Sequence[ConductBranch]:
        """What has to be played for the findings about an actor, or about all: the run's own future first."""
        redraws = self.world.facets.explaining.redraw(self.steps.opening, 1) is not self.steps.opening
        return [
            ConductBranch(number, salt)
            for salt in range(futures + 1 if redraws else 1)
            for number, finding in enumerate(self.findings)
            if actor in (None, finding.actor) and self._instead[number]
        ]

    def gain(self, branch: ConductBranch) -> float:
        """The actor's score with the finding less that without it."""
        finding, salt = self.findings[branch.finding], branch.salt
        instead = self._instead[branch.finding]
        past = list(self.steps[: min(instead) - 1])
        values: list[float] = []
        for changes in (NOTHING, instead):
            played = past + self._taken_again(len(past), changes, salt) if changes or salt else list(self.steps)
            values.append(self._score(Steps(self.steps.genesis, self.steps.opening, played), finding.actor).value)
        return values[0] - values[1]

    def credits(
        self, branches: Sequence[ConductBranch], gains: Mapping[ConductBranch, float]
    ) -> Iterator[ConductCredit]:
        """A row for each finding that was played in the run's own future; its worth wants all futures of `branches`.

        Findings without an entry that could be taken out have no row.
        """
        for number, finding in enumerate(self.findings):
            recorded = ConductBranch(number, 0)
            futures = [branch for branch in branches if branch.finding == number and branch.salt]
            if recorded not in gains:
                continue
            effect = (
                effect_of([gains[branch] for branch in futures]) if futures and gains.keys() >= {*futures} else None
            )
            entry = min(self._instead[number])
            yield ConductCredit(
                finding.type, finding.actor, entry, self.world.facets.explaining.words(self.steps[entry - 1]),
                self._score(self.steps, finding.actor).unit, gains[recorded], effect.gain if effect else None,
                effect.ci95 if effect else None, len(futures) if effect else 0,
            )  # fmt: skip

    @cached_property
    def _instead(self) -> Sequence[Instead]:
        """What honest actors would have done in place of the entries that decided, for each finding."""
        return [self._honest(finding) for finding in self.findings]

    def _honest(self, finding: Finding) -> Instead:
        explaining, instead = self.world.facets.explaining, dict[int, Sequence[Action]]()
        for seq in finding.entries:
            step = self.steps[seq - 1]
            if owner_of(step.turn.actor) == finding.actor:
                actions = explaining.honest(step, finding)
                instead |= {} if actions is None else {seq: actions}
        return instead

    def _score(self, steps: Steps[Any], actor: str) -> Score:
        gain = self.world.facets.explaining.gain(steps.final, actor)
        return self.world.scorers[0](steps)[0] if gain is None else gain

    def _taken_again(self, begin: int, instead: Instead, salt: int) -> list[Step[Any]]:
        """The steps from an index on, with each actor's recorded actions in their order, when it may act."""
        world, state = self.world, self.steps[begin].before
        timed = world.now(state) is not None
        state = world.facets.explaining.redraw(state, salt) if salt else state
        left = [
            Turn(0, step.entry.at, step.turn.actor, action, step.turn.said)
            for step in self.steps[begin:]
            for action in instead.get(step.entry.seq, (step.turn.action,))
        ]
        queues: dict[str, deque[Turn]] = {}
        for turn in left:
            queues.setdefault(turn.actor if timed else "", deque()).append(turn)
        steps, count = list[Step[Any]](), begin
        while actors := world.actors(state):
            queue = next((queues[actor] for actor in (actors if timed else [""]) if queues.get(actor)), None)
            if queue is None:
                break
            turn, count = queue.popleft(), count + 1
            steps.append(imagined_step(world, state, replace(turn, seq=count, at=world.now(state) or turn.at)))
            state = steps[-1].after
        return steps
