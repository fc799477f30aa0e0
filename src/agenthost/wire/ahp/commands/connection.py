"""Commands of the connection itself: handshake, subscriptions, dispatch, tokens."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.automation import AutomationCapabilities
from agenthost.wire.ahp.commands.params import BaseParams, RootParams
from agenthost.wire.ahp.common import URI, Meta
from agenthost.wire.ahp.snapshot import Snapshot
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class Implementation(TypedDict):
    """The program at one end of the connection."""

    name: str
    version: NotRequired[str]
    title: NotRequired[str]


class ClientCapabilities(TypedDict):
    """Optional abilities of a client."""

    mcpApps: NotRequired[JsonObject]  # present: it shows the apps of MCP servers


class TelemetryCapabilities(TypedDict):
    """The channels of the host's telemetry."""

    logs: NotRequired[URI]  # may be a template, with `{level}`
    traces: NotRequired[URI]
    metrics: NotRequired[URI]


class InitializeParams(RootParams):
    """`initialize`: who the client is and which versions it supports."""

    protocolVersions: list[str]  # SemVer `MAJOR.MINOR.PATCH`
    clientId: str  # chosen by the client, stable across reconnects
    clientInfo: NotRequired[Implementation]
    initialSubscriptions: NotRequired[list[URI]]
    locale: NotRequired[str]  # BCP 47 tag
    capabilities: NotRequired[ClientCapabilities]


class InitializeResult(TypedDict):
    """`initialize`: the chosen version, the first snapshots, and what the host can do."""

    protocolVersion: str  # must be one of the offered entries
    serverSeq: int  # current counter value
    serverInfo: NotRequired[Implementation]
    snapshots: list[Snapshot]  # one per resolvable `initialSubscriptions` entry
    defaultDirectory: NotRequired[URI]  # starting folder for remote browsing
    completionTriggerCharacters: NotRequired[list[str]]  # e.g. `@`, `/`, `#`
    terminalCommandPrefix: NotRequired[str]  # what makes a message a command for a terminal, e.g. `!`
    telemetry: NotRequired[TelemetryCapabilities]
    automations: NotRequired[AutomationCapabilities]  # absent: the host has none
    _meta: NotRequired[Meta]


class PingParams(RootParams):
    """`ping`: no fields."""


class ReconnectParams(RootParams):
    """`reconnect`: who the client is and what it has seen."""

    clientId: str
    lastSeenServerSeq: int  # highest serverSeq the client has
    subscriptions: list[URI]


class ReconnectReplayResult(TypedDict):
    """`reconnect`: everything that the client missed."""

    type: Literal["replay"]
    actions: list[ActionEnvelope]
    missing: list[URI]  # requested URIs that cannot be resumed


class ReconnectSnapshotResult(TypedDict):
    """`reconnect`: fresh snapshots, as too much was missed."""

    type: Literal["snapshot"]
    snapshots: list[Snapshot]


ReconnectResult: TypeAlias = Annotated[
    ReconnectReplayResult | ReconnectSnapshotResult, Tag("type", is_open=False)
]
"""`reconnect`: a replay or snapshots."""


class SubscriptionDeliveryOptions(TypedDict):
    """How soon a subscriber wants its actions."""

    maxLatencyMs: NotRequired[float]  # a host may gather them as long


class SubscribeView(TypedDict):
    """How much of the state a subscriber wants."""

    turns: NotRequired[int]  # the newest ones; absent: all


class SubscribeParams(BaseParams):
    """`subscribe`: which channel, and how."""

    delivery: NotRequired[SubscriptionDeliveryOptions]
    view: NotRequired[SubscribeView]


class SubscribeResult(TypedDict):
    """`subscribe`: its state, if it has one."""

    snapshot: NotRequired[Snapshot]


class UnsubscribeParams(TypedDict):
    """`unsubscribe`: which channel."""

    channel: URI


class DispatchActionParams(TypedDict):
    """`dispatchAction`: the action that the client wants applied."""

    channel: URI
    clientSeq: int  # client counter, echoed in `origin`
    action: StateAction


class AuthenticateParams(RootParams):
    """`authenticate`: a token for a protected resource."""

    resource: str  # must equal a declared `ProtectedResourceMetadata.resource`
    token: str  # empty: takes it back
    scopes: NotRequired[list[str]]
    expiresIn: NotRequired[int]  # seconds


class AuthenticateResult(TypedDict):
    """`authenticate`: accepted."""
