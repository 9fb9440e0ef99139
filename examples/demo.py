"""Watch a business being run and scored: a week of the reference player's days, then three players on five seeds, then
a report on them in the folder `akinai-report`.

No key, no network: `python examples/demo.py`. With `--picture FILE` the last tables are also drawn as SVG.
"""

import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

import akinai
from akinai import api
from akinai.report.tables.columns import plain
from akinai.report.tables.comparisons import comparison_page
from akinai.report.tables.runs import summary_table
from akinai.stores.memory import MemoryStore

SEEDS = range(1, 6)
DAYS = 90
WATCHED_DAYS = 7
REPORT = Path("akinai-report")
PLAYERS = ("idle", "naive", "reference")
"""From the bottom of the scale to the top."""


def main(picture: Path | None = None) -> None:
    console = Console(record=True, width=100, highlight=False)
    console.print(Text("\nA week at the vending machine, played by `reference` on seed 1", "bold"))
    week = akinai.run("vending", agent="reference", seeds=1, days=WATCHED_DAYS)
    for line in diary(week[0].ledger):
        console.print(line)

    console.print(Text(f"\nThree players, {len(SEEDS)} seeds, {DAYS} days each", "bold"))
    store = MemoryStore()
    played = {
        player: akinai.run("vending", agent=player, seeds=SEEDS, days=DAYS, name=player, store=store)
        for player in PLAYERS
    }
    console.export_text()  # only the tables go into the picture
    for player, runs in played.items():
        console.print()
        console.print(summary_table(runs, console.width, player))
    console.print()
    console.print(comparison_page(api.compare("naive", "reference", store=store), "", console.width))
    if picture:
        picture.write_text(drawn(console), encoding="utf-8")
    if page := reported(store):
        console.print(f"\nAll of it, with figures: {page}\n", soft_wrap=True)
    else:
        console.print('\nFor a report with figures:  pip install "akinai[report]"\n')
    console.print(
        "Play it yourself:  akinai run vending --agent reference --seeds 1-5 --name first\n"
        "                   akinai worlds vending       what there is to play with\n"
        "                   akinai --help               all commands"
    )


def reported(store: MemoryStore) -> str | None:
    """The page of a report on all runs of a store; None where what draws the figures is not installed."""
    if find_spec("matplotlib") is None:
        return None
    from akinai.report.page.files import write

    return write(api.analyze(store=store, by_day=True), REPORT).page.resolve().as_uri()


def diary(ledger: akinai.Ledger) -> Iterator[Text]:
    """What was done each day, an action a line, and the next morning's notice."""
    for entry in ledger.entries:
        if entry.name == "AdvanceDay":
            yield Text(plain(entry.outcome.text), "green")
            continue
        answer = plain(entry.outcome.text.partition("\n")[0])
        answer = answer if len(answer) <= 76 else answer[:75] + "…"
        yield Text(f"  {entry.name:20} {answer}", "" if entry.outcome.ok else "red")


def drawn(console: Console) -> str:
    """What the console printed as one SVG that needs no font from elsewhere."""
    svg = console.export_svg(title="make demo", code_format=CONSOLE_SVG_FORMAT)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    main(Path(sys.argv[2]) if sys.argv[1:2] == ["--picture"] else None)
