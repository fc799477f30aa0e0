"""Migrations: the schema of a host, and what is refused before anything in it is touched."""

import asyncio
import logging
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import numbers_sum
from agenthost.host.storage.postgres.connections import Connection, connect
from agenthost.host.storage.postgres.errors import BELOW, POOLED
from agenthost.host.store_address import StoreAddress

__all__ = ["LEVEL", "VERSION", "prepare"]

log = logging.getLogger("agenthost.storage")

VERSION = 3
LEVEL = 1
"""What this version reads and writes. Servers of several versions share a store at a level that all have."""

FIRST_VERSION = 2
"""The version of tables.sql and functions.sql."""

MIN_SERVER = 14
MAX_CLOCK_SECONDS = 30.0
NOTICE_SECONDS = 3.0
"""How long a connection may take to hear of another one. It is a matter of milliseconds."""

_PROCESS = "SELECT pg_backend_pid()"
_FOLDER = Path(__file__).parent
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('agenthost ' || $1, 0))"
_TABLES = """SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')
    AND relnamespace = to_regnamespace($1)"""
_LACKING = """SELECT relname FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed
    WHERE relkind = 'r' AND relnamespace = to_regnamespace($1)
    AND NOT has_table_privilege(pg_class.oid, needed) LIMIT 1"""


async def prepare(
    address: StoreAddress,
    connection: Connection,
    *,
    check_word: Callable[[str | None], str] | None = None,
    is_copy: bool = False,
) -> None:
    """Check the server and the schema, and create the tables if there are none.

    `check_word` is called with the word that this store has sealed with its secret key, or `None`. It returns
    the one to keep, or raises `StorageError`, and then nothing has changed. With `is_copy`, a store that is
    there already is refused.

    Raises:
        StorageError: what is wrong, and what helps.
    """
    await _check_server(address, connection)
    await _migrate(address, connection, check_word, is_copy=is_copy)


async def _check_server(address: StoreAddress, connection: Connection) -> None:
    """Refuse a server that cannot keep a store, and a connection pool that mixes connections.

    Raises:
        StorageError: what is wrong with it.
    """
    version = connection.get_server_version().major
    if version < MIN_SERVER:
        raise StorageError(f"{address.shown} is PostgreSQL {version}; {MIN_SERVER} or newer is needed")
    if await connection.fetchval("SELECT pg_is_in_recovery()"):
        raise StorageError(f"{address.shown} is a standby, which cannot be written; name the primary")
    await _check_pool(address, connection)
    now = await connection.fetchval("SELECT clock_timestamp()")
    seconds = (now - datetime.now(UTC)).total_seconds()
    if abs(seconds) > MAX_CLOCK_SECONDS:
        log.warning("the clock of the database is %.0f s away from this machine's; check both", seconds)


async def _check_pool(address: StoreAddress, connection: Connection) -> None:
    """Let a connection hear another one while that is in a transaction.

    A pool that gives each transaction another connection would have given away the one that listens.
    """
    channel = f"agenthost_{secrets.token_hex(8)}"
    heard = asyncio.Event()

    def hear(*_: object) -> None:
        heard.set()

    other = await connect(address, "agenthost")
    try:
        async with asyncio.timeout(NOTICE_SECONDS):
            pids = {await connection.fetchval(_PROCESS)}
            await connection.add_listener(channel, hear)
            async with other.transaction():
                await other.execute("SELECT pg_notify($1, '')", channel)
                pids.add(await connection.fetchval(_PROCESS))
            await heard.wait()
            await connection.remove_listener(channel, hear)
    except TimeoutError:
        pids = set()
    finally:
        other.terminate()
    if len(pids) != 1:
        raise StorageError(f"{address.shown} cannot be used: {POOLED}")


async def _migrate(
    address: StoreAddress,
    connection: Connection,
    check_word: Callable[[str | None], str] | None,
    *,
    is_copy: bool,
) -> None:
    place, schema = address.shown, address.schema
    async with connection.transaction():
        await connection.execute(_LOCK, schema)
        tables = {name for (name,) in await connection.fetch(_TABLES, schema)}
        if tables:
            await _check_tables(address, connection, tables, is_copy=is_copy)
            await _upgrade(address, connection)
            await _check_word(connection, check_word)
            return
        try:
            if await connection.fetchval("SELECT to_regnamespace($1)", schema) is None:
                await connection.execute(f'CREATE SCHEMA "{schema}"')
            await _execute(connection, "tables.sql", "functions.sql", *_upgrades_from(FIRST_VERSION))
        except asyncpg.InsufficientPrivilegeError as error:
            role = await _role(address)
            raise StorageError(
                f"{place}: the role {role} may not create the tables ({error}); an administrator can let it: "
                f"CREATE SCHEMA {schema} AUTHORIZATION {role}; nothing was changed"
            ) from None
        written_by = f"agenthost {metadata.version('agenthost')}"
        word = None if check_word is None else check_word(None)
        values = (VERSION, written_by, not is_copy, word)
        sql = (
            "INSERT INTO about (version, written_by, is_complete, sealed, level) VALUES ($1, $2, $3, $4, $5)"
        )
        await connection.execute(sql, *values, LEVEL)
        # Who has seen nothing yet asks for what came after 0.
        await connection.execute("INSERT INTO range VALUES (0, 0, $1)", numbers_sum(0, 0))


async def _execute(connection: Connection, *files: str) -> None:
    for file in files:
        await connection.execute((_FOLDER / file).read_text(encoding="utf-8"))


def _upgrades_from(version: int) -> list[str]:
    return [f"upgrade_{place}.sql" for place in range(version + 1, VERSION + 1)]


async def _upgrade(address: StoreAddress, connection: Connection) -> None:
    """Add what this version needs. Nodes of the version before go on."""
    version = await connection.fetchval("SELECT version FROM about")
    if version >= VERSION:
        return
    try:
        await _execute(connection, *_upgrades_from(version))
    except asyncpg.InsufficientPrivilegeError as error:
        raise StorageError(
            f"{address.shown} has to be upgraded from schema version {version} to {VERSION}, and this role "
            f"may not ({error}); run `agenthost migrate` with the role that owns the tables; nothing was "
            "changed"
        ) from None
    written_by = f"agenthost {metadata.version('agenthost')}"
    await connection.execute("UPDATE about SET version = $1, written_by = $2", VERSION, written_by)
    log.info("%s was upgraded from schema version %d to %d", address.shown, version, VERSION)


async def _check_word(connection: Connection, check_word: Callable[[str | None], str] | None) -> None:
    if check_word is None:
        return
    sealed = await connection.fetchval("SELECT sealed FROM about")
    word = check_word(sealed)
    if word != sealed:
        await connection.execute("UPDATE about SET sealed = $1", word)


async def _role(address: StoreAddress) -> str:
    connection = await connect(address, "agenthost")  # the other one is in a transaction that failed
    try:
        return str(await connection.fetchval("SELECT quote_ident(current_user)"))
    finally:
        connection.terminate()


async def _check_tables(
    address: StoreAddress, connection: Connection, tables: set[str], *, is_copy: bool
) -> None:
    place, schema = address.shown, address.schema
    if not tables >= _all_tables() and not tables >= {"about", "node", "ledger", "session", "log"}:
        raise StorageError(
            f"the schema {schema} of {place} belongs to another program, or has lost tables; name another "
            "one, with ?schema=NAME in the URL; nothing was changed"
        )
    lacking = await connection.fetchval(_LACKING, schema)
    if lacking is not None:
        raise StorageError(
            f"{place}: this role may not read or write the table {schema}.{lacking}; grant it SELECT, "
            "INSERT, UPDATE and DELETE on all tables there, or use the role that owns them"
        )
    about = await connection.fetchrow("SELECT * FROM about")
    version, written_by, is_complete = about["version"], about["written_by"], about["is_complete"]
    # A newer version has only added to the tables, as long as the level is one of ours.
    if about.get("level", LEVEL) > LEVEL:
        raise StorageError(BELOW.format(place=f"{place}, written by {written_by},"))
    if version < FIRST_VERSION:
        raise StorageError(
            f"{place} was written by {written_by} (schema version {version}), before several servers could "
            "share it; copy it to SQLite with that agenthost, and back with this one; nothing was changed"
        )
    if is_copy:
        raise StorageError(
            f"the schema {schema} of {place} has a store already; name another one, with ?schema=NAME in "
            f"the URL, or drop it first: DROP SCHEMA {schema} CASCADE"
        )
    if not is_complete:
        raise StorageError(
            f"a copy into the schema {schema} of {place} was not finished; drop it and copy again: "
            f"DROP SCHEMA {schema} CASCADE"
        )


def _all_tables() -> set[str]:
    sql = (_FOLDER / "tables.sql").read_text(encoding="utf-8")
    return set(re.findall(r"^CREATE TABLE (\w+)", sql, re.MULTILINE))
