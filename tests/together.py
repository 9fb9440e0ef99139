"""Labelled cases that one test judges: where they are many and small, a test of each costs more than its case."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")

SHOWN, LONGEST = 15, 2_000
"""Errors of a group that a traceback shows; characters of a case that are shown."""


def together(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `pytest.mark.parametrize`, in one test.

    All cases are judged; the test fails with the error of each that fails, which notes its case. They share the fixtures.
    """
    keys = (names,) if isinstance(names, str) else names
    rows = [dict(zip(keys, (case,) if isinstance(names, str) else case, strict=True)) for case in cases]
    assert rows, "no cases"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(test)
        def judge(**fixtures: Any) -> None:
            judge_all(rows, lambda row: test(**row, **fixtures))

        @wraps(test)
        async def judge_in_turn(**fixtures: Any) -> None:
            errors: list[Exception] = []
            for row in rows:
                with _kept(errors, row):
                    await test(**row, **fixtures)
            _raise_all(errors, len(rows))

        judged: Any = judge_in_turn if inspect.iscoroutinefunction(test) else judge
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        judged.__signature__ = signature.replace(parameters=left)
        return judged

    return decorate


def judge_all(cases: Sequence[T], judge: Callable[[T], object]) -> None:
    """Judge all cases, and fail with the error of each that fails."""
    errors: list[Exception] = []
    for case in cases:
        with _kept(errors, case):
            judge(case)
    _raise_all(errors, len(cases))


@contextmanager
def _kept(errors: list[Exception], case: object) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case {case}"[:LONGEST])
        errors.append(error)


def _raise_all(errors: list[Exception], cases: int) -> None:
    message = f"{len(errors)} of {cases} cases fail"
    while len(errors) > SHOWN:
        errors = [ExceptionGroup("some of them", errors[at : at + SHOWN]) for at in range(0, len(errors), SHOWN)]
    if errors:
        raise ExceptionGroup(message, errors)
