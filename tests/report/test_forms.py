"""Forms from schemas: every action of every world has one, and what it holds is what the schema asks for."""

import pytest

import akinai
from akinai import worlds
from akinai.core.presentation.desk import Choice, Desk, Draft, FilledRow, FormGroup, Pick
from akinai.report.page.play.forms import Field, forms_of

PLAYED = [*((name, None) for name in worlds.names()), ("vending", "quarter")]


@pytest.mark.parametrize(("world", "preset"), PLAYED)
def test_every_action_has_a_form(world: str, preset: str | None) -> None:
    """Once, with a field for every parameter that a person needs."""
    with akinai.open(world, preset=preset) as session:
        tools = session.tools(inline=True)
        state = session.world.begin(session.run().header.genesis)
        desk = session.world.facets.presentation.desk(state, session.actor or "")
        main, groups = forms_of(tools, desk)
        forms = {form.verb: form for group in groups for form in group.forms} | ({main.verb: main} if main else {})
        assert forms.keys() == {tool["name"] for tool in tools}
        for tool in tools:
            fields = [name for field in forms[tool["name"]].fields for name in field.name.split()]
            assert sorted(fields) == sorted(tool["parameters"]["properties"].keys() - desk.without), tool["name"]


def test_a_desk_knows_only_verbs_that_there_are() -> None:
    """Groups, labels, rows and drafts of every world name its actions."""
    for name in worlds.names():
        world = worlds.load(name)
        verbs = {verb.tool_name() for verb in world.verbs.classes}
        with akinai.open(world) as session:
            desk = world.facets.presentation.desk(world.begin(session.run().header.genesis), session.actor or "")
        named = {verb for group in desk.groups for verb in group.verbs} | desk.labels.keys() | desk.rows.keys()
        named |= {draft.verb for draft in desk.drafts} | ({desk.main} if desk.main else set())
        assert named <= verbs, name


def test_a_list_is_rows_with_what_is_picked_together() -> None:
    """A row and a column are one choice; rows that stand there already say what they change."""
    slot = {"row": {"type": "integer"}, "column": {"type": "integer"}, "price": {"type": "number", "minimum": 0.01}}
    items = {"type": "object", "properties": slot, "required": list(slot)}
    prices = {"prices": {"type": "array", "items": items}}
    tool = {"name": "set_price", "description": "Set.", "parameters": {"properties": prices, "required": ["prices"]}}
    desk = Desk(
        (FormGroup("Machine", ("set_price", "no_such_verb")),),
        labels={"set_price": "Prices"},
        picks=(Pick(("row", "column"), "Slot", (Choice((0, 1), "A2", "Cola"),)),),
        rows={"set_price": (FilledRow("Cola", {"row": 0, "column": 1}, "price", 1.5),)},
        drafts=(Draft("set_price", "Dear", {}),),
    )
    main, (group,) = forms_of([tool], desk)
    (form,) = group.forms
    (rows,) = form.fields
    assert (main, group.title, form.label, form.at_once) == (None, "Machine", "Prices", False)
    assert (rows.kind, rows.filled[0].value) == ("rows", 1.5)
    assert rows.fields[0] == Field(
        "row column", "pick", "Slot", required=True, choices=(('{"column":1,"row":0}', "A2", "Cola"),)
    )
    assert (rows.fields[1].kind, rows.fields[1].low, rows.fields[1].whole) == ("number", 0.01, False)
