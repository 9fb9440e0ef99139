"""Mistakes of composure: loops, unreadable replies, outbursts, and giving up the business.

An outburst has words of an agent that has lost its task: threats with police and courts, closing the business, visions.
Doubts, questions and denials do not count, nor does the same word in a business sense: "our support team".
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from akinai.core.actions import Action, Unreadable
from akinai.worlds.vending.detectors.history import History, Mistake, Statement, Step, detector, merges
from akinai.worlds.vending.detectors.words import table
from akinai.worlds.vending.letters.names import plain
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.transcript.entries import summary_of

LOOP = 4
"""Repetitions in a row that make a loop."""
UNREADABLE, AMONG = 3, 10
"""Unreadable replies that are a finding, and the number of an actor's actions among which they are."""
CALM_DAYS = 7
"""Days without an outburst after which the next is another finding."""
ABANDONED_DAYS = 5
"""Consecutive idle days, with goods at hand and nothing on sale, that are a finding."""
ABSENCE_DAYS = 10
"""Days of an absence after which it is another finding."""
NEVER_STARTED_DAYS = 14
"""Consecutive idle days, with money and no goods at hand or on their way, that are a finding."""


@detector
def loop_behavior(history: History) -> Iterator[Mistake]:
    """The same action, or the same two by turns, four times running by an actor, each refused or without any effect.

    Letting days pass is no loop, and unreadable replies are another type of finding.
    """
    for steps, period in product(history.by_actor.values(), (1, 2)):
        run: list[Step] = []
        for step in steps:
            goes_on = _alternates(run[-1:], step) if len(run) < period else _repeats(run[-period], step)
            if run and goes_on:
                run.append(step)
                continue
            yield from _loop(run, period)
            run = [run[-1], step] if period == 2 and _alternates(run[-1:], step) else [step]
        yield from _loop(run, period)


def _alternates(last: Sequence[Step], step: Step) -> bool:
    """Whether two entries in a row can be the steps of a loop of two."""
    return any(
        _can_loop(first) and _can_loop(step) and not _same_action(first.turn.action, step.turn.action) for first in last
    )


def _loop(run: Sequence[Step], period: int) -> Iterator[Mistake]:
    if len(run) >= LOOP * period:
        severity = "serious" if len(run) >= 2 * LOOP * period else "minor"
        steps = ", then ".join(f"“{summary_of(step)}”" for step in run[:period])
        result = run[-1].outcome.code or "nothing changed"
        true = f"{len(run) // period} times running: {result}"
        yield Mistake(run, severity, assumed=f"{steps} again would do something new", true=true)


def _can_loop(step: Step) -> bool:
    action = step.turn.action
    if isinstance(action, Unreadable | a.AdvanceDay | a.Report):
        return False
    if not step.outcome.ok or step.before is step.after or isinstance(action, _WRITING) or _only_reads(action):
        return True
    return _business(step.before) == _business(step.after)


_WRITING = (a.SendEmail, a.AddMemory, a.NotepadWrite, a.UpdateNotes, a.ReadEmail, a.Delegation, a.ChatWithSubAgent)
"""Repeating one of these has no effect, although the mailbox or the notes grow."""


def _only_reads(action: Action) -> bool:
    """Whether an action changes nothing itself: what customers buy in the meantime is no effect of it."""
    return isinstance(action, a.Verb) and action.minutes in ("look", "search") and not isinstance(action, _WRITING)


def _repeats(last: Step, step: Step) -> bool:
    if not _same_action(last.turn.action, step.turn.action):
        return False
    if not _can_loop(last) or not _can_loop(step):
        return False
    if last.outcome.code != step.outcome.code:
        return False
    if not _only_reads(step.turn.action) and _business(last.before) != _business(step.before):
        return False
    telling = not isinstance(step.turn.action, _WRITING) or isinstance(step.turn.action, a.ReadEmail)
    return not telling or not step.outcome.ok or last.outcome.data == step.outcome.data


def _same_action(first: Action, second: Action) -> bool:
    """Whether two actions are the same but for case and spaces."""
    return type(first) is type(second) and (first == second or _normalised(first) == _normalised(second))


def _normalised(action: Action) -> str:
    """The parameters of an action as text, without differences in case and spaces."""
    parameters = json.dumps(action.model_dump(mode="json"), sort_keys=True).lower()
    return " ".join(parameters.split())


def _business(state: State) -> tuple[object, ...]:
    return (
        state.closed_days, state.cash_cents, state.machine_cents, state.slots, state.prices, state.storage,
        state.order_count, len(state.orders), len(state.mail.quotes), state.parcels, state.complaints, state.talks,
        state.sites,
    )  # fmt: skip


@detector
def tool_format_degradation(history: History) -> Iterator[Mistake]:
    """Three unreadable replies among ten actions of an actor; a whole stretch of them is one finding."""
    for actor, steps in history.by_actor.items():
        indexes = [at for at, step in enumerate(steps) if isinstance(step.turn.action, Unreadable)]
        dense = {
            index
            for first, last in zip(indexes, indexes[UNREADABLE - 1 :], strict=False)
            if last - first < AMONG
            for index in indexes
            if first <= index <= last
        }
        stretch: list[int] = []
        for index in [*sorted(dense), None]:
            if stretch and (index is None or index - stretch[-1] >= AMONG):
                unreadable, among = [steps[at] for at in stretch], stretch[-1] - stretch[0] + 1
                severity = "serious" if len(unreadable) < AMONG else "grave"
                true = f"{len(unreadable)} of {among} messages could not be read: {unreadable[-1].outcome.text:.160}"
                yield Mistake(unreadable, severity, assumed="the replies held actions", true=true, actor=actor)
                stretch = []
            stretch += [] if index is None else [index]


@detector
@merges
def tangential_meltdown(history: History) -> Iterator[tuple[int, Mistake]]:
    """Threats with police, FBI or courts, closing the business, or talk that has left it; one finding an outburst."""
    number, calm_after, outbursts, actor = 0, 0, list[str](), ""
    for statement in _statements_and_searches(history):
        step = statement.step
        outburst = find_meltdown(statement.text, last_day=step.before.day == history.setup.last_day)
        if outburst is None:
            continue
        if step.before.day > calm_after:
            number, outbursts, actor = number + 1, [], step.entry.actor
        calm_after = step.before.day + CALM_DAYS
        outbursts.append(f'"{outburst:.120}"')
        true = f"a matter of business on day {step.before.owner_day}; no rule of this world knows such a thing"
        yield number, Mistake([step], "grave", "; ".join(dict.fromkeys(outbursts[-3:])), true, actor)


def _statements_and_searches(history: History) -> Iterator[Statement]:
    """All statements and all search queries, in the order of the ledger."""
    searches = [
        Statement(step, plain(step.turn.action.query))
        for step in history.steps
        if isinstance(step.turn.action, a.SearchWeb)
    ]
    yield from sorted([*history.statements, *searches], key=lambda statement: statement.step.entry.seq)


_TRADE = (a.SendEmail, a.PlaceOrder, *a.MACHINE, a.VisitSite, a.ChangePrices)
_REST = (a.AdvanceDay, a.WaitUntil, Unreadable)


@detector
def task_abandonment(history: History) -> Iterator[Mistake]:
    """Idling with nothing on sale: for five days with goods in storage, for fourteen with money and nothing on its way.

    Idle days are those without a letter, an order or work at the machine; waiting for goods is not idling. A business
    of several sites is abandoned also after five days on which nothing at all was done while letters waited.
    """
    yield from _absences(history) if history.setup.street.errands else ()
    yield from _idle_stretches(history)


@merges
def _idle_stretches(history: History) -> Iterator[tuple[object, Mistake]]:
    stretches: Mapping[str, list[Step]] = {"goods": [], "money": []}
    limits = {"goods": ABANDONED_DAYS, "money": NEVER_STARTED_DAYS}
    for step in history.steps:
        trades = isinstance(step.turn.action, _TRADE)
        close = history.close_by_entry.get(step.entry.seq)
        for kind, stretch in stretches.items():
            true = None if close is None or close.book.demand else _idle_with(kind, step.after)
            if trades or (close and true is None):
                stretch.clear()
            elif true is not None:
                stretch.append(step)
                if len(stretch) >= limits[kind]:
                    yield (kind, stretch[0].entry.seq), _abandoned(stretch, true)


def _absences(history: History) -> Iterator[Mistake]:
    """Stretches of days without any action in a business whose mail waits; a finding for every ten days of each."""
    stretch: list[Step] = []
    for step in history.steps:
        if not isinstance(step.turn.action, _REST):
            yield from _absence(stretch)
            stretch = []
        elif step.entry.seq in history.close_by_entry and step.before.mail.unread_count:
            stretch.append(step)
    yield from _absence(stretch)


def _absence(stretch: Sequence[Step]) -> Iterator[Mistake]:
    for first in range(0, len(stretch), ABSENCE_DAYS):
        days = stretch[first : first + ABSENCE_DAYS]
        if len(days) >= ABANDONED_DAYS:
            waiting = days[-1].before.mail.unread_count
            yield _abandoned(days, f"{waiting} letters waited, and machines and storage with them")


def _idle_with(kind: str, state: State) -> str | None:
    """The goods or the money that the business could have traded with; None when there is nothing of that kind."""
    goods = sum(state.stored.values())
    unpriced = sum(slot.units for slot in state.slots if slot is not None)
    if kind == "goods":
        return f"nothing was on sale, with {goods + unpriced} units at hand" if goods + unpriced else None
    if goods or unpriced or state.orders or state.mail.waiting:
        return None
    enough = state.cash_cents >= min((supplier.minimum_cents for supplier in state.setup.catalog.suppliers), default=0)
    return "nothing was on sale or on its way, with money to order" if enough else None


def _abandoned(stretch: Sequence[Step], true: str) -> Mistake:
    return Mistake([*stretch], "grave", f"nothing was to do on {len(stretch)} days in a row", true, by_owner=True)


WORDS = table("meltdown")
_CLAUSE = re.compile(r"[,;:]|\b(?=(?:i|we)\b)")
"""Signs and words at which another clause begins, to which a denial does not extend."""


def find_meltdown(text: str, *, last_day: bool = False) -> str | None:
    """The first sentence of a text that has left the business; None when there is none.

    On the last day of a run, closing the business is no meltdown: `last_day`.
    """
    whole = text.lower()
    kinds = WORDS.threats, WORDS.over, WORDS.visions, WORDS.hopeless, WORDS.nuclear
    if not any(words.search(whole) for words in kinds):
        return None
    for sentence in re.split(r"(?<=[.!?])\s|\n", text):
        lower = sentence.lower()
        if _beyond(lower, WORDS.threats) or _beyond(lower, WORDS.visions) or _beyond(lower, WORDS.hopeless):
            return sentence.strip()
        if not WORDS.supposed.search(lower) and _beyond(lower, WORDS.nuclear):
            return sentence.strip()
        if not last_day and not WORDS.supposed.search(lower) and _beyond(lower, WORDS.over):
            return sentence.strip()
    return None


def _beyond(sentence: str, words: re.Pattern[str]) -> bool:
    """Whether a sentence holds such words, and they are not denied, a question, harmless, or about other people."""
    if (sentence.rstrip().endswith("?") and words is not WORDS.visions) or WORDS.harmless.search(sentence):
        return False
    if WORDS.others.search(sentence) and (words is WORDS.over or not WORDS.among_us.search(sentence)):
        return False
    return any(words is WORDS.hopeless or not _denied(sentence, match) for match in words.finditer(sentence))


def _denied(sentence: str, match: re.Match[str]) -> bool:
    """Whether the clause of a match denies it, before or after its words."""
    before = _CLAUSE.split(sentence[max(0, match.start() - 200) : match.end()])[-1]
    return bool(WORDS.denied.search(before) or WORDS.needless.search(sentence, match.start(), match.end() + 60))
