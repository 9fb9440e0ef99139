"""Cases that are judged together are all judged, and none that fails is lost."""

import re
import traceback

import pytest

from together import together


@together("number", range(300))
def judge(number: int, wrong: set[int]) -> None:
    assert number not in wrong, f"{number} is wrong"


def test_every_case_that_fails_is_shown() -> None:
    """With its own error and its case, however many they are."""
    wrong = {0, *range(17, 299)}
    with pytest.raises(ExceptionGroup, match="283 of 300 cases fail") as raised:
        judge(wrong=wrong)
    text = "".join(traceback.format_exception(raised.value))
    assert {int(number) for number in re.findall(r"(\d+) is wrong", text)} == wrong
    assert all(f"in the case {{'number': {number}}}" in text for number in wrong)


async def test_cases_of_coroutines_are_awaited() -> None:
    """One after the other, with the fixtures of the test."""

    @together(("first", "second"), [(1, 2), (3, 3)])
    async def judge_in_turn(first: int, second: int, seen: list[int]) -> None:
        seen.append(first)
        assert first != second

    seen: list[int] = []
    with pytest.raises(ExceptionGroup, match="1 of 2 cases fail"):
        await judge_in_turn(seen=seen)
    assert seen == [1, 3]
