"""Two logs of scores compared, of any task and format: paired by sample id, clustered where samples share a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from akinai.analysis.comparison import needed_seeds
from akinai.analysis.eval_logs import EvalLog, LogSample, expect_alike, read_eval_log
from akinai.analysis.score_files import Format, columns_of, is_inspect, read_score_files
from akinai.analysis.tables import difference_columns, needed_column
from akinai.core.canonical import Json, as_json, canonical
from akinai.core.errors import UsageError
from akinai.core.presentation.sentences import amount_in, difference_sentences
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import label
from akinai.core.statistics import PairedComparison, clustered, compare, holm


@dataclass(frozen=True, slots=True)
class LogScore:
    """One score of b against a."""

    mean_a: float | None
    """Over the pairs, as `mean_b`."""
    mean_b: float | None
    paired: PairedComparison
    """Its pairs are samples. With clusters, interval, p and minimum detectable effect are those of the clusters."""
    clusters: int | None
    """The number of clusters of the pairs; None where each pair is its own."""
    p_holm: float | None = None
    """The p, corrected for all scores."""
    needed: int | None = None
    """Samples, or clusters, that would show the gain that was asked about."""

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {"mean_a": self.mean_a, "mean_b": self.mean_b, **self.paired.to_json()}
        document |= {"clusters": self.clusters, "p_holm": self.p_holm}
        return document | ({"needed": self.needed} if self.needed is not None else {})


@dataclass(frozen=True, slots=True)
class LogComparison:
    """b against a."""

    a: EvalLog
    b: EvalLog
    cluster: str | None
    """The field of the samples' metadata that names their cluster."""
    scores: Mapping[str, LogScore]

    def __getitem__(self, score: str) -> LogScore:
        return self.scores[score]

    @property
    def sentences(self) -> str:
        """The result by the first score, for people."""
        name, score = next(iter(self.scores.items()))
        paired, noun = score.paired, "sample"
        if score.clusters is not None:
            paired, noun = replace(paired, pairs=score.clusters), "cluster"
        return difference_sentences(self.a.name, self.b.name, name, paired, None, amount=amount_in(""), noun=noun)

    @property
    def nouns(self) -> str:
        """What the logs are paired by: "samples", or "clusters"."""
        return "clusters" if self.cluster else "samples"

    def __str__(self) -> str:
        """The result in a sentence or two, and a row with the first score."""
        return f"{self.sentences}\n\n{self.table.in_order([0]).always}"

    @property
    def table(self) -> Grid:
        """A row for each score: the means of both sides, their difference, and what shows it."""
        scores = list(self.scores.values())
        statistics, corrected = [score.paired for score in scores], [score.p_holm for score in scores]
        return Grid(
            [
                Column("score", [*map(label, self.scores)], words=True),
                Column("a", [score.mean_a for score in scores], drop=3),
                Column("b", [score.mean_b for score in scores], drop=3),
                *difference_columns(statistics, [""] * len(scores), corrected, counts=False),
                *needed_column(self.nouns, [score.needed for score in scores]),
            ]
        )

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai compare a.eval b.eval --json` prints."""
        sides: dict[str, Json] = {
            side: {
                "log": log.name,
                "model": log.model,
                "status": log.status,
                "samples": len(log.samples),
                "epochs": max((sample.epochs for sample in log.samples.values()), default=0),
                **({"lost": dict(log.lost)} if log.lost else {}),
            }
            for side, log in (("a", self.a), ("b", self.b))
        }
        return {
            **sides,
            "task": self.a.task,
            "task_version": self.a.version,
            "cluster": self.cluster,
            "scores": as_json(self.scores),
            "table": self.table.to_json(),
        }


def compare_logs(
    a: str | Path,
    b: str | Path,
    *,
    gain: float | None = None,
    cluster: str | None = None,
    file_format: Format | None = None,
    columns: str | None = None,
) -> LogComparison:
    """Compare two logs of any task: every score that both have, paired by sample id, b less a.

    The files are logs of Inspect AI, results of tau2, samples of lm-eval, results of verifiers, or tables (CSV, TSV,
    JSON, lines of JSON) with columns for sample, epoch and score; `file_format` names the format where its content does
    not tell, and `columns` the columns of a table ("sample=question,score=grade").

    Epochs of a sample count as one value, their mean. `cluster` is the field of the samples' metadata that names their
    cluster, by default the one by which the logs' own standard errors are clustered; `gain` asks how many samples would
    show it. UsageError for logs of different tasks or arguments, without a sample or a score in common, and for a
    cluster that a sample lacks.
    """
    first, second = _read(str(a), str(b), file_format, columns)
    expect_alike(first, second)
    if not first.samples.keys() & second.samples.keys():
        raise UsageError(f"{first.name} and {second.name} have no sample in common; compare logs of the same samples")
    names = [name for name in first.scores if name in second.scores]
    if not names:
        raise UsageError(f"{first.name} and {second.name} have no score in common; score both with one scorer")
    by = cluster or (first.cluster if first.cluster == second.cluster else None)
    scores = {name: _compare(first, second, name, by, gain) for name in names}
    corrected = holm([score.paired.p for score in scores.values()])
    scores = {name: replace(score, p_holm=p) for (name, score), p in zip(scores.items(), corrected, strict=True)}
    return LogComparison(first, second, by, scores)


def _read(a: str, b: str, file_format: Format | None, columns: str | None) -> tuple[EvalLog, EvalLog]:
    inspect = [file_format == "inspect" or (file_format is None and is_inspect(path)) for path in (a, b)]
    if all(inspect):
        return read_eval_log(a), read_eval_log(b)
    if any(inspect):
        raise UsageError(f"only one of {a!r} and {b!r} is a log of Inspect AI; compare two files of one format")
    return read_score_files(a, b, file_format, columns_of(columns))


def _compare(a: EvalLog, b: EvalLog, name: str, cluster: str | None, gain: float | None) -> LogScore:
    of_a, of_b = ({id: _value(sample, name) for id, sample in log.samples.items()} for log in (a, b))
    paired = compare(of_a, of_b, better=None)
    pairs = {id: (x, y) for id, x in of_a.items() if x is not None and (y := of_b.get(id)) is not None}
    clusters: dict[str, list[float]] = {}
    if cluster is not None:
        for id, (x, y) in pairs.items():
            clusters.setdefault(_cluster_of(a, id, cluster), []).append(y - x)
    shared = cluster is not None and len(clusters) < len(pairs)
    if shared:
        values = clustered(clusters)
        by_cluster = compare(dict.fromkeys(values, 0.0), values, better=None)
        paired = replace(
            paired, sd_difference=by_cluster.sd_difference, ci95=by_cluster.ci95, p=by_cluster.p, mde=by_cluster.mde
        )
    return LogScore(
        mean_a=fmean(x for x, _ in pairs.values()) if pairs else None,
        mean_b=fmean(y for _, y in pairs.values()) if pairs else None,
        paired=paired,
        clusters=len(clusters) if shared else None,
        needed=needed_seeds(paired.sd_difference, gain),
    )


def _value(sample: LogSample, name: str) -> float | None:
    """The mean over the epochs that have a value."""
    values = sample.values.get(name)
    return fmean(values) if values else None


def _cluster_of(log: EvalLog, id: str, field: str) -> str:
    value = log.samples[id].metadata.get(field)
    if value is None:
        raise UsageError(
            f"sample {id!r:.100} of {log.name} has no {field!r} in its metadata; name a field of every sample"
        )
    return canonical(value)
