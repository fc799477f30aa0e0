"""Feeds of the root and of sessions: each hears its own, without gap or overlap."""

import asyncio
import json
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from agenthost.core.actions import title_changed
from agenthost.errors import SessionNotFound
from agenthost.host.access.identity import Identity
from agenthost.host.state.engine import Engine
from agenthost.host.storage import Entry
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp import ROOT_URI
from chat_building import BEGUN
from hosting import new_session, run, started, user_message

URI = "demo:/one"
ME = Identity("me")


def types(envelopes: Sequence[bytes]) -> list[str]:
    return [json.loads(envelope)["action"]["type"] for envelope in envelopes]


def agent(name: str) -> Any:
    return {"provider": name, "displayName": name, "description": "", "models": []}


def test_what_happens_to_a_session_never_reaches_the_root_and_the_other_way_round(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            of_root, of_session, of_both = (
                host.feed(Identity("a")),
                host.feed(Identity("b")),
                host.feed(Identity("c")),
            )
            await of_root.subscribe(ROOT_URI)
            await of_session.subscribe(URI)
            for uri in (ROOT_URI, URI):
                await of_both.subscribe(uri)
            session.act(title_changed("x"))
            host.root.set_agents([agent("new")])
            await host.journal.wait()
            heard = [
                types([item.envelopes()[0] for item in await feed.subscriber.wait_next()])
                for feed in (of_root, of_session, of_both)
            ]
            both = ["session/titleChanged", "root/agentsChanged"]
            assert heard == [["root/agentsChanged"], ["session/titleChanged"], both]

    run(story)


def test_a_view_of_the_root_and_what_follows_have_no_gap_and_no_overlap(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            host.root.set_agents([agent("before")])
            feed = host.feed(ME)
            view = await feed.subscribe(ROOT_URI)
            assert (view.uri, view.state["agents"]) == (ROOT_URI, [])  # not durable yet, so not in it
            host.root.set_agents([agent("after")])
            await host.journal.wait()
            items = await feed.subscriber.wait_next()
            assert [item.seq for item in items] == [view.seq + 1, view.seq + 2]
            again = await feed.subscribe(ROOT_URI)
            assert (again.state["agents"], again.seq) == ([agent("after")], items[-1].seq)

    run(story)


def test_after_unsubscribing_from_the_root_nothing_more_is_received(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            feed = host.feed(ME)
            await feed.subscribe(ROOT_URI)
            await feed.unsubscribe(ROOT_URI)
            await feed.unsubscribe("demo:/gone")
            host.root.set_agents([agent("new")])
            await host.journal.wait()
            assert feed.subscriber.backlog == 0

    run(story)


def test_one_that_comes_back_gets_root_and_sessions_in_one_order(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            seen = host.line.shown_seq
            for title in ("a", "b"):
                session.act(title_changed(title))
                host.root.set_agents([agent(title)])
            await host.journal.wait()
        async with started(tmp_path) as host:
            feed = host.feed(ME)
            back = await feed.resume(seen, [URI, ROOT_URI, "demo:/gone"])
            assert back.replay is not None
            assert (
                types([entry.envelope for entry in back.replay])
                == [
                    "session/titleChanged",
                    "root/agentsChanged",
                ]
                * 2
            )
            assert (back.views, back.missing) == ([], ["demo:/gone"])
            host.root.set_agents([])
            assert [item.seq for item in await feed.subscriber.wait_next()] == [host.opening.last_seq + 1]
            only_root = await host.feed(Identity("you")).resume(seen, [ROOT_URI])
            assert only_root.replay is not None
            assert {entry.resource for entry in only_root.replay} == {host.root.number}

    run(story)


def test_a_session_that_goes_while_somebody_comes_back_is_missing(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            await new_session(host, URI)
            back, _ = await asyncio.gather(
                host.feed(ME).resume(-1, [ROOT_URI, URI]), host.removals.remove(URI)
            )
            assert ([view.uri for view in back.views], back.missing) == ([ROOT_URI], [URI])

    run(story)


def test_a_session_that_two_dispose_at_once_goes_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            await new_session(host, URI)
            ends = await asyncio.gather(
                *(host.removals.remove(URI) for _ in range(2)), return_exceptions=True
            )
            assert sorted(type(end) is SessionNotFound for end in ends) == [False, True]
            assert host.session_counts.total == host.root.state["activeSessions"] == 0

    run(story)


def test_one_that_missed_more_than_may_wait_for_it_gets_views(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, subscriber_bytes=20_000) as host:
            session = await new_session(host, URI)
            seen = host.line.shown_seq
            session.act(title_changed("x" * 19_000))
            await host.journal.wait()
            back = await host.feed(ME).resume(seen, [URI, ROOT_URI])
            assert back.replay is not None
            assert types([entry.envelope for entry in back.replay]) == ["session/titleChanged"]
            session.act(title_changed("y" * 1_000))
            await host.journal.wait()
            back = await host.feed(ME).resume(seen, [URI, ROOT_URI])
            assert (back.replay, [view.uri for view in back.views]) == (None, [URI, ROOT_URI])
            assert back.views[0].state["title"] == "y" * 1_000

    run(story)


def test_text_counts_as_it_is_sent_and_not_as_it_is_stored(tmp_path: Path) -> None:
    async def story() -> None:
        part = {"kind": "markdown", "id": "p1", "content": ""}
        turn = {"id": "t1", "startedAt": BEGUN, "message": user_message(), "responseParts": [part]}
        async with started(tmp_path, subscriber_bytes=20_000) as host:
            session = await new_session(host, URI, chat={"activeTurn": turn})
            seen = host.line.shown_seq
            for _ in range(1_000):
                session.stream("chat/delta", "t1", "p1", "x")
            await host.journal.wait()
            (stored,) = host.storage.replay(seen, [session.number], ME.key)
            assert len(stored.envelope) < 5_000
            back = await host.feed(ME).resume(seen, [URI])
            assert (back.replay, [view.uri for view in back.views]) == (None, [URI])

    run(story)


class TrimmedWhileRead(SqliteStorage):
    """A store that is trimmed at the worst moment."""

    def replay(
        self, after: int, resources: Collection[int], client: str, max_bytes: float = math.inf
    ) -> Sequence[Entry]:
        self.trim(1, 1)
        return super().replay(after, resources, client, max_bytes)


def test_a_log_that_is_trimmed_while_it_is_read_makes_no_gap(tmp_path: Path) -> None:
    async def story() -> None:
        async with Engine(TrimmedWhileRead(tmp_path)) as host:
            session = await new_session(host, URI)
            seen = host.line.shown_seq
            for place in range(20):
                session.act(title_changed(str(place)))
            host.journal.write([session.snapshot()])
            await host.journal.wait()
            back = await host.feed(ME).resume(seen, [URI])
            assert back.replay is None
            assert [view.state["title"] for view in back.views] == ["19"]

    run(story)
