"""What nodes ask of the tables about each other: who owns what, and what has happened since."""

from collections.abc import Collection, Mapping, Sequence

from agenthost.host.storage import Entry, SessionRow
from agenthost.host.storage.checksums import RowDamaged, is_sound, message_sum
from agenthost.host.storage.postgres.connections import Connection
from agenthost.host.storage.postgres.reader import read_row, sound_entry
from agenthost.host.storage.reader import decode_text
from agenthost.host.storage.shared import Committed, NodeRow, Progress

__all__ = [
    "claim",
    "read_between",
    "read_ledger",
    "read_nodes",
    "read_owner",
    "read_presence",
    "read_progress",
    "read_removed",
    "read_rows",
    "read_unattended",
    "reserve",
]

_OWNER = """SELECT coalesce(top.node, one.node), is_free_v1(coalesce(top.node, one.node))
    FROM session AS one LEFT JOIN session AS top ON top.number = one.family WHERE one.number = $1"""
_UNATTENDED = """SELECT one.number FROM session AS one LEFT JOIN session AS top ON top.number = one.family
    WHERE one.is_active AND (coalesce(top.node, one.node) = $1 OR is_free_v1(coalesce(top.node, one.node)))
    AND NOT EXISTS (SELECT FROM unnest($2::bigint[]) AS held WHERE held = one.number)
    ORDER BY random() LIMIT $3"""
_BETWEEN = """SELECT seq, resource, envelope, only_for, checksum FROM log
    WHERE resource = ANY ($1::bigint[]) AND seq > $2 AND seq <= $3 ORDER BY seq"""


async def read_owner(connection: Connection, number: int) -> int:
    """Read which node owns a session; 0 if it is free or gone."""
    node, is_free = await connection.fetchrow(_OWNER, number) or (0, True)
    return 0 if is_free else int(node)


async def claim(connection: Connection, me: int, numbers: Collection[int]) -> dict[int, int]:
    """Take sessions that are free. Return the owner of each."""
    return dict(await connection.fetch("SELECT * FROM claim_v1($1, $2)", me, list(numbers)))


async def reserve(
    connection: Connection, me: int, uris: Sequence[str], names: Sequence[str], owner: str
) -> int | str:
    """Reserve the first of these URIs and names. Return the number, or whose is in the way."""
    given, taken_by = await connection.fetchrow(
        "SELECT * FROM reserve_v1($1, $2, $3, $4)",
        me,
        [uri.encode() for uri in uris],
        [name.encode() for name in names],
        owner.encode(),
    )
    return int(given) if given is not None else decode_text(taken_by)


async def read_unattended(
    connection: Connection, me: int, limit: int, held: Collection[int]
) -> list[SessionRow]:
    """Read rows with a turn that no living node owns, or that this one owns and does not hold."""
    found = await connection.fetch(_UNATTENDED, me, list(held), limit)
    rows = [await _row(connection, number) for (number,) in found]
    return [row for row in rows if row is not None]


async def read_rows(connection: Connection, numbers: Collection[int]) -> dict[int, SessionRow]:
    """Read rows of sessions, by their numbers. Damaged ones are left out."""
    rows = [await _row(connection, number) for number in numbers]
    return {row.number: row for row in rows if row is not None}


async def _row(connection: Connection, number: int) -> SessionRow | None:
    try:
        return await read_row(connection, "number", number)
    except RowDamaged:
        return None


async def read_removed(connection: Connection, numbers: Collection[int]) -> list[tuple[int, str, str, bool]]:
    """Read the URIs and owners of sessions that were removed lately."""
    sql = "SELECT number, uri, owner, is_task FROM removed WHERE number = ANY ($1::bigint[])"
    return [
        (number, decode_text(uri), decode_text(owner), is_task)
        for number, uri, owner, is_task in await connection.fetch(sql, list(numbers))
    ]


async def read_between(
    connection: Connection, after: int, up_to: int, resources: Collection[int]
) -> list[Entry]:
    """Read entries of the log between two numbers."""
    return [sound_entry(one) for one in await connection.fetch(_BETWEEN, list(resources), after, up_to)]


async def read_progress(connection: Connection, known: Mapping[int, int]) -> dict[int, Progress]:
    """Read rows and new messages of sessions. Of a transcript that is shorter than known, read all."""
    found: dict[int, Progress] = {}
    for number, count in known.items():
        row = await _row(connection, number)
        if row is None:
            continue
        length = await connection.fetchval(
            "SELECT coalesce(max(position) + 1, 0) FROM message WHERE number = $1", number
        )
        start = count if length >= count else 0
        sql = """SELECT position, body, checksum FROM message WHERE number = $1 AND position >= $2
            ORDER BY position"""
        messages = []
        for position, body, checksum in await connection.fetch(sql, number, start):
            if not is_sound(checksum, message_sum, number, position, body):
                raise RowDamaged(f"message {position} of its transcript")
            messages.append(body)
        found[number] = Progress(row, start, messages)
    return found


async def read_ledger(connection: Connection, after: int) -> list[Committed]:
    """Read the commits after a place."""
    sql = """SELECT place, node, ordinal, base, last_seq - base FROM ledger WHERE place > $1 ORDER BY place"""
    return [Committed(*found) for found in await connection.fetch(sql, after)]


async def read_nodes(connection: Connection) -> list[NodeRow]:
    """Read the nodes that are alive."""
    sql = "SELECT id, name, url, is_leaving, facts FROM node WHERE NOT is_dead ORDER BY id"
    return [NodeRow(*found) for found in await connection.fetch(sql)]


async def read_presence(connection: Connection, after: int) -> tuple[int, list[tuple[int, str, bool]]]:
    """Read the clients whose presence has changed since a place, and the newest place.

    With that place itself: the fence of a node has the place of the commit that follows.
    """
    sql = "SELECT node, identity, is_there, place FROM presence WHERE place >= $1 ORDER BY place"
    found = await connection.fetch(sql, after)
    changes = [(node, decode_text(identity), is_there) for node, identity, is_there, _ in found]
    return max([after, *(one[3] for one in found)]), changes
