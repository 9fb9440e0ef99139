"""What a learning came to, as one JSON document: accuracy, baseline, clean subset, tokens, improvement, pairs."""

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from akinai.core.canonical import Json
from akinai.core.statistics import proportion_interval
from akinai.learning.files import sha256
from akinai.learning.formats import dumps
from akinai.learning.injection import inject_all
from akinai.learning.loop_judging import Judgement
from akinai.learning.roles import Spent
from akinai.learning.tasks import DataSet, Task
from akinai.retrieval import normalise
from akinai.runtime.learn import Learned
from akinai.worlds.qa.data import marks


def learned_json(learned: Learned, data_set: DataSet, seconds: float, model: Json = None) -> dict[str, Json]:
    """The document of `akinai learn --json`. What was not judged is null; seconds are those of the wall.

    `clean_accuracy` leaves out tasks that stand among the training ones, and is null where these were judged. `tokens`
    are those of the playbook, of the bullets given to a judged task on average, and of all bullets to each of them.
    `failed` counts judged tasks without a readable answer; `spent` is what models were sent and answered in epochs and
    judgements that came to their end.
    """
    judged, gain = learned.judged, learned.gain
    online = learned.split == "train"
    clean = clean_ids(data_set.load("train"), () if online else data_set.load(learned.split))
    return {
        "tasks": learned.data_set,
        "split": learned.split,
        "ending": learned.ending,
        "accuracy": _share(judged),
        "baseline_accuracy": _share(learned.baseline),
        "clean_accuracy": _share(judged.only(clean)) if judged and not online else None,
        "playbook_size": len(learned.playbook),
        "tokens": _tokens(learned),
        "failed": _failed(learned),
        "spent": spent_told(learned),
        "improvement_rate": [
            {"epoch": one.epoch, "accuracy": one.accuracy, "rate": one.improvement, "points": one.points}
            for one in learned.epochs
        ],
        "paired": {
            "gain": gain.difference,
            "ci95": list(gain.ci95) if gain.ci95 else None,
            "wins": gain.wins,
            "losses": gain.losses,
            "smallest_visible": gain.smallest_visible,
        }
        if gain
        else None,
        "seconds": round(seconds, 2),
        "card": {
            "akinai": version("akinai"),
            "python": platform.python_version(),
            "roles": learned.label,
            "model": model,
            "playbook": str(learned.path),
            "playbook_sha256": sha256(dumps(learned.playbook).encode()),
        },
    }


def clean_ids(train: Iterable[Task], judged: Iterable[Task]) -> list[str]:
    """The judged tasks that stand nowhere among the training ones: neither their text nor the set of their choices."""
    seen = {mark for task in train for mark in _marks(task)}
    return [task.id for task in judged if seen.isdisjoint(_marks(task))]


def _marks(task: Task) -> Sequence[str]:
    match task.data:
        case {"question": str(question), "choices": [*choices]}:
            return marks(question, [str(choice) for choice in choices])
        case _:
            return (normalise(task.text),)


def _share(judged: Judgement | None) -> Json:
    if judged is None:
        return None
    right, n = sum(judged.right.values()), len(judged.right)
    return {"value": judged.accuracy, "ci95": list(proportion_interval(right, n)), "n": n}


def _failed(learned: Learned) -> int:
    if learned.split == "train":
        return sum(epoch.tally.failed for epoch in learned.epochs)
    return learned.judged.failed if learned.judged else 0


def spent_told(learned: Learned) -> Json:
    """What the model calls of all tries and judgements came to."""
    judged = [one.spent for one in (learned.judged, learned.baseline) if one]
    spent = sum([*(epoch.tally.spent for epoch in learned.epochs), *judged], Spent())
    return {
        "calls": spent.calls,
        "unreadable": spent.unreadable,
        "input": spent.usage.input,
        "output": spent.usage.output,
    }


def _tokens(learned: Learned) -> Json:
    whole = inject_all(learned.playbook).tokens
    judged = learned.judged
    if judged is None or learned.split == "train":
        tallies = [epoch.tally for epoch in learned.epochs]
        tasks = sum(tally.tasks for tally in tallies) or 1
        injected = sum(tally.injected_tokens for tally in tallies) / tasks
        return {
            "playbook": whole,
            "injected": round(injected, 1),
            "injected_all": round(sum(tally.whole_tokens for tally in tallies) / tasks, 1),
        }
    return {
        "playbook": whole,
        "injected": round(judged.injected_tokens / max(1, len(judged.right)), 1),
        "injected_all": whole,
    }
