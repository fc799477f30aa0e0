"""Sessions that are in memory or on disk, and whoever listens to them, on a real SQLite file."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.errors import SessionExists, SessionNotFound, SlowConsumer
from agenthost.host.identity import Identity
from agenthost.host.session import Said
from hosting import new_state, run, started

URI = "demo:/one"


def rename(title: str, uri: str = URI) -> Any:
    return {"type": "session/titleChanged", "session": uri, "title": title}


def start_turn(turn_id: str = "t1") -> list[Any]:
    started_turn = {
        "type": "session/turnStarted",
        "session": URI,
        "turnId": turn_id,
        "userMessage": {"text": "Hi"},
    }
    part = {"kind": "markdown", "id": "p1", "content": ""}
    return [started_turn, {"type": "session/responsePart", "session": URI, "turnId": turn_id, "part": part}]


def heard(items: list[Any]) -> list[int]:
    return [item.seq for item in items]


def test_a_session_is_there_after_a_restart_with_all_that_happened(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI), name="one", private={"secret": 1})
            for action in start_turn():
                session.act(action)
            for place in range(50):
                session.stream("session/delta", "t1", "p1", f"{place} ")
            ticket = session.act(rename("Named"), messages=[Said("t1", {"role": "user", "content": "Hi"})])
            await host.journal.wait(ticket)
            before, last_seq = session.state, host.journal.last_seq
        async with started(tmp_path) as host:
            again = await host.sessions.get(URI)
            assert again.state == before
            assert again.messages == [Said("t1", {"role": "user", "content": "Hi"})]
            assert (again.private, again.row.name) == ({"secret": 1}, "one")
            assert host.opening.active == [again.number]
            assert host.journal.last_seq >= last_seq

    run(story)


def test_private_data_is_kept_without_any_action(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI), private={"old": 1})
            last_seq = host.journal.last_seq
            await host.journal.wait(session.keep({"new": 2}))
            assert host.journal.last_seq == last_seq
            with pytest.raises(TypeError):
                session.keep({"new": object()})
            with pytest.raises(TypeError):
                session.act(rename("not alone"), private={"new": object()})
            await host.journal.wait()
            assert session.private == {"new": 2}
        async with started(tmp_path) as host:
            session = await host.sessions.get(URI)
            assert (session.private, session.state) == ({"new": 2}, new_state(URI))

    run(story)


def test_messages_of_one_group_are_cut_and_added_in_the_order_of_the_calls(tmp_path: Path) -> None:
    def said(text: str) -> Said:
        return Said("t1", {"role": "user", "content": text})

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI), messages=[said("seed")])
            session.act(rename("1"), messages=[said("a"), said("b")])
            session.act(rename("2"), cut=2, messages=[said("c")])
            session.act(rename("3"), messages=[said("d")])
            await host.journal.wait()
            expected = [said(text) for text in ("seed", "a", "c", "d")]
            assert session.messages == expected
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).messages == expected

    run(story)


def test_a_uri_or_a_name_is_given_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            made = await asyncio.gather(
                *(host.sessions.create(new_state(URI)) for _ in range(3)), return_exceptions=True
            )
            assert sorted(type(one).__name__ for one in made) == ["Session", "SessionExists", "SessionExists"]
            await host.sessions.create(new_state("demo:/two"), name="same")
            with pytest.raises(SessionExists):
                await host.sessions.create(new_state("demo:/three"), name="same")
            assert host.sessions.count == 2

    run(story)


def test_a_disposed_session_is_gone_and_its_uri_is_free_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            await host.sessions.create(new_state(URI))
            await host.sessions.dispose(URI)
            with pytest.raises(SessionNotFound):
                await host.sessions.get(URI)
            with pytest.raises(SessionNotFound):
                await host.sessions.dispose(URI)
            await host.sessions.create(new_state(URI))
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state == new_state(URI)
            assert host.sessions.count == 1

    run(story)


def test_a_subscriber_hears_everything_after_its_view_once_and_in_order(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            session.act(rename("before"))
            feed = host.feed(Identity("me"))
            view = await feed.subscribe(URI)
            # Not durable yet when the view was taken, so it is not in it.
            assert view.state["summary"]["title"] == "New"
            for title in ("a", "b"):
                session.act(rename(title))
            await host.journal.wait()
            items = await feed.subscriber.wait_next()
            assert heard(items) == [view.seq + 1, view.seq + 2, view.seq + 3]
            assert [json.loads(item.envelope)["action"]["title"] for item in items] == ["before", "a", "b"]

    run(story)


def test_nothing_is_shown_before_it_is_durable(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            session.act(rename("decided"))
            assert session.state["summary"]["title"] == "decided"
            assert session.shown.state["summary"]["title"] == "New"
            assert feed.subscriber.backlog == 0
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) == feed.subscriber.backlog == 1

    run(story)


def test_one_that_was_away_gets_what_it_missed_also_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            feed = host.feed(Identity("me"))
            seen = (await feed.subscribe(URI)).seq
            feed.close()
            for title in ("a", "b", "c"):
                session.act(rename(title))
            await host.journal.wait()
        async with started(tmp_path) as host:
            feed = host.feed(Identity("me"))
            back = await feed.resume(seen, [URI, "demo:/gone", URI])
            assert back.replay is not None
            titles = [json.loads(entry.envelope)["action"]["title"] for entry in back.replay]
            assert (titles, back.missing, back.views) == (["a", "b", "c"], ["demo:/gone"], [])
            session = await host.sessions.get(URI)
            session.act(rename("d"))
            assert heard(await feed.subscriber.wait_next()) == [host.opening.last_seq + 1]

    run(story)


@pytest.mark.parametrize("last_seen", [-1, 10_000])
def test_a_number_that_cannot_be_gets_a_fresh_view(tmp_path: Path, last_seen: int) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            await host.journal.wait(session.act(rename("now")))
            back = await host.feed(Identity("me")).resume(last_seen, [URI])
            assert back.replay is None
            assert [view.state["summary"]["title"] for view in back.views] == ["now"]

    run(story)


def test_what_is_no_longer_kept_comes_as_a_fresh_view(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            seen = host.journal.shown_seq
            for place in range(20):
                session.act(rename(str(place)))
            host.journal.write([session.snapshot()])
            await host.journal.wait()
            host.storage.trim(5, 1_000)
            back = await host.feed(Identity("me")).resume(seen, [URI])
            assert (back.replay, back.views[0].state["summary"]["title"]) == (None, "19")
            recent = await host.feed(Identity("me")).resume(host.journal.shown_seq - 3, [URI])
            assert recent.replay is not None
            assert len(recent.replay) == 3
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["summary"]["title"] == "19"

    run(story)


def test_a_refusal_is_replayed_to_its_client_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            seen = host.journal.shown_seq
            session.refuse(rename("no"), {"clientId": "me", "clientSeq": 1}, "not now", Identity("me"))
            await host.journal.wait()
            mine = await host.feed(Identity("me")).resume(seen, [URI])
            yours = await host.feed(Identity("you")).resume(seen, [URI])
            assert mine.replay is not None
            assert json.loads(mine.replay[0].envelope)["rejectionReason"] == "not now"
            assert yours.replay == []
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["summary"]["title"] == "New"

    run(story)


def test_a_listener_that_does_not_read_is_cut_off_and_harms_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, subscriber_items=50) as host:
            session = await host.sessions.create(new_state(URI))
            slow, quick = host.feed(Identity("slow")), host.feed(Identity("quick"))
            for feed in (slow, quick):
                await feed.subscribe(URI)
            heard_by_quick = 0
            for place in range(100):
                session.act(rename(str(place)))
                if place % 50 == 49:
                    await host.journal.wait()
                    heard_by_quick += len(await quick.subscriber.wait_next())
            assert heard_by_quick == 100
            with pytest.raises(SlowConsumer, match="fell behind"):
                await slow.subscriber.wait_next()
            again = host.feed(Identity("slow"))
            assert (await again.subscribe(URI)).state["summary"]["title"] == "99"

    run(story)


def test_sessions_that_nobody_needs_leave_memory_and_come_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, sessions_in_memory=3) as host:
            listened = await host.sessions.create(new_state("demo:/0"))
            feed = host.feed(Identity("me"))
            await feed.subscribe("demo:/0")
            for place in range(1, 10):
                await host.sessions.create(new_state(f"demo:/{place}"))
            assert host.sessions.in_memory == 3
            assert await host.sessions.get("demo:/0") is listened
            assert (await host.sessions.get("demo:/1")).state == new_state("demo:/1")

    run(story)


def test_lists_are_newest_first_and_stable_while_sessions_are_added(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            for place in range(5):
                await host.sessions.create(new_state(f"demo:/{place}"))
            first = await host.sessions.page(owner=None, before=None, limit=2)
            await host.sessions.create(new_state("demo:/new"))
            second = await host.sessions.page(owner=None, before=first[-1].number, limit=10)
            assert [row.uri for row in (*first, *second)] == [f"demo:/{place}" for place in (4, 3, 2, 1, 0)]

    run(story)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["turn", "turn", "cut", "ask"]), st.integers(0, 5)), max_size=25))
def test_a_session_knows_the_turns_that_it_had_however_they_come_and_go(plan: list[tuple[str, int]]) -> None:
    async def story(folder: Path) -> None:
        async with started(folder) as host:
            session = await host.sessions.create(new_state(URI))
            for what, number in plan:
                had = [turn["id"] for turn in session.state["turns"]]
                turn_id = f"t{number}"
                if what == "turn" and turn_id not in had:
                    session.act(start_turn(turn_id)[0])
                    session.act({"type": "session/turnComplete", "session": URI, "turnId": turn_id})
                elif what == "cut" and turn_id in had:
                    session.act({"type": "session/truncated", "session": URI, "turnId": turn_id})
                elif what == "ask":
                    assert session.had_turn(turn_id) == (turn_id in had)
            left = {turn["id"] for turn in session.state["turns"]}
            assert {f"t{number}" for number in range(6) if session.had_turn(f"t{number}")} == left

    with tempfile.TemporaryDirectory() as folder:
        run(lambda: story(Path(folder)))


def test_a_long_turn_is_written_as_it_goes_and_loads_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            for action in start_turn():
                session.act(action)
            for _ in range(5_000):
                session.stream("session/delta", "t1", "p1", "hello world ")
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) < 5_000
            assert host.journal.stats.commits < 100
        async with started(tmp_path) as host:
            state: Any = (await host.sessions.get(URI)).state
            assert state["activeTurn"]["responseParts"][0]["content"] == "hello world " * 5_000

    run(story)
