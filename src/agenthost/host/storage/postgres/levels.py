"""`agenthost migrate`: upgrades a store without serving it, and says when an upgrade is finished."""

import asyncio
from dataclasses import dataclass

from agenthost.errors import StorageError
from agenthost.host.storage.postgres.connections import connect
from agenthost.host.storage.postgres.errors import translate
from agenthost.host.storage.postgres.migrations import LEVEL, prepare
from agenthost.host.store_address import StoreAddress

__all__ = ["Migrated", "migrate"]


@dataclass(frozen=True, slots=True)
class Migrated:
    """A store after an upgrade.

    Attributes:
        version: that of its tables.
        level: what its servers write; `newest` is what they could write.
        older: the names of the servers that cannot, if the upgrade was to be finished.
    """

    version: int
    level: int
    newest: int
    older: list[str]


def migrate(address: StoreAddress, *, is_finish: bool) -> Migrated:
    """Upgrade a store, or create it. With `is_finish`, let no older server in any more.

    Raises:
        StorageError: it cannot be upgraded; the sentence says why.
    """
    try:
        return asyncio.run(_migrate(address, is_finish=is_finish))
    except StorageError:
        raise
    except Exception as error:
        raise translate(error, address.shown) from error


async def _migrate(address: StoreAddress, *, is_finish: bool) -> Migrated:
    connection = await connect(address, "agenthost")
    try:
        await prepare(address, connection)
        sql = "SELECT id, name, version FROM finish_v1($1)"
        found = await connection.fetch(sql, LEVEL) if is_finish else []
        version, level = await connection.fetchrow("SELECT version, level FROM about")
        return Migrated(version, level, LEVEL, [f"{node} ({name}, {its})" for node, name, its in found])
    finally:
        connection.terminate()
