"""Ranges: which sequence numbers were assigned in the history that a store holds.

A power cut may lose the newest commits, and somebody may restore an old copy of the store. Then clients have
seen numbers that the store does not know. If these were assigned again, one number would mean two things. So
every opening starts a new range, far above all known numbers, derived from the clock. The store remembers its
ranges; a number outside of them belongs to another history.
"""

import secrets
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from agenthost.host.storage.checksums import is_sound, numbers_sum

__all__ = ["Ranges", "begin_range", "next_start", "read_ranges", "replace_ranges"]

EPOCH_MS = 1_735_689_600_000
"""The start of 2025. No correct clock is earlier."""

NUMBERS_PER_MS = 2_048
"""More than any host assigns, so that the numbers of a range stay below the clock."""

MAX_BY_CLOCK = 2**52
"""How far the clock is followed: to the year 2094. The numbers above are for clocks that are wrong."""

MAX_NUMBER = 2**53 - 1
"""The highest integer that every client can represent exactly."""

MIN_GAP = 2**28
MAX_GAP = 2**33
"""How far to jump if the clock is no help. Random, so that two copies of a store do not jump alike."""

MAX_RANGES = 1_000
"""How many ranges are kept, the newest. Clients that return from an older one get snapshots."""


def next_start(last_seq: int, now_ms: int | None = None) -> int:
    """Return the first number of a new range, above all numbers ever assigned."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    by_clock = (now_ms - EPOCH_MS) * NUMBERS_PER_MS
    if last_seq < by_clock <= MAX_BY_CLOCK:
        return by_clock
    gap = MIN_GAP + secrets.randbelow(MAX_GAP - MIN_GAP)
    return last_seq + min(gap, (MAX_NUMBER - last_seq) // 1_024)


class Ranges:
    """The ranges of a store, oldest first. The last one is still growing."""

    def __init__(self, found: Sequence[tuple[int, int]]) -> None:
        self._firsts = [first for first, _ in found]
        self._lasts = [last for _, last in found]

    def holds(self, seq: int, last_seq: int) -> bool:
        """Return whether this number was assigned in this history; `last_seq` is the newest number."""
        place = bisect_right(self._firsts, seq) - 1
        if place < 0:
            return False
        is_newest = place == len(self._firsts) - 1
        return seq <= (last_seq if is_newest else self._lasts[place])

    def before(self, count: int, last_seq: int) -> int:
        """Return the number after which `count` numbers were assigned; 0 if there were fewer."""
        last = last_seq
        for first, next_last in zip(reversed(self._firsts), [*reversed(self._lasts[:-1]), 0], strict=False):
            if last - first >= count:
                return last - count
            count -= last - first
            last = next_last
        return 0


def read_ranges(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """Read the ranges, oldest first. Damaged ones are left out, so nobody can resume from there."""
    found = connection.execute("SELECT first, last, checksum FROM range ORDER BY first").fetchall()
    return [(first, last) for first, last, checksum in found if is_sound(checksum, numbers_sum, first, last)]


def begin_range(connection: sqlite3.Connection, last_seq: int, start: int) -> Ranges:
    """End the newest range at this number and start another. The caller provides the transaction."""
    found = read_ranges(connection)
    newest = connection.execute("SELECT max(first) FROM range").fetchone()[0]
    # Otherwise the newest is damaged. The one before it has ended: only an open range ends where it begins.
    if found and found[-1][0] == newest == found[-1][1]:
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


def replace_ranges(connection: sqlite3.Connection, ranges: Iterable[tuple[int, int]]) -> None:
    """Replace all ranges with those of another store. The caller provides the transaction."""
    connection.execute("DELETE FROM range")
    rows = [(first, last, numbers_sum(first, last)) for first, last in ranges]
    connection.executemany("INSERT INTO range VALUES (?, ?, ?)", rows)
