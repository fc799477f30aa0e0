"""Entries of the log with what older clients are sent: a line and a number for each envelope."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.actions import title_changed
from agenthost.core.session_meta import DIFFS, MODEL
from agenthost.edges.ahp.v0_1.projection import envelopes_of, expander
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import NOTHING, count_numbers, encode_entry, first_line, legacy_lines
from agenthost.host.state.engine import Engine
from agenthost.host.storage import Entry
from agenthost.host.storage.checksums import entry_sum
from agenthost.host.storage.migrations import UNNUMBERED
from agenthost.host.storage.sqlite import FILE
from agenthost.wire.json import decode_json, encode_json
from chat_building import BEGUN
from hosting import new_session, run, started, user_message

URI = "demo:/one"
ORIGIN: Any = {"clientId": "me", "clientSeq": 1}

texts = st.text(max_size=5)
old_actions = st.lists(st.fixed_dictionaries({"type": texts, "text": texts}), max_size=4)


@given(texts, old_actions, st.integers(10, 2**53))
def test_an_entry_has_its_envelope_first_and_then_those_of_older_clients(
    text: str, old: list[Any], seq: int
) -> None:
    plain = encode_entry(URI, title_changed(text), ORIGIN)
    entry = encode_entry(URI, title_changed(text), ORIGIN, legacy=old)
    assert first_line(entry, seq) == first_line(plain, seq)
    expected = {"channel": URI, "action": title_changed(text), "origin": ORIGIN, "serverSeq": seq}
    assert decode_json(first_line(entry, seq)) == expected
    assert legacy_lines(plain, seq) is None
    assert (count_numbers(old), count_numbers(None)) == (max(1, len(old)), 1)
    found = [decode_json(line) for line in legacy_lines(entry, seq) or []]
    assert [one["action"] for one in found] == old
    assert [one["serverSeq"] for one in found] == list(range(seq - len(old) + 1, seq + 1))
    # The client knows its own action by the last one.
    assert [one for one in found if "origin" in one] == found[-1:]


def test_of_some_actions_older_clients_see_nothing() -> None:
    entry = encode_entry(URI, title_changed("new"), legacy=[])
    assert entry.endswith(b"\n" + NOTHING)
    assert decode_json(first_line(entry, 5))["serverSeq"] == 5
    assert legacy_lines(entry, 5) == []


def test_entries_of_older_hosts_have_their_numbers_in_them() -> None:
    envelope, old = (encode_json({"action": title_changed("new"), "serverSeq": seq}) for seq in (7, 6))
    entry = b"\n".join([envelope, old, envelope])
    assert (first_line(entry, 7), legacy_lines(entry, 7)) == (envelope, [old, envelope])
    assert legacy_lines(envelope + b"\n" + NOTHING, 7) == []
    assert (first_line(envelope, 7), legacy_lines(envelope, 7)) == (envelope, None)


def test_an_action_that_is_several_for_older_clients_takes_as_many_numbers(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            view = await feed.subscribe(URI)
            meta: Any = {MODEL: {"id": "large"}, DIFFS: [], "git": "main"}
            session.act({"type": "session/metaChanged", "_meta": meta})
            session.act(title_changed("after"))
            await host.journal.wait()
            first, second = await feed.subscriber.wait_next()
            assert (first.seq, second.seq) == (view.seq + 3, view.seq + 4)
            kinds = [decode_json(line)["action"]["type"] for line in envelopes_of(first)]
            assert kinds == ["session/modelChanged", "session/diffsChanged", "session/metaChanged"]
            (line,) = first.envelopes()
            assert decode_json(line)["serverSeq"] == first.seq

    run(story)


@pytest.mark.parametrize("missed", range(5))
def test_an_older_client_that_saw_some_of_them_gets_the_rest(tmp_path: Path, missed: int) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            meta: Any = {MODEL: {"id": "large"}, DIFFS: [], "git": "main"}
            session.act({"type": "session/metaChanged", "_meta": meta})
            session.act(title_changed("after"))
            await host.journal.wait()
            seen = host.line.shown_seq - missed
        async with started(tmp_path) as host:
            numbers: dict[int, str] = {}
            back = await host.feed(Identity("me")).resume(seen, [URI], expander(numbers), numbers)
            assert back.replay is not None
            assert [entry.seq for entry in back.replay] == list(range(seen + 1, seen + missed + 1))
            assert all(decode_json(entry.envelope)["serverSeq"] == entry.seq for entry in back.replay)
            current = await host.feed(Identity("you")).resume(seen, [URI])
            assert len(current.replay or []) == min(missed, 2)

    run(story)


def test_entries_without_lines_for_them_are_projected(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.line.shown_seq
            session.act(title_changed("new"), ORIGIN)
            await host.journal.wait()
            stored = host.storage.replay(before, [session.number], "me")
            assert [legacy_lines(entry.envelope, entry.seq) for entry in stored] == [None]
            assert all(b"serverSeq" not in entry.envelope for entry in stored)
            (found,) = expander({session.number: URI})(stored, before)
            assert isinstance(found, Entry)
            assert decode_json(found.envelope) == {
                "action": {"type": "session/titleChanged", "session": URI, "title": "new"},
                "serverSeq": found.seq,
                "origin": ORIGIN,
            }

    run(story)


def give_numbers(file: Path) -> None:
    """Turn a store that is closed into an older one, which had the numbers in the envelopes too."""
    with closing(sqlite3.connect(file, isolation_level=None)) as store:
        for seq, *values in store.execute("SELECT seq, resource, envelope, only_for FROM log").fetchall():
            resource, envelope, only_for = values
            older = legacy_lines(envelope, seq)
            lines = [first_line(envelope, seq), *([] if older is None else older or [NOTHING])]
            old = envelope if envelope.startswith(b"[") else b"\n".join(lines)
            checksum = entry_sum(seq, resource, old, only_for)
            store.execute("UPDATE log SET envelope = ?, checksum = ? WHERE seq = ?", (old, checksum, seq))
        store.execute(f"PRAGMA user_version = {UNNUMBERED - 1}")


@pytest.mark.sqlite
def test_a_store_with_numbers_in_its_envelopes_is_read_as_before(tmp_path: Path) -> None:
    async def story() -> None:
        meta: Any = {MODEL: {"id": "large"}, DIFFS: [], "git": "main"}
        async with started(tmp_path) as host:
            parts = [{"kind": "markdown", "id": "p1", "content": ""}]
            turn = {"id": "t1", "startedAt": BEGUN, "message": user_message(), "responseParts": parts}
            session = await new_session(host, URI, chat={"activeTurn": turn})
            seen = host.line.shown_seq
            session.act({"type": "session/metaChanged", "_meta": meta}, ORIGIN)
            session.stream("chat/delta", "t1", "p1", "so")
            session.refuse(URI, title_changed("x" * 9_000), ORIGIN, "not now", Identity("me"))
            session.act(title_changed("old"))
            await host.journal.wait()
            states, replays = session.conversation, await everything(host, seen)
        give_numbers(tmp_path / FILE)
        async with started(tmp_path) as host:
            session = await host.sessions.get(URI)
            assert (session.conversation, await everything(host, seen)) == (states, replays)
            assert (await host.feed(Identity("me")).resume(seen, [URI])).replay is None  # it was cut
            session.act(title_changed("new"))
            await host.journal.wait()
            for one, known in zip(await everything(host, seen), replays, strict=True):
                assert one[:-1] == known
                assert decode_json(one[-1])["action"]["title"] == "new"

    run(story)


async def everything(host: Engine, seen: int) -> list[list[bytes]]:
    """Return what clients of today and older ones missed since this number, as they are sent it."""
    numbers: dict[int, str] = {}
    current = await host.feed(Identity("you")).resume(seen, [URI])
    older = await host.feed(Identity("you")).resume(seen, [URI], expander(numbers), numbers)
    return [[entry.envelope for entry in one.replay or []] for one in (current, older)]
