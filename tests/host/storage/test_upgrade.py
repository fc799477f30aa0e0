"""Stores that every earlier version made are brought up to date, and nobody loses anything. Real files."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.derived import chat_summary, waiting_in
from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.legacy.root import project_root_state
from agenthost.core.legacy.summaries import project_listed
from agenthost.core.times import iso_time
from agenthost.host.state.session_uris import chat_uri_of
from agenthost.host.storage import ROOT, Entry, Opening, SessionRow
from agenthost.host.storage.integrity import examine
from agenthost.host.storage.legacy_form import upgraded_session
from agenthost.host.storage.migrations import VERSION
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState, SessionSummary
from agenthost.wire.json import decode_json, encode_json
from agenthost.wire.shape import STRICT, Shape
from old_stores import VERSIONS, select, unpack
from storing import dense_store

WAITING = {"demo:/approval", "demo:/question", "demo:/client", "demo:/running", "lead:/task"}
"""The sessions of the story that had a turn when the server was killed. Two more have names by chance."""


class Upgraded:
    """A store that was just brought up to date, and what its clients saw before."""

    def __init__(self, version: int, folder: Path) -> None:
        self.version = version
        self.folder = folder
        self.seen: Any = unpack(version, folder)
        self.before: Any = {
            "rows": select(folder, "SELECT number, uri, name, owner, is_active, private FROM session"),
            "messages": select(folder, "SELECT number, position, body FROM message"),
            "contents": select(folder, "SELECT number, content_id, content_type, data FROM content"),
            "last_seq": select(folder, "SELECT last_seq FROM counter")[0][0],
        }
        self.store = dense_store(folder)
        self.opening: Opening = self.store.open()

    def states(self, uri: str) -> tuple[Any, Any]:
        """Return the states of a session and its default chat."""
        row = self.store.find(uri=uri)
        stored = None if row is None else self.store.load(row.number)
        assert stored is not None
        both = decode_json(stored.state)
        return both["session"], both["chat"]

    def private(self, uri: str) -> Any:
        row = self.store.find(uri=uri)
        assert row is not None
        return decode_json(row.private)


@pytest.fixture(params=VERSIONS, scope="module")
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgraded]:
    """Return a store of each version that was upgraded, for all tests that only read from it."""
    found = Upgraded(request.param, tmp_path_factory.mktemp(f"upgraded-{request.param}"))
    yield found
    found.store.close()


def test_a_legacy_client_sees_every_session_as_before(upgraded: Upgraded) -> None:
    assert len(upgraded.seen["sessions"]) == 15
    for uri, seen in upgraded.seen["sessions"].items():
        session, chat = upgraded.states(uri)
        assert project_session_state(session, chat, uri, seen["summary"]["createdAt"]) == seen


def test_lists_show_every_session_as_before(upgraded: Upgraded) -> None:
    rows = upgraded.store.list(owner=None, before=None, limit=99)
    summaries = [decode_json(row.summary) for row in rows]
    assert [project_listed(one) for one in summaries] == upgraded.seen["list"]
    for summary, seen in zip(summaries, upgraded.seen["list"], strict=True):
        assert summary["createdAt"] == iso_time(seen["createdAt"])
        assert summary["modifiedAt"] == iso_time(seen["modifiedAt"])


def test_the_root_is_as_it_was(upgraded: Upgraded) -> None:
    assert upgraded.opening.root is not None
    root = decode_json(upgraded.opening.root)
    assert project_root_state(root) == upgraded.seen["root"]
    Shape[RootState](RootState, STRICT).take(root)


def test_what_is_stored_has_the_shapes_of_today(upgraded: Upgraded) -> None:
    for row in upgraded.store.list(owner=None, before=None, limit=99):
        session, chat = upgraded.states(row.uri)
        assert chat["resource"] == session["defaultChat"] == chat_uri_of(row.name)
        assert session["chats"] == [chat_summary(chat)]
        assert session.get("inputNeeded", []) == [*waiting_in(chat).values()]
        Shape[SessionState](SessionState, STRICT).take(session)
        Shape[ChatState](ChatState, STRICT).take(chat)
        Shape[SessionSummary](SessionSummary, STRICT).take(decode_json(row.summary))


def test_names_owners_and_private_data_are_as_they_were(upgraded: Upgraded) -> None:
    sql = "SELECT number, uri, name, owner, is_active, private FROM session"
    for old, new in zip(upgraded.before["rows"], select(upgraded.folder, sql), strict=True):
        assert old[:5] == new[:5]
        private, kept = decode_json(old[5]), decode_json(new[5])
        assert kept.keys() == private.keys()
        assert {**kept, "deferred": private.get("deferred")} == {"deferred": None, **private}


def test_transcripts_and_contents_are_as_they_were(upgraded: Upgraded) -> None:
    sql = {
        "messages": "SELECT number, position, body FROM message",
        "contents": "SELECT number, content_id, content_type, data FROM content",
    }
    assert {key: select(upgraded.folder, one) for key, one in sql.items()} == {
        key: upgraded.before[key] for key in sql
    }
    assert len(upgraded.before["messages"]) > 40
    assert upgraded.before["contents"]


def test_turns_that_ran_or_waited_are_still_there_to_be_resumed(upgraded: Upgraded) -> None:
    rows = {row.number: row for row in upgraded.store.list(owner=None, before=None, limit=99)}
    active = {rows[number].uri for number in upgraded.opening.active}
    assert active >= WAITING
    assert len(active - WAITING - {"slow:/creating"}) == 2
    for uri in active - {"slow:/creating"}:
        session, chat = upgraded.states(uri)
        seen = upgraded.seen["sessions"][uri]
        assert chat["activeTurn"]["id"] == seen["activeTurn"]["id"]
        assert chat["activeTurn"]["startedAt"] == iso_time(seen["summary"]["modifiedAt"])
        kinds = {"lead:/task": [], "demo:/running": [], "demo:/question": ["chatInput"]}
        waiting = [one["kind"] for one in session.get("inputNeeded", [])]
        assert waiting == kinds.get(uri, waiting)


def test_a_question_keeps_the_answers_so_far(upgraded: Upgraded) -> None:
    _, chat = upgraded.states("demo:/question")
    (part,) = [part for part in chat["activeTurn"]["responseParts"] if part["kind"] == "inputRequest"]
    assert part["request"]["answers"]["name"]["value"] == {"kind": "text", "value": "Ann"}
    assert "response" not in part


def test_messages_that_wait_are_in_the_chat_in_their_order(upgraded: Upgraded) -> None:
    _, chat = upgraded.states("demo:/approval")
    assert [one["id"] for one in chat["queuedMessages"]] == ["q2", "q1"]
    assert chat["queuedMessages"][1]["message"]["text"] == "Later 1"
    assert chat["steeringMessage"]["message"]["text"] == "In between"


def test_deferred_actions_are_actions_of_today(upgraded: Upgraded) -> None:
    ((chosen, origin, sent, legacy),) = upgraded.private("demo:/approval")["deferred"]
    assert (chosen["type"], chosen["_meta"]["agenthost.model"]) == ("session/metaChanged", {"id": "swift"})
    assert origin == {"clientId": "me", "clientSeq": 24}
    assert (sent is not None) == (upgraded.version >= 3)
    chosen = {"type": "session/modelChanged", "session": "demo:/approval", "model": {"id": "swift"}}
    assert legacy == [chosen]
    held = upgraded.private("slow:/creating").get("deferred", [])
    assert [one["type"] for one, *_ in held] == ["chat/turnStarted"] * (upgraded.version >= 3)
    assert [one["message"]["text"] for one, *_ in held] == ["When you are ready"] * len(held)


def test_nobody_resumes_from_before_and_no_number_means_two_things(upgraded: Upgraded) -> None:
    store, last_seq = upgraded.store, upgraded.before["last_seq"]
    numbers = [ROOT, *(row[0] for row in upgraded.before["rows"])]
    assert upgraded.opening.last_seq == last_seq + 1
    assert store.holds(last_seq)
    assert {store.floor([number]) for number in numbers} == {last_seq + 1}
    assert store.replay(0, numbers, "me") == []
    assert upgraded.opening.root_entries == []


def test_an_upgraded_store_passes_every_check(upgraded: Upgraded) -> None:
    report = examine(upgraded.folder / FILE, is_deep=True)
    assert report.is_sound, report
    assert (report.version, report.session_count) == (VERSION, 15)
    assert select(upgraded.folder, "SELECT entry_count, newest_count, newest_sum FROM counter") == [(0, 0, 0)]


def test_receipts_are_as_they_were(tmp_path: Path) -> None:
    unpack(6, tmp_path)
    before = select(tmp_path, "SELECT * FROM receipt")
    store = SqliteStorage(tmp_path)
    store.open()
    assert len(store.receipts("me")) == len(before) > 20
    store.close()
    assert select(tmp_path, "SELECT * FROM receipt") == before


@pytest.mark.parametrize("version", VERSIONS)
def test_the_older_store_is_kept_beside_and_can_be_used_again(tmp_path: Path, version: int) -> None:
    unpack(version, tmp_path)
    tables = ("session", "snapshot", "log", "resource", "counter")
    before = [select(tmp_path, f"SELECT * FROM {table}") for table in tables]  # noqa: S608
    found = [opened_once(tmp_path)]
    copy = tmp_path / f"agenthost.v{version}.db"
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.rename(tmp_path / FILE)
    assert [select(tmp_path, f"SELECT * FROM {table}") for table in tables] == before  # noqa: S608
    found.append(opened_once(tmp_path))
    assert found[0] == found[1]


def opened_once(folder: Path) -> list[Any]:
    """Open a store and close it. Return what is in it then."""
    store = dense_store(folder)
    store.open()
    loaded: list[Any] = [store.load(number) for number in range(1, 16)]
    store.close()
    return loaded


def test_a_long_upgrade_logs_its_progress(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthost.host.storage.upgrade.PROGRESS_SECONDS", 0)
    unpack(6, tmp_path)
    with caplog.at_level(logging.INFO, logger="agenthost.storage"):
        store = dense_store(tmp_path)
        store.open()
        store.close()
    assert "upgrading the store: 14 of 15 sessions done" in caplog.messages
    assert any(line.startswith("15 of 15 sessions were upgraded in") for line in caplog.messages)


def test_a_run_of_text_that_a_snapshot_has_in_part_is_not_read_twice() -> None:
    part = {"kind": "markdown", "id": "p1", "content": "ab"}
    turn = {"id": "t1", "userMessage": {"text": "Hi"}, "responseParts": [part]}
    summary = {"resource": "demo:/one", "provider": "demo", "title": "One", "status": 8}
    state: Any = {"summary": summary, "lifecycle": "ready", "turns": [], "activeTurn": turn}
    times = {"createdAt": 1, "modifiedAt": 2}
    row = SessionRow(1, "demo:/one", "one", "", True, encode_json({**summary, **times}), b"{}")
    delta = {"type": "session/delta", "session": "demo:/one", "turnId": "t1", "partId": "p1"}
    lines = [encode_json({"action": {**delta, "content": text}, "serverSeq": seq}) for seq, text in LINES]
    for entry in (
        Entry(14, 1, encode_json(["session/delta", "demo:/one", "t1", "p1", [text for _, text in LINES]])),
        Entry(14, 1, b"\n".join(lines)),  # as the first stores have it
    ):
        upgraded = decode_json(upgraded_session(row, encode_json(state), 12, [entry]).state)
        assert upgraded["chat"]["activeTurn"]["responseParts"] == [{**part, "content": "abcd"}]


LINES = [(11, "a"), (12, "b"), (13, "c"), (14, "d")]
