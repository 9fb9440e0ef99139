"""Precision and recall of the vending world's coherence detectors over labelled runs, with the ratio to their budget.

    python bench/coherence.py [--show] [TYPE ...]

Precision is counted over all cases: a finding of a type that a case does not hold is false wherever it turns up, and so
is one that points elsewhere than to the labelled entries. The held-out sentences come last: detectors may have been
mended by the others, not by these. `--show` prints a line for each disagreement.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from akinai.core.findings import Finding
from akinai.worlds.vending import Vending
from labelled import CASES, TYPES, Case, held_out

BUDGET = 0.95
"""Of precision and of recall, for each type."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the detectors made of one case, by type."""

    case: Case
    entries: range
    findings: Sequence[Finding]

    @property
    def hits(self) -> frozenset[str]:
        """Types that the case holds and that were found in the labelled entries."""
        return frozenset(one.type for one in self.findings if one.type in self.case.expected and self.there(one))

    @property
    def misses(self) -> frozenset[str]:
        return self.case.expected - self.hits

    @property
    def false(self) -> frozenset[str]:
        """Types that were found where the case does not hold them."""
        wrong = (one for one in self.findings if one.type not in self.case.expected or not self.there(one))
        return frozenset(one.type for one in wrong) - self.case.unsettled

    def there(self, finding: Finding) -> bool:
        """It points to the labelled entries."""
        return any(entry in self.entries for entry in finding.entries)


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a type was found, rightly and wrongly."""

    type: str
    hits: int
    false: int
    misses: int

    @property
    def precision(self) -> float:
        """The share of what was found that is there; 0 when nothing was found."""
        return self.hits / max(1, self.hits + self.false)

    @property
    def recall(self) -> float:
        """The share of what is there that was found."""
        return self.hits / max(1, self.hits + self.misses)


def judge(cases: Iterable[Case]) -> Iterator[Verdict]:
    """Build each case and hear the detectors on it."""
    world = Vending()
    for case in cases:
        labelled = case.build()
        yield Verdict(case, labelled.entries, world.findings(labelled.ledger))


def tally(type_: str, verdicts: Sequence[Verdict]) -> Tally:
    """One type over all cases."""
    return Tally(
        type_,
        sum(type_ in one.hits for one in verdicts),
        sum(type_ in one.false for one in verdicts),
        sum(type_ in one.misses for one in verdicts),
    )


def main(*arguments: str) -> None:
    show, wanted = "--show" in arguments, [one for one in arguments if not one.startswith("-")] or TYPES
    if strange := set(wanted) - set(TYPES):
        sys.exit(f"no type {', '.join(sorted(strange))}; there are {', '.join(TYPES)}")
    tell("cases", CASES, wanted, show=show)
    about = {case.about for case in held_out.CASES}
    tell("held-out sentences", held_out.CASES, [one for one in wanted if one in about], show=show)


def tell(what: str, cases: Sequence[Case], types: Sequence[str], *, show: bool) -> None:
    """Judge cases and print a line for each type, and with `show` one for each disagreement."""
    began = time.process_time()
    verdicts = list(judge(cases))
    print(f"{len(cases)} {what}, {time.process_time() - began:.1f} s; in brackets the ratio to {BUDGET}\n")
    print(f"{'type':24} cases  true false missed  precision       recall")
    for type_ in types:
        found, count = tally(type_, verdicts), sum(case.about == type_ for case in cases)
        print(
            f"{type_:24} {count:5} {found.hits:5} {found.false:5} {found.misses:6}"
            f"  {_ratio(found.precision)}  {_ratio(found.recall)}"
        )
    print()
    for line in disagreements(verdicts, types) if show else ():
        print(line)


def _ratio(value: float) -> str:
    return f"{value:5.3f} ({value / BUDGET:4.2f})"


def disagreements(verdicts: Iterable[Verdict], types: Iterable[str]) -> Iterator[str]:
    """A line for each case and type on which label and detector differ."""
    asked = frozenset(types)
    for one in verdicts:
        for type_ in sorted(one.misses & asked):
            yield f"missed {type_}: {_told(one)}; labelled entries {_span(one.entries)}: {one.case.why}"
        for finding in one.findings:
            if finding.type in one.false & asked and not (finding.type in one.hits and one.there(finding)):
                yield (
                    f"false {finding.type}: {_told(one)}; entries {_span(finding.entries)}: "
                    f"assumed {finding.assumed!r}, true {finding.true!r}"
                )


def _told(one: Verdict) -> str:
    return f"{one.case.about}: {one.case.name!r} (expected {', '.join(sorted(one.case.expected)) or 'nothing'})"


def _span(entries: Sequence[int]) -> str:
    return f"{entries[0]}-{entries[-1]}" if len(entries) else "none"


if __name__ == "__main__":
    main(*sys.argv[1:])
