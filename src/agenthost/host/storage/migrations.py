"""Migrations: the tables of the SQLite store, and the way from older ones to these. Knows no rows.

A file says whose it is by SQLite's `application_id`, and which tables it has by `user_version`. One that is
not ours, is damaged, or comes from a newer agenthost is left as it is.

The tables, from version 1 on:

- `counter`: one row of numbers that have to outlive what they count, rewritten by every commit;
- `session`, `snapshot`, `message`, `content`: small rows apart from large ones, so that a list reads little;
- `log`: the envelopes, by sequence number; `log_index`: the same, by resource, up to `indexed_seq`;
- `receipt` (from version 3 on): which actions of each client were taken, see `Receipt`;
- `range` (from version 4 on, as all `checksum` are): which numbers were given, see `ranges`;
- from version 5 on, `only_for` in `log` is an `Identity.key`;
- `resource`: how much is in the log of each session and of the root, up to `indexed_seq` too, so that
  trimming finds what to remove without looking through the log.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from importlib import metadata
from pathlib import Path

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import (
    content_sum,
    entry_sum,
    message_sum,
    names_sum,
    numbers_sum,
    row_sum,
    snapshot_sum,
)
from agenthost.host.storage.folder import sync_folder

log = logging.getLogger("agenthost.storage")

APPLICATION_ID = 0x41474854  # "AGHT"
MAGIC = b"SQLite format 3\0"

SUMS = {
    "counter": "last_seq, last_number, session_count, entry_count, indexed_seq",
    "session": "number, is_active, summary, private",
    "snapshot": "number, (SELECT state_seq FROM resource WHERE resource.number = snapshot.number), state",
    "message": "number, position, body",
    "content": "content_id, content_type, data",
    "log": "seq, resource, envelope, only_for",
}
"""The tables whose rows have checksums, and what goes into them."""

FUNCTIONS: dict[str, Callable[..., int]] = {
    "counter": numbers_sum,
    "session": row_sum,
    "snapshot": snapshot_sum,
    "message": message_sum,
    "content": content_sum,
    "log": entry_sum,
    "names": names_sum,
    "range": numbers_sum,
}

PROGRESS_SECONDS = 5.0
"""How often a migration that takes long says how far it is."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE written_by (agenthost TEXT NOT NULL)",
        "INSERT INTO written_by VALUES ('')",
        """CREATE TABLE counter (
            last_seq INTEGER NOT NULL,
            last_number INTEGER NOT NULL,
            session_count INTEGER NOT NULL,
            entry_count INTEGER NOT NULL,
            indexed_seq INTEGER NOT NULL
        )""",
        "INSERT INTO counter VALUES (0, 0, 0, 0, 0)",
        """CREATE TABLE session (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            uri TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL UNIQUE,
            owner TEXT NOT NULL,
            is_active INTEGER NOT NULL,
            summary BLOB NOT NULL,
            private BLOB NOT NULL
        )""",
        # Every index ends with the row's own key, so this one is in the order of the list.
        "CREATE INDEX session_by_owner ON session (owner)",
        "CREATE INDEX session_active ON session (number) WHERE is_active",
        "CREATE TABLE snapshot (number INTEGER PRIMARY KEY, state BLOB NOT NULL)",
        """CREATE TABLE message (
            number INTEGER NOT NULL,
            position INTEGER NOT NULL,
            body BLOB NOT NULL,
            UNIQUE (number, position)
        )""",
        # The index is apart from the rows: to find one, or all of a session, no data is read.
        """CREATE TABLE content (
            number INTEGER NOT NULL,
            content_id TEXT NOT NULL,
            content_type TEXT NOT NULL,
            data BLOB NOT NULL,
            UNIQUE (number, content_id)
        )""",
        """CREATE TABLE log (
            seq INTEGER PRIMARY KEY,
            resource INTEGER NOT NULL,
            envelope BLOB NOT NULL,
            only_for TEXT
        )""",
        # An index in all but name: SQLite would keep a real one at each commit (see `indexing`).
        """CREATE TABLE log_index (
            resource INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (resource, seq)
        ) WITHOUT ROWID""",
        # `first` is the lowest number in the log; `floor` the highest that was removed from it.
        """CREATE TABLE resource (
            number INTEGER PRIMARY KEY,
            state_seq INTEGER,
            entry_count INTEGER NOT NULL DEFAULT 0,
            first INTEGER,
            floor INTEGER NOT NULL DEFAULT 0
        )""",
        "INSERT INTO resource (number) VALUES (0)",
        # Only resources of which something can go: the others never stand in the way of trimming.
        "CREATE INDEX resource_longest ON resource (entry_count) WHERE first <= state_seq",
        "CREATE INDEX resource_oldest ON resource (first) WHERE first <= state_seq",
    ),
    # The same tables, but a run of text is one list in the log: whoever knows only lines must not read it.
    (),
    (
        """CREATE TABLE receipt (
            identity TEXT NOT NULL,
            slot INTEGER NOT NULL,
            client_seq INTEGER NOT NULL,
            digest BLOB NOT NULL,
            seq INTEGER,
            PRIMARY KEY (identity, slot)
        ) WITHOUT ROWID""",
        # The newest come last, so keeping it costs little; trimming finds the oldest by it.
        "CREATE INDEX receipt_by_seq ON receipt (seq)",
    ),
    (
        *(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0" for table in SUMS),
        *(f"UPDATE {table} SET checksum = {table}_sum({columns})" for table, columns in SUMS.items()),  # noqa: S608
        "ALTER TABLE session ADD COLUMN names_checksum INTEGER NOT NULL DEFAULT 0",
        "UPDATE session SET names_checksum = names_sum(number, uri, name, owner)",
        # Every commit that trims writes it: as a complement, SQL can compute it.
        "ALTER TABLE resource ADD COLUMN floor_check INTEGER NOT NULL DEFAULT -1",
        "UPDATE resource SET floor_check = ~floor",
        "CREATE TABLE range (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, checksum INTEGER NOT NULL)",
        "INSERT INTO range SELECT 0, last_seq, range_sum(0, last_seq) FROM counter",
    ),
    # Refusals were kept for a client's id, whatever its owner, and whole, with secrets in them. So they go,
    # and whoever was away since before gets a fresh view.
    (
        """UPDATE resource SET floor = (SELECT last_seq FROM counter),
            floor_check = ~(SELECT last_seq FROM counter)
            WHERE number IN (SELECT resource FROM log WHERE only_for IS NOT NULL)""",
        "DELETE FROM log_index WHERE seq IN (SELECT seq FROM log WHERE only_for IS NOT NULL)",
        "DELETE FROM log WHERE only_for IS NOT NULL",
        """UPDATE resource SET
            entry_count = (SELECT count(*) FROM log_index WHERE resource = number),
            first = (SELECT min(seq) FROM log_index WHERE resource = number)
            WHERE floor = (SELECT last_seq FROM counter)""",
        "UPDATE counter SET entry_count = (SELECT count(*) FROM log)",
        f"UPDATE counter SET checksum = counter_sum({SUMS['counter']})",  # noqa: S608
    ),
)

VERSION = len(MIGRATIONS)
TABLES = {
    "written_by",
    "counter",
    "session",
    "snapshot",
    "message",
    "content",
    "log",
    "log_index",
    "resource",
    "receipt",
    "range",
}


def check_file(path: Path) -> None:
    """Refuse what is not a database, before SQLite sees it: it would take an empty file for a new one."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            begins_well = file.read(len(MAGIC)) == MAGIC
        wal = path.with_name(path.name + "-wal")
        lost_its_file = size == 0 and wal.exists() and wal.stat().st_size > 0
    except OSError as error:
        raise StorageError(f"{path} cannot be read ({error.strerror}); check who may read it") from error
    if lost_its_file:
        raise StorageError(f"{path} is empty, but {wal.name} beside it is not; restore a backup of both")
    if size and not begins_well:
        raise StorageError(
            f"{path} is not a database of agenthost, or its beginning is damaged; restore a backup of it, "
            "or move it away to begin anew; it was not changed"
        )


def migrate(
    connection: sqlite3.Connection, path: Path, prepare: Callable[[sqlite3.Connection], None] = lambda _: None
) -> None:
    """Bring the tables to this version, in one transaction; do nothing where they are.

    A copy of a store of an older version is kept beside it, as the agenthost that wrote it can read it.

    `prepare` is called once the file is known to be ours, before it is changed.

    Raises:
        StorageError: the file belongs to another program, is damaged, or has a newer version.
    """
    version = version_of(connection, path)
    prepare(connection)
    if 0 < version < VERSION:
        _keep_copy(connection, path, version)
    if version < VERSION:
        add_functions(connection)
        _run(connection, version)
    missing = TABLES - _tables(connection)
    if missing:
        raise StorageError(
            f"{path} is damaged: it has no table {', '.join(sorted(missing))}; restore a backup of it, "
            "or move it away to begin anew"
        )


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Give the version of the tables: 0 for a new file."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    is_new = owner == version == 0 and not _tables(connection)
    if owner != APPLICATION_ID and not is_new:
        raise StorageError(f"{path} belongs to another program; name another folder; it was not changed")
    if version > VERSION:
        raise StorageError(
            f"{path} was written by {_writer(connection)} (schema version {version}), and this one knows "
            f"versions up to {VERSION}; use that agenthost or a newer one; nothing was changed"
        )
    return version


def _keep_copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Keep a store as it is under another name; what an earlier attempt left there goes."""
    copy = path.with_name(f"{path.stem}.v{version}{path.suffix}")
    log.warning("the store has schema version %d, this is %d: it is kept as %s", version, VERSION, copy)
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(copy)) as target:
        connection.backup(target)
    sync_folder(copy.parent)


def add_functions(connection: sqlite3.Connection) -> None:
    """Let SQL compute checksums; where that takes long, say how far it is."""
    done, told = 0, time.monotonic()

    def counting(function: Callable[..., int]) -> Callable[..., int]:
        def checksum(*values: object) -> int:
            nonlocal done, told
            done += 1
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                log.warning("the store is brought to schema version %d: %d rows are done", VERSION, done)
            return function(*values)

        return checksum

    for name, function in FUNCTIONS.items():
        connection.create_function(f"{name}_sum", -1, counting(function), deterministic=True)


def _run(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute("UPDATE written_by SET agenthost = ?", (_our_version(),))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _writer(connection: sqlite3.Connection) -> str:
    """Name the agenthost that made these tables; a newer one may have stopped saying so."""
    try:
        found = connection.execute("SELECT agenthost FROM written_by").fetchone()
    except sqlite3.OperationalError:
        found = None
    return f"agenthost {found[0]}" if found else "a newer agenthost"


def _our_version() -> str:
    try:
        return metadata.version("agenthost")
    except metadata.PackageNotFoundError:  # run from a folder that nobody installed
        return "of unknown version"
