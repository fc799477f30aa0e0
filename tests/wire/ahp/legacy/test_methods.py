"""The methods of AHP 0.1.0: who calls them, and what they look like on the wire."""

from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.wire.ahp.legacy.errors import ERROR_DATA
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.annotations import union_members
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json
from agenthost.wire.jsonrpc import Failure, Notification, Request, Success, decode_message, encode_message

# method: who calls it, its params, its result ("-" where there is no answer)
TABLE = {
    "initialize": ("client", "InitializeParams", "InitializeResult"),
    "ping": ("client", "PingParams", "null"),
    "reconnect": ("client", "ReconnectParams", "ReconnectReplayResult | ReconnectSnapshotResult"),
    "subscribe": ("client", "SubscribeParams", "SubscribeResult"),
    "unsubscribe": ("client", "UnsubscribeParams", "-"),
    "dispatchAction": ("client", "DispatchActionParams", "-"),
    "createSession": ("client", "CreateSessionParams", "null"),
    "disposeSession": ("client", "DisposeSessionParams", "null"),
    "createTerminal": ("client", "CreateTerminalParams", "null"),
    "disposeTerminal": ("client", "DisposeTerminalParams", "null"),
    "listSessions": ("client", "ListSessionsParams", "ListSessionsResult"),
    "fetchTurns": ("client", "FetchTurnsParams", "FetchTurnsResult"),
    "resourceRead": ("client", "ResourceReadParams", "ResourceReadResult"),
    "resourceWrite": ("client", "ResourceWriteParams", "ResourceWriteResult"),
    "resourceList": ("client", "ResourceListParams", "ResourceListResult"),
    "resourceCopy": ("client", "ResourceCopyParams", "ResourceCopyResult"),
    "resourceDelete": ("client", "ResourceDeleteParams", "ResourceDeleteResult"),
    "resourceMove": ("client", "ResourceMoveParams", "ResourceMoveResult"),
    "resourceRequest": ("both", "ResourceRequestParams", "ResourceRequestResult"),
    "authenticate": ("client", "AuthenticateParams", "AuthenticateResult"),
    "resolveSessionConfig": ("client", "ResolveSessionConfigParams", "ResolveSessionConfigResult"),
    "sessionConfigCompletions": (
        "client",
        "SessionConfigCompletionsParams",
        "SessionConfigCompletionsResult",
    ),
    "completions": ("client", "CompletionsParams", "CompletionsResult"),
    "action": ("host", "ActionEnvelope", "-"),
    "notification": ("host", "NotificationParams", "-"),
}


def name_of(kind: Any) -> str:
    return " | ".join("null" if part is type(None) else part.__name__ for part in union_members(kind))


def test_there_are_25_methods_with_these_callers_params_and_results() -> None:
    assert len(METHODS) == len(TABLE) == 25
    found = {
        name: (
            method.caller,
            name_of(method.params.kind),
            name_of(method.result.kind) if method.result else "-",
        )
        for name, method in METHODS.items()
    }
    assert found == TABLE
    assert all(name == method.name for name, method in METHODS.items())


@pytest.mark.parametrize(
    "name", ["ping", "createSession", "disposeSession", "createTerminal", "disposeTerminal"]
)
def test_a_null_result_is_null_and_nothing_else(name: str) -> None:
    result = METHODS[name].result
    assert result is not None
    assert result.take(None) is None
    with pytest.raises(InvalidValue, match=r"^\$: expected null, found an object$"):
        result.take({})


@pytest.mark.parametrize(
    "name",
    ["resourceWrite", "resourceCopy", "resourceDelete", "resourceMove", "resourceRequest", "authenticate"],
)
def test_an_empty_result_is_an_object_and_not_null(name: str) -> None:
    result = METHODS[name].result
    assert result is not None
    assert result.take({}) == {}
    with pytest.raises(InvalidValue):
        result.take(None)


SUMMARY = {
    "resource": "toy:/a",
    "provider": "toy",
    "title": "First",
    "status": 9,
    "createdAt": 10,
    "modifiedAt": 11.5,
}
STARTED = {"type": "session/turnStarted", "session": "toy:/a", "turnId": "t", "userMessage": {"text": "Hey"}}
ROOT_SNAPSHOT = {"resource": "agenthost:/root", "state": {"agents": []}, "fromSeq": 5}
SESSION_STATE = {"summary": SUMMARY, "lifecycle": "creating", "turns": []}

CALLS: list[tuple[str, JsonObject]] = [
    ("initialize", {"clientId": "me", "protocolVersions": ["0.1.0"]}),
    (
        "initialize",
        {
            "clientId": "me",
            "protocolVersions": [],
            "locale": "fr",
            "initialSubscriptions": ["agenthost:/root"],
        },
    ),
    ("ping", {}),
    ("subscribe", {"resource": "toy:/a"}),
    ("unsubscribe", {"resource": "toy:/a"}),
    ("createSession", {"session": "toy:/a"}),
    (
        "createSession",
        {
            "session": "toy:/a",
            "provider": "toy",
            "model": {"id": "big", "config": {"effort": "low"}},
            "workingDirectory": "file:///home",
        },
    ),
    ("listSessions", {}),
    ("listSessions", {"filter": {"anything": None}}),
    ("dispatchAction", {"clientSeq": 1, "action": STARTED}),
    ("dispatchAction", {"clientSeq": 2, "action": {"type": "session/fromTheFuture", "session": 7}}),
    ("action", {"action": STARTED, "serverSeq": 6, "origin": {"clientId": "me", "clientSeq": 1}}),
    (
        "action",
        {
            "action": {"type": "session/turnCancelled", "session": "toy:/a", "turnId": "x"},
            "serverSeq": 7,
            "origin": {"clientId": "me", "clientSeq": 2},
            "rejectionReason": "no such turn",
        },
    ),
    (
        "action",
        {
            "action": {
                "type": "session/delta",
                "session": "toy:/a",
                "turnId": "t",
                "partId": "p",
                "content": "Oh",
            },
            "serverSeq": 8,
        },
    ),
    (
        "notification",
        {
            "notification": {
                "type": "notify/sessionSummaryChanged",
                "session": "toy:/a",
                "changes": {"status": 40, "modifiedAt": 1_790_000_000_000},
            }
        },
    ),
    ("notification", {"notification": {"type": "notify/sessionAdded", "summary": SUMMARY}}),
    (
        "notification",
        {"notification": {"type": "notify/authRequired", "resource": "https://x", "reason": "expired"}},
    ),
    ("notification", {"notification": {"type": "notify/fromTheFuture"}}),
    ("reconnect", {"clientId": "me", "lastSeenServerSeq": 8, "subscriptions": ["toy:/a", "toy:/gone"]}),
    ("resourceRequest", {"uri": "file:///mine", "read": True}),
]


@pytest.mark.parametrize(("name", "params"), CALLS)
def test_a_call_on_the_wire_has_the_shape_of_its_method(name: str, params: JsonObject) -> None:
    method = METHODS[name]
    call = Request(1, name, params) if method.result else Notification(name, params)
    read = decode_message(encode_message(call))
    assert isinstance(read, Request | Notification)
    assert METHODS[read.method].params.take(read.params) == params


RESULTS: list[tuple[str, Json]] = [
    ("initialize", {"protocolVersion": "0.1.0", "serverSeq": 5, "snapshots": []}),
    (
        "initialize",
        {
            "protocolVersion": "0.1.0",
            "serverSeq": 5,
            "snapshots": [ROOT_SNAPSHOT],
            "defaultDirectory": "file:///home",
            "completionTriggerCharacters": ["#"],
        },
    ),
    ("subscribe", {"snapshot": {"resource": "toy:/a", "state": SESSION_STATE, "fromSeq": 6}}),
    ("createSession", None),
    (
        "reconnect",
        {"type": "replay", "actions": [{"action": STARTED, "serverSeq": 9}], "missing": ["toy:/gone"]},
    ),
    ("reconnect", {"type": "snapshot", "snapshots": [ROOT_SNAPSHOT]}),
    ("resourceRequest", {}),
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
        (-32005, {"supportedVersions": ["^0.1.0"]}),
        (
            -32007,
            {"resources": [{"resource": "https://x", "resource_name": "X", "authorization_servers": []}]},
        ),
        (-32009, {"request": {"uri": "file:///mine", "write": True}}),
    ],
)
def test_an_error_on_the_wire_carries_its_data(code: int, data: JsonObject) -> None:
    read = decode_message(encode_message(Failure(5, code, "Not now", data)))
    assert isinstance(read, Failure)
    assert ERROR_DATA[read.code].take(read.data) == data


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("initialize", {}, "$.params.clientId: expected a string, found nothing"),
        (
            "initialize",
            {"clientId": "me", "protocolVersions": "0.1.0"},
            "$.params.protocolVersions: expected a list, found a string",
        ),
        (
            "initialize",
            {"clientId": "me", "protocolVersions": [0.1]},
            "$.params.protocolVersions[0]: expected a string, found the number 0.1",
        ),
        ("subscribe", {"resource": None}, "$.params.resource: expected a string, found null"),
        (
            "createSession",
            {"session": "toy:/a", "model": "big"},
            "$.params.model: expected an object (ModelSelection), found a string",
        ),
        (
            "createSession",
            {"session": "toy:/a", "model": {"id": "big", "config": {"effort": 1}}},
            "$.params.model.config.effort: expected a string, found the number 1",
        ),
        ("dispatchAction", {"clientSeq": 1}, "$.params.action: expected an object, found nothing"),
        (
            "dispatchAction",
            {"clientSeq": True, "action": STARTED},
            "$.params.clientSeq: expected a whole number of at most 64 bits, found true",
        ),
        (
            "dispatchAction",
            {"clientSeq": 1, "action": {**STARTED, "userMessage": {}}},
            "$.params.action.userMessage.text: expected a string, found nothing",
        ),
        (
            "dispatchAction",
            {"clientSeq": 1, "action": {}},
            "$.params.action.type: expected a string, found nothing",
        ),
        (
            "reconnect",
            {"clientId": "me", "lastSeenServerSeq": 1.5, "subscriptions": []},
            "$.params.lastSeenServerSeq: expected a whole number of at most 64 bits, found the number 1.5",
        ),
        (
            "createTerminal",
            {"terminal": "terminal:/1", "claim": {"kind": "client"}},
            "$.params.claim.clientId: expected a string, found nothing",
        ),
        ("notification", {}, "$.params.notification: expected an object, found nothing"),
    ],
)
def test_params_that_do_not_fit_are_refused_with_the_path(name: str, params: Json, sentence: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        METHODS[name].params.take(decode_json(encode_json(params)), at="$.params")
    assert str(refused.value) == sentence
