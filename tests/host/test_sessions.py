"""Sessions that are in memory or on disk, and whoever listens to them, on a real SQLite file."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.core import actions
from agenthost.errors import SlowConsumer
from agenthost.host.access.identity import Identity
from agenthost.host.state.session import TranscriptEntry
from chat_building import BEGUN
from hosting import new_session, new_states, run, started, user_message

URI = "demo:/one"


def start_turn(turn_id: str = "t1") -> list[Any]:
    return [
        actions.turn_started(turn_id, user_message(), BEGUN),
        actions.response_part(turn_id, {"kind": "markdown", "id": "p1", "content": ""}),
    ]


def heard(items: list[Any]) -> list[int]:
    return [item.seq for item in items]


def test_a_session_is_there_after_a_restart_with_all_that_happened(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI, name="one", private={"kept": {"secret": 1}})
            for action in start_turn():
                session.act(action)
            for place in range(50):
                session.stream("chat/delta", "t1", "p1", f"{place} ")
            ticket = session.act(
                actions.title_changed("Named"),
                messages=[TranscriptEntry("t1", {"role": "user", "content": "Hi"})],
            )
            await host.journal.wait(ticket)
            before, last_seq = session.conversation, host.line.shown_seq
        async with started(tmp_path) as host:
            again = await host.sessions.get(URI)
            assert again.conversation == before
            assert again.messages == [TranscriptEntry("t1", {"role": "user", "content": "Hi"})]
            assert (again.private, again.row.name) == ({"kept": {"secret": 1}}, "one")
            assert host.opening.active == [again.number]
            assert host.line.shown_seq >= last_seq

    run(story)


def test_private_data_is_kept_without_any_action(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI, private={"kept": {"old": 1}})
            last_seq = host.line.shown_seq
            await host.journal.wait(session.keep({"kept": {"new": 2}}))
            assert host.line.shown_seq == last_seq
            with pytest.raises(TypeError):
                session.keep({"kept": {"new": object()}})
            with pytest.raises(TypeError):
                session.act(actions.title_changed("not alone"), private={"kept": {"new": object()}})
            await host.journal.wait()
            assert session.private == {"kept": {"new": 2}}
        async with started(tmp_path) as host:
            session = await host.sessions.get(URI)
            assert (session.private, session.conversation) == ({"kept": {"new": 2}}, new_states(URI))

    run(story)


def test_messages_of_one_group_are_cut_and_added_in_the_order_of_the_calls(tmp_path: Path) -> None:
    def said(text: str) -> TranscriptEntry:
        return TranscriptEntry("t1", {"role": "user", "content": text})

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI, messages=[said("seed")])
            session.act(actions.title_changed("1"), messages=[said("a"), said("b")])
            session.act(actions.title_changed("2"), cut=2, messages=[said("c")])
            session.act(actions.title_changed("3"), messages=[said("d")])
            await host.journal.wait()
            expected = [said(text) for text in ("seed", "a", "c", "d")]
            assert session.messages == expected
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).messages == expected

    run(story)


def test_a_subscriber_hears_everything_after_its_view_once_and_in_order(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            session.act(actions.title_changed("before"))
            feed = host.feed(Identity("me"))
            view = await feed.subscribe(URI)
            # Not durable yet when the view was taken, so it is not in it.
            assert view.state["title"] == "New"
            for title in ("a", "b"):
                session.act(actions.title_changed(title))
            await host.journal.wait()
            items = await feed.subscriber.wait_next()
            assert heard(items) == [view.seq + 1, view.seq + 2, view.seq + 3]
            assert [json.loads(item.envelopes()[0])["action"]["title"] for item in items] == [
                "before",
                "a",
                "b",
            ]

    run(story)


def test_nothing_is_shown_before_it_is_durable(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            session.act(actions.title_changed("decided"))
            assert session.state["title"] == "decided"
            assert session.shown_state["title"] == "New"
            assert feed.subscriber.backlog == 0
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) == feed.subscriber.backlog == 1

    run(story)


def test_one_that_was_away_gets_what_it_missed_also_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            seen = (await feed.subscribe(URI)).seq
            feed.close()
            for title in ("a", "b", "c"):
                session.act(actions.title_changed(title))
            await host.journal.wait()
        async with started(tmp_path) as host:
            feed = host.feed(Identity("me"))
            back = await feed.resume(seen, [URI, "demo:/gone", URI])
            assert back.replay is not None
            titles = [json.loads(entry.envelope)["action"]["title"] for entry in back.replay]
            assert (titles, back.missing, back.views) == (["a", "b", "c"], ["demo:/gone"], [])
            session = await host.sessions.get(URI)
            session.act(actions.title_changed("d"))
            assert heard(await feed.subscriber.wait_next()) == [host.opening.last_seq + 1]

    run(story)


@pytest.mark.parametrize("last_seen", [-1, 10_000])
def test_a_number_that_cannot_be_gets_a_fresh_view(tmp_path: Path, last_seen: int) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            await host.journal.wait(session.act(actions.title_changed("now")))
            back = await host.feed(Identity("me")).resume(last_seen, [URI])
            assert back.replay is None
            assert [view.state["title"] for view in back.views] == ["now"]

    run(story)


def test_what_is_no_longer_kept_comes_as_a_fresh_view(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            seen = host.line.shown_seq
            for place in range(20):
                session.act(actions.title_changed(str(place)))
            host.journal.write([session.snapshot()])
            await host.journal.wait()
            host.storage.trim(5, 1_000)
            back = await host.feed(Identity("me")).resume(seen, [URI])
            assert (back.replay, back.views[0].state["title"]) == (None, "19")
            recent = await host.feed(Identity("me")).resume(host.line.shown_seq - 3, [URI])
            assert recent.replay is not None
            assert len(recent.replay) == 3
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["title"] == "19"

    run(story)


def test_a_refusal_is_replayed_to_its_client_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            seen = host.line.shown_seq
            session.refuse(
                URI,
                actions.title_changed("no"),
                {"clientId": "me", "clientSeq": 1},
                "not now",
                Identity("me"),
            )
            await host.journal.wait()
            mine = await host.feed(Identity("me")).resume(seen, [URI])
            yours = await host.feed(Identity("you")).resume(seen, [URI])
            assert mine.replay is not None
            assert json.loads(mine.replay[0].envelope)["rejectionReason"] == "not now"
            assert yours.replay == []
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["title"] == "New"

    run(story)


def test_a_listener_that_does_not_read_is_cut_off_and_harms_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, subscriber_items=50) as host:
            session = await new_session(host, URI)
            slow, quick = host.feed(Identity("slow")), host.feed(Identity("quick"))
            for feed in (slow, quick):
                await feed.subscribe(URI)
            heard_by_quick = 0
            for place in range(100):
                session.act(actions.title_changed(str(place)))
                if place % 50 == 49:
                    await host.journal.wait()
                    heard_by_quick += len(await quick.subscriber.wait_next())
            assert heard_by_quick == 100
            with pytest.raises(SlowConsumer, match="fell behind"):
                await slow.subscriber.wait_next()
            again = host.feed(Identity("slow"))
            assert (await again.subscribe(URI)).state["title"] == "99"

    run(story)


def test_sessions_that_nobody_needs_leave_memory_and_come_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, sessions_in_memory=3) as host:
            listened = await new_session(host, "demo:/0")
            feed = host.feed(Identity("me"))
            await feed.subscribe("demo:/0")
            for place in range(1, 10):
                await new_session(host, f"demo:/{place}")
            assert host.sessions.in_memory == 3
            assert await host.sessions.get("demo:/0") is listened
            assert (await host.sessions.get("demo:/1")).conversation == new_states("demo:/1")

    run(story)


def test_lists_are_newest_first_and_stable_while_sessions_are_added(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            for place in range(5):
                await new_session(host, f"demo:/{place}")
            first = await host.sessions.page(owner=None, before=None, limit=2)
            await new_session(host, "demo:/new")
            second = await host.sessions.page(owner=None, before=first[-1].number, limit=10)
            assert [row.uri for row in (*first, *second)] == [f"demo:/{place}" for place in (4, 3, 2, 1, 0)]

    run(story)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["turn", "turn", "cut", "ask"]), st.integers(0, 5)), max_size=25))
def test_a_session_knows_the_turns_that_it_had_however_they_come_and_go(plan: list[tuple[str, int]]) -> None:
    async def story(folder: Path) -> None:
        async with started(folder) as host:
            session = await new_session(host, URI)
            for what, number in plan:
                had = [turn["id"] for turn in session.chat["turns"]]
                turn_id = f"t{number}"
                if what == "turn" and turn_id not in had:
                    session.act(start_turn(turn_id)[0])
                    session.act(actions.turn_complete(turn_id, 5))
                elif what == "cut" and turn_id in had:
                    session.act(actions.truncated(turn_id))
                elif what == "ask":
                    assert session.had_turn(turn_id) == (turn_id in had)
            left = {turn["id"] for turn in session.chat["turns"]}
            assert {f"t{number}" for number in range(6) if session.had_turn(f"t{number}")} == left

    with tempfile.TemporaryDirectory() as folder:
        run(lambda: story(Path(folder)))


def test_a_long_turn_is_written_as_it_goes_and_loads_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            for action in start_turn():
                session.act(action)
            for _ in range(5_000):
                session.stream("chat/delta", "t1", "p1", "hello world ")
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) < 5_000
            assert host.journal.stats.commits < 100
        async with started(tmp_path) as host:
            chat: Any = (await host.sessions.get(URI)).chat
            assert chat["activeTurn"]["responseParts"][0]["content"] == "hello world " * 5_000

    run(story)
