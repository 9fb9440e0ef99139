"""Labelled runs of the vending world: coherence mistakes and their look-alikes, read from tests/coherence.

Half of the cases are mistakes and half near misses; half of each are scripts and half are changed runs of the world's
players. Labels follow from the definitions alone: nothing here uses a detector. The format is explained in
tests/coherence/README.md.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import yaml

from akinai.core.actions import Action, Unreadable
from akinai.core.ledger import Ledger
from akinai.core.worlds import World
from case_runs import (
    WORLD,
    Change,
    Insertion,
    LabelledMove,
    Mutation,
    Recording,
    Remark,
    Replacement,
    RunSettings,
    Script,
)

FOLDER = Path(__file__).parents[1] / "tests" / "coherence"
PLAYER_SETTINGS: Mapping[str, tuple[str, ...]] = {"naive": ("small_capacity=40", "large_capacity=40")}
"""The naive player gets a machine that holds more than it sells in a week; with a small one it lets goods lie in
storage while the machine is empty."""
MODIFIERS = frozenset({"says", "refused", "times", "after_letter"})

Document = Mapping[str, Any]


class Plan(Protocol):
    """What a case plays."""

    def play(self) -> Recording[Any]: ...


@dataclass(frozen=True, slots=True)
class Labelled:
    """A case's ledger and the entries in which its mistakes must be found."""

    ledger: Ledger
    entries: range


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled run."""

    name: str
    about: str
    """The type of mistake that it holds, or seems to hold."""
    plan: Plan
    expected: frozenset[str]
    """All types that the ledger holds by the definitions."""
    why: str
    unsettled: frozenset[str] = frozenset()
    """Types that the definitions neither demand nor rule out here: a finding of them counts neither way."""
    actors: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Who did it, by type, where a case names them."""

    @property
    def near_miss(self) -> bool:
        return self.about not in self.expected

    @property
    def played(self) -> bool:
        """Whether the case is a changed run of a player."""
        return isinstance(self.plan, Mutation)

    def build(self) -> Labelled:
        """Play it. The entries reach from the first marked move to the last."""
        run = self.plan.play()
        if self.expected and not run.marked:
            raise ValueError(f"{self.name!r} is to hold {sorted(self.expected)} and marks no entry")
        entries = range(min(run.marked), max(run.marked) + 1) if run.marked else range(0)
        return Labelled(run.ledger, entries)


def load(folder: Path, read: Callable[[str, Document], Case] | None = None) -> tuple[Case, ...]:
    """The cases of a folder: a file for each type, named after it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast, where it is installed
    return tuple(
        (read or read_case)(file.stem, case)
        for file in sorted(folder.glob("*.yaml"))
        for document in yaml.load(file.read_text(encoding="utf-8"), loader)
        for case in expand(document)
    )


def expand(document: Document) -> Iterator[Document]:
    """A case for each row of a document's `each`, with the row's values in place of `$name`; else the document."""
    rows = document.get("each")
    if rows is None:
        yield document
        return
    text = json.dumps({key: value for key, value in document.items() if key != "each"}, ensure_ascii=False)
    for row in rows:
        yield json.loads(re.sub(r'"?\$(\w+)"?', partial(_filled, row), text))


def _filled(row: Document, match: re.Match[str]) -> str:
    """A value in place of its name; a number loses the quotes round a name that stands alone."""
    value, text = row[match[1]], match[0]
    alone = text.startswith('"') and text.endswith('"')
    if alone:
        return json.dumps(value, ensure_ascii=False)
    return text.replace(f"${match[1]}", str(value))


def read_case(about: str, document: Document) -> Case:
    """One case of a file."""
    run = dict(document.get("run", {}))
    player = run.pop("player", None)
    run["settings"] = (*PLAYER_SETTINGS.get(player, ()), *run.pop("set", ()))
    run["habits"] = tuple(
        (name, tuple(value) if isinstance(value, list) else value) for name, value in run.pop("habits", {}).items()
    )
    run["marked_days"] = tuple(run["marked_days"]) if "marked_days" in run else None
    settings = RunSettings(**run)
    rivals = {
        f"owner_{number}": _read_plan(settings, {"moves": rival} if isinstance(rival, list) else rival)
        for number, rival in document.get("rivals", {}).items()
    }
    plan = replace(_read_plan(settings, {**document, "player": player}), rivals=rivals)
    return labelled_case(about, document, plan)


def labelled_case(about: str, document: Document, plan: Plan) -> Case:
    """A case with the labels of its document, whatever its world."""
    holds, unsettled = document["holds"], frozenset(document.get("unsettled", ()))
    actors = {type_: frozenset(owners) for type_, owners in holds.items()} if isinstance(holds, Mapping) else {}
    return Case(document["name"], about, plan, frozenset(holds), document["why"], unsettled, actors)


def _read_plan(settings: RunSettings, document: Document) -> Script | Mutation:
    """The moves of an owner, or the player and the changes of its run."""
    if player := document.get("player"):
        return Mutation(player, settings, tuple(map(_read_change, document.get("changes", ()))))
    return Script(settings, read_moves(document["moves"]))


def read_moves(
    moves: Iterable[str | Document], *, marked: bool = False, world: World[Any] = WORLD
) -> tuple[LabelledMove, ...]:
    """The moves of a list, those of its groups included. ValueError for a move that no agent could make."""
    labelled_moves: list[LabelledMove] = []
    for move in moves:
        if isinstance(move, str):
            labelled_moves.append(LabelledMove(_read_action(world, move, None), marked=marked))
        elif "marked" in move:
            labelled_moves += read_moves(move["marked"], marked=True, world=world)
        elif "reply" in move:
            unreadable = Unreadable.of(move["reply"], "the reply holds no action")
            labelled_moves += [LabelledMove(unreadable, refused="no_action", marked=marked)] * move.get("times", 1)
        else:
            (verb,) = move.keys() - MODIFIERS
            action = _read_action(world, verb, move[verb])
            labelled = LabelledMove(
                action, move.get("says", ""), move.get("refused"), marked, move.get("after_letter", "")
            )
            labelled_moves += [labelled] * move.get("times", 1)
    return tuple(labelled_moves)


def _read_action(world: World[Any], verb: str, parameters: object) -> Action:
    """An action from all its parameters by name, or from its first parameter alone."""
    fields = world.verbs.find(verb).model_fields
    if not isinstance(parameters, Mapping | None):
        parameters = {next(iter(fields)): parameters}
    if unknown := (parameters or {}).keys() - fields:
        raise ValueError(f"{verb} has no parameter {', '.join(unknown)}; it has {', '.join(fields)}")
    values = {name: _read_rows(fields[name].annotation, value) for name, value in (parameters or {}).items()}
    action = world.verbs.parse(verb, values, "")
    if isinstance(action, Unreadable):
        raise ValueError(f"{verb} {parameters!r}: {action.why}")
    return action


def _read_rows(annotation: Any, value: object) -> object:
    """The slots of a restocking and the prices of tags are written as rows: the values of their fields in order."""
    if not isinstance(value, list):
        return value
    (record, *_) = getattr(annotation, "__args__", (None,))
    if not hasattr(record, "model_fields"):
        return value
    return [dict(zip(record.model_fields, row, strict=True)) for row in value]


def _read_change(change: Document) -> Change:
    match change:
        case {"insert": moves, "from_day": int(day)}:
            return Insertion(day, read_moves(moves))
        case {"replace": str(verb), "between": [int(first), int(last)], "moves": moves}:
            return Replacement(WORLD.verbs.find(verb), first, last, read_moves(moves))
        case {"beside": str(verb), "from_day": int(day), "says": str(text)}:
            return Remark(WORLD.verbs.find(verb), day, text)
        case _:
            raise ValueError(f"a change inserts moves, replaces a verb or says a text beside one, not {change!r}")


CASES = load(FOLDER)
HELD_OUT = load(FOLDER / "held_out")
"""Cases by which no detector has been improved."""
