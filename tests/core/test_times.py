"""Times as the wire has them."""

import pytest

from agenthost.core.times import iso_time, later, unix_ms


@pytest.mark.parametrize(
    ("time", "ms"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-01-02T03:04:05.678901+02:00", 1767315845678),
        ("2026-01-02", 1767312000000),
        ("0001-01-01T00:00:00Z", -62135596800000),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_time_is_so_many_milliseconds_after_1970(time: str, ms: int | None) -> None:
    assert unix_ms(time) == ms


@pytest.mark.parametrize(
    ("ms", "time"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1767315845678.9, "2026-01-02T01:04:05.678Z"),
        (-62135596800000, "0001-01-01T00:00:00.000Z"),
        (253402300799999, "9999-12-31T23:59:59.999Z"),
        (253402300800000, None),
        (1e300, None),
        (float("inf"), None),
        (float("nan"), None),
    ],
)
def test_milliseconds_are_written_in_utc(ms: float, time: str | None) -> None:
    assert iso_time(ms) == time


def test_a_time_may_be_later_than_any_other() -> None:
    assert later("2026-01-31T23:59:59.999Z", 1) == "2026-02-01T00:00:00.000Z"
    assert later("9999-12-31T23:59:59.999Z", 1) is None
    assert later("soon", 1) is None
