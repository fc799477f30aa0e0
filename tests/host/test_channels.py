"""A session and its default chat: two channels of one log."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.errors import SessionNotFound
from agenthost.host.access.identity import Identity
from agenthost.host.log.subscriptions import LogItem
from agenthost.wire.json import decode_json
from chat_building import BEGUN
from following import check_session
from hosting import chat_of, new_session, run, started, user_message

URI = "demo:/one"
CHAT = chat_of(URI)


def told(items: list[LogItem]) -> list[tuple[str, str]]:
    """Return the channels and the types of actions."""
    envelopes = [decode_json(line) for item in items for line in item.envelopes()]
    return [(envelope["channel"], envelope["action"]["type"]) for envelope in envelopes]


def start(turn_id: str = "t1") -> Any:
    return actions.turn_started(turn_id, user_message(), BEGUN)


def call_to(ready: Any) -> list[Any]:
    """Return the actions of a call up to the one that makes it ready."""
    return [actions.tool_call_start("t1", "c1", name="look", label="Look"), ready]


ASKED = actions.tool_call_ready("t1", "c1", "Look?", tool_input="{}")
BY_CLIENT = [
    actions.tool_call_start("t1", "c1", name="look", label="Look", client_id="me"),
    actions.tool_call_ready("t1", "c1", "Look", tool_input="{}", confirmed="not-needed"),
]
QUESTION = actions.input_requested({"id": "r1", "message": "Well?"})


@pytest.mark.parametrize(
    ("before", "cause", "effects"),
    [
        ([], start(), ["chatUpdated"]),
        ([actions.is_read_changed(is_read=True)], start(), ["isReadChanged", "chatUpdated"]),
        ([start()], actions.turn_complete("t1", 5), ["chatUpdated"]),
        ([start(), *call_to(ASKED)[:1]], ASKED, ["inputNeededSet", "chatUpdated"]),
        (
            [start(), *call_to(ASKED)],
            actions.tool_call_approved("t1", "c1"),
            ["inputNeededRemoved", "chatUpdated"],
        ),
        ([start(), BY_CLIENT[0]], BY_CLIENT[1], ["inputNeededSet"]),
        ([start()], QUESTION, ["inputNeededSet", "chatUpdated"]),
        (
            [start(), QUESTION],
            actions.input_completed("r1", "cancel"),
            ["inputNeededRemoved", "chatUpdated"],
        ),
        ([start(), QUESTION], actions.turn_cancelled("t1", 5), ["inputNeededRemoved", "chatUpdated"]),
        ([start(), QUESTION], actions.truncated(None), ["inputNeededRemoved", "chatUpdated"]),
        ([start()], actions.activity_changed("Looking"), ["chatUpdated"]),
        ([start()], actions.activity_changed(None), []),
        ([start()], actions.draft_changed(user_message()), []),
        ([start()], actions.usage("t1", {"inputTokens": 1}), []),
        ([], actions.pending_message_set("queued", "q1", user_message()), []),
    ],
)
def test_what_follows_from_an_action_in_the_session_is_in_its_commit(
    tmp_path: Path, before: list[Any], cause: Any, effects: list[str]
) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            for action in before:
                session.act(action)
            await host.journal.wait()
            feed = host.feed(Identity("me"))
            view = await feed.subscribe(URI)
            commits = host.journal.stats.commits
            session.act(cause)
            await host.journal.wait()
            items = await feed.subscriber.wait_next()
            assert host.journal.stats.commits == commits + 1
            assert told(items) == [(CHAT, cause["type"]), *((URI, f"session/{one}") for one in effects)]
            assert [item.seq for item in items] == list(range(view.seq + 1, session.shown_seq + 1))
            check_session(session)

    run(story)


def test_a_turn_that_begins_and_ends_in_one_commit_is_one_change_of_the_catalogue(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            session.act(start())
            session.act(actions.turn_complete("t1", 5))
            await host.journal.wait()
            assert [kind for _, kind in told(await feed.subscriber.wait_next())] == [
                "chat/turnStarted",
                "chat/turnComplete",
                "session/chatUpdated",
            ]
            check_session(session)

    run(story)


def test_text_that_streams_changes_nothing_of_the_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            session.act(start())
            session.act(actions.response_part("t1", {"kind": "markdown", "id": "p1", "content": ""}))
            await host.journal.wait()
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            state = session.state
            for _ in range(5):
                session.stream("chat/delta", "t1", "p1", "word ")
            await host.journal.wait()
            assert told(await feed.subscriber.wait_next()) == [(CHAT, "chat/delta")] * 5
            assert session.state is session.shown_state is state

    run(story)


def test_a_turn_that_starts_and_ends_is_a_working_and_an_idle_session_in_lists(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            statuses = []
            for action in (start(), QUESTION, actions.input_completed("r1", "accept"), None):
                session.act(action or actions.turn_failed("t1", {"errorType": "x", "message": "y"}, 1_500))
                await host.journal.wait()
                row = host.storage.find(uri=URI)
                assert row is not None
                statuses.append(decode_json(row.summary)["status"])
                assert decode_json(row.summary) == session.summary()
            assert statuses == [8, 24, 8, 2]
            assert session.summary()["modifiedAt"] == "2026-01-02T03:04:06.500Z"

    run(story)


def test_the_views_of_a_session_and_its_chat_are_of_one_moment(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            session.act(start())
            await host.journal.wait()
            feed = host.feed(Identity("me"))
            of_session, of_chat = await feed.subscribe_all([URI, CHAT, "ahp-chat:/other", CHAT])
            assert (of_session.uri, of_chat.uri) == (URI, CHAT)
            assert of_session.seq == of_chat.seq == host.line.shown_seq
            assert of_chat.state == session.chat
            assert of_session.chat is not None
            assert (of_session.state, of_session.chat.state) == session.conversation
            assert feed.channels == {URI, CHAT}

    run(story)


def test_one_channel_is_left_and_the_other_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            await feed.subscribe_all([URI, CHAT])
            await feed.unsubscribe(URI)
            assert feed.channels == {CHAT}
            session.act(start())
            await host.journal.wait()
            assert (CHAT, "chat/turnStarted") in told(await feed.subscriber.wait_next())
            await feed.unsubscribe(CHAT)
            session.act(actions.turn_complete("t1", 5))
            await host.journal.wait()
            assert (feed.channels, feed.subscriber.backlog) == (set(), 0)
            assert not host.hub.is_heard(session.number)

    run(story)


def test_a_fresh_view_of_one_channel_takes_nothing_from_the_other(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            session.act(start())
            await host.journal.wait()
            view = await feed.subscribe(CHAT)
            assert view.state["activeTurn"]["id"] == "t1"
            assert told(await feed.subscriber.wait_next()) == [(URI, "session/chatUpdated")]

    run(story)


@pytest.mark.parametrize("uri", ["ahp-chat:/other", "ahp-chat:/", "ahp-chat:/one/x", "ahp-chat:one", ""])
def test_a_chat_that_does_not_exist_is_not_found_and_missing(tmp_path: Path, uri: str) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            await new_session(host, URI)
            feed = host.feed(Identity("me"))
            with pytest.raises(SessionNotFound):
                await feed.subscribe(uri)
            await feed.unsubscribe(uri)
            assert await feed.subscribe_all([uri]) == []
            back = await feed.resume(host.line.shown_seq, [uri, CHAT])
            assert (back.replay, back.views, back.missing) == ([], [], [uri])
            assert feed.channels == {CHAT}

    run(story)


def test_a_chat_goes_with_its_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            seen = (await feed.subscribe(CHAT)).seq
            await host.removals.remove(URI)
            assert not host.hub.is_heard(session.number)
            with pytest.raises(SessionNotFound):
                await feed.subscribe(CHAT)
            assert (await host.feed(Identity("me")).resume(seen, [CHAT, URI])).missing == [CHAT, URI]
            other = await new_session(host, "demo:/other", name="one")
            assert (await feed.subscribe(CHAT)).state == other.chat

    run(story)
