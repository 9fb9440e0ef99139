"""What models read of the verbs: the tools of every registered world."""

import json
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Annotated, Any

from jsonschema import Draft202012Validator
from pydantic import Field, JsonValue

from akinai.core.actions import Action
from together import together

VERBS = [
    verb
    for entry in sorted(entry_points(group="akinai.worlds"), key=lambda entry: entry.name)
    for verb in entry.load().verbs.classes
]
KEYWORDS = frozenset(
    "$ref $defs type enum const properties required additionalProperties propertyNames minProperties maxProperties items "
    "minItems maxItems prefixItems uniqueItems minLength maxLength pattern format minimum maximum exclusiveMinimum "
    "exclusiveMaximum multipleOf anyOf oneOf allOf default description".split()
)
"""The keywords of JSON Schema 2020-12 that models know; its meta-schema lets every other word pass."""


class Branch(Action):
    """A branch of a tree."""

    name: str
    """The name of the branch."""
    below: list["Branch"] = []
    """The branches below it."""


class Plant(Action):
    """Plant a tree."""

    trunk: Branch
    """The trunk, with all branches."""
    depth: Annotated[int, Field(ge=1)] = 1
    """How deep, in metres."""
    notes: JsonValue = None
    """Whatever else is to be known."""


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all those inside it."""
    yield schema
    inner = [schema.get(key) for key in ("items", "additionalProperties", "propertyNames")]
    inner += [item for key in ("properties", "$defs") for item in schema.get(key, {}).values()]
    inner += [item for key in ("anyOf", "oneOf", "allOf", "prefixItems") for item in schema.get(key, ())]
    for item in inner:
        if isinstance(item, dict):
            yield from schemas_in(item)


@together("inline", [False, True])
@together("verb", VERBS)
def test_every_tool_has_a_valid_schema(verb: type[Action], inline: bool) -> None:
    """It satisfies the meta-schema and uses only its keywords; limits are `minimum` and `maximum`."""
    parameters = verb.tool(inline=inline)["parameters"]
    Draft202012Validator.check_schema(parameters)
    unknown = {key for schema in schemas_in(parameters) for key in schema} - KEYWORDS
    assert not unknown, f"JSON Schema knows no {unknown}"


@together("verb", VERBS)
def test_every_parameter_is_described(verb: type[Action]) -> None:
    """In a sentence, the parts of parameters too."""
    for schema in schemas_in(verb.tool()["parameters"]):
        for name, parameter in schema.get("properties", {}).items():
            assert parameter.get("description", "").endswith("."), f"{verb.tool_name()}: {name} is not described"


@together("verb", [*VERBS, Plant])
def test_the_inlined_form_holds_no_reference(verb: type[Action]) -> None:
    """Every definition stands where it is used; the rest of the tool is the same."""
    inlined, tool = verb.tool(inline=True), verb.tool()
    assert "$ref" not in json.dumps(inlined)
    assert "$defs" not in json.dumps(inlined)
    assert (inlined["name"], inlined["description"]) == (tool["name"], tool["description"])
    assert list(inlined["parameters"]["properties"]) == list(tool["parameters"]["properties"])


def test_the_inlined_form_refuses_what_the_other_refuses() -> None:
    """A reference becomes what it names, with what stands beside it; what contains itself is cut to any value."""
    inlined = Plant.tool(inline=True)["parameters"]
    trunk = inlined["properties"]["trunk"]
    assert trunk["description"] == "The trunk, with all branches."
    assert trunk["properties"]["below"]["items"] == {}
    for schema in (inlined, Plant.tool()["parameters"]):
        check = Draft202012Validator(schema)
        assert check.is_valid({"trunk": {"name": "a", "below": [{"name": "b", "below": []}]}, "depth": 2})
        assert not check.is_valid({"trunk": {"below": []}})
        assert not check.is_valid({"trunk": {"name": "a"}, "depth": 0})


def test_a_tool_is_built_once_and_belongs_to_its_caller() -> None:
    """What a caller does to its tool reaches no other caller."""
    tool = Plant.tool()
    tool["parameters"]["properties"].clear()
    tool["parameters"]["required"].append("soil")
    assert Plant.tool()["parameters"]["required"] == ["trunk"]
    assert set(Plant.tool()["parameters"]["properties"]) == {"trunk", "depth", "notes"}
