"""Measures a stranger's wait: seconds and megabytes of `make demo` and of what `make test` adds, in a clean copy.

`python bench/first_minute.py [--test]`. The copy holds what git tracks, the home is empty, and pip's cache is not used.
`--test` also installs what the tests need, which takes minutes.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = {"demo": (60, 200), "test": (600, 1300)}
"""Seconds on an idle machine and megabytes of .venv, by what is made."""
TARGETS = {"demo": "demo", "test": ".venv/.ready"}


def megabytes(folder: Path) -> float:
    """The room that files take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if not path.is_dir()) / 1e6


def main(kinds: list[str]) -> None:
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        home, copy = Path(folder, "home"), Path(folder, "akinai")
        home.mkdir()
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(copy, filter="data")
        env = {name: value for name, value in os.environ.items() if not name.startswith(("AKINAI_", "VIRTUAL", "MAKE"))}
        env |= {"HOME": str(home), "PIP_NO_CACHE_DIR": "1"}
        for kind in kinds:
            began = time.perf_counter()
            process = subprocess.run(
                ["make", TARGETS[kind]], check=False, cwd=copy, env=env, capture_output=True, text=True
            )
            if process.returncode:
                sys.exit(process.stdout + process.stderr)
            seconds, size = time.perf_counter() - began, megabytes(copy / ".venv")
            most_seconds, most_megabytes = BUDGETS[kind]
            print(
                f"make {kind:4}  {seconds:6.1f} s ({seconds / most_seconds:.2f} of {most_seconds})"
                f"  {size:7.1f} MB ({size / most_megabytes:.2f} of {most_megabytes})"
            )


if __name__ == "__main__":
    main(["demo", "test"] if "--test" in sys.argv[1:] else ["demo"])
