"""Actions on a session's customizations and MCP servers."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.customization import Customization, CustomizationEnablement
from agenthost.wire.ahp.mcp import McpServerState


class SessionCustomizationsChangedAction(TypedDict):
    """The customizations are now these."""

    type: Literal["session/customizationsChanged"]
    customizations: list[Customization]


class SessionCustomizationToggledAction(TypedDict):
    """A customization was switched on or off."""

    type: Literal["session/customizationToggled"]
    id: str
    enablement: list[CustomizationEnablement]


class SessionCustomizationUpdatedAction(TypedDict):
    """A customization changed, or is new."""

    type: Literal["session/customizationUpdated"]
    customization: Customization


class SessionCustomizationRemovedAction(TypedDict):
    """A customization is gone."""

    type: Literal["session/customizationRemoved"]
    id: str


class SessionMcpServerStateChangedAction(TypedDict):
    """An MCP server is in another state."""

    type: Literal["session/mcpServerStateChanged"]
    id: str
    state: McpServerState
    channel: NotRequired[URI]  # absent = it has none


class SessionMcpServerStartRequestedAction(TypedDict):
    """A client wants an MCP server to start."""

    type: Literal["session/mcpServerStartRequested"]
    id: str


class SessionMcpServerStopRequestedAction(TypedDict):
    """A client wants an MCP server to stop."""

    type: Literal["session/mcpServerStopRequested"]
    id: str


class SessionMcpServerBackgroundRequestedAction(TypedDict):
    """A client wants turns not to wait for an MCP server."""

    type: Literal["session/mcpServerBackgroundRequested"]
    id: str
