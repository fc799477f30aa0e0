"""The methods of AHP 1.0: who calls them, and what they look like on the wire."""

from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.wire.ahp.errors import ERROR_DATA
from agenthost.wire.ahp.methods import BEFORE_INITIALIZE, METHODS
from agenthost.wire.annotations import union_members
from agenthost.wire.json import Json, JsonObject
from agenthost.wire.jsonrpc import Failure, Notification, Request, Success, decode_message, encode_message

ROOT = "ahp-root://"

# Who calls it, the method, and its result where that is not named after it; "-" where there is no answer.
TABLE = """
    client initialize
    client ping null
    client reconnect ReconnectReplayResult|ReconnectSnapshotResult
    client subscribe
    client unsubscribe -
    client dispatchAction -
    client authenticate
    client listSessions
    client createSession null
    client disposeSession null
    client resolveSessionConfig
    client sessionConfigCompletions
    client createChat null
    client disposeChat null
    client moveChat
    client fetchTurns
    client completions
    client createTerminal null
    client disposeTerminal null
    both resourceRead
    both resourceWrite
    both resourceList
    both resourceCopy
    both resourceMove
    both resourceDelete
    both resourceResolve
    both resourceMkdir
    both resourceRequest
    both createResourceWatch
    client invokeChangesetOperation
    client listAutomationTriggerDefinitions
    client runAutomation
    client fetchAutomationRuns
    host action -
    host root/sessionAdded -
    host root/sessionRemoved -
    host root/sessionSummaryChanged -
    host root/progress -
    host auth/required -
    host otlp/exportLogs -
    host otlp/exportTraces -
    host otlp/exportMetrics -
"""


def name_of(kind: Any) -> str:
    return "|".join("null" if part is type(None) else part.__name__ for part in union_members(kind))


def title(method: str) -> str:
    """Return how the protocol's types begin that are named after a method."""
    scope, _, name = method.rpartition("/")
    scoped = {"auth": "Auth", "otlp": "Otlp"}.get(scope, "")
    return scoped + name[0].upper() + name[1:]


def test_there_are_42_methods_with_these_callers_params_and_results() -> None:
    rows = [line.split() for line in TABLE.strip().splitlines()]
    assert len(METHODS) == len(rows) == 42
    for caller, name, *rest in rows:
        method = METHODS[name]
        result = rest[0] if rest else f"{title(name)}Result"
        params = "ActionEnvelope" if name == "action" else f"{title(name)}Params"
        found = name_of(method.result.kind) if method.result else "-"
        assert (method.name, method.caller, name_of(method.params.kind), found) == (
            name,
            caller,
            params,
            result,
        )


def test_three_methods_may_be_called_before_the_connection_is_open() -> None:
    assert {"initialize", "reconnect", "ping"} == BEFORE_INITIALIZE
    assert METHODS.keys() > BEFORE_INITIALIZE


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.result is not None])
def test_a_result_is_null_or_an_object_and_never_both(name: str) -> None:
    result: Any = METHODS[name].result
    is_null = name_of(result.kind) == "null"
    with pytest.raises(InvalidValue):
        result.take({} if is_null else None)
    if is_null:
        assert result.take(None) is None


NOW = "2026-11-18T10:00:00.000Z"
MESSAGE = {"text": "Hey", "origin": {"kind": "user"}, "model": {"id": "big", "config": {"effort": None}}}
STARTED = {"type": "chat/turnStarted", "turnId": "t", "startedAt": NOW, "message": MESSAGE}
SUMMARY = {
    "resource": "toy:/a",
    "provider": "toy",
    "title": "First",
    "status": 9,
    "createdAt": NOW,
    "modifiedAt": NOW,
    "chats": [{"resource": "ahp-chat:/1", "title": ""}],
    "defaultChat": "ahp-chat:/1",
}
CHAT = {"resource": "ahp-chat:/1", "title": "", "status": 1, "modifiedAt": NOW, "origin": {"kind": "user"}}
ROOT_SNAPSHOT = {"resource": ROOT, "state": {"agents": []}, "fromSeq": 5}
SESSION_STATE = {
    "provider": "toy",
    "title": "",
    "status": 1,
    "lifecycle": "creating",
    "activeClients": [],
    "chats": [CHAT],
    "defaultChat": "ahp-chat:/1",
}

CALLS: list[tuple[str, JsonObject]] = [
    ("initialize", {"channel": ROOT, "clientId": "me", "protocolVersions": ["1.0.0", "0.9.0"]}),
    (
        "initialize",
        {
            "channel": ROOT,
            "clientId": "me",
            "protocolVersions": ["0.9.0"],
            "clientInfo": {"name": "editor", "title": "Editor"},
            "initialSubscriptions": [ROOT],
            "locale": "fr",
            "capabilities": {"mcpApps": {}},
            "_meta": {"vendor.level": "all"},
        },
    ),
    ("ping", {"channel": ROOT}),
    ("reconnect", {"clientId": "me", "lastSeenServerSeq": 8, "subscriptions": ["toy:/a", "toy:/gone"]}),
    ("subscribe", {"channel": "toy:/a", "view": {"turns": 20}, "delivery": {"maxLatencyMs": 50}}),
    ("unsubscribe", {"channel": "toy:/a"}),
    ("createSession", {"channel": "toy:/a"}),
    (
        "createSession",
        {
            "channel": "toy:/a",
            "provider": "toy",
            "workingDirectories": ["file:///home"],
            "config": {"isolation": "folder", "anything": None},
            "progressToken": "p",
        },
    ),
    ("listSessions", {"channel": ROOT, "limit": 20, "cursor": "c", "filter": {"anything": None}}),
    ("createChat", {"channel": "toy:/a", "chat": "ahp-chat:/2", "source": {"kind": "fromTheFuture"}}),
    ("moveChat", {"channel": "ahp-chat:/1", "destination": {"kind": "newSession"}}),
    ("completions", {"channel": "ahp-chat:/1", "kind": "fromTheFuture", "text": "@", "offset": 1}),
    ("dispatchAction", {"channel": "ahp-chat:/1", "clientSeq": 0, "action": STARTED}),
    ("dispatchAction", {"channel": "toy:/a", "clientSeq": 0, "action": {"type": "session/fromTheFuture"}}),
    (
        "action",
        {
            "channel": "ahp-chat:/1",
            "action": {"type": "chat/turnCancelled", "turnId": "x", "duration": 0},
            "serverSeq": 7,
            "origin": {"clientId": "me", "clientSeq": 2},
            "rejectionReason": "no such turn",
        },
    ),
    ("root/sessionAdded", {"channel": ROOT, "summary": SUMMARY}),
    ("root/sessionSummaryChanged", {"channel": ROOT, "session": "toy:/a", "changes": {"status": 40}}),
    ("root/progress", {"channel": ROOT, "progressToken": "p", "progress": 0.5, "total": 1}),
    ("auth/required", {"channel": ROOT, "resource": {"resource": "https://x"}, "reason": "fromTheFuture"}),
    ("otlp/exportLogs", {"channel": "ahp-otlp://logs/info", "payload": {"resourceLogs": [None]}}),
    (
        "resourceWrite",
        {"channel": ROOT, "uri": "file:///x", "data": "", "encoding": "utf-8", "mode": "append"},
    ),
    ("createResourceWatch", {"channel": ROOT, "uri": "file:///x", "excludes": {"items": ["**/.git"]}}),
]


@pytest.mark.parametrize(("name", "params"), CALLS)
def test_a_call_on_the_wire_has_the_shape_of_its_method(name: str, params: JsonObject) -> None:
    method = METHODS[name]
    call = Request(1, name, params) if method.result else Notification(name, params)
    read = decode_message(encode_message(call))
    assert isinstance(read, Request | Notification)
    assert METHODS[read.method].params.take(read.params) == params


RESULTS: list[tuple[str, Json]] = [
    (
        "initialize",
        {
            "protocolVersion": "1.0.0",
            "serverSeq": 5,
            "snapshots": [ROOT_SNAPSHOT],
            "serverInfo": {"name": "agenthost", "version": "1"},
            "terminalCommandPrefix": "!",
            "telemetry": {"logs": "ahp-otlp://logs/{level}"},
            "automations": {"create": {}, "schedules": {}, "runHistoryLimit": 50},
        },
    ),
    ("subscribe", {}),
    ("subscribe", {"snapshot": {"resource": "toy:/a", "state": SESSION_STATE, "fromSeq": 6}}),
    ("subscribe", {"snapshot": {"resource": "ahp-chat:/1", "state": {**CHAT, "turns": []}, "fromSeq": 6}}),
    ("createSession", None),
    (
        "reconnect",
        {
            "type": "replay",
            "actions": [{"channel": "ahp-chat:/1", "action": STARTED, "serverSeq": 9}],
            "missing": ["toy:/gone"],
        },
    ),
    ("reconnect", {"type": "snapshot", "snapshots": [ROOT_SNAPSHOT]}),
    ("fetchTurns", {}),
    ("moveChat", {"session": "toy:/b"}),
    ("resourceResolve", {"uri": "file:///x", "type": "socket", "size": 6, "mtime": NOW, "etag": "e"}),
    ("createResourceWatch", {"channel": "ahp-resource-watch:/1"}),
]


@pytest.mark.parametrize(("name", "value"), RESULTS)
def test_an_answer_on_the_wire_has_the_shape_of_its_method(name: str, value: Json) -> None:
    read = decode_message(encode_message(Success(1, value)))
    result = METHODS[name].result
    assert isinstance(read, Success)
    assert result is not None
    assert result.take(read.result) == value


@pytest.mark.parametrize(
    ("code", "data"),
    [
        (-32005, {"supportedVersions": ["^1.0.0", "^0.9.0", "^0.1.0"]}),
        (-32007, {"resources": [{"resource": "https://x", "authorization_servers": []}]}),
        (-32009, {"request": {"channel": ROOT, "uri": "file:///mine", "write": True}}),
        (-32009, {}),
    ],
)
def test_an_error_on_the_wire_carries_its_data(code: int, data: JsonObject) -> None:
    read = decode_message(encode_message(Failure(5, code, "Not now", data)))
    assert isinstance(read, Failure)
    assert ERROR_DATA[read.code].take(read.data) == data


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("reconnect", {"clientId": "me", "lastSeenServerSeq": 8, "subscriptions": []}),
        ("ping", {}),
        ("resourceRead", {"uri": "file:///x"}),
    ],
)
def test_the_channel_of_the_root_may_be_left_out_but_not_be_another(name: str, params: JsonObject) -> None:
    shape = METHODS[name].params
    assert shape.take(dict(params)) == params
    assert shape.take({"channel": ROOT, **params}) == {"channel": ROOT, **params}
    with pytest.raises(InvalidValue, match=r"^\$\.channel: expected 'ahp-root://', found 'toy:/a'$"):
        shape.take({"channel": "toy:/a", **params})


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("initialize", {}, "$.clientId: expected a string, found nothing"),
        (
            "initialize",
            {"clientId": "me", "protocolVersions": "1.0.0"},
            "$.protocolVersions: expected a list, found a string",
        ),
        ("subscribe", {}, "$.channel: expected a string, found nothing"),
        ("createSession", {"provider": "toy"}, "$.channel: expected a string, found nothing"),
        (
            "dispatchAction",
            {"channel": "toy:/a", "clientSeq": True, "action": STARTED},
            "$.clientSeq: expected a whole number of at most 64 bits, found true",
        ),
        (
            "dispatchAction",
            {"channel": "toy:/a", "clientSeq": 0, "action": {"type": "session/titleChanged"}},
            "$.action.title: expected a string, found nothing",
        ),
        (
            "resourceWrite",
            {"uri": "file:///x", "data": "", "encoding": "latin-1"},
            "$.encoding: expected 'base64' or 'utf-8', found 'latin-1'",
        ),
        ("action", {"channel": "x:/", "serverSeq": 1}, "$.action: expected an object, found nothing"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_with_the_path(
    name: str, params: JsonObject, sentence: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        METHODS[name].params.take(params)
    assert str(refused.value) == sentence
