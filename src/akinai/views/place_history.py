"""The history of a run's place: the place after every entry, kept as the changes from entry to entry."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from akinai.core.canonical import Json
from akinai.core.facets import Presentation
from akinai.core.presentation.transcript import Listing, Place, Shelf, SlotView
from akinai.core.steps import Steps
from akinai.views.model import PlaceHistory

Change = tuple[int, Any]


class _Recorder:
    """Gathers the changes from one state of the place to the next."""

    def __init__(self) -> None:
        self.figures: dict[str, list[Change]] = {}
        self.labels: dict[str, Mapping[str, str]] = {}
        self.slots: dict[str, list[Change]] = {}
        self.rows: dict[str, dict[str, list[Change]]] = defaultdict(dict)
        self.shelves: dict[int, Shelf] = {}
        self.listings: dict[str, Listing] = {}

    def add(self, seq: int, snapshot: Place, last: Place | None) -> None:
        for figure in snapshot.figures:
            self.labels.setdefault(figure.name, {"label": figure.label, "unit": figure.unit})
            _put(self.figures.setdefault(figure.name, []), seq, figure.value)
        if last is None or snapshot.shelves is not last.shelves:
            for number, shelf in enumerate(snapshot.shelves):
                self.shelves[number] = shelf
                for key, slot in shelf.slots.items():
                    _put(self.slots.setdefault(key, []), seq, _slot(slot))
        last_listings = last.listings if last else ()
        for number, listing in enumerate(snapshot.listings):
            before = last_listings[number] if number < len(last_listings) else None
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


def record_place_history(presentation: Presentation[Any], steps: Steps[Any]) -> PlaceHistory:
    """Record the history of a run's place, in one pass over its states."""
    recorder = _Recorder()
    state = steps.opening
    snapshot = presentation.place(state)
    recorder.add(0, snapshot, None)
    for step in steps:
        if step.after is not state:
            following = presentation.place(step.after, state, snapshot)
            recorder.add(step.entry.seq, following, snapshot)
            state, snapshot = step.after, following
    return PlaceHistory(
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
