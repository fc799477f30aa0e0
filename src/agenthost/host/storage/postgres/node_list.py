"""The list of nodes, for people. Looking at it makes nobody a node, and changes nothing in the store."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from agenthost.errors import StorageError
from agenthost.host.storage.postgres.connections import Connection, connect
from agenthost.host.storage.postgres.errors import translate
from agenthost.host.store_address import StoreAddress

__all__ = ["ListedNode", "ask_to_leave", "list_nodes"]

T = TypeVar("T")

_NODES = """SELECT node.id, node.name, node.url, node.version, node.level,
        CASE WHEN is_dead THEN 'dead' WHEN is_over THEN 'silent' WHEN is_leaving THEN 'leaving'
            ELSE 'alive' END,
        (SELECT count(*) FROM session WHERE session.node = node.id AND parent = 0),
        extract(epoch FROM clock_timestamp() - node.since)::float8,
        extract(epoch FROM clock_timestamp() - node.beat)::float8
    FROM node LEFT JOIN living_v1() AS living ON living.id = node.id
    WHERE $1 OR NOT is_dead ORDER BY node.id"""


@dataclass(frozen=True, slots=True)
class ListedNode:
    """A node as the store has it.

    Attributes:
        id: the number of this run; a server that is started again has another one.
        name: the machine and the process.
        url: where other nodes reach it.
        version: that of agenthost.
        level: what it reads and writes; see `migrations.LEVEL`.
        state: `alive`, `leaving` (it gives its sessions away), `silent` (others are about to take over) or
            `dead`.
        sessions: how many sessions it owns.
        up_seconds: since when it has been there.
        beat_seconds: how long ago it last said that it is alive.
    """

    id: int
    name: str
    url: str
    version: str
    level: int
    state: str
    sessions: int
    up_seconds: float
    beat_seconds: float


def list_nodes(address: StoreAddress, *, with_dead: bool = False) -> list[ListedNode]:
    """Return the nodes of a store, oldest first.

    Raises:
        StorageError: they cannot be read; the sentence says why.
    """
    return _run(address, lambda connection: _list(connection, with_dead=with_dead))


def ask_to_leave(address: StoreAddress, node: int) -> None:
    """Tell a node to let its turns end, and to stop. It does not hear of it while its connection is lost.

    Raises:
        StorageError: it cannot be told; the sentence says why.
    """
    _run(address, lambda connection: connection.execute("SELECT pg_notify(channel(), $1)", f"drain {node}"))


def _run(address: StoreAddress, work: Callable[[Connection], Awaitable[T]]) -> T:
    try:
        return asyncio.run(_connected(address, work))
    except StorageError:
        raise
    except Exception as error:
        raise translate(error, address.shown) from error


async def _connected(address: StoreAddress, work: Callable[[Connection], Awaitable[T]]) -> T:
    connection = await connect(address, "agenthost")
    try:
        if await connection.fetchval("SELECT to_regclass('node') IS NULL OR to_regclass('about') IS NULL"):
            raise StorageError(
                f"there is no host in the schema {address.schema} of {address.shown} yet; the first server "
                "that is started on it makes one"
            )
        return await work(connection)
    finally:
        connection.terminate()


async def _list(connection: Connection, *, with_dead: bool) -> list[ListedNode]:
    return [ListedNode(*found) for found in await connection.fetch(_NODES, with_dead)]
