"""`agenthost doctor`: damage is named, and what can be read is saved."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agenthost.host.storage import AddMessages, PutContent, PutSnapshot
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from serving import run_agenthost
from storing import added, appended, commit, dense_store, make_older


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return the folder of a store with three sessions."""
    store = dense_store(tmp_path)
    store.open()
    for number in (1, 2, 3):
        commit(
            store, [added(number), *appended(range(20 * number, 20 * number + 9), number)], 20 * number + 9
        )
        commit(store, [AddMessages(number, 1, (b"said",) * 3)], 20 * number + 9)
        commit(store, [PutContent(number, "c", "text/plain", b"kept" * 500)], 20 * number + 9)
    commit(store, [PutSnapshot(0, b'{"root":1}', 60)], 69)
    store.close()
    return tmp_path


def change(data: Path, sql: str) -> None:
    with closing(sqlite3.connect(data / FILE)) as file, file:
        assert file.execute(sql).rowcount == 1


def test_a_store_without_damage_is_reported_as_such(data: Path) -> None:
    code, out, _ = run_agenthost("doctor", "--data", str(data))
    assert (code, "3 sessions, no damage" in out, "--deep checks all rows" in out) == (
        0,
        True,
        True,
    )
    code, out, _ = run_agenthost("doctor", "--deep", "--data", str(data))
    assert (code, "no damage (checked every row)" in out) == (0, True)


def test_damage_is_named_with_what_can_be_done(data: Path) -> None:
    change(data, "UPDATE session SET summary = x'7B7E' WHERE number = 1")
    change(data, "UPDATE message SET body = x'7B7D' WHERE number = 2 AND position = 2")
    code, out, _ = run_agenthost("doctor", "--data", str(data))
    assert code == 1
    assert "damaged: session number 1: row: its row" in out
    assert "1 of 3 sessions are damaged" in out
    code, out, _ = run_agenthost("doctor", "--deep", "--data", str(data))
    assert code == 1
    assert "damaged: session demo:/2: session: message 2 of its transcript" in out
    assert "Restore a backup of" in out
    assert f"doctor --repair --data {data}\nbuilds a new store" in out


def test_a_repair_saves_what_can_be_read_and_keeps_the_damaged_file(data: Path) -> None:
    change(data, "UPDATE log SET envelope = x'7B7D' WHERE seq = 45")
    change(data, "UPDATE content SET data = x'00' WHERE number = 3")
    before = (data / FILE).read_bytes()
    code, out, _ = run_agenthost("doctor", "--repair", "--data", str(data))
    assert (code, "2 sessions were saved" in out, "the new store has no damage" in out) == (1, True, True)
    (kept,) = data.glob("agenthost.damaged-*.db")
    assert kept.read_bytes() == before
    store = SqliteStorage(data)
    opening = store.open()
    assert (opening.session_count, opening.last_number, opening.root) == (2, 3, b'{"root":1}')
    assert opening.last_seq > 69
    assert [row.number for row in store.list(owner=None, before=None, limit=9)] == [3, 1]
    saved = store.load(3)
    assert saved is not None
    assert (len(saved.entries), saved.messages) == (9, [b"hello", b"said", b"said", b"said"])
    assert (store.content(1, "c"), store.content(3, "c")) != (None, None)
    assert store.content(3, "c") is None
    assert not store.holds(69)  # nobody resumes from before
    store.close()
    assert run_agenthost("doctor", "--deep", "--data", str(data))[0] == 0


def test_a_file_with_a_damaged_structure_is_refused_by_a_server_and_can_be_repaired(data: Path) -> None:
    whole = (data / FILE).read_bytes()
    with closing(sqlite3.connect(data / FILE)) as file:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_session_1'"
        (page,) = file.execute(sql).fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    begin = (page - 1) * size
    (data / FILE).write_bytes(whole[:begin] + b"\xff" * 64 + whole[begin + 64 :])
    code, _, err = run_agenthost("serve", "--port", "0", "--data", str(data))
    assert (code, "is damaged; restore a backup, or let" in err, "Traceback" in err) == (1, True, False)
    code, out, _ = run_agenthost("doctor", "--repair", "--data", str(data))
    assert (code, "3 sessions were saved" in out, "the new store has no damage" in out) == (1, True, True)
    store = SqliteStorage(data)
    assert store.open().session_count == 3
    assert store.find(uri="demo:/2") is not None
    store.close()


def test_a_store_that_cannot_be_checked_exits_with_2(data: Path, tmp_path: Path) -> None:
    code, _, err = run_agenthost("doctor", "--data", str(tmp_path / "nowhere"))
    assert (code, "there is no store in" in err) == (2, True)
    assert not (tmp_path / "nowhere").exists()
    store = SqliteStorage(data)
    store.open()
    code, _, err = run_agenthost("doctor", "--data", str(data))
    assert (code, "is in use by process" in err) == (2, True)
    store.close()
    make_older(data / FILE, 3)
    code, _, err = run_agenthost("doctor", "--data", str(data))
    assert (code, "was written by an older agenthost (schema version 3) and lacks checksums" in err) == (
        2,
        True,
    )
