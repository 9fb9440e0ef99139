"""Populations made and written to a folder, for markets that several runs or other programs are to share."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from akinai.core.actions import complaint
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.runtime.experiment import checked_seeds
from akinai.worlds import load
from akinai.worlds.market.baselines import Baselines, baselines
from akinai.worlds.market.generated import generate
from akinai.worlds.market.population_text import BASELINES, baselines_text, population_texts
from akinai.worlds.market.setup import Setup


@dataclass(frozen=True, slots=True)
class Written:
    """What was written where."""

    folder: Path
    customers: int
    businesses: int
    seed: int
    made: Mapping[str, Any]
    baselines: Baselines

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "customers": self.customers,
            "businesses": self.businesses,
            "seed": self.seed,
            "population": dict(self.made),
            "baselines": self.baselines.to_json(),
        }


def write_population(
    folder: str | Path,
    *,
    customers: int,
    businesses: int,
    seed: int = 1,
    kind: str = "restaurants",
    language: str = "en",
    identical: bool = False,
) -> Written:
    """Make a population by the seed and write it in the public format, its baselines beside it.

    It is the one that a market of this seed, these counts and this `population` makes for itself. UsageError when a
    number or a name does not fit, or the folder holds a population already.
    """
    checked_seeds([seed])
    if customers < 1:
        raise UsageError(f"a population has at least one customer, not {customers}")
    asked = {"kind": kind, "language": language, "identical": identical}
    counts = {"customers": {"count": customers}, "businesses": {"count": businesses}}
    try:
        setup = Setup.model_validate({**counts, "population": asked})
    except ValidationError as error:
        raise UsageError(f"no such population can be made: {complaint(error)}") from error
    home = Path(folder).expanduser()
    _expect_empty(home)
    chance = Genesis(load("market").name, seed, {}).chance
    people = generate(chance("population"), customers, businesses, setup.population)
    told = baselines(people, chance("baselines"))
    try:
        for name in ("businesses", "customers"):
            (home / name).mkdir(parents=True, exist_ok=True)
        for name, text in (*population_texts(people), (BASELINES, baselines_text(told.to_json()))):
            (home / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{str(home)!r} cannot be written: {error.strerror or error}") from error
    return Written(home, customers, businesses, seed, asked, told)


def _expect_empty(home: Path) -> None:
    if home.exists() and not home.is_dir():
        raise UsageError(f"{str(home)!r} is a file; name a folder that is new or empty")
    for name in ("businesses", "customers", BASELINES):
        part = home / name
        if part.is_file() or (part.is_dir() and any(part.iterdir())):
            raise UsageError(f"{str(home)!r} holds {name!r} already; name a folder that is new or empty")
