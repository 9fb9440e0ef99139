"""Laws of a world's rules and views: refusals, exceptions, free reads, conservation."""

import json
import re
from itertools import pairwise
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from akinai.core.actions import Action
from akinai.core.agents import View
from akinai.core.canonical import Json, canonical
from akinai.core.ledger import Outcome, Turn
from akinai.core.worlds import fold, step
from akinai.testing.laws.case import WorldCase, for_all, random_run
from akinai.testing.laws.strategies import garbage, near

NOT_OFFERED = ("closed", "not_yours")
"""Codes of actions that were not offered. An offered action is never refused with them."""


def states_compare_by_value(case: WorldCase[Any]) -> None:
    """Two states begun from the same genesis are equal: every law about an unchanged state needs that."""
    world, genesis = case.world, case.genesis
    assert world.begin(genesis) == world.begin(genesis), (
        "two states begun from the same genesis differ: make the state a frozen dataclass, draw chance from the genesis"
    )


def refusal_changes_nothing(case: WorldCase[Any]) -> None:
    """A refused action leaves the state equal, to the cent: the run goes on as if it had not been sent."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        state = case.world.begin(case.genesis)
        for recorded in run.steps:
            seq, outcome = recorded.entry.seq, recorded.outcome
            if outcome.ok:
                state, _ = step(case.world, state, recorded.turn)
                assert outcome.code is None, f"entry {seq} is ok and has the code {outcome.code!r}"
            else:
                assert recorded.after == recorded.before, (
                    f"entry {seq}, {recorded.entry.name}, was refused and changed the state"
                )
                _expect_refusal(seq, outcome)
            assert recorded.after == state, f"without the refusals before it, the state after entry {seq} is another"

    for_all(case, check)


def _expect_refusal(seq: int, outcome: Outcome) -> None:
    code = outcome.code or ""
    assert re.fullmatch("[a-z][a-z0-9_]*", code), f"entry {seq} is refused as {outcome.code!r}, which is no stable code"
    assert outcome.text.strip(), f"entry {seq} is refused as {code} without a sentence"


def nothing_an_agent_sends_raises(case: WorldCase[Any]) -> None:
    """No JSON from any actor makes a world raise; a reply without an action is refused and recorded."""

    async def check(data: st.DataObject) -> None:
        run, verbs = await random_run(case, data), case.world.verbs
        nearly = st.sampled_from(verbs.classes).flatmap(lambda verb: near(verb, case.vocabulary))
        for raw in data.draw(st.lists(garbage(verbs) | nearly, min_size=1, max_size=8)):
            actor = data.draw(st.sampled_from((*case.world.actors(run.session.state), *case.strangers)))
            outcome = await run.act(actor, raw.parse(verbs))
            assert isinstance(outcome, Outcome), f"{raw} is answered with {outcome!r}"

    for_all(case, check)


def views_change_nothing(case: WorldCase[Any]) -> None:
    """Views and facts are free reads: read twice they are equal, and the state stays as it was."""

    async def check(data: st.DataObject) -> None:
        run, world = await random_run(case, data), case.world
        state = run.session.state
        for actor in (*case.known_actors, *case.strangers):
            view = world.view(state, actor)
            assert world.view(state, actor) == view, f"two views of {actor!r} differ"
            assert view.news in view.text, f"the news of {actor!r} are not in the text of its view"
        assert world.facets.judging.facts(state) == world.facets.judging.facts(state), (
            "the facts of a state differ when read twice"
        )
        assert state == fold(world, run.ledger), "a view changed the state"

    for_all(case, check)


def actors_see_verbs(case: WorldCase[Any]) -> None:
    """A view is closed, with a reason and without verbs, exactly for those who may not act."""

    async def check(data: st.DataObject) -> None:
        run, world = await random_run(case, data), case.world
        for state in run.states:
            actors = world.actors(state)
            for actor in {*actors, *case.known_actors, *case.strangers}:
                view = world.view(state, actor)
                note(f"{actor!r} sees {view!r:.400}")
                open_to, closed = actor in actors, view.closed is not None
                assert open_to != closed, f"{actor!r} may {'' if open_to else 'not '}act, yet closed is {view.closed!r}"
                assert bool(view.verbs) == open_to, f"{actor!r} may {'' if open_to else 'not '}act, with {view.verbs}"
                assert set(view.verbs) <= set(world.verbs.classes), "a view offers a verb that the world does not have"
            assert not (world.ending(state) and actors), f"the game is over and {actors} may act"

    for_all(case, check)


def unoffered_actions_are_refused(case: WorldCase[Any]) -> None:
    """An action outside the actor's view is refused; one inside it is never refused as `closed` or `not_yours`."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        for recorded in run.steps:
            entry, view = recorded.entry, case.world.view(recorded.before, recorded.entry.actor)
            subject = f"entry {entry.seq}, {entry.name} by {entry.actor!r},"
            _expect_offered(view, recorded.turn.action, recorded.outcome, subject)
        state, seq, at = run.session.state, run.session.seq + 1, max([entry.at for entry in run.entries], default=0)
        for actor in (*case.world.actors(state), *case.strangers):
            view = case.world.view(state, actor)
            for action in {type(action): action for action in case.known_actions}.values():
                _, outcome = step(case.world, state, Turn(seq, at, actor, action))
                _expect_offered(view, action, outcome, f"{type(action).__name__} by {actor!r}")

    for_all(case, check)


def _expect_offered(view: View, action: Action, outcome: Outcome, subject: str) -> None:
    if type(action) in view.verbs:
        assert outcome.code not in NOT_OFFERED, f"{subject} is offered, and refused as {outcome.code!r}"
    else:
        assert not outcome.ok, f"{subject} is not offered, and is not refused"


def verbs_can_be_shown(case: WorldCase[Any]) -> None:
    """Every verb makes a tool with a unique name, a description and parameters as JSON Schema."""
    names: set[str] = set()
    for verb in case.world.verbs.classes:
        tool = verb.tool()
        name, description = tool["name"], tool["description"]
        assert re.fullmatch("[a-z][a-z0-9_]{0,63}", name), f"no model can call a tool {name!r}"
        assert name not in names, f"two verbs are called {name!r}"
        assert description, f"{name} has no docstring, which is all that an agent reads about it"
        assert tool["parameters"]["type"] == "object", f"the parameters of {name} are no object"
        assert case.world.verbs.find(name) is verb, f"{name} is parsed as {case.world.verbs.find(name).__name__}"
        canonical(tool)
        names.add(name)


def outcomes_are_json(case: WorldCase[Any]) -> None:
    """Outcome data and facts are JSON and read back equal: lists, not tuples; strings as keys."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        for entry in run.entries:
            _expect_json(entry.outcome.data, f"the data of entry {entry.seq}, {entry.name},")
        for number, state in enumerate(run.states):
            _expect_json(dict(case.world.facets.judging.facts(state)), f"the facts after entry {number}")

    for_all(case, check)


def _expect_json(value: Json, subject: str) -> None:
    try:
        read_back = json.loads(canonical(value))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{subject} cannot be kept: {error}") from error
    assert read_back == value, f"{subject} reads back as {read_back!r:.300}, not {value!r:.300}"


def books_balance(case: WorldCase[Any]) -> None:
    """Money and goods are conserved: what an action takes from a place is elsewhere, sold, or recorded as lost."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        for recorded in run.steps:
            entry, before, after = recorded.entry, recorded.before, recorded.after
            note(f"{entry.name} {entry.parameters} -> {recorded.outcome.text!r:.300}")
            balanced = case.books(before, after, recorded.outcome)
            assert balanced, f"entry {entry.seq}, {entry.name}: {_difference(case, before, after)}"

    for_all(case, check)


def _difference(case: WorldCase[Any], before: object, after: object) -> str:
    old, new = case.world.facets.judging.facts(before), case.world.facets.judging.facts(after)
    changed = {name: f"{old.get(name)} -> {value}" for name, value in new.items() if value != old.get(name)}
    return f"the books do not balance; facts that changed: {changed or 'none'}"


def time_never_falls(case: WorldCase[Any]) -> None:
    """Neither the world's clock nor the entries' time goes back."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        clocks = [case.world.now(state) for state in run.states]
        assert len({clock is None for clock in clocks}) == 1, "the world has a clock in some states only"
        for number, (before, after) in enumerate(pairwise(clocks), 1):
            assert (after or 0) >= (before or 0), f"entry {number} turned the world's clock back, {before} -> {after}"
        for before, after in pairwise(run.entries):
            assert after.at >= before.at, f"entry {after.seq} is older than the entry before it"

    for_all(case, check)
