"""Commands about the keys of sealed games: draw, show, reveal."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from akinai.cli.options import Json, Store, argument, store_address
from akinai.cli.output import print_json, print_next_steps, print_sentence
from akinai.core.presentation.words import counted

app = typer.Typer(
    name="seal", help="Keys of sealed games, which nobody can look up before they are played.", no_args_is_help=True
)

KeyFile = Annotated[Path, argument("FILE", "The file of the key.")]


@app.command()
def new(file: KeyFile, as_json: Json = False) -> None:
    """Draw a key, and print its commitment: publish that before anything is played."""
    from akinai.api import seal

    info = seal.new(file)
    if as_json:
        return print_json(info.to_json())
    print_sentence(f"wrote {file}, which nobody else may see or copy")
    print_sentence(f"the commitment is {info.commitment}")
    command = f"akinai run vending --key {file} --seeds 1-20 --name a"
    return print_next_steps({command: "play its games 1 to 20, once the commitment is published"})


@app.command()
def show(file: KeyFile, as_json: Json = False) -> None:
    """Print the commitment of a key, and how many runs were begun under it."""
    from akinai.api import seal

    info = seal.show(file)
    if as_json:
        return print_json(info.to_json())
    print_sentence(f"the commitment is {info.commitment}")
    players = Counter((str(line["agent"]), str(line["model"] or ""), str(line["preset"])) for line in info.begun)
    for (agent, model, preset), count in sorted(players.items()):
        runs = counted(count, "run")
        print_sentence(f"{runs} of {preset} begun by {f'{agent} {model}'.strip()}")
    if not players:
        print_sentence("no run was begun under it")
    return None


@app.command()
def reveal(
    file: KeyFile,
    boards: Annotated[list[Path] | None, argument("[DIR]...", "Folders of leaderboards that get the key.")] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Reveal a key, when no more is to be played under it: to leaderboards, or to the runs of a store."""
    from akinai.api import seal

    revealed = seal.reveal(file, *boards or (), store=store_address(store))
    if as_json:
        return print_json(revealed.to_json())
    for path in revealed.files:
        print_sentence(f"wrote {path}")
    if boards:
        return print_next_steps({f"akinai leaderboard check {boards[0]}": "derive every seed and replay every ledger"})
    runs = counted(len(revealed.runs), "run")
    print_sentence(f"revealed to {runs}: their seeds are told from now on")
    return None
