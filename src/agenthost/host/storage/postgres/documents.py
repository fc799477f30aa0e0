"""Documents in the store: the list of keys, and the token. Commands change them while a server runs.

A server looks for changes twice a second, on a connection of its own, so that asking for a key never waits
for the database. While the database cannot be reached, what is known stays.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

from agenthost.host.storage.postgres.connections import Connection, LoopThread, connect
from agenthost.host.storage.postgres.errors import translate
from agenthost.host.storage.postgres.migrations import prepare
from agenthost.host.store_address import StoreAddress

__all__ = ["StoredDocument", "StoredDocuments"]

log = logging.getLogger("agenthost.storage")

WATCH_SECONDS = 0.5

_READ = "SELECT data FROM document WHERE name = $1"
_REPLACE = """INSERT INTO document VALUES ($1, $2, 1)
    ON CONFLICT (name) DO UPDATE SET data = excluded.data, version = document.version + 1"""


class StoredDocuments:
    """The documents of a store, on a connection of their own that is made when it is first needed.

    `check_word` is called with the word that the store has sealed, and returns the one to keep; see
    `prepare`. Without it, nothing is checked.
    """

    def __init__(self, address: StoreAddress, check_word: Callable[[str | None], str] | None = None) -> None:
        self.address = address
        self._check_word = check_word
        self._loop: LoopThread | None = None
        self._connection: Connection = None
        self._is_prepared = False
        self._lock = RLock()
        self._watching: asyncio.Task[None] | None = None
        self._known: dict[str, tuple[bytes, int]] | None = None  # once they are watched

    def document(self, name: str) -> "StoredDocument":
        """Return one of them."""
        return StoredDocument(self, name)

    def watch(self) -> None:
        """Read all of them, and look for changes from now on.

        Raises:
            StorageError: they cannot be read.
        """
        self._known = self.call(self._read_all)
        assert self._loop is not None  # noqa: S101
        self._watching = self._loop.run(self._start())

    def close(self) -> None:
        """Close the connection, if there is one. Closing twice is fine."""
        with self._lock:
            loop, self._loop = self._loop, None
            if loop is not None:
                loop.run(self._end())
                loop.close()
            self._known = None

    def call(self, work: Callable[[Connection], Any]) -> Any:
        """Do something with the connection. It is made again if it was lost.

        Raises:
            StorageError: it failed.
        """
        with self._lock:
            if self._loop is None:
                self._loop = LoopThread("agenthost-documents")
            try:
                return self._loop.run(self._call(work))
            except Exception as error:
                raise translate(error, self.address.shown) from error

    async def _call(self, work: Callable[[Connection], Any]) -> Any:
        try:
            return await work(await self._connected())
        except Exception:
            self._drop()
            raise

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self.address, "agenthost")
        if not self._is_prepared:
            await prepare(self.address, self._connection, check_word=self._check_word)
            self._is_prepared = True
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None

    async def _end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None
        self._drop()

    async def _start(self) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(self._watch_for_ever())

    async def _watch_for_ever(self) -> None:
        watching: Connection = None  # its own: the other one may be in a transaction
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                if watching is None or watching.is_closed():
                    watching = await connect(self.address, "agenthost")
                self._known = await self._read_all(watching)
            except asyncio.CancelledError:
                if watching is not None:
                    watching.terminate()
                raise
            except Exception as error:
                log.debug("the keys could not be read again: %s", error)
                if watching is not None:
                    watching.terminate()
                    watching = None

    async def _read_all(self, connection: Connection) -> dict[str, tuple[bytes, int]]:
        found = await connection.fetch("SELECT name, data, version FROM document")
        return {name: (data, version) for name, data, version in found}

    def refresh(self) -> None:
        """Read all of them now, if they are watched."""
        if self._known is not None:
            self._known = self.call(self._read_all)

    def known(self, name: str) -> tuple[bytes, int] | None:
        """Return a document that is watched, and its version.

        Raises:
            LookupError: they are not watched.
        """
        if self._known is None:
            raise LookupError(name)
        return self._known.get(name)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep everybody else from changing documents meanwhile."""

        async def begin(connection: Connection) -> None:
            await connection.execute("BEGIN; LOCK TABLE document IN EXCLUSIVE MODE")

        async def commit(connection: Connection) -> None:
            await connection.execute("COMMIT")

        with self._lock:
            self.call(begin)
            try:
                yield
                self.call(commit)
            except BaseException:
                if self._loop is not None:
                    self._drop_soon(self._loop)
                raise

    def _drop_soon(self, loop: LoopThread) -> None:
        async def drop() -> None:
            self._drop()

        loop.run(drop())


class StoredDocument:
    """A `Document` in a store."""

    def __init__(self, documents: StoredDocuments, name: str) -> None:
        self._documents = documents
        self._name = name

    @property
    def place(self) -> str:
        """The address of the store."""
        return self._documents.address.shown

    def read(self) -> bytes | None:
        """Return what it contains; `None` if there is none."""
        with suppress(LookupError):
            found = self._documents.known(self._name)
            return None if found is None else found[0]

        async def read(connection: Connection) -> Any:
            return await connection.fetchval(_READ, self._name)

        data = self._documents.call(read)
        return None if data is None else bytes(data)

    def replace(self, data: bytes) -> None:
        """Replace what it contains."""

        async def replace(connection: Connection) -> None:
            await connection.execute(_REPLACE, self._name, data)

        self._documents.call(replace)
        self._documents.refresh()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep others from replacing it meanwhile."""
        with self._documents.changing():
            yield

    def stamp(self) -> object:
        """Return its version, as far as it is known."""
        try:
            found = self._documents.known(self._name)
        except LookupError:
            return None
        return None if found is None else found[1]
