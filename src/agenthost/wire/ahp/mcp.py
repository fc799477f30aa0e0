"""MCP servers: their states, and what they need a token for."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import ErrorInfo, ProtectedResourceMetadata
from agenthost.wire.ahp.enums import McpAuthRequiredReason
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class McpOAuthClient(TypedDict):
    """The OAuth client that an MCP server expects."""

    clientId: str
    clientSecret: NotRequired[str]


class McpAuthRequirement(TypedDict):
    """The token that an MCP server needs, and why."""

    reason: McpAuthRequiredReason
    resource: ProtectedResourceMetadata
    oauthClient: NotRequired[McpOAuthClient]
    requiredScopes: NotRequired[list[str]]
    description: NotRequired[str]


class McpServerStartingState(TypedDict):
    """The server is starting."""

    kind: Literal["starting"]
    blocking: NotRequired[bool]  # true: turns wait for it


class McpServerReadyState(TypedDict):
    """The server can be used."""

    kind: Literal["ready"]


class McpServerAuthRequiredState(McpAuthRequirement):
    """The server waits for a token."""

    kind: Literal["authRequired"]


class McpServerErrorState(TypedDict):
    """The server failed."""

    kind: Literal["error"]
    error: ErrorInfo


class McpServerStoppedState(TypedDict):
    """The server does not run."""

    kind: Literal["stopped"]


McpServerState: TypeAlias = Annotated[
    McpServerStartingState
    | McpServerReadyState
    | McpServerAuthRequiredState
    | McpServerErrorState
    | McpServerStoppedState,
    Tag("kind"),
]
"""An MCP server in any of its states."""


class ListChangedCapability(TypedDict):
    """Whether a server reports that its list changed."""

    listChanged: NotRequired[bool]


class SamplingCapability(TypedDict):
    """Model requests that a server's app may make."""

    tools: NotRequired[JsonObject]  # present: with tools


class AhpMcpUiHostCapabilities(TypedDict):
    """What the host does for the apps of an MCP server."""

    serverTools: NotRequired[ListChangedCapability]
    serverResources: NotRequired[ListChangedCapability]
    logging: NotRequired[JsonObject]
    sampling: NotRequired[SamplingCapability]


class McpServerCustomizationApps(TypedDict):
    """The apps of an MCP server."""

    capabilities: AhpMcpUiHostCapabilities
