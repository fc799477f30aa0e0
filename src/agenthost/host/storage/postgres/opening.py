"""The opening of a store: its history goes on in a new range of sequence numbers."""

import logging
from collections.abc import Callable, Collection

from agenthost.host.storage import ROOT, Entry, Opening
from agenthost.host.storage.checksums import RowDamaged, is_sound, numbers_sum
from agenthost.host.storage.postgres.connections import Connection
from agenthost.host.storage.postgres.reader import read_root
from agenthost.host.storage.ranges import MAX_RANGES, Ranges

__all__ = ["begin_history", "finish_copy"]

log = logging.getLogger("agenthost.storage")

_OTHERS = "SELECT EXISTS (SELECT FROM living_v1() WHERE id <> $1 AND NOT is_over)"
_TELL = "SELECT pg_notify(channel(), $1)"
_ACTIVE = """SELECT one.number FROM session AS one LEFT JOIN session AS top ON top.number = one.family
    WHERE one.is_active AND is_free_v1(coalesce(top.node, one.node)) ORDER BY 1"""
_NEWEST = "SELECT place, last_seq FROM ledger ORDER BY place DESC LIMIT 1"


async def begin_history(
    connection: Connection, node: int, begin: Callable[[int], int]
) -> tuple[Opening, Ranges, int]:
    """Begin a range, unless other nodes are alive, and read what the store holds.

    Return also the place of this node's first row in the ledger.
    """
    async with connection.transaction():
        await connection.execute("SELECT enter_v1($1)", node)
        place, last_seq = await connection.fetchrow(_NEWEST) or (0, 0)
        if await connection.fetchval(_OTHERS, node):
            # They know of no other range. History goes on, so no number can mean two things.
            start, ranges = last_seq, Ranges(await _read_ranges(connection))
        else:
            start = begin(last_seq)
            ranges = await _begin_range(connection, last_seq, start)
        await connection.execute("INSERT INTO ledger VALUES ($1, $2, $2, $3, 0)", place + 1, start, node)
        await connection.execute(_TELL, f"{place + 1} {node} 0 {start} 0 ||")
        root, root_seq, root_entries = await _read_root(connection, start)
        last_number, count = await connection.fetchrow("SELECT last_number, session_count FROM tally")
        active = await connection.fetch(_ACTIVE)
    opening = Opening(
        last_seq=start,
        last_number=last_number,
        session_count=count,
        active=[number for (number,) in active],
        root=root,
        root_seq=root_seq,
        root_entries=root_entries,
    )
    return opening, ranges, place + 1


async def _read_ranges(connection: Connection) -> list[tuple[int, int]]:
    """Read the ranges, oldest first. Damaged ones are left out, so nobody can resume from there."""
    found = await connection.fetch("SELECT first, last, checksum FROM range ORDER BY first")
    return [(first, last) for first, last, checksum in found if is_sound(checksum, numbers_sum, first, last)]


async def _put_ranges(connection: Connection, ranges: Collection[tuple[int, int]]) -> None:
    """Write ranges. One that is there already is replaced."""
    await connection.executemany(
        """INSERT INTO range VALUES ($1, $2, $3)
        ON CONFLICT (first) DO UPDATE SET last = excluded.last, checksum = excluded.checksum""",
        [(first, last, numbers_sum(first, last)) for first, last in ranges],
    )


async def finish_copy(connection: Connection, ranges: Collection[tuple[int, int]]) -> None:
    """Replace the ranges with those of the store that was copied. From now on the copy can be served."""
    async with connection.transaction():
        await connection.execute("DELETE FROM range")
        await _put_ranges(connection, ranges)
        await connection.execute("UPDATE about SET is_complete = true")


async def _begin_range(connection: Connection, last_seq: int, start: int) -> Ranges:
    """End the newest range at this number, and start another."""
    found = await _read_ranges(connection)
    newest = await connection.fetchval("SELECT max(first) FROM range")
    # As on SQLite: otherwise the newest is damaged. Only an open range ends where it begins.
    if found and found[-1][0] == newest == found[-1][1]:
        found[-1] = (newest, last_seq)
        await _put_ranges(connection, [found[-1]])
    await _put_ranges(connection, [(start, start)])
    await connection.execute(
        "DELETE FROM range WHERE first NOT IN (SELECT first FROM range ORDER BY first DESC LIMIT $1)",
        MAX_RANGES,
    )
    return Ranges([*(one for one in found if one[0] != start), (start, start)][-MAX_RANGES:])


async def _read_root(connection: Connection, seq: int) -> tuple[bytes | None, int, list[Entry]]:
    """Read the root. If it is damaged, start a new one: only the chosen settings are lost."""
    try:
        return await read_root(connection)
    except RowDamaged as damage:
        log.error("the root is damaged (%s); a new one is started, settings are reset", damage)  # noqa: TRY400
    await connection.execute("SELECT raise_floor_v1($1, $2)", ROOT, seq)
    await connection.execute("DELETE FROM snapshot WHERE number = $1", ROOT)
    await connection.execute("UPDATE resource SET state_seq = NULL WHERE number = $1", ROOT)
    return None, 0, []
