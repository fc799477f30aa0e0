"""Where the host that is killed keeps its data: in a folder, or in a database."""

import base64
import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from agenthost.host.storage import Storage
from agenthost.host.storage.sqlite import SqliteStorage
from crash.checks import demand

SECRET_KEY = base64.urlsafe_b64encode(hashlib.sha256(b"crash").digest()).decode()


class Place(Protocol):
    """One of them. `url` is that of the database, if it is one."""

    url: str | None

    def store(self) -> Storage:
        """Return the store, while no host uses it."""

    def copied(self) -> Any:
        """Give a copy of it, so that the next life finds the store just as the kill left it."""

    def check(self) -> None:
        """Check what no session tells."""


class Folder:
    """SQLite in a folder."""

    url = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"

    def store(self) -> Storage:
        return SqliteStorage(self._data)

    @contextmanager
    def copied(self) -> Iterator[Storage]:
        with tempfile.TemporaryDirectory(dir=self._folder) as copy:
            data = Path(copy) / "data"
            if self._data.exists():
                shutil.copytree(self._data, data)
            yield SqliteStorage(data)

    def check(self) -> None:
        """Let SQLite look at every page."""
        storage: Any = SqliteStorage(self._data)
        storage.open()
        try:
            verdict = storage._writer.execute("PRAGMA integrity_check").fetchall()
            demand(verdict == [("ok",)], "SQLite says", verdict)
        finally:
            storage.close()


class Database:
    """A database of a PostgreSQL server, which `databases` makes."""

    def __init__(self, server: Any, make: Any) -> None:
        self._server = server
        self._make = make
        server.execute("CREATE DATABASE crash")
        self.url = server.url(database="crash")

    def store(self) -> Storage:
        made: Storage = self._make(self.url)
        return made

    @contextmanager
    def copied(self) -> Iterator[Storage]:
        """Give a copy in which nobody is alive."""
        self._wait_left()
        self._server.execute("CREATE DATABASE copied TEMPLATE crash")
        try:
            if self._server.execute("SELECT to_regnamespace('agenthost')::text", database="copied"):
                self._server.execute("UPDATE agenthost.node SET is_dead = true", database="copied")
            yield self._make(self._server.url(database="copied"))
        finally:
            self._server.execute("DROP DATABASE copied WITH (FORCE)")

    def _wait_left(self) -> None:
        """Wait until the server has noticed that the host is dead."""
        deadline = time.monotonic() + 10
        while self._server.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = 'crash'"):
            demand(time.monotonic() < deadline, "connections of a dead host are still there")
            time.sleep(0.02)

    def check(self) -> None:
        """Look for a number that was given twice."""
        overlaps = """SELECT count(*) FROM (SELECT base - lag(last_seq) OVER (ORDER BY place) AS gap
            FROM agenthost.ledger) AS gaps WHERE gap < 0"""
        count = self._server.execute(overlaps, database="crash")
        demand(count == 0, "numbers were given twice:", count)
