"""Client actions on their way: refused, deferred, applied once, and what follows from them."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.core.decisions import Context
from agenthost.core.session_meta import model_of
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.host.access.identity import Identity
from agenthost.host.sessions.dispatch import INTERNAL_ERROR, Dispatcher
from agenthost.host.sessions.listeners import ActionListeners, AppliedAction
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session, TranscriptEntry
from dispatching import CHAT, ME, URI, Noted, dispatch, queue, start, tell, translate, types
from hosting import new_states, run, started, user_message


def entry(turn_id: str) -> TranscriptEntry:
    return TranscriptEntry(turn_id, {"role": "user", "content": turn_id})


def test_an_allowed_action_is_applied_with_its_origin(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: Noted, host: Engine) -> None:
        feed = host.feed(ME)
        await feed.subscribe(URI)
        assert await dispatch(dispatcher, 7, {**actions.title_changed("Mine"), "unknown": 1}) is None
        (item,) = await feed.subscriber.wait_next()
        assert b'"origin":{"clientId":"me","clientSeq":7}' in item.envelope
        assert b'"unknown":1' in item.envelope
        assert (types(noted), session.state["title"]) == (["titleChanged"], "Mine")

    tell(tmp_path, story)


def test_a_refused_action_changes_nothing_and_says_why(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: Noted, host: Engine) -> None:
        refusal = await dispatch(dispatcher, 1, actions.turn_cancelled("t9", 5))
        assert refusal is not None
        assert refusal.reason
        assert b'"rejectionReason":' in refusal.envelope
        assert (noted, session.conversation) == ([], new_states(URI))
        await host.journal.wait()
        assert refusal.seq == host.line.shown_seq

    tell(tmp_path, story)


def test_without_a_connection_that_comes_back_nothing_is_a_repeat(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: Noted, _host: Engine) -> None:
        for client in ("me", "me", "you"):
            await dispatch(dispatcher, 1, actions.title_changed(client), Identity(client))
        assert len(noted) == 3

    tell(tmp_path, story)


def test_a_fault_in_the_host_is_a_refusal_and_the_session_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever raises before the action has happened: here what decisions are told."""

    async def story(dispatcher: Dispatcher, session: Session, noted: Noted, host: Engine) -> None:
        def broken(_: Session) -> Context:
            raise KeyError("a secret of ours")

        faulty = Dispatcher(
            host.sessions,
            root=host.root,
            senders=host.senders,
            listeners=ActionListeners(noted.append),
            context=broken,
        )
        before = session.conversation
        refusal = await dispatch(faulty, 1, start("t1"))
        assert refusal is not None
        assert refusal.reason == INTERNAL_ERROR
        assert b"secret" not in refusal.envelope
        assert "a secret of ours" in caplog.text
        assert (noted, session.conversation) == ([], before)
        assert await dispatch(dispatcher, 1, start("t1")) is None
        assert types(noted) == ["turnStarted"]

    tell(tmp_path, story)


def test_a_failure_after_an_action_was_applied_is_not_a_second_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(_dispatcher: Dispatcher, session: Session, _noted: Noted, host: Engine) -> None:
        def broken(_: AppliedAction) -> None:
            raise KeyError("who hears of it")

        faulty = Dispatcher(
            host.sessions, root=host.root, senders=host.senders, listeners=ActionListeners(broken)
        )
        feed = host.feed(ME)
        await feed.subscribe(URI)
        assert await dispatch(faulty, 1, actions.title_changed("Mine")) is None
        (item,) = await feed.subscriber.wait_next()
        assert b'"clientSeq":1' in item.envelope
        assert session.state["title"] == "Mine"
        assert "who hears of it" in caplog.text

    tell(tmp_path, story)


def test_a_queued_message_that_cannot_be_started_stays_in_the_queue(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, _host: Engine) -> None:
        odd: Any = {**queue("q1"), "message": {**user_message("x"), "attachments": [5]}}
        session.act(odd)  # past all decisions, as if they had a gap
        assert await dispatch(dispatcher, 1, queue("q2")) is None
        assert [one["id"] for one in session.chat["queuedMessages"]] == ["q1", "q2"]
        assert "activeTurn" not in session.chat
        assert "could not be started" in caplog.text
        removed = actions.pending_message_removed("queued", "q1")
        assert await dispatch(dispatcher, 2, removed) is None
        assert session.chat["activeTurn"]["message"] == user_message("q2")

    tell(tmp_path, story)


def test_a_message_that_was_used_is_not_queued_again_not_even_after_a_restart(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, host: Engine) -> None:
        await dispatch(dispatcher, 1, queue("q1"))
        again = await dispatch(dispatcher, 2, queue("q1"))
        assert "taken or removed before" in str(again and again.reason)
        assert await dispatch(dispatcher, 3, queue("q2")) is None
        assert await dispatch(dispatcher, 4, queue("q2")) is None  # it waits still: changed in place
        assert len(session.chat["queuedMessages"]) == 1
        await host.journal.wait()

    async def after() -> None:
        async with started(tmp_path) as host:
            dispatcher = Dispatcher(
                host.sessions, root=host.root, senders=host.senders, listeners=ActionListeners()
            )
            again = await dispatch(dispatcher, 9, queue("q1"))
            assert "taken or removed before" in str(again and again.reason)

    tell(tmp_path, story)
    run(after)


def test_a_model_chosen_during_a_turn_is_applied_when_it_ends_before_the_next_begins(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: Noted, _host: Engine) -> None:
        await dispatch(dispatcher, 1, start("t1"))
        chosen = {"type": "session/modelChanged", "session": URI, "model": {"id": "large"}}
        assert await dispatcher.dispatch(ME, 2, URI, chosen, translate=translate) is None
        await dispatch(dispatcher, 3, queue("q1"))
        assert model_of(session.state) is None
        dispatcher.act(session, actions.turn_complete("t1", 5))
        turn = ["turnStarted", "pendingMessageSet", "turnComplete"]
        assert types(noted) == [*turn, "metaChanged", "pendingMessageRemoved", "turnStarted"]
        assert model_of(session.state) == {"id": "large"}

    tell(tmp_path, story)


def test_queued_messages_are_started_one_at_a_time_first_come_first_served(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, _host: Engine) -> None:
        for place, message_id in enumerate(("q1", "q2", "q3"), 1):
            await dispatch(dispatcher, place, queue(message_id))
        heard = []
        while "activeTurn" in session.chat:
            turn = session.chat["activeTurn"]
            heard.append(turn["message"]["text"])
            dispatcher.act(session, actions.turn_complete(turn["id"], 5))
        assert heard == ["q1", "q2", "q3"]
        assert "queuedMessages" not in session.chat

    tell(tmp_path, story)


@pytest.mark.parametrize(
    "end",
    [actions.turn_cancelled("t1", 5), actions.turn_failed("t1", {"errorType": "x", "message": "y"}, 5)],
    ids=["cancelled", "failed"],
)
def test_after_a_turn_that_did_not_end_well_the_queue_waits(tmp_path: Path, end: Any) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, _host: Engine) -> None:
        await dispatch(dispatcher, 1, start("t1"))
        await dispatch(dispatcher, 2, queue("q1"))
        dispatcher.act(session, end)
        assert "activeTurn" not in session.chat
        assert len(session.chat["queuedMessages"]) == 1

    tell(tmp_path, story)


def test_truncating_takes_the_transcript_back_too_and_for_good(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: Noted, host: Engine) -> None:
        for turn_id in ("t1", "t2", "t3"):
            session.act(start(turn_id), messages=[entry(turn_id)])
            session.act(actions.turn_complete(turn_id, 5))
        await dispatch(dispatcher, 1, actions.truncated("t1"))
        await host.journal.wait()
        assert [said.turn for said in session.messages] == ["t1"]
        stored = host.storage.load(session.number)
        assert stored is not None
        assert len(stored.messages) == 1

    tell(tmp_path, story)


def test_a_fork_has_the_turns_and_the_transcript_up_to_its_turn(tmp_path: Path) -> None:
    async def story(_dispatcher: Dispatcher, session: Session, _noted: Noted, host: Engine) -> None:
        for turn_id in ("t1", "t2"):
            session.act(start(turn_id), messages=[entry(turn_id)])
            session.act(actions.turn_complete(turn_id, 5))
        session.act(start("t3"))
        session.act(queue("q1"))
        fork = await host.additions.fork(URI, "t1", "demo:/fork")
        assert [turn["id"] for turn in fork.chat["turns"]] == ["t1"]
        assert [said.turn for said in fork.messages] == ["t1"]
        assert not {"activeTurn", "queuedMessages"} & fork.chat.keys()
        assert fork.summary()["resource"] == "demo:/fork"
        assert fork.state["defaultChat"] == fork.chat["resource"] == fork.chat_uri != CHAT
        with pytest.raises(TurnInProgress):
            await host.additions.fork(URI, "t3", "demo:/other")
        with pytest.raises(TurnNotFound):
            await host.additions.fork(URI, "t9", "demo:/other")

    tell(tmp_path, story)
