"""GrowingList: what grows out of one sequence leaves it, and each other, as they were."""

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.worlds import GrowingList


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 3)), max_size=60))
def test_every_version_is_a_tuple_that_nobody_changes(steps: list[tuple[int, int]]) -> None:
    versions: list[tuple[GrowingList[int], tuple[int, ...]]] = [(GrowingList(), ())]
    for index, item in steps:
        series, items = versions[index % len(versions)]
        versions.append((series.put(item), (*items, item)))
    for series, items in versions:
        assert (*series,) == items
        assert (len(series), bool(series)) == (len(items), bool(items))
        assert [series[index] for index in range(-len(items), len(items))] == [*items, *items]
        assert ((*series[1:-1],), (*series[::-2],)) == (items[1:-1], items[::-2])
        assert series == GrowingList(items)
        assert series != GrowingList((*items, 9))
        for outside in (len(items), -len(items) - 1):
            with pytest.raises(IndexError):
                series[outside]


def test_a_pickle_holds_its_own_items_alone() -> None:
    begin = GrowingList("ab")
    begin.put("c")
    dumped = pickle.dumps(begin)
    assert pickle.loads(dumped) == begin
    assert len(dumped) == len(pickle.dumps(GrowingList("ab")))


def test_nothing_is_kept_of_what_grew_and_is_gone() -> None:
    empty, forked = GrowingList[object](), GrowingList[object]("ab")
    longer = forked.put("c")
    item = object()
    before = sys.getrefcount(item)
    assert [empty.put(item).put(item)[-1], forked.put(item)[-1], longer[-1]] == [item, item, "c"]
    assert sys.getrefcount(item) == before


class Shared(list[str]):
    """A list to which another thread appends a moment earlier."""

    def append(self, item: str, /) -> None:
        super().append("earlier")
        super().append(item)


def test_one_may_grow_in_two_threads_at_the_same_time() -> None:
    begin = GrowingList("ab")
    begin._shared = Shared(begin)  # pyright: ignore[reportPrivateUsage] - no thread can be stopped just there
    assert ([*begin.put("c")], [*begin.put("d")]) == (["a", "b", "c"], ["a", "b", "d"])
