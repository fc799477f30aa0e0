"""Customizations: plugins, directories and MCP servers that a session may use, and what they contain."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, Icon, Meta, TextRange
from agenthost.wire.ahp.enums import ChildCustomizationType
from agenthost.wire.ahp.mcp import McpServerCustomizationApps, McpServerState
from agenthost.wire.annotations import Tag


class GlobalEnablement(TypedDict):
    """Switched on or off everywhere."""

    kind: Literal["global"]
    enabled: bool


class WorkspaceEnablement(TypedDict):
    """Switched on or off in one workspace."""

    kind: Literal["workspace"]
    uri: URI
    enabled: bool


class SessionEnablement(TypedDict):
    """Switched on or off in this session."""

    kind: Literal["session"]
    enabled: bool


CustomizationEnablement: TypeAlias = Annotated[
    GlobalEnablement | WorkspaceEnablement | SessionEnablement, Tag("kind")
]
"""Where a customization is switched on or off. In a list, the most specific comes first."""


class CustomizationLoadingState(TypedDict):
    """The customization is being loaded."""

    kind: Literal["loading"]


class CustomizationLoadedState(TypedDict):
    """The customization is loaded."""

    kind: Literal["loaded"]


class CustomizationDegradedState(TypedDict):
    """The customization is loaded in part."""

    kind: Literal["degraded"]
    message: str


class CustomizationErrorState(TypedDict):
    """The customization could not be loaded."""

    kind: Literal["error"]
    message: str


CustomizationLoadState: TypeAlias = Annotated[
    CustomizationLoadingState
    | CustomizationLoadedState
    | CustomizationDegradedState
    | CustomizationErrorState,
    Tag("kind", is_open=False),
]
"""How far the loading of a customization is."""


class CustomizationBase(TypedDict):
    """The fields of every customization."""

    id: str
    uri: URI
    name: str
    icons: NotRequired[list[Icon]]
    range: NotRequired[TextRange]  # where in the file of `uri` it is defined
    _meta: NotRequired[Meta]


class ChildCustomizationBase(CustomizationBase):
    """The fields of every customization inside another, except MCP servers."""

    enabled: NotRequired[bool]


class AgentCustomization(ChildCustomizationBase):
    """A custom agent."""

    type: Literal["agent"]
    description: NotRequired[str]
    model: NotRequired[str]
    tools: NotRequired[list[str]]
    disableModelInvocation: NotRequired[bool]
    disableUserInvocation: NotRequired[bool]


class SkillCustomization(ChildCustomizationBase):
    """A skill."""

    type: Literal["skill"]
    description: NotRequired[str]
    disableModelInvocation: NotRequired[bool]
    disableUserInvocation: NotRequired[bool]


class PromptCustomization(ChildCustomizationBase):
    """A prompt that the user can choose."""

    type: Literal["prompt"]
    description: NotRequired[str]


class RuleCustomization(ChildCustomizationBase):
    """Instructions, always or for certain files."""

    type: Literal["rule"]
    description: NotRequired[str]
    alwaysApply: NotRequired[bool]
    globs: NotRequired[list[str]]


class HookCustomization(ChildCustomizationBase):
    """A program that runs at certain events."""

    type: Literal["hook"]


class McpServerCustomization(CustomizationBase):
    """An MCP server, by itself or inside of another customization."""

    type: Literal["mcpServer"]
    state: McpServerState
    channel: NotRequired[URI]  # present: MCP's own methods can be called on it
    mcpApp: NotRequired[McpServerCustomizationApps]
    enablement: NotRequired[list[CustomizationEnablement]]


ChildCustomization: TypeAlias = Annotated[
    AgentCustomization
    | SkillCustomization
    | PromptCustomization
    | RuleCustomization
    | HookCustomization
    | McpServerCustomization,
    Tag("type"),
]
"""A customization inside of another."""


class ContainerCustomizationBase(CustomizationBase):
    """The fields of every customization that contains others."""

    clientId: NotRequired[str]  # who contributed it; absent: the host
    load: NotRequired[CustomizationLoadState]
    children: NotRequired[list[ChildCustomization]]


class PluginCustomization(ContainerCustomizationBase):
    """A plugin."""

    type: Literal["plugin"]
    version: NotRequired[str]
    enablement: NotRequired[list[CustomizationEnablement]]


class ClientPluginCustomization(PluginCustomization):
    """A plugin that a client contributes."""

    nonce: NotRequired[str]  # another one says that the plugin changed
    childEnablement: NotRequired[dict[str, list[CustomizationEnablement]]]


class DirectoryCustomization(ContainerCustomizationBase):
    """A directory with customizations of one type."""

    type: Literal["directory"]
    contents: ChildCustomizationType
    writable: bool
    enabled: bool


Customization: TypeAlias = Annotated[
    PluginCustomization | DirectoryCustomization | McpServerCustomization, Tag("type")
]
"""A customization of a session."""
