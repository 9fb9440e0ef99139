"""The view of a run for the person who plays it: what the actor did and was answered, never what is hidden from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from akinai.core.agents import owner_of
from akinai.core.canonical import Json
from akinai.core.ledger import SECOND_US, Ledger, midnights
from akinai.core.presentation.desk import Desk
from akinai.core.presentation.transcript import Block, Crowd, Figure, ItemKind, Letter, Passage, Talk
from akinai.core.presentation.voice import Voice
from akinai.core.scores import Score
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World, replay
from akinai.core.worlds import step as take_step
from akinai.views.place_history import PlaceHistory, record_place_history
from akinai.views.run import BY_SEAT

LOG = 60
"""Entries of the log that are shown."""
LETTER_KINDS: tuple[ItemKind, ...] = ("letter", "inbox")


@dataclass(frozen=True, slots=True)
class LogItem:
    """An action of the actor, and its outcome."""

    seq: int
    when: str
    summary: str
    letters: tuple[Letter, ...]
    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class PlayView:
    """A run as its player sees it now."""

    actor: str
    name: str
    seq: int
    day: int
    """From 1; 0 in a world without days."""
    days: int
    """Days to play; 0 without an end."""
    when: str
    headline: str
    unit: str
    opening: float
    standing: float | None
    """The headline now, but for what only the end settles; None where the actor does not know it."""
    closed: tuple[float, ...]
    """The headline at the end of each day that is over."""
    desk: Desk
    voice: Voice
    brief: tuple[Block, ...]
    """What the actor was told at the beginning."""
    log: tuple[LogItem, ...]
    """The newest first."""
    talks: tuple[Talk, ...]
    """The actor's own conversations, in a world of several sides."""
    results: tuple[Figure, ...]
    """What the run came to for the actor, in such a world."""
    place_history: PlaceHistory | None
    """The place as it is now, a history of a single state; None in a world of several sides, and for a helper such as
    an overseer, where others' affairs are hidden."""


def play_view(world: World[Any], steps: Steps[Any], actor: str) -> PlayView:
    """Make the view of the person who plays an actor."""
    state, presentation, judging = steps.final, world.facets.presentation, world.facets.judging
    aside = world.facets.seating.group(state, actor) in world.facets.sides.helpers
    first = None if aside else _first_score(world, steps)
    crowded = bool(world.facets.sides.groups) or aside
    start, now = world.now(steps.opening), world.now(state)
    days = steps.genesis.setup.get("days", 0)
    dated = start is not None and now is not None and isinstance(days, int) and "days" in steps.genesis.setup
    owner = owner_of(actor)
    crowd = presentation.crowd(steps) if crowded else Crowd()
    return PlayView(
        actor,
        presentation.names(state).get(actor, ""),
        len(steps),
        midnights(start, now) + 1 if dated and start is not None and now is not None else 0,
        days if dated and isinstance(days, int) else 0,
        _when(now) if dated and now is not None else "",
        first.name if first else "",
        first.unit if first else "",
        judging.standing(steps.opening) or 0.0,
        None if crowded or not first else _headline(world, state, first.name, owner),
        tuple(_closed(world, steps, first.name, owner)) if dated and first else (),
        presentation.desk(state, actor, _met(steps, owner)),
        voice := presentation.voice(state, actor),
        voice.brief or (Passage("briefing", world.view(steps.opening, actor).text),),
        tuple(_log(world, steps, owner, voice)),
        tuple(talk for talk in crowd.talks if owner in (talk.buyer, talk.seller)),
        next((person.figures for person in crowd.people if person.id == owner), ()),
        None if crowded else _own_place(record_place_history(presentation, Steps(steps.genesis, state, ())), owner),
    )


def _own_place(history: PlaceHistory, owner: str) -> PlaceHistory:
    """On a street the place of an owner, who knows of the others' what it looked at."""
    return history.parts.get(owner, history)


def _first_score(world: World[Any], steps: Steps[Any]) -> Score | None:
    nobody_acted = replay(world, Ledger(steps.genesis, ()))
    return next((score for scorer in world.scorers for score in scorer(nobody_acted)), None)


def _closed(world: World[Any], steps: Steps[Any], headline: str, owner: str) -> Iterator[float]:
    """Yield the headline after each night; nights that one step passed over have that at its end."""
    for step in steps:
        before, after = world.now(step.before), world.now(step.after)
        nights = midnights(before, after) if before is not None and after is not None else 0
        value = _headline(world, step.after, headline, owner) if nights else None
        yield from (value for _ in range(nights) if value is not None)


def _headline(world: World[Any], state: Any, headline: str, owner: str) -> float | None:
    """The headline in a state, by its own name among the facts where it is there; among several owners that of one."""
    facts = world.facets.judging.facts(state)
    by_seat = world.facets.judging.day_facts(state).get(f"{headline}_cents{BY_SEAT}")
    if isinstance(by_seat, Mapping):
        facts = {headline: by_seat.get(owner)}
    value = facts.get(f"{headline}_cents", facts.get(headline))
    return float(value) if isinstance(value, int | float) else world.facets.judging.standing(state)


def _log(world: World[Any], steps: Steps[Any], owner: str, voice: Voice) -> Iterator[LogItem]:
    count = 0
    for index in range(len(steps) - 1, -1, -1):
        taken = steps[index]
        if owner_of(taken.entry.actor) != owner:
            continue
        yield _item(world, steps, taken, index, voice)
        count += 1
        if count == LOG:
            return


def _item(world: World[Any], steps: Steps[Any], step: Step[Any], index: int, voice: Voice) -> LogItem:
    entry, now = step.entry, world.now(step.before)
    entry_view = world.facets.presentation.show(steps, index)
    readable = entry.outcome.ok and entry_view.kind in LETTER_KINDS
    letters = tuple(
        replace(block, body=voice.tell(block.body), at=voice.tell(block.at))
        for block in (entry_view.blocks if readable else ())
        if isinstance(block, Letter)
    )
    observed = world.facets.observation.observe(step.after, step.turn, step.outcome)
    return LogItem(
        entry.seq,
        "" if now is None else _when(now),
        entry_view.summary,
        letters,
        voice.tell(observed.text),
        entry.outcome.ok,
    )


def _when(now: int) -> str:
    at = datetime.fromtimestamp(now // SECOND_US, UTC)
    return f"{at:%a} {at.day} {at:%b} {at:%H:%M}"


def _met(steps: Sequence[Step[Any]], owner: str) -> frozenset[str]:
    """The words in the data of an actor's outcomes."""
    return frozenset(
        word for step in steps if owner_of(step.entry.actor) == owner for word in _words_in(step.outcome.data)
    )


def _words_in(data: Json) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _words_in(item)


def last_step(steps: Sequence[Step[Any]], actor: str) -> Step[Any] | None:
    """The last action of an actor; None before the first."""
    return next((step for step in reversed(steps) if owner_of(step.entry.actor) == owner_of(actor)), None)


def refused_paths(world: World[Any], refused: Step[Any], values: Mapping[str, Any]) -> list[Sequence[str | int]]:
    """The values for which an action was refused, by names and positions: those that the refusal names, else the first
    row without which it would not have been refused in this way. Empty where no value alone is at fault."""
    text = refused.outcome.text
    named: list[Sequence[str | int]] = [
        (name,) for name, value in values.items() if isinstance(value, str) and value and repr(value) in text
    ]
    if named:
        return named

    def code(**changes: object) -> str | None:
        try:
            action = type(refused.turn.action).decode({**values, **changes})
        except ValueError:
            return None
        return take_step(world, refused.before, replace(refused.turn, action=world.verbs.settled(action)))[1].code

    for name, value in values.items():
        rows = _rows(value)
        alone = {key: code(**{name: type(value)([row])}) == refused.outcome.code for key, row in rows.items()}
        if rows and not (len(rows) > 1 and all(alone.values())):
            for count, key in enumerate(rows, 1):
                if code(**{name: type(value)([*rows.values()][:count])}) == refused.outcome.code:
                    return [(name, key)]
    return []


def _rows(value: object) -> Mapping[str | int, object]:
    """The rows of a list of objects by position, or those of a table by name."""
    if isinstance(value, dict):
        return {name: (name, item) for name, item in cast("dict[str, object]", value).items()}
    return dict(enumerate(cast("list[object]", value))) if isinstance(value, list) else {}
