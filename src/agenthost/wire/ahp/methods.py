"""Methods: their names, who calls them, their params and results."""

from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.commands.automation import (
    FetchAutomationRunsParams,
    FetchAutomationRunsResult,
    ListAutomationTriggerDefinitionsParams,
    ListAutomationTriggerDefinitionsResult,
    RunAutomationParams,
    RunAutomationResult,
)
from agenthost.wire.ahp.commands.changeset import (
    InvokeChangesetOperationParams,
    InvokeChangesetOperationResult,
)
from agenthost.wire.ahp.commands.chat import (
    CompletionsParams,
    CompletionsResult,
    CreateChatParams,
    DisposeChatParams,
    FetchTurnsParams,
    FetchTurnsResult,
    MoveChatParams,
    MoveChatResult,
)
from agenthost.wire.ahp.commands.config import (
    ResolveSessionConfigParams,
    ResolveSessionConfigResult,
    SessionConfigCompletionsParams,
    SessionConfigCompletionsResult,
)
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
    CreateResourceWatchParams,
    CreateResourceWatchResult,
    ResourceCopyParams,
    ResourceCopyResult,
    ResourceDeleteParams,
    ResourceDeleteResult,
    ResourceListParams,
    ResourceListResult,
    ResourceMkdirParams,
    ResourceMkdirResult,
    ResourceMoveParams,
    ResourceMoveResult,
    ResourceReadParams,
    ResourceReadResult,
    ResourceRequestParams,
    ResourceRequestResult,
    ResourceResolveParams,
    ResourceResolveResult,
    ResourceWriteParams,
    ResourceWriteResult,
)
from agenthost.wire.ahp.commands.session import (
    CreateSessionParams,
    DisposeSessionParams,
    ListSessionsParams,
    ListSessionsResult,
)
from agenthost.wire.ahp.commands.terminal import CreateTerminalParams, DisposeTerminalParams
from agenthost.wire.ahp.method import NULL, Method, by_name, notification, request
from agenthost.wire.ahp.notifications import (
    AuthRequiredParams,
    OtlpExportLogsParams,
    OtlpExportMetricsParams,
    OtlpExportTracesParams,
    ProgressParams,
    SessionAddedParams,
    SessionRemovedParams,
    SessionSummaryChangedParams,
)

METHODS: dict[str, Method] = by_name(
    request("initialize", InitializeParams, InitializeResult),
    request("ping", PingParams, NULL),
    request("reconnect", ReconnectParams, ReconnectResult),
    request("subscribe", SubscribeParams, SubscribeResult),
    notification("unsubscribe", UnsubscribeParams, "client"),
    notification("dispatchAction", DispatchActionParams, "client"),
    request("authenticate", AuthenticateParams, AuthenticateResult),
    request("listSessions", ListSessionsParams, ListSessionsResult),
    request("createSession", CreateSessionParams, NULL),
    request("disposeSession", DisposeSessionParams, NULL),
    request("resolveSessionConfig", ResolveSessionConfigParams, ResolveSessionConfigResult),
    request("sessionConfigCompletions", SessionConfigCompletionsParams, SessionConfigCompletionsResult),
    request("createChat", CreateChatParams, NULL),
    request("disposeChat", DisposeChatParams, NULL),
    request("moveChat", MoveChatParams, MoveChatResult),
    request("fetchTurns", FetchTurnsParams, FetchTurnsResult),
    request("completions", CompletionsParams, CompletionsResult),
    request("createTerminal", CreateTerminalParams, NULL),
    request("disposeTerminal", DisposeTerminalParams, NULL),
    request("resourceRead", ResourceReadParams, ResourceReadResult, "both"),
    request("resourceWrite", ResourceWriteParams, ResourceWriteResult, "both"),
    request("resourceList", ResourceListParams, ResourceListResult, "both"),
    request("resourceCopy", ResourceCopyParams, ResourceCopyResult, "both"),
    request("resourceMove", ResourceMoveParams, ResourceMoveResult, "both"),
    request("resourceDelete", ResourceDeleteParams, ResourceDeleteResult, "both"),
    request("resourceResolve", ResourceResolveParams, ResourceResolveResult, "both"),
    request("resourceMkdir", ResourceMkdirParams, ResourceMkdirResult, "both"),
    request("resourceRequest", ResourceRequestParams, ResourceRequestResult, "both"),
    request("createResourceWatch", CreateResourceWatchParams, CreateResourceWatchResult, "both"),
    request("invokeChangesetOperation", InvokeChangesetOperationParams, InvokeChangesetOperationResult),
    request(
        "listAutomationTriggerDefinitions",
        ListAutomationTriggerDefinitionsParams,
        ListAutomationTriggerDefinitionsResult,
    ),
    request("runAutomation", RunAutomationParams, RunAutomationResult),
    request("fetchAutomationRuns", FetchAutomationRunsParams, FetchAutomationRunsResult),
    notification("action", ActionEnvelope, "host"),
    notification("root/sessionAdded", SessionAddedParams, "host"),
    notification("root/sessionRemoved", SessionRemovedParams, "host"),
    notification("root/sessionSummaryChanged", SessionSummaryChangedParams, "host"),
    notification("root/progress", ProgressParams, "host"),
    notification("auth/required", AuthRequiredParams, "host"),
    notification("otlp/exportLogs", OtlpExportLogsParams, "host"),
    notification("otlp/exportTraces", OtlpExportTracesParams, "host"),
    notification("otlp/exportMetrics", OtlpExportMetricsParams, "host"),
)
"""Every method of AHP 1.0, by name. Those that clients call on an `mcp://` channel are MCP's own."""

BEFORE_INITIALIZE: frozenset[str] = frozenset({"initialize", "reconnect", "ping"})
"""The methods that a client may call before the connection is open."""
