"""Turns over AHP: streams, queues, steering, questions, tools of clients, and clients that leave."""

from typing import Any

from agenthost.host.limits import Limits
from ahp_agents import ECHO
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from rules import rule

TOOL: Any = {"name": "mine", "description": "Of the client", "inputSchema": {"type": "object"}}
CLIENT: Any = {"clientId": "me", "tools": [TOOL]}


def call_of(state: Any) -> Any:
    """Return the first call of the running turn, if there is one."""
    parts = state.get("activeTurn", {}).get("responseParts", [])
    return next((part["toolCall"] for part in parts if part["kind"] == "toolCall"), None)


@rule("HR-U01", "HR-U02")
@on_a_host()
async def test_a_part_comes_before_its_text_and_a_turn_ends_once(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        for text in ("/think Well", "/error", "/refuse"):
            await me.say(uri, text)
        turn = await me.send(uri, "/wait 60")
        await me.decide(uri, "session/turnCancelled", turnId=turn)
        known: set[str] = set()
        for action in (one["action"] for one in me.envelopes):
            if action["type"] == "session/responsePart":
                known.add(action["part"].get("id", ""))
            elif action["type"] in ("session/delta", "session/reasoning"):
                assert action["partId"] in known
        ends = [
            one["action"]["type"].partition("/")[2]
            for one in me.envelopes
            if one["action"]["type"] in ("session/turnComplete", "session/turnCancelled", "session/error")
        ]
        assert ends == ["turnComplete", "error", "turnComplete", "turnCancelled"]


@rule("HR-U03")
@on_a_host()
async def test_queued_messages_become_turns_one_after_the_other(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        turn = await me.send(uri, "/wait 0.2")
        for name in ("a", "b", "c"):
            fields = {"kind": "queued", "id": name, "userMessage": {"text": name}}
            await me.decide(uri, "session/pendingMessageSet", **fields)
        await me.decide(uri, "session/queuedMessagesReordered", order=["c", "a", "b"])
        await me.finish(uri, turn)
        await me.until(lambda: len(me.state(uri)["turns"]) == 4)
        assert [one["userMessage"]["text"] for one in me.state(uri)["turns"][1:]] == ["c", "a", "b"]
        kinds = [one["action"] for one in me.envelopes]
        starts = [place for place, one in enumerate(kinds) if one.get("queuedMessageId")]
        assert all(kinds[place - 1]["type"] == "session/pendingMessageRemoved" for place in starts)
        idle = {"kind": "queued", "id": "d", "userMessage": {"text": "d"}}
        await me.decide(uri, "session/pendingMessageSet", **idle)
        await me.until(lambda: len(me.state(uri)["turns"]) == 5)


@rule("HR-U04", "HR-U09")
@on_a_host(ECHO)
async def test_a_steering_message_waits_for_a_turn_and_is_taken_by_it(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("echo"))
        steering = {"kind": "steering", "id": "s", "userMessage": {"text": "left"}}
        await me.decide(uri, "session/pendingMessageSet", **steering)
        assert me.state(uri)["steeringMessage"]["id"] == "s"
        turn = await me.send(uri, "/steer")
        asked = (await me.hear_kind("session/inputRequested"))["request"]
        assert me.state(uri)["activeTurn"]["id"] == turn
        value = {"kind": "text", "value": "yes"}
        fields = {"requestId": asked["id"], "questionId": asked["questions"][0]["id"]}
        answer = {"state": "submitted", "value": value}
        await me.decide(uri, "session/inputAnswerChanged", **fields, answer=answer)
        await me.decide(uri, "session/inputCompleted", requestId=asked["id"], response="accept")
        ended = await me.finish(uri, turn)
        assert ended["responseParts"][-1]["content"] == "steered by left"
        assert "steeringMessage" not in me.state(uri)


@rule("HR-U09")
@on_a_host()
async def test_open_questions_go_with_their_turn(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        turn = await me.send(uri, "/ask")
        asked = (await me.hear_kind("session/inputRequested"))["request"]
        await me.decide(uri, "session/turnCancelled", turnId=turn)
        assert "inputRequests" not in me.state(uri)
        late = await me.decide(uri, "session/inputCompleted", requestId=asked["id"], response="decline")
        assert "rejectionReason" in late


@rule("HR-U05", "HR-A04")
@on_a_host()
async def test_a_call_says_what_it_wants_to_do_when_it_asks_and_the_first_answer_counts(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await me.begun()
        await other.subscribe(uri)
        turn = await me.send(uri, '/call add {"a": 1, "b": 2}')
        ready = await me.hear_kind("session/toolCallReady")
        assert ready["invocationMessage"]
        ids = {"turnId": turn, "toolCallId": ready["toolCallId"]}
        yes: Any = {**ids, "approved": True, "confirmed": "user-action"}
        assert "rejectionReason" not in await other.decide(uri, "session/toolCallConfirmed", **yes)
        no = await me.decide(uri, "session/toolCallConfirmed", **ids, approved=False, reason="denied")
        assert "rejectionReason" in no
        assert "3" in str((await me.finish(uri, turn))["responseParts"])
        assert all("rejectionReason" not in one for one in other.envelopes)


@rule("HR-U06", "HR-A12")
@on_a_host(limits=Limits(client_grace_seconds=0.2))
async def test_calls_of_a_client_that_leaves_fail_after_a_while(place: Place) -> None:
    async with place.client("watcher") as watcher:
        async with place.client() as me:
            uri = await me.begun(activeClient=CLIENT)
            await watcher.subscribe(uri)
            turn = await me.send(uri, "/call mine {}")
            await me.until(lambda: (call_of(me.state(uri)) or {}).get("status") == "running")
        await watcher.until(lambda: "activeClient" not in watcher.state(uri))
        assert call_of(watcher.state(uri))["status"] == "running"
        ended = await watcher.finish(uri, turn)
        assert ended["responseParts"][0]["toolCall"]["success"] is False


@rule("HR-U06", "HR-A12")
@on_a_host()
async def test_a_client_that_comes_back_in_time_finishes_its_calls(place: Place) -> None:
    async with place.client("watcher") as watcher:
        async with place.client() as me:
            uri = await me.begun(activeClient=CLIENT)
            turn = await me.send(uri, "/call mine {}")
            await me.until(lambda: (call_of(me.state(uri)) or {}).get("status") == "running")
            seen, state = me.last_seq, me.states[uri]
            await watcher.subscribe(uri)
        await watcher.until(lambda: "activeClient" not in watcher.state(uri))
        async with place.stranger() as me:
            me.states[uri] = state
            await me.reopen(seen, uri)
            await me.until(lambda: "activeClient" not in me.state(uri))
            await me.decide(uri, "session/activeClientChanged", activeClient=CLIENT)
            ids = {"turnId": turn, "toolCallId": call_of(me.state(uri))["toolCallId"]}
            content = [{"type": "text", "text": "half"}]
            await me.decide(uri, "session/toolCallContentChanged", **ids, content=content)
            result = {"success": True, "pastTenseMessage": "Did", "content": [{"type": "text", "text": "ok"}]}
            refused = await watcher.decide(uri, "session/toolCallComplete", **ids, result=result)
            assert "rejectionReason" in refused
            await me.decide(uri, "session/toolCallComplete", **ids, result=result)
            assert (await me.finish(uri, turn))["responseParts"][-1]["content"] == "mine -> ok"


@rule("HR-A06")
@on_a_host()
async def test_a_model_that_is_chosen_during_a_turn_counts_from_the_next_on(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        turn = await me.send(uri, "/wait 60")
        await me.act(uri, "session/modelChanged", model={"id": "steady"})
        await me.decide(uri, "session/isReadChanged", isRead=True)
        assert "model" not in me.state(uri)["summary"]
        await me.decide(uri, "session/turnCancelled", turnId=turn)
        await me.until(lambda: me.state(uri)["summary"].get("model") == {"id": "steady"})
        (echo,) = [one for one in me.envelopes if one["action"]["type"] == "session/modelChanged"]
        assert echo["origin"]["clientId"] == "me"


@rule("HR-U10")
@on_a_host()
async def test_completions_count_in_utf_16(place: Place) -> None:
    (place.workspace / "notes.txt").write_text("x")
    async with place.client() as me:
        uri = await me.begun()
        text = "\U0001f600 see @not"
        offset = len(text.encode("utf-16-le")) // 2
        asked: Any = {"kind": "userMessage", "session": uri, "text": text, "offset": offset}
        (item,) = (await me.request("completions", **asked))["items"]
        assert (item["insertText"], item["rangeStart"], item["rangeEnd"]) == ("@notes.txt", 7, offset)
        assert (await me.refusal("completions", **{**asked, "session": "demo:/x"})).code == -32001
        assert (await me.refusal("completions", **{**asked, "offset": 10_000})).code == -32602
