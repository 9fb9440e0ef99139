"""Writes files that a world generates, such as a population, to a folder that runs or programs can share."""

from dataclasses import dataclass
from inspect import Parameter, Signature
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from akinai import worlds
from akinai.core.actions import complaint
from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.facets import Generated, Generator
from akinai.core.ledger import Genesis
from akinai.plugins import plugins
from akinai.runtime.config.files import new_path
from akinai.runtime.config.settings import MAPPING
from akinai.runtime.runs.planning import checked_seeds


@dataclass(frozen=True, slots=True)
class GeneratedFolder:
    """Generated files and the folder that holds them."""

    folder: Path
    generated: Generated

    def to_json(self) -> dict[str, Json]:
        return {"folder": str(self.folder), **self.generated.document}


def generator_of(world: str) -> Generator:
    """The generator of a world. UsageError for a world that generates nothing."""
    generator = worlds.load(world).facets.files.generator
    if generator is None:
        raise UsageError(f"{world} generates no files")
    return generator


GROUP = "akinai.generators"
"""Entry points that name worlds with a generator, so that no world has to be loaded to list them."""


def generating_worlds() -> list[str]:
    """The names of the worlds that generate files."""
    return sorted(plugins(GROUP))


def world_functions(world: str) -> SimpleNamespace:
    """The functions of a world's own commands: `akinai.market.generate(...)` for `akinai market generate`."""
    generator, keyword = generator_of(world), Parameter.KEYWORD_ONLY

    def generate(output: str | Path, **options: Any) -> GeneratedFolder:
        return generate_files(world, output, **options)

    options = [
        Parameter(name, keyword, default=field.default) for name, field in generator.options.model_fields.items()
    ]
    output = Parameter("output", Parameter.POSITIONAL_OR_KEYWORD, annotation=str | Path)
    seed = Parameter("seed", keyword, default=1, annotation=int)
    generate.__signature__ = Signature([output, *options, seed], return_annotation=GeneratedFolder)  # pyright: ignore[reportFunctionMemberAccess] - help reads it
    generate.__doc__ = generator.about
    return SimpleNamespace(generate=generate)


def generate_files(world: str, folder: str | Path, *, seed: int = 1, **options: Any) -> GeneratedFolder:
    """Generate a world's files by a seed and write them to a folder that is new or empty.

    UsageError if an option does not fit, the folder already holds such files, or it cannot be written.
    """
    checked_seeds([seed])
    generator, genesis = generator_of(world), Genesis(worlds.load(world).name, seed, {})
    try:
        checked_options = generator.options.model_validate(options)
    except ValidationError as error:
        raise UsageError(f"these options do not fit: {complaint(error, MAPPING)}") from error
    home = new_path(Path(folder).expanduser())
    _expect_folder(home)
    generated = generator.generate(checked_options, genesis)
    _expect_empty(home, generated)
    try:
        for name, text in generated.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        why = "a part of its path is a file" if isinstance(error, NotADirectoryError) else error.strerror or error
        raise UsageError(f"{str(home)!r} cannot be written: {why}; name another folder") from error
    return GeneratedFolder(home, generated)


def _expect_folder(home: Path) -> None:
    if home.exists() and not home.is_dir():
        raise UsageError(f"{str(home)!r} is a file; name a folder that is new or empty")


def _expect_empty(home: Path, generated: Generated) -> None:
    for name in dict.fromkeys(PurePosixPath(name).parts[0] for name in generated.files):
        part = home / name
        if part.is_file() or (part.is_dir() and any(part.iterdir())):
            raise UsageError(f"{str(home)!r} holds {name!r} already; name a folder that is new or empty")
