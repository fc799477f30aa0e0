"""Methods: their names, who calls them, their params and results."""

from agenthost.wire.ahp.legacy.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.legacy.commands.connection import (
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
from agenthost.wire.ahp.legacy.commands.resource import (
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
from agenthost.wire.ahp.legacy.commands.session import (
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
from agenthost.wire.ahp.legacy.commands.terminal import CreateTerminalParams, DisposeTerminalParams
from agenthost.wire.ahp.legacy.notifications import NotificationParams
from agenthost.wire.ahp.method import NULL, Method, by_name, notification, request

METHODS: dict[str, Method] = by_name(
    request("initialize", InitializeParams, InitializeResult),
    request("ping", PingParams, NULL),
    request("reconnect", ReconnectParams, ReconnectResult),
    request("subscribe", SubscribeParams, SubscribeResult),
    notification("unsubscribe", UnsubscribeParams, "client"),
    notification("dispatchAction", DispatchActionParams, "client"),
    request("createSession", CreateSessionParams, NULL),
    request("disposeSession", DisposeSessionParams, NULL),
    request("createTerminal", CreateTerminalParams, NULL),
    request("disposeTerminal", DisposeTerminalParams, NULL),
    request("listSessions", ListSessionsParams, ListSessionsResult),
    request("fetchTurns", FetchTurnsParams, FetchTurnsResult),
    request("resourceRead", ResourceReadParams, ResourceReadResult),
    request("resourceWrite", ResourceWriteParams, ResourceWriteResult),
    request("resourceList", ResourceListParams, ResourceListResult),
    request("resourceCopy", ResourceCopyParams, ResourceCopyResult),
    request("resourceDelete", ResourceDeleteParams, ResourceDeleteResult),
    request("resourceMove", ResourceMoveParams, ResourceMoveResult),
    request("resourceRequest", ResourceRequestParams, ResourceRequestResult, "both"),
    request("authenticate", AuthenticateParams, AuthenticateResult),
    request("resolveSessionConfig", ResolveSessionConfigParams, ResolveSessionConfigResult),
    request("sessionConfigCompletions", SessionConfigCompletionsParams, SessionConfigCompletionsResult),
    request("completions", CompletionsParams, CompletionsResult),
    notification("action", ActionEnvelope, "host"),
    notification("notification", NotificationParams, "host"),
)
"""Every method of AHP 0.1.0, by name."""
