"""How a connection begins: what may come first, which versions are spoken, and what is told then."""

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_sites import Place, on_a_host
from ahp_speaking import Client, new_uri
from rules import rule

SUPPORTED = ["^1.0.0", "^0.9.0", "^0.1.0"]


@rule("HR-I01", "HR-I03", "HR-I10")
@on_a_host()
async def test_a_client_starts_with_initialize_and_gets_the_default_folder(place: Place) -> None:
    async with place.stranger() as me:
        result = await me.open(ROOT_URI, "demo:/nowhere", ROOT_URI, locale="de")
    assert result["protocolVersion"] == "0.1.0"
    assert result["defaultDirectory"] == place.workspace.as_uri()
    assert result["completionTriggerCharacters"] == ["@", "/"]
    (snapshot,) = result["snapshots"]
    assert (snapshot["resource"], snapshot["fromSeq"]) == (ROOT_URI, result["serverSeq"])
    assert [agent["provider"] for agent in snapshot["state"]["agents"]] == ["demo"]


@rule("HR-I03", "HR-I04", "HR-I08")
@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        (["0.1.0"], "0.1.0"),
        (["9.0.0", "0.1.7", "0.1.0"], "0.1.7"),
        (["latest", "0.1", "0.1.0-beta", "00.1.0", "0.1.0"], "0.1.0"),
        (["9" * 5000 + ".0.0", "0.1.3"], "0.1.3"),
    ],
)
@on_a_host()
async def test_the_first_supported_version_is_chosen(place: Place, offered: list[str], taken: str) -> None:
    async with place.stranger() as me:
        assert (await me.open(protocolVersions=offered))["protocolVersion"] == taken


@rule("HR-I05", "HR-I06")
@pytest.mark.parametrize("offered", [[], ["0.2.0"], ["0.8.0", "2.1.0"]])
@on_a_host()
async def test_without_a_common_version_the_connection_is_refused_and_closed(
    place: Place, offered: list[str]
) -> None:
    async with place.stranger() as me:
        refused = await me.refusal("initialize", protocolVersions=offered, clientId="me")
        assert (refused.code, refused.data) == (-32005, {"supportedVersions": SUPPORTED})
        assert await me.closed() == (1002, "no common protocol version")


@rule("HR-I05", "HR-I06")
@pytest.mark.parametrize("params", [{"protocolVersion": 1}, {"protocolVersion": "1", "clientId": "me"}])
@on_a_host()
async def test_a_client_from_before_0_1_0_is_told_the_supported_versions(place: Place, params: Any) -> None:
    async with place.stranger() as me:
        refused = await me.refusal("initialize", **params)
        assert (refused.code, refused.data) == (-32005, {"supportedVersions": SUPPORTED})
        assert await me.closed() == (1002, "no common protocol version")


@rule("HR-I07", "HR-R05")
@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"clientId": "me"}, "$.protocolVersions"),
        ({"protocolVersions": ["0.1.0"]}, "$.clientId"),
        ({"protocolVersions": ["0.1.0"], "clientId": 5}, "$.clientId"),
        ({"protocolVersions": ["0.1.0"], "clientId": ""}, "$.clientId"),
        ({"protocolVersions": "0.1.0", "clientId": "me"}, "$.protocolVersions"),
        ({"protocolVersions": [1], "clientId": "me"}, "$.protocolVersions[0]"),
        ({"protocolVersions": ["0.1.0"], "clientId": "me", "initialSubscriptions": [None]}, "$.initial"),
    ],
)
@on_a_host()
async def test_an_incomplete_initialize_is_refused_and_may_be_repeated(
    place: Place, params: Any, path: str
) -> None:
    async with place.stranger() as me:
        refused = await me.refusal("initialize", **params)
        assert refused.code == -32602
        assert path in refused.message
        await me.open()


@rule("HR-I02", "HR-R02")
@on_a_host()
async def test_nothing_else_is_answered_before_the_handshake(place: Place) -> None:
    async with place.stranger() as me:
        for method in ("subscribe", "createSession", "listSessions", "nonsense"):
            assert (await me.refusal(method, resource=ROOT_URI)).code == -32600
        await me.tell("dispatchAction", clientSeq=1, action={"type": "root/configChanged", "config": {}})
        await me.tell("unsubscribe", resource=ROOT_URI)
        await me.raw(json.dumps({"jsonrpc": "2.0", "id": 7, "result": None}))
        await me.open()
        assert await me.request("ping") is None
        assert (me.envelopes, me.strays) == ([], [])


@rule("HR-I12", "HR-R01")
@on_a_host()
async def test_ping_is_answered_at_any_time(place: Place) -> None:
    async with place.stranger() as me:
        assert await me.request("ping") is None
        await me.raw(json.dumps({"jsonrpc": "2.0", "id": "text", "method": "ping"}))
        assert await me.stray() == {"jsonrpc": "2.0", "id": "text", "result": None}
        await me.open()
        assert await me.ask("ping", None) is None


@rule("HR-I02")
@pytest.mark.parametrize("method", ["initialize", "reconnect"])
@on_a_host()
async def test_a_connection_is_opened_once(place: Place, method: str) -> None:
    async with place.client() as me:
        params = {
            "protocolVersions": ["0.1.0"],
            "clientId": "me",
            "lastSeenServerSeq": 0,
            "subscriptions": [],
        }
        assert (await me.refusal(method, **params)).code == -32600
        assert await me.request("ping") is None


@rule("HR-I09")
@on_a_host()
async def test_unknown_fields_of_a_newer_client_are_ignored(place: Place) -> None:
    async with place.client(capabilities={"more": True}, telemetry=[]) as me:
        uri = new_uri()
        await me.request("createSession", session=uri, newer={"a": 1})
        assert (await me.request("listSessions", filter={"anything": [1]}))["items"][0]["resource"] == uri
        await me.subscribe(uri)
        envelope = await me.decide(uri, "session/titleChanged", title="New", newer=1)
        assert "rejectionReason" not in envelope
        await me.tell("somethingNewer", a=1)
        assert (await me.refusal("somethingNewer")).code == -32601


@rule("HR-I11")
@on_a_host()
async def test_an_unsupported_locale_gets_the_default_language(place: Place) -> None:
    async with place.client(locale="tlh") as me:
        uri = await me.begun()
        await me.send(uri, '/call add {"a": 1, "b": 2}')
        ready = await me.hear_kind("session/toolCallReady")
        assert [option["label"] for option in ready["options"]] == [
            "Allow once",
            "Allow for this session",
            "Deny",
        ]


@rule("HR-I13")
@on_a_host()
async def test_the_newest_connection_of_a_client_is_its_only_one(place: Place) -> None:
    async with place.client() as older, place.client("other") as other:
        uri = await older.begun(activeClient={"clientId": "me", "tools": []})
        async with place.client() as newer:
            assert await older.closed() == (4001, "the client has connected anew")
            state = await newer.subscribe(uri)
            assert state["activeClient"]["clientId"] == "me"
            await newer.decide(uri, "session/titleChanged", title="Still here")
            assert await other.request("ping") is None


@rule("HR-I13")
@on_a_host()
async def test_many_connections_of_one_client_leave_one(place: Place) -> None:
    async def come() -> Any:
        async with place.stranger() as me:
            await me.open(ROOT_URI)
            return await me.closed()

    comings = [asyncio.create_task(come()) for _ in range(8)]
    done, left = await asyncio.wait(comings, return_when=asyncio.FIRST_COMPLETED)
    while len(left) > 1:
        more, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        done |= more
    assert {one.result()[0] for one in done} == {4001}
    assert len(place.peers) == 1
    for one in left:
        one.cancel()
    await asyncio.wait(left)


@rule("HR-T04")
@pytest.mark.parametrize("path", ["", "/", "/ahp", "/ahp/"])
@on_a_host(keys=("ann",))
async def test_a_connection_may_be_opened_at_each_path_with_a_key(place: Place, path: str) -> None:
    address = place.url.replace("http", "ws", 1) + path
    async with connect(f"{address}?tkn={place.keys['ann']}") as socket:
        client = Client(socket, "me")
        assert (await client.open())["protocolVersion"] == "0.1.0"
        await client.leave()
    with pytest.raises(InvalidStatus) as refused:
        await connect(address)
    assert refused.value.response.status_code == 401
