"""Streamed text in a session: when it is applied, who sees it, and that runs cannot be told from deltas."""

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.core.actions import title_changed, turn_complete
from agenthost.errors import SlowConsumer
from agenthost.host.access.identity import Identity
from agenthost.host.log import journal as journal_module
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import MAX_RUN, TextRun, unpack
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import Entry
from agenthost.host.storage.sqlite import FILE
from agenthost.wire.ahp.actions.text import ChatDelta, ChatReasoning
from chat_building import BEGUN
from hosting import chat_of, new_session, run, started, user_message

URI = "demo:/one"
CHAT = chat_of(URI)
PARTS: list[Any] = [
    {"kind": "markdown", "id": "p1", "content": ""},
    {"kind": "reasoning", "id": "r1", "content": ""},
]


async def streaming(host: Engine) -> Session:
    """Create a session whose turn can be streamed to."""
    turn = {"id": "t1", "startedAt": BEGUN, "message": user_message(), "responseParts": PARTS}
    return await new_session(host, URI, chat={"activeTurn": turn})


def delta(text: str, turn: str = "t1") -> ChatDelta:
    return ChatDelta(turn, "p1", text)


def stream(session: Session, action: Any) -> None:
    of = TextRun.of(CHAT, action)
    kind: Any = of.kind
    session.stream(kind, of.turn, of.part, *of.texts)


def answer(session: Session) -> str:
    chat: Any = session.chat
    return chat["activeTurn"]["responseParts"][0]["content"]  # type: ignore[no-any-return]


def numbers(items: Sequence[LogItem]) -> list[int]:
    return [seq for item in items for seq in range(item.first_seq, item.seq + 1)]


def envelopes(items: Sequence[LogItem]) -> list[bytes]:
    return [line for item in items for line in item.envelopes()]


def logged(host: Engine, session: Session) -> list[Entry]:
    stored = host.storage.load(session.number)
    assert stored is not None
    return unpack(stored.entries)


def test_an_envelope_is_encoded_once_subscribers_and_the_log_have_the_same_bytes(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            feeds = [host.feed(Identity("me")), host.feed(Identity("you"))]
            for feed in feeds:
                await feed.subscribe(URI)
            for place in range(3):
                stream(session, delta(f"{place}\n"))
            session.act(title_changed("x"))
            await host.journal.wait()
            mine, yours = [await feed.subscriber.wait_next() for feed in feeds]
            assert len(mine) == 2
            for first, second in zip(mine, yours, strict=True):
                assert first.envelope is second.envelope
                assert first.envelopes() is second.envelopes()
            assert envelopes(mine) == [entry.envelope for entry in logged(host, session)]
            assert numbers(mine) == [entry.seq for entry in logged(host, session)]
            expected = (
                b'{"channel":"ahp-chat:/one","action":{"type":"chat/delta","turnId":"t1","partId":"p1",'
            )
            assert envelopes(mine)[0].startswith(expected + b'"content":"0\\n"},"serverSeq":')
            assert [item.count for item in mine] == [3, 1]

    run(story)


def test_text_is_there_for_whoever_reads_the_session_and_not_shown_before_it_is_durable(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            feed = host.feed(Identity("me"))
            view = await feed.subscribe(CHAT)
            shown_seq = session.shown_seq
            stream(session, delta("a"))
            stream(session, delta("b"))
            assert answer(session) == "ab"
            stream(session, delta("c"))
            assert (feed.subscriber.backlog, session.shown_seq) == (0, shown_seq)
            assert session.shown_chat.state == view.state
            await host.journal.wait()
            assert feed.subscriber.backlog == 3
            assert session.shown_seq == view.seq + 3
            assert session.shown_chat.state == session.chat
            assert answer(session) == "abc"

    run(story)


def test_a_ticket_of_text_is_for_that_text(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            for text in ("a", "b", "c"):
                stream(session, delta(text))
                await host.journal.wait()
                assert session.shown_chat.state == session.chat
            assert len(logged(host, session)) == 3
            assert host.journal.stats.deltas == 3

    run(story)


def test_long_runs_are_cut_and_a_snapshot_holds_what_is_before_it(tmp_path: Path) -> None:
    count = 2 * MAX_RUN + 500

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            feed = host.feed(Identity("me"))
            view = await feed.subscribe(URI)
            for place in range(count):
                stream(session, delta(f"{place} "))
            await host.journal.wait()
            items = await feed.subscriber.wait_next()
            assert [item.count for item in items] == [MAX_RUN, MAX_RUN, 500]
            assert numbers(items) == list(range(view.seq + 1, view.seq + 1 + count))
            expected = answer(session)
        async with started(tmp_path) as host:
            again = await host.sessions.get(URI)
            assert answer(again) == expected == "".join(f"{place} " for place in range(count))

    run(story)


def test_text_that_no_longer_applies_is_logged_and_changes_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            stream(session, delta("a"))
            stream(session, delta("of another turn", "t9"))
            stream(session, delta("b"))
            assert answer(session) == "ab"
            await host.journal.wait()
            assert len(logged(host, session)) == 3

    run(story)


def test_text_that_is_not_valid_unicode_is_repaired_and_blocks_nobody(tmp_path: Path) -> None:
    rubbish: Any = [delta("a"), delta("\ud83d"), delta(None), delta("b")]  # type: ignore[arg-type]

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            for action in rubbish:
                stream(session, action)
            await host.journal.wait()
            assert answer(session) == "a\ufffdb"
            assert len(logged(host, session)) == 3
        async with started(tmp_path) as host:
            assert answer(await host.sessions.get(URI)) == "a\ufffdb"

    run(story)


def test_a_listener_is_bounded_by_envelopes_and_not_by_runs(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, subscriber_items=50) as host:
            session = await streaming(host)
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            for length in (30, 21):
                for _ in range(length):
                    stream(session, delta("x"))
                await host.journal.wait()
            with pytest.raises(SlowConsumer, match="30"):
                await feed.subscriber.wait_next()
            assert feed.subscriber.backlog == 0

    run(story)


@pytest.mark.sqlite
def test_an_agent_waits_while_the_disk_is_behind_with_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("agenthost.host.storage.sqlite.BUSY_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path, write_backlog=10) as host:
            session = await streaming(host)
            other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            stream(session, delta("x"))
            while host.journal.trouble is None:  # noqa: ASYNC110 - nobody is told of a try that failed
                await asyncio.sleep(0.01)
            for _ in range(9):
                stream(session, delta("x"))
            await host.journal.wait_room()
            stream(session, delta("x"))
            assert host.journal.backlog == 10
            waiting = asyncio.ensure_future(host.journal.wait_room())
            await asyncio.sleep(0)
            assert not waiting.done()
            other.execute("ROLLBACK")
            other.close()
            await waiting
            await host.journal.wait()
            assert (host.journal.backlog, answer(session)) == (0, "x" * 11)

    run(story)


def test_what_an_agent_says_after_its_session_was_removed_is_dropped(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await streaming(host)
            stream(session, delta("before"))
            session.act(
                title_changed("before"), messages=[TranscriptEntry("t1", {"role": "user", "content": "Hi"})]
            )
            gone = asyncio.ensure_future(host.removals.remove(URI))
            await asyncio.sleep(0)
            stream(session, delta("after"))
            session.keep({"kept": {"after": 1}})
            await host.journal.wait(
                session.act(
                    title_changed("after"), messages=[TranscriptEntry(None, {"role": "user", "content": ""})]
                )
            )
            await gone
            await host.journal.wait(session.act(delta("long after")))
            assert host.storage.load(session.number) is None
            assert host.journal.trouble is None
            assert host.storage.replay(0, [session.number], "me") == []

    run(story)


def test_a_session_with_text_that_is_not_written_stays_in_memory(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, sessions_in_memory=1) as host:
            session = await new_session(host, URI)
            assert session.is_written
            stream(session, delta("of no turn"))
            assert not session.is_written
            await host.journal.wait()
            assert session.is_written
            session.keep({"kept": 1})
            assert not session.is_written
            await new_session(host, "demo:/two")
            await new_session(host, "demo:/three")
            assert (await host.sessions.get(URI)).private == {"kept": 1}

    run(story)


steps = st.lists(
    st.one_of(
        st.builds(delta, st.text(max_size=3), st.sampled_from(["t1", "t1", "t2"])),
        st.builds(ChatReasoning, st.just("t1"), st.just("r1"), st.text(max_size=3)),
        st.builds(title_changed, st.text(max_size=3)),
        st.just(turn_complete("t1", 5)),
        st.sampled_from(["refuse", "read", "wait", "tick"]),
    ),
    max_size=25,
)


Way: TypeAlias = Callable[[Session, Any], object]
"""A way to add text to a session."""


def flow(session: Session, step: Any) -> None:
    """Add to the text that flows already, as agents do."""
    to = TextRun.of(CHAT, step)
    if session.flow is not None and (session.flow.kind, session.flow.turn) == (to.kind, to.turn):
        session.flow.texts += to.texts
    else:
        stream(session, step)


def act(session: Session, step: Any) -> None:
    """Let text happen like everything else."""
    session.act(step)
    assert session.chat


async def _play(folder: Path, plan: list[Any], way: Way) -> tuple[list[bytes], Any, Any]:
    """Play it. Return the log, the states, and those after a restart. A subscriber sees the log."""
    async with started(folder) as host:
        first = host.opening.last_seq
        session = await streaming(host)
        feed = host.feed(Identity("me"))
        await feed.subscribe(URI)
        refused = []
        for place, step in enumerate(plan):
            if step == "refuse":
                origin: Any = {"clientId": "me", "clientSeq": place}
                refused.append(session.refuse(URI, title_changed("no"), origin, "not now", Identity("me")))
            elif step == "read":
                assert session.chat is session.chat
            elif step == "wait":
                await host.journal.wait()
            elif step == "tick":
                await asyncio.sleep(0)
            elif isinstance(step, ChatDelta | ChatReasoning):
                way(session, step)
            else:
                session.act(step)
        await host.journal.wait()
        assert host.journal.buffered == 0
        entries = logged(host, session)
        gone = [one.seq for one in refused]
        shown = [entry.envelope for entry in entries if entry.seq not in gone]
        heard = envelopes(await feed.subscriber.wait_next()) if shown else []
        assert heard == shown
        states = session.conversation
        assert session.is_shown
        assert (session.shown_state, session.shown_chat.state) == states
    async with started(folder) as host:
        again = await host.sessions.get(URI)
        return [_counted(entry, first) for entry in entries], states, again.conversation


@settings(max_examples=25)
@given(steps)
def test_whatever_comes_between_streaming_gives_the_same_log_and_state_as_acting(plan: list[Any]) -> None:
    async def story() -> None:
        with tempfile.TemporaryDirectory() as folder:
            acted = await _play(Path(folder, "acted"), plan, act)
            for name, way in (("streamed", stream), ("flowed", flow)):
                log, states, states_after = await _play(Path(folder, name), plan, way)
                assert log == acted[0]
                assert states == states_after == acted[1]
        places = [json.loads(line)["serverSeq"] for line in acted[0]]
        assert places == sorted(places)

    run(story)


def _counted(entry: Entry, first: int) -> bytes:
    """Return an envelope with its number counted from the beginning of its range."""
    return entry.envelope.replace(b"%d" % entry.seq, b"%d" % (entry.seq - first))
