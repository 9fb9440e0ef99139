"""The result of a learning, and its JSON document: one form for tasks with known answers and for runs of a world."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from akinai.core.canonical import Json, as_json
from akinai.core.presentation.sentences import difference_sentences
from akinai.core.presentation.tables import Grid
from akinai.core.presentation.words import counted, figure
from akinai.core.statistics import PairedComparison, proportion_interval
from akinai.learning.loop.evaluation import EvalResult, gain
from akinai.learning.loop.state import Beginning, EpochCounts, EpochReport, Selected
from akinai.learning.playbook.atomic import sha256
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import dumps
from akinai.learning.roles.protocols import ModelUsage
from akinai.learning.roles.tasks import Split
from akinai.learning.search.injection import inject_all
from akinai.runtime.learn.against import ContestScores, paired_json
from akinai.runtime.learn.role_models import RoleModels
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.models.contract import SERVERS


@dataclass(frozen=True, slots=True)
class SplitEvaluation:
    """The results of a playbook, and of none, on the tasks of one split."""

    split: Split
    """ "validation" or "test"; "train" in online learning and where there are no others."""
    judged: EvalResult | None = None
    """The result with the playbook; in online learning that of each task before anything was learned from it."""
    baseline: EvalResult | None = None
    """The result on the same tasks without a playbook."""
    clean: EvalResult | None = None
    """The result on the judged tasks that no bullet was learned from, in this learning or before; None for runs, and
    where that is not known."""
    near: int = 0
    """Judged tasks that are near copies of training tasks, and not equal to one."""
    control: EvalResult | None = None
    """The result on the same tasks with a playbook that should be worth nothing; None where there is none."""
    control_name: str = ""
    """"permuted": bullets that have exchanged what they teach; "invented": sentences with numbers from no run."""

    @property
    def gain(self) -> PairedComparison | None:
        """The difference of scores on the same tasks with its interval, wins and losses."""
        return gain(self.baseline, self.judged) if self.baseline and self.judged else None

    @property
    def over_control(self) -> PairedComparison | None:
        """The gain over the control on the same tasks: what the learning may claim."""
        return gain(self.control, self.judged) if self.control and self.judged else None

    def scores_json(self, *, graded: bool = True) -> dict[str, Json]:
        """The scores as JSON. `graded`: tasks have known answers, of which accuracy is the share that was right."""

        def share(result: EvalResult | None) -> Json:
            return _share(result) if graded else None

        control: Json = self.control and {
            "name": self.control_name,
            "score": self.control.mean,
            "accuracy": share(self.control),
            "paired": _gain_json(self.over_control),
        }
        return {
            "split": self.split,
            "accuracy": share(self.judged),
            "baseline_accuracy": share(self.baseline),
            "clean_accuracy": _share(self.clean),
            "with": self.judged.mean if self.judged else None,
            "without": self.baseline.mean if self.baseline else None,
            "paired": _gain_json(self.gain),
            "control": control,
            "near_copies": self.near,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult(SplitEvaluation):
    """A playbook that was learned, and its evaluation on the validation tasks, or else those of test or train."""

    data_set: str
    label: str
    """The players of the roles: "rules", or the model's name."""
    path: Path
    """The playbook's file."""
    playbook: Playbook
    epochs: tuple[EpochReport, ...]
    ending: str
    """"done"; or why it ended early, to be resumed with a checkpoint: the limit of the budget that was reached, or
    "unreadable" after too many unreadable replies in a row."""
    began: Beginning = field(default_factory=Beginning)
    """The playbook that the learning began with."""
    unfinished: EpochCounts | None = None
    """The counts of an epoch that was cut short."""
    stopped: str = ""
    """Why unreadable replies stopped the learning."""
    runs: TrainConfig | None = None
    """The configuration of the runs; None for tasks with known answers."""
    models: RoleModels = field(default_factory=RoleModels)
    online: bool = False
    seconds: float = 0.0
    """Wall-clock time."""
    test: SplitEvaluation | None = None
    """On the test tasks, where validation tasks were judged too."""
    judge_only: bool = False
    selected: tuple[Selected, ...] = ()
    """How the growing playbook did on the held-out tasks, where the best was kept."""
    against: ContestScores | None = None
    """The scores of contenders on the same tasks."""
    unit: str = ""
    """The unit of the scores of runs, "dollars" for money; empty for tasks with known answers."""
    beside_units: Mapping[str, str] = field(default_factory=dict[str, str])
    """The units of the figures beside the scores of a role, by name."""
    servers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What the servers of the roles' models refused and what was sent in place of it, by model."""

    @property
    def usage(self) -> ModelUsage:
        """The model calls of all epochs and evaluations that ended."""
        evaluations = (self, self.test or SplitEvaluation("test"))
        results = [
            result
            for evaluation in evaluations
            for result in (evaluation.judged, evaluation.baseline, evaluation.control)
        ]
        usages = [result.usage for result in results if result]
        usages += [selected.usage for selected in self.selected]
        rivals = (
            [score for score in self.against.scores[2:] if score.judged is not self.control] if self.against else []
        )
        usages += [usage for rival in rivals for usage in (rival.learning, rival.judged.usage)]
        return sum([*(counts.usage for _, counts in self._counts()), *usages], ModelUsage())

    def _counts(self) -> list[tuple[int, EpochCounts]]:
        """The counts by epoch, those of an unfinished one last."""
        counts = [(epoch.epoch, epoch.counts) for epoch in self.epochs]
        return [*counts, (len(counts) + 1, self.unfinished)] if self.unfinished else counts

    @property
    def sentences(self) -> str:
        """What the playbook is worth, with its uncertainty, for people."""
        if self.judged is None:
            return f"Nothing was judged: the playbook holds {counted(len(self.playbook), 'bullet')}."
        if self.gain is None:
            return f"Judged: {self.amount(self.judged.mean)} on average, compared with nothing."
        score, noun = ("the score", "run") if self.runs else ("accuracy", "task")
        if not self.runs and any(result and result.mean != result.accuracy for result in (self.judged, self.baseline)):
            score = "the mean mark"
        return difference_sentences(
            "No playbook", "The playbook", score, self.gain, "higher", amount=self.amount, noun=noun
        )

    def amount(self, value: float) -> str:
        """A mean score, or a difference of two, in its unit: money, points of accuracy, or a number."""
        if not self.runs:
            return f"{100 * value:.1f} points"
        return figure(100 * value, "cents") if self.unit == "dollars" else f"{value:,.2f}"

    def _failed(self) -> int:
        """The judged tasks without a readable answer and runs that broke; those of training where nothing else was."""
        if self.split == "train":
            return sum(epoch.counts.failed for epoch in self.epochs)
        return self.judged.failed if self.judged else 0

    def __str__(self) -> str:
        """The result in a sentence or two, and a row with the scores."""
        means = [result.mean if result else None for result in (self.baseline, self.judged)]
        gain = self.gain.difference if self.gain else None
        cells = [None if value is None else self.amount(value) for value in (*means, gain)]
        heads = ("without a playbook", "with it", "gain", "bullets")
        return f"{self.sentences}\n\n{Grid.of_rows(heads, [(*cells, len(self.playbook))])}"

    def to_json(self) -> dict[str, Json]:
        """The document of `akinai learn --json`, which has the page's table too. What was not judged, or does not
        apply, is null.

        `with` and `without` are mean scores: for runs the world's first score, in dollars where that is money; `unit`
        is that of these scores ("dollars" for money), of the gain and of the scores in `against`, null for tasks.
        `accuracy` is of tasks with known answers. `clean_accuracy` leaves out those that a bullet had seen, in this
        learning or before; it is null where the playbook began with bullets whose tasks are not recorded. `near_copies`
        counts those that are like a task that was learned from, in most of their choices or in their words. `control`
        is a playbook that should be worth nothing: `paired` there is what the playbook has over it.
        `tokens` are those of the playbook, of the bullets in the context of a judged task on average, and of the whole
        playbook there. `failed` counts judged tasks without a readable answer and runs that broke; `given_up` counts
        replies that stayed unreadable; `training` says of each epoch what became of its tasks and of all that was
        asked for; `spent` is what models received and answered, with the unreadable replies by reason.
        """
        judged, runs = self.judged, self.runs
        best = max(self.selected, key=lambda selected: selected.score, default=None)
        evaluation = self.scores_json(graded=runs is None)

        def part(*names: str) -> dict[str, Json]:
            return {name: evaluation[name] for name in names}

        return {
            "tasks": self.data_set,
            **_runs_json(runs),
            "opponents": self._opponents_json(),
            "online": self.online,
            "epochs": len(self.epochs),
            **part("split"),
            "ending": self.ending,
            **part("accuracy", "baseline_accuracy", "clean_accuracy"),
            "runs": (len(judged.scores) if judged else 0) if runs else None,
            "unit": self.unit or None,
            **part("with", "without"),
            "playbook_size": len(self.playbook),
            "tokens": self._tokens(),
            "failed": self._failed(),
            "given_up": sum(counts.given_up for _, counts in self._counts()),
            "stopped": self.stopped or None,
            "training": [
                {**_counts_json(epoch, counts), "finished": counts is not self.unfinished}
                for epoch, counts in self._counts()
            ],
            "spent": _usage_json(self.usage),
            "improvement_rate": [
                {"epoch": e.epoch, "accuracy": e.accuracy, "rate": e.improvement, "points": e.points}
                for e in (() if runs else self.epochs)
            ],
            **part("paired", "control", "near_copies"),
            "test": self.test.scores_json() if self.test else None,
            "judge_only": self.judge_only,
            "selected": [
                {"epoch": s.epoch, "tasks": s.tasks, "score": s.score, "best": s is best} for s in self.selected
            ],
            "against": [*self.against.to_json()] if self.against else None,
            "seconds": round(self.seconds, 2),
            "card": {
                "akinai": version("akinai"),
                "python": platform.python_version(),
                "roles": self.label,
                "model": self.models.main.name if self.models.main else None,
                "models": self.models.to_json(),
                **({SERVERS: {**self.servers}} if self.servers else {}),
                "playbook": str(self.path),
                "playbook_sha256": sha256(dumps(self.playbook).encode()),
                "began_with": {**self.began.to_json(), "seen": len(self.began.seen)},
            },
        }

    def _opponents_json(self) -> Json:
        """A row for each of those who play the other side, in a learning of a role; else null. `beside` are figures
        that say what the gain does to others, each with its unit."""
        runs, judged, baseline, control = self.runs, self.judged, self.baseline, self.control
        if runs is None or not runs.role or judged is None or baseline is None:
            return None
        rows: list[Json] = []
        for side in runs.opposing():
            ids = [id for id in judged.scores if runs.is_against(id, side)]
            ours, none = judged.only(ids), baseline.only(ids)
            beside: dict[str, Json] = {
                name: {
                    "unit": self.beside_units.get(name),
                    **_comparison_json(none.figure(name), ours.figure(name)),
                }
                for name in runs.teaching.beside
            }
            over = _gain_json(gain(control.only(ids), ours)) if control else None
            row: dict[str, Json] = {"opponents": side.name or None, "runs": len(ids), **_comparison_json(none, ours)}
            rows.append({**row, "over_control": over, "beside": beside})
        return rows

    def _tokens(self) -> dict[str, Json]:
        whole = inject_all(self.playbook).tokens
        if self.judged is not None and self.split != "train":
            injected = self.judged.injected_tokens / max(1, len(self.judged.right))
            return {"playbook": whole, "injected": round(injected, 1), "injected_all": whole}
        tasks = sum(epoch.counts.tasks for epoch in self.epochs) or 1
        injected = sum(epoch.counts.injected_tokens for epoch in self.epochs) / tasks
        every = sum(epoch.counts.whole_tokens for epoch in self.epochs) / tasks
        return {"playbook": whole, "injected": round(injected, 1), "injected_all": round(every, 1)}


def _runs_json(runs: TrainConfig | None) -> dict[str, Json]:
    names = ("role", "agent", "seeds", "eval_seeds", "days", "settings", "eval_settings")
    if runs is None:
        return dict.fromkeys(("world", *names))
    fields: dict[str, Json] = {name: as_json(getattr(runs, name)) for name in names}
    more = {"role": runs.role or None, "eval_seeds": runs.seeds if runs.online else runs.eval_seeds}
    return {"world": runs.load_world().name, **fields, **more}


def _share(result: EvalResult | None) -> Json:
    if result is None:
        return None
    right, n = sum(result.right.values()), len(result.right)
    if not n:
        return {"value": None, "ci95": None, "n": 0}
    return {"value": result.accuracy, "ci95": list(proportion_interval(right, n)), "n": n}


def _usage_json(usage: ModelUsage) -> dict[str, Json]:
    """What models received and answered, with the unreadable replies by reason."""
    return {
        "calls": usage.calls,
        "unreadable": usage.unreadable,
        "reasons": dict(usage.reasons),
        "input": usage.tokens.input,
        "output": usage.tokens.output,
    }


def _counts_json(epoch: int, counts: EpochCounts) -> dict[str, Json]:
    """What became of an epoch: operations `learned`, `gated` by the held-out tasks, operations and tags `refused` by
    code, operations `asked_again` for a near name; tasks `failed`; reflections and curations `given_up`; replies
    `unreadable` by reason."""
    return {
        "epoch": epoch,
        "tasks": counts.tasks,
        "right": counts.right,
        "failed": counts.failed,
        "learned": counts.applied,
        "refused": dict(counts.refusals),
        "asked_again": counts.asked_again,
        "gated": counts.gated,
        "given_up": counts.given_up,
        "unreadable": dict(counts.usage.reasons),
    }


def _comparison_json(without: EvalResult, judged: EvalResult) -> dict[str, Json]:
    return {"with": judged.mean, "without": without.mean, "paired": _gain_json(gain(without, judged))}


def _gain_json(paired: PairedComparison | None) -> Json:
    return paired and {**paired_json(paired), "mde": paired.mde}
