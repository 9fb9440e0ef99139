"""One side of a comparison against the other, for people: scores, findings, and which seeds the figures stand on."""

from collections.abc import Mapping, Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from akinai.core.statistics import Comparison
from akinai.core.unpaired import Apart
from akinai.report.analyses import ranges
from akinai.report.columns import Column, fitted, plain
from akinai.report.differences import comparison
from akinai.report.tables import ABSENT, figure, label
from akinai.runtime.analysis_pairs import FINDINGS_UNIT, PLAIN_UNIT, Contrast, Measure


def contrast(told: Contrast, gain: str, width: int) -> RenderableType:
    """Scores, then findings where there are any, then what a reader must know about them."""
    names = told.a.name, told.b.name
    units = {name: one.unit for name, one in told.scores.items()}
    paired = {name: one.paired for name, one in told.scores.items() if one.paired}
    needed = {name: one.needed for name, one in told.scores.items()} if gain else {}
    parts: list[RenderableType] = []
    if paired:
        parts.append(comparison(names, paired, units, needed, gain, width))
    else:
        parts += [_apart_table(told, names, needed, gain, width), Text(_apart_verdict(told))]
    if told.findings:
        parts.append(_findings(told, width))
    if told.coherence:
        parts.append(fitted(_columns(told.coherence, "coherence"), width, "How well the thread was kept"))
    if moved := {name: one for name, one in told.figures.items() if one.difference}:
        parts.append(fitted(_columns(moved, "figure"), width, "Beside the scores, where the two differ"))
    notes = Text("\n".join(plain(note) for note in _notes(told, names) if note))
    return Parts(*[line for part in [*parts, notes] for line in (Text(""), part)][1:])


def _apart_table(
    told: Contrast, names: tuple[str, str], needed: Mapping[str, int | None], gain: str, width: int
) -> Table:
    columns = _columns(told.scores)
    if gain:
        columns.append(Column(f"seeds for +-{gain}", [figure(needed.get(name), "") for name in told.scores], drop=2))
    sides = f"{len(told.a.group.runs)} runs against {len(told.b.group.runs)}"
    return fitted(columns, width, f"{names[1]} against {names[0]}: no seed in common, {sides}")


def _apart_verdict(told: Contrast) -> str:
    name, one = next(iter(told.scores.items()))
    sentence = f"{label(name)} differs by {figure(one.difference, one.unit, sign=True)} on average"
    if one.ci95 is None:
        return f"{sentence}: too few runs to know how sure that is; play common seeds."
    low, high = (figure(end, one.unit, sign=True) for end in one.ci95)
    chance = ": that may be chance" if one.ci95[0] <= 0 <= one.ci95[1] else ""
    return f"{sentence}, between {low} and {high} at 95 %{chance}. With common seeds the same runs would say more."


def _findings(told: Contrast, width: int) -> Table:
    daily = any(one.unit == FINDINGS_UNIT for one in told.findings.values())
    return fitted(_columns(told.findings, "finding"), width, f"Findings, {'for 30 days of' if daily else 'in'} a run")


def _columns(measures: Mapping[str, Measure], head: str = "score") -> list[Column]:
    rows = list(measures.items())

    def column(head: str, what: Sequence[float | None], drop: int = 0, sign: bool = True) -> Column:
        units = ["" if one.unit in (FINDINGS_UNIT, PLAIN_UNIT) else one.unit for _, one in rows]
        return Column(head, [figure(one, unit, sign=sign) for one, unit in zip(what, units, strict=True)], drop=drop)

    columns = [
        Column(head, [label(name) for name, _ in rows], words=True),
        column("difference", [one.difference for _, one in rows]),
        column("95 % from", [one.ci95[0] if one.ci95 else None for _, one in rows]),
        column("to", [one.ci95[1] if one.ci95 else None for _, one in rows]),
        column("smallest visible", [one.smallest_visible for _, one in rows], 1, sign=False),
        Column("p", [_p(one.paired or one.apart) for _, one in rows], drop=4),
    ]
    return columns


def _p(one: Comparison | Apart | None) -> str:
    return ABSENT if one is None or one.p is None else "<0.001" if one.p < 0.001 else f"{one.p:.3f}"


def _notes(told: Contrast, names: tuple[str, str]) -> list[str]:
    first, one = next(iter(told.scores.items()))
    a, b = names
    without = ""
    if one.of_done is not None:
        without = f"; without them {label(first)} differs by {figure(one.of_done, one.unit, sign=True)}"
    return [
        _setting_apart(told),
        f"Only {a} played {_seeds(told.only_a)}, in no figure here." if told.paired and told.only_a else "",
        f"Only {b} played {_seeds(told.only_b)}, in no figure here." if told.paired and told.only_b else "",
        f"On {_seeds(told.unfinished)} a run failed or is not over and counts as it stands{without}."
        if told.unfinished
        else "",
        f"On {_seeds(told.unreadable)} a side cannot be read: no pair." if told.unreadable else "",
        "Where a seed was played several times, its runs count as one, by their mean." if told.repeated else "",
    ]


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {ranges(seeds)}"


def _setting_apart(told: Contrast) -> str:
    """What else than the seeds sets the two apart."""
    a, b = told.a.group, told.b.group
    told_apart = {f"agent {a.agent}": f"agent {b.agent}"} if a.agent != b.agent else {}
    for name in ("model", "playbook", "preset"):
        if a.card.get(name) != b.card.get(name):
            told_apart[f"{name} {a.card.get(name)}"] = f"{name} {b.card.get(name)}"
    if a.world == b.world:
        for name in dict.fromkeys([*a.settings, *b.settings]):
            told_apart[f"{name}={a.settings.get(name)}"] = f"{name}={b.settings.get(name)}"
    if not told_apart:
        return f"{told.a.name} and {told.b.name} were played alike: what differs is chance."
    return f"{told.a.name} has {', '.join(told_apart)}; {told.b.name} has {', '.join(told_apart.values())}."
