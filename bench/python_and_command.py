"""What a Python script costs beside the command that does the same: five new seeds of the vending world's reference.

Run: `python bench/python_and_command.py`. Prints the processor's seconds of both, quiet and beside a busy process, and
the ratio of the two to its budget. Nobody bounds the threads of libraries, as nobody does for a script.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

DAYS, SEEDS = 90, "1001-1005"
REPEATS = 3
BUDGET = 1.2
SCRIPT = """
import sys
from akinai import api

if __name__ == "__main__":
    store, (first, last), days = sys.argv[1], map(int, sys.argv[2].split("-")), int(sys.argv[3])
    seeds = range(first, last + 1)
    api.run("vending", agent="reference", preset="classic", seeds=seeds, days=days, jobs=1, store=store)
"""
COMMAND = ("-m", "akinai", "run", "vending", "--agent", "reference", "--preset", "classic", "--jobs", "1")


def cpu_seconds(words: list[str]) -> float:
    """Seconds of processors, of user and system, that a Python process takes with all its threads."""
    env = {name: text for name, text in os.environ.items() if not name.endswith("_NUM_THREADS")}
    process = subprocess.Popen([sys.executable, *words], env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{words[0]} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def costs(folder: Path) -> tuple[float, float]:
    """Seconds of processors of the script and of the command, the medians of several runs in turn."""
    script = folder / "five_seeds.py"
    script.write_text(SCRIPT)
    of_script: list[float] = []
    of_command: list[float] = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as stores:
            store = str(Path(stores) / "script.db")
            of_script.append(cpu_seconds([str(script), store, SEEDS, str(DAYS)]))
            store = str(Path(stores) / "command.db")
            of_command.append(cpu_seconds([*COMMAND, "--seeds", SEEDS, "--days", str(DAYS), "--store", store]))
    return median(of_script), median(of_command)


def report(name: str, folder: Path) -> None:
    of_script, of_command = costs(folder)
    ratio = of_script / of_command
    print(
        f"{name}: the script {of_script:.2f} s, the command {of_command:.2f} s of processors; "
        f"{ratio:.2f} of it, {ratio / BUDGET:.2f} of the budget of {BUDGET}",
        flush=True,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report("quiet", Path(folder))
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            report("beside a busy process", Path(folder))
        finally:
            busy.kill()
            busy.wait()


if __name__ == "__main__":
    main()
