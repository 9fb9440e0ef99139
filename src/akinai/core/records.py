"""Record: the base of frozen dataclasses that are copied with changes thousands of times a second, such as states."""

from typing import Any, Self


class Record:
    """A frozen dataclass without slots, under which its fields are all that it holds."""

    def moved(self, **changes: Any) -> Self:
        """A copy with changes to fields: what `replace` makes, unchecked and more than ten times as fast."""
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", {**self.__dict__, **changes})
        return copy
