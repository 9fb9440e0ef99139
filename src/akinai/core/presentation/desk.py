"""Desk: the forms with which a person plays, beyond what the schemas of the tools say.

A world's presentation facet makes it from what the actor knows alone. Without one every action is a form.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from akinai.core.canonical import Json


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Actions that belong together."""

    title: str
    verbs: tuple[str, ...]
    """As in the tools, in snake_case. An action that is not possible now is left out."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a pick."""

    values: tuple[Json, ...]
    """One for each of its fields."""
    label: str = ""
    """Its name for people, such as "A2"; empty where the value says it. A person may type it in place of the value."""
    note: str = ""
    """More about it, such as what a slot holds."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Values that may be chosen for fields of these names, in any form."""

    fields: tuple[str, ...]
    """One field, or several that are chosen together, such as a row and a column."""
    label: str
    choices: tuple[Choice, ...]
    free: bool = False
    """Whether other values may be typed; only for a single field."""


@dataclass(frozen=True, slots=True)
class FilledRow:
    """A row that a form's list has from the beginning, with the one value that a person may change."""

    label: str
    fixed: Mapping[str, Json]
    """The values of its other fields; none in a table."""
    field: str
    """Its name in the row; in a table the key of the row."""
    value: Json = None
    """The present value; a row is sent if it was changed."""
    most: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that is filled in at a click."""

    verb: str
    label: str
    arguments: Mapping[str, Json]
    final: bool = False
    """Whether a click sends it, after a confirmation, since it cannot be taken back."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The forms of an actor in a state."""

    groups: tuple[FormGroup, ...] = ()
    """Actions in no group stand under "More"."""
    main: str = ""
    """The action that goes on with the game, such as ending the day."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Actions in words, by verb."""
    abouts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Explanations of actions for people, by verb; the tool's own is for models."""
    without: frozenset[str] = frozenset()
    """Parameters, and variants of an object, that forms leave out because a person needs none of them."""
    picks: tuple[Pick, ...] = ()
    rows: Mapping[str, tuple[FilledRow, ...]] = field(default_factory=dict[str, tuple[FilledRow, ...]])
    """By verb, of an action whose only parameter is a list or a table."""
    drafts: tuple[Draft, ...] = ()
