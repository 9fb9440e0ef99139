"""Draw what `akinai demo` prints of its players as a picture: `python examples/demo.py FILE`, an SVG file."""

import io
import re
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

import akinai
from akinai.analysis.tables import groups_table
from akinai.report.tables.columns import page_of


def main(picture: Path, report: Path, seeds: str = "1-7", days: int = 90) -> None:
    console = Console(record=True, width=100, highlight=False, file=io.StringIO())
    shown = akinai.demo(seeds=seeds, days=days, output=report)
    table = groups_table(shown.analysis.groups, shown.analysis.standings)
    console.print(page_of([shown.comparison.sentences, table], console.width))
    svg = console.export_svg(title="akinai demo", code_format=CONSOLE_SVG_FORMAT)
    picture.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path("akinai-report"))
