"""Sessions and their chats: what exists from the start, and what a session and the list say of its chat."""

from typing import Any

import pytest

from agenthost.wire.ahp import ROOT_URI
from ahp_agents import ECHO, UNREADY
from ahp_channels import NOW, USER, channel_client
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from rules import rule

OF_A_TOOL: Any = {"text": "Hi", "origin": {"kind": "tool"}}


@rule("1.0/C1")
@on_a_host()
async def test_a_session_has_its_default_chat_from_the_start(place: Place) -> None:
    async with channel_client(place) as me:
        uri = new_uri()
        await me.request("createSession", channel=uri)
        state = await me.subscribe(uri)
        assert [chat["resource"] for chat in state["chats"]] == [state["defaultChat"]]
        assert (await me.subscribe(state["defaultChat"]))["turns"] == []


@rule("1.0/C1")
@on_a_host(UNREADY, may_fail=True)
async def test_a_session_that_cannot_be_created_says_so(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun(new_uri("unready"), provider="unready")
        state = me.state(uri)
        assert (state["lifecycle"], state["creationError"]["errorType"]) == ("failed", "RuntimeError")


@rule("1.0/C2", "1.0/C3", "1.0/Q1")
@on_a_host()
async def test_the_catalogue_and_the_list_say_what_the_chat_does(place: Place) -> None:
    async with channel_client(place, initialSubscriptions=[ROOT_URI]) as me:
        uri = await me.begun()
        await me.say(uri, "Hello")
        chat, (entry,) = me.chat(uri), me.state(uri)["chats"]
        assert {key: entry[key] for key in ("title", "status", "modifiedAt")} == {
            key: chat[key] for key in ("title", "status", "modifiedAt")
        }
        (listed,) = (await me.request("listSessions", channel=ROOT_URI))["items"]
        assert (listed["resource"], listed["modifiedAt"]) == (uri, chat["modifiedAt"])
        assert (listed["defaultChat"], listed["chats"][0]["resource"]) == (me.chat_of(uri),) * 2
        await me.until(lambda: any(one["method"] == "root/sessionSummaryChanged" for one in me.notices))
        assert [one["summary"]["resource"] for one in me.notices if one["method"] == "root/sessionAdded"] == [
            uri
        ]
        await me.check_folds()


@rule("1.0/C4", "1.0/A2", "1.0/D2")
@pytest.mark.parametrize("is_approved", [True, False])
@on_a_host()
async def test_a_call_that_waits_is_told_on_the_session_until_it_is_answered(
    place: Place, is_approved: bool
) -> None:
    async with channel_client(place) as me, channel_client(place, "other") as other:
        uri = await me.begun()
        await other.subscribe(uri)  # and not to the chat
        turn = await me.send(uri, "/edit a.txt hi")
        call = await me.call(uri, "pending-confirmation")
        (needed,) = await other.until(lambda: other.state(uri).get("inputNeeded"))
        assert (needed["kind"], needed["chat"], needed["toolCall"]) == (
            "toolConfirmation",
            me.chat_of(uri),
            call,
        )
        assert other.state(uri)["status"] & 31 == 24
        assert [option["kind"] for option in call["options"]].count("deny") == 1
        ids = {"turnId": turn, "toolCallId": call["toolCallId"]}
        answer: Any = {"approved": True, "confirmed": "user-action"}
        if not is_approved:
            answer = {"approved": False, "reason": "denied"}
        await other.act(needed["chat"], "chat/toolCallConfirmed", **ids, **answer)
        assert (await me.finish(uri, turn))["state"] == "complete"
        await other.until(lambda: "inputNeeded" not in other.state(uri))
        late = await me.decide(me.chat_of(uri), "chat/toolCallConfirmed", **ids, **answer)
        assert late["rejectionReason"]
        assert (place.workspace / "a.txt").exists() == is_approved
        await me.check_folds()
        await other.check_folds()


@rule("1.0/C5")
@on_a_host()
async def test_a_queued_message_leaves_the_queue_before_its_turn_starts(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        message = {"text": "Hello", "origin": USER}
        await me.act(me.chat_of(uri), "chat/pendingMessageSet", kind="queued", id="q1", message=message)
        await me.until(lambda: me.chat(uri)["turns"])
        kinds = [one["action"]["type"] for one in me.envelopes if one["channel"] == me.chat_of(uri)]
        assert kinds[:3] == ["chat/pendingMessageSet", "chat/pendingMessageRemoved", "chat/turnStarted"]
        started = next(one["action"] for one in me.envelopes if one["action"]["type"] == "chat/turnStarted")
        assert started["queuedMessageId"] == "q1"
        await me.check_folds()


@rule("1.0/D6")
@on_a_host(ECHO)
async def test_settings_that_no_schema_names_are_ignored(place: Place) -> None:
    async with channel_client(place) as me:
        config = {"isolation": "worktree", "autoApprove": "none", "mode": 5}
        uri = await me.begun(new_uri("echo"), provider="echo", config=config)
        assert me.state(uri)["lifecycle"] == "ready"


@rule("1.0/C6", "1.0/D2")
@on_a_host()
async def test_a_turn_that_failed_is_resumed_and_keeps_what_it_said(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        failed = await me.say(uri, "/error")
        assert failed["state"] == "error"
        last = failed["responseParts"][-1]
        assert (last["kind"], last["resumable"]) == ("error", True)
        refused = await me.decide(me.chat_of(uri), "chat/turnResume", turnId="another")
        assert refused["rejectionReason"]
        echo = await me.decide(me.chat_of(uri), "chat/turnResume", turnId=failed["id"])
        assert "rejectionReason" not in echo
        again = await me.finish(uri, failed["id"])
        assert again["responseParts"][: len(failed["responseParts"])] == failed["responseParts"]
        await me.check_folds()


@rule("1.0/U1")
@on_a_host()
async def test_a_draft_is_kept_for_all_to_see_and_unknown_keys_are_passed_on(place: Place) -> None:
    async with channel_client(place) as me, channel_client(place, "other") as other:
        uri = await me.begun()
        await other.follow(uri)
        draft = {"text": "half a", "origin": USER, "x-more": {"deep": [1]}}
        await me.decide(me.chat_of(uri), "chat/draftChanged", draft=draft)
        await other.until(lambda: other.chat(uri).get("draft") == draft)
        await me.decide(me.chat_of(uri), "chat/draftChanged")
        await other.until(lambda: "draft" not in other.chat(uri))
        await other.check_folds()


@rule("1.0/C3")
@on_a_host()
async def test_the_list_comes_in_pages_the_last_modified_first(place: Place) -> None:
    async with channel_client(place) as me:
        uris = [await me.begun() for _ in range(5)]
        await me.say(uris[1], "Hello")
        whole = [one["resource"] for one in (await me.request("listSessions"))["items"]]
        assert (whole[0], set(whole)) == (uris[1], set(uris))
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await me.request("listSessions", limit=2, **cursor)
            found += [one["resource"] for one in page["items"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert found == whole
        assert (await me.refusal("listSessions", cursor="nonsense")).code == -32602


@rule("1.0/V2")
@on_a_host()
async def test_a_client_of_0_9_is_not_sent_what_its_version_lacks(place: Place) -> None:
    async with (
        channel_client(place, initialSubscriptions=[ROOT_URI]) as me,
        channel_client(place, "old", protocolVersions=["0.9.0"], initialSubscriptions=[ROOT_URI]) as old,
    ):
        uri = await me.begun()
        await old.follow(uri)
        await me.decide(me.chat_of(uri), "chat/isReadChanged", isRead=True)
        await me.say(uri, "Hello")
        await old.finish(uri, me.chat(uri)["turns"][0]["id"])
        assert "chat/isReadChanged" not in {one["action"]["type"] for one in old.envelopes}
        (listed,) = (await old.request("listSessions"))["items"]
        assert listed.keys().isdisjoint({"chats", "defaultChat"})
        await old.check_folds()
        await me.check_folds()


@rule("1.0/D3")
@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("chat/turnStarted", {"turnId": "x", "startedAt": NOW, "message": OF_A_TOOL}),
        ("chat/turnCancelled", {"turnId": "none", "duration": 1}),
        ("chat/pendingMessageRemoved", {"kind": "queued", "id": "none"}),
        ("chat/inputCompleted", {"requestId": "none", "response": "accept"}),
        ("chat/turnComplete", {"turnId": "none", "duration": 1}),
        ("chat/unheardOf", {}),
    ],
)
@on_a_host()
async def test_an_action_that_does_not_apply_is_refused_to_its_client_alone(
    place: Place, kind: str, fields: Any
) -> None:
    async with channel_client(place) as me, channel_client(place, "other") as other:
        uri = await me.begun()
        await other.follow(uri)
        refused = await me.decide(me.chat_of(uri), kind, **fields)
        assert refused["rejectionReason"]
        await other.request("ping")
        assert [one for one in other.envelopes if "rejectionReason" in one] == []
        await other.check_folds()


@rule("1.0/D1", "1.0/D4", "1.0/D5")
@on_a_host()
async def test_actions_with_the_same_number_are_all_answered(place: Place) -> None:
    async with channel_client(place, initialSubscriptions=[ROOT_URI]) as me:
        uri = await me.begun()
        for title in ("One", "Two", "Two"):
            await me.act(uri, "session/titleChanged", seq=0, title=title)
        await me.act(ROOT_URI, "root/configChanged", seq=0, config={"http.proxy": ""})
        await me.act("demo:/nowhere", "session/titleChanged", seq=0, title="None")
        await me.until(lambda: len([one for one in me.envelopes if one.get("origin")]) == 4)
        told = [one for one in me.envelopes if one.get("origin")]
        assert [one["origin"]["clientSeq"] for one in told] == [0] * 4
        assert ["rejectionReason" in one for one in told] == [False, False, False, True]
        assert me.state(uri)["title"] == "Two"


@rule("1.0/C1")
@on_a_host()
async def test_a_session_begins_with_the_turns_of_another(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        first = await me.say(uri, "One")
        await me.say(uri, "Two")
        source = {"session": uri, "turnId": first["id"]}
        forked = await me.begun(_meta={"agenthost": {"fork": source}})
        assert [turn["id"] for turn in me.chat(forked)["turns"]] == [first["id"]]
        assert me.chat_of(forked) != me.chat_of(uri)
        await me.say(forked, "Three")
        await me.check_folds()
        wrong = {"agenthost": {"fork": {"session": uri}}}
        refused = await me.refusal("createSession", channel=new_uri(), _meta=wrong)
        assert (refused.code, "$._meta.agenthost.fork" in refused.message) == (-32602, True)
