"""What clients dispatch: each of the 26 actions, done and refused; refusals reach the dispatcher alone."""

from typing import Any, get_args

import pytest

from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions import CLIENT_ACTIONS
from agenthost.wire.ahp.legacy.enums import ActionType
from ahp_agents import ECHO, PLUGIN
from ahp_sites import Place, on_a_host
from ahp_speaking import Client, new_uri
from rules import rule

HELLO = {"text": "Hello"}
MINE: Any = {"clientId": "me", "tools": []}

ACCEPTED: dict[str, Any] = {
    "session/turnStarted": {"turnId": "new", "userMessage": HELLO},
    "session/titleChanged": {"title": "Title"},
    "session/isReadChanged": {"isRead": True},
    "session/isArchivedChanged": {"isArchived": True},
    "session/modelChanged": {"model": {"id": "large"}},
    "session/activeClientChanged": {"activeClient": MINE},
    "session/customizationToggled": {"uri": PLUGIN["uri"], "enabled": False},
    "session/pendingMessageSet": {"kind": "steering", "id": "s", "userMessage": HELLO},
    "session/queuedMessagesReordered": {"order": []},
    "session/truncated": {"turnId": "first"},
}
"""What an idle session takes; the others need something to be under way, and are in other tests."""

REFUSED: dict[str, list[Any]] = {
    "session/turnStarted": [
        {},
        {"turnId": "first", "userMessage": HELLO},
        {"turnId": "", "userMessage": HELLO},
    ],
    "session/turnCancelled": [{}, {"turnId": "none"}, {"turnId": "first"}],
    "session/truncated": [{"turnId": "none"}, {"turnId": None}, {"turnId": 5}],
    "session/toolCallConfirmed": [
        {"turnId": "first", "toolCallId": "c", "approved": True, "confirmed": "user-action"},
        {"turnId": "first", "toolCallId": "c"},
    ],
    "session/toolCallComplete": [{"turnId": "first", "toolCallId": "c", "result": {"success": True}}, {}],
    "session/toolCallResultConfirmed": [{"turnId": "first", "toolCallId": "c", "approved": True}],
    "session/toolCallContentChanged": [{"turnId": "first", "toolCallId": "c", "content": []}],
    "session/inputAnswerChanged": [{"requestId": "r", "questionId": "q"}],
    "session/inputCompleted": [{"requestId": "r", "response": "accept"}],
    "session/pendingMessageSet": [{"kind": "odd", "id": "x", "userMessage": HELLO}, {"kind": "queued"}],
    "session/pendingMessageRemoved": [{"kind": "queued", "id": "none"}, {"kind": "steering", "id": "none"}],
    "session/queuedMessagesReordered": [{"order": "abc"}],
    "session/titleChanged": [{}, {"title": 5}],
    "session/isReadChanged": [{"isRead": "yes"}],
    "session/isArchivedChanged": [{}],
    "session/modelChanged": [{"model": {"id": "none"}}, {"model": "large"}],
    "session/activeClientChanged": [
        {"activeClient": None},
        {"activeClient": {"clientId": "other", "tools": []}},
        {"activeClient": {"clientId": "me", "tools": [{"name": "x"}, {"name": "x"}]}},
    ],
    "session/activeClientToolsChanged": [{"tools": []}],
    "session/customizationToggled": [{"uri": "none", "enabled": True}],
    "session/configChanged": [{"config": {"a": 1}}],
    "root/configChanged": [{"config": {"a": 1}}, {}],
}


@rule("HR-A01", "HR-A03")
def test_these_are_all_actions_that_clients_may_dispatch() -> None:
    terminals = {"input", "resized", "claimed", "titleChanged", "cleared"}
    assert {*REFUSED, *(f"terminal/{name}" for name in terminals)} == CLIENT_ACTIONS
    assert len(CLIENT_ACTIONS) == 26


async def prepared(me: Client) -> str:
    """Make a session that has had a turn."""
    uri = await me.begun(new_uri("echo"))
    await me.send(uri, "Hello", "first")
    await me.finish(uri, "first")
    return uri


@rule("HR-A01", "HR-A10")
@pytest.mark.parametrize("kind", sorted(ACCEPTED))
@on_a_host(ECHO)
async def test_a_valid_action_is_echoed_to_everybody_with_its_origin(place: Place, kind: str) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await prepared(me)
        await other.subscribe(uri)
        envelope = await me.decide(uri, kind, **ACCEPTED[kind])
        assert envelope["origin"] == {"clientId": "me", "clientSeq": 2}
        assert envelope["action"] == {"type": kind, "session": uri, **ACCEPTED[kind]}
        assert "rejectionReason" not in envelope
        assert await other.hear(lambda one: one["action"]["type"] == kind) == envelope


@rule("HR-A01", "HR-A05", "HR-A07", "HR-A08", "HR-A09", "HR-A10", "HR-A11")
@pytest.mark.parametrize("kind", sorted(REFUSED))
@on_a_host(ECHO)
async def test_an_invalid_action_is_refused_only_to_its_sender_and_changes_nothing(
    place: Place, kind: str
) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await prepared(me)
        before = [await other.subscribe(uri), await other.subscribe(ROOT_URI)]
        for fields in REFUSED[kind]:
            envelope = await me.decide(uri, kind, **fields)
            assert envelope["rejectionReason"], fields
            assert envelope["action"].items() >= fields.items()
        await other.request("ping")
        assert other.envelopes == []
        assert [await other.subscribe(uri), await other.subscribe(ROOT_URI)] == before


@rule("HR-A03")
@on_a_host(ECHO)
async def test_an_action_that_only_the_host_may_dispatch_is_refused(place: Place) -> None:
    kinds = {kind for kinds in get_args(ActionType) for kind in get_args(kinds)} - CLIENT_ACTIONS
    async with place.client() as me:
        uri = await prepared(me)
        before = await me.subscribe(uri)
        for kind in [*sorted(kinds), "session/newer", "root/newer"]:
            if not kind.startswith("terminal/"):
                fields = {"turnId": "first", "partId": "p", "content": "x"}
                assert "rejectionReason" in await me.decide(uri, kind, **fields)
        assert await me.subscribe(uri) == before


@rule("HR-A02")
@on_a_host()
async def test_an_action_on_a_missing_resource_is_silently_ignored(place: Place) -> None:
    async with place.client() as me:
        for kind in ("session/titleChanged", "session/turnStarted", "terminal/input"):
            await me.act("demo:/nowhere", kind, title="x")
        await me.act(ROOT_URI, "session/titleChanged", title="x")
        await me.request("ping")
        assert (me.envelopes, me.strays) == ([], [])


@rule("HR-A01", "HR-A10")
@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({}, "$.clientSeq: expected a whole number"),
        ({"clientSeq": 5}, "$.action: expected an object"),
        ({"clientSeq": 5, "action": [1]}, "$.action: expected an object"),
        ({"clientSeq": 5, "action": {}}, "$.action.type: expected a string"),
        ({"clientSeq": 5, "action": {"type": 7, "session": "demo:/x"}}, "$.action.type: expected a string"),
        ({"clientSeq": 5, "action": {"type": "odd"}}, "'odd' is not an action that a client may dispatch"),
        ({"clientSeq": 5, "action": {"type": "odd/one"}}, "'odd/one' is not an action"),
        ({"clientSeq": 5, "action": {"type": "session/titleChanged", "title": "x"}}, "$.session: expected"),
        ({"clientSeq": 5, "action": {"type": "session/titleChanged", "session": 3}}, "$.session: expected"),
        ({"clientSeq": 5, "action": {"type": "terminal/input", "data": "x"}}, "$.terminal: expected"),
        ({"clientSeq": "5", "action": {"type": "root/configChanged"}}, "$.clientSeq: expected a whole"),
        ({"clientSeq": 2**63, "action": {"type": "root/configChanged"}}, "$.clientSeq: expected a whole"),
    ],
)
@on_a_host()
async def test_something_that_is_not_an_action_is_answered_too(
    place: Place, params: Any, reason: str
) -> None:
    async with place.client() as me, place.client("other") as other:
        await other.subscribe(ROOT_URI)
        await me.tell("dispatchAction", **params)
        envelope = await me.hear(lambda _: True)
        seq = params.get("clientSeq")
        assert envelope["rejectionReason"].startswith(reason)
        assert envelope["origin"] == {"clientId": "me", "clientSeq": 5 if seq == 5 else -1}
        assert envelope["action"] == params.get("action")
        await other.request("ping")
        assert other.envelopes == []


@rule("HR-A05")
@on_a_host()
async def test_only_the_running_turn_can_be_cancelled_and_only_one_can_run(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        turn = await me.send(uri, "/wait 60")
        second = await me.decide(uri, "session/turnStarted", turnId="second", userMessage=HELLO)
        assert "still running" in second["rejectionReason"]
        assert "rejectionReason" in await me.decide(uri, "session/turnCancelled", turnId="second")
        assert "rejectionReason" not in await me.decide(uri, "session/turnCancelled", turnId=turn)
        assert "rejectionReason" in await me.decide(uri, "session/turnCancelled", turnId=turn)


@rule("HR-A07", "HR-A08")
@on_a_host()
async def test_answers_have_to_fit_their_questions(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        turn = await me.send(uri, "/ask")
        asked = (await me.hear_kind("session/inputRequested"))["request"]["id"]
        wrong: list[Any] = [
            {"state": "submitted"},
            {"state": "draft", "value": {"kind": "number", "value": 5}},
            {"state": "submitted", "value": {"kind": "text"}},
        ]
        for answer in wrong:
            fields = {"requestId": asked, "questionId": "name", "answer": answer}
            assert "rejectionReason" in await me.decide(uri, "session/inputAnswerChanged", **fields)
        empty = await me.decide(uri, "session/inputCompleted", requestId=asked, response="accept")
        assert "needs a submitted answer" in empty["rejectionReason"]
        right = {"state": "submitted", "value": {"kind": "text", "value": "Ada"}}
        fields = {"requestId": asked, "questionId": "name", "answer": right}
        assert "rejectionReason" not in await me.decide(uri, "session/inputAnswerChanged", **fields)
        await me.decide(uri, "session/inputCompleted", requestId=asked, response="accept")
        assert "- name: Ada" in (await me.finish(uri, turn))["responseParts"][-1]["content"]


@rule("HR-A11")
@on_a_host()
async def test_there_is_one_active_client_and_it_alone_changes_its_tools(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await me.begun()
        await other.subscribe(uri)
        await me.decide(uri, "session/activeClientChanged", activeClient=MINE)
        theirs = {"clientId": "other", "tools": []}
        for wanted in (theirs, None):
            refused = await other.decide(uri, "session/activeClientChanged", activeClient=wanted)
            assert "rejectionReason" in refused
        assert "rejectionReason" in await other.decide(uri, "session/activeClientToolsChanged", tools=[])
        tools = [{"name": "mine"}]
        assert "rejectionReason" not in await me.decide(uri, "session/activeClientToolsChanged", tools=tools)
        await me.decide(uri, "session/activeClientChanged", activeClient=None)
        assert "rejectionReason" not in await other.decide(
            uri, "session/activeClientChanged", activeClient=theirs
        )


@rule("HR-A01")
@on_a_host()
async def test_settings_that_may_change_are_changed(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        await me.decide(uri, "session/configChanged", config={"style": "loud"})
        assert (await me.say(uri, "hi"))["responseParts"][0]["content"] == "YOU SAID: HI"
        assert "rejectionReason" in await me.decide(uri, "session/configChanged", config={"style": "odd"})
        queued = {"kind": "steering", "id": "s", "userMessage": HELLO}
        await me.decide(uri, "session/pendingMessageSet", **queued)
        gone = await me.decide(uri, "session/pendingMessageRemoved", kind="steering", id="s")
        assert "rejectionReason" not in gone


@rule("HR-A01")
@on_a_host()
async def test_a_client_need_not_be_subscribed_to_act_or_to_be_refused(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await me.begun()
        await other.act(uri, "session/titleChanged", title="From afar")
        await me.until(lambda: me.state(uri)["summary"]["title"] == "From afar")
        refused = await other.decide(uri, "session/turnCancelled", turnId="none")
        assert refused["rejectionReason"]


@rule("HR-C06")
@on_a_host()
async def test_an_action_whose_number_is_written_as_a_float_is_echoed_with_it(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        action = f'{{"type": "session/titleChanged", "session": "{uri}", "title": "Mine"}}'
        params = f'{{"clientSeq": 7e1, "action": {action}}}'
        await me.raw(f'{{"jsonrpc": "2.0", "method": "dispatchAction", "params": {params}}}')
        echo = await me.hear(lambda envelope: envelope.get("origin"))
        assert (echo["origin"], "rejectionReason" in echo) == ({"clientId": "me", "clientSeq": 70}, False)
        assert '"clientSeq":70}' in me.frames[-1]
