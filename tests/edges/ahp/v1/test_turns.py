"""Turns over AHP 1.0: questions, cancelling, models, tools of clients, terminals and files."""

import asyncio
from typing import Any

import pytest

from agenthost.core.session_meta import MODEL
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp import ROOT_URI
from ahp_agents import ECHO, GUARDED, LOGIN
from ahp_channels import NOW, USER, channel_client
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from rules import rule

GOOD: Any = {"resource": LOGIN["resource"], "token": "good"}
LOOK: Any = {"name": "look", "inputSchema": {"type": "object"}}


async def looking(turn: Turn) -> None:
    """Call the tool of a client, and say what came of it."""
    (result,) = await turn.calls(Call("look", {}))
    await turn.say(f"seen: {result.content}")


LOOKING = Agent("looking", looking)


@rule("1.0/C4", "1.0/D3")
@on_a_host()
async def test_a_question_is_a_part_of_the_turn_and_stays_there_with_its_answers(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        turn = await me.send(uri, "/ask")
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        assert needed["kind"] == "chatInput"
        request = needed["request"]
        which = {"requestId": request["id"]}
        lacking = await me.decide(needed["chat"], "chat/inputCompleted", **which, response="accept")
        assert "needs a submitted answer" in lacking["rejectionReason"]
        await me.decide(needed["chat"], "chat/inputCompleted", **which, response="decline")
        ended = await me.finish(uri, turn)
        (part,) = [part for part in ended["responseParts"] if part["kind"] == "inputRequest"]
        assert (part["request"]["id"], part["response"]) == (request["id"], "decline")
        assert "inputNeeded" not in me.state(uri)
        await me.check_folds()


def texts(**values: str) -> Any:
    """Answer each question with a text, as VS Code does where a number is asked for."""
    return {
        name: {"state": "submitted", "value": {"kind": "text", "value": value}}
        for name, value in values.items()
    }


@rule("1.0/D7")
@pytest.mark.parametrize(
    ("price", "count", "said"),
    [("2.5", "3", ("price: 2.5", "count: 3")), ("7", " ", ("price: 7", "count: nothing"))],
)
@on_a_host()
async def test_an_answer_for_a_number_may_be_a_text(
    place: Place, price: str, count: str, said: tuple[str, str]
) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        turn = await me.send(uri, "/ask")
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        which = {"requestId": needed["request"]["id"], "response": "accept"}
        answers = texts(name="Ada", price=price, count=count)
        await me.decide(needed["chat"], "chat/inputCompleted", **which, answers=answers)
        ended = await me.finish(uri, turn)
        text = "".join(part["content"] for part in ended["responseParts"] if part["kind"] == "markdown")
        assert [line for line in said if line not in text] == []
        await me.check_folds()


@rule("1.0/D7")
@on_a_host()
async def test_a_text_that_is_no_number_is_refused_where_a_number_is_asked_for(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        await me.send(uri, "/ask")
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        which = {"requestId": needed["request"]["id"], "response": "accept"}
        for wrong in ("three", "nan", "inf", "1e999"):
            answers = texts(name="Ada", count=wrong)
            refused = await me.decide(needed["chat"], "chat/inputCompleted", **which, answers=answers)
            assert "takes a value of kind 'number', not 'text'" in refused["rejectionReason"]
        halves = await me.decide(
            needed["chat"], "chat/inputCompleted", **which, answers=texts(name="Ada", count="2.5")
        )
        assert "takes a whole number" in halves["rejectionReason"]


@rule("1.0/D7")
@pytest.mark.parametrize(
    "fields",
    [{}, {"answers": 5}, {"answers": {"count": 5}}, {"answers": {"count": {"value": {"kind": "text"}}}}],
    ids=str,
)
@on_a_host()
async def test_what_is_no_answer_is_refused_with_a_reason(place: Place, fields: Any) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        await me.send(uri, "/ask")
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        which = {"requestId": needed["request"]["id"], "response": "accept"}
        for channel in (needed["chat"], ROOT_URI):
            refused = await me.decide(channel, "chat/inputCompleted", **which, **fields)
            assert refused["rejectionReason"]


@rule("1.0/D2")
@pytest.mark.parametrize("duration", [{}, {"duration": 1234}])
@on_a_host()
async def test_a_turn_is_cancelled_with_the_duration_of_whoever_cancels(place: Place, duration: Any) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        turn = await me.send(uri, "/wait 60")
        await me.decide(me.chat_of(uri), "chat/turnCancelled", turnId=turn, **duration)
        ended = await me.finish(uri, turn)
        assert ended["state"] == "cancelled"
        assert ended["duration"] == duration.get("duration", ended["duration"])
        assert 0 <= ended["duration"] < 60_000
        again = await me.decide(me.chat_of(uri), "chat/turnCancelled", turnId=turn, duration=1)
        assert again["rejectionReason"]


@rule("1.0/A1", "1.0/A3")
@on_a_host(ECHO, LOOKING)
async def test_the_model_of_a_message_is_the_sessions_from_then_on(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun(new_uri("echo"), provider="echo")
        await me.finish(uri, await me.send(uri, "One", model={"id": "large"}))
        assert me.state(uri)["_meta"][MODEL] == {"id": "large"}
        await me.say(uri, "Two")
        assert me.state(uri)["_meta"][MODEL] == {"id": "large"}
        message = {"text": "Three", "origin": USER, "model": {"id": "none"}}
        refused = await me.decide(
            me.chat_of(uri), "chat/turnStarted", turnId="x", startedAt=NOW, message=message
        )
        assert refused["rejectionReason"] == "there is no model 'none'"
        root = await me.subscribe(ROOT_URI)
        (stand_in,) = next(one["models"] for one in root["agents"] if one["provider"] == "looking")
        alone = await me.begun(new_uri("looking"), provider="looking")
        await me.finish(alone, await me.send(alone, "Look", model={"id": stand_in["id"]}))
        assert "_meta" not in me.state(alone)
        await me.check_folds()


@rule("1.0/C8", "1.0/D3")
@on_a_host(LOOKING)
async def test_the_client_that_began_a_turn_runs_its_tools(place: Place) -> None:
    async with channel_client(place, "one") as one, channel_client(place, "two") as two:
        uri = await one.begun(new_uri("looking"), provider="looking")
        await two.follow(uri)
        for client in (one, two):
            brought = {"clientId": client.client_id, "tools": [LOOK]}
            echo = await client.decide(uri, "session/activeClientSet", activeClient=brought)
            assert "rejectionReason" not in echo
        turn = await two.send(uri, "Look")
        call = await one.call(uri, "running")
        assert call["contributor"] == {"kind": "client", "clientId": "two"}
        (needed,) = await one.until(lambda: one.state(uri).get("inputNeeded"))
        assert (needed["kind"], needed["clientId"]) == ("toolClientExecution", "two")
        content = [{"type": "text", "text": "a tree"}]
        result = {"success": True, "pastTenseMessage": "Looked", "content": content}
        ids = {"turnId": turn, "toolCallId": call["toolCallId"], "result": result}
        refused = await one.decide(one.chat_of(uri), "chat/toolCallComplete", **ids)
        assert refused["rejectionReason"]
        await two.decide(two.chat_of(uri), "chat/toolCallComplete", **ids)
        ended = await one.finish(uri, turn)
        assert "a tree" in ended["responseParts"][-1]["content"]
        await one.check_folds()
        await two.check_folds()


@rule("1.0/C8")
@on_a_host(LOOKING, limits=None)
async def test_a_client_that_leaves_is_no_longer_active(place: Place) -> None:
    async with channel_client(place, "one") as one:
        uri = await one.begun(new_uri("looking"), provider="looking")
        async with channel_client(place, "two") as two:
            await two.follow(uri)
            brought = {"clientId": "two", "tools": [LOOK]}
            await two.decide(uri, "session/activeClientSet", activeClient=brought)
            await one.until(lambda: one.state(uri)["activeClients"])
        await one.until(lambda: not one.state(uri)["activeClients"])
        await one.check_folds()


@rule("1.0/X1")
@on_a_host()
async def test_a_terminal_says_how_its_program_ended(place: Place) -> None:
    async with channel_client(place, initialSubscriptions=[ROOT_URI]) as me:
        claim = {"kind": "client", "clientId": "me"}
        await me.request("createTerminal", channel="t:/1", claim=claim, cwd=str(place.workspace))
        state = await me.subscribe("t:/1")
        assert (state["lifecycle"], state["isPty"], state["cwd"]) == (
            {"status": "running"},
            True,
            place.workspace.as_uri(),
        )
        await me.act("t:/1", "terminal/input", data="exit 3\n")
        await me.until(lambda: me.state("t:/1")["lifecycle"] == {"status": "exited", "exitCode": 3})
        await me.until(lambda: me.state(ROOT_URI)["terminals"][0]["lifecycle"]["status"] == "exited")
        await me.request("disposeTerminal", channel="t:/1")
        assert (await me.refusal("subscribe", channel="t:/1")).code == -32001


@rule("1.0/X2", "1.0/X3")
@on_a_host()
async def test_files_are_written_by_parts_and_by_version(place: Place) -> None:
    async with channel_client(place) as me:
        folder, file = place.uri("a", "b"), place.uri("a", "b", "c.txt")
        await me.request("resourceMkdir", uri=folder)
        await me.request("resourceMkdir", uri=folder)
        await me.request("resourceWrite", uri=file, data="one", encoding="utf-8", createOnly=True)
        again = await me.refusal("resourceWrite", uri=file, data="x", encoding="utf-8", createOnly=True)
        assert again.code == -32010
        await me.request("resourceWrite", uri=file, data=" two", encoding="utf-8", mode="append")
        found = await me.request("resourceResolve", uri=file)
        assert (found["type"], found["size"]) == ("file", 7)
        stale = await me.refusal("resourceWrite", uri=file, data="x", encoding="utf-8", ifMatch="another")
        assert stale.code == -32011
        await me.request("resourceWrite", uri=file, data="new", encoding="utf-8", ifMatch=found["etag"])
        assert (await me.request("resourceRead", uri=file, encoding="utf-8"))["data"] == "new"
        denied = await me.refusal("resourceRead", uri="file:///etc/shadow")
        assert denied.code == -32009


@rule("1.0/I1")
@on_a_host(GUARDED)
async def test_a_token_counts_until_it_expires_or_is_taken_back(place: Place) -> None:
    async with channel_client(place) as me:
        new = {"provider": "guarded"}
        missing = await me.refusal("createSession", channel=new_uri("guarded"), **new)
        assert (missing.code, missing.data["resources"]) == (-32007, [LOGIN])
        await me.request("authenticate", **GOOD, expiresIn=1)
        await me.request("createSession", channel=new_uri("guarded"), **new)
        await asyncio.sleep(1.1)
        assert (await me.refusal("createSession", channel=new_uri("guarded"), **new)).code == -32007
        await me.request("authenticate", **GOOD)
        await me.request("createSession", channel=new_uri("guarded"), **new)
        await me.request("authenticate", resource=LOGIN["resource"], token="")
        assert (await me.refusal("createSession", channel=new_uri("guarded"), **new)).code == -32007


@rule("1.0/I1")
@on_a_host()
async def test_progress_is_told_to_who_asked_for_it(place: Place) -> None:
    async with channel_client(place) as me, channel_client(place, "other") as other:
        await me.request("createSession", channel=new_uri(), progressToken="p1")
        await me.until(lambda: len([one for one in me.notices if one["method"] == "root/progress"]) == 2)
        told = [one for one in me.notices if one["method"] == "root/progress"]
        assert [(one["progressToken"], one["progress"], one["total"]) for one in told] == [
            ("p1", 0, 1),
            ("p1", 1, 1),
        ]
        await other.request("ping")
        assert other.notices == []


@rule("1.0/I1")
@on_a_host(keys=("ann", "bob"))
async def test_chats_of_another_owner_do_not_exist(place: Place) -> None:
    async with (
        channel_client(place, "me", place.keys["ann"]) as me,
        channel_client(place, "other", place.keys["bob"]) as other,
    ):
        uri = await me.begun()
        for channel in (uri, me.chat_of(uri)):
            assert (await other.refusal("subscribe", channel=channel)).code == -32001
        started: Any = {"turnId": "t", "startedAt": NOW, "message": {"text": "Hi", "origin": USER}}
        await other.act(me.chat_of(uri), "chat/turnStarted", **started)
        await other.request("ping")
        assert (other.envelopes, me.chat(uri)["turns"]) == ([], [])
        assert (await other.request("listSessions"))["items"] == []


@rule("1.0/X3")
@on_a_host()
async def test_changes_of_files_that_are_watched_are_told_until_nobody_listens(place: Place) -> None:
    async with channel_client(place) as me, channel_client(place, "other") as other:
        watch = {"uri": place.uri(), "recursive": True, "excludes": {"items": ["**/*.tmp"]}}
        channel = (await me.request("createResourceWatch", **watch))["channel"]
        state = await me.subscribe(channel)
        assert (state["root"], state["recursive"], state["excludes"]) == (
            watch["uri"],
            True,
            watch["excludes"],
        )
        assert (await other.refusal("subscribe", channel=channel)).code == -32001
        (place.workspace / "a.tmp").write_text("no")
        (place.workspace / "a.txt").write_text("yes")
        changed = await me.hear_kind("resourceWatch/changed")
        assert changed["changes"]["items"] == [{"uri": place.uri("a.txt"), "type": "added"}]
        uri = await me.begun()  # numbers go on in one order
        await me.say(uri, "Hello")
        await me.unsubscribe(channel)
        (place.workspace / "b.txt").write_text("no")
        await me.say(uri, "Hello")
        assert (await me.refusal("subscribe", channel=channel)).code == -32001
        gone = await me.refusal("createResourceWatch", uri=place.uri("missing"))
        assert gone.code == -32008
