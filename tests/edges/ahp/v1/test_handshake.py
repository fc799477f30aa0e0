"""How clients of AHP 1.0 and 0.9 begin, which version they get, and how they come back."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from agenthost.edges.ahp.negotiation import choose_version
from agenthost.errors import InvalidValue, UnsupportedVersion
from agenthost.wire.ahp import ROOT_URI
from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host, served
from ahp_speaking import Client
from hosting import run
from rules import rule

SUPPORTED = ["^1.0.0", "^0.9.0", "^0.1.0"]
FIXTURES = os.environ.get("AHP_1_0_FIXTURES")


@rule("1.0/V1")
@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        (["1.0.0", "0.9.0"], "1.0.0"),
        (["0.9.0", "1.0.0"], "1.0.0"),
        (["0.1.0", "0.9.0", "1.0.0"], "1.0.0"),
        (["1.2.0", "1.10.0"], "1.10.0"),
        (["0.10.0", "0.9.3"], "0.9.3"),
        (["0.9.0", "0.7.0", "0.5.1"], "0.9.0"),
    ],
)
@on_a_host()
async def test_the_highest_version_that_both_have_is_chosen(
    place: Place, offered: list[str], taken: str
) -> None:
    async with ChannelClient.connected(place.url) as me:
        assert (await me.open(protocolVersions=offered))["protocolVersion"] == taken


@rule("1.0/V1")
@pytest.mark.parametrize("offered", [[], ["0.10.0"], ["2.0.0"], ["0.8.0", "0.7.0"]])
@on_a_host()
async def test_without_a_common_version_a_client_is_told_ours(place: Place, offered: list[str]) -> None:
    async with ChannelClient.connected(place.url) as me:
        refused = await me.refusal("initialize", protocolVersions=offered, clientId="me")
        assert (refused.code, refused.data) == (-32005, {"supportedVersions": SUPPORTED})


@rule("1.0/V1")
@pytest.mark.parametrize("offered", [["1.0"], ["1.0.0", "latest"], ["01.0.0"], ["1.0.0-beta"], [""]])
@on_a_host()
async def test_what_is_not_a_version_is_refused(place: Place, offered: list[str]) -> None:
    async with ChannelClient.connected(place.url) as me:
        refused = await me.refusal("initialize", protocolVersions=offered, clientId="me")
        assert refused.code == -32602
        assert "$.protocolVersions[" in refused.message


@rule("1.0/V1")
@pytest.mark.skipif(FIXTURES is None, reason="AHP_1_0_FIXTURES names no folder")
def test_public_cases_of_negotiation_hold() -> None:
    cases = json.loads((Path(str(FIXTURES)) / "version-negotiation.json").read_text())
    for case in cases["cases"]:
        if case["selected"] is None:
            with pytest.raises(UnsupportedVersion):
                choose_version(case["offered"])
        else:
            assert choose_version(case["offered"])[0] == case["selected"]
    malformed = next(value for key, value in cases.items() if key.startswith("malformed"))
    for offered in malformed:
        with pytest.raises(InvalidValue):
            choose_version(offered)
    assert len(cases["cases"]) + len(malformed) == 27


@rule("1.0/I2", "1.0/A1")
@on_a_host()
async def test_a_client_gets_snapshots_of_what_is_there(place: Place) -> None:
    async with ChannelClient.connected(place.url) as me:
        result = await me.open(ROOT_URI, "demo:/nowhere", ROOT_URI)
    (snapshot,) = result["snapshots"]
    assert (snapshot["resource"], snapshot["fromSeq"]) == (ROOT_URI, result["serverSeq"])
    assert all(agent["models"] for agent in snapshot["state"]["agents"])
    assert result["serverInfo"]["name"] == "agenthost"
    # O1: what is not served is not advertised.
    assert result.keys().isdisjoint({"telemetry", "automations", "terminalCommandPrefix"})


@rule("1.0/I1", "1.0/I4")
@on_a_host()
async def test_every_request_is_answered_once_and_unknown_notifications_are_ignored(place: Place) -> None:
    async with ChannelClient.connected(place.url) as me:
        assert await me.request("ping", channel=ROOT_URI) is None
        await me.open()
        await me.tell("setClientManagedSettingsPermissions", permissions={})
        assert (await me.refusal("runAutomation", channel=ROOT_URI)).code == -32601
        assert (await me.refusal("initialize", protocolVersions=["1.0.0"], clientId="me")).code == -32600
        assert await me.request("ping") is None
        assert me.strays == []


@rule("1.0/I3")
@pytest.mark.parametrize("path", ["/", "/ahp", "/ahp/", ""])
@pytest.mark.parametrize("origin", [None, "vscode-file://vscode-app"])
@on_a_host(keys=("ann",))
async def test_a_client_connects_to_the_bare_address_with_its_key_in_the_query(
    place: Place, path: str, origin: Any
) -> None:
    address = f"{place.url.replace('http', 'ws', 1)}{path}?tkn={place.keys['ann']}"
    async with connect(address, compression=None, origin=origin) as socket:
        me = ChannelClient(socket, "me")
        assert (await me.open())["protocolVersion"] == "1.0.0"
        await me.leave()
        me.check()
    with pytest.raises(InvalidStatus) as refused:
        await connect(address[:-1], compression=None, origin=origin)
    assert refused.value.response.status_code == 401


@rule("1.0/Q2", "1.0/I4")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
@on_a_host()
async def test_a_client_that_comes_back_gets_what_it_missed_of_its_channels(
    place: Place, version: str
) -> None:
    async with channel_client(place, "author") as author:
        uri = await author.begun()
        chat = author.chat_of(uri)
        async with channel_client(place, protocolVersions=[version]) as me:
            await me.follow(uri)
            seen, states = me.last_seq, dict(me.states)
        await author.say(uri, "/stream 30")
        async with ChannelClient.connected(place.url) as me:
            me.states = states
            result = await me.reopen(seen, uri, chat, "demo:/gone")
            assert (result["type"], result["missing"]) == ("replay", ["demo:/gone"])
            assert {one["channel"] for one in result["actions"]} == {uri, chat}
            await me.check_folds()
        async with ChannelClient.connected(place.url) as me:
            only = await me.reopen(seen, chat)
            assert {one["channel"] for one in only["actions"]} == {chat}


@rule("1.0/Q2")
@pytest.mark.parametrize(
    "followed",
    [[], [ROOT_URI], ["demo:/1", "ahp-chat:/1"], ["ahp-session:/1"], ["demo:/1", "ahp-terminal:/1"]],
)
@on_a_host()
async def test_a_client_that_is_not_known_has_to_begin_anew(place: Place, followed: list[str]) -> None:
    async with ChannelClient.connected(place.url, "never-seen") as me:
        refused = await me.refusal(
            "reconnect", clientId="never-seen", lastSeenServerSeq=0, subscriptions=followed
        )
        assert refused.code == -32008
        assert (await me.open())["protocolVersion"] == "1.0.0"


@rule("1.0/Q2")
@pytest.mark.parametrize(
    "followed",
    [["agenthost:/root"], ["demo:/1"], ["demo:/1", "terminal:/1"], ["agenthost:/root", "ahp-terminal:/1"]],
)
@on_a_host()
async def test_a_client_that_is_not_known_but_follows_what_was_before_is_of_that_version(
    place: Place, followed: list[str]
) -> None:
    async with Client.connected(place.url, "never-seen") as me:
        result = await me.reopen(10**15, *followed)
        assert result["type"] == "snapshot"
        assert (await me.request("listSessions"))["items"] == []


@rule("1.0/Q2")
def test_after_a_restart_a_client_comes_back_in_the_version_that_was_agreed(tmp_path: Path) -> None:
    async def story() -> None:
        async with served(tmp_path) as place, channel_client(place) as me:
            uri = await me.begun()
            chat = me.chat_of(uri)
            await me.say(uri, "Hello")
            seen, states = me.last_seq, dict(me.states)
        async with served(tmp_path) as place, ChannelClient.connected(place.url) as me:
            me.states = states
            result: Any = await me.reopen(seen, uri, chat)
            assert result["type"] == "replay"
            await me.check_folds()
            assert (await me.say(uri, "Again"))["state"] == "complete"

    run(story)


@rule("1.0/Q2", "1.0/V2")
def test_each_version_is_remembered_over_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        versions = ("1.0.0", "1.7.0", "0.9.0")
        async with served(tmp_path) as place:
            for version in versions:
                async with channel_client(place, version, protocolVersions=[version]) as me:
                    await me.begun(f"demo:/{version}")
            async with place.client("old") as old:
                await old.begun("demo:/old")
        async with served(tmp_path) as place:
            for version in versions:
                async with ChannelClient.connected(place.url, version) as me:
                    result = await me.reopen(10**15, ROOT_URI, uri := f"demo:/{version}")
                    assert [one["resource"] for one in result["snapshots"]] == [ROOT_URI, uri]
                    listed = (await me.request("listSessions", channel=ROOT_URI))["items"]
                    assert all(("defaultChat" in one) == (version != "0.9.0") for one in listed)
            async with Client.connected(place.url, "old") as old:
                result = await old.reopen(10**15)  # which a client that is not known could not
                assert (result["type"], result["snapshots"]) == ("snapshot", [])
                assert "summary" in await old.subscribe("demo:/old")

    run(story)
