"""A report's files: written beside one another, then put in place together."""

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from akinai.core.errors import UsageError
from akinai.report.markdown import markdown
from akinai.report.page import page
from akinai.report.page_contents import Document
from akinai.report.page_pairs import contrasts
from akinai.report.page_results import results
from akinai.report.page_sections import document
from akinai.runtime.analysis import Analysis
from akinai.runtime.analysis_pairs import Contrast

RESULTS = "results.json"
OURS = re.compile(r"figures/[a-z0-9-]+\.svg")
"""Files that an earlier report may have written and this one does not."""


@dataclass(frozen=True, slots=True)
class Written:
    """A report in its folder."""

    folder: Path
    files: tuple[str, ...]
    """Paths within it, the page first."""

    @property
    def page(self) -> Path:
        return self.folder / self.files[0]


def write(analysis: Analysis, folder: Path, *, with_paper: bool = False) -> Written:
    """Draw and write a report into a folder, which is made where it is not there.

    Every file is written in full before the first takes its place, so a report that cannot be written leaves the one
    before as it was. Other files in the folder are left alone. UsageError where nothing can be written.
    """
    _expect_folder(folder)
    compared = contrasts(analysis)
    files = _files(analysis, compared, document(analysis, compared, with_paper=with_paper))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        old = _figures_of(folder)
        with tempfile.TemporaryDirectory(prefix=".report-", suffix=".saving", dir=folder) as staged:
            for name, text in files.items():
                path = Path(staged, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="replace", newline="\n")
            (folder / "figures").mkdir(exist_ok=True)
            for name in files:
                Path(staged, name).replace(folder / name)
        for name in old - files.keys():
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot write the report into {str(folder)!r}: {error.strerror}; name another folder with -o"
        ) from error
    return Written(folder, tuple(files))


def _expect_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is a file, and a report is a folder of files; name another with -o")


def _files(analysis: Analysis, compared: Sequence[Contrast], report: Document) -> dict[str, str]:
    names = ("report.html", "report.md", RESULTS, *(f"figures/{one.name}.svg" for one in report.drawings))
    told = json.dumps(results(analysis, compared, files=names), ensure_ascii=False, allow_nan=False)
    texts = (page(report), markdown(report), f"{told}\n", *(one.svg for one in report.drawings))
    return dict(zip(names, texts, strict=True))


def _figures_of(folder: Path) -> set[str]:
    """The figures that the report in a folder says it has."""
    try:
        told = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
        named = cast("list[Any]", told["files"])
        return {name for name in named if isinstance(name, str) and OURS.fullmatch(name)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
