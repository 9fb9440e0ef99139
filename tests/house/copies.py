"""Copies of the project to change: what an extension costs is shown by making it."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Copy:
    """A copy of the project in a folder; its Python imports the copy and nothing of the original."""

    def __init__(self, folder: Path, *parts: str) -> None:
        self.root = folder / "akinai"
        self.root.mkdir()
        for part in parts:
            source = ROOT / part
            if source.is_dir():
                # What is compiled comes along: else each program compiled the whole of Akinai anew.
                shutil.copytree(source, self.root / part, ignore=shutil.ignore_patterns(".*"))
            else:
                shutil.copy(source, self.root / part)
        info = self.root / "src" / "akinai-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: akinai\nVersion: {distribution('akinai').version}\n"
        )
        self._entry_points = info / "entry_points.txt"
        self._entry_points.write_text(distribution("akinai").read_text("entry_points.txt") or "")
        self.changed: set[str] = set()
        """Files that were edited, relative to the copy."""

    def edit(self, file: str, before: str, after: str) -> None:
        """Put `after` in the place of `before`, which the file must hold exactly once."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{before!r} is {text.count(before)} times in {file}"
        path.write_text(text.replace(before, after), encoding="utf-8")
        self.changed.add(file)

    def append(self, file: str, text: str) -> None:
        path = self.root / file
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
        self.changed.add(file)

    def without_world(self, name: str) -> None:
        """Delete a world, its tests and its entry points."""
        shutil.rmtree(self.root / "src" / "akinai" / "worlds" / name)
        shutil.rmtree(self.root / "tests" / "worlds" / name, ignore_errors=True)
        for file in (self.root / "tests").rglob(f"test_{name}_*.py"):
            file.unlink()
        for file in (self._entry_points, self.root / "pyproject.toml"):
            if file.exists():
                lines = [
                    line
                    for line in file.read_text().splitlines()
                    if not re.search(rf"akinai\.worlds\.{name}\b.*:", line)
                ]
                file.write_text("\n".join(lines) + "\n")

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the copy's Python."""
        variables = {**os.environ, "PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return subprocess.run([sys.executable, *words], cwd=self.root, env=variables, capture_output=True, text=True)

    def python(self, code: str, *words: str) -> str:
        """What a program prints in the copy. AssertionError with its errors where it fails."""
        done = self.run("-c", code, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout
