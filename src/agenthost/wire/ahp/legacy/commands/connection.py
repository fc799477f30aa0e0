"""Commands of the connection itself: handshake, subscriptions, dispatch, tokens."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.actions import StateAction
from agenthost.wire.ahp.legacy.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.snapshot import Snapshot
from agenthost.wire.annotations import Tag


class InitializeParams(TypedDict):
    """`initialize`: who the client is and which versions it supports."""

    protocolVersions: list[str]  # most preferred first; SemVer `MAJOR.MINOR.PATCH`
    clientId: str  # chosen by the client, stable across reconnects
    initialSubscriptions: NotRequired[list[URI]]
    locale: NotRequired[str]  # BCP 47 tag


class InitializeResult(TypedDict):
    """`initialize`: the chosen version, and the first snapshots."""

    protocolVersion: str  # must be one of the offered entries
    serverSeq: int  # current counter value
    snapshots: list[Snapshot]  # one per resolvable `initialSubscriptions` entry
    defaultDirectory: NotRequired[URI]  # starting folder for remote browsing
    completionTriggerCharacters: NotRequired[list[str]]  # e.g. `@`, `/`, `#`


class PingParams(TypedDict):
    """`ping`: no params."""


class ReconnectParams(TypedDict):
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


ReconnectResult: TypeAlias = Annotated[ReconnectReplayResult | ReconnectSnapshotResult, Tag("type")]
"""`reconnect`: a replay or snapshots."""


class SubscribeParams(TypedDict):
    """`subscribe`: which resource."""

    resource: URI


class SubscribeResult(TypedDict):
    """`subscribe`: its state."""

    snapshot: Snapshot


class UnsubscribeParams(TypedDict):
    """`unsubscribe`: which resource."""

    resource: URI


class DispatchActionParams(TypedDict):
    """`dispatchAction`: the action that the client wants applied."""

    clientSeq: int  # client counter, echoed in `origin`
    action: StateAction


class AuthenticateParams(TypedDict):
    """`authenticate`: a token for a protected resource."""

    resource: str  # must equal a declared `ProtectedResourceMetadata.resource`
    token: str


class AuthenticateResult(TypedDict):
    """`authenticate`: accepted."""
