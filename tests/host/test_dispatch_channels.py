"""Where client actions go: to their channel, if it exists and is for them, with the times that they lack."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.core.decisions import RULES
from agenthost.core.times import iso_time
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.listeners import ActionListeners
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.wire.ahp import ROOT_URI
from chat_building import BEGUN
from dispatching import CHAT, ME, URI, Noted, dispatch, start, tell, translate, types
from hosting import new_states, run, started, user_message


def test_an_action_on_a_session_that_does_not_exist_is_ignored(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: Noted, host: Engine) -> None:
        assert await dispatcher.dispatch(ME, 1, "demo:/other", actions.title_changed("x")) is None
        assert await dispatcher.dispatch(ME, 2, "ahp-chat:/other", start("t1")) is None
        await host.journal.wait()
        assert (noted, host.line.shown_seq) == ([], host.opening.last_seq + 1)  # the root's

    tell(tmp_path, story)


RUBBISH: list[Any] = [None, 5, [], {}, {"type": 5}, {"type": "session/titleChanged"}]


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_an_action_that_names_no_channel_is_refused_and_not_stored(tmp_path: Path, rubbish: Any) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: Noted, host: Engine) -> None:
        refusal = dispatcher.refuse(ME, 1, "", rubbish, "it names no channel")
        assert (noted, refusal.action, refusal.only_for) == ([], rubbish, "me")
        await host.journal.wait()
        back = await host.feed(ME).resume(0, [ROOT_URI])
        assert back.replay is not None
        assert refusal.seq not in [entry.seq for entry in back.replay]

    tell(tmp_path, story)


@pytest.mark.parametrize("channel", [URI, CHAT, ROOT_URI])
@pytest.mark.parametrize("rubbish", RUBBISH)
def test_what_is_no_action_of_its_channel_is_refused(tmp_path: Path, rubbish: Any, channel: str) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: Noted, host: Engine) -> None:
        refusal = await dispatcher.dispatch(ME, 1, channel, rubbish)
        assert refusal is not None
        assert (noted, refusal.action, refusal.only_for, refusal.channel) == ([], rubbish, "me", channel)
        assert session.conversation == new_states(URI)
        await host.journal.wait()
        back = await host.feed(ME).resume(refusal.seq - 1, [channel])
        replayed = [entry.seq for entry in back.replay or []]
        is_kept = channel != ROOT_URI or type(rubbish) is dict
        assert replayed == ([refusal.seq] if is_kept else [])

    tell(tmp_path, story)


@pytest.mark.parametrize("channel", [URI, CHAT, ROOT_URI])
def test_an_action_of_another_kind_of_channel_is_refused(
    tmp_path: Path, channel: str, caplog: pytest.LogCaptureFixture
) -> None:
    scope = {URI: "session/", CHAT: "chat/", ROOT_URI: "root/"}[channel]

    async def story(dispatcher: Dispatcher, session: Session, noted: Noted, _host: Engine) -> None:
        others = [kind for kind in RULES if not kind.startswith(scope)]
        for number, kind in enumerate(others):
            refusal = await dispatcher.dispatch(ME, number, channel, {"type": kind, "turnId": "t1"})
            assert refusal is not None
            assert (refusal.reason, refusal.channel) == ("this is not an action of its channel", channel)
        assert (noted, session.conversation) == ([], new_states(URI))
        assert caplog.text == ""

    tell(tmp_path, story)


def test_an_older_clients_action_on_a_resource_of_another_kind_is_ignored(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: Noted, host: Engine) -> None:
        before = host.journal.ticket
        clear = {"type": "terminal/cleared", "terminal": URI}
        assert await dispatcher.dispatch(ME, 1, URI, clear, translate=translate) is None
        assert (noted, host.journal.ticket) == ([], before)

    tell(tmp_path, story)


def test_a_chat_that_is_not_in_memory_is_found_by_its_channel(tmp_path: Path) -> None:
    async def story(_dispatcher: Dispatcher, _session: Session, _noted: Noted, host: Engine) -> None:
        await host.journal.wait()

    async def after() -> None:
        async with started(tmp_path) as host:
            noted: Noted = []
            dispatcher = Dispatcher(
                host.sessions, root=host.root, senders=host.senders, listeners=ActionListeners(noted.append)
            )
            assert host.sessions.in_memory == 0
            assert await dispatcher.dispatch(ME, 1, CHAT, start("t1")) is None
            assert types(noted) == ["turnStarted"]
            assert (await host.sessions.get(URI)).has_turn

    tell(tmp_path, story)
    run(after)


MESSAGE = user_message()
NO_TIMES: list[Any] = [None, 5, True, [], {}]


@pytest.mark.parametrize("time", NO_TIMES)
def test_a_turn_that_brings_no_time_starts_now(tmp_path: Path, time: Any) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, host: Engine) -> None:
        before = iso_time(host.now()) or ""
        action = {"type": "chat/turnStarted", "turnId": "t1", "message": MESSAGE}
        assert (
            await dispatch(dispatcher, 1, action if time is None else {**action, "startedAt": time}) is None
        )
        started_at = session.chat["activeTurn"]["startedAt"]
        assert before < started_at < (iso_time(host.now()) or "")
        await host.journal.wait()
        assert session.chat["modifiedAt"] == session.state["chats"][0]["modifiedAt"] == started_at

    tell(tmp_path, story)


@pytest.mark.parametrize("time", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00." + "0" * 99])
def test_a_turn_whose_time_is_none_is_refused(tmp_path: Path, time: str) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, _host: Engine) -> None:
        refusal = await dispatch(dispatcher, 1, actions.turn_started("t1", MESSAGE, time))
        assert "$.startedAt" in str(refusal and refusal.reason)
        assert not session.has_turn

    tell(tmp_path, story)


@pytest.mark.parametrize(
    ("duration", "end"),
    [(1_500, "2026-01-02T03:04:06.500Z"), (0, BEGUN), (1e300, BEGUN)],
)
def test_the_time_of_a_cancelled_turn_is_the_clients(tmp_path: Path, duration: float, end: str) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, _host: Engine) -> None:
        await dispatch(dispatcher, 1, start("t1"))
        assert await dispatch(dispatcher, 2, actions.turn_cancelled("t1", duration)) is None
        assert session.chat["turns"][0]["duration"] == duration
        assert session.chat["modifiedAt"] == end  # no calendar reaches the last one

    tell(tmp_path, story)


@pytest.mark.parametrize("duration", [*NO_TIMES[:1], -1, "long", []])
def test_a_cancelled_turn_that_brings_no_time_took_as_long_as_it_did(tmp_path: Path, duration: Any) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, host: Engine) -> None:
        began = host.now()
        await dispatch(dispatcher, 1, actions.turn_started("t1", MESSAGE, iso_time(began) or ""))
        action = {"type": "chat/turnCancelled", "turnId": "t1"}
        cancelled = action if duration is None else {**action, "duration": duration}
        assert await dispatch(dispatcher, 2, cancelled) is None
        assert 0 < session.chat["turns"][0]["duration"] < host.now() - began

    tell(tmp_path, story)
