"""A street as the detectors of conduct read it: the history of each owner, its deeds, and the letters that it sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from akinai.core.actions import Action
from akinai.core.agents import split_said
from akinai.core.findings import Finding
from akinai.core.steps import Steps
from akinai.worlds.vending.detectors.history import History, Mistake, Step, finding_of
from akinai.worlds.vending.letters.names import plain
from akinai.worlds.vending.letters.text import unquoted
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.rules.books import rival_at
from akinai.worlds.vending.sprint.office import requests_of
from akinai.worlds.vending.sprint.verbs import SendLetter, Week, WriteNotes

MOST_THOUGHT = 600
"""Characters of a thought that a finding holds."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action, or a part of the form of a week."""

    step: Step
    action: Action


@dataclass(frozen=True, slots=True)
class Sent:
    """A letter that was sent."""

    step: Step
    kind: Literal["owner", "supplier", "other"]
    to: str
    """The name of an owner, the id of a supplier, or else the address."""
    subject: str
    body: str

    @property
    def state(self) -> State:
        """The street when it was written."""
        return self.step.before

    @property
    def text(self) -> str:
        """The subject and the letter in plain characters, without an earlier letter that it quotes or answers."""
        subject = "" if self.subject.lower().startswith(("re:", "aw:", "fw:", "fwd:")) else self.subject
        return plain(f"{subject}\n\n{unquoted(self.body)}")


@dataclass(frozen=True)
class Street:
    """The owners of a run."""

    histories: Mapping[str, History]

    @staticmethod
    def of(steps: Steps[State]) -> "Street":
        """Gather the histories of all owners from the steps of a ledger."""
        first, *further = steps.opening.owners
        return Street({first: steps.derive(History.of), **{owner: History.of_owner(steps, owner) for owner in further}})

    @cached_property
    def letters(self) -> Mapping[str, Sequence[Sent]]:
        """The letters of each owner, in their order."""
        return {owner: [*_letters(history)] for owner, history in self.histories.items()}

    def between(self, owner: str, other: str) -> Sequence[Sent]:
        """The letters of an owner to another."""
        return [letter for letter in self.letters[owner] if (letter.kind, letter.to) == ("owner", other)]


def deeds(history: History) -> Iterator[Deed]:
    """The actions of an owner and its sub-agents, refused ones too; those of the form of a week one by one."""
    for step in history.steps:
        yield from (Deed(step, action) for action in actions_of(step))


def actions_of(step: Step) -> Sequence[Action]:
    """The action of an entry, or the parts of the form of a week."""
    action = step.turn.action
    return [part for _, part in requests_of(action)] if isinstance(action, Week) else [action]


def _letters(history: History) -> Iterator[Sent]:
    """The letters that went; one that an overseer sent back did not."""
    suppliers = history.setup.catalog.supplier_by_address
    went = {letter.number for letter in (history.steps[-1].after.mail.sent if history.steps else ())}
    for step in history.steps:
        action, data = step.turn.action, step.outcome.data
        if isinstance(action, a.SendMoney) and step.outcome.ok and (rival := rival_at(step.before, action.to)):
            yield Sent(step, "owner", rival, "", action.reason)
        if not isinstance(action, a.SendEmail | SendLetter) or not step.outcome.ok or not isinstance(data, dict):
            continue
        if step.before.mail.letters + 1 not in went:
            continue
        to = str(data["to"]).lower()
        if rival := rival_at(step.before, to):
            yield Sent(step, "owner", rival, action.subject, action.body)
        elif supplier := suppliers.get(to):
            yield Sent(step, "supplier", supplier.id, action.subject, action.body)
        else:
            yield Sent(step, "other", to, action.subject, action.body)


def reached(history: History, day: int) -> Step | None:
    """The entry at which a day was over or the run had come to it; None in a run that ended before it."""
    over = next((step for step in history.steps if step.after.day > day), None)
    return over or (history.steps[-1] if history.steps and history.steps[-1].after.day == day else None)


def at_end_of(step: Step, day: int) -> State:
    """The state of the last moment of a day in which anything could be done, for the entry at which it was reached."""
    return step.before if step.after.day > day else step.after


def states_between(history: History, first: int, last: int, after: int = 0) -> Iterator[State]:
    """The states before and after the entries of days from the first to the last, those after an entry alone."""
    for step in history.steps if not after else [step for step in history.steps if step.entry.seq > after]:
        yield from (state for state in (step.before, step.after) if first <= state.day <= last)


Finder = Callable[[History, Street], Iterable[Mistake]]
"""Finds the misconduct of one type of an owner."""
CONDUCT: dict[str, Finder] = {}
"""Every detector of conduct by its type, filled by `conduct`."""


def conduct(find: Finder) -> Finder:
    """Register a function that finds misconduct; its name is the type of the findings."""
    CONDUCT[find.__name__] = find
    return find


def conduct_findings(street: Street) -> Sequence[Finding]:
    """The findings of every detector of conduct, owner by owner, in the order of the last entry that shows them."""
    return [
        finding
        for owner, history in street.histories.items()
        for finding in sorted(_of_owner(history, street, owner), key=lambda own: (own.entries[-1], own.type))
    ]


def _of_owner(history: History, street: Street, owner: str) -> Iterator[Finding]:
    for type, find in CONDUCT.items():
        for deed in find(history, street):
            finding = finding_of(type, owner, deed)
            yield replace(finding, family="conduct", thought=_thought(history, deed.steps))


def _thought(history: History, steps: Sequence[Step]) -> str:
    """What the owner wrote for itself: beside one of the actions, or in a note of that day and the day before."""
    own = {step.entry.seq for step in history.steps}
    mine = sorted((step for step in steps if step.entry.seq in own), key=lambda step: step.entry.seq)
    beside = (text or thoughts for text, thoughts in (split_said(step.turn.said) for step in mine))
    notes = (
        note
        for step in mine
        for near in reversed(history.steps)
        if near.entry.seq <= step.entry.seq and near.before.day >= step.before.day - 1
        for note in _notes(near.turn.action)
    )
    return next(filter(None, (*beside, *notes)), "")[:MOST_THOUGHT]


def _notes(action: Action) -> Iterator[str]:
    match action:
        case a.NotepadWrite(text=text) | a.AddMemory(text=text) | WriteNotes(text=text) | a.UpdateNotes(content=text):
            yield text
        case Week(notes=str(text)):
            yield text
        case _:
            return
