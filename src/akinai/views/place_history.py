"""The history of a run's place: the place after every entry, kept as the changes from entry to entry."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from akinai.core.canonical import Json
from akinai.core.facets import Presentation
from akinai.core.presentation.transcript import Comparison, Listing, Place, Street
from akinai.core.steps import Steps

Changes = list[tuple[int, Any]]
"""Pairs of an entry and a value: after entry N, the last change at or before N holds. Entry 0 is the opening."""


@dataclass(slots=True)
class PlaceHistory:
    """The place after every entry."""

    figures: dict[str, Changes] = field(default_factory=dict[str, Changes])
    """Numbers by name."""
    slots: dict[str, Changes] = field(default_factory=dict[str, Changes])
    """(product, units, price in cents or None) by key; None is an empty slot."""
    rows: dict[str, dict[str, Changes]] = field(default_factory=dict[str, dict[str, Changes]])
    """By listing and key the cells of a row; None where it is gone."""
    shelves: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    """The machines: name, columns, capacities and keys. One that is opened later has empty slots before."""
    listings: dict[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    """Title and columns by name."""
    labels: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Label and unit of each figure."""
    parts: dict[str, "PlaceHistory"] = field(default_factory=dict[str, "PlaceHistory"])
    """On a street, the history of each seat's place."""

    def to_json(self) -> dict[str, Json]:
        """Its own fields, not copied: a history is long."""
        document = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "parts"}
        parts: dict[str, Json] = {seat: part.to_json() for seat, part in self.parts.items()}
        return {**document, "parts": parts} if parts else document

    def add(self, seq: int, snapshot: Place, last: Place | None) -> None:
        """Add what an entry changed of the place before."""
        for figure in snapshot.figures:
            self.labels.setdefault(figure.name, {"label": figure.label, "unit": figure.unit})
            _put(self.figures.setdefault(figure.name, []), seq, figure.value)
        if last is None or snapshot.shelves is not last.shelves:
            for number, shelf in enumerate(snapshot.shelves):
                keys, capacities = list(shelf.slots), list(shelf.capacities)
                self.shelves[number : number + 1] = [
                    {"name": shelf.name, "columns": shelf.columns, "capacities": capacities, "keys": keys}
                ]
                for key, slot in shelf.slots.items():
                    content = None if slot is None else (slot.item, slot.units, slot.price_cents)
                    _put(self.slots.setdefault(key, []), seq, content)
        last_listings = last.listings if last else ()
        for number, listing in enumerate(snapshot.listings):
            before = last_listings[number] if number < len(last_listings) else None
            if listing is not before:
                self._add_listing(seq, listing, before)
        for seat, part in snapshot.parts.items() if isinstance(snapshot, Street) else ():
            previous = last.parts[seat] if isinstance(last, Street) else None
            if part is not previous:
                self.parts.setdefault(seat, PlaceHistory()).add(seq, part, previous)

    def _add_listing(self, seq: int, listing: Listing, before: Listing | None) -> None:
        rows = self.rows.setdefault(listing.name, {})
        compared: dict[str, Json] = {"compared": True} if isinstance(listing, Comparison) else {}
        self.listings[listing.name] = {"title": listing.title, "columns": dict(listing.columns), **compared}
        for key, row in listing.rows.items():
            _put(rows.setdefault(key, []), seq, row)
        for key in before.rows if before else ():
            if key not in listing.rows:
                _put(rows[key], seq, None)


def _put(changes: Changes, seq: int, value: Any) -> None:
    if not changes or changes[-1][1] != value:
        changes.append((seq, value))


def record_place_history(presentation: Presentation[Any], steps: Steps[Any]) -> PlaceHistory:
    """Record the history of a run's place, in one pass over its states."""
    history = PlaceHistory()
    state = steps.opening
    snapshot = presentation.place(state)
    history.add(0, snapshot, None)
    for step in steps:
        if step.after is not state:
            following = presentation.place(step.after, state, snapshot)
            history.add(step.entry.seq, following, snapshot)
            state, snapshot = step.after, following
    return history
