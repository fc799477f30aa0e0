"""Connections to PostgreSQL, on an event loop in a thread of its own.

The store's calls block and come from several threads, and the driver needs one event loop. A connection that
raised anything but a refusal of the server is never used again.
"""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, TypeAlias, TypeVar

import asyncpg  # type: ignore[import-untyped]

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.postgres.errors import is_refusal
from agenthost.host.store_address import StoreAddress

__all__ = ["Connection", "LoopThread", "Readers", "connect"]

Connection: TypeAlias = Any
"""A connection of the driver, which has no types."""

T = TypeVar("T")

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 60.0
"""How long the server may take for one statement. A large group over a slow line needs its time."""

IDLE_TRANSACTION = "10s"
"""When the server ends a transaction whose process was stopped in the middle of it."""

MAX_READERS = 4

CLOSING_SECONDS = 0.01
"""How long sockets of connections that were given up have to be closed, before their loop ends."""

_CLOSED = "the store is closed"

_SETTINGS = f"""SET application_name = '{{name}}'; SET search_path = "{{schema}}"; SET jit = off;
    SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION}';
    SET default_transaction_isolation = 'read committed'"""


class LoopThread:
    """An event loop that runs in a thread."""

    def __init__(self, name: str) -> None:
        self._is_closed = False
        self._lock = Lock()
        self._loop = asyncio.new_event_loop()
        # A daemon, as the journal's: a program that never closes its host can exit.
        self._thread = Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, and wait for its result.

        Raises:
            StorageError: the loop is closed, or was closed meanwhile.
        """
        with self._lock:
            if self._is_closed:
                work.close()
                raise StorageError(_CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise StorageError(_CLOSED) from None

    def close(self) -> None:
        """End the thread. Whoever waits for a result is told."""
        with self._lock:
            self._is_closed = True
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(CLOSING_SECONDS)


async def connect(address: StoreAddress, name: str) -> Connection:
    """Connect to the server, under this name, which administrators see."""
    options: dict[str, Any] = {} if address.password is None else {"password": address.password}
    if not address.is_near and "sslmode=" not in address.dsn and not os.environ.get("PGSSLMODE"):
        # The driver would talk without TLS to a server that has none, and believe any certificate.
        options["ssl"] = ssl.create_default_context(cafile=os.environ.get("PGSSLROOTCERT"))
    connection = await asyncpg.connect(
        address.dsn, timeout=CONNECT_SECONDS, command_timeout=COMMAND_SECONDS, **options
    )
    try:
        # Not with the connection: PgBouncer, which is fine in session mode, takes only a few settings there.
        await connection.execute(_SETTINGS.format(name=name, schema=address.schema), timeout=CONNECT_SECONDS)
    except BaseException:
        connection.terminate()
        raise
    return connection


class Readers:
    """A few connections for reading. Any of them can be lost at any time.

    `transaction` are the options of the transactions that everything is done in.
    """

    def __init__(self, new: Callable[[], Awaitable[Connection]], **transaction: Any) -> None:
        self._new = new
        self._transaction = transaction or {"isolation": "repeatable_read", "readonly": True}
        self._idle: list[Connection] = []
        self._is_closed = False
        self._free = asyncio.Semaphore(MAX_READERS)

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do some reading. It is tried again if a connection was lost while nobody used it."""
        async with self._free:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_closed():
                    continue
                try:
                    return await self._use(connection, work)
                except Exception as error:
                    if not connection.is_closed() or isinstance(error, TimeoutError):
                        raise
            return await self._use(await self._new(), work)

    async def _use(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            async with connection.transaction(**self._transaction):
                result = await work(connection)
        except BaseException as error:
            if is_refusal(error) or isinstance(error, RowDamaged):
                self._keep(connection)
            else:
                connection.terminate()
            raise
        self._keep(connection)
        return result

    def _keep(self, connection: Connection) -> None:
        if self._is_closed:
            connection.terminate()
        else:
            self._idle.append(connection)

    async def close(self) -> None:
        """Close them all; those in use, after that."""
        self._is_closed = True
        for one in self._idle:
            with suppress(Exception):
                await one.close(timeout=1)
            one.terminate()  # if the server has ended it meanwhile
        self._idle = []
