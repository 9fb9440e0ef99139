"""Precision and recall of the vending world's coherence detectors over labelled runs, with 95 % intervals.

    python bench/coherence.py [--show] [TYPE ...]

Precision is counted over all cases: a finding of a type that a case does not hold is false wherever it turns up, and so
is one that points elsewhere than to the labelled entries. The held-out sentences come last: detectors may have been
improved by the other cases, not by these. A ! marks a figure below the budget. `--show` prints a line for each
disagreement.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from akinai.core.findings import Finding
from akinai.core.statistics import proportion_interval
from akinai.core.worlds import replay
from akinai.worlds import load
from akinai.worlds.vending.detectors.coherence import DETECTORS
from labelled import CASES, HELD_OUT, Case, Labelled

BUDGET = 0.95
"""The least precision and recall of each type."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings in one case, compared with its labels."""

    case: Case
    entries: range
    findings: Sequence[Finding]

    @property
    def hits(self) -> frozenset[str]:
        """Types that the case holds and that were found in the labelled entries, of everybody who did it."""
        hit = frozenset((finding.type, finding.actor) for finding in self.findings if self.in_place(finding))
        of_somebody = self.case.expected & {type_ for type_, _ in hit}
        everybody = {type_: {(type_, who) for who in actors} for type_, actors in self.case.actors.items()}
        return frozenset(type_ for type_ in of_somebody if everybody.get(type_, hit) <= hit)

    @property
    def misses(self) -> frozenset[str]:
        return self.case.expected - self.hits

    @property
    def false(self) -> frozenset[str]:
        """Types that were found where the case does not hold them."""
        wrong = (
            finding.type
            for finding in self.findings
            if finding.type not in self.case.expected or not self.in_place(finding)
        )
        return frozenset(wrong) - self.case.unsettled

    def in_place(self, finding: Finding) -> bool:
        """Whether a finding points to a labelled entry, and is of somebody who did it."""
        did_it = finding.actor in self.case.actors.get(finding.type, (finding.actor,))
        return did_it and any(entry in self.entries for entry in finding.entries)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a type's findings, right and wrong, and of missed ones."""

    type: str
    hits: int
    false: int
    misses: int

    @property
    def precision(self) -> float:
        """The share of findings that are right; 0 without findings."""
        return self.hits / max(1, self.hits + self.false)

    @property
    def recall(self) -> float:
        """The share of mistakes that were found."""
        return self.hits / max(1, self.hits + self.misses)


def judge(cases: Iterable[Case]) -> Iterator[Verdict]:
    """Build each case and run the detectors of its world on it. ReplayMismatch as for `verdict_on`."""
    for case in cases:
        yield verdict_on(case, case.build())


def verdict_on(case: Case, labelled: Labelled) -> Verdict:
    """What the detectors find in a case that was built. ReplayMismatch where its ledger is not what the rules give."""
    world = load(labelled.ledger.genesis.world)
    steps = replay(world, labelled.ledger, check=True)
    return Verdict(case, labelled.entries, world.facets.judging.detect(steps))


def tally(type_: str, verdicts: Sequence[Verdict]) -> Tally:
    """One type over all cases."""
    return Tally(
        type_,
        sum(type_ in verdict.hits for verdict in verdicts),
        sum(type_ in verdict.false for verdict in verdicts),
        sum(type_ in verdict.misses for verdict in verdicts),
    )


def main(*arguments: str) -> None:
    show, types = "--show" in arguments, [word for word in arguments if not word.startswith("-")] or list(DETECTORS)
    if unknown := set(types) - set(DETECTORS):
        sys.exit(f"no type {', '.join(sorted(unknown))}; there are {', '.join(DETECTORS)}")
    print_table("cases", CASES, types, show=show)
    held_out = {case.about for case in HELD_OUT}
    print_table("held-out sentences", HELD_OUT, [type_ for type_ in types if type_ in held_out], show=show)


def print_table(title: str, cases: Sequence[Case], types: Sequence[str], *, show: bool) -> None:
    """Judge cases and print a line for each type, and with `show` one for each disagreement."""
    began = time.process_time()
    verdicts = list(judge(cases))
    print(f"{len(cases)} {title}, {time.process_time() - began:.1f} s; the budget is {BUDGET}\n")
    print(f"{'type':24} cases  true false missed  precision (95 %)     recall (95 %)")
    for type_ in types:
        counts, count = tally(type_, verdicts), sum(case.about == type_ for case in cases)
        print(
            f"{type_:24} {count:5} {counts.hits:5} {counts.false:5} {counts.misses:6}"
            f"  {_share(counts.hits, counts.false)}  {_share(counts.hits, counts.misses)}"
        )
    tallies = [tally(type_, verdicts) for type_ in types]
    hits, false, misses = (
        sum(getattr(tally_of_type, name) for tally_of_type in tallies) for name in ("hits", "false", "misses")
    )
    print(f"{'all':30} {hits:5} {false:5} {misses:6}  {_share(hits, false)}  {_share(hits, misses)}")
    print()
    for line in disagreements(verdicts, types) if show else ():
        print(line)


def _share(hits: int, wrong: int) -> str:
    """The share of hits, with its Wilson interval and a mark below the budget."""
    low, high = proportion_interval(hits, hits + wrong)
    value = hits / max(1, hits + wrong)
    return f"{value:5.3f} ({low:.2f} to {high:.2f}){' ' if value >= BUDGET else '!'}"


def disagreements(verdicts: Iterable[Verdict], types: Iterable[str]) -> Iterator[str]:
    """A line for each case and type on which label and detector differ."""
    requested = frozenset(types)
    for verdict in verdicts:
        for type_ in sorted(verdict.misses & requested):
            entries = _span(verdict.entries)
            yield f"missed {type_}: {_described(verdict.case)}; labelled entries {entries}: {verdict.case.why}"
        for finding in verdict.findings:
            hit = finding.type in verdict.hits and verdict.in_place(finding)
            if finding.type in verdict.false & requested and not hit:
                yield (
                    f"false {finding.type}: {_described(verdict.case)}; entries {_span(finding.entries)}: "
                    f"assumed {finding.assumed!r}, true {finding.true!r}"
                )


def _described(case: Case) -> str:
    return f"{case.about}: {case.name!r} (expected {', '.join(sorted(case.expected)) or 'nothing'})"


def _span(entries: Sequence[int]) -> str:
    return f"{entries[0]}-{entries[-1]}" if len(entries) else "none"


if __name__ == "__main__":
    main(*sys.argv[1:])
