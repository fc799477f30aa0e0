"""Damage on the disk: it is noticed before it is served, one session is refused, and the others live on."""

import logging
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from agenthost.errors import Damaged, StorageError
from agenthost.host.access.identity import Identity
from agenthost.host.storage import (
    AddMessages,
    EchoReceipt,
    Entry,
    PutContent,
    PutSnapshot,
    Receipt,
    SessionRow,
    StoredSession,
    Write,
)
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from agenthost.wire.ahp import ROOT_URI
from hosting import new_session, run, started
from pages import byte_kinds
from storing import added, appended, commit, dense_store

SESSIONS = 6
FLIPS = 150


def fill(store: SqliteStorage) -> None:
    """Put sessions into a store, with all that can belong to one; some of the log is not indexed."""
    store.open()
    seq = 0
    for number in range(1, SESSIONS + 1):
        body = b'{"text": "%s"}' % (b"message of %d " % number * 40)
        writes: list[Write] = [added(number), *appended(range(seq + 1, seq + 21), number)]
        writes += [AddMessages(number, 1, (body,) * 5), PutContent(number, "c", "text/plain", body * 20)]
        seq += 20
        commit(store, [*writes, PutSnapshot(number, body * 3, seq - 5)], seq)
    store.trim(18, 1_000)
    commit(
        store, [Entry(seq + n, n, b'{"serverSeq":%d}' % (seq + n)) for n in range(SESSIONS + 1)][1:], seq + 9
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStorage]:
    opened = dense_store(tmp_path)
    fill(opened)
    yield opened
    opened.close()


def change(store: SqliteStorage, sql: str) -> None:
    assert store._writer is not None
    assert store._writer.execute(sql).rowcount == 1


def read_all(store: SqliteStorage, number: int) -> tuple[StoredSession | None, object, object]:
    entries = store.replay(store.floor([number]), [number], "me")
    return store.load(number), store.content(number, "c"), entries


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE session SET summary = x'7B7E' WHERE number = 2",
        "UPDATE session SET private = CAST('text' AS TEXT) WHERE number = 2",
        "UPDATE session SET owner = 'bob' WHERE number = 2",
        "UPDATE session SET owner = CAST(x'C328' AS TEXT) WHERE number = 2",
        "UPDATE snapshot SET state = substr(state, 2) WHERE number = 2",
        "UPDATE resource SET state_seq = state_seq - 1 WHERE number = 2",
        "UPDATE message SET body = x'7B7D' WHERE number = 2 AND position = 3",
        "UPDATE message SET position = 9 WHERE number = 2 AND position = 5",
        "DELETE FROM message WHERE number = 2 AND position = 3",
        "DELETE FROM message WHERE number = 2 AND position = 5",
        "UPDATE session SET message_count = 5 WHERE number = 2",
        "UPDATE log SET envelope = x'7B7D' WHERE seq = 39",
        "UPDATE log SET resource = 3 WHERE seq = 122",
        "UPDATE log SET seq = seq + 4294967296 WHERE seq = 122",
        "UPDATE log SET only_for = 'me' WHERE seq = 39",
        "DELETE FROM log WHERE seq = 39",
        "DELETE FROM log_index WHERE seq = 39",
        "UPDATE log_index SET resource = 7 WHERE seq = 39",
        "UPDATE log_index SET seq = 22 WHERE seq = 39",
        "DELETE FROM resource WHERE number = 2",
        "DELETE FROM snapshot WHERE number = 2",
    ],
)
def test_a_damaged_session_is_refused_with_a_message_and_others_still_work(
    store: SqliteStorage, sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    sound = {number: read_all(store, number) for number in range(1, SESSIONS + 1)}
    change(store, sql)
    for _ in range(2):
        with pytest.raises(Damaged, match=r"session number 2 is damaged on the disk.*`agenthost doctor`"):
            store.load(2)
    assert [record.levelname for record in caplog.records] == ["ERROR"]  # once, not for each who asks
    for number in {1, 3, 4, 5, 6} - ({3} if "= 3" in sql else set()):
        assert read_all(store, number) == sound[number]


def test_a_row_that_is_damaged_does_not_break_the_list(store: SqliteStorage) -> None:
    change(store, "UPDATE session SET summary = x'7B7E' WHERE number = 4")
    first = store.list(owner=None, before=None, limit=3)
    assert [row.number for row in first] == [6, 5, 3]
    assert [row.number for row in store.list(owner="ann", before=3, limit=3)] == [2, 1]


def test_damaged_contents_and_floors_are_refused(store: SqliteStorage) -> None:
    change(store, "UPDATE content SET content_type = 'text/html' WHERE number = 2")
    with pytest.raises(Damaged, match="content 'c' is damaged"):
        store.content(2, "c")
    change(store, "UPDATE resource SET floor = 1 WHERE number = 2")
    with pytest.raises(Damaged, match="the log is damaged"):
        store.floor([1, 2])


def test_a_resource_that_is_lost_does_not_pass_for_one_that_was_never_trimmed(store: SqliteStorage) -> None:
    change(store, "DELETE FROM resource WHERE number = 2")
    with pytest.raises(Damaged, match="the log is damaged"):
        store.floor([2])
    assert store.floor([99]) == 0


def test_an_entry_that_seems_to_be_of_another_session_is_given_back_at_the_next_start(
    store: SqliteStorage, tmp_path: Path
) -> None:
    sound = {number: read_all(store, number) for number in range(1, SESSIONS + 1)}
    change(store, "UPDATE log SET resource = 3 WHERE seq = 122")
    store.close()
    again = dense_store(tmp_path)
    again.open()
    assert {number: read_all(again, number) for number in sound} == sound
    again.close()


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM log WHERE seq = 122",
        "UPDATE log SET resource = 3, envelope = x'7B7D' WHERE seq = 122",
    ],
)
def test_a_newest_entry_that_is_lost_is_refused_at_the_start(
    store: SqliteStorage, tmp_path: Path, sql: str
) -> None:
    change(store, sql)
    store.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StorageError, match="one of the newest entries of its log is lost"):
        dense_store(tmp_path).open()
    assert (tmp_path / FILE).read_bytes() == before


def test_a_receipt_that_is_damaged_is_left_out_and_said(
    store: SqliteStorage, caplog: pytest.LogCaptureFixture
) -> None:
    receipts = [Receipt("me", slot, 7, bytes([slot]) * 16, 100 + slot) for slot in range(4)]
    commit(store, [*receipts, Receipt("me", 4, 8, b"late", None)], 129)
    commit(store, [EchoReceipt("me", 8, b"late", 129)], 129)
    assert store.receipts("me") == [*receipts, Receipt("me", 4, 8, b"late", 129)]
    change(store, "UPDATE receipt SET seq = 99 WHERE slot = 1")
    change(store, "UPDATE receipt SET digest = x'00' WHERE slot = 2")
    assert store.receipts("me") == [receipts[0], receipts[3], Receipt("me", 4, 8, b"late", 129)]
    assert "the receipt list of a client (2 left out) is damaged" in caplog.text


def test_an_index_that_does_not_fit_its_table_is_made_anew_at_the_start(
    store: SqliteStorage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sound = {number: read_all(store, number) for number in range(1, SESSIONS + 1)}
    store.close()
    file = tmp_path / FILE
    cells = byte_kinds(file)["sqlite_autoindex_session_1 cells"]
    place = cells[0] + file.read_bytes()[cells[0] : cells[-1]].index(b"demo:/2") + len("demo:/")
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(data)
    again = dense_store(tmp_path)
    again.open()
    assert again.find(uri="demo:/2") is not None
    assert {number: read_all(again, number) for number in sound} == sound
    assert "an index of" in caplog.text
    again.close()


def test_a_schema_that_is_no_text_any_more_is_refused_with_a_sentence(
    store: SqliteStorage, tmp_path: Path
) -> None:
    store.close()
    file = tmp_path / FILE
    data = file.read_bytes()
    file.write_bytes(data.replace(b"ON session (owner)", b"ON sess\xe9on (owner)"))
    with pytest.raises(StorageError, match="is damaged"):
        dense_store(tmp_path).open()


def test_damaged_numbers_are_refused_at_the_start(store: SqliteStorage, tmp_path: Path) -> None:
    change(store, "UPDATE counter SET last_seq = last_seq - 64")
    store.close()
    with pytest.raises(StorageError, match="it has lost its numbers; restore a backup"):
        dense_store(tmp_path).open()


def test_a_damaged_root_is_replaced_and_nobody_resumes_from_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            await new_session(host, "demo:/one")
            seen = host.opening.last_seq
        with closing(sqlite3.connect(tmp_path / FILE)) as file:
            file.execute("UPDATE snapshot SET state = x'7B7D' WHERE number = 0")
            file.commit()
        async with started(tmp_path) as host:
            assert host.root.state["activeSessions"] == 1
            assert (await host.feed(Identity("me")).resume(seen, [ROOT_URI])).replay is None

    with caplog.at_level(logging.ERROR):
        run(story)
    assert "the root is damaged (its snapshot); a new one is started" in caplog.text


def test_a_client_resumes_everything_except_what_is_damaged(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            for name in ("one", "two"):
                await new_session(host, f"demo:/{name}")
            seen = host.line.shown_seq
        with closing(sqlite3.connect(tmp_path / FILE)) as file:
            file.execute("UPDATE snapshot SET state = x'7B7D' WHERE number = 1")
            file.commit()
        async with started(tmp_path) as host:
            back = await host.feed(Identity("me")).resume(seen, ["demo:/one", "demo:/two"])
            assert back.missing == ["demo:/one"]
            with pytest.raises(Damaged, match="session 'demo:/one' is damaged"):
                await host.sessions.get("demo:/one")
            assert (await host.sessions.get("demo:/two")).number == 2

    run(story)


def everything(store: SqliteStorage) -> Iterator[tuple[str, object]]:
    """Read all that a store would serve; what it refuses is left out."""
    listed = [(f"list {row.number}", row) for row in store.list(owner=None, before=None, limit=99)]
    for name, value in listed:
        yield name, value
    for number in range(1, SESSIONS + 1):
        reads: dict[str, Callable[[], object]] = {
            f"find {number}": partial(store.find, uri=f"demo:/{number}"),
            f"load {number}": partial(store.load, number),
            f"content {number}": partial(store.content, number, "c"),
            f"replay {number}": partial(_replay, store, number),
        }
        for name, read in reads.items():
            try:
                yield name, read()
            except Damaged:
                continue


def _replay(store: SqliteStorage, number: int) -> object:
    return store.replay(store.floor([number]), [number], "me")


def test_no_flipped_bit_makes_a_store_return_wrong_data(tmp_path: Path) -> None:
    whole = dense_store(tmp_path / "whole")
    fill(whole)
    truth = dict(everything(whole))
    whole.close()
    sound = (tmp_path / "whole" / FILE).read_bytes()
    chance = random.Random(5)  # noqa: S311
    outcomes = {"served": 0, "refused at the start": 0, "refused": 0}
    for flip in range(FLIPS):
        place, bit = chance.randrange(100, len(sound)), 1 << chance.randrange(8)
        folder = tmp_path / str(flip)
        folder.mkdir()
        (folder / FILE).write_bytes(sound[:place] + bytes([sound[place] ^ bit]) + sound[place + 1 :])
        store = dense_store(folder)
        try:
            store.open()
            found = dict(everything(store))
        except StorageError:
            outcomes["refused at the start"] += 1
            continue
        finally:
            store.close()
        wrong = {name for name, value in found.items() if value != truth.get(name)}
        assert not wrong, f"byte {place}, bit {bit}: {wrong}"
        outcomes["served" if found.keys() == truth.keys() else "refused"] += 1
    assert outcomes["refused"] > FLIPS // 10, outcomes


def test_rows_are_compared_as_they_were_written(store: SqliteStorage) -> None:
    found = store.find(number=2)
    assert found == SessionRow(
        2, "demo:/2", "name-2", "ann", is_active=False, summary=b"{}", private=b"private"
    )
