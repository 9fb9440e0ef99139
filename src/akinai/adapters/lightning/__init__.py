"""agent-lightning: our runs as its rollouts, and the learner under its Trainer. Needs the extra `lightning`.

`training` needs the 0.3 line and `gateway` the 1.x line, so each is imported on first use.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akinai.adapters.lightning.training import Ace, RunAgent, Study, TaskAgent, learn, make_trainer, study

__all__ = ["Ace", "RunAgent", "Study", "TaskAgent", "learn", "make_trainer", "study"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from akinai.adapters.lightning import training

    return getattr(training, name)
