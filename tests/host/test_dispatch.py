"""Client actions on their way: refused, deferred, applied once, and what follows from them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.decisions import Context
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.host.dispatch import INTERNAL_ERROR, Dispatcher, Happening
from agenthost.host.engine import Engine
from agenthost.host.identity import Identity
from agenthost.host.session import Said, Session
from agenthost.wire.ahp import ROOT_URI
from hosting import new_state, run, started

URI = "demo:/one"
ME = Identity("me")

Story = Callable[[Dispatcher, Session, list[Happening], Engine], Awaitable[None]]


def tell(folder: Path, story: Story, **state: Any) -> None:
    """Run a story with a session and a dispatcher that notes what happened."""

    async def inner() -> None:
        async with started(folder) as host:
            noted: list[Happening] = []
            dispatcher = Dispatcher(
                host.sessions, root=host.root, senders=host.senders, happened=noted.append
            )
            await story(dispatcher, await host.sessions.create(new_state(URI, **state)), noted, host)

    run(inner)


def action(name: str, /, **fields: Any) -> Any:
    return {"type": f"session/{name}", "session": URI, **fields}


def start(turn_id: str) -> Any:
    return action("turnStarted", turnId=turn_id, userMessage={"text": turn_id})


def queue(message_id: str) -> Any:
    return action("pendingMessageSet", kind="queued", id=message_id, userMessage={"text": message_id})


def types(noted: list[Happening]) -> list[str]:
    return [one.action["type"].removeprefix("session/") for one in noted]


def test_an_allowed_action_happens_with_its_origin(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: list[Happening], host: Engine) -> None:
        feed = host.feed(ME)
        await feed.subscribe(URI)
        assert await dispatcher.dispatch(ME, 7, action("titleChanged", title="Mine", unknown=1)) is None
        (item,) = await feed.subscriber.wait_next()
        assert b'"origin":{"clientId":"me","clientSeq":7}' in item.envelope
        assert b'"unknown":1' in item.envelope
        assert (types(noted), session.state["summary"]["title"]) == (["titleChanged"], "Mine")

    tell(tmp_path, story)


def test_a_refused_action_changes_nothing_and_says_why(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: list[Happening], host: Engine) -> None:
        refusal = await dispatcher.dispatch(ME, 1, action("turnCancelled", turnId="t9"))
        assert refusal is not None
        assert refusal.reason
        assert b'"rejectionReason":' in refusal.envelope
        assert (noted, session.state) == ([], new_state(URI))
        assert refusal.seq == host.journal.last_seq

    tell(tmp_path, story)


def test_what_names_a_session_that_is_not_there_is_ignored(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: list[Happening], host: Engine) -> None:
        nowhere = action("titleChanged", title="x") | {"session": "demo:/other"}
        assert await dispatcher.dispatch(ME, 1, nowhere) is None
        assert (noted, host.journal.last_seq) == ([], host.opening.last_seq + 1)  # the root's

    tell(tmp_path, story)


@pytest.mark.parametrize("rubbish", [None, 5, [], {}, {"type": 5}, {"type": "session/titleChanged"}])
def test_what_names_no_session_is_refused_and_not_kept(tmp_path: Path, rubbish: Any) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: list[Happening], host: Engine) -> None:
        refusal = await dispatcher.dispatch(ME, 1, rubbish)
        assert refusal is not None
        assert (noted, refusal.action, refusal.only_for) == ([], rubbish, "me")
        await host.journal.wait()
        back = await host.feed(ME).resume(0, [ROOT_URI])
        assert back.replay is not None
        assert refusal.seq not in [entry.seq for entry in back.replay]

    tell(tmp_path, story)


def test_without_a_connection_that_comes_back_nothing_is_a_repeat(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, _session: Session, noted: list[Happening], _host: Engine) -> None:
        for client in ("me", "me", "you"):
            await dispatcher.dispatch(Identity(client), 1, action("titleChanged", title=client))
        assert len(noted) == 3

    tell(tmp_path, story)


def test_a_fault_in_the_host_is_a_refusal_and_the_session_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever raises before the action has happened: here what decisions are told."""

    async def story(dispatcher: Dispatcher, session: Session, noted: list[Happening], host: Engine) -> None:
        def broken(_: Session) -> Context:
            raise KeyError("a secret of ours")

        faulty = Dispatcher(
            host.sessions, root=host.root, senders=host.senders, happened=noted.append, context=broken
        )
        before = session.state
        refusal = await faulty.dispatch(ME, 1, start("t1"))
        assert refusal is not None
        assert refusal.reason == INTERNAL_ERROR
        assert b"secret" not in refusal.envelope
        assert "a secret of ours" in caplog.text
        assert (noted, session.state) == ([], before)
        assert await dispatcher.dispatch(ME, 1, start("t1")) is None
        assert types(noted) == ["turnStarted"]

    tell(tmp_path, story)


def test_a_fault_after_an_action_has_happened_is_no_second_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(_dispatcher: Dispatcher, session: Session, _noted: list[Happening], host: Engine) -> None:
        def broken(_: Happening) -> None:
            raise KeyError("who hears of it")

        faulty = Dispatcher(host.sessions, root=host.root, senders=host.senders, happened=broken)
        feed = host.feed(ME)
        await feed.subscribe(URI)
        assert await faulty.dispatch(ME, 1, action("titleChanged", title="Mine")) is None
        (item,) = await feed.subscriber.wait_next()
        assert b'"clientSeq":1' in item.envelope
        assert session.state["summary"]["title"] == "Mine"
        assert "who hears of it" in caplog.text

    tell(tmp_path, story)


def test_a_queued_message_that_cannot_be_started_stays_in_the_queue(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: list[Happening], _host: Engine) -> None:
        odd: Any = {**queue("q1"), "userMessage": {"text": "x", "attachments": [5]}}
        session.act(odd)  # past all decisions, as if they had a gap
        assert await dispatcher.dispatch(ME, 1, queue("q2")) is None
        assert [one["id"] for one in session.state["queuedMessages"]] == ["q1", "q2"]
        assert "activeTurn" not in session.state
        assert "could not be started" in caplog.text
        removed = action("pendingMessageRemoved", kind="queued", id="q1")
        assert await dispatcher.dispatch(ME, 2, removed) is None
        assert session.state["activeTurn"]["userMessage"] == {"text": "q2"}

    tell(tmp_path, story)


def test_a_message_that_has_had_its_time_is_not_queued_again_not_even_after_a_restart(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: list[Happening], host: Engine) -> None:
        await dispatcher.dispatch(ME, 1, queue("q1"))
        again = await dispatcher.dispatch(ME, 2, queue("q1"))
        assert "taken or removed before" in str(again and again.reason)
        assert await dispatcher.dispatch(ME, 3, queue("q2")) is None
        assert await dispatcher.dispatch(ME, 4, queue("q2")) is None  # it waits still: changed in place
        assert len(session.state["queuedMessages"]) == 1
        await host.journal.wait()

    async def after() -> None:
        async with started(tmp_path) as host:
            dispatcher = Dispatcher(
                host.sessions, root=host.root, senders=host.senders, happened=lambda _: None
            )
            again = await dispatcher.dispatch(ME, 9, queue("q1"))
            assert "taken or removed before" in str(again and again.reason)

    tell(tmp_path, story)
    run(after)


def test_a_model_chosen_during_a_turn_is_applied_when_it_ends_before_the_next_begins(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, noted: list[Happening], _host: Engine) -> None:
        await dispatcher.dispatch(ME, 1, start("t1"))
        await dispatcher.dispatch(ME, 2, action("modelChanged", model={"id": "large"}))
        await dispatcher.dispatch(ME, 3, queue("q1"))
        assert "model" not in session.state["summary"]
        dispatcher.act(session, action("turnComplete", turnId="t1"))
        turn = ["turnStarted", "pendingMessageSet", "turnComplete"]
        assert types(noted) == [*turn, "modelChanged", "pendingMessageRemoved", "turnStarted"]
        assert session.state["summary"]["model"] == {"id": "large"}

    tell(tmp_path, story)


def test_queued_messages_are_started_one_at_a_time_first_come_first_served(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: list[Happening], _host: Engine) -> None:
        for place, message_id in enumerate(("q1", "q2", "q3"), 1):
            await dispatcher.dispatch(ME, place, queue(message_id))
        heard = []
        while "activeTurn" in session.state:
            turn = session.state["activeTurn"]
            heard.append(turn["userMessage"]["text"])
            dispatcher.act(session, action("turnComplete", turnId=turn["id"]))
        assert heard == ["q1", "q2", "q3"]
        assert "queuedMessages" not in session.state

    tell(tmp_path, story)


@pytest.mark.parametrize("end", ["turnCancelled", "error"])
def test_after_a_turn_that_did_not_end_well_the_queue_waits(tmp_path: Path, end: str) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: list[Happening], _host: Engine) -> None:
        await dispatcher.dispatch(ME, 1, start("t1"))
        await dispatcher.dispatch(ME, 2, queue("q1"))
        error = {"error": {"errorType": "x", "message": "y"}} if end == "error" else {}
        dispatcher.act(session, action(end, turnId="t1", **error))
        assert "activeTurn" not in session.state
        assert len(session.state["queuedMessages"]) == 1

    tell(tmp_path, story)


def test_truncating_takes_the_transcript_back_too_and_for_good(tmp_path: Path) -> None:
    async def story(dispatcher: Dispatcher, session: Session, _noted: list[Happening], host: Engine) -> None:
        for turn_id in ("t1", "t2", "t3"):
            session.act(start(turn_id), messages=[Said(turn_id, {"role": "user", "content": turn_id})])
            session.act(action("turnComplete", turnId=turn_id))
        await dispatcher.dispatch(ME, 1, action("truncated", turnId="t1"))
        await host.journal.wait()
        assert [said.turn for said in session.messages] == ["t1"]
        stored = host.storage.load(session.number)
        assert stored is not None
        assert len(stored.messages) == 1

    tell(tmp_path, story)


def test_a_fork_has_the_turns_and_the_transcript_up_to_its_turn(tmp_path: Path) -> None:
    async def story(_dispatcher: Dispatcher, session: Session, _noted: list[Happening], host: Engine) -> None:
        for turn_id in ("t1", "t2"):
            session.act(start(turn_id), messages=[Said(turn_id, {"role": "user", "content": turn_id})])
            session.act(action("turnComplete", turnId=turn_id))
        session.act(start("t3"))
        session.act(queue("q1"))
        fork = await host.sessions.fork(URI, "t1", "demo:/fork")
        assert [turn["id"] for turn in fork.state["turns"]] == ["t1"]
        assert [said.turn for said in fork.messages] == ["t1"]
        assert not {"activeTurn", "queuedMessages"} & fork.state.keys()
        assert fork.state["summary"]["resource"] == "demo:/fork"
        with pytest.raises(TurnInProgress):
            await host.sessions.fork(URI, "t3", "demo:/other")
        with pytest.raises(TurnNotFound):
            await host.sessions.fork(URI, "t9", "demo:/other")

    tell(tmp_path, story)
