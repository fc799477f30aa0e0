"""Frames: what is a message, what is none, and that each question gets one answer."""

import asyncio
import json
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_sites import Place, on_a_host
from ahp_speaking import Client, Refused
from rules import rule

JUNK: list[tuple[str | bytes, Any, int]] = [
    ("", None, -32700),
    ("{", None, -32700),
    ("nonsense", None, -32700),
    ("\0", None, -32700),
    (b"\xff\xfe", None, -32700),
    ('{"jsonrpc": "2.0", "id": 1, "method": "ping"} {}', None, -32700),
    ("[" * 100_000 + "]" * 100_000, None, -32700),
    ('{"a":' * 5_000 + "1" + "}" * 5_000, None, -32700),
    ("[]", None, -32600),
    ("null", None, -32600),
    ("5", None, -32600),
    ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600),
    ("{}", None, -32600),
    ('{"jsonrpc": "2.0", "id": 1}', 1, -32600),
    ('{"jsonrpc": "2.0", "id": 2, "method": 5}', 2, -32600),
    ('{"id": 3, "method": "ping"}', 3, -32600),
    ('{"jsonrpc": "1.0", "id": 4, "method": "ping"}', 4, -32600),
    ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, -32600),
    ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
    ('{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": []}', 5, -32602),
    ('{"jsonrpc": "2.0", "id": 6, "method": "ping", "params": "x"}', 6, -32602),
    ('{"jsonrpc": "2.0", "id": 7, "method": "subscribe"}', 7, -32602),
    ('{"jsonrpc": "2.0", "id": 8, "method": "subscribe", "params": {"resource": 5}}', 8, -32602),
]


@rule("HR-R04", "HR-R05", "HR-R07")
@pytest.mark.parametrize("is_open", [True, False])
@on_a_host()
async def test_invalid_messages_are_answered_and_harm_nothing(place: Place, is_open: bool) -> None:
    async with place.stranger() as me:
        if is_open:
            await me.open()
        for frame, message_id, code in JUNK:
            await me.raw(frame)
            answer = await me.stray()
            expected = -32600 if not is_open and "subscribe" in str(frame) else code
            assert (answer["id"], answer["error"]["code"]) == (message_id, expected), str(frame)[:80]
        assert await me.request("ping") is None


@rule("HR-T02", "HR-R08", "HR-R09")
@on_a_host()
async def test_each_frame_is_text_with_one_message_and_envelopes_are_flat(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        await me.say(uri, "Hello")
        await me.notice("sessionSummaryChanged", session=uri)
        frames = [json.loads(frame) for frame in me.frames]
    actions = [one["params"] for one in frames if one.get("method") == "action"]
    assert actions
    assert all(one.keys() <= {"action", "serverSeq", "origin"} for one in actions)
    news = [one["params"] for one in frames if one.get("method") == "notification"]
    assert all(one.keys() == {"notification"} for one in news)
    (snapshot,) = [one["result"] for one in frames if "snapshot" in (one.get("result") or {})]
    assert snapshot.keys() == {"snapshot"}


@rule("HR-T02")
@on_a_host()
async def test_a_binary_frame_with_a_message_is_understood(place: Place) -> None:
    async with place.client() as me:
        await me.raw(b'{"jsonrpc": "2.0", "id": 99, "method": "ping", "params": {}}')
        assert await me.stray() == {"jsonrpc": "2.0", "id": 99, "result": None}


@rule("HR-R01", "HR-R03")
@on_a_host()
async def test_each_request_gets_one_answer_with_its_own_id(place: Place) -> None:
    async with place.client() as me:
        asked = [
            me.begin(method, {}, message_id)
            for message_id, method in [
                (2**40, "ping"),
                (-1, "ping"),
                (0, "ping"),
                ("a", "ping"),
                (1.5, "ping"),
            ]
        ]
        for number in range(200):
            method = ("ping", "listSessions", "nonsense", "dispatchAction", "initialise")[number % 5]
            asked.append(me.begin(method, {}))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        codes = {answer.code for answer in answers if isinstance(answer, Refused)}
        assert (codes, me.strays) == ({-32601}, [])


@rule("HR-R02")
@on_a_host()
async def test_a_notification_is_never_answered(place: Place) -> None:
    async with place.client() as me:
        for method in ("nonsense", "subscribe", "createSession", "ping", "unsubscribe"):
            await me.tell(method, junk=1)
            await me.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": 5}))
            await me.raw(json.dumps({"jsonrpc": "2.0", "method": method}))
        await me.raw(json.dumps({"jsonrpc": "2.0", "id": 999, "result": {}}))
        await me.raw(json.dumps({"jsonrpc": "2.0", "id": 999, "error": {"code": 1, "message": "no"}}))
        assert await me.request("ping") is None
        assert (me.strays, me.envelopes) == ([], [])


@rule("HR-R06")
@on_a_host(may_fail=True)
async def test_an_unexpected_error_reveals_nothing(place: Place) -> None:
    async def broken(*_: Any) -> Any:
        raise RuntimeError("a secret of ours")

    place.host.parts.files.read = broken  # type: ignore[method-assign,assignment] # as a bug would
    async with place.client() as me:
        refused = await me.refusal("resourceRead", uri="file:///x")
        assert refused.code == -32603
        assert "secret" not in refused.message
        assert await me.request("ping") is None


@rule("HR-R10")
@on_a_host()
async def test_the_host_sends_no_requests_so_ids_cannot_clash(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        await me.say(uri, "Hello")
        requests = [frame for frame in map(json.loads, me.frames) if "method" in frame and "id" in frame]
        assert requests == []


@rule("HR-R07")
@on_a_host(config={"max_body": 100_000})
async def test_a_frame_that_is_too_large_ends_the_connection_with_a_code(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        await me.raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "x" * 90_000}}))
        assert "result" in await me.stray()
        await me.raw("x" * 200_000)
        code, _reason = await me.closed()
        assert code == 1009
        assert await other.request("ping") is None


@rule("HR-T01")
@on_a_host()
async def test_messages_are_handled_in_order(place: Place) -> None:
    async with place.client() as me:
        uri = "demo:/in-order"
        made = me.begin("createSession", {"session": uri})
        seen = me.begin("subscribe", {"resource": uri})
        gone = me.begin("disposeSession", {"session": uri})
        late = me.begin("subscribe", {"resource": uri})
        assert await made is None
        assert (await seen)["snapshot"]["resource"] == uri
        assert await gone is None
        with pytest.raises(Refused, match="-32001"):
            await late


@rule("HR-T04")
@on_a_host(keys=("ann",))
async def test_access_is_checked_before_the_first_message(place: Place) -> None:
    for key in (None, "wrong"):
        with pytest.raises(InvalidStatus) as caught:
            async with Client.connected(place.url, "me", key):
                pass
        assert caught.value.response.status_code == 401
    async with Client.connected(place.url, "me", place.keys["ann"]) as me:
        await me.open(ROOT_URI)


@rule("HR-T04")
@on_a_host()
async def test_a_foreign_page_may_not_connect(place: Place) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with Client.connected(place.url, origin="https://evil.example"):
            pass
    assert caught.value.response.status_code == 403
    answer = await place.ask("/ahp")
    assert (answer.status, answer.json["error"]["code"]) == (426, "upgrade_required")
