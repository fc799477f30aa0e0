"""Every method that is served, over a real socket: with good params, and with all kinds of bad ones."""

from typing import Any, get_type_hints

import pytest

from agenthost.edges.ahp.v1.commands import REQUESTS
from agenthost.edges.ahp.v1.older import NEWER_METHODS
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option, SuggestQuery
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.methods import METHODS
from ahp_agents import GUARDED, LOGIN, echo
from ahp_channels import ChannelClient, channel_client
from ahp_frames import Refused
from ahp_sites import Place, on_a_host
from rules import rule

versions = pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])

URI, CHAT, SECOND, TERMINAL = "demo:/all", "ahp-chat:/all", "ahp-chat:/second", "t:/1"
OUTSIDE = "file:///etc/hosts"
NO_PARAMS: list[Any] = [[], "x", 5]


async def find_towns(query: SuggestQuery) -> list[str]:
    """Return values for a setting."""
    return [town for town in ("Oslo", "Osaka", "Rome") if town.startswith(query.text)]


TOWNS = Agent("towns", echo, options=[Option("town", default="Rome", suggest=find_towns)])


def good_calls(place: Place, version: str) -> list[tuple[str, Any]]:
    """Return calls that are answered, in an order in which they make sense."""
    moved_chat = [("moveChat", {"channel": SECOND, "destination": {"kind": "newSession"}})]
    folder, file, copy, moved = (place.uri(*names) for names in (["d"], ["d", "a"], ["d", "b"], ["d", "c"]))
    claim = {"kind": "client", "clientId": "me"}
    typed = {"kind": "userMessage", "text": "/he", "offset": 3}
    return [
        ("ping", {"channel": ROOT_URI}),
        ("createSession", {"channel": URI, "provider": "demo", "workingDirectories": [place.uri()]}),
        ("subscribe", {"channel": URI, "view": {}, "delivery": {"maxLatencyMs": 0}}),
        ("listSessions", {"channel": ROOT_URI, "limit": 1}),
        ("resolveSessionConfig", {"channel": ROOT_URI, "provider": "towns", "config": {"town": "Oslo"}}),
        (
            "sessionConfigCompletions",
            {"channel": ROOT_URI, "provider": "towns", "property": "town", "query": "O"},
        ),
        ("createChat", {"channel": URI, "chat": SECOND}),
        ("fetchTurns", {"channel": SECOND}),
        ("completions", {"channel": CHAT, **typed}),
        ("completions", {"channel": URI, **typed}),  # as VS Code sends it
        *(moved_chat if version == "1.0.0" else []),
        ("disposeChat", {"channel": SECOND}),
        ("createTerminal", {"channel": TERMINAL, "claim": claim, "name": "T", "cols": 80, "rows": 24}),
        ("disposeTerminal", {"channel": TERMINAL}),
        (
            "authenticate",
            {"channel": ROOT_URI, "resource": LOGIN["resource"], "token": "good", "expiresIn": 60},
        ),
        ("resourceMkdir", {"channel": ROOT_URI, "uri": folder}),
        ("resourceWrite", {"channel": ROOT_URI, "uri": file, "data": "x", "encoding": "utf-8"}),
        ("resourceRead", {"channel": ROOT_URI, "uri": file, "encoding": "utf-8"}),
        ("resourceCopy", {"channel": ROOT_URI, "source": file, "destination": copy, "failIfExists": True}),
        ("resourceMove", {"channel": ROOT_URI, "source": copy, "destination": moved}),
        ("resourceList", {"channel": ROOT_URI, "uri": folder}),
        ("resourceResolve", {"channel": ROOT_URI, "uri": moved, "followSymlinks": False}),
        ("resourceRequest", {"channel": ROOT_URI, "uri": file, "read": True}),
        ("createResourceWatch", {"channel": ROOT_URI, "uri": folder, "recursive": True}),
        ("resourceDelete", {"channel": ROOT_URI, "uri": folder, "recursive": True}),
        ("disposeSession", {"channel": URI}),
    ]


ONLY_REFUSED = {"invokeChangesetOperation"}
"""Served for what may be offered later; nothing is, so far."""

BAD: list[tuple[str, dict[str, Any], int]] = [
    ("subscribe", {"channel": "demo:/none"}, -32001),
    ("subscribe", {"channel": "ahp-resource-watch:/none"}, -32001),
    ("listSessions", {"channel": ROOT_URI, "cursor": "never"}, -32602),
    ("listSessions", {"channel": ROOT_URI, "limit": 0}, -32602),
    ("createSession", {"channel": "demo:/there", "provider": "demo"}, -32003),
    ("createSession", {"channel": "none:/1", "provider": "none"}, -32002),
    ("createSession", {"channel": "guarded:/1", "provider": "guarded"}, -32007),
    ("createSession", {"channel": ROOT_URI, "provider": "demo"}, -32602),
    ("createSession", {"channel": "", "provider": "demo"}, -32602),
    ("createSession", {"channel": "demo:/x", "workingDirectories": [OUTSIDE]}, -32009),
    ("disposeSession", {"channel": "demo:/none"}, -32001),
    ("createChat", {"channel": "demo:/none", "chat": SECOND}, -32001),
    ("createChat", {"channel": "demo:/there", "chat": "ahp-chat:/there"}, -32010),
    ("createChat", {"channel": "demo:/there", "chat": ""}, -32602),
    ("disposeChat", {"channel": "ahp-chat:/none"}, -32001),
    ("disposeChat", {"channel": "ahp-chat:/there"}, -32602),
    ("fetchTurns", {"channel": "ahp-chat:/none"}, -32001),
    ("fetchTurns", {"channel": "ahp-chat:/there", "cursor": "never"}, -32602),
    ("completions", {"channel": "ahp-chat:/none", "kind": "userMessage", "text": "/", "offset": 1}, -32001),
    ("resolveSessionConfig", {"channel": ROOT_URI, "provider": "none"}, -32002),
    ("sessionConfigCompletions", {"channel": ROOT_URI, "provider": "none", "property": "x"}, -32002),
    ("sessionConfigCompletions", {"channel": ROOT_URI, "provider": "towns", "property": "x"}, -32602),
    ("createTerminal", {"channel": "", "claim": {"kind": "client", "clientId": "me"}}, -32602),
    ("createTerminal", {"channel": TERMINAL, "claim": {"kind": "client", "clientId": "you"}}, -32602),
    ("disposeTerminal", {"channel": "t:/none"}, -32008),
    ("authenticate", {"channel": ROOT_URI, "resource": LOGIN["resource"], "token": "bad"}, -32007),
    ("authenticate", {"channel": ROOT_URI, "resource": "https://none.example", "token": "good"}, -32602),
    ("resourceRead", {"channel": ROOT_URI, "uri": "missing"}, -32008),
    ("resourceRead", {"channel": ROOT_URI, "uri": OUTSIDE}, -32009),
    ("resourceWrite", {"channel": ROOT_URI, "uri": OUTSIDE, "data": "", "encoding": "utf-8"}, -32009),
    ("resourceWrite", {"channel": ROOT_URI, "uri": "file", "data": "?", "encoding": "base64"}, -32602),
    ("resourceList", {"channel": ROOT_URI, "uri": "missing"}, -32008),
    ("resourceList", {"channel": ROOT_URI, "uri": OUTSIDE}, -32009),
    ("resourceCopy", {"channel": ROOT_URI, "source": "missing", "destination": "new"}, -32008),
    ("resourceCopy", {"channel": ROOT_URI, "source": "file", "destination": OUTSIDE}, -32009),
    (
        "resourceCopy",
        {"channel": ROOT_URI, "source": "file", "destination": "full/a", "failIfExists": True},
        -32010,
    ),
    ("resourceMove", {"channel": ROOT_URI, "source": "missing", "destination": "new"}, -32008),
    ("resourceMove", {"channel": ROOT_URI, "source": OUTSIDE, "destination": "new"}, -32009),
    ("resourceDelete", {"channel": ROOT_URI, "uri": "missing"}, -32008),
    ("resourceDelete", {"channel": ROOT_URI, "uri": "full"}, -32602),
    ("resourceDelete", {"channel": ROOT_URI, "uri": OUTSIDE}, -32009),
    ("resourceResolve", {"channel": ROOT_URI, "uri": "missing"}, -32008),
    ("resourceResolve", {"channel": ROOT_URI, "uri": OUTSIDE}, -32009),
    ("resourceMkdir", {"channel": ROOT_URI, "uri": "file"}, -32010),
    ("resourceMkdir", {"channel": ROOT_URI, "uri": OUTSIDE}, -32009),
    ("createResourceWatch", {"channel": ROOT_URI, "uri": "missing"}, -32008),
    ("createResourceWatch", {"channel": ROOT_URI, "uri": OUTSIDE}, -32009),
    ("invokeChangesetOperation", {"channel": "demo:/there", "operationId": "x"}, -32602),
    ("invokeChangesetOperation", {"channel": "demo:/none", "operationId": "x"}, -32001),
]
"""Calls that are refused, and the code. A URI without a scheme is one of the workspace."""

HERE = ("missing", "file", "new", "full", "full/a")


async def code_of(me: ChannelClient, method: str, params: Any) -> int:
    """Return the code of the error that a call is answered with; 0 if it is not refused."""
    try:
        await me.request(method, **params)
    except Refused as refused:
        return refused.code
    return 0


@rule("1.0/I1", "1.0/U1")
@versions
@on_a_host(GUARDED, TOWNS)
async def test_every_method_is_answered_and_ignores_what_it_does_not_know(place: Place, version: str) -> None:
    async with channel_client(place, protocolVersions=[version]) as me:
        calls = good_calls(place, version)
        newer = NEWER_METHODS if version != "1.0.0" else set()
        assert {name for name, _ in calls} | ONLY_REFUSED == REQUESTS.keys() - newer
        for method, params in calls:
            more = {"_meta": {"x": 1}, "unknown": [None]}
            assert await code_of(me, method, {**params, **more}) == 0, method
            if method == "createSession":
                await me.follow(URI)
                await me.until(lambda: me.state(URI)["lifecycle"] == "ready")


@rule("1.0/I1")
@versions
@on_a_host(GUARDED, TOWNS)
async def test_params_of_another_shape_are_refused_with_their_path(place: Place, version: str) -> None:
    async with channel_client(place, protocolVersions=[version]) as me:
        tried = 0
        for method, params in [
            *good_calls(place, version),
            ("invokeChangesetOperation", {"channel": URI, "operationId": "x"}),
        ]:
            kind: Any = METHODS[method].params.kind
            known = get_type_hints(kind)
            for key in known.keys() - {"_meta"}:
                wrong = {**params, key: [[]]}
                refused = await me.refusal(method, **wrong)
                assert (refused.code, f"$.{key}" in refused.message) == (-32602, True), (method, key)
                tried += 1
            for key in kind.__required_keys__ - {"channel"}:
                lacking = {name: value for name, value in params.items() if name != key}
                assert await code_of(me, method, lacking) == -32602, (method, key)
            for odd in NO_PARAMS:
                with pytest.raises(Refused) as taken:
                    await me.ask(method, odd)
                assert taken.value.code in (-32600, -32602)
        assert tried > 60
        assert (await me.request("listSessions", channel=ROOT_URI))["items"] == []


@rule("1.0/D1", "1.0/X3")
@versions
@on_a_host(GUARDED, TOWNS)
async def test_what_cannot_be_done_is_refused_with_the_code_of_its_reason(place: Place, version: str) -> None:
    (place.workspace / "full").mkdir()
    (place.workspace / "full" / "a").write_text("a")
    (place.workspace / "file").write_text("f")
    async with channel_client(place, protocolVersions=[version]) as me:
        await me.begun("demo:/there")
        wrong = []
        for method, given, code in BAD:
            params = {key: place.uri(*one.split("/")) if one in HERE else one for key, one in given.items()}
            if (found := await code_of(me, method, params)) != code:
                wrong.append((method, given, code, found))
        assert wrong == []
        await me.check_folds()
