"""YAML by others, read within bounds: a few hundred bytes of aliases can stand for gigabytes."""

from dataclasses import dataclass
from typing import Any, cast

from akinai.core.canonical import MOST_LEVELS
from akinai.core.errors import why_unreadable

FREE_CHARACTERS = 100_000
"""Characters that aliases may add to any text, beyond four times its length."""


class YamlError(ValueError):
    """A text that is no YAML, or stands for more than it should."""

    def __init__(self, problem: str, mark: Any = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line: int | None = mark.line + 1 if mark else None
        self.column: int | None = mark.column + 1 if mark else None

    @property
    def position(self) -> str:
        """The line and column of the fault, in words."""
        return f"line {self.line} column {self.column}" if self.line else "an unknown place"


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document of YAML; times in it are text."""

    value: object
    root: Any
    """The node of the whole document, with the lines of everything in it; None for an empty text."""


def read_yaml(text: str) -> YamlDocument:
    """The only document of a text. Raises YamlError."""
    import yaml

    loader_class = _plain_loader()
    try:
        _check_size(text, loader_class)
        loader = loader_class(text)
        try:
            root = loader.get_single_node()
            return YamlDocument(loader.construct_document(root) if root else None, root)
        finally:
            loader.dispose()
    except YamlError:
        raise
    except yaml.MarkedYAMLError as error:
        raise YamlError(str(error.problem or error), error.problem_mark) from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise YamlError(" ".join(why_unreadable(error).split())) from error


def _plain_loader() -> Any:
    """The safe loader without dates; the one in C is ten times as fast where it was built in."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, pattern) for tag, pattern in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    return type("PlainLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _check_size(text: str, loader_class: Any) -> None:
    """YamlError for nesting that the loader would crash on, and for aliases that stand for far more than is written.

    It reads events, which nest nothing, and counts the characters that each anchor stands for.
    """
    import yaml

    most = 4 * len(text) + FREE_CHARACTERS
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = [(None, 0)]
    """For each collection that has begun: its anchor, and the characters before it in the one around it."""
    size = 0
    events: Any = cast("Any", yaml).parse(text, loader_class)
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            size += len(event.value) + 1
            if event.anchor:
                sizes[event.anchor] = len(event.value) + 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, size))
            size = 1
            if len(open_) > MOST_LEVELS:
                raise YamlError(f"it is nested deeper than {MOST_LEVELS} levels", event.start_mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor:
                sizes[anchor] = size
            size += before
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in open_):
                raise YamlError(f"the alias *{event.anchor:.60} stands for what it is in", event.start_mark)
            size += sizes.get(event.anchor, 1)
            if size > most:
                raise YamlError("its aliases stand for far more than is written; write them out", event.start_mark)
