"""What `akinai learn` was asked for, whatever it learns from."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akinai.learning.loop import Watch
    from akinai.runtime.budget import Budget
    from akinai.runtime.cast import ModelChoice

FAILED = 1


@dataclass(frozen=True, slots=True)
class LearnFlags:
    """Flags that mean the same for tasks and for worlds."""

    tasks: str
    sets: list[str]
    playbook: Path | None
    epochs: int | None
    online: bool
    limit: int | None
    checkpoint: str | None
    as_json: bool
    model: "ModelChoice | None"
    budget: "Budget"

    @property
    def learner(self) -> dict[str, Any]:
        """Those that are settings of the learner."""
        given = {"epochs": self.epochs, "limit": self.limit, "online": self.online or None}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class RunFlags:
    """Flags about the runs of a world."""

    agent: str | None
    reflect: str | None
    seeds: str | None
    eval_seeds: str | None
    days: int | None
    eval_sets: list[str] | None
    store: str | None

    @property
    def given(self) -> dict[str, object]:
        """By the names of the flags."""
        names = ("agent", "reflect", "seeds", "eval_seeds", "days", "store")
        told: dict[str, object] = {f"--{name.replace('_', '-')}": getattr(self, name) for name in names}
        return told | {"--eval-set": self.eval_sets}


def expect_none(given: Mapping[str, object], why: str) -> None:
    """UsageError for a flag that does not go with what is asked for."""
    from akinai.core.errors import UsageError

    if wrong := [name for name, value in given.items() if value is not None]:
        which = "it" if len(wrong) == 1 else "them"
        raise UsageError(f"{', '.join(wrong)} cannot be used: {why}; leave {which} out")


@contextmanager
def learning_bar(*, quiet: bool) -> "Iterator[Watch | None]":
    """A bar over the tasks on stderr, where somebody sits at a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        bar = shown.add_task("epoch 1")

        def watch(step: str, state: Any) -> None:
            told = "judging" if state.over else f"epoch {state.epoch}: {state.done:,} tasks learned, {step} done"
            shown.update(bar, description=told)

        yield watch
