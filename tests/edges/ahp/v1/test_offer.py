"""What the host offers: agents with names that are schemes, one language, and nothing that is not served."""

import re
from typing import Any

import pytest

from agenthost.edges.ahp.v1.commands import NOTIFICATIONS, REQUESTS
from agenthost.host.authoring.agent import Agent
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.methods import METHODS
from ahp_agents import ECHO, echo
from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host
from rules import rule

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
MIXED = Agent("Acme.coder-2+x", echo)

OPENING = {"initialize", "reconnect"}

NEEDED: dict[str, set[str]] = {
    "completionTriggerCharacters": {"completions"},
    "automations": {"listAutomationTriggerDefinitions", "runAutomation", "fetchAutomationRuns"},
    "protectedResources": {"authenticate"},
    "multipleChats": {"createChat", "disposeChat"},
    "movable": {"moveChat"},
    "operations": {"invokeChangesetOperation"},
    "turnsNextCursor": {"fetchTurns"},
    "terminals": {"createTerminal", "disposeTerminal"},
    "defaultDirectory": {"resourceList", "resourceRead"},
}
"""What a client may call when it sees one of these keys anywhere in what it is shown."""

NEVER = {"telemetry", "terminalCommandPrefix", "annotations", "canvases", "backgroundWork", "mcpApp"}
"""Keys that stand for what is not served at all."""


@rule("1.0/A4")
@pytest.mark.parametrize("provider", [{}, {"provider": MIXED.name}])
@pytest.mark.parametrize("scheme", [MIXED.name, MIXED.name.lower()])
@on_a_host(MIXED)
async def test_the_scheme_of_a_session_is_its_agent(place: Place, scheme: str, provider: Any) -> None:
    async with channel_client(place) as me:
        shown = (await me.subscribe(ROOT_URI))["agents"]
        assert all(SCHEME.fullmatch(agent["provider"]) for agent in shown)
        uri = await me.begun(f"{scheme}:/6f1c2d3e-0000-4000-8000-000000000001", **provider)
        assert me.state(uri)["provider"] == MIXED.name
        assert (await me.say(uri, "Hello"))["state"] == "complete"


@rule("1.0/A4")
@on_a_host(MIXED)
async def test_the_scheme_of_no_agent_needs_a_provider(place: Place) -> None:
    async with channel_client(place) as me:
        refused = await me.refusal("createSession", channel="other:/1")
        assert refused.code == -32002
        assert me.state(await me.begun("other:/1", provider=MIXED.name))["provider"] == MIXED.name


@rule("1.0/L1")
@on_a_host(ECHO)
async def test_whatever_the_locale_the_texts_are_in_the_one_language_that_there_is(place: Place) -> None:
    found = []
    for locale in ({}, {"locale": "de"}, {"locale": "pt-BR"}, {"locale": "tlh"}, {"locale": ""}):
        async with channel_client(place, "talker", **locale) as me:
            state = await me.subscribe(ROOT_URI)
            form = await me.request("resolveSessionConfig", channel=ROOT_URI, provider="demo")
            wrong = await me.refusal("fetchTurns", channel="demo:/none")
            found.append((state["agents"], state.get("config"), form, wrong.message))
    assert all(one == found[0] for one in found)


@rule("1.0/L1")
@pytest.mark.parametrize("locale", [5, ["de"], {}])
@on_a_host()
async def test_a_locale_that_is_no_text_is_refused(place: Place, locale: Any) -> None:
    async with ChannelClient.connected(place.url) as me:
        params = {"channel": ROOT_URI, "protocolVersions": ["1.0.0"], "clientId": "me"}
        refused = await me.refusal("initialize", **params, locale=locale)
        assert (refused.code, "$.locale" in refused.message) == (-32602, True)


def keys_of(value: Any) -> set[str]:
    """Return all keys of a value that mean something, at any depth."""
    if type(value) is list:
        return set().union(*map(keys_of, value))
    if type(value) is not dict:
        return set()
    return {key for key, one in value.items() if one not in ([], {})}.union(*map(keys_of, value.values()))


@rule("1.0/O1")
@on_a_host(ECHO)
async def test_what_is_advertised_is_served(place: Place) -> None:
    async with ChannelClient.connected(place.url) as me:
        opened = await me.open(ROOT_URI, capabilities={"mcpApps": {}})
        uri = await me.begun()
        await me.say(uri, "Hello")
        view = await me.subscribe(me.chat_of(uri), view={"turns": 0})
        session = {**me.state(uri), "serverTools": []}  # tools have keys of their own
        shown = [opened, me.state(ROOT_URI), session, view, await me.request("listSessions")]
        keys = keys_of(shown)
        assert keys & NEVER == set()
        served = REQUESTS.keys() | NOTIFICATIONS.keys()
        assert {key: NEEDED[key] - served for key in keys & NEEDED.keys() if NEEDED[key] - served} == {}
        assert {"completionTriggerCharacters", "turnsNextCursor"} <= keys  # the test sees something
        for changeset in [*me.state(uri).get("changesets", []), *view.get("changesets", [])]:
            if "{" not in changeset["uriTemplate"]:
                await me.subscribe(changeset["uriTemplate"])
        for chat in me.state(uri)["chats"]:
            await me.subscribe(chat["resource"])


@rule("1.0/O1", "1.0/I1")
@on_a_host()
async def test_what_is_not_served_is_an_unknown_method(place: Place) -> None:
    async with channel_client(place) as me:
        asked = {name for name, one in METHODS.items() if one.caller != "host" and one.result is not None}
        left_out = asked - REQUESTS.keys() - OPENING
        assert {"runAutomation", "fetchAutomationRuns"} <= left_out
        for method in sorted(left_out):
            refused = await me.refusal(method, channel=ROOT_URI)
            assert refused.code == -32601, method
