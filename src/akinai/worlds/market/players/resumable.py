"""A routine that continues from actions that it did not decide."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import Move, Plan, Routine, View
from akinai.core.ledger import Outcome
from akinai.worlds.market.model import actions as a


@dataclass
class Past:
    """The actions of an actor so far, whoever decided them."""

    written: dict[str, int] = field(default_factory=dict[str, int])
    """By recipient, the largest index that the actor had read when it last wrote to it."""
    proposed: dict[str, a.OrderProposal] = field(default_factory=dict[str, a.OrderProposal])
    """Its proposals by id."""
    proposal_count: int = 0
    """Proposals that it made."""
    paid: int = 0
    """Payments that it made."""
    read: int = 0
    """The largest index that it read."""

    def note(self, action: Action, outcome: Outcome) -> None:
        """Take note of an action; a refused one changed nothing."""
        if not outcome.ok:
            return
        match action:
            case a.FetchMessages():
                messages: Sequence[Mapping[str, Any]] = outcome.fields.get("messages", ())
                self.read = max([self.read, *(message["index"] for message in messages[-1:])])
            case a.SendMessage():
                self.written[action.to_agent_id] = self.read
                match action.message:
                    case a.OrderProposal():
                        self.proposed[action.message.id] = action.message
                        self.proposal_count += 1
                    case a.Payment():
                        self.paid += 1
                    case a.Text():
                        pass
            case _:
                pass


class ResumableRoutine(Routine):
    """A routine that restarts, with its past, after an action that it did not decide."""

    def __init__(self, plan: Callable[[Routine], Plan]) -> None:
        self.past = Past()
        self._action: Action | None = None
        super().__init__(plan)

    async def act(self, view: View, last: Outcome | None) -> Move:
        if self._action is not None and last is not None:
            self.past.note(self._action, last)
        move = await super().act(view, last)
        self._action = move.action
        return move

    def watch(self, action: Action, outcome: Outcome) -> None:
        """Take note of an action of its actor that it did not decide, and plan anew."""
        self._action = None
        self.past.note(action, outcome)
        self.restart()
