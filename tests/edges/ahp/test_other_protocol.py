"""One session over both protocols: what one asks, the other answers; what one begins, the other ends."""

import asyncio
import json
from typing import Any

import pytest

from ahp_sites import Place, on_a_host
from ahp_speaking import Client
from rules import rule

ADD = '/call add {"a": 1, "b": 2}'


async def post(place: Place, path: str, body: Any) -> Any:
    """Ask the other protocol, and return its answer."""
    answer = await place.ask(f"/aap/v3{path}", "POST", body)
    assert answer.status in (200, 201), answer.body
    return answer.json


async def opened(place: Place, **more: Any) -> tuple[str, str]:
    """Make a session over the other protocol; returns its id there, and its URI here."""
    made = await post(place, "/sessions", {"agent": {"name": "demo", **more}})
    session = await place.host.parts.engine.sessions.named(made["sessionId"])
    return made["sessionId"], session.row.uri


def call_of(me: Client, uri: str) -> Any:
    """Return the first call of the turn that runs."""
    parts = me.state(uri).get("activeTurn", {}).get("responseParts", [])
    return next((part["toolCall"] for part in parts if part["kind"] == "toolCall"), None)


async def said(place: Place, session: str, text: str, **more: Any) -> Any:
    messages = [{"role": "user", "content": text}]
    return await post(place, f"/sessions/{session}/turns", {"messages": messages, "stream": "none", **more})


@rule("HR-S07")
@on_a_host()
async def test_a_turn_that_runs_over_there_streams_here_and_can_be_cancelled(place: Place) -> None:
    async with place.client() as me:
        session, uri = await opened(place)
        added = await me.notice("sessionAdded")
        assert added["summary"]["resource"] == uri
        await me.subscribe(uri)
        turn = asyncio.create_task(said(place, session, "/wait 60"))
        await me.hear_kind("session/delta")
        running = me.state(uri)["activeTurn"]["id"]
        await me.decide(uri, "session/turnCancelled", turnId=running)
        assert (await turn)["stopReason"] == "error"
        assert me.state(uri)["turns"][0]["state"] == "cancelled"
        assert (await me.say(uri, "Still here"))["state"] == "complete"
        history = await place.ask(f"/aap/v3/sessions/{session}/history?type=full")
        assert "Still here" in history.body.decode()


@rule("HR-A04")
@pytest.mark.parametrize("approved", [True, False])
@on_a_host()
async def test_a_permission_that_is_asked_for_over_there_is_given_here(place: Place, approved: bool) -> None:
    async with place.client() as me:
        session, uri = await opened(place, tools=[{"name": "add"}])
        assert (await said(place, session, ADD))["stopReason"] == "tool_use"
        await me.subscribe(uri)
        call = call_of(me, uri)
        assert call["status"] == "pending-confirmation"
        turn = me.state(uri)["activeTurn"]["id"]
        how = {"confirmed": "user-action"} if approved else {"reason": "denied"}
        fields = {"turnId": turn, "toolCallId": call["toolCallId"], "approved": approved, **how}
        await me.decide(uri, "session/toolCallConfirmed", **fields)
        ended = await me.finish(uri, turn)
        assert ("add -> 3" in json.dumps(ended)) == approved
        assert (await said(place, session, "On"))["stopReason"] == "end_turn"


@rule("HR-A12")
@on_a_host()
async def test_a_tool_of_an_application_waits_for_it_and_nobody_here_can_answer(place: Place) -> None:
    async with place.client() as me:
        tool = {"name": "mine", "description": "Mine", "parameters": {"type": "object"}}
        session, uri = await opened(place)
        stopped = await said(place, session, "/call mine {}", tools=[tool])
        assert stopped["stopReason"] == "tool_use"
        await me.subscribe(uri)
        call = call_of(me, uri)
        assert call["status"] == "running"
        turn = me.state(uri)["activeTurn"]["id"]
        result = {"success": True, "pastTenseMessage": "Did"}
        ids = {"turnId": turn, "toolCallId": call["toolCallId"]}
        assert "rejectionReason" in await me.decide(uri, "session/toolCallComplete", **ids, result=result)
        answer = [{"role": "tool", "toolCallId": call["toolCallId"], "content": "done"}]
        body = {"messages": answer, "stream": "none"}
        assert (await post(place, f"/sessions/{session}/turns", body))["stopReason"] == "end_turn"
        assert "mine -> done" in json.dumps(await me.finish(uri, turn))


@rule("HR-U09")
@on_a_host()
async def test_a_question_that_comes_up_over_there_is_answered_here(place: Place) -> None:
    async with place.client() as me:
        session, uri = await opened(place)
        await me.subscribe(uri)
        turn = asyncio.create_task(said(place, session, "/ask"))
        asked = (await me.hear_kind("session/inputRequested"))["request"]
        answers = {"name": {"state": "submitted", "value": {"kind": "text", "value": "Ada"}}}
        fields = {"requestId": asked["id"], "response": "accept", "answers": answers}
        assert "rejectionReason" not in await me.decide(uri, "session/inputCompleted", **fields)
        assert (await turn)["stopReason"] == "end_turn"
        await me.until(lambda: "- name: Ada" in json.dumps(me.state(uri)["turns"]))


@rule("HR-S07")
@on_a_host()
async def test_a_session_that_is_made_here_is_live_over_there(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun("demo:/made-here")
        await me.say(uri, "Hello")
        assert (await said(place, "made-here", "Over there"))["stopReason"] == "end_turn"
        await me.until(lambda: len(me.state(uri)["turns"]) == 2)
        turn = await me.send(uri, ADD)
        await me.until(lambda: (call_of(me, uri) or {}).get("status") == "pending-confirmation")
        allowed = {"role": "tool_permission", "toolCallId": call_of(me, uri)["toolCallId"], "granted": True}
        body = {"messages": [allowed], "stream": "none"}
        assert (await post(place, "/sessions/made-here/turns", body))["stopReason"] == "end_turn"
        assert "add -> 3" in json.dumps(await me.finish(uri, turn))
        assert (await place.ask("/aap/v3/sessions/made-here", "DELETE")).status == 204
        await me.notice("sessionRemoved", session=uri)


@rule("HR-U03")
@on_a_host()
async def test_what_is_queued_here_follows_a_turn_over_there(place: Place) -> None:
    async with place.client() as me:
        session, uri = await opened(place)
        await me.subscribe(uri)
        turn = asyncio.create_task(said(place, session, "/wait 0.3"))
        await me.hear_kind("session/delta")
        queued = {"kind": "queued", "id": "q", "userMessage": {"text": "Next"}}
        await me.decide(uri, "session/pendingMessageSet", **queued)
        assert (await turn)["stopReason"] == "end_turn"
        await me.until(lambda: len(me.state(uri)["turns"]) == 2)
        assert me.state(uri)["turns"][1]["userMessage"]["text"] == "Next"
