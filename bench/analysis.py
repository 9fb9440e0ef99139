"""Measures what `akinai analyze` costs: 1,000 runs of 90 days, their seconds and the memory of each process.

Run: `python bench/analysis.py [runs] [jobs]`, by default 1,000 runs and a job a CPU. The runs are played into a SQLite
store first, by the three players under two settings each, and the time of that is told apart.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from akinai import api

RUNS = 1_000
FEW = 100
BUDGET_S = 60.0
FLAT = 1.2
PLAYERS = ("reference", "naive", "idle")
SETTINGS = ((), ("fee_cents=300",))

MEASURE = """
import json, resource, sys, time
from akinai import api

if __name__ == "__main__":
    store, jobs, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    start = time.perf_counter()
    analysis = api.analyze(*names, store=store, jobs=jobs, evidence=False)
    took = time.perf_counter() - start
    used = [resource.getrusage(process) for process in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu, peak = sum(usage.ru_utime + usage.ru_stime for usage in used), [usage.ru_maxrss / 1024 for usage in used]
    findings = sum(finding.count for group in analysis.groups for finding in group.findings.values())
    print(json.dumps([len(analysis.runs), len(analysis.groups), findings, took, cpu, *peak]))
"""


def play_groups(store: str, runs: int, jobs: int) -> list[str]:
    """The names of groups that hold so many runs, the players and settings in equal parts."""
    kinds = [(player, settings) for settings in SETTINGS for player in PLAYERS]
    names: list[str] = []
    for index, (player, settings) in enumerate(kinds):
        count = runs // len(kinds) + (index < runs % len(kinds))
        name = f"{player}-{len(settings)}"
        api.run(
            "vending", agent=player, seeds=range(1, count + 1), days=90, settings=settings, store=store, name=name,
            jobs=jobs, ledgers=False, preset="classic",
        )  # fmt: skip
        names.append(name)
    return names


def measure_analysis(store: str, jobs: int, names: list[str]) -> list[float]:
    """Runs, groups, findings, seconds, seconds of processors, and the peaks in MB of the parent and a worker."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "measure.py"
        script.write_text(MEASURE)
        words = [sys.executable, str(script), store, str(jobs), *names]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else multiprocessing.cpu_count()
    with tempfile.TemporaryDirectory() as folder:
        few, many = str(Path(folder) / "few.db"), str(Path(folder) / "many.db")
        play_groups(few, FEW, jobs)
        start = time.perf_counter()
        names = play_groups(many, runs, jobs)
        took, size = time.perf_counter() - start, os.path.getsize(many) / 1e6
        print(f"playing {runs:,} runs of 90 days: {took:.1f} s, {size:,.0f} MB on disk, {jobs} processes", flush=True)
        small, large = measure_analysis(few, jobs, names), measure_analysis(many, jobs, names)
    for count, groups, findings, took, cpu, parent, worker in (small, large):
        print(
            f"analysing {count:,} runs in {groups} groups: {took:.1f} s, {cpu:.1f} s of processors, "
            f"{findings:,} findings; at their peak the parent {parent:.0f} MB, a worker {worker:.0f} MB"
        )
    budget = BUDGET_S * runs / RUNS
    print(f"{'seconds':34} {large[3]:8.1f}  {large[3] / budget:5.2f} of its budget of {budget:g}")
    print(f"{'processors over jobs':34} {large[4] / jobs:8.1f}  {large[4] / jobs / budget:5.2f} of the same, unloaded")
    for process, column in (("parent", 5), ("worker", 6)):
        ratio = large[column] / small[column]
        words = f"memory of the {process}, {runs:,} / {FEW} runs"
        print(f"{words:34} {ratio:8.2f}  {ratio / FLAT:5.2f} of its budget of {FLAT}")


if __name__ == "__main__":
    main()
