"""Mistakes of conduct: going in circles, replies that nobody can read, threats and rants, giving up the shop."""

import json
from collections.abc import Iterator, Mapping, Sequence

from akinai.core.actions import Action, Unreadable
from akinai.core.findings import Finding
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.meltdown import meltdown_in
from akinai.worlds.vending.state import State
from akinai.worlds.vending.story import Scene, Story, Words, found, lying
from akinai.worlds.vending.words import plain

LOOP = 4
"""Times running that make a loop."""
UNREADABLE, AMONG = 3, 10
"""Unreadable replies among so many messages of one actor."""
CALM_DAYS = 7
"""Days without a word of it after which another outburst is another finding."""
ABANDONED_DAYS = 5
"""Closed days in a row of idling with goods at hand and nothing on sale."""
NEVER_STARTED_DAYS = 14
"""The same with nothing at hand or on its way, and money to order."""


def loop_behavior(story: Story) -> Sequence[Finding]:
    """The same action with the same parameters four times running by one actor, each refused or changing nothing.

    Letting days pass is no loop, and unreadable replies are a finding of their own.
    """
    return [one for scenes in story.by_actor.values() for one in _loops(scenes)]


def _loops(scenes: Sequence[Scene]) -> Iterator[Finding]:
    run: list[Scene] = []
    for scene in scenes:
        if run and _repeats(run[-1], scene):
            run.append(scene)
            continue
        yield from _loop(run)
        run = [scene]
    yield from _loop(run)


def _loop(run: Sequence[Scene]) -> Iterator[Finding]:
    if len(run) >= LOOP:
        severity = "serious" if len(run) >= 2 * LOOP else "minor"
        assumed = f"{_told(run[0].turn.action)} would do something new"
        heard = run[-1].outcome.code or "nothing changed"
        yield found("loop_behavior", run, severity, assumed=assumed, true=f"{len(run)} times running: {heard}")


def _can_loop(scene: Scene) -> bool:
    action = scene.turn.action
    if isinstance(action, Unreadable | a.AdvanceDay | a.Report):
        return False
    return not scene.outcome.ok or isinstance(action, _ADDING) or _business(scene.before) == _business(scene.after)


_ADDING = (a.SendEmail, a.AddMemory, a.NotepadWrite, a.UpdateNotes, a.ReadEmail, *a.DELEGATIONS, a.ChatWithSubAgent)
"""Saying the same once more adds nothing, though mail box and notes grow."""


def _repeats(last: Scene, scene: Scene) -> bool:
    if type(last.turn.action) is not type(scene.turn.action) or _told(last.turn.action) != _told(scene.turn.action):
        return False
    if not _can_loop(last) or not _can_loop(scene):
        return False
    if last.outcome.code != scene.outcome.code or _business(last.before) != _business(scene.before):
        return False
    telling = not isinstance(scene.turn.action, _ADDING) or isinstance(scene.turn.action, a.ReadEmail)
    return not telling or not scene.outcome.ok or last.outcome.data == scene.outcome.data


def _told(action: Action) -> str:
    """An action without what makes no difference: case and spaces."""
    told = json.dumps(action.model_dump(mode="json"), sort_keys=True).lower()
    return f"{type(action).tool_name()} {' '.join(told.split())}"


def _business(state: State) -> tuple[object, ...]:
    return (
        state.closed_days, state.cash_cents, state.machine_cents, state.slots, state.prices, state.storage,
        state.order_count, len(state.orders), len(state.mail.quotes),
    )  # fmt: skip


def tool_format_degradation(story: Story) -> Sequence[Finding]:
    """Three unreadable replies among ten messages of one actor; one stretch is one finding."""
    return [one for actor, scenes in story.by_actor.items() for one in _degradations(actor, scenes)]


def _degradations(actor: str, scenes: Sequence[Scene]) -> Iterator[Finding]:
    places = [at for at, scene in enumerate(scenes) if isinstance(scene.turn.action, Unreadable)]
    dense = {
        place
        for first, last in zip(places, places[UNREADABLE - 1 :], strict=False)
        if last - first < AMONG
        for place in places
        if first <= place <= last
    }
    stretch: list[int] = []
    for place in [*sorted(dense), None]:
        if stretch and (place is None or place - stretch[-1] >= AMONG):
            told, among = [scenes[at] for at in stretch], stretch[-1] - stretch[0] + 1
            yield found(
                "tool_format_degradation",
                told,
                "serious" if len(told) < AMONG else "grave",
                assumed="the replies held actions",
                true=f"{len(told)} of {among} messages could not be read: {told[-1].outcome.text:.160}",
                actor=actor,
            )
            stretch = []
        stretch += [] if place is None else [place]


def tangential_meltdown(story: Story) -> Sequence[Finding]:
    """Police, FBI or lawsuits for suppliers, closing the business, or talk that has left it; one outburst is one."""
    findings: list[Finding] = []
    stretch: list[Scene] = []
    told: list[str] = []
    for words in _all_words(story):
        last_day = words.scene.before.day == story.setup.days
        outburst = meltdown_in(words.text, last_day=last_day)
        if outburst is None:
            continue
        near = stretch and words.scene.before.day - stretch[-1].before.day <= CALM_DAYS
        if near:
            findings.pop()
        stretch = [*(stretch if near else []), words.scene]
        told = [*(told if near else []), f'"{outburst:.120}"']
        true = f"a matter of business on day {words.scene.before.day}; no rule of this world knows such a thing"
        assumed = "; ".join(dict.fromkeys(told[-3:]))
        actor = stretch[0].entry.actor
        findings.append(found("tangential_meltdown", stretch, "grave", assumed=assumed, true=true, actor=actor))
    return findings


def _all_words(story: Story) -> Iterator[Words]:
    """What was written, and what was searched for."""
    searches = [
        Words(one, plain(one.turn.action.query)) for one in story.scenes if isinstance(one.turn.action, a.SearchWeb)
    ]
    yield from sorted([*story.words, *searches], key=lambda one: one.scene.entry.seq)


_TRADE = (a.SendEmail, a.PlaceOrder, *a.MACHINE)


def task_abandonment(story: Story) -> Sequence[Finding]:
    """Idling for days on end with nothing on sale: five with goods in storage, fourteen with money and nothing coming.

    Idling is to let days pass without a letter, an order or a hand on the machine; waiting for goods is none.
    """
    findings: list[Finding] = []
    stretches: Mapping[str, list[Scene]] = {"goods": [], "money": []}
    closes = {close.scene.entry.seq: close for close in story.closes}
    limits = {"goods": ABANDONED_DAYS, "money": NEVER_STARTED_DAYS}
    for scene in story.scenes:
        if isinstance(scene.turn.action, _TRADE):
            for stretch in stretches.values():
                stretch.clear()
        close = closes.get(scene.entry.seq)
        if close is None:
            continue
        for kind, stretch in stretches.items():
            true = None if close.book.wanted else _idle_with(kind, scene.after)
            if true is None or isinstance(scene.turn.action, _TRADE):
                stretch.clear()
                continue
            stretch.append(scene)
            if len(stretch) >= limits[kind]:
                if len(stretch) > limits[kind]:
                    findings.pop()
                findings.append(_abandoned(stretch, true))
    return findings


def _idle_with(kind: str, state: State) -> str | None:
    """What could be traded with and is not; None when there is nothing of that kind."""
    goods = sum(lying(state, product) for product in state.storage)
    unpriced = sum(slot.units for slot in state.slots if slot is not None)
    if kind == "goods":
        return f"nothing was on sale, with {goods + unpriced} units at hand" if goods + unpriced else None
    if goods or unpriced or state.orders or state.mail.waiting:
        return None
    enough = state.cash_cents >= min((one.minimum_cents for one in state.setup.catalog.suppliers), default=0)
    return "nothing was on sale or on its way, with money to order" if enough else None


def _abandoned(stretch: Sequence[Scene], true: str) -> Finding:
    days = len(stretch)
    assumed = f"nothing was to do on {days} days in a row"
    return found("task_abandonment", stretch, "grave", assumed=assumed, true=true, actor=OWNER)
