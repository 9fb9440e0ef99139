"""The command that tells what can be played."""

from typing import Annotated

from akinai.cli.options import Json, argument
from akinai.cli.shown import document, next_steps, page


def worlds(
    world: Annotated[str | None, argument("WORLD", "One of them, to read all about it.")] = None,
    as_json: Json = False,
) -> None:
    """What can be played, by whom, with which presets."""
    from akinai import worlds
    from akinai.report.catalogue import world_page, worlds_table
    from akinai.runtime.about import about

    if world is not None:
        told = about(worlds.load(world))
        return document(told.to_json()) if as_json else page(lambda width: world_page(told, width))
    all_of_them = [about(worlds.load(name)) for name in worlds.names()]
    if as_json:
        return document({"worlds": [one.to_json() for one in all_of_them]})
    page(lambda width: worlds_table(all_of_them, width))
    return next_steps({f"akinai worlds {name}": "its presets, agents, actions and settings" for name in worlds.names()})
