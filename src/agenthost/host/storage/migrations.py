"""Migrations: the tables of the SQLite store, and how older versions become this one.

SQLite's `application_id` tells whose file it is, and `user_version` which tables it has. A file that is not
ours, is damaged, or comes from a newer agenthost is left unchanged.

The tables, since version 1 unless stated otherwise:

- `counter`: one row of numbers that outlive what they count, rewritten by every commit;
- `session`, `snapshot`, `message`, `content`: small rows apart from large ones, so that a list reads little;
- `log`: the envelopes, by sequence number; `log_index`: the same by resource, up to `indexed_seq`;
- `resource`: the length of the log of each session and of the root, up to `indexed_seq`, so that trimming
  finds what to remove without scanning the log;
- `receipt` (since version 3): which actions of each client were accepted, see `Receipt`;
- `range` (since version 4, like most checksums): which sequence numbers were assigned, see `ranges`;
- `only_for` in `log` is an `Identity.key` since version 5;
- since version 6 rows of `receipt` have a `checksum`, `session` has the length of its transcript
  (`message_count`), and `resource` and `counter` have sums over the numbers in the log.

With version `UPGRADED` there is `client`, and what is in the other tables got another form: see `upgrade`.
With version `UNNUMBERED` the envelopes that are added to `log` do not contain their numbers any more, but
older ones still do: see `log.entries`.
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
    former_entry_sum,
    former_message_sum,
    former_row_sum,
    is_sound,
    message_sum,
    names_sum,
    numbers_sum,
    receipt_sum,
    row_sum,
    snapshot_sum,
)
from agenthost.host.storage.data_folder import sync_folder
from agenthost.host.storage.index import INDEX_SUM
from agenthost.host.storage.upgrade import upgrade_contents

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
"""The tables whose rows have checksums since version 4, and the values that these covered then."""

FUNCTIONS: dict[str, Callable[..., int]] = {
    "counter": numbers_sum,
    "session": row_sum,
    "snapshot": snapshot_sum,
    "message": message_sum,
    "content": content_sum,
    "log": entry_sum,
    "names": names_sum,
    "range": numbers_sum,
    "receipt": receipt_sum,
}

FORMER: dict[str, Callable[..., int]] = {
    "log": former_entry_sum,
    "message": former_message_sum,
    "session": former_row_sum,
}
"""The tables whose rows had other checksums at first."""

PROGRESS_SECONDS = 5.0
"""How often a long migration logs its progress."""

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
        # SQLite adds the primary key to every index, so this one has the order of the list.
        "CREATE INDEX session_by_owner ON session (owner)",
        "CREATE INDEX session_active ON session (number) WHERE is_active",
        "CREATE TABLE snapshot (number INTEGER PRIMARY KEY, state BLOB NOT NULL)",
        """CREATE TABLE message (
            number INTEGER NOT NULL,
            position INTEGER NOT NULL,
            body BLOB NOT NULL,
            UNIQUE (number, position)
        )""",
        # The index is separate from the rows: finding one, or all of a session, reads no data.
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
        # An index in all but name: SQLite would update a real one at each commit (see `index`).
        """CREATE TABLE log_index (
            resource INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (resource, seq)
        ) WITHOUT ROWID""",
        # `first` is the lowest number in the log, `floor` the highest that was removed from it.
        """CREATE TABLE resource (
            number INTEGER PRIMARY KEY,
            state_seq INTEGER,
            entry_count INTEGER NOT NULL DEFAULT 0,
            first INTEGER,
            floor INTEGER NOT NULL DEFAULT 0
        )""",
        "INSERT INTO resource (number) VALUES (0)",
        # Partial indexes: only resources with entries that may be removed.
        "CREATE INDEX resource_longest ON resource (entry_count) WHERE first <= state_seq",
        "CREATE INDEX resource_oldest ON resource (first) WHERE first <= state_seq",
    ),
    # The same tables, but a run of text is now one list in the log, which version 1 cannot read.
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
        # New rows come at its end, so it is cheap to maintain. Trimming uses it to find the oldest.
        "CREATE INDEX receipt_by_seq ON receipt (seq)",
    ),
    (
        *(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0" for table in SUMS),
        *(f"UPDATE {table} SET checksum = {table}_sum({columns})" for table, columns in SUMS.items()),  # noqa: S608
        "ALTER TABLE session ADD COLUMN names_checksum INTEGER NOT NULL DEFAULT 0",
        "UPDATE session SET names_checksum = names_sum(number, uri, name, owner)",
        # A complement instead of a CRC: SQL can compute it when it trims.
        "ALTER TABLE resource ADD COLUMN floor_check INTEGER NOT NULL DEFAULT -1",
        "UPDATE resource SET floor_check = ~floor",
        "CREATE TABLE range (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, checksum INTEGER NOT NULL)",
        "INSERT INTO range SELECT 0, last_seq, range_sum(0, last_seq) FROM counter",
    ),
    # Refusals were stored for a client id, whatever its owner, and complete, with secrets in them. They are
    # removed, and clients that were away since before get a fresh view.
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
    # Checksums and sums for what had none, or could be lost unnoticed.
    (
        *(
            f"UPDATE {table} SET checksum = {table}_sum({SUMS[table]}) "  # noqa: S608
            f"WHERE had_former_sum('{table}', checksum, {SUMS[table]})"
            for table in FORMER
        ),
        "ALTER TABLE receipt ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        "UPDATE receipt SET checksum = receipt_sum(identity, slot, client_seq, digest, seq)",
        "ALTER TABLE session ADD COLUMN message_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE session ADD COLUMN message_check INTEGER NOT NULL DEFAULT -1",
        """UPDATE session SET
            message_count = (SELECT count(*) FROM message WHERE message.number = session.number)""",
        "UPDATE session SET message_check = ~message_count",
        "ALTER TABLE resource ADD COLUMN index_sum INTEGER NOT NULL DEFAULT 0",
        f"UPDATE resource SET index_sum = (SELECT {INDEX_SUM} FROM log_index WHERE resource = number)",  # noqa: S608
        "ALTER TABLE counter ADD COLUMN newest_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE counter ADD COLUMN newest_sum INTEGER NOT NULL DEFAULT 0",
        """UPDATE counter SET newest_count = (SELECT count(*) FROM log WHERE seq > indexed_seq),
            newest_sum = (SELECT coalesce(sum(resource), 0) FROM log WHERE seq > indexed_seq)""",
        f"UPDATE counter SET checksum = counter_sum({SUMS['counter']}, newest_count, newest_sum)",  # noqa: S608
    ),
    # Sessions have chats now, which older versions cannot read: see `_run`. `client` has the protocol version
    # that was agreed with each client, for when it comes back; the newest rows have the highest numbers.
    (
        """CREATE TABLE client (
            place INTEGER PRIMARY KEY,
            identity TEXT NOT NULL UNIQUE,
            version TEXT NOT NULL
        )""",
    ),
    # A further chat has a row of its own, with the number of its session. Sessions keep their checksums.
    (
        "ALTER TABLE session ADD COLUMN parent INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX session_by_parent ON session (parent) WHERE parent > 0",
    ),
    # The same tables, but the envelopes that are added to the log do not contain their numbers.
    (),
)

VERSION = len(MIGRATIONS)

CHECKED = 6
"""Since this version, every row that `integrity` checks has a checksum."""

UPGRADED = 7
"""Since this version, everything in the tables is in a form that is read now."""

UNNUMBERED = 9
"""Since this version, new envelopes in the log do not contain their sequence numbers."""

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
    "client",
}


def check_file(path: Path) -> None:
    """Refuse a file that is no database before SQLite opens it: it takes an empty file for a new one."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            begins_well = file.read(len(MAGIC)) == MAGIC
        wal = path.with_name(path.name + "-wal")
        lost_its_file = size == 0 and wal.exists() and wal.stat().st_size > 0
    except OSError as error:
        raise StorageError(f"{path} cannot be read ({error.strerror}); check who may read it") from error
    if lost_its_file:
        raise StorageError(f"{path} is empty, but {wal.name} next to it is not; restore a backup of both")
    if size and not begins_well:
        raise StorageError(
            f"{path} is not a database of agenthost, or its beginning is damaged; restore a backup, "
            "or move it away to start over; it was not changed"
        )


def migrate(
    connection: sqlite3.Connection, path: Path, prepare: Callable[[sqlite3.Connection], None] = lambda _: None
) -> None:
    """Bring the tables to this version, in one transaction; do nothing if they are.

    Before that, a copy of the older store is made next to it, for the agenthost that wrote it.

    `prepare` is called once the file is known to be ours, before it is changed.

    Raises:
        StorageError: the file belongs to another program, is damaged, or has a newer version.
    """
    version = schema_version(connection, path)
    prepare(connection)
    if 0 < version < VERSION:
        _keep_copy(connection, path, version)
    if version < VERSION:
        add_functions(connection)
        _run(connection, version)
    missing = TABLES - _tables(connection)
    if missing:
        raise StorageError(
            f"{path} is damaged: it has no table {', '.join(sorted(missing))}; restore a backup, "
            "or move it away to start over"
        )


def schema_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables; 0 for a new file."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    is_new = owner == version == 0 and not _tables(connection)
    if owner != APPLICATION_ID and not is_new:
        raise StorageError(f"{path} belongs to another program; name another folder; it was not changed")
    if version > VERSION:
        raise StorageError(
            f"{path} was written by {_writer(connection)} (schema version {version}), and this one supports "
            f"versions up to {VERSION}; use that agenthost or a newer one; nothing was changed"
        )
    return version


def _keep_copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Copy a store to another name, replacing the copy of an earlier attempt."""
    copy = path.with_name(f"{path.stem}.v{version}{path.suffix}")
    log.warning("the store is migrated from schema version %d to %d; copied to %s", version, VERSION, copy)
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(copy)) as target:
        connection.backup(target)
    sync_folder(copy.parent)


def add_functions(connection: sqlite3.Connection) -> None:
    """Let SQL compute checksums. A long run logs its progress."""
    done, reported = 0, time.monotonic()

    def counting(function: Callable[..., int]) -> Callable[..., int]:
        def checksum(*values: object) -> int:
            nonlocal done, reported
            done += 1
            if time.monotonic() - reported >= PROGRESS_SECONDS:
                reported = time.monotonic()
                log.warning("migrating the store to schema version %d: %d rows done", VERSION, done)
            return function(*values)

        return checksum

    for name, function in FUNCTIONS.items():
        connection.create_function(f"{name}_sum", -1, counting(function), deterministic=True)
    connection.create_function("had_former_sum", -1, _had_former_sum, deterministic=True)


def _had_former_sum(table: str, checksum: object, *values: object) -> bool:
    return is_sound(checksum, FORMER[table], *values)


def _run(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            for statement in statements:
                connection.execute(statement)
            if number == UPGRADED and version > 0:  # a new store is empty
                upgrade_contents(connection)
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
    """Name the agenthost that wrote these tables. A newer one may no longer record it."""
    try:
        found = connection.execute("SELECT agenthost FROM written_by").fetchone()
    except sqlite3.OperationalError:
        found = None
    return f"agenthost {found[0]}" if found else "a newer agenthost"


def _our_version() -> str:
    try:
        return metadata.version("agenthost")
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return "of unknown version"
