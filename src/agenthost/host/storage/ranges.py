"""Ranges: which sequence numbers were given in the past that a store holds.

A power cut may take the newest commits, and somebody may put an old copy of the store back. Then clients have
seen numbers that the store knows nothing of. Were they given again, they would mean two things. So every
opening begins a new range, far above all known numbers: where the clock is, as it was at no earlier opening.
The store keeps its ranges, and a number outside of them is of another past.
"""

import secrets
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Sequence

from agenthost.host.storage.checksums import is_sound, numbers_sum

__all__ = ["Ranges", "begin_range", "next_start", "read_ranges"]

EPOCH_MS = 1_735_689_600_000
"""The beginning of 2025. Nobody's clock can have been right before."""

NUMBERS_PER_MS = 2_048
"""More than any host gives: so what was given in a range stays below the clock."""

MAX_BY_CLOCK = 2**52
"""How far the clock is followed: to the year 2094. The room above it is for clocks that are wrong."""

MAX_NUMBER = 2**53 - 1
"""The highest whole number that every client reads as it is."""

MIN_GAP = 2**28
MAX_GAP = 2**33
"""How far to jump where the clock does not help: by chance, so that no two copies of a store do the same."""

MAX_RANGES = 1_000
"""How many ranges are kept, the newest. Whoever comes back from an older one gets snapshots."""


def next_start(last_seq: int, now_ms: int | None = None) -> int:
    """Return the number that a new range begins with: above all known ones, and given by nobody before."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    by_clock = (now_ms - EPOCH_MS) * NUMBERS_PER_MS
    if last_seq < by_clock <= MAX_BY_CLOCK:
        return by_clock
    gap = MIN_GAP + secrets.randbelow(MAX_GAP - MIN_GAP)
    return last_seq + min(gap, (MAX_NUMBER - last_seq) // 1_024)


class Ranges:
    """The ranges of a store, oldest first; the last one is still growing."""

    def __init__(self, found: Sequence[tuple[int, int]]) -> None:
        self._firsts = [first for first, _ in found]
        self._lasts = [last for _, last in found]

    def holds(self, seq: int, last_seq: int) -> bool:
        """Tell whether this number was given in this past; `last_seq` is the newest."""
        place = bisect_right(self._firsts, seq) - 1
        if place < 0:
            return False
        is_newest = place == len(self._firsts) - 1
        return seq <= (last_seq if is_newest else self._lasts[place])

    def before(self, count: int, last_seq: int) -> int:
        """Return the number after which so many were given; 0 if there were not so many."""
        last = last_seq
        for first, next_last in zip(reversed(self._firsts), [*reversed(self._lasts[:-1]), 0], strict=False):
            if last - first >= count:
                return last - count
            count -= last - first
            last = next_last
        return 0


def read_ranges(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """Read the ranges, oldest first. One that is damaged is left out: nobody resumes from there."""
    found = connection.execute("SELECT first, last, checksum FROM range ORDER BY first").fetchall()
    return [(first, last) for first, last, checksum in found if is_sound(checksum, numbers_sum, first, last)]


def begin_range(connection: sqlite3.Connection, last_seq: int, start: int) -> Ranges:
    """End the newest range at this number, and begin one. The transaction is the caller's."""
    found = read_ranges(connection)
    newest = connection.execute("SELECT max(first) FROM range").fetchone()[0]
    if found and found[-1][0] == newest:  # else the newest is damaged, and the one before it has ended
        first = found[-1][0]
        found[-1] = (first, last_seq)
        connection.execute(
            "UPDATE range SET last = ?, checksum = ? WHERE first = ?",
            (last_seq, numbers_sum(first, last_seq), first),
        )
    connection.execute("REPLACE INTO range VALUES (?, ?, ?)", (start, start, numbers_sum(start, start)))
    connection.execute(
        "DELETE FROM range WHERE first NOT IN (SELECT first FROM range ORDER BY first DESC LIMIT ?)",
        (MAX_RANGES,),
    )
    return Ranges([*found, (start, start)][-MAX_RANGES:])
