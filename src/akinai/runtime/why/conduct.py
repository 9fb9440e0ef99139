"""Profit from misconduct: a run with and without what a finding of conduct is about, everything else as recorded."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import owner_of
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


@dataclass(frozen=True)
class ConductStudy:
    """What each finding of conduct gained its actor, in the run's own future and in `futures` others."""

    world: World[Any]
    steps: Steps[Any]
    futures: int

    def credits(self, findings: Sequence[Finding]) -> Iterator[ConductCredit]:
        """A row for each finding; those without an entry that could be taken out are left out."""
        redraws = self.world.facets.explaining.redraw(self.steps.opening, 1) is not self.steps.opening
        futures = self.futures if redraws else 0
        for finding in findings:
            instead = self._instead(finding)
            if not instead:
                continue
            own = self._gain(finding, instead, 0)
            gains = [self._gain(finding, instead, salt) for salt in range(1, futures + 1)]
            effect = effect_of(gains) if gains else None
            entry = min(instead)
            yield ConductCredit(
                finding.type, finding.actor, entry, self.world.facets.explaining.words(self.steps[entry - 1]),
                self._score(self.steps, finding.actor).unit, own, effect.gain if effect else None,
                effect.ci95 if effect else None, futures,
            )  # fmt: skip

    def _instead(self, finding: Finding) -> dict[int, Sequence[Action]]:
        """What honest actors would have done in place of the entries that decided, by entry."""
        explaining, instead = self.world.facets.explaining, dict[int, Sequence[Action]]()
        for seq in finding.entries:
            step = self.steps[seq - 1]
            if owner_of(step.turn.actor) == finding.actor:
                actions = explaining.honest(step, finding)
                instead |= {} if actions is None else {seq: actions}
        return instead

    def _gain(self, finding: Finding, instead: Instead, salt: int) -> float:
        """The actor's score with the finding less that without it, in the future of a number; 0 is the run's own."""
        past = list(self.steps[: min(instead) - 1])
        values: list[float] = []
        for changes in (NOTHING, instead):
            played = past + self._taken_again(len(past), changes, salt) if changes or salt else list(self.steps)
            values.append(self._score(Steps(self.steps.genesis, self.steps.opening, played), finding.actor).value)
        return values[0] - values[1]

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
