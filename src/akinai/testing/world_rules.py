"""Laws of a world's rules and views: what is refused, what may not raise, what costs nothing, what adds up."""

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
from akinai.testing.world_case import Case, for_all, wander
from akinai.testing.world_moves import garbage, near

NOT_YOURS = ("closed", "not_yours")
"""The codes that say: not now, or not you. An offered verb is never refused with them."""


def states_compare_by_value(case: Case[Any]) -> None:
    """Two begins of one genesis are equal: without that no law could say that a state is as it was."""
    world, genesis = case.world, case.genesis
    one, two = world.begin(genesis), world.begin(genesis)
    assert one == two, (
        "two begins of one genesis differ: a state is a frozen dataclass, and chance comes from the genesis"
    )


def refusal_changes_nothing(case: Case[Any]) -> None:
    """A refused action leaves the state equal, to the cent: the run goes on as if it had never been said."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        state = case.world.begin(case.genesis)
        for one in run.steps:
            seq, outcome = one.entry.seq, one.outcome
            if outcome.ok:
                state, _ = step(case.world, state, one.turn)
                assert outcome.code is None, f"entry {seq} is ok and has the code {outcome.code!r}"
            else:
                assert one.after == one.before, f"entry {seq}, {one.entry.name}, was refused and changed the state"
                _expect_refusal(seq, outcome)
            assert one.after == state, f"without the refusals before it, the state after entry {seq} is another"

    for_all(case, check)


def _expect_refusal(seq: int, outcome: Outcome) -> None:
    code = outcome.code or ""
    assert re.fullmatch("[a-z][a-z0-9_]*", code), f"entry {seq} is refused as {outcome.code!r}, which is no stable code"
    assert outcome.text.strip(), f"entry {seq} is refused as {code} without a sentence"


def nothing_an_agent_sends_raises(case: Case[Any]) -> None:
    """No JSON that anybody sends makes a world raise; what is no action is refused and kept as an entry."""

    async def check(data: st.DataObject) -> None:
        run, verbs = await wander(case, data), case.world.verbs
        nearly = st.sampled_from(verbs.classes).flatmap(lambda verb: near(verb, case.vocabulary))
        for said in data.draw(st.lists(garbage(verbs) | nearly, min_size=1, max_size=8)):
            actor = data.draw(st.sampled_from((*case.world.actors(run.session.state), *case.strangers)))
            outcome = await run.act(actor, said.heard(verbs))
            assert isinstance(outcome, Outcome), f"{said} is answered with {outcome!r}"

    for_all(case, check)


def looking_changes_nothing(case: Case[Any]) -> None:
    """A view, the facts, the actors and the clock are free reads: asked twice they say the same and leave no trace."""

    async def check(data: st.DataObject) -> None:
        run, world = await wander(case, data), case.world
        state = run.session.state
        for actor in (*case.known_actors, *case.strangers):
            view = world.view(state, actor)
            assert world.view(state, actor) == view, f"two looks of {actor!r} differ"
            assert view.news in view.text, f"the news of {actor!r} are not in the text of its view"
        assert world.facts(state) == world.facts(state), "the facts of one state differ when asked for twice"
        assert state == fold(world, run.ledger), "looking changed the state"

    for_all(case, check)


def who_may_act_sees_verbs(case: Case[Any]) -> None:
    """A view is closed, with a reason and without verbs, exactly for those who are not among the actors."""

    async def check(data: st.DataObject) -> None:
        run, world = await wander(case, data), case.world
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


def what_is_not_offered_is_refused(case: Case[Any]) -> None:
    """An action outside the actor's view is refused; one inside it is never refused as `closed` or `not_yours`."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        for one in run.steps:
            what = f"entry {one.entry.seq}, {one.entry.name} by {one.entry.actor!r},"
            _expect_offered(case.world.view(one.before, one.entry.actor), one.turn.action, one.outcome, what)
        state, seq, at = run.session.state, run.session.seq + 1, max([one.at for one in run.entries], default=0)
        for actor in (*case.world.actors(state), *case.strangers):
            view = case.world.view(state, actor)
            for action in {type(one): one for one in case.known_actions}.values():
                _, outcome = step(case.world, state, Turn(seq, at, actor, action))
                _expect_offered(view, action, outcome, f"{type(action).__name__} by {actor!r}")

    for_all(case, check)


def _expect_offered(view: View, action: Action, outcome: Outcome, what: str) -> None:
    if type(action) in view.verbs:
        assert outcome.code not in NOT_YOURS, f"{what} is offered, and refused as {outcome.code!r}"
    else:
        assert not outcome.ok, f"{what} is not offered, and is not refused"


def verbs_can_be_shown(case: Case[Any]) -> None:
    """Every verb makes a tool: a name of its own, a description, parameters as JSON Schema."""
    names: set[str] = set()
    for verb in case.world.verbs.classes:
        tool = verb.tool()
        name, described = tool["name"], tool["description"]
        assert re.fullmatch("[a-z][a-z0-9_]{0,63}", name), f"no model can call a tool {name!r}"
        assert name not in names, f"two verbs are called {name!r}"
        assert described, f"{name} has no docstring, which is all that an agent reads of it"
        assert tool["parameters"]["type"] == "object", f"the parameters of {name} are no object"
        assert case.world.verbs.find(name) is verb, f"{name} is heard as {case.world.verbs.find(name).__name__}"
        canonical(tool)
        names.add(name)


def what_is_told_is_json(case: Case[Any]) -> None:
    """Outcome data and facts hold what JSON holds, and read back as they were: lists, not tuples; text for keys."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        for entry in run.entries:
            _expect_json(entry.outcome.data, f"the data of entry {entry.seq}, {entry.name},")
        for number, state in enumerate(run.states):
            _expect_json(dict(case.world.facts(state)), f"the facts after entry {number}")

    for_all(case, check)


def _expect_json(value: Json, what: str) -> None:
    try:
        again = json.loads(canonical(value))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} cannot be kept: {error}") from error
    assert again == value, f"{what} reads back as {again!r:.300}, not {value!r:.300}"


def books_balance(case: Case[Any]) -> None:
    """Money and goods are conserved: what an action takes from one place is in another, sold, or told as lost."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        for one in run.steps:
            note(f"{one.entry.name} {one.entry.parameters} -> {one.outcome.text!r:.300}")
            balanced = case.books(one.before, one.after, one.outcome)
            assert balanced, f"entry {one.entry.seq}, {one.entry.name}: {_difference(case, one.before, one.after)}"

    for_all(case, check)


def _difference(case: Case[Any], before: object, after: object) -> str:
    old, new = case.world.facts(before), case.world.facts(after)
    changed = {name: f"{old.get(name)} -> {value}" for name, value in new.items() if value != old.get(name)}
    return f"the books do not balance; facts that changed: {changed or 'none'}"


def time_never_falls(case: Case[Any]) -> None:
    """Neither the world's clock nor an entry's time goes back."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        clocks = [case.world.now(state) for state in run.states]
        assert len({clock is None for clock in clocks}) == 1, "the world has a clock in some states only"
        for number, (before, after) in enumerate(pairwise(clocks), 1):
            assert (after or 0) >= (before or 0), f"entry {number} turned the world's clock back, {before} -> {after}"
        for before, after in pairwise(run.entries):
            assert after.at >= before.at, f"entry {after.seq} is older than the entry before it"

    for_all(case, check)
