"""Entries of the log with what older clients are sent: a line and a number for each envelope."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.actions import title_changed
from agenthost.core.session_meta import DIFFS, MODEL
from agenthost.edges.ahp.v0_1.projection import envelopes_of, expander
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import NOTHING, first_line, legacy_lines, with_legacy
from agenthost.host.storage import Entry
from agenthost.wire.json import decode_json, encode_json
from hosting import new_session, run, started

URI = "demo:/one"
ORIGIN: Any = {"clientId": "me", "clientSeq": 1}

texts = st.text(max_size=5)
old_actions = st.lists(st.fixed_dictionaries({"type": texts, "text": texts}), max_size=4)


@given(texts, old_actions, st.integers(10, 2**53))
def test_an_entry_has_its_envelope_first_and_then_those_of_older_clients(
    text: str, old: list[Any], seq: int
) -> None:
    envelope = encode_json({"channel": URI, "action": title_changed(text), "serverSeq": seq})
    entry = with_legacy(envelope, old, seq, ORIGIN)
    assert first_line(entry) == first_line(envelope) == envelope
    assert legacy_lines(envelope) is None
    found = [decode_json(line) for line in legacy_lines(entry) or []]
    assert [one["action"] for one in found] == old
    assert [one["serverSeq"] for one in found] == list(range(seq - len(old) + 1, seq + 1))
    # The client knows its own action by the last one.
    assert [one for one in found if "origin" in one] == found[-1:]


def test_of_some_actions_older_clients_see_nothing() -> None:
    entry = with_legacy(b"{}", [], 5)
    assert entry == b"{}\n" + NOTHING
    assert (first_line(entry), legacy_lines(entry)) == (b"{}", [])


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
            seen = host.journal.shown_seq - missed
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
            before = host.journal.shown_seq
            session.act(title_changed("new"), ORIGIN)
            await host.journal.wait()
            stored = host.storage.replay(before, [session.number], "me")
            assert [legacy_lines(entry.envelope) for entry in stored] == [None]
            (found,) = expander({session.number: URI})(stored, before)
            assert isinstance(found, Entry)
            assert decode_json(found.envelope) == {
                "action": {"type": "session/titleChanged", "session": URI, "title": "new"},
                "serverSeq": found.seq,
                "origin": ORIGIN,
            }

    run(story)
