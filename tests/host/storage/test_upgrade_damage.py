"""Damage in a store that is upgraded: one session is refused, the others live on. Real files, `kill -9`."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agenthost.core.legacy.summaries import project_listed
from agenthost.errors import Damaged, StorageError
from agenthost.host.storage import legacy_form, upgrade
from agenthost.host.storage.checksums import snapshot_sum
from agenthost.host.storage.integrity import examine
from agenthost.host.storage.migrations import SUMS, VERSION, add_functions
from agenthost.host.storage.repair import repair
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from agenthost.wire.json import decode_json
from old_stores import select, unpack
from storing import dense_store

FLIPS = 40

LONG = 3
"""The number of `demo:/long`, which has a log after its snapshot."""

LOSE_NEWEST = "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log WHERE resource = 3)"
"""Of the newest entries: nobody knows whose it was."""


LOSE_INDEXED = "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log_index WHERE resource = 1)"


def change(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as store, store:
        assert store.execute(sql).rowcount == 1


@pytest.mark.parametrize(
    ("number", "sql"),
    [
        (3, "UPDATE snapshot SET state = substr(state, 2) WHERE number = 3"),
        (3, "UPDATE snapshot SET state = x'7B7D' WHERE number = 3"),
        (3, "DELETE FROM snapshot WHERE number = 3"),
        (3, "UPDATE resource SET state_seq = state_seq - 1 WHERE number = 3"),
        (3, "DELETE FROM resource WHERE number = 3"),
        (3, LOSE_NEWEST.replace("DELETE FROM log", "UPDATE log SET envelope = x'7B7D'", 1)),
        (1, LOSE_INDEXED),
        (1, LOSE_INDEXED.replace("DELETE FROM log", "DELETE FROM log_index", 1)),
        (1, LOSE_INDEXED.replace("DELETE FROM log", "UPDATE log SET envelope = x'7B7D'", 1)),
    ],
)
def test_a_session_that_cannot_be_read_is_refused_and_the_others_are_upgraded(
    tmp_path: Path, number: int, sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen = unpack(6, tmp_path)
    change(tmp_path, sql)
    store = dense_store(tmp_path)
    store.open()
    for other in set(range(1, 16)) - {number}:
        assert store.load(other) is not None
    with pytest.raises(Damaged, match=rf"session number {number} is damaged on the disk"):
        store.load(number)
    rows = store.list(owner=None, before=None, limit=99)
    assert [project_listed(decode_json(row.summary)) for row in rows] == seen["list"]
    store.close()
    assert sum("could not be upgraded" in line for line in caplog.messages) == 1
    assert [*examine(tmp_path / FILE, is_deep=True).damaged] == [number]


@pytest.mark.parametrize("column", ["summary = x'7B7E'", "private = x'7B7E'", "owner = 'bob'"])
def test_a_row_that_is_damaged_stays_damaged(tmp_path: Path, column: str) -> None:
    unpack(6, tmp_path)
    change(tmp_path, f"UPDATE session SET {column} WHERE number = {LONG}")  # noqa: S608
    before = select(tmp_path, f"SELECT * FROM session WHERE number = {LONG}")  # noqa: S608
    store = dense_store(tmp_path)
    store.open()
    assert len(store.list(owner=None, before=None, limit=99)) == 14
    with pytest.raises(Damaged):
        store.load(LONG)
    store.close()
    (row,) = select(tmp_path, f"SELECT * FROM session WHERE number = {LONG}")  # noqa: S608
    assert [row[:-1]] == before  # and the column that is new since


def test_a_damaged_message_is_found_after_the_upgrade_too(tmp_path: Path) -> None:
    unpack(6, tmp_path)
    change(tmp_path, "UPDATE message SET body = x'7B7D' WHERE number = 2 AND position = 0")
    store = dense_store(tmp_path)
    store.open()
    with pytest.raises(Damaged):
        store.load(2)
    store.close()


def test_a_session_that_no_upgrade_understands_is_refused_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unpack(6, tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        for number, state in ((1, b'{"turns": [{"id": 1}], "lifecycle": "ready"}'), (2, b"[]")):
            (seq,) = file.execute("SELECT state_seq FROM resource WHERE number = ?", (number,)).fetchone()
            checksum = snapshot_sum(number, seq, state)
            sql = "UPDATE snapshot SET state = ?, checksum = ? WHERE number = ?"
            file.execute(sql, (state, checksum, number))
    store = dense_store(tmp_path)
    assert store.open().session_count == 15
    for number in (1, 2):
        with pytest.raises(Damaged):
            store.load(number)
    assert store.load(LONG) is not None
    store.close()
    assert sum("could not be upgraded" in line for line in caplog.messages) == 2
    state, checksum = select(tmp_path, "SELECT state, checksum FROM snapshot WHERE number = 2")[0]
    assert (state, checksum < 0) == (b"[]", True)


def test_a_damaged_root_starts_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    unpack(6, tmp_path)
    change(tmp_path, "UPDATE snapshot SET state = x'7B7D' WHERE number = 0")
    store = dense_store(tmp_path)
    opening = store.open()
    assert (opening.root, opening.root_entries, opening.session_count) == (None, [], 15)
    assert store.floor([0]) == opening.last_seq
    store.close()
    assert sum("a new one is started" in line for line in caplog.messages) == 1
    assert examine(tmp_path / FILE, is_deep=True).is_sound


def test_a_store_that_cannot_be_upgraded_is_upgraded_by_a_repair(tmp_path: Path) -> None:
    unpack(6, tmp_path)
    change(tmp_path, LOSE_NEWEST)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StorageError, match=r"one of the newest entries of its log is lost.*doctor --repair"):
        dense_store(tmp_path).open()
    assert (tmp_path / FILE).read_bytes() == before
    report = examine(tmp_path / FILE, is_deep=True)
    assert (report.is_sound, report.version) == (False, 6)
    assert repair(report).sessions == 15
    again = examine(tmp_path / FILE, is_deep=True)
    assert (again.is_sound, again.version) == (True, VERSION)
    store = SqliteStorage(tmp_path)
    assert store.open().session_count == 15
    stored = store.load(1)
    assert stored is not None
    assert decode_json(stored.state)["chat"]["turns"]
    store.close()


def readable(store: SqliteStorage) -> dict[str, object]:
    """Return all that a store serves of its sessions; what it refuses is left out."""
    rows = store.list(owner=None, before=None, limit=99)
    found: dict[str, object] = {f"list {row.number}": row.summary for row in rows}
    for number in range(1, 16):
        with suppress(Damaged):
            found[f"load {number}"] = store.load(number)
    return found


def test_no_flipped_bit_makes_an_upgrade_return_wrong_data(tmp_path: Path) -> None:
    unpack(6, tmp_path)
    sound = (tmp_path / FILE).read_bytes()
    store = dense_store(tmp_path)
    store.open()
    truth = readable(store)
    store.close()
    chance = random.Random(11)  # noqa: S311
    outcomes = {"whole": 0, "in part": 0, "refused": 0}
    for flip in range(FLIPS):
        place, bit = chance.randrange(100, len(sound)), 1 << chance.randrange(8)
        folder = tmp_path / f"{flip}"
        folder.mkdir()
        (folder / FILE).write_bytes(sound[:place] + bytes([sound[place] ^ bit]) + sound[place + 1 :])
        store = dense_store(folder)
        try:
            store.open()
            found = readable(store)
        except StorageError:
            outcomes["refused"] += 1
            continue
        finally:
            store.close()
        wrong = {name for name, value in found.items() if value != truth[name]}
        assert not wrong, f"byte {place}, bit {bit}: {wrong}"
        outcomes["whole" if found.keys() == truth.keys() else "in part"] += 1
    assert outcomes["in part"] > FLIPS // 10, outcomes


@pytest.mark.parametrize("error", [MemoryError(), sqlite3.OperationalError("the disk is full")])
def test_an_error_that_is_not_about_a_session_stops_the_upgrade(
    tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack(6, tmp_path)
    before = (tmp_path / FILE).read_bytes()

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(upgrade, "upgraded_session", fail)
    with pytest.raises((MemoryError, StorageError)):
        dense_store(tmp_path).open()
    assert (tmp_path / FILE).read_bytes() == before
    monkeypatch.setattr(upgrade, "upgraded_session", legacy_form.upgraded_session)
    store = dense_store(tmp_path)
    assert store.open().session_count == 15
    store.close()


# Opens a store, which upgrades it, and ends as soon as the log says this.
OPEN = """
import logging, os, signal, sys
from pathlib import Path
from agenthost.host.storage import upgrade
from storing import dense_store

class Killer(logging.Handler):
    def emit(self, record):
        if sys.argv[2] in record.getMessage():
            os.kill(os.getpid(), signal.SIGKILL)

upgrade.PROGRESS_SECONDS = 0
upgrade.log.addHandler(Killer())
upgrade.log.setLevel(logging.INFO)
dense_store(Path(sys.argv[1])).open()
"""


def multiply(folder: Path, times: int) -> None:
    """Add copies of all sessions to a store, so that its upgrade takes a while."""
    tables = {
        "session": "number + :add, uri || :add, name || :add, owner, is_active, summary, private, 0, 0, "
        "message_count, message_check",
        "snapshot": "number + :add, state, 0",
        "resource": "number + :add, state_seq, 0, NULL, floor, floor_check, 0",
    }
    with closing(sqlite3.connect(folder / FILE)) as file, file:
        add_functions(file)
        file.execute("UPDATE session SET message_count = 0, message_check = -1")
        file.execute("DELETE FROM message")
        for place in range(1, times + 1):
            for table, columns in tables.items():
                sql = f"INSERT INTO {table} SELECT {columns} FROM {table} WHERE number BETWEEN 1 AND 15"  # noqa: S608
                file.execute(sql, {"add": 15 * place})
        file.execute("UPDATE session SET checksum = session_sum(number, is_active, summary, private)")
        file.execute("UPDATE session SET names_checksum = names_sum(number, uri, name, owner)")
        file.execute(f"UPDATE snapshot SET checksum = snapshot_sum({SUMS['snapshot']})")  # noqa: S608
        file.execute("UPDATE counter SET session_count = 15 * :n, last_number = 15 * :n", {"n": times + 1})
        numbers = f"{SUMS['counter']}, newest_count, newest_sum"
        file.execute(f"UPDATE counter SET checksum = counter_sum({numbers})")  # noqa: S608


@pytest.mark.parametrize(
    "said", ["1 of 615 sessions done", "500 of 615", "615 of 615 sessions were upgraded"]
)
def test_kill_9_leaves_the_older_store_which_is_upgraded_at_the_next_start(tmp_path: Path, said: str) -> None:
    unpack(6, tmp_path)
    multiply(tmp_path, 40)
    tables = ("session", "snapshot", "log", "log_index", "resource", "counter")
    before = [select(tmp_path, f"SELECT * FROM {table}") for table in tables]  # noqa: S608
    command = [sys.executable, "-c", OPEN, str(tmp_path), said]
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=env, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert select(tmp_path, "PRAGMA user_version") == [(6,)]
    assert [select(tmp_path, f"SELECT * FROM {table}") for table in tables] == before  # noqa: S608
    store = dense_store(tmp_path)
    assert store.open().session_count == 615
    assert store.load(615) is not None
    store.close()
    assert select(tmp_path, "PRAGMA user_version") == [(VERSION,)]
    assert examine(tmp_path / FILE, is_deep=True).is_sound
