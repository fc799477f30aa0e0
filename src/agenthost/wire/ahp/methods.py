"""Methods: which there are, who calls them, and what travels with them."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.commands.connection import (
    AuthenticateParams,
    AuthenticateResult,
    DispatchActionParams,
    InitializeParams,
    InitializeResult,
    PingParams,
    ReconnectParams,
    ReconnectResult,
    SubscribeParams,
    SubscribeResult,
    UnsubscribeParams,
)
from agenthost.wire.ahp.commands.resource import (
    ResourceCopyParams,
    ResourceCopyResult,
    ResourceDeleteParams,
    ResourceDeleteResult,
    ResourceListParams,
    ResourceListResult,
    ResourceMoveParams,
    ResourceMoveResult,
    ResourceReadParams,
    ResourceReadResult,
    ResourceRequestParams,
    ResourceRequestResult,
    ResourceWriteParams,
    ResourceWriteResult,
)
from agenthost.wire.ahp.commands.session import (
    CompletionsParams,
    CompletionsResult,
    CreateSessionParams,
    DisposeSessionParams,
    FetchTurnsParams,
    FetchTurnsResult,
    ListSessionsParams,
    ListSessionsResult,
    ResolveSessionConfigParams,
    ResolveSessionConfigResult,
    SessionConfigCompletionsParams,
    SessionConfigCompletionsResult,
)
from agenthost.wire.ahp.commands.terminal import CreateTerminalParams, DisposeTerminalParams
from agenthost.wire.ahp.notifications import NotificationParams
from agenthost.wire.shape import Shape

Caller: TypeAlias = Literal["client", "host", "both"]


@dataclass(frozen=True)
class Method:
    """A method of the protocol. `result` is `None` for a notification, which has no answer."""

    name: str
    caller: Caller
    params: Shape[Any]
    result: Shape[Any] | None


def _request(name: str, params: Any, result: Any, caller: Caller = "client") -> Method:
    return Method(name, caller, Shape(params), Shape(result))


def _notification(name: str, params: Any, caller: Caller) -> Method:
    return Method(name, caller, Shape(params), None)


_NULL = type(None)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _request("initialize", InitializeParams, InitializeResult),
        _request("ping", PingParams, _NULL),
        _request("reconnect", ReconnectParams, ReconnectResult),
        _request("subscribe", SubscribeParams, SubscribeResult),
        _notification("unsubscribe", UnsubscribeParams, "client"),
        _notification("dispatchAction", DispatchActionParams, "client"),
        _request("createSession", CreateSessionParams, _NULL),
        _request("disposeSession", DisposeSessionParams, _NULL),
        _request("createTerminal", CreateTerminalParams, _NULL),
        _request("disposeTerminal", DisposeTerminalParams, _NULL),
        _request("listSessions", ListSessionsParams, ListSessionsResult),
        _request("fetchTurns", FetchTurnsParams, FetchTurnsResult),
        _request("resourceRead", ResourceReadParams, ResourceReadResult),
        _request("resourceWrite", ResourceWriteParams, ResourceWriteResult),
        _request("resourceList", ResourceListParams, ResourceListResult),
        _request("resourceCopy", ResourceCopyParams, ResourceCopyResult),
        _request("resourceDelete", ResourceDeleteParams, ResourceDeleteResult),
        _request("resourceMove", ResourceMoveParams, ResourceMoveResult),
        _request("resourceRequest", ResourceRequestParams, ResourceRequestResult, "both"),
        _request("authenticate", AuthenticateParams, AuthenticateResult),
        _request("resolveSessionConfig", ResolveSessionConfigParams, ResolveSessionConfigResult),
        _request("sessionConfigCompletions", SessionConfigCompletionsParams, SessionConfigCompletionsResult),
        _request("completions", CompletionsParams, CompletionsResult),
        _notification("action", ActionEnvelope, "host"),
        _notification("notification", NotificationParams, "host"),
    )
}
"""Every method of AHP 0.1.0, by name."""
