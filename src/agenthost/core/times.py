"""Times as the wire has them: ISO 8601 in UTC, with milliseconds. There is no clock here."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


# The same few times are read several times in a turn, and by each client of an older protocol.
@lru_cache(maxsize=256)
def unix_ms(time: str) -> int | None:
    """Return the milliseconds since 1970; `None` if the text is not a time. Without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def iso_time(ms: float) -> str | None:
    """Return the time this many milliseconds after 1970; `None` if no calendar reaches it."""
    try:
        second, rest = divmod(int(ms), 1_000)
        return f"{_second(second)}.{rest:03}Z"
    except (OverflowError, ValueError):
        return None


# Every turn takes the time twice, and there are many turns in a second.
@lru_cache(maxsize=16)
def _second(second: int) -> str:
    moment = _EPOCH + timedelta(seconds=second)
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def later(time: str, ms: float) -> str | None:
    """Return the time that is this many milliseconds later; `None` if there is none."""
    start = unix_ms(time)
    return None if start is None else iso_time(start + ms)


def elapsed_ms(start: str, now_ms: int) -> int:
    """Return how many milliseconds ago a time was; 0 if the text is not a time, or in the future."""
    started = unix_ms(start)
    return 0 if started is None else max(0, now_ms - started)
