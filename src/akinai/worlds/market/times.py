"""Times on the wire are ISO 8601 texts; inside the market they are microseconds since the epoch."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND_US = 1_000_000
MILLISECOND_US = 1_000


def iso(at: int) -> str:
    """A time as the wire tells it, in UTC."""
    seconds, rest = divmod(at, SECOND_US)
    return f"{_second(seconds)}.{rest:06}+00:00" if rest else f"{_second(seconds)}+00:00"


@lru_cache(256)
def _second(seconds: int) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat().removesuffix("+00:00")


def read_time(text: str) -> int | None:
    """The time that a text says, UTC where it names no zone; None when it says none."""
    try:
        told = datetime.fromisoformat(text.strip())
        return _us(told if told.tzinfo else told.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def midnight(day: date) -> int:
    """Where a day begins, UTC."""
    return _us(datetime.combine(day, time(tzinfo=UTC)))


def _us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)
