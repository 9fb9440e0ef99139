"""Tracks: the place at every entry in little room, and the place made from them again."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from akinai.core.canonical import Json
from akinai.core.facets import Presentation
from akinai.core.presentation.transcript import Listing, Place, Shelf, SlotView
from akinai.core.steps import Steps
from akinai.views.model import Tracks

Change = tuple[int, Any]


class _Recorder:
    """Gathers what changes from place to place."""

    def __init__(self) -> None:
        self.figures: dict[str, list[Change]] = {}
        self.labels: dict[str, Mapping[str, str]] = {}
        self.slots: dict[str, list[Change]] = {}
        self.rows: dict[str, dict[str, list[Change]]] = defaultdict(dict)
        self.shelves: dict[int, Shelf] = {}
        self.listings: dict[str, Listing] = {}

    def add(self, seq: int, place: Place, last: Place | None) -> None:
        for figure in place.figures:
            self.labels.setdefault(figure.name, {"label": figure.label, "unit": figure.unit})
            _put(self.figures.setdefault(figure.name, []), seq, figure.value)
        if last is None or place.shelves is not last.shelves:
            for number, shelf in enumerate(place.shelves):
                self.shelves[number] = shelf
                for key, slot in shelf.slots.items():
                    _put(self.slots.setdefault(key, []), seq, _slot(slot))
        known = last.listings if last else ()
        for number, listing in enumerate(place.listings):
            before = known[number] if number < len(known) else None
            if listing is not before:
                self._add_listing(seq, listing, before)

    def _add_listing(self, seq: int, listing: Listing, before: Listing | None) -> None:
        rows = self.rows[listing.name]
        self.listings[listing.name] = listing
        for key, row in listing.rows.items():
            _put(rows.setdefault(key, []), seq, row)
        for key in before.rows if before else ():
            if key not in listing.rows:
                _put(rows[key], seq, None)


def _put(track: list[Change], seq: int, value: Any) -> None:
    if not track or track[-1][1] != value:
        track.append((seq, value))


def _slot(slot: SlotView | None) -> Json:
    return None if slot is None else (slot.item, slot.units, slot.price_cents)


def tracks_of(presentation: Presentation[Any], steps: Steps[Any]) -> Tracks:
    """The tracks of a run, in one pass over its states."""
    recorder = _Recorder()
    state = steps.opening
    place = presentation.place(state)
    recorder.add(0, place, None)
    for step in steps:
        if step.after is not state:
            following = presentation.place(step.after, state, place)
            recorder.add(step.entry.seq, following, place)
            state, place = step.after, following
    return Tracks(
        {name: tuple(track) for name, track in recorder.figures.items()},
        {key: tuple(track) for key, track in recorder.slots.items()},
        {name: {key: tuple(track) for key, track in rows.items()} for name, rows in recorder.rows.items()},
        tuple(_shelf(shelf) for shelf in recorder.shelves.values()),
        {
            name: {"title": listing.title, "columns": dict(listing.columns)}
            for name, listing in recorder.listings.items()
        },
        recorder.labels,
    )


def _shelf(shelf: Shelf) -> Mapping[str, Json]:
    return {
        "name": shelf.name,
        "columns": shelf.columns,
        "capacities": list(shelf.capacities),
        "keys": list(shelf.slots),
    }
