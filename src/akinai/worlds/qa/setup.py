"""What a run of questions is set up with, and the sheet that comes of it."""

from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from akinai.core.ledger import Genesis

TRIES = 3
"""Messages a question that a run has room for, unless `max_messages` is set."""


class Question(BaseModel):
    """A question, its choices, and which of them is right."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    question: str
    choices: Annotated[tuple[str, ...], Field(min_length=2)]
    label: Annotated[int, Field(ge=0)]
    """The place of the right choice, from 0; the solver never sees it."""

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.label >= len(self.choices):
            raise ValueError(f"label {self.label} of {len(self.choices)} choices; count from 0")
        return self

    @property
    def answer(self) -> str:
        """The right choice."""
        return self.choices[self.label]


class Setup(BaseModel):
    """All that a sheet of questions is set up with; `--set name=value` reaches every field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: Annotated[tuple[Question, ...], Field(min_length=1)]
    """The questions, or the file that holds them: JSON lines, CSV or TSV."""
    draw: Annotated[int, Field(ge=0)] = 0
    """Questions that the seed draws from the data; 0 is all of them, in their order."""
    seen: tuple[str, ...] = ()
    """Marks of questions that were learned from, or the file that holds these: the clean scores leave them out."""
    max_messages: Annotated[int, Field(ge=0)]
    """Entries before the run ends, three a question unless it is set; 0 is no cap."""

    @model_validator(mode="before")
    @classmethod
    def _room_for_tries(cls, given: object) -> object:
        if not isinstance(given, dict) or "max_messages" in given:
            return cast("object", given)
        table = cast("dict[str, Any]", given)
        data: Any = table.get("data")
        drawn: Any = table.get("draw", 0)
        there = len(cast("list[Any]", data)) if isinstance(data, list | tuple) else 0
        asked = min(drawn, there) if isinstance(drawn, int) and drawn > 0 else there
        return {**table, "max_messages": TRIES * asked}

    @field_validator("data")
    @classmethod
    def _ids_differ(cls, data: tuple[Question, ...]) -> tuple[Question, ...]:
        if len({one.id for one in data}) < len(data):
            raise ValueError("two questions have the same id")
        return data

    @field_validator("draw")
    @classmethod
    def _is_there(cls, draw: int, info: ValidationInfo) -> int:
        there = len(info.data.get("data", ()))
        if draw > there > 0:
            raise ValueError(f"the data holds {there} questions; draw fewer")
        return draw


def sheet_of(genesis: Genesis) -> tuple[Question, ...]:
    """The questions of a run, in the order in which they are asked."""
    setup = Setup.model_validate(genesis.setup)
    if not setup.draw:
        return setup.data
    chance = genesis.chance("draw")
    drawn = {one.id for one in sorted(setup.data, key=lambda one: (chance(one.id).uniform(), one.id))[: setup.draw]}
    return tuple(one for one in setup.data if one.id in drawn)
